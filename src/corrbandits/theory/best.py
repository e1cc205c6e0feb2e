"""The parameters that make a bound least.

As a grows, the extra terms fall and the eta_i rise by jumps. So between two jumps the bound falls, and it is least
just before one: that is where a is looked for, in a range that a coarse grid finds first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import GaussianBelief, Independent
from corrbandits.environments import Environment
from corrbandits.policies import UCL, CorrelatedUCL
from corrbandits.theory.bounds import theorem_1, theorem_2
from corrbandits.theory.theorems import Numbers, Problem, Version

POINTS, ROUNDS, JUMPS = 40, 4, 200


class Best(NamedTuple):
    """The a, and the epsilon or c1, of least regret bound; and the logarithm to base 10 of that bound.

    >>> Best(a=3.0, weight=0.5, log10_regret=2.0).a
    3.0
    """

    a: float
    weight: float
    log10_regret: float


def best_uncorrelated(environment: Environment, belief: Independent, horizon: int) -> Best:
    """Return the a and epsilon that make Theorem 1's bound on the regret least, for `UCL` with K = sqrt(2 pi e).

    >>> from corrbandits import GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> prior = Independent(mean=0.5, variance=10.0, noise_variance=1.0, arms=2)
    >>> best_uncorrelated(bandit, prior, horizon=1_000).a < 3
    True
    """
    return _best(theorem_1(environment, belief, UCL(), horizon))


def best_correlated(
    environment: Environment,
    belief: GaussianBelief,
    policy: UCL | CorrelatedUCL,
    horizon: int,
    version: Version = "corrected",
) -> Best:
    """Return the a and c1 that make Theorem 2's bound on the regret least, for this policy with any a.

    The summed bound holds for every a > 0; a = 0.01 is the least that is tried.

    >>> from corrbandits import Correlated, GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> prior = Correlated(mean=0.5, covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    >>> best_correlated(bandit, prior, CorrelatedUCL(), horizon=1_000).a < 3
    True
    """
    return _best(theorem_2(environment, belief, policy, horizon, version))


def _best(problem: Problem) -> Best:
    if not problem.suboptimal.any():
        raise ValueError("every arm is optimal: there is no bound to make least.")
    low = math.log(problem.least_a * 1e-4 or 1e-2)
    high = math.log(problem.most_a)
    cost, best_a, around = math.inf, problem.least_a + math.exp(high), np.array([])
    for _ in range(ROUNDS):
        around = problem.least_a + np.exp(np.linspace(low, high, POINTS))
        found = [_at(problem, a) for a in around.tolist()]
        costs = np.array([problem.log_regret(numbers) for numbers in found])
        if costs.min() < cost:
            cost, best_a = float(costs.min()), float(around[costs.argmin()])
        # jumps may hide the least cost wherever the cost without rounding up is no more than it
        maybe = np.flatnonzero([_without_rounding_up(problem, numbers) <= cost for numbers in found])
        first, last = (maybe.min(), maybe.max()) if maybe.size else (costs.argmin(), costs.argmin())
        low, high = (math.log(around[k] - problem.least_a) for k in (max(first - 1, 0), min(last + 1, POINTS - 1)))
    for a in _before_jumps(problem, best_a, around[max(first - 1, 0)], around[min(last + 1, POINTS - 1)]).tolist():
        new = problem.log_regret(_at(problem, a))
        if new < cost:
            cost, best_a = new, a
    if math.isinf(cost):
        raise ValueError("no a makes the bound finite: the prior is wrong, and singular or too far from the truth.")
    return Best(best_a, problem.weight(best_a), cost / math.log(10))


def _at(problem: Problem, a: float) -> Numbers:
    return problem.numbers(a, problem.weight(a))


def _without_rounding_up(problem: Problem, numbers: Numbers) -> float:
    with np.errstate(invalid="ignore"):
        eta = np.maximum(numbers.eta - 1, 0.5)
    log_eta = np.where(np.isfinite(eta), np.log(np.where(np.isfinite(eta), eta, 1.0)), numbers.log_eta)
    return problem.log_regret(numbers._replace(log_eta=log_eta))


def _before_jumps(problem: Problem, centre: float, low: float, high: float) -> Array:
    """Return values of a between low and high just before some eta_i jumps, the nearest to the centre of each arm."""
    if not problem.log_horizon or not problem.suboptimal.any():
        return np.array([])
    each = 1 + JUMPS // int(problem.suboptimal.sum())
    eta = problem.eta(centre)[0] + np.arange(-each, each)[:, None]
    jumps = problem.before(np.where(eta >= 1, eta, np.nan))[:, problem.suboptimal]
    jumps = jumps[(jumps > low) & (jumps < high)]
    return np.asarray(jumps[np.argsort(np.abs(jumps - centre), kind="stable")[:JUMPS]])
