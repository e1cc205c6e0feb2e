"""Rules that know the horizon: the table against other ways to compute it, and what they do at the ends."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from corrbandits import Beta, Correlated, Exponential, Independent, Vague
from corrbandits.policies import Gittins, Greedy, HorizonUCL
from corrbandits.policies.gittins import TABLE_ENDS, index_in_deviations
from corrbandits.policies.gittins.make import decisions


def two_left(n):
    """Return g(2, n) from its equation: x + E max(0, x') = 0, x' about x with the deviation a first reward leaves."""
    spread = math.sqrt(1 / (n + 1))  # in units of the arm's deviation

    def worth(x):
        return x + spread * (stats.norm.pdf(x / spread) + x / spread * stats.norm.cdf(x / spread))

    return -optimize.brentq(worth, -5, 0, xtol=1e-14)


@pytest.mark.parametrize("n", [1e-3, 0.1, 1.0, 30.0])
def test_with_two_decisions_left_it_solves_an_equation(n):
    assert index_in_deviations(2, n).item() == pytest.approx(two_left(n), rel=4e-3)


def by_recursion(n, m, cells=4000):
    """Return g(m, n) by the plain recursion, one decision at a time, on means in units of the noise, by convolution."""
    reach = 6 / math.sqrt(n)
    mu = np.linspace(-reach, reach, cells + 1)
    value = np.maximum(mu, 0.0)  # one left, after m - 1 rewards
    for taken in range(m - 2, -1, -1):
        spread = math.sqrt(1 / ((n + taken) * (n + taken + 1)))
        u = (np.arange(201) + 0.5) / 201
        points = spread * stats.norm.ppf(u)  # equally likely
        following = np.interp(mu[:, None] + points, mu, value, left=0.0)
        beyond = mu[:, None] + points > reach
        following = np.where(beyond, (m - 1 - taken) * (mu[:, None] + points), following)
        worth = mu + following.mean(axis=1)
        value = np.maximum(worth, 0.0)
    k = int(np.flatnonzero(worth > 0)[0])
    root = mu[k - 1] - worth[k - 1] * (mu[k] - mu[k - 1]) / (worth[k] - worth[k - 1])
    return -root * math.sqrt(n)


@pytest.mark.parametrize(("n", "m"), [(0.1, 10), (1.0, 10), (1.0, 60), (10.0, 60), (0.3, 150)])
def test_the_table_is_what_the_recursion_gives(n, m):
    assert index_in_deviations(m, n).item() == pytest.approx(by_recursion(n, m), rel=0.015)


def test_the_index_grows_with_what_is_left_and_falls_with_what_is_known():
    ms, ns = [1, 2, 5, 20, 100, 1000, 10_000, 100_000], np.exp(np.linspace(-9, 9, 40))
    table = np.array([index_in_deviations(m, ns) for m in ms])
    assert (table[0] == 0).all()
    assert (np.diff(table, axis=0) > 0).all()
    assert (np.diff(table[1:, ns > 1], axis=1) < 1e-3).all()
    assert index_in_deviations(10**9, 1.0) == index_in_deviations(TABLE_ENDS, 1.0)
    assert np.isfinite(index_in_deviations(100, np.array([0.0, np.inf]))).all()


def test_the_lattice_of_decisions_reaches_its_end():
    ms = decisions(1000, 1.1)
    assert ms[0] == 1
    assert ms[-1] == 1000
    assert (np.diff(ms) >= 1).all()


def test_one_decision_left_is_greedy_and_so_is_all_after():
    belief = Correlated(
        mean=[0.0, 1.0, 0.5], kernel=4 * Exponential(1.0), coordinates=[0.0, 1.0, 2.0], noise_variance=1.0
    ).observe([0, 2], [1.0, 3.0])
    for rule in (HorizonUCL(horizon=9), Gittins(horizon=9)):
        for t in (9, 10, 10**9):
            np.testing.assert_allclose(rule.index(belief, t), Greedy().index(belief, t))


@pytest.mark.parametrize("t", [1, 20, 40])
def test_on_a_mixture_each_part_has_its_index_and_doubt_is_added(t):
    where, arms, rewards = np.arange(6.0), [2, 5, 2, 0], np.array([1.5, -0.3, 0.9, 0.2])
    told = {"mean": 0.0, "sd": (0.5, 2.0), "length": (0.5, 4.0), "noise_sd": (0.3, 1.0), "kernel": "exponential"}
    belief = Vague(coordinates=where, site=0.0, parts=5, **told).observe(arms, rewards)
    densities, each = [], []
    for length, ratio, scale in zip(belief.parts.lengths, belief.parts.ratios, belief.parts.scales, strict=True):
        covariance, noise = scale**2 * Exponential(length)(where), ratio * scale**2
        seen = covariance[np.ix_(arms, arms)] + noise * np.eye(4)
        densities.append(stats.multivariate_normal(np.zeros(4), seen).pdf(rewards))
        part = Correlated(mean=0.0, covariance=covariance, noise_variance=noise).observe(arms, rewards)
        each.append(Gittins(40).index(part, t))
    weights = np.array(densities) / np.sum(densities)
    mean = np.average(each, axis=0, weights=weights)
    apart = np.sqrt(np.average((np.array(each) - mean) ** 2, axis=0, weights=weights))
    left = 41 - t
    assert Gittins(40).index(belief, t) == pytest.approx(mean + stats.norm.isf(1 / (left + 1)) / 3 * apart, rel=1e-7)
    assert apart.max() > 0.05
    if left == 1:
        assert Gittins(40).index(belief, t) == pytest.approx(belief.mean, rel=1e-12)


def test_the_limit_has_the_tail_it_says():
    belief = Independent(mean=[0.0, 1.0], variance=[4.0, 9.0], noise_variance=1.0)
    for t, left in ((1, 50), (40, 11)):
        limits = HorizonUCL(horizon=50).index(belief, t)
        np.testing.assert_allclose(
            stats.norm.sf(limits, belief.mean, np.sqrt(belief.variance)), 1 / (left + 1), rtol=1e-9
        )


def test_unknown_and_known_arms():
    belief = Independent(mean=[0.0, 5.0, 1.0], variance=[np.inf, 0.0, 1.0], noise_variance=1.0)
    assert Gittins(horizon=10).choose(belief, 1) == HorizonUCL(horizon=10).choose(belief, 1) == 0
    index = Gittins(horizon=10).index(belief, 1)
    assert index[0] == np.inf
    assert index[1] == 5.0


def test_a_belief_without_noise_is_refused():
    with pytest.raises(TypeError, match="knows the noise"):
        Gittins(horizon=10).index(Beta(arms=2), 1)
    with pytest.raises(ValueError, match="horizon"):
        Gittins(horizon=0)


def test_one_arm_against_a_known_one_is_played_optimally():
    """The value of playing by the index, by simulation, is the value the recursion says, within its error."""
    n, m, rng = 0.5, 12, np.random.default_rng(3)
    g = [index_in_deviations(left, n + taken).item() for taken, left in enumerate(range(m, 0, -1))]
    runs = 200_000
    theta = rng.standard_normal(runs) / math.sqrt(n)
    mu, total, playing = np.full(runs, -0.3), np.zeros(runs), np.ones(runs, dtype=bool)
    theta = theta - 0.3
    for taken in range(m):
        playing &= mu + g[taken] / math.sqrt(n + taken) > 0
        total += np.where(playing, theta, 0.0)
        reward = theta + rng.standard_normal(runs)
        mu = np.where(playing, mu + (reward - mu) / (n + taken + 1), mu)
    grid = np.linspace(-9, 9, 3001)
    value = np.maximum(grid, 0)
    for taken in range(m - 2, -1, -1):
        spread = math.sqrt(1 / ((n + taken) * (n + taken + 1)))
        points = spread * stats.norm.ppf((np.arange(101) + 0.5) / 101)
        value = np.maximum(0, grid + np.interp(grid[:, None] + points, grid, value).mean(axis=1))
    best = float(np.interp(-0.3, grid, value))
    assert total.mean() == pytest.approx(best, abs=4 * total.std() / math.sqrt(runs) + 0.01 * best)
