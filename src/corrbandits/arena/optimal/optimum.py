"""The most that any rule can earn on two or three correlated Gaussian arms, by dynamic programming.

    name       meaning
    T          decisions in all
    n          how often each arm was taken: the posterior covariance depends on n alone
    state      an n, by its number; all n of fewer than T decisions have one
    d          posterior means less that of the last arm: what is worth doing depends on n and d alone
    scale      by how much d may still change until the last decision: the spacing of grids

With m decisions left a state is worth m times the mean of the last arm, and besides

    U(n, d, m) = max_i [ d_i + E U(n + e_i, d + c_i Z, m - 1) ],    d_last = 0,    U(., ., 0) = 0,

Z standard normal, c_i by how much a reward of arm i moves d. U is convex in d, rises with every d_i, and its slopes are
not negative and add up to at most m. `lines` and `planes` keep it from above and from below.
"""

from __future__ import annotations

import itertools
import math
from typing import final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.excess import expected_excess
from corrbandits._core.gaussian import condition
from corrbandits.arena.optimal.lines import Lines
from corrbandits.arena.optimal.planes import Planes
from corrbandits.belief import Correlated, Independent

LONGEST = {2: 200, 3: 30}
"""The most decisions for so many arms, to be solved within minutes: the states grow as T^2 for two, T^3 for three."""


@final
class Optimum:
    """What the best possible rule earns on average, when mean rewards are drawn from the prior that it knows.

    `low` and `high` bound it: each is computed from its own side, and a finer grid (`nodes`) brings them together.
    `value` lies between, where it would be for a fine grid. `most` is E[T max f], what knowing the best arm would
    bring, and `regret` is `most` less `value`: what no rule can avoid.

    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    >>> best = Optimum(prior, horizon=10)
    >>> round(best.value, 3), round(best.regret, 3)
    (2.304, 1.685)
    """

    def __init__(self, prior: Correlated | Independent, horizon: int, nodes: int | None = None) -> None:
        self.horizon = checks.integer("horizon", horizon, least=1)
        if prior.arms not in (2, 3):
            raise ValueError(f"the best possible value is known for 2 or 3 arms, got {prior.arms}.")
        if self.horizon > LONGEST[prior.arms]:
            raise ValueError(
                f"horizon must be at most {LONGEST[prior.arms]} for {prior.arms} arms, or solving takes too long, got "
                f"{self.horizon:,}. Take a shorter one."
            )
        if not np.isfinite(prior.variance).all():
            raise ValueError("the prior must be proper, but some variance is infinite; give finite ones.")
        self._mean, self._noise = prior.mean, prior.noise_variance
        self._counts, self._number = _states(prior.arms, self.horizon)
        covariance = prior.covariance_of()
        none = np.zeros(prior.arms)
        self._covariances = np.array([condition(none, covariance, self._noise, n, none)[1] for n in self._counts])
        variances = np.diagonal(_differences(self._covariances), axis1=1, axis2=2)
        if not variances.any(axis=1).all():
            raise ValueError("arms must differ, but the prior is sure of all differences; there is nothing to learn.")
        gains = self._covariances / np.sqrt(np.diagonal(self._covariances, axis1=1, axis2=2) + self._noise)[:, None]
        moves = np.swapaxes(gains[:, :-1] - gains[:, -1:], 1, 2)  # of each state, each arm, each difference
        kind = Lines if prior.arms == 2 else Planes
        size = kind.usual if nodes is None else checks.integer("nodes", nodes, least=9)
        self._kept: Lines | Planes = kind(np.ascontiguousarray(moves), self._scales(variances), size + 1 - size % 2)
        self.low, self.high = self._solved()
        self.value = self.low + kind.share * (self.high - self.low)
        self.most = self.horizon * expected_largest(self._mean, covariance)
        self.regret = self.most - self.value

    def worths(self, counts: Integers, means: Array) -> Array:
        """Return what each arm is worth if the best choices follow, less what the last arm's mean would bring for good.

        Counts and posterior means have a row per case, a column per arm.
        """
        states, after = self._number[tuple(counts.T)], self._following(counts)
        return self._kept.worths(states, after, self.horizon - counts.sum(axis=1), means[:, :-1] - means[:, -1:])

    def excess(self, arms: Integers, rewards: Array) -> Array:
        """Return by how much each decision of some runs fell short of the best one then; a row per run.

        The mean of its sums is the regret of the rule that made them, less the regret of the best rule. Worths are
        taken from above, so that this holds up to an error of the grid: a finer one lessens it.
        """
        runs = np.arange(len(arms))
        counts, means = np.zeros((len(arms), len(self._mean)), dtype=np.int64), np.tile(self._mean, (len(arms), 1))
        short = np.empty(arms.shape)
        for t, taken in enumerate(arms.T):
            worths = self.worths(counts, means)
            short[:, t] = worths.max(axis=1) - worths[runs, taken]
            S = self._covariances[self._number[tuple(counts.T)]]
            gain = S[runs, :, taken] / (S[runs, taken, taken] + self._noise[taken])[:, None]
            means = means + gain * (rewards[:, t] - means[runs, taken])[:, None]
            counts[runs, taken] += 1
        return short

    def _solved(self) -> tuple[float, float]:
        for state in range(len(self._counts) - 2, 0, -1):
            n = self._counts[state]
            self._kept.solve(state, self._following(n[None])[0], self.horizon - int(n.sum()))
        start = self._following(self._counts[:1])[0]
        low, high = self._kept.bracket(0, start, self.horizon, self._mean[:-1] - self._mean[-1])
        return low + self.horizon * float(self._mean[-1]), high + self.horizon * float(self._mean[-1])

    def _scales(self, variances: Array) -> Array:
        """Return how far the means may still move apart: of a difference's variance, the part that can be learnt."""
        least = variances.copy()
        for state in range(len(least) - 2, -1, -1):
            after = self._following(self._counts[state : state + 1])[0]
            if after[0] < len(least) - 1:
                least[state] = least[after].min(axis=0)
        learnt = (variances - least).max(axis=1)
        whole = variances.max(axis=1)
        return np.asarray(np.sqrt(np.where(learnt > 1e-9 * whole, learnt, whole)))

    def _following(self, counts: Integers) -> Integers:
        """Return the states after one more reward of each arm; those with no decision left are the last, worth 0."""
        more = counts[:, None] + np.eye(counts.shape[1], dtype=np.int64)
        return np.asarray(self._number[tuple(np.moveaxis(more, -1, 0))])


