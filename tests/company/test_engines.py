"""What every engine of teams promises, and the compiled one beside the reference."""

import itertools

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Team, simulate, simulate_team
from corrbandits.company.engines import ENGINES, TeamRuns, engine_for
from corrbandits.company.engines.compiled import estimates
from corrbandits.company.sharing import begin
from corrbandits.simulation.engines.compiled import weighed
from tests.support.overlaps import Watched
from tests.support.teams import BANDITS, BELIEFS, RULES, WHERE

COMPILED = ("UCL", "CorrelatedUCL", "GPUCB", "UCB1")
SHARING = ("full", "none", "neighbours", "consensus")
MEETING = [("none", "own"), ("lost", "turns"), ("one", "own"), ("split", "own")]
CASES = [
    case
    for case in itertools.product(COMPILED, BELIEFS, SHARING, MEETING)
    if not (case[0] == "UCB1" and case[1] == "joint")
]


def team_of(rule, belief, sharing, meeting=("none", "own"), players=4, **options):
    collisions, assignment = meeting
    ways = {"sharing": sharing, "graph": "path", "collisions": collisions, "assignment": assignment}
    return Team.of(RULES[rule], BELIEFS[belief], players, **ways, **options)


@pytest.mark.parametrize(("rule", "belief", "sharing", "meeting"), CASES)
def test_both_engines_take_the_same_arms(rule, belief, sharing, meeting):
    team = team_of(rule, belief, sharing, meeting, sensed=meeting[0] == "lost")
    compiled, reference = (
        simulate_team(team, BANDITS["gaussian"], horizon=50, runs=2, seed=3, engine=engine, threads=1)
        for engine in ("compiled", "reference")
    )
    for name in ("arms", "collisions", "sent", "initialisation", "counts"):
        np.testing.assert_array_equal(compiled.data[name].values, reference.data[name].values)
    # a fused product and sum: some units in the last place of mean and noise, which may cancel
    np.testing.assert_allclose(compiled.rewards.values, reference.rewards.values, rtol=0, atol=2e-15)


@pytest.mark.parametrize("sharing", SHARING)
def test_rewards_0_and_1_are_played_alike(sharing):
    traces = [
        simulate_team(team_of("UCL", "joint", sharing), BANDITS["binary"], horizon=80, seed=1, engine=engine)
        for engine in ENGINES
    ]
    np.testing.assert_array_equal(traces[0].arms.values, traces[1].arms.values)


@pytest.mark.parametrize("doubt", [0.0, 1.0, 30.0])
def test_doubt_is_the_same(doubt):
    for belief in BELIEFS:
        team = team_of("UCL", belief, "consensus", doubt=doubt, kappa=0.4)
        arms = [simulate_team(team, BANDITS["gaussian"], 60, seed=1, engine=name).arms.values for name in ENGINES]
        np.testing.assert_array_equal(*arms)


PARTED = np.kron(np.eye(2, dtype=int), 1 - np.eye(2, dtype=int))  # two pairs that do not hear of each other
LONELY = np.pad(1 - np.eye(3, dtype=int), (0, 1))  # three who hear each other, and one whom nobody hears


@pytest.mark.parametrize("kappa", [None, 0.4])
@pytest.mark.parametrize("graph", ["complete", "ring", "star", PARTED, LONELY], ids=str)
def test_averages_of_neighbours_are_the_same_on_every_graph(graph, kappa):
    """Compiled, sums over equal neighbourhoods are made once, and who knows the same chooses once."""
    for belief, assignment in (("flat", "own"), ("joint", "own"), ("joint", "turns")):
        ways = {"sharing": "consensus", "graph": graph, "kappa": kappa, "assignment": assignment}
        team = Team.of(RULES["UCL"], BELIEFS[belief], 4, **ways)
        traces = [simulate_team(team, BANDITS["gaussian"], 40, seed=1, engine=name) for name in ENGINES]
        for name in ("arms", "initialisation", "sent"):
            np.testing.assert_array_equal(*(trace.data[name].values for trace in traces))


@pytest.mark.parametrize("graph", ["complete", "star", "ring"])
def test_who_gives_its_own_estimates_no_weight_has_none_of_their_rounding(graph):
    """With kappa 1 a player of the most neighbours forgets its own: what rounding leaves of 0 is no knowledge."""
    rng = np.random.default_rng(0)
    unknown = rng.random((6, 6)) < 0.5
    priors = [
        cb.Independent(mean=mean, variance=np.where(row, np.inf, 1.0), noise_variance=1.0)
        for mean, row in zip(rng.normal(size=(6, 6)), unknown, strict=True)
    ]
    team = Team([(cb.UCL(), prior) for prior in priors], sharing="consensus", graph=graph, kappa=1.0)
    traces = [simulate_team(team, BANDITS["gaussian"], 12, runs=20, engine=name) for name in ENGINES]
    np.testing.assert_array_equal(*(trace.arms.values for trace in traces))


