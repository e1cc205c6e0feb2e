"""The belief that is told nothing on many arms: what is not kept is computed, and light parts are left out."""

import numpy as np
import pytest

from corrbandits import Exponential, Gittins, Vague
from corrbandits.belief.vague import budget, factors

RNG = np.random.default_rng(11)
PLACES = RNG.random((700, 2))
ARMS = RNG.integers(0, 700, 60)
SURFACE = np.linalg.cholesky(Exponential(0.3)(PLACES) + 1e-10 * np.eye(700)) @ RNG.standard_normal(700)
REWARDS = SURFACE[ARMS] + 0.5 * RNG.standard_normal(60)


@pytest.fixture
def large(monkeypatch):
    """Let every problem be one in which there is much to compute, some arms at a time."""
    monkeypatch.setattr(budget, "MUCH", 0)
    monkeypatch.setattr(factors, "TOGETHER", 10_000)


def test_what_is_computed_is_what_would_have_been_kept(large, monkeypatch):
    monkeypatch.setattr(budget, "NEGLIGIBLE", 0.0)
    prior = Vague(coordinates=PLACES, parts=6)
    implicit = prior.observe(ARMS, REWARDS)
    monkeypatch.setattr(budget, "MUCH", np.inf)
    kept = prior.observe(ARMS, REWARDS)
    assert implicit._mixture.factors.V[0].size == 0 < kept._mixture.factors.V[0].size
    for one, other in ((implicit, kept), (implicit.assume([3, 650, 3]), kept.assume([3, 650, 3]))):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
        np.testing.assert_allclose(one.variance, other.variance, rtol=1e-9)
        np.testing.assert_allclose(one.covariance_with(650), other.covariance_with(650), atol=1e-11)
        a, b = (belief.sample(np.random.default_rng(2)) for belief in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-6)
    np.testing.assert_allclose(implicit.observe(9, 1.0).mean, kept.observe(9, 1.0).mean, rtol=1e-8)


def test_light_parts_are_left_out_whatever_the_order(large):
    prior = Vague(coordinates=PLACES)
    together, backwards = prior.observe(ARMS, REWARDS), prior.observe(ARMS[::-1], REWARDS[::-1])
    one_by_one = prior.observe(ARMS[:50], REWARDS[:50])
    for arm, reward in zip(ARMS[50:].tolist(), REWARDS[50:].tolist(), strict=True):
        one_by_one = one_by_one.observe(arm, reward)
    for other in (backwards, one_by_one):
        np.testing.assert_array_equal(other._mixture.factors.kept, together._mixture.factors.kept)
        np.testing.assert_array_equal(other.mean, together.mean)
        np.testing.assert_array_equal(other.variance, together.variance)
    assert 1 < together._mixture.factors.kept.size < 48


def test_what_is_left_out_changes_little(large, monkeypatch):
    few = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    monkeypatch.setattr(budget, "MUCH", np.inf)
    every = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    light = np.setdiff1d(np.arange(48), few._mixture.factors.kept)
    assert 0 < every.weights[light].sum() <= budget.NEGLIGIBLE
    assert (np.abs(few.mean - every.mean) / np.sqrt(every.variance)).max() < 0.02
    np.testing.assert_allclose(few.variance, every.variance, rtol=0.02)


def test_ten_thousand_arms_are_within_what_a_second_allows():
    rng = np.random.default_rng(4)
    places, arms = rng.random((10_000, 2)), rng.choice(10_000, 150, replace=False)
    belief = Vague(coordinates=places).observe(arms, rng.standard_normal(150))  # noise: no part is light
    kept = belief._mixture.factors
    assert 8 <= kept.kept.size <= budget.SECOND / (10_000 * 150**2)
    assert kept.V[0].size == 0
    arm = Gittins(1000).choose(belief, 151)
    assert belief.covariance_with(arm)[arm] == pytest.approx(belief.variance[arm], rel=1e-9)  # in another way
