"""What has been seen, without rounding: per arm the number of rewards and their exact sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits.checks import Array, Integers, frozen

_SHIFT = 1074  # every finite double is a whole multiple of 2^-1074
_UNIT = 1 << _SHIFT


@final
@dataclass(frozen=True)
class Tally:
    """Counts and exact sums of rewards per arm.

    A sum is a whole number of 2^-1074, so adding is exact: the order of rewards cannot matter, taking one back
    restores the sum before it, and two tallies merge by addition. Read as a double it is the correctly rounded sum,
    as `math.fsum` gives.
    """

    counts: Integers
    exact: Mapping[int, int]

    @staticmethod
    def empty(arms: int) -> Tally:
        """Return the tally of nothing."""
        return Tally(frozen(np.zeros(arms, dtype=np.int64)), {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copied or unpickled tally, its counts read-only as they were."""
        frozen(state["counts"])
        self.__dict__.update(state)

    def plus(self, entries: Iterable[tuple[int, int, float]]) -> Tally:
        """Return the tally with (arm, count, sum) entries added."""
        counts, exact = self.counts.copy(), dict(self.exact)
        for arm, count, total in entries:
            counts[arm] += count
            numerator, denominator = total.as_integer_ratio()
            exact[arm] = exact.get(arm, 0) + (numerator << (_SHIFT + 1 - denominator.bit_length()))
        return Tally(frozen(counts), exact)

    def merged(self, other: Tally) -> Tally:
        """Return the tally of both."""
        exact = {arm: self.exact.get(arm, 0) + other.exact.get(arm, 0) for arm in {*self.exact, *other.exact}}
        return Tally(frozen(self.counts + other.counts), exact)

    def sum_of(self, arm: int) -> float:
        """Return the correctly rounded sum of an arm's rewards."""
        try:
            return self.exact.get(arm, 0) / _UNIT
        except OverflowError:
            raise OverflowError(
                f"the rewards of arm {arm} sum to more than a double can hold; measure them in a larger unit."
            ) from None

    @property
    def sums(self) -> Array:
        """The correctly rounded sums of rewards, one per arm."""
        sums = np.zeros(self.counts.size)
        for arm in self.exact:
            sums[arm] = self.sum_of(arm)
        return frozen(sums)
