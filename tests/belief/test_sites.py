"""Fitting what is each arm's own: told from noise by repeated rewards, and not told from it by one of each."""

import math

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Correlated, Implicit, evidence
from corrbandits.environments import landscapes
from corrbandits.kernels import Exponential, Matern32, SquaredExponential, White
from corrbandits.likelihood.marginal import Averages, within
from tests.support.contracts import GRID


def seasons(each, *, sd=2.0, length=3.0, site_sd=1.0, noise_sd=0.7, mean=30.0, seed=0):
    """Arms and rewards of a grid: a surface, what is each arm's own, and noise."""
    rng = np.random.default_rng(seed)
    surface = np.linalg.cholesky(sd**2 * Exponential(length)(GRID)) @ rng.standard_normal(100)
    own = site_sd * rng.standard_normal(100)
    arms = np.repeat(np.arange(100), each)
    return arms, mean + (surface + own)[arms] + noise_sd * rng.standard_normal(arms.size)


def log_density(arms, rewards, length, variance, noise, site):
    """The density of all rewards, their covariance written out; the mean by generalised least squares."""
    S = (variance * Exponential(length)(GRID) + site * np.eye(100))[np.ix_(arms, arms)] + noise * np.eye(arms.size)
    root = np.linalg.cholesky(S)
    one, r = solve_triangular(root, np.column_stack([np.ones(arms.size), rewards]), lower=True).T
    apart = r - (one @ r) / (one @ one) * one
    return -apart @ apart / 2 - np.log(np.diag(root)).sum() - arms.size * math.log(2 * math.pi) / 2


def test_the_density_written_out_is_scipys():
    arms, rewards = seasons(2)
    S = (4.0 * Exponential(3.0)(GRID) + 1.2 * np.eye(100))[np.ix_(arms, arms)] + 0.5 * np.eye(arms.size)
    w = np.linalg.solve(S, np.ones(arms.size))
    exact = multivariate_normal(np.full(arms.size, w @ rewards / w.sum()), S).logpdf(rewards)
    assert log_density(arms, rewards, 3.0, 4.0, 0.5, 1.2) == pytest.approx(exact, rel=1e-10)


def test_the_likelihood_with_sites_is_that_of_all_rewards_and_so_is_its_gradient():
    arms, rewards = seasons(2)
    counts = np.bincount(arms).astype(float)
    averages = np.bincount(arms, weights=rewards) / counts
    scatter = np.bincount(arms, weights=(rewards - averages[arms]) ** 2)
    data = Averages.of(Exponential(1.0), GRID, counts, averages)
    at = data.at(3.0, 4.0, 0.5, site=1.2)
    exact = log_density(arms, rewards, 3.0, 4.0, 0.5, 1.2)
    assert at.value + within(counts, 0.5, scatter)[0] == pytest.approx(exact, rel=1e-10)
    step = 1e-5
    sides = [log_density(arms, rewards, 3.0, 4.0, 0.5, 1.2 * math.exp(sign * step)) for sign in (1, -1)]
    assert at.by_site == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-5)


def test_repeated_rewards_tell_sites_from_noise():
    arms, rewards = seasons(3)
    found = evidence.fit(GRID, arms, rewards, site_effect=True)
    assert found.site_sd.low < 1.0 < found.site_sd.high
    assert found.noise_sd.low < 0.7 < found.noise_sd.high
    assert found.sd.low < 2.0 < found.sd.high
    assert "  site sd " in repr(found)
    assert not found.advice
    # another optimiser, on the density of all rewards, comes to the same top
    start = np.log([3.0, 4.0, 0.5, 1.0])
    with one_thread():
        top = minimize(lambda logs: -log_density(arms, rewards, *np.exp(logs)), start, method="Nelder-Mead")
    assert found.log_evidence == pytest.approx(-top.fun, abs=1e-3)
    assert found.log_evidence >= -top.fun - 1e-6
    assert found.site_variance.value == pytest.approx(math.exp(top.x[3]), rel=0.02)
    assert found.log_evidence > evidence.fit(GRID, arms, rewards).log_evidence


def test_sites_that_have_nothing_of_their_own():
    arms, rewards = seasons(3, site_sd=0.0)
    found = evidence.fit(GRID, arms, rewards, site_effect=True)
    plain = evidence.fit(GRID, arms, rewards)
    assert found.log_evidence == pytest.approx(plain.log_evidence, abs=1.0)
    assert found.site_sd.low < 0.3
    assert found.site_sd.high < 1.5


