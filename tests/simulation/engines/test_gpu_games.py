"""Games that differ, at once on a device: each is what the reference plays alone, whatever games are beside it."""

from dataclasses import replace

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.simulation.engines import ENGINES
from corrbandits.simulation.engines.gpu import device, engine, game, memory, mixed, shapes, together
from tests.support.devices import (
    POLICIES,
    SIMULATED,
    assert_is_belief,
    game_of,
    joint_now,
    no_shared_memory,  # noqa: F401  a fixture
    on_grid,
    other_belief,
    quick_switches,  # noqa: F401  a fixture for every test here
    team_now,
)
from tests.support.engines import played

OURS = ENGINES["gpu-same-noise"]
SIZES = (4, 6, 5, 6) if SIMULATED else (60, 100, 96, 77, 100, 71)
HORIZON = 20 if SIMULATED else 200
UNTOLD = {"horizon": cb.HorizonUCL(HORIZON), "Gittins": cb.Gittins(HORIZON), "GP": cb.GPUCB(), "greedy": cb.Greedy()}


def differing(policy, kind, sizes=SIZES, **options):
    return [
        game_of(policy, other_belief(kind, arms, seed), seed, **{"horizon": HORIZON, **options})
        for seed, arms in enumerate(sizes)
    ]


def at_once(games, engine=OURS):
    """What is recorded of games that are played at once, and how many steps it took."""
    into, steps = [one.room() for one in games], []
    engine.play_each(games, into, steps.append)
    return into, sum(steps)


def assert_played_as_by_the_reference(games):
    found, steps = at_once(games)
    assert steps == sum(len(one) * one.horizon for one in games)
    for one, ours in zip(games, found, strict=True):
        plain, _ = played(ENGINES["reference"], one)
        for name in set(plain) - {"rewards", "regret"}:
            np.testing.assert_array_equal(ours[name], plain[name])
        for name in set(plain) & {"rewards", "regret"}:
            np.testing.assert_allclose(ours[name], plain[name], rtol=1e-13, atol=1e-13)


def assert_same_bits(one, other):
    assert set(one) == set(other)
    for name, array in one.items():
        np.testing.assert_array_equal(other[name], array)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("kind", ["flat", "joint"])
def test_games_that_differ_in_everything_are_those_of_the_reference(name, kind):
    assert_played_as_by_the_reference(differing(POLICIES[name], kind))


@pytest.mark.parametrize("name", UNTOLD)
def test_games_told_nothing_that_differ_are_those_of_the_reference(name):
    assert_played_as_by_the_reference(differing(UNTOLD[name], "untold"))


@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize("name", ["printed", "UCL", "Thompson", "Gittins"])
def test_games_that_teams_play_are_those_of_the_reference(name):
    assert_played_as_by_the_reference(differing(POLICIES[name], "joint", SIZES[:3]))


def test_games_of_every_kind_are_sorted_out():
    """Rules, beliefs, rewards, horizons and records that no kernel has in common; some of several runs."""
    times = np.array([1, 4, 9])
    games = [
        *differing(POLICIES["printed"], "joint", SIZES[:2], horizon=9),
        *differing(POLICIES["UCL"], "flat", SIZES[:2], horizon=9, rewards="binary"),
        *differing(UNTOLD["GP"], "untold", SIZES[:2], horizon=9, times=times),
        *differing(POLICIES["UCL"], "joint", SIZES[:2], horizon=9, times=times),
        *differing(POLICIES["greedy"], "joint", SIZES[:2], horizon=11),
    ]
    games[1], games[4] = replace(games[1], last=games[1].first + 3), replace(games[4], last=games[4].first + 2)
    games[0] = replace(games[0], moves=cb.Moves(per_move=2.0))
    assert_played_as_by_the_reference(games)


def test_grids_without_a_matrix_are_at_once_if_they_have_the_same_sides():
    games = [game_of(cb.UCL(), on_grid(sides), seed, 9) for seed, sides in enumerate([(3, 2), (2, 3), (3, 2)])]
    assert sorted(len(lot) for lot in together.lots(games, [one.room() for one in games])) == [1, 2]
    assert_played_as_by_the_reference(games)


