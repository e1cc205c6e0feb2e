"""What has been seen, without rounding: per arm the number of rewards, their exact sum and the sum of squares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import MOST_COUNT, Array, Integers, frozen

SHIFT = 1074
"""Every finite double is a whole multiple of 2^-1074."""

HARDLY = 1e-100
"""Counts that need not be whole are taken for 0 below this: their quotients leave the doubles."""

_UNIT = 1 << SHIFT
_PILE = 32  # so many single rewards wait to be added at once


@final
class Tally:
    """Counts and exact sums of rewards per arm.

    A sum is a whole number of 2^-1074, so adding is exact: the order of rewards cannot matter, taking one back
    restores the sum before it, and two tallies merge by addition. Read as a double it is the correctly rounded sum,
    as `math.fsum` gives. Sums of squares are whole numbers of 2^-2148, and as exact, as long as rewards come singly.

    A tally never changes for who looks at it. Inside, the latest single rewards are kept as they came until
    somebody asks, or until there are many: one reward more then costs the same whatever the number of arms.
    """

    __slots__ = ("_largest", "_state")

    def __init__(
        self,
        counts: Integers,
        exact: Mapping[int, int],
        squares: Mapping[int, int] | None,
        largest: float = math.inf,
    ) -> None:
        if counts.max(initial=0) > MOST_COUNT:
            arm = int(counts.argmax())
            raise OverflowError(f"an arm's rewards must number at most 2^53, but arm {arm} has {counts[arm]}.")
        self._state: _State = (frozen(counts), exact, squares, ())
        self._largest = largest  # no sum of rewards is further from 0, up to rounding

    @staticmethod
    def empty(arms: int) -> Tally:
        """Return the tally of nothing."""
        return Tally(np.zeros(arms, dtype=np.int64), {}, {}, 0.0)

    def __reduce__(self) -> tuple[type[Tally], tuple[Integers, Mapping[int, int], Mapping[int, int] | None, float]]:
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

    @property
    def squares(self) -> Mapping[int, int] | None:
        """The sum of squares of each seen arm's rewards, in units of 2^-2148; None if only sums were given."""
        return self._added()[2]

    def seen(self, arm: int, reward: float) -> Tally:
        """Return the tally with one reward more; refuse a sum beyond a double."""
        counts, exact, squares, pile = self._state
        tally: Tally = object.__new__(Tally)
        tally._state = (counts, exact, squares, (*pile, (arm, 1, reward)))
        tally._largest = self._largest + abs(reward)
        if len(pile) >= _PILE:
            tally._added()
        if tally._largest > 1e300:
            tally.sum_of(arm)
        return tally

    def plus(self, entries: Iterable[tuple[int, int, float]]) -> Tally:
        """Return the tally with (arm, count, sum) entries added; (arm, -1, -reward) takes a reward back."""
        more = list(entries)
        return Tally(*_sum(*self._added(), more), self._largest + sum(abs(total) for _, _, total in more))

    def merged(self, other: Tally) -> Tally:
        """Return the tally of both."""
        (counts, sums, squares), (other_counts, other_sums, other_squares) = self._added(), other._added()
        both = None if squares is None or other_squares is None else _added_up(squares, other_squares)
        return Tally(counts + other_counts, _added_up(sums, other_sums), both, self._largest + other._largest)

    def mirrored(self, mirror: float) -> Tally:
        """Return the tally of the rewards turned round: each is `mirror` less itself.

        >>> Tally.empty(1).plus([(0, 1, 0.25)]).mirrored(1.0).sums
        array([0.75])
        """
        counts, exact, squares = self._added()
        m, number = in_units(mirror), {arm: int(counts[arm]) for arm in exact}
        turned = {arm: number[arm] * m - total for arm, total in exact.items()}
        if squares is not None:
            squares = {arm: number[arm] * m * m - 2 * m * exact[arm] + square for arm, square in squares.items()}
        return Tally(counts, turned, squares, self._largest + abs(mirror) * float(counts.sum()))

    def widened(self, arms: int) -> Tally:
        """Return the tally of more arms, nothing seen of the new ones."""
        counts, exact, squares = self._added()
        more = np.zeros(arms - counts.size, dtype=np.int64)
        return Tally(np.concatenate([counts, more]), exact, squares, self._largest)

    def sum_of(self, arm: int) -> float:
        """Return the correctly rounded sum of an arm's rewards."""
        return _rounded(arm, self.exact.get(arm, 0))

    @property
    def sums(self) -> Array:
        """The correctly rounded sums of rewards, one per arm."""
        counts, exact, _ = self._added()
        sums = np.zeros(counts.size)
        for arm, total in exact.items():
            sums[arm] = _rounded(arm, total)
        return frozen(sums)

    def _added(self) -> _Added:
        """Return counts, sums and squares, the pile added; replaced in one go, since other threads may be looking."""
        counts, exact, squares, pile = self._state
        if pile:
            counts, exact, squares = _sum(counts, exact, squares, pile)
            self._state = (frozen(counts), exact, squares, ())
        return counts, exact, squares


@final
@dataclass(frozen=True)
class Estimates:
    """Counts that need not be whole, and the sums of rewards that go with them: a tally that nothing is added to.

    >>> Estimates(np.array([0.0, 2.5]), np.array([0.0, 5.0])).sum_of(1)
    5.0
    """

    counts: Array
    sums: Array

    def sum_of(self, arm: int) -> float:
        """Return the sum of an arm's rewards."""
        return self.sums.item(arm)

    def plus(self, *_: Any) -> Tally:
        """Refuse more: estimates are replaced by others, never added to."""
        raise TypeError("a belief on estimated counts cannot be told rewards. Estimate the counts and sums anew.")

    seen = merged = plus


_Entry = tuple[int, int, float]
_Added = tuple[Integers, Mapping[int, int], Mapping[int, int] | None]
_State = tuple[Integers, Mapping[int, int], Mapping[int, int] | None, tuple[_Entry, ...]]


def _rounded(arm: int, total: int) -> float:
    try:
        return total / _UNIT
    except OverflowError:
        raise OverflowError(
            f"the rewards of arm {arm} sum to more than a double can hold; measure them in a larger unit."
        ) from None


def in_units(x: float) -> int:
    """Return a double in units of 2^-1074."""
    numerator, denominator = x.as_integer_ratio()
    return numerator << (SHIFT + 1 - denominator.bit_length())


def _added_up(one: Mapping[int, int], other: Mapping[int, int]) -> Mapping[int, int]:
    return {arm: one.get(arm, 0) + other.get(arm, 0) for arm in {*one, *other}}


def _sum(
    counts: Integers, exact: Mapping[int, int], squares: Mapping[int, int] | None, entries: Iterable[_Entry]
) -> _Added:
    counts, total = counts.copy(), dict(exact)
    square = None if squares is None else dict(squares)
    for arm, count, reward in entries:
        counts[arm] += count
        numerator, denominator = reward.as_integer_ratio()
        shift = SHIFT + 1 - denominator.bit_length()
        total[arm] = total.get(arm, 0) + (numerator << shift)
        if square is not None:
            if abs(count) == 1:
                square[arm] = square.get(arm, 0) + (count * numerator * numerator << 2 * shift)
            else:  # only a sum is known of these
                square = None
    return counts, total, square