def test_the_prior_has_what_is_each_arms_own():
    arms, rewards = seasons(3)
    found = evidence.fit(GRID, arms, rewards, site_effect=True)
    prior = found.prior(GRID)
    expected = found.variance.value * Exponential(found.length.value)(GRID) + found.site_variance.value * np.eye(100)
    assert prior.covariance == pytest.approx(expected, rel=1e-12)
    assert prior.noise_variance[0] == found.noise_variance.value


def test_of_one_reward_each_only_the_sum_of_site_and_noise_is_known():
    arms, rewards = seasons(1, site_sd=1.0, noise_sd=1.0)
    both = evidence.fit(GRID, arms, rewards, kernel=SquaredExponential)
    known = evidence.fit(GRID, arms, rewards, kernel=SquaredExponential, noise_variance=0.5, site_effect=True)
    assert both.noise_variance.value > 0.5
    assert known.site_variance.value + 0.5 == pytest.approx(both.noise_variance.value, rel=1e-3)
    assert known.log_evidence == pytest.approx(both.log_evidence, abs=1e-6)
    assert any("give noise_variance=" in words for words in both.advice)
    assert "note: each arm gave one reward" in repr(both)
    assert not known.advice
    with pytest.raises(ValueError, match="site_effect must have several rewards of some arms, or the noise, got one"):
        evidence.fit(GRID, arms, rewards, site_effect=True)


@pytest.mark.parametrize("kernel", [Exponential, Matern32])
@pytest.mark.parametrize("seed", range(4))
def test_a_noise_that_runs_to_0_is_0_with_an_end_and_makes_no_prior(kernel, seed):
    surface = landscapes.draw(4 * Exponential(1.0), GRID, noise_variance=1.0, seed=seed)
    found = evidence.fit(GRID, np.arange(100), surface.means, kernel=kernel)
    if found.noise_variance.value:
        assert found.noise_variance.value > 1e-6 * surface.means.var()
        return
    assert any("noise sd runs to 0" in words for words in found.at_bound)
    assert 0 == found.noise_sd.low < found.noise_sd.high < 1.1 * surface.means.std()
    # the end of the interval is where the likelihood, all else fitted anew from other starts, has fallen by 1.92
    there = evidence.fit(GRID, np.arange(100), surface.means, kernel=kernel, noise_variance=found.noise_variance.high)
    if found.noise_sd.high < 0.9 * surface.means.std():
        assert found.log_evidence - there.log_evidence == pytest.approx(1.92, abs=0.05)
    with pytest.raises(
        ValueError, match=r"noise_variance must be given, because the rewards put the noise at 0 \(noise"
    ):
        found.prior(GRID)
    assert found.prior(GRID, noise_variance=0.5).noise_variance[0] == 0.5


def test_some_of_these_do_run_to_0():
    surfaces = [landscapes.draw(4 * Exponential(1.0), GRID, noise_variance=1.0, seed=seed).means for seed in range(4)]
    fits = [evidence.fit(GRID, np.arange(100), means) for means in surfaces]
    assert any(not found.noise_variance.value for found in fits)


def test_deviations_are_roots_of_variances():
    found = evidence.fit(GRID, *seasons(2), site_effect=True)
    for sd, variance in ((found.sd, found.variance), (found.noise_sd, found.noise_variance)):
        assert (sd.value**2, sd.low**2, sd.high**2) == pytest.approx((variance.value, variance.low, variance.high))
    assert "  sd " in repr(found)
    assert "variance" not in repr(found)
    arms, rewards = seasons(2)
    ten = evidence.fit(GRID, arms, 10 * rewards, site_effect=True)  # a deviation has the unit of rewards
    assert ten.site_sd.value == pytest.approx(10 * found.site_sd.value, rel=1e-3)


def test_white_is_each_points_own():
    where = np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]])
    assert White()(where).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert White()(where, [[2.0, 1.0]]).tolist() == [[0], [1], [0]]
    assert White().stretched(3.0) == White()
    with pytest.raises(ValueError, match="points have 2 coordinates but others have 1"):
        White()(where, [1.0])


def test_both_kinds_of_belief_take_it():
    settings = {"kernel": 4 * Exponential(2.0) + 0.5 * White(), "coordinates": GRID, "noise_variance": 1.0}
    one, other = (kind(**settings).observe([3, 40], [1.0, 2.0]) for kind in (Correlated, Implicit))
    assert one.mean == pytest.approx(other.mean, abs=1e-12)
    assert one.variance == pytest.approx(other.variance, rel=1e-10)
    alone = Correlated(kernel=White(), coordinates=GRID, noise_variance=1.0).observe(5, 2.0)
    assert alone.mean[5] == 1.0
    assert np.count_nonzero(alone.mean) == 1
