"""What has been seen, without rounding: per arm the number of rewards and their exact sum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import final

import numpy as np

from corrbandits._core.checks import MOST_COUNT, Array, Integers, frozen

_SHIFT = 1074  # every finite double is a whole multiple of 2^-1074
_UNIT = 1 << _SHIFT
_PILE = 32  # so many single rewards wait to be added at once


@final
class Tally:
    """Counts and exact sums of rewards per arm.

    A sum is a whole number of 2^-1074, so adding is exact: the order of rewards cannot matter, taking one back
    restores the sum before it, and two tallies merge by addition. Read as a double it is the correctly rounded sum,
    as `math.fsum` gives.

    A tally never changes for who looks at it. Inside, the latest single rewards are kept as they came until
    somebody asks, or until there are many: one reward more then costs the same whatever the number of arms.
    """

    __slots__ = ("_largest", "_state")

    def __init__(self, counts: Integers, exact: Mapping[int, int], largest: float = math.inf) -> None:
        if counts.max(initial=0) > MOST_COUNT:
            arm = int(counts.argmax())
            raise OverflowError(f"an arm's rewards must number at most 2^53, but arm {arm} has {counts[arm]}.")
        self._state: _State = (frozen(counts), exact, ())
        self._largest = largest  # no sum of rewards is further from 0, up to rounding

    @staticmethod
    def empty(arms: int) -> Tally:
        """Return the tally of nothing."""
        return Tally(np.zeros(arms, dtype=np.int64), {}, 0.0)

    def __reduce__(self) -> tuple[type[Tally], tuple[Integers, Mapping[int, int], float]]:
        """Copy and pickle what has been added up."""
        return Tally, (*self._added(), self._largest)

    @property
    def counts(self) -> Integers:
        """How many rewards each arm has given."""
        return self._added()[0]

    @property
    def counts_so_far(self) -> Integers:
        """Counts in which the latest few rewards may be missing, without the work of adding them.

        >>> tally = Tally.empty(2).seen(1, 3.0)
        >>> tally.counts_so_far, tally.counts, tally.counts_so_far
        (array([0, 0]), array([0, 1]), array([0, 1]))
        """
        return self._state[0]

    @property
    def exact(self) -> Mapping[int, int]:
        """The sum of each seen arm's rewards, in units of 2^-1074."""
        return self._added()[1]

    def seen(self, arm: int, reward: float) -> Tally:
        """Return the tally with one reward more; refuse a sum beyond a double."""
        counts, exact, pile = self._state
        tally: Tally = object.__new__(Tally)
        tally._state = (counts, exact, (*pile, (arm, 1, reward)))
        tally._largest = self._largest + abs(reward)
        if len(pile) >= _PILE:
            tally._added()
        if tally._largest > 1e300:
            tally.sum_of(arm)
        return tally

    def plus(self, entries: Iterable[tuple[int, int, float]]) -> Tally:
        """Return the tally with (arm, count, sum) entries added."""
        more = list(entries)
        return Tally(*_sum(*self._added(), more), self._largest + sum(abs(total) for _, _, total in more))

    def merged(self, other: Tally) -> Tally:
        """Return the tally of both."""
        (counts, mine), (other_counts, yours) = self._added(), other._added()
        exact = {arm: mine.get(arm, 0) + yours.get(arm, 0) for arm in {*mine, *yours}}
        return Tally(counts + other_counts, exact, self._largest + other._largest)

    def widened(self, arms: int) -> Tally:
        """Return the tally of more arms, nothing seen of the new ones."""
        counts, exact = self._added()
        return Tally(np.concatenate([counts, np.zeros(arms - counts.size, dtype=np.int64)]), exact, self._largest)

    def sum_of(self, arm: int) -> float:
        """Return the correctly rounded sum of an arm's rewards."""
        return _rounded(arm, self.exact.get(arm, 0))

    @property
    def sums(self) -> Array:
        """The correctly rounded sums of rewards, one per arm."""
        counts, exact = self._added()
        sums = np.zeros(counts.size)
        for arm, total in exact.items():
            sums[arm] = _rounded(arm, total)
        return frozen(sums)

    def _added(self) -> tuple[Integers, Mapping[int, int]]:
        """Return counts and exact sums, the pile added; replaced in one go, since other threads may be looking."""
        counts, exact, pile = self._state
        if pile:
            counts, exact = _sum(counts, exact, pile)
            self._state = (frozen(counts), exact, ())
        return counts, exact


_State = tuple[Integers, Mapping[int, int], tuple[tuple[int, int, float], ...]]


def _rounded(arm: int, total: int) -> float:
    try:
        return total / _UNIT
    except OverflowError:
        raise OverflowError(
            f"the rewards of arm {arm} sum to more than a double can hold; measure them in a larger unit."
        ) from None


def _sum(
    counts: Integers, exact: Mapping[int, int], entries: Iterable[tuple[int, int, float]]
) -> tuple[Integers, Mapping[int, int]]:
    counts, total = counts.copy(), dict(exact)
    for arm, count, reward in entries:
        counts[arm] += count
        numerator, denominator = reward.as_integer_ratio()
        total[arm] = total.get(arm, 0) + (numerator << (_SHIFT + 1 - denominator.bit_length()))
    return counts, total
