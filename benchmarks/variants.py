"""Rules like the default on a belief told nothing, each with one piece changed: for `ablation`.

In the opening, which but one leave as it is, and on other beliefs, each does what the rule does that it varies.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from benchmarks.opponents.player import spread
from corrbandits import Gittins, HorizonUCL, Vague
from corrbandits._core.checks import Array
from corrbandits.belief import Belief
from corrbandits.belief.vague.lengths import in_extents
from corrbandits.belief.vague.opening import farthest
from corrbandits.policies.base import IndexPolicy
from corrbandits.policies.baselines import expected_gain
from corrbandits.policies.gittins import index_in_deviations


@dataclass(frozen=True)
class Variant(IndexPolicy):
    """A rule that knows the horizon, on a belief told nothing once there are means and variances."""

    horizon: int
    varied: ClassVar[type[Gittins] | type[HorizonUCL]] = Gittins

    def index(self, belief: Belief, t: int) -> Array:
        """Return what the rule makes of it that is varied, or, where that can be, the variant."""
        rule = self.varied(self.horizon)
        if not isinstance(belief, Vague) or belief.opening:
            return rule.index(belief, t)
        return self.varying(belief, t, int(rule.left(t)))

    @abstractmethod
    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return an index for every arm, m decisions left."""


@final
@dataclass(frozen=True)
class OnMoments(Variant):
    """The Gittins index of the mixture's mean and deviation, as if they were those of one normal part."""

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return mu_i + s_i g(m, sigma^2 / s_i^2)."""
        return np.asarray(
            belief.mean + belief.deviation * index_in_deviations(m, belief.noise_variance / belief.variance)
        )


@final
@dataclass(frozen=True)
class WithoutDoubt(Variant):
    """The mean of the parts' Gittins indices."""

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return what the parts say on average."""
        each = belief.part_locations + belief.part_deviations * index_in_deviations(m, belief.part_noise)
        return np.asarray(belief.weights @ each)


@final
@dataclass(frozen=True)
class OnQuantiles(Variant):
    """`HorizonUCL` by the mixture's true quantiles: mean + quantile - median."""

    varied = HorizonUCL

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return mu_i + q_i(1 / (m + 1)) - q_i(1 / 2)."""
        above = belief.credible_limit(-float(np.log1p(m)))
        return np.asarray(belief.mean + above - belief.credible_limit(float(np.log(0.5))))


@final
@dataclass(frozen=True)
class Wider(Variant):
    """The index some times as far above the mean."""

    times: float = 1.2

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return mu_i + 1.2 (Q_i - mu_i)."""
        return np.asarray(belief.mean + self.times * (Gittins(self.horizon).index(belief, t) - belief.mean))


@final
@dataclass(frozen=True)
class SpreadOut(Variant):
    """The default after as many spread-out arms as this, not only as many as means and variances need."""

    first: int = 7

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return Q_i, or which arm lies farthest from what was tried."""
        index = Gittins(self.horizon).index(belief, t)
        if t <= self.first:
            points = None if belief.parts.points is None else belief.parts.places()
            index[farthest(points, belief.counts, np.arange(belief.arms))] = np.inf
        return index


@dataclass(frozen=True)
class OthersFirst(Variant):
    """The default, but the opening takes other arms, in an order of its own."""

    def pending(self, belief: Belief) -> npt.NDArray[np.bool_]:
        """Return which arm must be tried: in the opening the one whose turn it is."""
        must = super().pending(belief)
        if not isinstance(belief, Vague) or not belief.opening or belief.coordinates is None:
            return must
        order = self.order(belief, belief.coordinates)
        return np.arange(belief.arms) == order[int(belief.counts.sum()) % len(order)]

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return Q_i."""
        return Gittins(self.horizon).index(belief, t)

    @abstractmethod
    def order(self, belief: Vague, coordinates: Array) -> list[int]:
        """Return the arms in the order in which the opening takes them."""


@final
@dataclass(frozen=True)
class AnywhereFirst(OthersFirst):
    """The opening looks next to scrambled Sobol points, as others do, on each problem elsewhere.

    What scrambles them follows from the order of the arms, which is another on every problem.
    """

    def order(self, belief: Vague, coordinates: Array) -> list[int]:
        """Return all arms by those points."""
        return spread(in_extents(coordinates), belief.arms, crc32(coordinates.tobytes()))


@final
@dataclass(frozen=True)
class TellingFirst(OthersFirst):
    """The opening takes the arm whose reward leaves the least variance of all arms, by the mixture's covariance."""

    most: int = 8

    def order(self, belief: Vague, coordinates: Array) -> list[int]:
        """Return some arms, each the one that tells most after those before it; of equal ones the first by place."""
        parts, chosen = belief.parts, list[int]()
        weights = np.exp(parts.log_prior) / np.exp(parts.log_prior).sum()
        covariance = np.asarray(sum(w * R for w, R in zip(weights, parts.matrices(), strict=True)))
        noise = float(np.exp(weights @ np.log(parts.ratios)))
        for _ in range(min(self.most, belief.arms)):
            told = np.square(covariance).sum(axis=1) / (covariance.diagonal() + noise)
            told[chosen] = -np.inf
            equal = np.flatnonzero(told >= told.max() * (1 - 1e-9))
            chosen.append(int(equal[np.lexsort(coordinates[equal].T[::-1])[0]]))
            row = covariance[chosen[-1]]
            covariance = covariance - np.outer(row, row) / (row[chosen[-1]] + noise)
        return chosen


@final
@dataclass(frozen=True)
class LookAhead(Variant):
    """The largest gain of some rewards of one arm and then the arm that looks best, among those of largest index.

    Taken k times, arm i should raise the largest mean by G_i(k), by the covariances of the mixture: this is the
    knowledge gradient of k rewards at once (Frazier and Powell's KG*), and

        max_k  k mu_i + (m - k) (max_j mu_j + G_i(k))

    what the rest of the campaign should bring if nothing else is learnt.
    """

    among: int = 15

    def varying(self, belief: Vague, t: int, m: int) -> Array:
        """Return that for the arms of largest index, -inf for others."""
        found, mean = np.full(belief.arms, -np.inf), belief.mean
        noise = float(np.mean(belief.noise_variance))
        ks = np.unique(np.geomspace(1, m - 1, 8).round()) if m > 1 else np.array([])
        for arm in np.argsort(-Gittins(self.horizon).index(belief, t))[: self.among]:
            row = belief.covariance_with(int(arm))
            gains = [expected_gain(mean, row / np.sqrt(row[arm] + noise / k)) for k in ks]
            bring = [k * mean[arm] + (m - k) * (mean.max() + gain) for k, gain in zip(ks, gains, strict=True)]
            found[arm] = max(bring, default=m * mean[arm])
        return found
