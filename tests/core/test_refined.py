"""The posterior of nearly singular priors seen with next to no noise, against 60 digits."""

import math
from decimal import localcontext

import numpy as np
import pytest

from corrbandits._core.gaussian import condition, condition_finely, left_by_others, posterior_mean
from corrbandits._core.refined import exact_surprise
from corrbandits.belief import Correlated
from corrbandits.kernels import Matern52, RationalQuadratic, SquaredExponential
from tests.support.contracts import covariance_of, decimals, exact_posterior, told

LINE = np.linspace(0, 5, 20)[:, None]
SQUARE = np.array([[x, y] for x in range(5) for y in range(5)], dtype=float)
PRIORS = {
    "squared exponential": (SquaredExponential(5.0), LINE),
    "on a square": (4 * SquaredExponential(4.0), SQUARE),
    "Matern": (1e4 * Matern52(40.0), LINE),
    "rational quadratic": (RationalQuadratic(9.0), LINE),
}


def errors(belief, mean, S):
    """The largest errors in posterior deviations: of a mean, beyond the rounding of its double, and of a covariance."""
    with localcontext(prec=60):
        deviation = np.array([x.sqrt() for x in S.diagonal()])
        dS = np.abs(decimals(covariance_of(belief)) - S) / np.multiply.outer(deviation, deviation)
        dmu = np.abs(decimals(belief.mean) - mean).astype(float) - np.spacing(np.abs(belief.mean))
        return float((dmu / deviation.astype(float)).max()), float(max(dS.ravel()))


def rewards_of(name, ratio, mean=0.0, seed=0):
    """A prior, the noise this share of its variance, and a history of rewards that suits it."""
    kernel, where = PRIORS[name]
    variance = float(kernel(where)[0, 0])
    prior = Correlated(mean=mean, kernel=kernel, coordinates=where, noise_variance=ratio * variance)
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, len(where), len(where))
    rewards = prior.sample(rng)[arms] + np.sqrt(ratio * variance) * rng.standard_normal(arms.size)
    return prior, list(zip(arms.tolist(), rewards.tolist(), strict=True))


@pytest.mark.parametrize("ratio", [1e-4, 1e-6, 1e-9, 1e-12, 1e-14])
@pytest.mark.parametrize("name", PRIORS)
def test_nearly_singular_priors_and_little_noise_agree_with_60_digits(name, ratio):
    prior, history = rewards_of(name, ratio)
    arms, rewards = zip(*history, strict=True)
    at_once = prior.observe(arms, rewards)
    exact = exact_posterior(prior, at_once.counts, at_once.sums)
    assert max(errors(at_once, *exact)) <= 1e-10
    assert max(errors(told(prior, history), *exact)) <= 1e-10


@pytest.mark.parametrize("ratio", [1e-6, 1e-10])
def test_a_mean_far_from_the_rewards_costs_no_digit(ratio):
    prior, history = rewards_of("squared exponential", ratio, mean=1000.0)
    history = [(arm, reward - 1000.0) for arm, reward in history]
    belief = told(prior, history)
    assert max(errors(belief, *exact_posterior(prior, belief.counts, belief.sums))) <= 1e-10


@pytest.mark.parametrize("name", PRIORS)
def test_awaited_rewards_shrink_the_covariance_to_the_same_digits(name):
    prior, history = rewards_of(name, 1e-9)
    half, left = told(prior, history[:10]), [arm for arm, _ in history[10:]]
    waiting = half.assume(left)
    counts = half.counts + np.bincount(left, minlength=prior.arms)
    assert np.array_equal(waiting.mean, half.mean)
    _, S = exact_posterior(prior, counts, np.zeros(prior.arms))
    with localcontext(prec=60):
        deviation = np.array([x.sqrt() for x in S.diagonal()])
        error = np.abs(decimals(waiting.covariance) - S) / np.multiply.outer(deviation, deviation)
    assert max(error.ravel()) <= 1e-10


def test_the_mean_alone_has_the_digits_too():
    prior, history = rewards_of("squared exponential", 1e-9)
    belief = told(prior, history)
    alone = posterior_mean(prior.mean, prior.covariance, prior.noise_variance, belief.counts, belief.sums)
    assert (np.abs(alone - belief.mean) <= 1e-10 * np.sqrt(belief.variance)).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_the_unit_of_rewards_does_not_matter(scale):
    prior, history = rewards_of("squared exponential", 1e-8)
    scale = 2.0 ** round(math.log2(scale) / 2) if scale != 1 else 1.0
    arms, rewards = (np.array(x) for x in zip(*history, strict=True))
    small = Correlated(covariance=scale * scale * prior.covariance, noise_variance=scale * scale * prior.noise_variance)
    assert np.array_equal(small.observe(arms, scale * rewards).mean, scale * prior.observe(arms, rewards).mean)


def test_variances_that_differ_by_twenty_orders_of_magnitude():
    unit = 10.0 ** np.linspace(-5, 5, 20)
    smooth = SquaredExponential(5.0)(LINE)
    even = Correlated(covariance=smooth, noise_variance=1e-9)
    uneven = Correlated(covariance=unit[:, None] * smooth * unit, noise_variance=1e-9 * unit**2)
    arms = [0, 3, 9, 15, 19]
    belief = uneven.observe(arms, unit[arms])
    exact = exact_posterior(uneven, belief.counts, belief.sums)
    assert max(errors(belief, *exact)) <= 1e-10
    assert belief.variance / unit**2 == pytest.approx(even.observe(arms, np.ones(5)).variance, rel=1e-3)


def test_noise_below_the_rounding_of_the_prior_leaves_no_negative_variance():
    prior, history = rewards_of("squared exponential", 1e-19)
    counts = np.bincount([arm for arm, _ in history], minlength=20)
    sums = np.bincount([arm for arm, _ in history], weights=[reward for _, reward in history], minlength=20)
    for belief in (prior.observe_all(counts, sums), told(prior, history)):
        assert (belief.variance >= 0).all()
        assert np.isfinite(belief.mean).all()


def test_priors_that_are_not_nearly_singular_keep_their_rank_one_updates():
    noise, floor = np.ones(2), np.full(2, 1e-4)
    assert not left_by_others(np.array([1e-6, 1.0]), np.array([10**6, 0]), noise, floor)  # its own rewards did it
    assert left_by_others(np.array([1e-6, 1.0]), np.array([10**5, 0]), noise, floor)  # others did
    assert not left_by_others(np.array([1e-3, 1.0]), np.array([0, 0]), noise, floor)


def test_twice_the_digits_give_the_same_where_they_are_not_needed():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((8, 8))
    prior = rng.standard_normal(8), root @ root.T, rng.uniform(0.5, 2, 8)
    counts = np.array([3, 0, 1, 10, 0, 2, 1, 0])
    seen = counts, counts * rng.standard_normal(8)
    for one, other in zip(condition(*prior, *seen), condition_finely(*prior, *seen), strict=True):
        assert one == pytest.approx(other, rel=1e-10, abs=1e-12)


def test_averages_less_means_are_exact_to_twice_the_digits():
    rng = np.random.default_rng(0)
    mean, counts, sums = 1e3 * rng.standard_normal(50), rng.integers(1, 1000, 50).astype(float), rng.standard_normal(50)
    high, low = exact_surprise(mean, counts, sums)
    with localcontext(prec=60):
        exact = decimals(sums) / decimals(counts) - decimals(mean)
        error = np.abs((decimals(high) + decimals(low) - exact) / exact)
    assert max(error) <= 2.0**-95
