"""Where players meet: what they are paid and see, what that costs, and how they avoid it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits import Team, simulate_team
from corrbandits.company.assignment import Assigner, wanted
from corrbandits.company.collisions import COLLISIONS, losses, outcome
from tests.support.contracts import QUICK
from tests.support.teams import BANDITS, BELIEFS

ARMS = st.lists(st.integers(0, 5), min_size=1, max_size=6)
SIX = cb.GaussianBandit([0.3, 0.1, 1.2, 0.8, 2.0, 1.7], 1.0)


@pytest.mark.parametrize("rule", COLLISIONS)
@given(ARMS, st.booleans())
@QUICK
def test_each_is_paid_as_the_rule_says(rule, arms, sensed):
    drawn = [1.0 + player for player in range(len(arms))]
    paid, seen = outcome(rule, sensed, arms, drawn, np.random.default_rng(0))
    for arm in set(arms):
        there = [player for player in range(len(arms)) if arms[player] == arm]
        whole, got = [drawn[p] for p in there], [paid[p] for p in there]
        if rule == "none" or len(there) == 1:
            assert got == whole
        elif rule == "lost":
            assert got == [0.0] * len(there)
        elif rule == "one":
            assert sum(a == b for a, b in zip(got, whole, strict=True)) == 1
            assert sum(a == 0 for a in got) == len(there) - 1
        else:
            np.testing.assert_allclose(np.array(got) * len(there), whole)
    for player, (alone, pay, sight) in enumerate(zip(drawn, paid, seen, strict=True)):
        if not sensed:
            assert sight == pay, player
        else:
            assert sight == alone or (math.isnan(sight) and pay == 0), player


def test_the_one_who_is_paid_is_each_as_often():
    referee = np.random.default_rng(1)
    wins = np.array([outcome("one", True, [3, 3, 3], [1.0] * 3, referee)[0] for _ in range(3_000)]).sum(axis=0)
    assert wins.sum() == 3_000
    assert abs(wins - 1_000).max() < 4 * math.sqrt(3_000 * 2 / 9)


@pytest.mark.parametrize("rule", COLLISIONS)
@given(ARMS)
@QUICK
def test_losses_are_expected_pay_short_of_the_best_of_all_assignments(rule, arms):
    """Against all assignments there are, and against pay averaged over who wins."""

    def pay(taken):
        share = {"none": lambda k: 1, "lost": lambda k: k == 1}.get(rule, lambda k: 1 / k)
        return [SIX.means[arm] * share(taken.count(arm)) for arm in taken]

    group, each = losses(SIX, rule, np.array([arms]).T, done=0)
    best = max(sum(pay(list(taken))) for taken in itertools.product(range(6), repeat=min(len(arms), 4)))
    if len(arms) <= 4:
        np.testing.assert_allclose(group[0], best - sum(pay(arms)), atol=1e-12)
    np.testing.assert_allclose(each.sum(), group[0], atol=1e-12)
    np.testing.assert_allclose(np.diff(each[:, 0]), -np.diff(pay(arms)), atol=1e-12)


def test_a_group_on_its_best_arms_loses_exactly_nothing():
    bandit = cb.GaussianBandit(np.array([0.1, 0.7, 0.2, 0.3]) * 3, 1.0)
    for arms in itertools.permutations((1, 2, 3)):
        assert losses(bandit, "lost", np.array([arms]).T, done=0)[0].tolist() == [0.0]


def brute(indices):
    """The largest sum of indices that players on different arms can have."""
    players, arms = indices.shape
    return max(sum(indices[range(players), taken]) for taken in itertools.permutations(range(arms), players))


@given(st.lists(st.lists(st.floats(-9, 9), min_size=4, max_size=4), min_size=3, max_size=3))
@QUICK
def test_the_centre_assigns_the_largest_sum_of_indices(means):
    beliefs = [cb.Independent(mean=mean, variance=1.0, noise_variance=1.0) for mean in means]
    team = Team([(cb.UCL(), belief) for belief in beliefs], sharing="none", assignment="optimal")
    arms = Assigner(team, []).arms(beliefs, t=3)
    indices = np.array([cb.UCL().index(belief, 3) for belief in beliefs])
    assert len(set(arms)) == 3
    np.testing.assert_allclose(indices[range(3), arms].sum(), brute(indices), atol=1e-9)


@pytest.mark.parametrize("assignment", ["turns", "optimal", "ranks", "rotating"])
@pytest.mark.parametrize("belief", BELIEFS)
def test_players_who_know_the_same_never_meet(assignment, belief):
    team = Team.of(cb.UCL(), BELIEFS[belief], players=4, collisions="lost", assignment=assignment)
    trace = simulate_team(team, BANDITS["gaussian"], horizon=40, runs=2, seed=0)
    assert not trace.data["collisions"].values.any()
    assert all(len(set(step)) == 4 for step in trace.arms.values.swapaxes(2, 3).reshape(-1, 4).tolist())


def test_rotating_ranks_pay_all_alike():
    teams = {
        way: Team.of(cb.UCL(), BELIEFS["flat"], 3, collisions="lost", assignment=way) for way in ("ranks", "rotating")
    }
    own = simulate_team(teams, SIX, horizon=600, runs=4, seed=0).data["own_regret"].isel(time=-1).mean("run")
    apart = own.max("player") - own.min("player")
    assert float(apart.sel(policy="rotating")) < 0.1 * float(apart.sel(policy="ranks"))


def test_arms_that_must_be_tried_come_first_and_are_finite():
    prior = cb.Independent(mean=[0, 5, 1, 9], variance=[np.inf, 1, np.inf, 1], noise_variance=1.0).observe(2, 3.0)
    index = wanted(cb.UCL(), prior, t=2)
    assert np.isfinite(index).all()
    assert index.argmax() == 0
    first = wanted(cb.CorrelatedUCL(), cb.Independent(variance=[2.0, 3.0, 0.5], noise_variance=1.0), t=1)
    assert np.argsort(-first).tolist() == [1, 0, 2]


def test_chairs_are_found_and_kept():
    """Players who say nothing to each other end, each on one of the best arms, and collide no more."""
    bandit = cb.GaussianBandit([0.0, 3.0, 6.0, 6.5, 7.0], 0.1)
    flat = cb.Independent(noise_variance=0.1, arms=5)
    team = Team.of(cb.UCL(), flat, players=3, sharing="none", collisions="lost", assignment="chairs")
    trace = simulate_team(team, bandit, horizon=400, runs=10, seed=0)
    assert not trace.data["sent"].values.any()
    late = trace.arms.isel(time=slice(300, None)).values
    assert np.mean([set(step) == {2, 3, 4} for step in late.swapaxes(2, 3).reshape(-1, 3).tolist()]) > 0.95
    met = trace.data["collisions"].mean("run").values[0]
    assert met[399] - met[299] < 0.1 * met[299]


def test_competitors_who_learn_their_pay_spread_and_those_who_learn_the_arms_go_on_colliding():
    proper = cb.Independent(mean=1.0, variance=1.0, noise_variance=1.0, arms=6)
    ways = {
        told: Team.of(cb.Thompson(), proper, 3, sharing="none", collisions="lost", sensed=told == "arms")
        for told in ("arms", "pay")
    }
    met = simulate_team(ways, SIX, horizon=800, runs=8, seed=0).data["collisions"].mean("run")
    late = met.sel(time=800) - met.sel(time=400)
    assert float(late.sel(policy="pay")) < 0.3 * float(late.sel(policy="arms"))


def test_equal_players_without_chance_stay_in_step():
    team = Team.of(cb.UCL(), BELIEFS["flat"], 3, sharing="none", collisions="lost", sensed=False)
    assert simulate_team(team, SIX, horizon=50, seed=0).data["collisions"].values[0, 0, -1] == 150


def test_players_who_announce_try_unknown_arms_in_parallel():
    teams = {way: Team.of(cb.UCL(), BELIEFS["flat"], players=3, assignment=way) for way in ("own", "announced")}
    arms = simulate_team(teams, SIX, horizon=2, seed=0).arms
    assert arms.sel(policy="own").values[0].T.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert arms.sel(policy="announced").values[0].T.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_announced_choices_are_those_of_a_study_with_open_trials(tmp_path):
    """Several people who ask one study are a team that shares fully and announces."""
    prior, players = BELIEFS["joint"], 3
    trace = simulate_team(Team.of(cb.UCL(), prior, players, assignment="announced"), SIX, horizon=8, seed=0)
    study = cb.Study.create(f"{tmp_path}/study.db", "team", prior=prior, policy=cb.UCL())
    arms, rewards = trace.arms.values[0, 0].T.tolist(), trace.rewards.values[0, 0].T.tolist()
    first = [study.ask() for _ in range(players)]
    assert [trial.arm for trial in first] == arms[0]
    for trial, reward in zip(first, rewards[0], strict=True):
        study.tell(trial, reward)
    assert study.ask().arm == arms[1][0]


FLAT = cb.Independent(noise_variance=1.0, arms=5)
STATED = cb.Independent(variance=4.0, noise_variance=1.0, arms=5)


@pytest.mark.parametrize("rule", [cb.Thompson(), cb.Softmax(cb.UCL()), cb.UCL()])
def test_equal_players_who_would_collide_for_ever_are_warned_of(rule):
    lost = {"players": 3, "sharing": "none", "collisions": "lost"}
    with pytest.warns(RuntimeWarning, match="players 0 and 1 are equal and try the same unknown arms first"):
        stuck = cb.Team.of(rule, FLAT, **lost)
    found = cb.simulate_team({"stuck": stuck}, cb.GaussianBandit(np.arange(5.0), 1.0), horizon=40, runs=2, seed=0)
    assert (found.data["collisions"].isel(time=-1) == 3 * 40).all()


def test_players_who_can_part_are_not_warned_of():
    bandit, lost = cb.GaussianBandit(np.arange(5.0), 1.0), {"sharing": "none", "collisions": "lost"}
    drawing = cb.Softmax(cb.UCL(), temperature=2.0)
    parted = {
        "finite": cb.Team.of(drawing, STATED, players=3, **lost),
        "unaware": cb.Team.of(drawing, FLAT, players=3, sensed=False, **lost),
        "in turns": cb.Team.of(drawing, FLAT, players=3, assignment="turns", **lost),
    }
    found = cb.simulate_team(parted, bandit, horizon=40, runs=2, seed=0)
    assert (found.data["collisions"].isel(time=-1) < 3 * 40).all()
