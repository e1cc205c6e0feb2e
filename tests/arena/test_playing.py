"""Games: all who play a problem meet the same noise, and the order of the arms is nobody's gain."""

import dataclasses
import inspect

import numpy as np
import pytest

from corrbandits import Gittins, HorizonUCL, Uniform, recommend
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, RULES, STEPWISE, WRONG, Contestant, contestants
from corrbandits.arena.playing import play, play_step_by_step
from corrbandits.arena.problems import problem

CHAIN = problem("chain", 7, 0)


class Recording:
    """Takes the same arm again and again, or the arms in turn."""

    def __init__(self, arms, best=None):
        self.arms, self.rewards = arms, []
        if best is not None:
            self.best = lambda: best

    def choose(self):
        return self.arms[len(self.rewards) % len(self.arms)]

    def tell(self, arm, reward):
        assert arm == self.choose()
        self.rewards.append(reward)


class Stepwise:
    """A rule on a belief, played from outside: what `play` must do in its own way."""

    def __init__(self, policy, belief):
        self.policy, self.belief, self.t = policy, belief, 0

    def choose(self):
        self.t += 1
        return self.policy.choose(self.belief, self.t)

    def tell(self, arm, reward):
        self.belief = self.belief.observe(arm, reward)

    def best(self):
        return int(self.belief.mean.argmax())


@pytest.mark.parametrize("family", ["chain", "heavy tails"])
def test_the_noise_of_a_decision_is_the_same_whichever_arm_is_taken(family):
    given = problem(family, 7, 0)
    one, other = Recording([0]), Recording([3, 1, 4])
    for player in (one, other):
        play_step_by_step(given, player, 30)
    mine = np.array(one.rewards) - given.means[0]
    others = np.array(other.rewards) - given.means[[3, 1, 4] * 10]
    assert mine == pytest.approx(others, abs=1e-9 * (given.noise_sd + abs(given.means).max()))
    assert np.abs(mine).max() > 0


@pytest.mark.parametrize(("rule", "told"), [("HorizonUCL", EVERYTHING), ("CorrelatedUCL", EVERYTHING), DEFAULT])
def test_a_rule_played_from_outside_meets_what_it_meets_inside(rule, told):
    contestant = Contestant(rule, told)
    policy, belief = contestant.policy(25), contestant.belief(CHAIN)
    inside, outside = play(CHAIN, policy, belief, 25), play_step_by_step(CHAIN, Stepwise(policy, belief), 25)
    assert inside[:2] == pytest.approx(outside[:2])


def test_regrets_are_sums_of_gaps_in_deviations():
    gaps = (CHAIN.means.max() - CHAIN.means) / CHAIN.scale
    named = play_step_by_step(CHAIN, Recording([2, 5, 5], best=9), 6)
    assert named.regret == pytest.approx(2 * gaps[2] + 4 * gaps[5])
    assert named.simple_regret == pytest.approx(gaps[9])
    player = Recording([2, 5])
    average = play_step_by_step(CHAIN, player, 40)
    better = 2 if np.mean(player.rewards[::2]) > np.mean(player.rewards[1::2]) else 5
    assert average.simple_regret == pytest.approx(gaps[better])
    assert play(CHAIN, Uniform(), CHAIN.told(), 30).seconds > 0


def test_a_player_who_takes_an_arm_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="an arm must be"):
        play_step_by_step(CHAIN, Recording([1_000]), 3)


@pytest.mark.parametrize("policy", [Gittins(40), HorizonUCL(40)])
@pytest.mark.parametrize("family", ["scattered", "chain"])
def test_the_rows_of_a_problem_in_another_order_give_the_same_game(family, policy):
    given = problem(family, 7, 1)
    order = np.random.default_rng(1).permutation(len(given.means))
    other = dataclasses.replace(given, coordinates=given.coordinates[order], means=given.means[order])
    games = [play(each, policy, each.told_nothing(), 40) for each in (given, other)]
    assert games[0][:2] == pytest.approx(games[1][:2])


def test_the_default_is_what_is_recommended():
    for horizon in (40, 200):
        assert recommend(CHAIN.told_nothing(), horizon).policy == DEFAULT.policy(horizon)


def compiled():
    """Return the rules that play games of any length."""
    return set(RULES) - set(STEPWISE)


def test_contestants_are_named_once_and_what_they_are_told_is_known():
    everybody = contestants(50, 100)
    assert len(set(everybody)) == len(everybody)
    assert {one.rule for one in everybody} == set(RULES)
    assert {one.rule for one in contestants(200, 100)} == {one.rule for one in contestants(50, 1_000)} == compiled()
    assert {one.told for one in everybody} == {EVERYTHING, NOTHING, *WRONG}
    assert [one.told for one in everybody] == sorted(
        (one.told for one in everybody), key=list(dict.fromkeys(one.told for one in everybody)).index
    )
    assert all(DEFAULT in contestants(horizon, arms) for horizon in (50, 1_000, 10_000) for arms in (30, 1_000))
    assert len(contestants(10_000, 100)) < len(contestants(1_000, 100)) < len(everybody)
    known = inspect.signature(CHAIN.told).parameters
    assert all(set(wrong) < set(known) for wrong in WRONG.values())
