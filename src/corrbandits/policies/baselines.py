"""Rules the paper's algorithms are measured against, on the same beliefs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.excess import expected_excess
from corrbandits.belief import Belief, GaussianBelief
from corrbandits.policies.base import LARGEST, IndexPolicy, Policy, best, gaussian


@final
@dataclass(frozen=True)
class Thompson(Policy):
    """Thompson sampling: draw all mean rewards from the belief, take the arm of the largest.

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 9.0], variance=1.0, noise_variance=1.0)
    >>> Thompson().choose(prior, t=1, rng=np.random.default_rng(0))
    1
    """

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        generator, unknown = checks.generator(type(self).__name__, rng), np.isinf(belief.variance)
        if np.count_nonzero(unknown):  # these are not allowed, or they would have been taken: any finite variance does
            belief = gaussian(self, belief).assume(np.flatnonzero(unknown))
        return best(belief.sample(generator), arms)


@final
@dataclass(frozen=True)
class UCB1(IndexPolicy):
    """UCB1: the average reward and scale sqrt(2 log(t - 1) / n_i); every arm once first. It ignores the prior.

    scale = 1 suits rewards in [0, 1]; for others, their range, or the deviation of the noise. Awaited rewards count in
    n_i; an arm that has none but these has the belief's mean for its average.

    >>> from corrbandits.belief import Independent
    >>> belief = Independent(noise_variance=1.0, arms=2).observe([0, 1], [0.0, 1.0])
    >>> UCB1().index(belief, t=3).round(3)
    array([1.177, 2.177])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.set_field(self, "scale", checks.number("scale", self.scale, above=0))

    def index(self, belief: Belief, t: int) -> Array:
        """Return the average and the confidence width; +inf for an arm never taken."""
        t = checks.integer("t", t, least=1)
        counts, average = belief.counts, belief.mean
        if belief.awaited:
            counts = counts + np.bincount(belief.awaited, minlength=belief.arms)
        seen, taken = belief.counts > 0, counts > 0
        average = np.divide(belief.sums, belief.counts, out=average.copy(), where=seen)
        index = np.full(belief.arms, np.inf)
        index[taken] = average[taken] + self.width(t) / np.sqrt(counts[taken])
        return index

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return the widths at these times."""
        return np.asarray(self.width(times))

    def width(self, t: Any) -> Any:
        """Return scale sqrt(2 log(t - 1)) at one time or at each of many: the confidence width of one reward."""
        return self.scale * np.sqrt(2 * np.log(np.maximum(np.subtract(t, 1), 1)))


@final
@dataclass(frozen=True)
class KnowledgeGradient(IndexPolicy):
    """The online knowledge gradient: mu_i and (T - t) times what a reward of arm i should add to the best mean.

    T is the horizon. The expectation is exact: after a reward of arm i the means are mu + Z S e_i / sqrt(S_ii +
    sigma_i^2) with Z standard normal, and the expected maximum of such lines follows from their upper envelope.

    >>> from corrbandits.belief import Correlated
    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]], noise_variance=1.0)
    >>> KnowledgeGradient(horizon=10).index(prior, t=1).round(3)
    array([2.539, 2.539, 2.539])
    """

    horizon: int

    def __post_init__(self) -> None:
        checks.set_field(self, "horizon", checks.integer("horizon", self.horizon, least=1))

    def threshold(self, belief: Belief) -> float:
        """Return the default, on a Gaussian belief; refuse another at once, not when its first rewards have come."""
        gaussian(self, belief)
        return LARGEST

    def left(self, t: Any) -> Any:
        """Return T - t, how many decisions follow the one at time t, or at each of many; refused past the horizon."""
        if np.max(t) > self.horizon:
            past = np.min(t, where=np.greater(t, self.horizon), initial=np.max(t))
            raise ValueError(f"KnowledgeGradient was given a horizon of {self.horizon}, but t = {past} is past it.")
        return self.horizon - t

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return how many decisions are left at these times."""
        return np.asarray(self.left(times), dtype=np.float64)

    def index(self, belief: Belief, t: int) -> Array:
        """Return mu_i + (T - t) nu_i."""
        left, known = self.left(checks.integer("t", t, least=1)), gaussian(self, belief)
        unknown = np.isinf(known.variance)
        gains = np.full(known.arms, np.inf)
        for arm in np.flatnonzero(~unknown).tolist():
            gains[arm] = expected_gain(known.mean, _slopes(known, arm))
        return np.where(unknown, np.inf, known.mean + left * gains if left else known.mean)

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        """Return the arm of largest index, computed for those alone that could have it.

        No gain is above (largest slope - smallest slope) / sqrt(2 pi), and no slope of arm i above
        s_i max_j s_j / sqrt(s_i^2 + sigma_i^2).
        """
        left, known = self.left(t), gaussian(self, belief)
        if not left or np.isinf(known.variance).any():
            return best(self.index(belief, t), arms)
        deviation, per_slope = np.sqrt(known.variance), left / math.sqrt(2 * math.pi)
        steepest = deviation * deviation.max() / np.sqrt(known.variance + known.noise_variance)
        bounds = known.mean + 2 * per_slope * steepest
        allowed = np.arange(known.arms) if arms is None else arms
        arm, most = -1, -math.inf
        for k in allowed[np.argsort(-bounds[allowed], kind="stable")].tolist():
            if bounds[k] < most:
                break
            slopes = _slopes(known, k)
            if known.mean[k] + per_slope * (slopes.max() - slopes.min()) * (1 + 1e-12) >= most:
                value = float(known.mean[k] + left * expected_gain(known.mean, slopes))
                if value > most or (value == most and k < arm):
                    arm, most = k, value
        return arm


