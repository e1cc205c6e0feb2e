"""What is refused, in which words; and the trace: the same bits whoever plays it, saved, resumed, in summary."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import corrbandits as cb
from corrbandits import Team, Trace, coop_ucb2, simulate_team
from tests.support.changing import Switching
from tests.support.teams import BANDITS, BELIEFS

FLAT, BANDIT = BELIEFS["flat"], BANDITS["gaussian"]
PAIR = (cb.UCL(), FLAT)
TEAMS = {
    "full": Team([PAIR] * 3),
    "ring": Team([PAIR] * 3, sharing="consensus", graph="ring", kappa=0.5),
    "draws": Team([(cb.Thompson(), BELIEFS["joint"])] * 3, sharing="none", collisions="one", sensed=False),
}
REFUSED = {
    "1 to 1,000 pairs": lambda: Team([]),
    "player 1 must be a pair": lambda: Team([PAIR, (FLAT, cb.UCL())]),
    "player 1 believes in 2 and player 0 in 6": lambda: Team(
        [PAIR, (cb.UCL(), cb.Independent(noise_variance=1.0, arms=2))]
    ),
    "players must be at least 1, got 0": lambda: Team.of(*PAIR, players=0),
    "sharing must be one of full, none": lambda: Team([PAIR], sharing="some"),
    "graph must be complete, ring, star, path or a matrix": lambda: Team([PAIR], graph="tree"),
    "graph must have 2 rows": lambda: Team([PAIR] * 2, graph=np.zeros((3, 3))),
    "the same both ways": lambda: Team([PAIR] * 2, graph=[[0, 1], [0, 0]]),
    "kappa must be above 0 and at most 1, got 1.5": lambda: Team([PAIR], sharing="consensus", kappa=1.5),
    "kappa and doubt go with sharing='consensus'": lambda: Team([PAIR], kappa=0.5),
    "consensus is for priors such as Independent": lambda: Team(
        [(cb.UCL(), FLAT.observe(0, 1.0))], sharing="consensus"
    ),
    "consensus is for priors": lambda: Team([(cb.Thompson(), cb.Beta(arms=6))], sharing="consensus"),
    "7 players cannot avoid each other on 6 arms": lambda: Team([PAIR] * 7, collisions="lost"),
    "compares indices, but Thompson has none": lambda: Team([(cb.Thompson(), FLAT)], assignment="ranks"),
    "but Blocked has none, or minds more": lambda: Team([(cb.Blocked(cb.UCL()), FLAT)], assignment="ranks"),
    "'chairs' needs collisions that are sensed": lambda: Team([PAIR] * 2, assignment="chairs"),
    "must be 0 or 1": lambda: Team([(cb.Thompson(), cb.Beta(arms=6))], collisions="split", sensed=False),
    "eta must be below 4": lambda: coop_ucb2(3, 6, eta=4.0),
    "teams must be a Team or a dictionary": lambda: simulate_team({}, BANDIT, 5),
    "know 6 arms, but the environment has 2": lambda: simulate_team(TEAMS, cb.GaussianBandit([0.0, 1.0], 1.0), 5),
    "as many players each": lambda: simulate_team({"one": Team([PAIR]), "two": Team([PAIR] * 2)}, BANDIT, 5),
    "engine must be auto": lambda: simulate_team(TEAMS, BANDIT, 5, engine="steam"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_it_is_said_what_is_wrong(words):
    with pytest.raises((ValueError, TypeError), match=words):
        REFUSED[words]()


def test_a_graph_is_a_name_a_matrix_or_sparse():
    ring = Team([PAIR] * 4, graph="ring").links
    for graph in (ring, ring.tolist(), csr_array(ring)):
        np.testing.assert_array_equal(Team([PAIR] * 4, graph=graph).links, ring)


@pytest.fixture(scope="module")
def trace():
    return simulate_team(TEAMS, BANDIT, horizon=40, runs=5, seed=7, threads=1)


def test_the_bits_are_the_same_whoever_plays_beside_and_however_many_work(trace):
    for name, team in TEAMS.items():
        alone = simulate_team({name: team}, BANDIT, horizon=40, runs=5, seed=7, threads=3)
        for what in ("arms", "rewards", "regret", "sent", "collisions", "own_regret"):
            assert alone.data[what].values.tobytes() == trace.data[what].sel(policy=[name]).values.tobytes()
    again = simulate_team(TEAMS, BANDIT, horizon=40, runs=5, seed=7, map=map)
    assert again.data.identical(trace.data)
    fewer = simulate_team(TEAMS, BANDIT, horizon=40, runs=2, seed=7)
    assert fewer.data["rewards"].values.tobytes() == trace.rewards.isel(run=slice(2)).values.tobytes()


def test_the_group_loses_what_its_players_lose(trace):
    np.testing.assert_allclose(trace.data["own_regret"].sum("player"), trace.regret, atol=1e-9)
    assert trace.regret.dims == ("policy", "run", "time")
    np.testing.assert_array_equal(trace.counts.sum("arm"), 40)
    losses = BANDIT.gaps[trace.arms.sel(policy="full").values].sum(axis=1).cumsum(axis=-1)
    np.testing.assert_allclose(trace.regret.sel(policy="full"), losses, rtol=1e-12)


def test_a_summary_has_what_the_full_record_has_at_its_times(trace):
    times = [1, 17, 40]
    brief = simulate_team(TEAMS, BANDIT, horizon=40, runs=5, seed=7, record="summary", times=times)
    assert "arms" not in brief.data
    for name in ("regret", "own_regret", "collisions", "sent"):
        np.testing.assert_array_equal(brief.data[name].values, trace.data[name].sel(time=times).values)
    for name in ("counts", "initialisation"):
        np.testing.assert_array_equal(brief.data[name].values, trace.data[name].values)


def test_a_trace_is_saved_with_its_regret_and_drawn(trace, tmp_path):
    trace.save(tmp_path / "teams.nc")
    assert Trace.load(tmp_path / "teams.nc").data.identical(trace.data)
    assert [line.get_label() for line in cb.plots.regret(trace).lines] == list(TEAMS)
    assert "full" in trace._repr_html_()
    sent = trace.band("sent").sel(policy="full", time=40)
    assert float(sent["mean"]) == float(sent["low"]) == 40 * 2 * 3 * 2


def test_what_is_saved_is_not_played_again(trace, tmp_path, monkeypatch):
    arguments = {"horizon": 40, "runs": 5, "seed": 7, "checkpoint": tmp_path / "saved"}
    assert simulate_team(TEAMS, BANDIT, **arguments).data.identical(trace.data)
    monkeypatch.setattr("corrbandits.company.simulator.ENGINES", {})
    assert simulate_team(TEAMS, BANDIT, **arguments).data.identical(trace.data)
    other = TEAMS | {"ring": Team([PAIR] * 3, sharing="consensus", graph="ring", kappa=0.6)}
    with pytest.raises(ValueError, match="another team 'ring'"):
        simulate_team(other, BANDIT, **arguments)


@pytest.mark.parametrize("collisions", ["none", "lost"])
def test_regret_is_against_the_best_of_each_time(collisions):
    bandit = Switching([0.0, 2.0, 1.0], [5.0, 2.0, 6.0], at=10)
    prior = cb.Independent(variance=4.0, noise_variance=1.0, arms=3)
    trace = simulate_team(Team([(cb.Thompson(), prior)] * 2, collisions=collisions), bandit, horizon=25, seed=0)
    lost, best = [], {"none": (4.0, 12.0), "lost": (3.0, 11.0)}[collisions]
    for t, (one, two) in enumerate(trace.arms.values[0, 0].T.tolist(), start=1):
        means = bandit.means_at(t)
        paid = 0.0 if collisions == "lost" and one == two else means[one] + means[two]
        lost.append(best[t >= 10] - paid)
    np.testing.assert_allclose(trace.regret.values.ravel(), np.cumsum(lost), rtol=1e-12)


def test_rewards_at_the_edge_of_the_doubles():
    huge = cb.GaussianBandit([1e300, 0.0], 1.0)
    for sharing in ("full", "none", "consensus"):
        team = Team.of(cb.UCL(), cb.Independent(noise_variance=1.0, arms=2), 3, sharing=sharing)
        trace = simulate_team(team, huge, horizon=5, seed=0)
        assert np.isfinite(trace.rewards.values).all()