def _states(arms: int, horizon: int) -> tuple[Integers, Integers]:
    """Return the counts of all states, fewest decisions first, and the numbers of states by counts.

    The last one, with counts of 0, stands for all that have no decision left.
    """
    counts = [
        n for total in range(horizon) for n in itertools.product(range(total + 1), repeat=arms) if sum(n) == total
    ]
    number = np.full((horizon + 1,) * arms, len(counts))
    number[tuple(np.array(counts).T)] = np.arange(len(counts))
    return np.array([*counts, (0,) * arms]), number


def expected_largest(mean: Array, covariance: Array) -> float:
    """Return the expectation of the largest of two or three jointly normal variables.

    >>> round(expected_largest(np.zeros(3), np.eye(3)), 6)    # 3 / (2 sqrt(pi))
    0.846284
    """
    d, C = mean[:-1] - mean[-1], _differences(covariance)
    x, weights = _normal_points(float(d[0]), float(np.sqrt(C[0, 0])))
    larger = np.maximum(x, 0.0)
    if len(d) == 2:  # given the first difference, the second is normal
        rest = max(float(C[1, 1] - C[0, 1] ** 2 / C[0, 0]), 0.0) ** 0.5
        centre = d[1] + C[0, 1] / C[0, 0] * (x - d[0])
        larger = larger + _excess(centre - larger, rest)
    return float(mean[-1] + weights @ larger)


def _excess(centre: Array, deviation: float) -> Array:
    """Return E(X)^+ for normal X."""
    return np.maximum(centre, 0.0) + (deviation * expected_excess(np.abs(centre) / deviation) if deviation else 0.0)


def _normal_points(centre: float, deviation: float) -> tuple[Array, Array]:
    """Return points and weights for means under a normal law of functions that may bend at 0."""
    bend = min(max(-centre / deviation, -9.5), 9.5)
    edges = np.concatenate([np.linspace(-10.0, bend, 60), np.linspace(bend, 10.0, 60)[1:]])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, None] / 2
    z = ((edges[1:] + edges[:-1])[:, None] / 2 + half * nodes).ravel()
    return centre + deviation * z, (half * weights).ravel() * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def _differences(covariance: Array) -> Array:
    """Return the covariance of all but the last, less the last; of one matrix or of many."""
    less = covariance[..., :-1, :] - covariance[..., -1:, :]
    return np.asarray(less[..., :-1] - less[..., -1:])
