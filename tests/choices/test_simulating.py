"""People who are made up: they choose as often as the model says, and the same from the same seed."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import choices
from corrbandits.choices import Model

MODEL = Model(kernel=cb.Matern32(1.0), prior_mean=0.0, lapse=0.2, stickiness=0.5)
VALUES = {"length": 1.5, "exploration": 0.7, "temperature": 0.8}
LINE = np.arange(4.0)
HILL = cb.GaussianBandit([0.0, 1.0, 2.0, 1.0], noise_variance=0.25, coordinates=LINE)


def same(one, other):
    return all(
        a.arms.tolist() == b.arms.tolist() and a.rewards.tolist() == b.rewards.tolist()
        for a, b in zip(one.rounds, other.rounds, strict=True)
    )


def test_choices_are_as_frequent_as_they_are_likely():
    """Over many rounds, the arms of the second choice against their probabilities: chi-squared."""
    person = choices.simulate(MODEL, VALUES, [HILL] * 800, horizon=2, seed=4)
    laws = choices.choice_probabilities(person, MODEL, VALUES).reshape(800, 2, 4)
    for choice in (0, 1):
        taken = np.bincount([each.arms[choice + 1] for each in person.rounds], minlength=4)
        expected = laws[:, choice].sum(axis=0)
        spread = (laws[:, choice] * (1 - laws[:, choice])).sum(axis=0)
        assert (np.abs(taken - expected) < 4.5 * np.sqrt(spread)).all()


def test_rewards_are_those_of_the_environment():
    person = choices.simulate(MODEL, VALUES, [HILL] * 300, horizon=5, seed=5)
    arms, rewards = (np.concatenate([getattr(each, name) for each in person.rounds]) for name in ("arms", "rewards"))
    gaps = rewards - HILL.means[arms]
    assert abs(gaps.mean()) < 5 * 0.5 / np.sqrt(gaps.size)
    assert gaps.std() == pytest.approx(0.5, rel=0.1)


def test_a_round_is_the_same_whatever_the_others_are():
    whole = choices.simulate(MODEL, VALUES, [HILL] * 3, horizon=[4, 7, 2], seed=6)
    assert same(whole, choices.simulate(MODEL, VALUES, [HILL] * 3, horizon=[4, 7, 2], seed=6))
    assert same(whole.only([0, 1]), choices.simulate(MODEL, VALUES, [HILL] * 2, horizon=[4, 7], seed=6))
    assert not same(whole, choices.simulate(MODEL, VALUES, [HILL] * 3, horizon=[4, 7, 2], seed=7))
    assert [each.horizon for each in whole.rounds] == [4, 7, 2]


def test_any_belief_and_rule_can_be_played():
    model = Model(kernel=cb.Matern32(1.0), prior=choices.Wandering(5.0), rule=cb.Gittins, prior_mean=0.0, prior_sd=1.0)
    drift = cb.ChangingBandit(np.random.default_rng(1).normal(size=(9, 4)), noise_variance=1.0, coordinates=LINE)
    person = choices.simulate(model, {"length": 1.0, "temperature": 0.5}, [drift], horizon=6)
    assert person.choices == 6
    assert person.arms == 4


def test_what_cannot_be_played_is_refused():
    with pytest.raises(ValueError, match="one for each of 2 environments, got 1"):
        choices.simulate(MODEL, VALUES, [HILL] * 2, horizon=[3])
    with pytest.raises(ValueError, match="as many arms each, got"):
        choices.simulate(MODEL, VALUES, [HILL, cb.GaussianBandit([1.0], 1.0)], horizon=3)
    with pytest.raises(ValueError, match="must have their arms at the same places"):
        choices.simulate(MODEL, VALUES, [HILL, cb.GaussianBandit(HILL.means, 1.0, coordinates=LINE + 1)], horizon=3)
