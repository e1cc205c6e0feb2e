"""What players know: consensus beside powers of its matrix, coop-UCB2 beside its formula, and what is sent."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits import Team, coop_ucb2, simulate_team
from corrbandits.company.graphs import GRAPHS, averaging, links_of
from corrbandits.company.sharing import Estimated, Heard
from tests.support.contracts import QUICK
from tests.support.teams import BANDITS, BELIEFS, streams

STEPS = st.lists(st.lists(st.tuples(st.integers(0, 5), st.floats(-9, 9)), min_size=5, max_size=5), max_size=12)


def averages(graph, players, kappa):
    """P = I - (kappa / d_max) L, from the degrees and the edges."""
    links = GRAPHS[graph](players)
    laplacian = np.diag(links.sum(axis=1)) - links
    return np.eye(players) - kappa / links.sum(axis=1).max() * laplacian


@pytest.mark.parametrize("graph", GRAPHS)
@given(STEPS, st.floats(0.01, 1.0))
@QUICK
def test_consensus_is_the_power_of_its_matrix(graph, steps, kappa):
    known = Estimated(Team.of(cb.UCL(), BELIEFS["flat"], 5, sharing="consensus", graph=graph, kappa=kappa))
    counts, sums = np.zeros((5, 6)), np.zeros((5, 6))
    for number, seen in enumerate(steps):
        known.learn(seen)
        spread = np.linalg.matrix_power(averages(graph, 5, kappa), len(steps) - number)
        for player, (arm, reward) in enumerate(seen):
            counts[:, arm] += spread[:, player]
            sums[:, arm] += spread[:, player] * reward
    np.testing.assert_allclose(known.counts, 5 * counts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(known.sums, 5 * sums, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("players", [1, 2, 3, 49, 50])
@pytest.mark.parametrize("kappa", [None, 0.02, 1.0])
def test_averaging_keeps_the_mean_and_never_goes_below_nothing(graph, players, kappa):
    weights = averaging(links_of(graph, players), kappa) / players
    np.testing.assert_allclose(weights.sum(axis=0), 1, rtol=1e-14)
    np.testing.assert_allclose(weights, weights.T, rtol=0)
    assert weights.min() >= -1e-16


@pytest.mark.parametrize("belief", ["flat", "apart", "joint"])
@given(STEPS)
@QUICK
def test_who_averages_at_once_believes_what_everybody_saw(belief, steps):
    full, average = (Team.of(cb.UCL(), BELIEFS[belief], 5, sharing=way) for way in ("full", "consensus"))
    told, estimated = Heard(full), Estimated(average)
    for seen in steps:
        told.learn(seen)
        estimated.learn(seen)
    for one, other in zip(told.beliefs(99), estimated.beliefs(99), strict=True):
        np.testing.assert_array_equal(other.counts, one.counts)
        np.testing.assert_allclose(other.mean, one.mean, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(other.variance, one.variance, rtol=1e-11)


@pytest.mark.parametrize("noise_variance", [1.0, 4.0])
def test_coop_ucb2_takes_the_arm_of_its_index(noise_variance):
    """Against the formula of the paper, computed here from the arms and rewards of the trace."""
    team = coop_ucb2(4, 6, noise_variance=noise_variance, graph="path", kappa=0.7, gamma=1.3, eta=2.0)
    bandit = cb.GaussianBandit(BANDITS["gaussian"].means, noise_variance)
    trace = simulate_team(team, bandit, horizon=80, runs=1, seed=4, engine="reference")
    arms, rewards, P = trace.arms.values[0, 0], trace.rewards.values[0, 0], averages("path", 4, 0.7)
    n, s = np.zeros((4, 6)), np.zeros((4, 6))
    for t in range(1, 81):
        if t > 6:
            f, G = math.sqrt(math.log(t - 1)), 1 - 2.0**2 / 16
            width = np.sqrt(noise_variance * 2 * 1.3 / G * (n + f) / (4 * n) * math.log(t - 1) / n)
            np.testing.assert_array_equal(arms[:, t - 1], (s / n + width).argmax(axis=1))
        else:
            assert arms[:, t - 1].tolist() == [t - 1] * 4, "each player tries each arm once first"
        taken, paid = np.zeros((4, 6)), np.zeros((4, 6))
        taken[range(4), arms[:, t - 1]], paid[range(4), arms[:, t - 1]] = 1, rewards[:, t - 1]
        n, s = P @ (n + taken), P @ (s + paid)


NUMBERS = {
    ("full", "complete"): lambda m, n, links: 2 * m * (m - 1),
    ("none", "complete"): lambda m, n, links: 0,
    ("neighbours", "ring"): lambda m, n, links: 2 * links,
    ("consensus", "ring"): lambda m, n, links: 2 * n * links,
    ("consensus", "star"): lambda m, n, links: 2 * n * links,
}


@pytest.mark.parametrize(("sharing", "graph"), NUMBERS)
def test_what_is_sent_is_in_the_trace(sharing, graph):
    team = Team.of(cb.UCL(), BELIEFS["flat"], 5, sharing=sharing, graph=graph)
    trace = simulate_team(team, BANDITS["gaussian"], horizon=9, seed=0)
    per_step = NUMBERS[sharing, graph](5, 6, {"ring": 10, "star": 8}.get(graph, 20))
    assert trace.data["sent"].values.ravel().tolist() == [per_step * t for t in range(1, 10)]


def test_players_far_apart_are_heard_late():
    team = Team.of(cb.UCL(), BELIEFS["apart"], 4, sharing="consensus", graph="path")
    known = Estimated(team)
    known.learn([(4, 9.0), (0, 0.0), (0, 0.0), (0, 0.0)])
    assert [belief.counts[4] > 0 for belief in known.beliefs(2)] == [True, True, False, False]
    for _ in range(200):
        known.learn([(0, math.nan)] * 4)
    np.testing.assert_allclose([belief.counts[4] for belief in known.beliefs(2)], 1.0, rtol=1e-6)


def test_shares_too_small_for_a_quotient_count_for_nothing():
    team = Team.of(cb.UCL(), BELIEFS["joint"], 3, sharing="consensus", graph="path", kappa=1e-120)
    known = Estimated(team)
    known.learn([(4, 1e300), (0, 0.0), (0, 0.0)])
    assert known.beliefs(2)[1].counts[4] == 0
    assert np.isfinite([belief.mean for belief in known.beliefs(2)]).all()


@pytest.mark.parametrize("player", [0, 3])
def test_noise_is_that_of_the_player_whoever_plays_beside_it(player):
    bandit, pair = BANDITS["gaussian"], (cb.Greedy(), BELIEFS["apart"])
    for players in (4, 6):
        trace = simulate_team(Team([pair] * players), bandit, horizon=20, runs=3, seed=8)
        noise = bandit.noise(streams(8, 2, player)[0], 20)
        arms, rewards = (getattr(trace, name).values[0, 2, player] for name in ("arms", "rewards"))
        np.testing.assert_allclose(rewards, bandit.means[arms] + np.sqrt(bandit.noise_variance[arms]) * noise)
