"""Teams whose moves cost something: all players' in the trace, and plans that go on as long as their arms are free."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.experiment import load
from tests.support.shell import corrbandits

WHERE = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]])
BANDIT = cb.GaussianBandit([0.0, 0.2, 0.4, 0.6, 0.8], 1.0, WHERE)
FLAT = cb.Independent(noise_variance=1.0, arms=5)
MOVES = cb.Moves(per_move=0.5, per_distance=0.2)
LINE = [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.fixture(scope="module")
def trace():
    teams = {way: cb.Team.of(cb.UCL(), FLAT, players=3, assignment=way) for way in ("own", "turns")}
    return cb.simulate_team(teams, BANDIT, 60, runs=2, seed=1, moves=MOVES)


def test_moves_are_the_sums_of_what_each_player_would_have_paid(trace):
    arms = trace.arms.values
    here, there = arms[..., :-1], arms[..., 1:]
    paid = np.where(here != there, 0.5 + 0.2 * np.linalg.norm(WHERE[here] - WHERE[there], axis=-1), 0.0)
    assert not trace.moves.isel(time=0).any()
    np.testing.assert_array_equal(trace.moves[..., 1:], (here != there).sum(axis=2).cumsum(axis=-1))
    np.testing.assert_allclose(trace.move_cost[..., 1:], paid.sum(axis=2).cumsum(axis=-1), rtol=1e-13)
    np.testing.assert_array_equal(trace.total_cost, trace.regret.values + trace.move_cost.values)


def test_a_team_of_one_pays_what_a_single_player_pays():
    team = cb.simulate_team(cb.Team.of(cb.UCL(), FLAT, players=1), BANDIT, 60, runs=2, seed=1, moves=MOVES)
    alone = cb.simulate({"team": (cb.UCL(), FLAT)}, BANDIT, 60, runs=2, seed=1, moves=MOVES)
    for name in ("moves", "move_cost", "total_cost"):
        np.testing.assert_array_equal(getattr(team, name), getattr(alone, name))


def test_a_summary_a_file_and_a_checkpoint_have_them(trace, tmp_path, monkeypatch):
    monkeypatch.setattr("corrbandits.company.engines.protocol.BLOCK", 7)  # so that a run is cut
    teams = {way: cb.Team.of(cb.UCL(), FLAT, players=3, assignment=way) for way in ("own", "turns")}
    ask = {"runs": 2, "seed": 1, "record": "summary", "times": [1, 7, 8, 60]}
    for _ in range(2):
        brief = cb.simulate_team(teams, BANDIT, 60, **ask, moves=MOVES, checkpoint=tmp_path / "saved")
        np.testing.assert_array_equal(brief.move_cost, trace.move_cost.sel(time=[1, 7, 8, 60]))
        np.testing.assert_array_equal(brief.moves, trace.moves.sel(time=[1, 7, 8, 60]))
    with pytest.raises(ValueError, match="is the checkpoint of another simulation: moves is said there alone"):
        cb.simulate_team(teams, BANDIT, 60, **ask, checkpoint=tmp_path / "saved")


def test_without_costs_the_number_of_moves_follows_from_a_full_record(trace):
    teams = {way: cb.Team.of(cb.UCL(), FLAT, players=3, assignment=way) for way in ("own", "turns")}
    untold = cb.simulate_team(teams, BANDIT, 60, runs=2, seed=1)
    np.testing.assert_array_equal(untold.moves, trace.moves)
    assert untold.moves.dims == trace.moves.dims
    with pytest.raises(AttributeError, match="does not have the move_cost"):
        _ = untold.move_cost


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (3.0, "moves must say what they cost"),
        (cb.Moves(1.0, 1.0, coordinates=WHERE[:3]), "between the 5 arms there"),
    ],
)
def test_what_does_not_say_what_moves_cost_is_refused(moves, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cb.simulate_team(cb.Team.of(cb.UCL(), FLAT, players=2), BANDIT, 10, moves=moves)


def test_a_file_may_have_a_team_and_moves(tmp_path):
    (tmp_path / "far.toml").write_text(
        "[arms]\ngrid = [1, 3]\n[truth]\nmeans = [0.0, 1.0, 2.0]\nnoise_variance = 1.0\n"
        "[priors.flat]\nvariance = inf\n[policies.limits]\nrule = 'UCL'\nprior = 'flat'\n"
        "[team]\nplayers = 2\n[moves]\nper_move = 0.5\nper_distance = 1.0\n[run]\nhorizon = 20\nruns = 2\n"
    )
    done = corrbandits("simulate", "far.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "their cost" in done.stdout
    described = load(tmp_path / "far.toml")
    again = cb.simulate_team(described.teams, described.environment, 20, runs=2, seed=0, moves=described.moves)
    np.testing.assert_array_equal(cb.Trace.load(tmp_path / "results" / "far.nc").move_cost, again.move_cost)


def test_in_turns_a_plan_goes_on_as_long_as_its_next_arm_is_free():
    """Two players who know the best arms walk along a line: the second stays for its block, as the first does."""
    sure = cb.Independent(mean=[0.0, 0.0, 0.0, 9.0, 8.0], variance=1e-9, noise_variance=1.0)
    team = cb.Team.of(cb.OnGraph(cb.UCL(), LINE, length=4), sure, players=2, sharing="none", assignment="turns")
    first, second = cb.simulate_team(team, BANDIT, 12).arms.values[0, 0]
    assert first.tolist() == [3] * 12
    assert second.tolist() == [4] * 12
    asked = []

    class Counted(cb.Policy):
        def _choose(self, belief, t, rng, arms):
            asked.append(t)
            return 3 if arms is None else 4

    team = cb.Team.of(cb.OnGraph(Counted(), LINE, length=4), sure, players=2, sharing="none", assignment="turns")
    cb.simulate_team(team, BANDIT, 12)
    assert asked == [1, 1, 5, 5, 9, 9]  # once in a block, each


def test_in_turns_a_plan_whose_next_arm_was_taken_is_made_anew():
    """The first player crosses the way of the second, which stands aside for one decision."""

    class Crossing(cb.Policy):
        def _choose(self, belief, t, rng, arms):
            return 2 if t == 3 else 0

    class Steady(cb.Policy):
        def _choose(self, belief, t, rng, arms):
            return 2 if 2 in arms else 4

    seen = FLAT.observe(range(5), np.zeros(5))
    walking = cb.OnGraph(Steady(), LINE, length=9)
    team = cb.Team([(Crossing(), seen), (walking, seen)], sharing="none", assignment="turns")
    first, second = cb.simulate_team(team, BANDIT, 15).arms.values[0, 0]
    assert first.tolist() == [0, 0, 2] + [0] * 12
    assert second.tolist() == [2, 2, 3] + [4] * 9 + [3, 2, 2]  # on its way to 4 it takes 3, and stays there for a block