@final
@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """With probability epsilon an arm at random, otherwise the arm of largest posterior mean.

    A choice takes one uniform number u: below epsilon it explores, and u / epsilon, again uniform, says where.

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 9.0], variance=1.0, noise_variance=1.0)
    >>> EpsilonGreedy(epsilon=0.1).choose(prior, t=1, rng=np.random.default_rng(0))
    1
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        checks.set_field(self, "epsilon", checks.number("epsilon", self.epsilon, least=0, up_to=1))

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        u = checks.generator(type(self).__name__, rng).random()
        return _at(u / self.epsilon, belief, arms) if u < self.epsilon else best(belief.mean, arms)


@final
@dataclass(frozen=True)
class Uniform(Policy):
    """An arm at random, each as likely as any other. A choice takes one uniform number.

    >>> from corrbandits.belief import Independent
    >>> Uniform().choose(Independent(noise_variance=1.0, variance=1.0, arms=5), t=1, rng=np.random.default_rng(0))
    3
    """

    def threshold(self, belief: Belief) -> float:
        """Return infinity: no arm must be tried first."""
        return math.inf

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        return _at(checks.generator(type(self).__name__, rng).random(), belief, arms)


def _slopes(belief: GaussianBelief, arm: int) -> Array:
    """Return how much each mean changes, per standard deviation of a reward of this arm about its mean."""
    return belief.covariance_with(arm) / math.sqrt(belief.variance[arm] + belief.noise_variance[arm])


def expected_gain(means: Array, slopes: Array) -> float:
    """Return E[max_j (means_j + slopes_j Z)] - max_j means_j for a standard normal Z, exactly.

    Lines that are nowhere the highest are dropped; between the others, sorted by slope and meeting at c_1 < c_2 <
    ..., the expectation is the sum of (slope_{j+1} - slope_j) f(-|c_j|), f(z) = phi(z) + z Phi(z).

    >>> round(expected_gain(np.array([0.0, 0.0]), np.array([0.0, 1.0])), 6)   # E max(0, Z) = 1 / sqrt(2 pi)
    0.398942
    """
    order = np.lexsort((means, slopes))
    heights, slants = means.tolist(), slopes.tolist()
    highest: list[int] = []
    meetings: list[float] = []
    for line in order.tolist():
        while highest:
            top = highest[-1]
            steeper = slants[line] - slants[top]
            # of parallel lines the later in order is higher; one that meets the top before the top rose hides it
            if steeper > 0:
                meeting = (heights[top] - heights[line]) / steeper  # nearly parallel lines meet at infinity
                if not meetings or meeting > meetings[-1]:
                    meetings.append(meeting)
                    break
            highest.pop()
            if meetings:
                meetings.pop()
        highest.append(line)
    return float(np.diff(slopes[highest]) @ expected_excess(np.abs(meetings)))


def _at(share: float, belief: Belief, arms: Integers | None) -> int:
    """Return the arm at this share, from 0 to 1, of the way through the allowed ones."""
    n = belief.arms if arms is None else arms.size
    place = min(int(share * n), n - 1)  # the quotient of two numbers near each other may be rounded to 1
    return place if arms is None else int(arms[place])
