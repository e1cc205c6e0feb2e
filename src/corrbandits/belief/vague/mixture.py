"""What is believed of the arms' means, in standard units: a mixture of Student t or normal components.

name             shape     meaning
weights          (C,)      the posterior probabilities of the components
location, scale  (C, N)    of each arm under each component; the scale is the deviation where it is normal
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.draws import covariance_root
from corrbandits._core.excess import better
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.gaussian import SAME
from corrbandits.belief.vague.components import Components
from corrbandits.belief.vague.factors import Factors
from corrbandits.belief.vague.quantile import quantile


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """The mixture, and what it is made of."""

    components: Components
    factors: Factors
    ones: Array
    """1'M^-1 1 under each part kept, what is awaited included."""

    weights: Array
    location: Array
    scale: Array

    @staticmethod
    def of(components: Components, factors: Factors, ones: Array) -> Mixture:
        """Return what components make of what is left of their parts."""
        part = components.part
        location = factors.response[part] + components.beta[:, None] * factors.share[part]
        return Mixture(components, factors, ones, components.weights(), location, _scales(components, factors))

    def later(self, time: float) -> Mixture:
        """Return the mixture at a later time, nothing seen since."""
        return Mixture.of(self.components, self.factors.later(time), self.ones)

    def awaiting(self, arms: list[int], relative: Array) -> Mixture:
        """Return the mixture while rewards of these arms are awaited: the scales shrink, and nothing else changes."""
        now, ones, before = self.factors, self.ones, self.components
        different = np.unique(arms)
        with one_thread():
            rows = now.rows(different)
        for arm in arms:
            noise, row = now.parts.ratios[now.kept] * relative[arm], rows[:, np.searchsorted(different, arm)]
            now, step = now.after(row, arm, noise, now.response[:, arm])
            ones = ones + np.square(step.o)
            rows -= step.v[:, different][:, :, None] * step.v[:, None]
        gained = (ones - self.ones)[before.part]
        shrunk = replace(before, beta_variance=before.beta_variance / (1 + before.beta_variance * gained))
        return replace(self, components=shrunk, factors=now, ones=ones, scale=_scales(shrunk, now))

    @property
    def mean(self) -> Array:
        """The mean of each arm; arms that are alike under every component have the same, to the last bit."""
        return np.asarray((self.weights[:, None] * self.location).sum(axis=0))

    @property
    def variance(self) -> Array:
        """The variance of each arm."""
        apart = self.weights @ np.square(self.location - self.mean)
        return np.asarray(self.weights @ np.square(self.scale) * self.components.inflation + apart)

    @property
    def noise(self) -> Array:
        """The square of the scale of a reward about its arm's mean under each component, (C,)."""
        ratios = self.factors.parts.ratios[self.factors.kept]
        return np.asarray(self.components.tau_squared * ratios[self.components.part])

    def limit(self, log_tail: float) -> Array:
        """Return what each arm is above with probability exp(log_tail)."""
        return quantile(self.weights, self.location, self.scale, self.components.freedom, log_tail)

    def chances(self, level: float) -> Array:
        """Return the probability that each arm is above a level."""
        from scipy.special import ndtr, stdtr

        z = (self.location - level) / np.where(self.scale > 0, self.scale, 1e-300)
        free = self.components.freedom
        return np.asarray(self.weights @ (ndtr(z) if math.isinf(free) else stdtr(free, z)))

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm with every arm."""
        centred = self.location - self.mean
        rows = self.components.inflation * self._rows(arm)
        return np.asarray(self.weights @ (rows + centred[:, arm][:, None] * centred))

    def rivals(self, leader: int) -> tuple[Array, Array]:
        """Return the probability that each arm is better than the leader, and by how much it is on average.

        Arms that were measured so precisely that little is left to be uncertain of hardly say anything of each other.
        """
        squares, own = np.square(self.scale), self.scale[:, leader][:, None]
        apart = np.sqrt(np.maximum(squares + np.square(own) - 2 * self._rows(leader), 0.0))
        gap = self.location[:, leader][:, None] - self.location
        rounding = SAME * np.sqrt(self.components.tau_squared)[:, None]  # of what the arms vary beforehand
        precise = (self.scale <= rounding) & (own <= rounding)
        apart = np.where(precise, np.hypot(self.scale, own), apart)
        same = ~precise & (apart <= rounding) & (np.abs(gap) <= rounding)
        same[:, leader] = True
        tail, excess = better(np.where(same, 0.0, gap), np.where(same, 0.0, apart), self.components.freedom)
        return np.minimum(self.weights @ tail, 1.0), self.weights @ excess

    def _rows(self, arm: int) -> Array:
        """Return what takes the place of the covariance of one arm with every arm under each component, (C, N)."""
        of, share = self.components, self.factors.share
        rows = self.factors.rows(np.array([arm]))[of.part, 0]
        rows = rows + (of.beta_variance * share[of.part, arm])[:, None] * share[of.part]
        return np.asarray(rows * of.tau_squared[:, None])

    def draws(self, generator: np.random.Generator, number: int, arms: Integers | None = None) -> Array:
        """Return so many draws of arms, one per column: a component by its weight, its scale, and arms by these."""
        of, reached = self.components, np.cumsum(self.weights)
        chosen = np.searchsorted(reached, generator.random(number) * reached[-1], side="right")
        tau = np.sqrt(of.tau_squared[chosen])
        if math.isfinite(of.freedom):
            tau = tau * np.sqrt(of.freedom / generator.chisquare(of.freedom, number))
        some = slice(None) if arms is None else arms
        count = self.location.shape[1] if arms is None else arms.size
        normals, drawn = generator.standard_normal((count, number)), np.empty((count, number))
        for one in np.unique(chosen):
            here, part = np.flatnonzero(chosen == one), of.part.item(one)
            share, beta = self.factors.share[part][some], of.beta_variance.item(one)
            if self.factors.parts.separate:
                common = generator.standard_normal(here.size)
                own = np.sqrt(self.factors.left[part][some])
                spread = own[:, None] * normals[:, here] + math.sqrt(beta) * np.outer(share, common)
            else:
                covariance = self.factors.covariance(part, arms)
                covariance += beta * np.outer(share, share)
                spread = covariance_root(covariance) @ normals[:, here]
            drawn[:, here] = self.location[one][some][:, None] + tau[here] * spread
        return drawn


def _scales(of: Components, factors: Factors) -> Array:
    """Return the scale of each arm under each component."""
    variances = factors.left[of.part] + of.beta_variance[:, None] * np.square(factors.share[of.part])
    return np.sqrt(of.tau_squared[:, None] * variances)