@pytest.mark.parametrize(("kind", "name"), [("flat", "UCL"), ("joint", "printed"), ("untold", "Gittins")])
def test_a_game_is_the_same_bit_for_bit_whatever_games_are_beside_it(kind, name):
    games = differing((POLICIES | UNTOLD)[name], kind)
    whole, _ = at_once(games)
    order = [2, 0, 3]
    for chosen in ([0], [1], order):
        for k, found in zip(chosen, at_once([games[k] for k in chosen])[0], strict=True):
            assert_same_bits(whole[k], found)


@pytest.mark.usefixtures("no_shared_memory")
def test_a_game_of_a_team_is_the_same_bit_for_bit_whatever_games_are_beside_it():
    games = differing(POLICIES["printed"], "joint", SIZES[:3])
    whole, _ = at_once(games)
    for found, one in zip(whole, games, strict=True):
        assert_same_bits(at_once([one])[0][0], found)


@pytest.mark.parametrize("kind", ["joint", "untold"])
def test_how_many_are_held_at_once_and_where_they_are_cut_into_launches_changes_no_bit(monkeypatch, kind):
    games = differing(UNTOLD["Gittins"], kind, horizon=9)
    whole, _ = at_once(games)
    monkeypatch.setattr(engine, "FIRST_STEPS", 2)
    monkeypatch.setattr(engine, "LAUNCH", 0.0)
    monkeypatch.setattr(memory, "most_at_once", lambda *_, **__: 2)
    for one, other in zip(whole, at_once(games)[0], strict=True):
        assert_same_bits(one, other)


def test_vectors_that_a_block_cannot_share_lie_in_the_memory_of_the_device(monkeypatch):
    """A game that could share them is not played beside one that cannot: it has the same kernel as alone."""
    games = differing(UNTOLD["Gittins"], "untold", horizon=9)
    shared, _ = at_once(games)
    most = 8 * mixed.shared_numbers(max(SIZES), 4, vectors=True, differ=True)
    monkeypatch.setattr(device, "shared_limit", lambda: most - 1)
    lots = [{one.belief.arms for one, _ in lot} for lot in together.lots(games, [one.room() for one in games])]
    assert {max(SIZES)} in lots
    for one, other in zip(shared, at_once(games)[0], strict=True):
        assert_same_bits(one, other)


def assert_states_are_those_of_the_reference(name, now):
    games = sorted(differing(POLICIES[name], "joint", SIZES[:3]), key=lambda one: -one.belief.arms)
    playing = game.Game(games, replace(shapes.shape_of(games[0]), differ=True), same_noise=True)
    beliefs, into = [one.belief for one in games], {
        "arms": np.zeros((3, 14), dtype=np.int32), "rewards": np.zeros((3, 14)),
    }  # fmt: skip
    for t in range(14):
        playing.advance(t, t + 1, into)
        for run, belief in enumerate(beliefs):
            beliefs[run] = belief.observe(int(into["arms"][run, t]), float(into["rewards"][run, t]))
            mean, covariance, _ = now(playing, belief.arms, run)
            assert_is_belief(beliefs[run], mean, covariance)


@pytest.mark.parametrize("name", ["printed", "UCL"])
def test_every_state_of_games_beside_each_other_equals_the_reference(name):
    assert_states_are_those_of_the_reference(name, joint_now)


@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize("name", ["printed", "UCL", "Thompson"])
def test_every_state_of_teams_beside_each_other_equals_the_reference(name):
    assert_states_are_those_of_the_reference(name, team_now)


def test_arms_of_similar_numbers_are_at_once_the_most_first():
    games = [game_of(cb.UCL(), other_belief("joint", arms, arms), arms, 9) for arms in (3, 10, 8, 4, 7, 2)]
    lots = [[one.belief.arms for one, _ in lot] for lot in together.lots(games, [one.room() for one in games])]
    assert lots == [[10, 8], [7], [4, 3], [2]]


def test_a_stop_while_games_are_played_is_passed_on():
    def stop(steps):
        raise InterruptedError

    games = differing(POLICIES["UCL"], "flat", SIZES[:2])
    with pytest.raises(InterruptedError):
        OURS.play_each(games, [one.room() for one in games], stop)


@pytest.mark.parametrize("name", ["gpu", "compiled", "reference"])
def test_other_engines_play_games_one_after_the_other(name):
    games = differing(POLICIES["UCL"], "joint", SIZES[:2], horizon=9)
    found, steps = at_once(games, ENGINES[name])
    assert steps == 2 * 9
    for one, ours in zip(games, found, strict=True):
        assert_same_bits(ours, played(ENGINES[name], one)[0])