def test_players_who_know_the_same_may_choose_otherwise():
    players = [(cb.UCL(), BELIEFS["joint"]), (cb.Greedy(), BELIEFS["joint"]), (cb.UCL(), BELIEFS["joint"])]
    traces = [
        simulate_team(Team(players, sharing="consensus"), BANDITS["gaussian"], 40, seed=1, engine=name)
        for name in ENGINES
    ]
    np.testing.assert_array_equal(*(trace.arms.values for trace in traces))
    assert (traces[0].arms.values[0, 0, 0] != traces[0].arms.values[0, 0, 1]).any()


@pytest.mark.parametrize("rule", COMPILED)
@pytest.mark.parametrize("belief", BELIEFS)
def test_one_player_compiled_is_simulate_compiled(rule, belief):
    if rule == "UCB1" and belief == "joint":
        pytest.skip("not compiled for teams")
    pair, bandit = (RULES[rule], BELIEFS[belief]), BANDITS["gaussian"]
    one = simulate({"team": pair}, bandit, horizon=400, runs=2, seed=3, engine="compiled")
    trace = simulate_team(Team([pair]), bandit, 400, runs=2, seed=3, engine="compiled")
    for name in ("arms", "counts", "initialisation"):
        np.testing.assert_array_equal(trace.data[name].isel(player=0).values, one.data[name].values)
    np.testing.assert_allclose(trace.regret.values, one.regret.values, rtol=1e-12)


@pytest.mark.parametrize("rule", ["UCL", "CorrelatedUCL"])
def test_every_choice_is_that_of_the_belief_from_what_was_seen(rule):
    """A long compiled run, state by state: arms are those of the largest index under beliefs computed afresh."""
    team = team_of(rule, "joint", "full", players=3)
    trace = simulate_team(team, BANDITS["gaussian"], horizon=500, seed=2, engine="compiled")
    arms, rewards = trace.arms.values[0, 0], trace.rewards.values[0, 0]
    for t in (2, 5, 17, 80, 333, 500):
        belief = BELIEFS["joint"].observe(arms[:, : t - 1].ravel(), rewards[:, : t - 1].ravel())
        assert {*arms[:, t - 1].tolist()} == {RULES[rule].choose(belief, t)}


def test_estimates_of_a_long_run_are_those_of_the_reference():
    team = team_of("UCL", "joint", "consensus", players=3)
    trace = simulate_team(team, BANDITS["gaussian"], horizon=300, seed=2, engine="compiled")
    known = begin(team)
    steps = zip(trace.arms.values[0, 0].T.tolist(), trace.rewards.values[0, 0].T.tolist(), strict=True)
    for t, (arms, rewards) in enumerate(steps, start=1):
        if t in (2, 9, 60, 300):
            assert [RULES["UCL"].choose(belief, t) for belief in known.beliefs(t)] == arms
        known.learn(list(zip(arms, rewards, strict=True)))


