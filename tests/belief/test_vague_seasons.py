"""Earlier seasons at the same places, against a joint Gaussian of all seasons written down in full."""

import math

import mpmath
import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Gittins, Vague
from tests.support import extended
from tests.support.parts import log_prior

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [2.0, 2.0]])
HISTORY = [([0, 1, 2, 3, 0], [13.0, 14.5, 11.0, 12.0, 12.5]), ([4, 1, 3], [104.0, 105.5, 102.0])]
ARMS, REWARDS = [3, 1, 3, 0], [1.0, 3.0, 1.5, 2.0]
FLAT = mpmath.mpf(1e7)
"""The deviation of means of which nothing is known."""


@mpmath.workdps(50)
def by_hand(belief, arms, rewards, scales=None, level=(0.0, FLAT)):
    """Return the parts' weights, and means and variances of this season's arms, from one Gaussian of all rewards."""
    parts, number = belief.parts, belief.arms
    seasons = [0] * len(arms) + [s for s, (a, _) in enumerate(HISTORY, 1) for _ in a]
    which = [*arms, *(arm for a, _ in HISTORY for arm in a)]
    y = np.array([*rewards, *(r for _, given in HISTORY for r in given)])
    same = np.equal.outer(seasons, seasons)
    found, likely = [], np.exp(log_prior(belief))
    for part in range(len(parts)):
        site, rho = parts.sites[part], parts.alike[part]
        R = (1 - site) * parts.kernel(part)(PLACES) + site * np.eye(number)

        def given(s, R=R, rho=rho, part=part):
            deviation = np.where(np.array(seasons) == 0, level[1], FLAT)
            K = s**2 * R[np.ix_(which, which)] * np.where(same, 1.0, rho) + same * np.outer(deviation, deviation)
            K += s**2 * parts.ratios[part] * np.eye(len(y))
            now = np.equal(seasons, 0)
            across = s**2 * R[which] * np.where(now, 1.0, rho)[:, None] + now[:, None] * level[1] ** 2
            apart = y - now * level[0]
            inverse, log_determinant = extended.inverse(K)
            log_density = float(-0.5 * (log_determinant + apart @ inverse @ apart))
            gain = across.T @ inverse
            return log_density, level[0] + gain @ apart, np.diag(s**2 * R + level[1] ** 2 - gain @ across)

        x, w = np.polynomial.legendre.leggauss(100)
        nodes = list(zip(np.exp(3 + 6 * x), w, strict=True)) if scales is None else [(scales[part], 1.0)]
        found += [(part, likely[part] * weight, *given(s)) for s, weight in nodes]
    highest = max(log_density for _, _, log_density, _, _ in found)
    density = np.array([weight * math.exp(log_density - highest) for _, weight, log_density, _, _ in found])
    density /= density.sum()
    mean = sum(d * one[3] for d, one in zip(density, found, strict=True))
    second = sum(d * (one[4] + np.square(one[3])) for d, one in zip(density, found, strict=True))
    found = np.bincount([one[0] for one in found], density), mean, second - mean**2
    return [np.asarray(each, dtype=np.float64) for each in found]


def test_a_history_that_is_no_list_of_seasons_is_refused_in_words():
    with pytest.raises(TypeError, match=r"history must be a list of seasons, .* got 5"):
        Vague(arms=3, history=5)


def test_all_seasons_are_one_gaussian():
    belief = Vague(coordinates=PLACES, history=HISTORY, parts=4).observe(ARMS, REWARDS)
    weights, mean, variance = by_hand(belief, ARMS, REWARDS)
    np.testing.assert_allclose(belief.weights, weights, rtol=2e-4)
    np.testing.assert_allclose(belief.mean, mean, rtol=2e-4)
    np.testing.assert_allclose(belief.variance, variance, rtol=2e-4)


@pytest.mark.parametrize("level", [(2.0, 1e-9), (2.0, 1.5)])
def test_with_scales_and_the_mean_of_this_season_known(level):
    said = level[0] if level[1] < 1e-3 else tuple(level[0] + np.array([-1, 1]) * 1.6448536269514722 * level[1])
    prior = Vague(coordinates=PLACES, history=HISTORY, mean=said, sd=(0.5, 3.0), noise_sd=(0.2, 2.0), parts=4)
    for arms, rewards in ((ARMS, REWARDS), ([], [])):  # history says something before any reward
        belief = prior.observe(arms, rewards) if arms else prior
        weights, mean, variance = by_hand(belief, arms, rewards, belief.parts.scales, level)
        np.testing.assert_allclose(belief.weights, weights, rtol=2e-5)
        np.testing.assert_allclose(belief.mean, mean, rtol=2e-5)
        np.testing.assert_allclose(belief.variance, variance, rtol=2e-5)


