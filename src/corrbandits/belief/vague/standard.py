"""Rewards without units: their averages and spread from the exact tally, each rounded once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import SHIFT, Tally, in_units
from corrbandits.belief.vague.known import Known

FINEST = 300
"""Rewards are told apart down to 2^-300 of what was stated."""


@final
@dataclass(frozen=True)
class Standard:
    """What was seen, as numbers about 1: a reward r is (r - offset) / 2^exponent.

    They follow from the tally alone, whatever the order of rewards, and without cancellation: at 1e8 +- 1 the spread
    has all its digits, and at 1e300 its square is no overflow.

    >>> seen = Standard.of(Tally.empty(2).plus([(0, 1, 1e8 + 1), (0, 1, 1e8 - 1), (1, 1, 1e8)]), np.ones(2))
    >>> seen.offset, seen.exponent, seen.averages, seen.within
    (100000000.0, -1, array([0., 0.]), 8.0)
    """

    arms: Integers
    """The arms seen, in their order."""

    counts: Array
    """How many rewards each of them gave."""

    averages: Array
    """Their average rewards."""

    within: float
    """The sum of squares about the averages, each over the arm's relative noise variance."""

    offset: float
    exponent: int
    times: Array | None = None
    """When these rewards were given, if mean rewards change: an arm is there once for each of its times."""

    now: float = 0.0

    @property
    def unit(self) -> float:
        """2^exponent."""
        return math.ldexp(1.0, self.exponent)

    @property
    def number(self) -> int:
        """The number of rewards."""
        return int(self.counts.sum())

    @property
    def all_equal(self) -> bool:
        """Whether no two rewards differ: then nothing is known of their scale."""
        return not (self.within or self.averages.any())

    def in_units_of(self, exponent: int) -> Standard:
        """Return the same in units of 2^exponent, unless its own are coarser."""
        new = exponent if self.all_equal else max(self.exponent, exponent)
        shift = self.exponent - new
        averages, within = np.ldexp(self.averages, shift), float(np.ldexp(self.within, 2 * shift))
        return replace(self, averages=averages, within=within, exponent=new)

    def beside(self, scales: Array, level: Known | None) -> Standard:
        """Return the same in units in which squares of what was stated, of scales and the mean, are doubles.

        Units are as fine as the rewards, or 2^-300 of the largest that was stated, if that is more: rewards that differ
        by less are equal beside it. If all are equal, and so far from it, they are those of what was stated.
        """
        stated = [0.0] if level is None else [level.deviation, abs(level.centre - self.offset)]
        largest = max(stated + ([] if np.isnan(scales).any() else [float(scales.max())]))
        coarse = math.frexp(largest)[1]
        if not largest or self.exponent >= coarse - FINEST:
            return self
        return self.in_units_of(coarse if self.all_equal else coarse - FINEST)

    def of_reward(self, reward: float) -> float:
        """Return a reward in these units."""
        return float(np.ldexp(reward - self.offset, -self.exponent))

    def rewards(self, values: Array) -> Array:
        """Return what values in these units are as rewards."""
        with np.errstate(over="ignore"):
            return np.asarray(self.offset + self.unit * values)

    def squares(self, values: Array) -> Array:
        """Return what variances or covariances are in squares of rewards; beyond the doubles the largest double."""
        most = np.finfo(float).max
        with np.errstate(over="ignore"):
            return np.clip(values * self.unit * self.unit, -most, most)

    @staticmethod
    def of(tally: Tally, relative: Array) -> Standard:
        """Return what a tally says; `relative` are the arms' noise variances, up to a factor."""
        squares = tally.squares
        refuse_sums(squares is not None)
        assert squares is not None
        arms = np.flatnonzero(tally.counts)
        n = [int(count) for count in tally.counts[arms]]
        sums, total = [tally.exact[arm] for arm in arms.tolist()], sum(tally.exact.values())
        offset = _quotient(total, sum(n), -SHIFT) if n else 0.0
        centre = in_units(offset)
        apart = [s - count * centre for s, count in zip(sums, n, strict=True)]
        spread = [count * squares[arm] - s * s for arm, s, count in zip(arms.tolist(), sums, n, strict=True)]
        exponent = max(
            (
                max(abs(a).bit_length() - count.bit_length(), (b.bit_length() - 2 * count.bit_length()) // 2) - SHIFT
                for a, b, count in zip(apart, spread, n, strict=True)
                if a or b
            ),
            default=0,
        )
        averages = [_quotient(a, count, -SHIFT - exponent) for a, count in zip(apart, n, strict=True)]
        within = [
            _quotient(b, count, -2 * (SHIFT + exponent)) / relative.item(arm)
            for b, count, arm in zip(spread, n, arms.tolist(), strict=True)
        ]
        return Standard(
            arms, np.array(n, dtype=np.float64), np.array(averages, dtype=np.float64), sum(within), offset, exponent
        )


def refuse_sums(known: bool) -> None:
    """Refuse rewards of which only sums are known."""
    if not known:
        raise ValueError(
            "a Vague belief learns the noise from how an arm's rewards differ, so that it must see each reward, "
            "but it was given sums of several. Use observe(arms, rewards)."
        )


def _quotient(numerator: int, denominator: int, exponent: int) -> float:
    """Return numerator / denominator * 2^exponent, correctly rounded."""
    if exponent >= 0:
        return (numerator << exponent) / denominator
    return numerator / (denominator << -exponent)
