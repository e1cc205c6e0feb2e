"""Moves in the trace: how many, and what they cost, against a walk step by step."""

import itertools

import numpy as np
import pytest

import corrbandits as cb

WHERE = np.random.default_rng(1).uniform(0, 5, (8, 2))
BANDIT = cb.GaussianBandit(np.linspace(0, 2, 8), 1.0, WHERE)
FLAT = cb.Independent(noise_variance=1.0, arms=8)
PLAYERS = {"UCL": (cb.UCL(), FLAT), "draws": (cb.Thompson(), FLAT), "blocked": (cb.Blocked(cb.UCL()), FLAT)}
MOVES = cb.Moves(per_move=0.5, per_distance=0.2, coordinates=WHERE)


def walked(arms):
    """The moves so far and their cost, one step after the other."""
    number, cost, found = 0, 0.0, [(0, 0.0)]
    for here, there in itertools.pairwise(arms):
        if here != there:
            number += 1
            cost += 0.5 + 0.2 * float(np.hypot(*(WHERE[here] - WHERE[there])))
        found.append((number, cost))
    return np.array(found).T


@pytest.fixture(scope="module")
def trace():
    return cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2, moves=MOVES)


def test_moves_are_counted_and_paid_from_the_second_decision_on(trace):
    for policy in PLAYERS:
        for run in range(3):
            at = {"policy": policy, "run": run}
            number, cost = walked(trace.arms.sel(at).values.tolist())
            np.testing.assert_array_equal(trace.moves.sel(at), number)
            np.testing.assert_allclose(trace.move_cost.sel(at), cost, rtol=1e-13)
    np.testing.assert_array_equal(trace.total_cost, trace.regret.values + trace.move_cost.values)
    assert trace.moves.dtype == np.int64


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_summary_has_the_same_bits(trace, engine, monkeypatch):
    monkeypatch.setattr("corrbandits.simulation.engines.one_by_one.BLOCK", 37)  # so that a run is cut
    times = [1, 2, 36, 37, 38, 74, 299, 300]
    summary = cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2, moves=MOVES, record="summary", times=times, engine=engine)
    for name in ("moves", "move_cost", "total_cost"):
        np.testing.assert_array_equal(getattr(summary, name), getattr(trace, name).sel(time=times))


def test_bands_plots_files_and_checkpoints_have_them(trace, tmp_path):
    band = trace.band("move_cost")
    np.testing.assert_allclose(band["mean"], trace.move_cost.mean("run"))
    axes = cb.plots.regret(trace, quantity="total_cost")
    np.testing.assert_allclose(axes.lines[0].get_ydata(), trace.total_cost.isel(policy=0).mean("run"))
    assert axes.get_ylabel() == "mean regret and cost of moves (reward)"
    with pytest.raises(ValueError, match="quantity must be one of regret, moves, move_cost, total_cost, got 'arms'"):
        cb.plots.regret(trace, quantity="arms")
    trace.save(tmp_path / "moves.nc")
    assert cb.Trace.load(tmp_path / "moves.nc").data.identical(trace.data)
    for _ in range(2):
        again = cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2, moves=MOVES, checkpoint=tmp_path / "saved")
        np.testing.assert_array_equal(again.move_cost, trace.move_cost)
    with pytest.raises(ValueError, match="is the checkpoint of another simulation: another moves"):
        cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2, moves=cb.Moves(1.0), checkpoint=tmp_path / "saved")
    with pytest.raises(ValueError, match="is the checkpoint of another simulation: moves is said there alone"):
        cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2, checkpoint=tmp_path / "saved")


def test_the_number_of_moves_follows_from_a_full_record_and_their_cost_does_not(trace):
    untold = cb.simulate(PLAYERS, BANDIT, 300, 3, seed=2)
    assert "moves" not in untold.data
    np.testing.assert_array_equal(untold.moves, trace.moves)
    assert untold.moves.attrs == trace.moves.attrs
    np.testing.assert_array_equal(untold.band("moves")["mean"], trace.band("moves")["mean"])
    with pytest.raises(AttributeError, match=r"does not have the move_cost\. Simulate again with moves=Moves"):
        _ = untold.move_cost
    with pytest.raises(ValueError, match=r"quantity must be one of .*regret, moves, got 'total_cost'"):
        untold.band("total_cost")
    summary = cb.simulate(PLAYERS, BANDIT, 300, record="summary")
    with pytest.raises(AttributeError, match="does not have the moves"):
        _ = summary.moves


def test_the_shortfall_is_what_is_lacking_of_enough(trace):
    means, arms = BANDIT.means, trace.arms.sel(policy="UCL", run=1).values
    expected = np.cumsum([max(0.0, 1.3 - means[arm]) for arm in arms])
    np.testing.assert_allclose(trace.shortfall(1.3).sel(policy="UCL", run=1), expected, rtol=1e-13)
    np.testing.assert_allclose(trace.shortfall(2.0), trace.regret, rtol=1e-13)  # the best arm's mean
    assert not trace.shortfall(-1.0).any()


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (3.0, r"moves must say what they cost, such as Moves\(per_move=2.0\), got 3.0"),
        (cb.Moves(per_distance=1.0, coordinates=WHERE[:5]), "between the 8 arms there are, but they are between 5"),
    ],
)
def test_what_is_not_between_these_arms_is_refused(moves, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cb.simulate(PLAYERS, BANDIT, 10, moves=moves)


class Stuck(cb.Policy):
    """Plans nothing."""

    def plan(self, belief, t, *, rng=None, allowed=None, last=None):
        return ()

    def _choose(self, belief, t, rng, arms):
        return 0


def test_a_plan_without_an_arm_is_refused():
    with pytest.raises(ValueError, match="a plan must name an arm at least"):
        cb.simulate({"stuck": (Stuck(), FLAT)}, BANDIT, 10)


def test_a_rule_whose_belief_lies_nowhere_minds_the_places_of_the_environment():
    bandit = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0, [[0.0], [1.0], [9.0]])
    prior = cb.Independent(variance=4.0, noise_variance=1.0, arms=3)
    rules = [
        cb.Travelling(cb.UCL(), moves, horizon=30)
        for moves in (cb.Moves(0.1, 0.5), cb.Moves(0.1, 0.5, [0.0, 1.0, 9.0]))
    ]
    arms = [cb.simulate({"a": (rule, prior)}, bandit, 30, engine="reference").arms.values for rule in rules]
    np.testing.assert_array_equal(*arms)
