"""Drifting means whose scale is not known: a mixture, against the same by brute force."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr

import corrbandits as cb
from corrbandits.belief.changing.mixture import Mixture
from corrbandits.policies.gittins import index_in_deviations
from corrbandits.policies.horizon import doubts
from tests.support.contracts import GAUSSIAN_PRIORS, BeliefContract, covariance_of, same_bits
from tests.support.drifts import evidence, joint, some_steps, told

PRIOR = GAUSSIAN_PRIORS["smooth"]
RANGE = (2.0, 200.0)
STEPS = some_steps(PRIOR, 30, seed=1, whole=False)
NOW = STEPS[-1][0] + 1.5
UNTOLD = cb.Drifting(prior=PRIOR, scale=RANGE, parts=5)


def by_brute_force(steps=STEPS, now=NOW):
    """Weights, means and covariances of the parts, by one Gaussian over all times and arms for each."""
    scales = [2.0, 2.0 * 100 ** (1 / 3), 2.0 * 100 ** (2 / 3), 200.0, math.inf]
    logs = np.array([evidence(PRIOR, scale, steps) for scale in scales])
    moments = [joint(PRIOR, scale, steps, now) for scale in scales]
    return np.exp(logs - logsumexp(logs)), np.array([m for m, _ in moments]), np.array([S for _, S in moments])


@pytest.fixture(scope="module")
def belief():
    return told(UNTOLD, STEPS).after(NOW)


def test_scales_are_spread_evenly_in_their_logarithm_and_one_is_without_end():
    assert np.diff(np.log(UNTOLD.scales[:-1])) == pytest.approx([math.log(100) / 3] * 3)
    assert UNTOLD.scales[[0, 3, 4]].tolist() == [2.0, 200.0, math.inf]
    assert UNTOLD.weights.tolist() == pytest.approx([0.2] * 5)


def test_weights_and_moments_are_those_of_the_mixture(belief):
    weights, means, covariances = by_brute_force()
    np.testing.assert_allclose(belief.weights, weights, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(belief.part_locations, means, rtol=1e-9, atol=1e-9)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(belief.part_deviations, np.sqrt(variances), rtol=1e-9)
    np.testing.assert_allclose(belief.part_noise, PRIOR.noise_variance / variances, rtol=1e-9)
    mean = weights @ means
    between = np.einsum("g,gi,gj->ij", weights, means - mean, means - mean)
    expected = np.einsum("g,gij->ij", weights, covariances) + between
    np.testing.assert_allclose(belief.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(covariance_of(belief), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(belief.variance, expected.diagonal(), rtol=1e-8)


@pytest.mark.parametrize("tail", [0.5, 0.1, 1e-6])
def test_credible_limits_are_exceeded_with_the_probability_they_say(belief, tail):
    weights, means, covariances = by_brute_force()
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    limit = belief.credible_limit(math.log(tail))
    np.testing.assert_allclose(weights @ ndtr((means - limit) / deviations), tail, rtol=1e-6)


def test_the_evidence_is_the_average_over_scales():
    steps = some_steps(PRIOR, 12, seed=3)
    each = [evidence(PRIOR, scale, steps) for scale in UNTOLD.scales]
    assert told(UNTOLD, steps).log_evidence() == pytest.approx(logsumexp(each) - math.log(5), rel=1e-9)


def test_gittins_takes_the_mean_of_the_parts_indices_and_some_of_their_deviations(belief):
    weights, means, covariances = by_brute_force()
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    pace = (len(STEPS) - 1) / (STEPS[-1][0] - STEPS[0][0])
    ahead = [max(1, round(min(40, pace * scale))) for scale in belief.scales.tolist()]  # no farther than rewards tell
    ratio = PRIOR.noise_variance / deviations**2
    each = means + deviations * [index_in_deviations(m, n) for m, n in zip(ahead, ratio, strict=True)]
    spread = np.sqrt(weights @ np.square(each - weights @ each))
    expected = weights @ each + weights @ doubts(np.array(ahead)) * spread
    np.testing.assert_allclose(cb.Gittins(horizon=40).index(belief, 1), expected, rtol=1e-7)


def test_gittins_looks_no_farther_ahead_than_a_known_scale():
    prior = GAUSSIAN_PRIORS["one known"]
    told_scale = cb.Drifting(prior=prior, scale=12.0)
    for t, horizon in ((1, 100), (95, 100)):
        np.testing.assert_allclose(
            cb.Gittins(horizon).index(told_scale, t), cb.Gittins(min(horizon - t + 1, 12)).index(prior, 1), rtol=1e-12
        )


@pytest.mark.parametrize(
    "policy", [cb.UCL(), cb.HorizonUCL(40), cb.Gittins(40), cb.GPUCB(), cb.Greedy(), cb.Thompson()]
)
def test_rules_play_it(policy):
    bandit = cb.series.drift(np.eye(5), steps=40, scale=20.0, noise_variance=1.0, seed=0)
    assert cb.simulate({"a": (policy, UNTOLD)}, bandit, 40).counts.sum() == 40


@pytest.mark.parametrize("scale", [4.0, 400.0])
def test_the_scale_is_learnt(scale):
    prior = cb.Independent(variance=4.0, noise_variance=0.5, arms=2)
    untold, found = cb.Drifting(prior=prior, scale=(1.0, 3000.0), parts=12), []
    for seed in range(5):
        path = cb.series.drift(4 * np.eye(2), steps=500, scale=scale, noise_variance=0.5, seed=seed)
        noise = path.noise(np.random.default_rng([seed, 1]), 500).tolist()
        steps = [(t, t % 2, path.reward(t % 2, eps, t=t)) for t, eps in enumerate(noise, start=1)]
        found.append(told(untold, steps).learnt())
    assert all(one.low <= one.median <= one.high for one in found)
    assert scale / 3 < np.median([one.median for one in found]) < scale * 3


def test_what_does_not_change_is_found_not_to():
    prior = cb.Independent(variance=4.0, noise_variance=1.0, arms=2)
    rng = np.random.default_rng(0)
    steps = [(t, t % 2, (3.0, -1.0)[t % 2] + rng.standard_normal()) for t in range(1, 2000)]
    belief = told(cb.Drifting(prior=prior, scale=(1.0, 1000.0)), steps)
    assert belief.weights[-1] > 0.9
    assert belief.learnt().median == math.inf
    still = prior.observe([arm for _, arm, _ in steps], [reward for *_, reward in steps])
    np.testing.assert_allclose(belief.mean, still.mean, atol=0.1)


def test_a_scale_of_no_weight_may_become_likely_again():
    prior = cb.Independent(variance=1.0, noise_variance=0.01, arms=1)
    belief = cb.Drifting(prior=prior, scale=(2.0, 1e4), parts=3)
    still = told(belief, [(t, 0, 0.3) for t in range(1, 1500)])
    assert still.weights[0] == 0  # below the smallest double
    rewards = np.random.default_rng(0).standard_normal(2500).tolist()
    assert told(still, [(1500 + t, 0, reward) for t, reward in enumerate(rewards)]).weights[0] > 0.99


def test_a_surprise_that_no_double_holds_leaves_all_scales_as_likely():
    prior = cb.Independent(variance=1.0, noise_variance=1.0, arms=1)
    belief = told(cb.Drifting(prior=prior, scale=(1.0, 9.0), parts=3), [(1, 0, 0.0), (2, 0, 1e300)])
    assert belief.weights.tolist() == pytest.approx([1 / 3] * 3)
    assert np.isfinite(belief.mean).all()


def test_it_says_that_the_scale_is_not_known():
    belief = cb.Drifting(prior=GAUSSIAN_PRIORS["correlated"], scale=(10, 1000))
    assert belief.in_words().endswith("drifting, scale between 10 and 1,000, or not at all")
    assert belief.in_words("days").endswith("drifting, scale between 10 and 1,000 days, or not at all")
    assert cb.Drifting(prior=PRIOR, scale=10.0).scales.tolist() == [10.0]


def test_a_belief_whose_scale_is_known_has_learnt_it():
    found = cb.Drifting(prior=PRIOR, scale=10.0).learnt()
    assert (found.median, found.low, found.high) == (10.0, 10.0, 10.0)
    assert str(found) == "scale about 10, between 10 and 10"


def test_merging_and_mirror_images(belief):
    one, other = told(UNTOLD, STEPS[::2]), told(UNTOLD, STEPS[1::2])
    both = one.merge(other).after(NOW)
    np.testing.assert_allclose(both.weights, belief.weights, rtol=1e-7)
    np.testing.assert_allclose(both.mean, belief.mean, rtol=1e-8)
    assert same_bits(both, other.merge(one).after(NOW))
    np.testing.assert_allclose(belief.mirrored().mean, -belief.mean, rtol=1e-8)


@pytest.mark.parametrize("prior", [UNTOLD, UNTOLD.after(9.5)], ids=["first", "later"])
class TestAtOneTimeItIsABeliefLikeAnyOther(BeliefContract): ...


def test_a_mixture_of_one_belief_is_that_belief():
    one, mixed = PRIOR, Mixture([PRIOR], np.zeros(1))
    for arm, reward in [(0, 1.0), (3, 2.0), (0, -4.0)]:
        one, mixed = one.observe(arm, reward), mixed.observe(arm, reward)
        np.testing.assert_allclose(mixed.mean, one.mean, rtol=1e-14)
        np.testing.assert_allclose(mixed.variance, one.variance, rtol=1e-14)
        np.testing.assert_allclose(mixed.credible_limit(-3.0), one.credible_limit(-3.0), rtol=1e-9)
        np.testing.assert_allclose(mixed.spread(), one.spread(), rtol=1e-12)
    assert mixed.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-12)