REFUSED = {
    "assigned in the way 'ranks'": Team.of(cb.UCL(), BELIEFS["flat"], 2, assignment="ranks"),
    "InformationDirected compares many draws": Team.of(cb.InformationDirected(), BELIEFS["joint"], 2),
    "beliefs of different kinds": Team([(cb.UCL(), BELIEFS["flat"]), (cb.UCL(), BELIEFS["joint"])]),
    "have different rules or priors": Team([(cb.UCL(), BELIEFS["joint"]), (cb.CorrelatedUCL(), BELIEFS["joint"])]),
    "the belief is a Vague": Team.of(cb.GPUCB(), cb.Vague(arms=6), 2),
    "the belief is a Drifting": Team.of(cb.UCL(), cb.Drifting(prior=BELIEFS["joint"], scale=50.0), 2),
    "the belief is a Beta": Team.of(cb.BayesUCB(horizon=60), cb.Beta(arms=6), 2),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_compiled_is_said_and_played_in_python(words):
    bandit = BANDITS["binary"] if "Beta" in words else BANDITS["gaussian"]
    runs = TeamRuns(REFUSED[words], bandit, 60, 0, 0, 1)
    assert words in ENGINES["compiled"].refuses(runs)
    assert engine_for(runs) is ENGINES["reference"]
    with pytest.raises(ValueError, match="the compiled engine cannot play this because"):
        simulate_team(REFUSED[words], bandit, 60, engine="compiled")


def test_rewards_that_change_are_those_of_their_time():
    """Strangers are compiled there too; players who share are played in Python."""
    means = np.random.default_rng(0).normal(size=(40, 6))
    bandit = cb.ChangingBandit(means, noise_variance=1.0)
    for prior in (BELIEFS["joint"], cb.Drifting(prior=BELIEFS["joint"], scale=20.0)):
        teams = {way: Team.of(cb.UCL(), prior, 3, sharing=way) for way in ("none", "full")}
        trace = simulate_team(teams, bandit, horizon=40, runs=2, seed=1)
        reference = simulate_team(teams, bandit, horizon=40, runs=2, seed=1, engine="reference")
        np.testing.assert_array_equal(trace.arms.values, reference.arms.values)
        lost = [means[t].max() - means[t, trace.arms.values[..., t]] for t in range(40)]
        np.testing.assert_allclose(np.cumsum(np.sum(lost, axis=-1), axis=0)[-1], trace.regret.values[..., -1])
    assert "change with time" in ENGINES["compiled"].refuses(TeamRuns(teams["full"], bandit, 40, 0, 0, 1))


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_engine_tells_how_far_it_is_and_stops_when_told(engine):
    runs, steps = TeamRuns(team_of("UCL", "joint", "full"), BANDITS["gaussian"], 70, 0, 0, 2), []
    engine.play(runs, runs.room(), steps.append)
    assert sum(steps) == 140

    def stop(_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        engine.play(runs, runs.room(), stop)


@pytest.mark.parametrize("players", [1, 10, 50])
@pytest.mark.parametrize("sharing", SHARING)
def test_up_to_fifty_players(players, sharing):
    team = Team.of(cb.UCL(), BELIEFS["joint"], players, sharing=sharing, graph="ring")
    trace = simulate_team(team, BANDITS["gaussian"], horizon=30, seed=0, engine="compiled")
    assert trace.arms.shape == (1, 1, players, 30)
    assert float(trace.regret[0, 0, -1]) > 0


@pytest.mark.parametrize("noise", [1e-5, 1e3])
def test_estimates_of_correlated_arms_keep_their_digits(noise):
    prior = cb.Correlated(kernel=2 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=noise)
    team = Team.of(cb.UCL(), prior, 3, sharing="consensus", graph="path")
    bandit = cb.GaussianBandit(BANDITS["gaussian"].means, noise)
    arms = [simulate_team(team, bandit, 60, seed=1, engine=engine).arms.values for engine in ENGINES]
    np.testing.assert_array_equal(*arms)


@pytest.mark.parametrize(("belief", "loop"), [("flat", "estimated_apart"), ("joint", "estimated_joint")])
def test_loops_compiled_for_arrays_that_are_distinct_are_given_such(belief, loop, monkeypatch):
    watched = Watched(getattr(estimates, loop))
    monkeypatch.setattr(estimates, loop, watched)
    simulate_team(team_of("UCL", belief, "consensus"), BANDITS["gaussian"], 20, seed=1, engine="compiled")
    assert watched.calls
    assert not watched.found


@pytest.mark.parametrize("noise", [1e-6, 1.0, 1e6])
def test_averages_taken_one_after_the_other_are_the_posterior_of_all(noise):
    """Beside one system of linear equations for all of them."""
    rng, S0, n = np.random.default_rng(3), BELIEFS["joint"].covariance, len(WHERE)
    seen, averages, s = [4, 0, 5, 2, 1], rng.normal(size=5), noise * rng.uniform(0.5, 2.0, 5)
    V, mu, d, w, row = np.zeros((n, n)), np.ones(n), S0.diagonal().copy(), np.zeros(n), np.zeros(n)
    for rows, (k, average) in enumerate(zip(seen, averages, strict=True)):
        weighed.take_average(S0, V, rows, k, average, s[rows], mu, d)
    weighed.weigh_rows(S0, V, len(seen), d, row, w)
    gain = np.linalg.solve(S0[np.ix_(seen, seen)] + np.diag(s), S0[seen]).T
    left = S0 - gain @ S0[seen]
    np.testing.assert_allclose(mu, 1 + gain @ (averages - 1), rtol=1e-9)
    np.testing.assert_allclose(d, left.diagonal(), rtol=1e-8)
    np.testing.assert_allclose(w, np.sqrt((left**2 / left.diagonal()).sum(axis=1)), rtol=1e-8)


def test_where_they_would_not_the_reference_plays():
    prior = cb.Correlated(kernel=2 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1e-9)
    team = Team.of(cb.UCL(), prior, 3, sharing="consensus", graph="path")
    runs = TeamRuns(team, cb.GaussianBandit(BANDITS["gaussian"].means, 1e-9), 60, 0, 0, 1)
    assert "would lose their digits" in ENGINES["compiled"].refuses(runs)
    assert engine_for(runs) is ENGINES["reference"]


def test_sums_beyond_the_doubles_are_refused_by_both():
    huge = cb.GaussianBandit([1e308, 0.0], 1.0)
    team = Team.of(cb.UCL(), cb.Independent(noise_variance=1.0, arms=2), 3, sharing="consensus")
    for engine in ENGINES:
        with pytest.raises((OverflowError, ValueError)):
            simulate_team(team, huge, horizon=9, seed=0, engine=engine)
