"""The belief that is told nothing, one reward after the other: in little room, and as if all had come at once."""

import numpy as np
import pytest

from corrbandits import Vague
from corrbandits.belief.vague.parts import Parts
from corrbandits.kernels import KERNELS

RNG = np.random.default_rng(21)


def problem(arms, rewards):
    places = RNG.random((arms, 2))
    taken = RNG.integers(0, arms, rewards)
    return places, taken, np.sin(4 * places[taken, 0]) + 0.5 * RNG.standard_normal(rewards)


def one_by_one(belief, arms, rewards):
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        belief = belief.observe(arm, reward)
    return belief


def test_steps_are_what_all_rewards_at_once_are():
    places, arms, rewards = problem(25, 120)
    prior = Vague(coordinates=places)
    before = prior.observe(arms[:80], rewards[:80])
    steps, together = one_by_one(before, arms[80:], rewards[80:]), prior.observe(arms, rewards)
    assert steps._mixture.factors.S is not None  # V has more rows than there are arms
    assert before._mixture.factors.S is None
    for one, other in ((steps, together), (steps.assume([3, 20, 3]), together.assume([3, 20, 3]))):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-10, atol=1e-30)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-10)
        np.testing.assert_allclose(one.variance, other.variance, rtol=1e-10)
        np.testing.assert_allclose(one.covariance_with(7), other.covariance_with(7), atol=1e-11)
        a, b = (belief.draws(np.random.default_rng(2), 3) for belief in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("noise", [0.1, 0.01, 1e-6])
def test_steps_lose_no_digits_however_little_noise_there_is(noise):
    places, arms, _ = problem(20, 60)
    rewards = np.sin(4 * places[arms, 0]) + noise * RNG.standard_normal(60)
    prior = Vague(coordinates=places, sd=1.0, noise_sd=noise)
    steps, together = one_by_one(prior, arms, rewards), prior.observe(arms, rewards)
    np.testing.assert_allclose(steps.mean, together.mean, atol=1e-9 * together.deviation.min())
    np.testing.assert_allclose(steps.variance, together.variance, rtol=1e-9)


def test_what_is_kept_does_not_grow_with_the_rewards():
    places, arms, rewards = problem(20, 300)
    belief = Vague(coordinates=places).observe(arms[:40], rewards[:40])
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        belief = belief.observe(arm, reward)
        kept = belief._mixture.factors
        numbers = sum(V.size for V in kept.V) + (0 if kept.S is None else kept.S.size)
        assert numbers <= 48 * 20 * (20 + 16)


def test_beliefs_that_follow_share_what_was_seen_before():
    places, arms, rewards = problem(400, 60)
    before = Vague(coordinates=places).observe(arms, rewards)
    after = one_by_one(before, arms[:20], rewards[:20])
    assert after._mixture.factors.V[0] is before._mixture.factors.V[0]
    np.testing.assert_allclose(before.observe(arms[:20], rewards[:20]).mean, after.mean, rtol=1e-10)


@pytest.mark.parametrize("arms", [12, 330])
def test_several_awaited_at_once_are_several_awaited_one_after_the_other(arms):
    places, taken, rewards = problem(arms, 40)
    belief = Vague(coordinates=places, parts=16).observe(taken, rewards)
    together, each = belief.assume([3, 9, 3, 1]), belief.assume([3]).assume([9]).assume([3]).assume([1])
    np.testing.assert_allclose(together.variance, each.variance, rtol=1e-12)
    np.testing.assert_allclose(together.covariance_with(5), each.covariance_with(5), atol=1e-13)


@pytest.mark.parametrize("distance", ["euclidean", "cityblock", "great_circle"])
def test_correlations_are_the_kernels_own(distance):
    """Distances are computed once for all parts, but they are those that each kernel computes."""
    places = RNG.uniform(-50, 50, (9, 2))
    parts = Parts.of(places, number=12, arms=9, kernels=tuple(KERNELS), distance=distance)
    some, others = np.array([4, 0, 7]), np.arange(9)
    for part, found in enumerate(parts.correlations(np.arange(12), some, others)):
        site = parts.sites[part]
        expected = (1 - site) * parts.kernel(part)(places[some], places) + site * (some[:, None] == others)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
        assert KERNELS[parts.kernels[part]].any_distance or parts.kernel(part).distance in ("euclidean", "chordal")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e3, 1e155])
def test_places_that_are_very_far_apart_in_lengths_are_not_alike(far):
    parts = Parts.of(np.array([[0.0], [far]]), number=6, arms=2, kernels=tuple(KERNELS), length=1e-100, site=0.0)
    for found in parts.correlations(np.arange(6), np.array([0, 1]), np.array([0, 1])):
        np.testing.assert_allclose(found, np.eye(2), atol=1e-90)
