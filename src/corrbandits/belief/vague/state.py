"""What follows from the rewards, in standard units: afresh from a tally, or from what was known after one more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief.vague.budget import much, worth_keeping
from corrbandits.belief.vague.components import components
from corrbandits.belief.vague.evidence import Evidence, conditioned
from corrbandits.belief.vague.factors import factors
from corrbandits.belief.vague.mixture import Mixture
from corrbandits.belief.vague.opening import lasts, weights_of_past
from corrbandits.belief.vague.prior import Prior
from corrbandits.belief.vague.standard import Standard

FEW = 8
"""The first rewards are conditioned on afresh, one after the other: their units are not settled yet."""

FEW_MORE = 16
"""All is computed afresh after so many rewards more than there were arms seen: rounding does not add up."""

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
    def of(prior: Prior, tally: Tally) -> State:
        """Return what follows from a tally, and from nothing else."""
        parts = prior.parts
        seen = Standard.of(tally, prior.relative_variance)
        seen = seen if parts.past is None else seen.in_units_of(parts.past.exponent)
        evidence, roots, solved = conditioned(parts, seen, prior.relative_variance)
        if lasts(parts, prior.level, seen, evidence):
            return State(prior, seen, evidence, None, weights_of_past(parts, seen, evidence))
        mixed = components(evidence, parts.scales, prior.level, seen.offset, seen.unit)
        weights = np.zeros(len(parts))
        np.add.at(weights, mixed.part, mixed.weights())
        kept = worth_keeping(parts, weights, seen.arms.size)
        if kept.size < len(parts):
            mixed = mixed.kept(np.flatnonzero(np.isin(mixed.part, kept)), kept)
        mixture = Mixture.of(mixed, factors(parts, seen, kept, roots, solved), evidence.ones[kept])
        return State(prior, seen, evidence, mixture, mixture.weights)

    def after(self, arm: int, reward: float, seen: int) -> State | None:
        """Return what follows from one more reward, so many arms having been seen; None if it is to be found afresh."""
        prior, parts, z = self.prior, self.prior.parts, self.units.of_reward(reward)
        if self.mixture is None or abs(z) >= 1e3 or much(parts, seen) or self._loses_digits(self.mixture, seen):
            return None
        noise = parts.ratios * prior.relative_variance[arm]
        with one_thread():
            before = self.mixture.factors.compact()
            row = before.rows(np.array([arm]))[:, 0]
        more, step = before.after(row, arm, noise, np.full(len(parts), z))
        evidence = self.evidence.after(*step)
        mixed = components(evidence, parts.scales, prior.level, self.units.offset, self.units.unit)
        mixture = Mixture.of(mixed, more, evidence.ones)
        return replace(self, evidence=evidence, mixture=mixture, weights=mixture.weights)

    def _loses_digits(self, mixture: Mixture, seen: int) -> bool:
        """Return whether one more step would lose digits that all rewards at once do not."""
        past, number = self.prior.parts.past, self.evidence.number
        since = number - self.units.number - (0 if past is None else past.degrees)
        ratios = self.prior.parts.ratios[mixture.components.part] * self.prior.relative_variance.min()
        return number < FEW or since > seen + FEW_MORE or float(mixture.weights @ (1 / ratios)) > SHARPEST

    def awaiting(self, arms: list[int]) -> State:
        """Return the same while rewards of these arms are awaited."""
        if self.mixture is None:
            return self
        return replace(self, mixture=self.mixture.awaiting(arms, self.prior.relative_variance))
