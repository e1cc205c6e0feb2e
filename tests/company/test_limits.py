"""What teams become in the limit: one player, everybody told everything, nobody told anything."""

import numpy as np
import pytest
from scipy.stats import t as student

import corrbandits as cb
from corrbandits import Team, simulate, simulate_team
from tests.support.teams import BANDITS, BELIEFS, RULES, alone, merged

SHARING = ("full", "none", "neighbours")
FIELDS = ("arms", "rewards", "counts", "initialisation")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("belief", BELIEFS)
def test_one_player_is_simulate_to_the_last_bit(rule, belief):
    pair, bandit = (RULES[rule], BELIEFS[belief]), BANDITS["gaussian"]
    one = simulate({"team": pair}, bandit, horizon=30, runs=2, seed=3, engine="reference")
    for sharing in SHARING:
        trace = simulate_team(Team([pair], sharing=sharing), bandit, 30, runs=2, seed=3, engine="reference")
        for name in FIELDS:
            assert trace.data[name].isel(player=0).values.tobytes() == one.data[name].values.tobytes(), name
        assert trace.regret.values.tobytes() == one.regret.values.tobytes()
        assert trace.data["own_regret"].isel(player=0).values.tobytes() == one.regret.values.tobytes()
        assert not trace.data["sent"].values.any()


@pytest.mark.parametrize("assignment", ["announced", "turns", "optimal", "ranks", "rotating"])
def test_one_player_has_nobody_to_avoid(assignment):
    pair, bandit = (cb.UCL(), BELIEFS["apart"]), BANDITS["gaussian"]
    one = simulate({"team": pair}, bandit, horizon=30, runs=2, seed=3, engine="reference")
    team = Team([pair], assignment=assignment, collisions="lost")
    trace = simulate_team(team, bandit, 30, runs=2, seed=3, engine="reference")
    np.testing.assert_array_equal(trace.arms.isel(player=0).values, one.arms.values)
    np.testing.assert_allclose(trace.regret.values, one.regret.values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", ["UCL", "CorrelatedUCL", "Thompson", "UCB1", "Gittins"])
@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_everybody_told_everything_is_a_merger_of_beliefs(rule, belief, engine):
    policy, prior, bandit = RULES[rule], BELIEFS[belief], BANDITS["gaussian"]
    trace = simulate_team(Team.of(policy, prior, players=3), bandit, horizon=25, runs=2, seed=1, engine=engine)
    for run in range(2):
        expected = merged(policy, prior, bandit, 25, seed=1, run=run, heard=[range(3)] * 3)
        np.testing.assert_array_equal(trace.arms.values[0, run], expected)


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_neighbours_hear_their_neighbours(engine):
    policy, prior, bandit = cb.UCL(), BELIEFS["joint"], BANDITS["gaussian"]
    team = Team.of(policy, prior, players=4, sharing="neighbours", graph="path")
    trace = simulate_team(team, bandit, horizon=25, runs=1, seed=1, engine=engine)
    heard = [(0, 1), (0, 1, 2), (1, 2, 3), (2, 3)]
    np.testing.assert_array_equal(trace.arms.values[0, 0], merged(policy, prior, bandit, 25, 1, 0, heard))


@pytest.mark.parametrize("rule", ["UCL", "Thompson", "CorrelatedUCL"])
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_nobody_told_anything_is_as_many_single_runs(rule, engine):
    policy, prior, bandit = RULES[rule], BELIEFS["joint"], BANDITS["gaussian"]
    team = Team.of(policy, prior, players=3, sharing="none")
    trace = simulate_team(team, bandit, horizon=40, runs=2, seed=5, engine=engine)
    for run in range(2):
        for player in range(3):
            arms, rewards = alone(policy, prior, bandit, 40, 5, run, player)
            np.testing.assert_array_equal(trace.arms.values[0, run, player], arms)
            np.testing.assert_allclose(trace.rewards.values[0, run, player], rewards, rtol=0, atol=2e-15)


def test_without_sharing_the_group_loses_as_many_times_what_one_loses():
    policy, prior, bandit = cb.UCL(a=1.5), BELIEFS["flat"], BANDITS["gaussian"]
    one = simulate({"one": (policy, prior)}, bandit, horizon=300, runs=400, seed=11, record="summary", times=[300])
    team = Team.of(policy, prior, players=5, sharing="none")
    group = simulate_team(team, bandit, horizon=300, runs=80, seed=12, record="summary", times=[300])
    single, several = one.regret.values.ravel(), group.regret.values.ravel() / 5
    error = np.hypot(single.std(ddof=1) / 20, several.std(ddof=1) / np.sqrt(80))
    assert abs(single.mean() - several.mean()) < student.ppf(0.9995, 79) * error


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("rule", ["UCL", "UCB1", "Thompson"])
@pytest.mark.parametrize("players", [3, 7])
def test_a_complete_graph_that_averages_at_once_is_full_sharing(belief, bandit, rule, players):
    ways = {way: Team.of(RULES[rule], BELIEFS[belief], players, sharing=way) for way in ("full", "consensus")}
    trace = simulate_team(ways, BANDITS[bandit], horizon=20, runs=1, seed=2, engine="reference")
    np.testing.assert_array_equal(trace.arms.sel(policy="full").values, trace.arms.sel(policy="consensus").values)


def test_no_team_plays_longer_than_means_are_known():
    bandit = cb.ChangingBandit(np.zeros((5, 2)), noise_variance=1.0)
    team = cb.Team.of(cb.UCL(), cb.Independent(noise_variance=1.0, arms=2), players=2)
    assert cb.simulate_team({"both": team}, bandit, horizon=5).regret.sizes["time"] == 5
    with pytest.raises(ValueError, match="at most 5"):
        cb.simulate_team({"both": team}, bandit, horizon=6)
