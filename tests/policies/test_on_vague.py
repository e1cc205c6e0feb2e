"""Every rule on a belief that is told nothing, or all: it plays, or refuses at once."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chisquare

import corrbandits as cb
from corrbandits.policies import RULES
from tests.support.rules import rule_called

WHERE = np.array([0.0, 0.7, 1.5, 2.1, 3.4, 5.0, 5.3])
TRUTH = np.array([20.0, 21.0, 22.5, 22.0, 19.0, 18.0, 18.5])
NEED_A_GAUSSIAN = {"CorrelatedUCL", "KnowledgeGradient"}
IN_UNITS = ("temperature", "M", "floor")
"""Parameters of rules that are measured as rewards are."""

AT_RANDOM = {"InformationDirected", "Thompson"}
KERNEL = {"length": 1.7, "kernel": "exponential", "site": 0.0, "parts": 1}


def rule(name):
    return RULES[name](30) if name in ("HorizonUCL", "Gittins") else rule_called(name, horizon=30, arms=7)


@pytest.mark.parametrize("name", sorted(RULES.keys() - NEED_A_GAUSSIAN - AT_RANDOM))
def test_told_all_it_chooses_as_from_the_gaussian_belief(name):
    """The limit case: with everything told, the belief is `Correlated`, but for the site share of 1e-10."""
    policy, told = rule(name), cb.Vague(coordinates=WHERE, mean=20.0, sd=2.0, noise_sd=0.8, **KERNEL)
    known = cb.Correlated(mean=20.0, kernel=4.0 * cb.Exponential(1.7), coordinates=WHERE, noise_variance=0.64)
    rng = np.random.default_rng(3)
    told, known = (belief.observe([3, 0], [22.3, 19.1]) for belief in (told, known))  # now no two arms are tied
    for t in range(3, 31):
        arm = policy.choose(told, t, rng=np.random.default_rng(t))
        assert arm == policy.choose(known, t, rng=np.random.default_rng(t)), t
        if isinstance(policy, cb.policies.IndexPolicy):
            np.testing.assert_allclose(policy.index(told, t), policy.index(known, t), rtol=1e-7)
        reward = TRUTH[arm] + 0.8 * rng.standard_normal()
        told, known = told.observe(arm, reward), known.observe(arm, reward)


def test_thompson_takes_arms_as_often_as_they_are_the_best_of_draws_by_hand():
    """Told mean, kernel and noise ratio, but not the scale: a joint Student t, drawn here from its textbook form."""
    arms, rewards = np.array([0, 2, 4, 6, 2]), np.array([19.0, 21.5, 20.5, 19.5, 21.0])
    belief = cb.Vague(coordinates=WHERE, mean=20.0, relative_noise=1.0, **KERNEL).observe(arms, rewards)
    ratio = belief.parts.ratios.item()
    R = np.exp(-np.abs(WHERE[:, None] - WHERE) / 1.7)
    gain = R[:, arms] @ np.linalg.inv(R[np.ix_(arms, arms)] + ratio * np.eye(5))
    mean, left = 20.0 + gain @ (rewards - 20.0), R - gain @ R[arms]
    square = (rewards - 20.0) @ np.linalg.inv(R[np.ix_(arms, arms)] + ratio * np.eye(5)) @ (rewards - 20.0) / 5
    rng, number = np.random.default_rng(1), 200_000
    normals = np.linalg.cholesky(left + 1e-12 * np.eye(7)) @ rng.standard_normal((7, number))
    by_hand = mean[:, None] + normals * np.sqrt(square * 5 / rng.chisquare(5, number))
    expected = np.bincount(by_hand.argmax(axis=0), minlength=7) / number
    taken = np.bincount([cb.Thompson().choose(belief, 6, rng=rng) for _ in range(1500)], minlength=7)
    assert chisquare(taken, 1500 * expected).pvalue > 1e-3


@pytest.mark.parametrize("name", sorted(RULES.keys() - NEED_A_GAUSSIAN))
def test_told_nothing_it_plays_from_the_first_decision_on_and_among_those_allowed(name):
    policy, belief, rng = rule(name), cb.Vague(coordinates=WHERE, parts=6), np.random.default_rng(2)
    for t in range(1, 11):
        assert policy.choose(belief, t, rng=rng, allowed=[1, 4]) in (1, 4)
        assert policy.choose(belief.assume([2, 5]), t, rng=rng) in range(7)
        arm = policy.choose(belief, t, rng=rng)
        belief = belief.observe(arm, TRUTH[arm] + rng.standard_normal())


@pytest.mark.parametrize("name", sorted(NEED_A_GAUSSIAN))
def test_what_needs_a_gaussian_belief_refuses_before_the_first_reward(name):
    prior = cb.Vague(coordinates=WHERE, parts=6)
    words = f"{name} needs a Gaussian belief, got a Vague. Take Gittins, or say all"
    with pytest.raises(TypeError, match=words):
        rule(name).choose(prior, 1)
    with pytest.raises(ValueError, match=f"must be able to choose from its prior, but {words}"):
        cb.Study.create("sqlite://", "s", prior=prior, policy=rule(name))


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-530, 2.0**530, 2.0**1000])
@pytest.mark.parametrize("name", sorted(RULES.keys() - NEED_A_GAUSSIAN))
@pytest.mark.filterwarnings("error")
def test_the_unit_of_rewards_changes_no_decision(name, unit):
    """Powers of two scale doubles without rounding, also where the squares of rewards are no doubles."""
    policy, prior = rule(name), cb.Vague(coordinates=WHERE, parts=6)
    own = {field: unit * getattr(policy, field) for field in IN_UNITS if hasattr(policy, field)}
    policies = policy, dataclasses.replace(policy, **own)
    arms, rewards = [0, 6, 3, 1, 1, 4, 6], np.array([19.0, 18.5, 22.0, 21.5, 20.5, 19.0, 18.0])
    usual, scaled = prior.observe(arms, rewards), prior.observe(arms, unit * rewards)
    for t in (1, 8, 30):
        for allowed in (None, [0, 4, 5]):
            pairs = zip(policies, (usual, scaled), strict=True)
            chosen = [one.choose(b, t, rng=np.random.default_rng(t), allowed=allowed) for one, b in pairs]
            assert chosen[0] == chosen[1], t
        if isinstance(policy, cb.policies.IndexPolicy) and name != "UCB1":
            np.testing.assert_array_equal(policy.index(scaled, t), unit * policy.index(usual, t))


def test_the_compiled_engine_refuses_rewards_whose_squares_are_no_doubles():
    bandit = cb.GaussianBandit(1e-160 * TRUTH, noise_variance=1e-300)
    players = {"horizon": (cb.HorizonUCL(5), cb.Vague(coordinates=WHERE, parts=4))}
    with pytest.raises(ValueError, match="squares of the rewards leave the doubles"):
        cb.simulate(players, bandit, horizon=5, engine="compiled")
