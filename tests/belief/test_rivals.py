"""How likely each arm is to be better than another, and by how much: against draws, quadrature and SciPy's laws."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from corrbandits import Correlated, Exponential, Implicit, Independent, Vague
from corrbandits._core.excess import better

PLACES = np.random.default_rng(8).uniform(0, 6, (25, 2))


@pytest.mark.parametrize("freedom", [3.0, 11.0, 400.0, math.inf])
@pytest.mark.parametrize("gap", [-2.5, 0.0, 0.3, 4.0])
def test_better_is_an_integral(gap, freedom):
    law = stats.norm() if math.isinf(freedom) else stats.t(freedom)
    if math.isinf(freedom):
        density = mpmath.npdf
    else:
        scale = mpmath.gamma((freedom + 1) / 2) / mpmath.sqrt(freedom * mpmath.pi) / mpmath.gamma(freedom / 2)

        def density(x):
            return scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2)

    (tail,), (excess,) = better(np.array([gap]), np.array([1.7]), freedom)
    start = mpmath.mpf(gap) / mpmath.mpf("1.7")
    exact = mpmath.quad(lambda x: (1.7 * x - gap) * density(x), [start, start + 1, start + 10, mpmath.inf])
    assert tail == pytest.approx(law.sf(gap / 1.7), rel=1e-12)
    assert excess == pytest.approx(float(exact), rel=1e-7)


@pytest.mark.parametrize(
    "prior",
    [
        Independent(mean=1.0, variance=2.0, noise_variance=1.0, arms=25),
        Correlated(kernel=Exponential(2.0), coordinates=PLACES, noise_variance=0.5),
        Implicit(kernel=Exponential(2.0), coordinates=PLACES, noise_variance=0.5),
        Vague(coordinates=PLACES),
        Vague(coordinates=PLACES, mean=0.0, noise_sd=0.7),
        Vague(arms=25, sd=1.0),
    ],
    ids=["independent", "correlated", "implicit", "untold", "mean and noise told", "without places"],
)
def test_rivals_are_those_of_draws(prior):
    rng = np.random.default_rng(3)
    arms = rng.integers(0, 25, 12)
    belief = prior.observe(arms, np.sin(PLACES[arms, 0]) + 0.5 * rng.standard_normal(12))
    leader, number = int(belief.mean.argmax()), 40_000
    tail, excess = belief.rivals(leader)
    draws = belief.draws(rng, number)
    more = draws - draws[leader]
    error = more.clip(0).std(axis=1) / math.sqrt(number)
    assert tail[leader] == excess[leader] == 0
    assert (np.abs(tail - (more > 1e-9).mean(axis=1)) < 5 * math.sqrt(0.25 / number)).all()
    assert (np.abs(excess - more.clip(0).mean(axis=1)) < 5 * error + 1e-9).all()


def test_arms_at_one_place_are_no_rivals():
    prior = Correlated(kernel=Exponential(2.0), coordinates=[0.0, 1.0, 1.0, 3.0], noise_variance=0.5)
    tail, excess = prior.observe([0, 1, 3], [1.0, 2.0, 0.0]).rivals(1)
    assert tail[1] == tail[2] == excess[2] == 0 < tail[0]
    belief = Vague(coordinates=[0.0, 1.0, 1.0, 3.0], site=0.0).observe([0, 1, 2, 3, 0], [1.0, 2.0, 2.1, 0.0, 1.2])
    assert belief.rivals(1)[1][2] < 1e-4 * belief.deviation[1]  # a site share of 0 leaves a little


def test_nothing_is_known_in_the_opening():
    tail, excess = Vague(arms=3).observe([0], [1.0]).rivals(0)
    assert np.isnan(tail).all()
    assert np.isnan(excess).all()


def test_rewards_in_other_units_have_the_same_rivals():
    rewards, arms = np.array([1.0, 2.5, 0.3, 1.9, 2.2, 0.7]), [0, 3, 8, 12, 20, 24]
    belief = Vague(coordinates=PLACES).observe(arms, rewards)
    other = Vague(coordinates=PLACES).observe(arms, 1e6 + 1024.0 * rewards)
    (tail, excess), (same, more) = belief.rivals(3), other.rivals(3)
    np.testing.assert_allclose(same, tail, rtol=1e-7)
    np.testing.assert_allclose(more, 1024.0 * excess, rtol=1e-7)


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3])
def test_where_measurements_are_precise_no_arm_is_better_than_itself(noise):
    """All variances are then far below those beforehand, and what is left of them is rounded."""
    levels, arms = np.array([0.0, 4.0, 8.0, 3.0, 1.0, 2.0, 5.0, 4.5]), np.tile(np.arange(8), 6)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        belief = Vague(coordinates=range(8)).observe(arms, levels[arms] + noise * rng.standard_normal(48))
        tail, excess = belief.rivals(2)
        assert tail[2] == excess[2] == 0
        assert 1 - tail.sum() == pytest.approx((belief.draws(rng, 500).argmax(axis=0) == 2).mean(), abs=0.02)


@pytest.mark.parametrize("sd", [1e3, 2e6, 1e7])
@pytest.mark.parametrize("related", [False, True])
def test_arms_that_differ_much_are_told_apart_however_little_was_known_of_them(sd, related):
    """Beside a deviation of `sd`, the difference of two arms is known nearly as exactly as the noise allows."""
    if related:
        prior = Correlated(kernel=sd**2 * Exponential(2.0), coordinates=range(3), noise_variance=1.0)
    else:
        prior = Vague(coordinates=range(3), mean=0.0, sd=sd, noise_sd=1.0)
    tail, excess = prior.observe([0, 1], [500.0, 700.0]).rivals(0)
    assert tail[1] == pytest.approx(1.0)
    assert tail.max() <= 1.0
    assert excess[1] == pytest.approx(200.0, rel=1e-3)


@pytest.mark.parametrize("sd", [3.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("kind", ["Vague", "Independent"])
def test_arms_that_are_known_precisely_beside_what_was_thought_possible_are_still_rivals(kind, sd):
    """Each of three is known by one reward; of the fourth nothing is."""
    if kind == "Vague":
        prior = Vague(arms=4, mean=0.0, sd=sd, noise_sd=0.1)
    else:
        prior = Independent(variance=sd**2, noise_variance=0.01, arms=4)
    shrunk = sd**2 / (sd**2 + 0.01)
    tail, excess = prior.observe([0, 1, 2], [10.0, 10.1, 9.8]).rivals(1)
    gaps, deviation = shrunk * np.array([0.1, 0.3]), 0.1 * math.sqrt(2 * shrunk)
    np.testing.assert_allclose(tail[[0, 2]], stats.norm.sf(gaps / deviation), rtol=1e-5)
    loss = deviation * stats.norm.pdf(gaps / deviation) - gaps * tail[[0, 2]]
    np.testing.assert_allclose(excess[[0, 2]], loss, rtol=1e-4)
    assert tail[1] == excess[1] == 0
