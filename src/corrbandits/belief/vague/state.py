"""What follows from the rewards, in standard units: afresh from a tally, or from what was known after one more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief.log import Log
from corrbandits.belief.vague.budget import much, refuse_too_many, stepwise, worth_keeping
from corrbandits.belief.vague.components import components
from corrbandits.belief.vague.evidence import Evidence, conditioned
from corrbandits.belief.vague.factors import Factors, factors
from corrbandits.belief.vague.fading import at_their_times, first_and_rest
from corrbandits.belief.vague.mixture import Mixture
from corrbandits.belief.vague.opening import lasts, weights_of_past
from corrbandits.belief.vague.prior import Prior
from corrbandits.belief.vague.standard import Standard

FEW = 8
"""The first rewards are conditioned on afresh, one after the other: their units are not settled yet."""

FEW_MORE = 16
"""All is computed afresh after so many rewards more than there were arms seen: rounding does not add up."""

FIRST = 64
"""Where mean rewards change, so many rewards are conditioned on at once, and the rest one after the other."""

SHARPEST = 1e4
"""The variance of the arms' means over that of the noise, on average: where it is larger, all is computed afresh for
every reward. A step leaves an error of some 5e-15 of it.
"""


@final
@dataclass(frozen=True, eq=False)
class State:
    """A prior, and what rewards make of it."""

    prior: Prior
    units: Standard
    """What was seen when all was last computed afresh, and the units that rewards are in since."""

    evidence: Evidence
    mixture: Mixture | None
    """None in the opening."""

    weights: Array
    """The posterior probabilities of the components; in the opening, of the parts."""

    @staticmethod
    def of(prior: Prior, tally: Tally, log: Log | None = None, now: float = 0.0) -> State:
        """Return what follows from a tally, or from rewards with their times, now, and from nothing else."""
        parts, relative = prior.parts, prior.relative_variance
        seen = Standard.of(tally, relative) if log is None else at_their_times(log, now, relative)
        seen = seen if parts.past is None else seen.in_units_of(parts.past.exponent)
        seen = seen.beside(parts.scales, prior.level)
        refuse_too_many(parts, seen.arms.size)
        first, rest = first_and_rest(seen, FIRST if stepwise(parts) else seen.arms.size)
        evidence, roots, solved = conditioned(parts, first, relative)
        if lasts(parts, prior.level, seen, replace(evidence, number=evidence.number + rest.number)):
            return State(prior, seen, evidence, None, weights_of_past(parts, seen, evidence))
        kept = np.arange(len(parts)) if stepwise(parts) else _kept(prior, seen, evidence)
        made = factors(parts, first, relative, kept, roots, solved)
        if rest.number:
            made, evidence = _followed(prior, made, evidence, rest)
        return State._of(prior, seen, evidence, made)

    @staticmethod
    def _of(prior: Prior, seen: Standard, evidence: Evidence, made: Factors) -> State:
        """Return the state from the evidence of all parts, and factors of those that are kept."""
        mixed = components(evidence, prior.parts.scales, prior.level, seen.offset, seen.unit)
        if made.kept.size < len(prior.parts):
            mixed = mixed.kept(np.flatnonzero(np.isin(mixed.part, made.kept)), made.kept)
        mixture = Mixture.of(mixed, made, evidence.ones[made.kept])
        return State(prior, seen, evidence, mixture, mixture.weights)

    def later(self, time: float) -> State:
        """Return what is believed at a later time, nothing seen since."""
        return self if self.mixture is None else replace(self, mixture=self.mixture.later(time))

    def after(self, arm: int, reward: float, seen: int) -> State | None:
        """Return what follows from one more reward, so many arms having been seen; None if it is to be found afresh.

        Where mean rewards change, it is so many rewards.
        """
        prior, parts, z = self.prior, self.prior.parts, self.units.of_reward(reward)
        large = much(parts, seen) and not stepwise(parts)
        if self.mixture is None or abs(z) >= 1e3 or large or self._loses_digits(self.mixture, seen):
            return None
        noise = parts.ratios * prior.relative_variance[arm]
        with one_thread():
            before = self.mixture.factors.compact()
            row = before.rows(np.array([arm]))[:, 0]
        more, step = before.after(row, arm, noise, np.full(len(parts), z))
        return State._of(prior, self.units, self.evidence.after(step.variance, step.zeta, step.o), more)

    def _loses_digits(self, mixture: Mixture, seen: int) -> bool:
        """Return whether one more step would lose digits that all rewards at once do not."""
        past, number = self.prior.parts.past, self.evidence.number
        since = number - self.units.number - (0 if past is None else past.degrees)
        ratios = self.prior.parts.ratios[mixture.components.part] * self.prior.relative_variance.min()
        sharp = float(mixture.weights @ (1 / ratios)) > SHARPEST
        if self.prior.parts.rates is not None:
            return number < FEW or (sharp and number <= FIRST)
        return number < FEW or since > seen + FEW_MORE or sharp

    def awaiting(self, arms: list[int]) -> State:
        """Return the same while rewards of these arms are awaited."""
        if self.mixture is None:
            return self
        return replace(self, mixture=self.mixture.awaiting(arms, self.prior.relative_variance))


def _kept(prior: Prior, seen: Standard, evidence: Evidence) -> Integers:
    """Return which parts are kept: all of them, unless there is much to compute."""
    parts = prior.parts
    if not much(parts, seen.arms.size):
        return np.arange(len(parts))
    mixed, weights = components(evidence, parts.scales, prior.level, seen.offset, seen.unit), np.zeros(len(parts))
    np.add.at(weights, mixed.part, mixed.weights())
    return worth_keeping(parts, weights, seen.arms.size)


def _followed(prior: Prior, now: Factors, evidence: Evidence, rest: Standard) -> tuple[Factors, Evidence]:
    """Return factors and evidence after more rewards, in the order of time, and at the present one."""
    assert rest.times is not None
    noise = prior.parts.ratios * prior.relative_variance[:, None]
    steps = zip(*(values.tolist() for values in (rest.times, rest.arms, rest.counts, rest.averages)), strict=True)
    with one_thread():
        for time, arm, count, average in steps:
            now = now.later(time).compact()
            row = now.rows(np.array([arm]))[:, 0]
            now, step = now.after(row, arm, noise[arm] / count, np.full(len(prior.parts), average))
            evidence = evidence.after(step.variance, step.zeta, step.o).repeated(int(count) - 1, prior.parts.ratios)
        return now.later(rest.now), evidence