def test_one_reward_at_a_time_and_what_is_awaited():
    prior = Vague(coordinates=PLACES, history=HISTORY)
    step = prior
    for _ in range(4):
        for arm, reward in zip(ARMS, REWARDS, strict=True):
            step = step.observe(arm, reward)
    whole = prior.observe(ARMS * 4, REWARDS * 4)
    np.testing.assert_allclose(step.mean, whole.mean, rtol=1e-10)
    np.testing.assert_allclose(step.variance, whole.variance, rtol=1e-9)
    assert (whole.assume([2]).variance < whole.variance).all()
    np.testing.assert_allclose(whole.covariance_with(2)[2], whole.variance[2], rtol=1e-9)
    draws = whole.draws(np.random.default_rng(1), 4000)
    np.testing.assert_allclose(draws.mean(axis=1), whole.mean, atol=5 * np.sqrt(whole.variance.max() / 4000))


def test_units_of_a_season_and_its_mean_do_not_matter():
    shifted = [(arms, [reward + 1e6 * k for reward in rewards]) for k, (arms, rewards) in enumerate(HISTORY)]
    one, other = (Vague(coordinates=PLACES, history=given).observe(ARMS, REWARDS) for given in (HISTORY, shifted))
    np.testing.assert_allclose(other.mean, one.mean, rtol=1e-8)
    scaled = [(arms, [1e200 * reward for reward in rewards]) for arms, rewards in HISTORY]
    larger = Vague(coordinates=PLACES, history=scaled).observe(ARMS, [1e200 * reward for reward in REWARDS])
    np.testing.assert_allclose(larger.mean / 1e200, one.mean, rtol=1e-9)
    image = one.mirrored()
    np.testing.assert_allclose(image.mean, -one.mean, rtol=1e-10)


def test_the_first_arm_is_the_one_that_did_best_and_then_there_are_variances():
    prior = Vague(coordinates=PLACES, history=HISTORY)
    assert prior.opening
    assert prior.still_needed == 1
    assert Gittins(20).choose(prior, 1) == 1
    belief = prior.observe(1, 5.0)
    assert not belief.opening
    assert np.isfinite(belief.variance).all()
    assert belief.mean.argmax() == 1
    assert len({Gittins(20).choose(prior.assume([1, 2]), 1), 1, 2}) == 3


def test_several_arms_at_once_are_those_that_did_best_in_earlier_seasons():
    """As many as there are, by what a single season says: one reward of each arm, the same noise for all."""
    past = [3.0, 9.0, 1.0, 8.0, 2.0]
    prior, taken = Vague(coordinates=PLACES, history=[(range(5), past)], site=0.9, parts=8), []
    for _ in past:
        awaited = prior.assume(taken) if taken else prior
        assert awaited.little_known(np.arange(5)).tolist() == [awaited.least_known(np.arange(5))]
        taken.append(Gittins(20).choose(awaited, 1))
    assert taken == np.argsort(np.negative(past)).tolist()
    assert Gittins(20).choose(prior.assume(taken), 1) == 1  # then from the start


def test_how_much_seasons_are_alike_is_learnt():
    rng = np.random.default_rng(5)
    arms, field = np.repeat(np.arange(25), 2), np.array([(x, y) for x in range(5) for y in range(5)])
    surface, other = rng.standard_normal((2, 25))
    medians = []
    for past in (surface, other):
        history = [(arms, 50 + past[arms] + 0.2 * rng.standard_normal(50))]
        prior = Vague(coordinates=field, history=history)
        belief = prior.observe(arms, surface[arms] + 0.2 * rng.standard_normal(50))
        medians.append(belief.learnt().seasons.median)
        assert belief.learnt().rewards == 100
    assert medians[0] > 0.8 > 0.5 > medians[1]
    assert prior.in_words() == "told 50 rewards of 1 earlier season; the rest is learnt"


def test_a_study_keeps_its_history(tmp_path):
    prior, url = Vague(coordinates=PLACES, history=HISTORY, parts=8), f"sqlite:///{tmp_path}/studies.db"
    with cb.Study.create(url, "field", prior=prior, policy=Gittins(9)) as study:
        assert study.ask().arm == 1
        study.tell(1, 4.0)
    with cb.Study.open(url, "field") as study:
        again = study.belief
    np.testing.assert_allclose(again.mean, prior.observe(1, 4.0).mean, rtol=1e-12)
    assert prior.merge(again).counts.sum() == 1
    with cb.Study.create(url, "least", prior=prior, policy=Gittins(9), goal="min") as study:
        assert study.ask().arm != 1
    runs = {"rule": (Gittins(20), prior)}
    cb.simulate(runs, cb.GaussianBandit(means=np.arange(5.0), noise_variance=1.0), horizon=20, seed=1)


@pytest.mark.parametrize(
    ("history", "match"),
    [
        (([0, 1], [3.0, 4.0]), "list of seasons"),
        ([([0, 1], [3.0])], "as many rewards as arms"),
        ([([], [])], "as many rewards as arms"),
        ([([0], [math.nan])], "finite"),
        ([([7], [1.0])], "arm"),
    ],
)
def test_what_is_no_history_is_refused(history, match):
    with pytest.raises((ValueError, IndexError, TypeError), match=match):
        Vague(coordinates=PLACES, history=history)
