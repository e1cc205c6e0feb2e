"""Many correlated arms on a device, against the reference: on a device if there is one, else in numba's simulator."""

from dataclasses import replace

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.simulation.engines import ENGINES, Runs, engine_for
from corrbandits.simulation.engines.gpu import device, game, memory, shapes, state, strips, team_shapes
from tests.support.devices import (
    POLICIES,
    SIMULATED,
    assert_is_belief,
    bandit_of,
    belief_of,
    no_shared_memory,  # noqa: F401  a fixture
    on_grid,
    quick_switches,  # noqa: F401  a fixture for every test here
    team_now,
)
from tests.support.engines import played


def assert_states_are_those_of_the_reference(name, arms):
    belief, horizon = belief_of("joint", arms), 14
    runs = Runs(POLICIES[name], belief, bandit_of("gaussian", arms), horizon, 1, 0, 1)
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    for t in range(horizon):
        settled, lasting = belief, t > 0 and device.fetched(playing._kept.at)[0, state.LASTING]
        playing.advance(t, t + 1, into)
        belief = belief.observe(int(into["arms"][0, t]), float(into["rewards"][0, t]))
        mean, covariance, w0 = team_now(playing, arms)
        assert_is_belief(belief, mean, covariance)
        if name == "printed" and not lasting and not POLICIES[name].pending(settled).any():
            np.testing.assert_allclose(w0, settled.deviation * settled.spread(), rtol=1e-10)
    playing.finish(into)
    np.testing.assert_array_equal(into["counts"][0], np.bincount(into["arms"][0], minlength=arms))


@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize("arms", [1, 2, 5, 9] if SIMULATED else [33, 236, 1037, 1237])
@pytest.mark.parametrize("name", ["printed", "UCL", "Thompson"])
def test_a_team_goes_through_the_states_of_the_reference(name, arms):
    assert_states_are_those_of_the_reference(name, arms)


@pytest.mark.skipif(not SIMULATED, reason="kernels on disk are those of the sizes that chunks have")
@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize(("arms", "groups"), [(9, 4), (13, 16)])
@pytest.mark.parametrize("name", ["printed", "UCL", "Thompson"])
def test_larger_chunks_of_more_arms_give_the_states_of_the_reference(monkeypatch, name, arms, groups):
    monkeypatch.setattr(strips, "SMALL", 8)
    monkeypatch.setattr(strips, "LARGE", 13)
    assert strips.chunks_of(arms) == -(-strips.groups_of(arms) // groups) > 1
    assert_states_are_those_of_the_reference(name, arms)


@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize("name", POLICIES)
def test_a_team_decides_as_the_reference_does(name):
    arms, horizon = (5, 20) if SIMULATED else (300, 400)
    runs = Runs(POLICIES[name], belief_of("joint", arms), bandit_of("gaussian", arms), horizon, 7, 0, 2)
    (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
    np.testing.assert_array_equal(ours["arms"], plain["arms"])
    np.testing.assert_allclose(ours["rewards"], plain["rewards"], rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(ours["initialisation"], plain["initialisation"])


@pytest.mark.usefixtures("no_shared_memory")
@pytest.mark.parametrize("name", ["printed", "Thompson"])
def test_a_run_of_a_team_is_the_same_however_many_blocks_play_it_and_however_it_is_cut(monkeypatch, name):
    arms, horizon = (5, 12) if SIMULATED else (400, 300)
    runs = Runs(POLICIES[name], belief_of("joint", arms), bandit_of("gaussian", arms), horizon, 2, 0, 1)
    whole = played(ENGINES["gpu"], runs)[0]
    monkeypatch.setattr(device, "processors", lambda: 1)  # a team of two blocks at most
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    for first, last in ((0, 3), (3, 4), (4, horizon)):
        playing.advance(first, last, into)
    for record in ("arms", "rewards"):
        np.testing.assert_array_equal(into[record], whole[record])


@pytest.mark.usefixtures("no_shared_memory")
def test_many_decisions_in_a_streak_are_those_of_the_reference():
    """A clear favourite and equal neighbours: arms that might be better are looked at singly, or there are too many."""
    arms, horizon = (6, 40) if SIMULATED else (300, 600)
    belief = belief_of("joint", arms)
    bandit = cb.GaussianBandit(np.where(np.arange(arms) == 3, 4.0, 0.0), 0.5)
    for a in (1.0, 2.0):
        runs = Runs(cb.CorrelatedUCL(a=a), belief, bandit, horizon, 3, 0, 1)
        (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
        np.testing.assert_array_equal(ours["arms"], plain["arms"])


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 130])
def test_strips_hold_every_pair_once(size):
    root = np.random.default_rng(0).normal(size=(size, size))
    covariance = root @ root.T
    half, rows = strips.in_strips(covariance), strips.whole_rows(size)
    assert half.size == strips.WIDE * strips.first_row(strips.strips_of(size), rows)
    assert np.count_nonzero(half) == size * (size - 1) // 2
    places = [(i, j) for i in range(size) for j in range(size) if i != j]
    np.testing.assert_array_equal(
        [half[strips.place(i, j, size)] for i, j in places], [covariance[i, j] for i, j in places]
    )
    firsts = [strips.first_row(strip, rows) for strip in range(strips.strips_of(size) + 1)]
    for row in range(firsts[-1]):
        assert strips.strip_of(row, rows) == np.searchsorted(firsts, row, side="right") - 1


@pytest.mark.parametrize("size", [1, 2, 7, 130, 1000, 1101])
@pytest.mark.parametrize("warps", [1, 3, 8, 64])
def test_warps_share_all_chunks_and_a_blocks_share_is_even(size, warps):
    groups, chunks = strips.groups_of(size), strips.chunks_of(size)
    firsts = [strips.first_of_chunk(chunk, groups, chunks) for chunk in range(chunks + 1)]
    assert firsts[0] == 0
    assert firsts[-1] == groups * strips.ROWS
    assert set(np.diff(firsts)) <= {groups // chunks * strips.ROWS, -(-groups // chunks) * strips.ROWS}
    some = np.arange(0, firsts[-1], strips.ROWS * (1 + groups // 1000))
    found = [strips.chunk_of(row, groups, chunks) for row in some.tolist()]
    np.testing.assert_array_equal(found, np.searchsorted(firsts, some, side="right") - 1)
    taken = [strips.share_of(warp, warps, size) for warp in range(warps)]
    shares = [[*range(first, end, step)] for first, step, end in taken]
    assert sorted(chunk for share in shares for chunk in share) == [*range(chunks)]
    if size <= strips.SMALL and chunks % warps == 0:
        sizes = [sum(firsts[chunk + 1] - firsts[chunk] for chunk in share) for share in shares]
        assert max(sizes) - min(sizes) <= strips.ROWS


GRIDS = {"line": (7,), "square": (3, 4), "box": (2, 3, 2)} if SIMULATED else {"square": (30, 40), "box": (9, 10, 11)}


@pytest.mark.parametrize("grid", GRIDS)
def test_a_grid_without_a_matrix_goes_through_the_states_of_the_reference(grid):
    belief, horizon = on_grid(GRIDS[grid]), 12
    runs = Runs(POLICIES["UCL"], belief, bandit_of("gaussian", belief.arms), horizon, 1, 0, 1)
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    for t in range(horizon):
        playing.advance(t, t + 1, into)
        belief = belief.observe(int(into["arms"][0, t]), float(into["rewards"][0, t]))
        own = device.fetched(playing._kept.own)[0]
        np.testing.assert_allclose(own[:, state.MU], belief.mean, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(own[:, state.D], belief.variance, rtol=1e-10)


@pytest.mark.parametrize("name", ["plain", "horizon", "Gittins"])
def test_a_grid_without_a_matrix_is_played_as_by_the_reference(name):
    belief, horizon = on_grid((3, 2) if SIMULATED else (40, 30)), 20 if SIMULATED else 120
    runs = Runs(POLICIES[name], belief, bandit_of("gaussian", belief.arms), horizon, 7, 0, 2)
    (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
    np.testing.assert_array_equal(ours["arms"], plain["arms"])


@pytest.mark.parametrize(
    ("policy", "belief", "reason"),
    [
        (cb.CorrelatedUCL(), on_grid((3, 2)), "CorrelatedUCL needs more of an Implicit belief"),
        (cb.Thompson(), on_grid((3, 2)), "Thompson needs more of an Implicit belief"),
        (cb.UCL(), on_grid((3, 2)).observe(0, 1.0), "the belief has seen or awaits rewards"),
        (
            cb.UCL(),
            cb.Implicit(kernel=cb.Exponential(1.0), coordinates=[0.0, 0.3, 1.0, 1.1, 2.0, 9.0], noise_variance=1.0),
            "not on a regular grid",
        ),
        (
            cb.UCL(),
            cb.Implicit(kernel=cb.Exponential(1.0), coordinates=np.arange(6.0), noise_variance=1e-9),
            "differences would lose their digits",
        ),
    ],
)
def test_what_is_not_played_without_a_matrix_is_refused_in_words(policy, belief, reason):
    with pytest.raises(ValueError, match=f"the gpu engine cannot play this because .*{reason}"):
        simulate({"a": (policy, belief)}, bandit_of("gaussian", 6), 20, engine="gpu")


@pytest.mark.parametrize("belief", [belief_of("joint", 300), belief_of("flat", 300), on_grid((15, 20))])
def test_too_little_memory_is_an_error_that_says_what_would_fit(monkeypatch, belief):
    runs = Runs(cb.UCL(), belief, bandit_of("gaussian", belief.arms), 50, 1, 0, 3)
    shape = shapes.shape_of(runs)
    asked = "horizon" if isinstance(shape, team_shapes.OnGrid) else "arms"
    monkeypatch.setattr(memory, "MOST_RECORDED", 0)
    monkeypatch.setattr(device, "free_memory", lambda: 6 * (shape.numbers() + shape.common()))
    with pytest.raises(MemoryError, match=r"a run of 300 arms and 50 decisions takes .* GB on the device.*up to \d+"):
        memory.most_at_once(shape, 3, 0, same_noise=False)
    fitting = int(memory._what_fits(shape, 0, device.free_memory(), same_noise=False).split()[2])
    assert 1 < fitting < getattr(shape, asked)


def test_as_many_blocks_play_a_run_as_there_is_place_and_work_for(monkeypatch):
    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "processors", lambda: 132)
    monkeypatch.setattr(device, "threads_at_once", lambda: 2048)
    assert team_shapes.blocks_of_team(1, 10**6, 128) == 264
    assert team_shapes.blocks_of_team(100, 10**6, 128) == 2
    assert team_shapes.blocks_of_team(10**4, 10**6, 128) == team_shapes.blocks_of_team(1, 1, 128) == 1
    assert team_shapes.blocks_of_team(1, 10**6, team_shapes.GRID_REGISTERS) == 132 * 6
    monkeypatch.setattr(device, "threads_at_once", lambda: 1024)  # as on devices of compute capability 7.5
    assert team_shapes.blocks_of_team(1, 10**6, team_shapes.GRID_REGISTERS) == 132 * 4


def test_no_two_blocks_wait_for_each_other_in_the_simulator(monkeypatch):
    monkeypatch.setattr(device, "simulated", lambda: True)
    assert team_shapes.blocks_of_team(1, 10**6, 128) == 1


def test_auto_takes_the_device_for_a_large_grid_as_long_as_it_holds_all_streaks(monkeypatch):
    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "missing", lambda: "")
    belief = on_grid((300, 200))
    runs = Runs(cb.UCL(), belief, bandit_of("gaussian", belief.arms), 1000, 0, 0, 2)
    for free, taken in ((1 << 34, "gpu"), (1 << 28, "reference")):
        monkeypatch.setattr(device, "free_memory", lambda free=free: free)
        assert engine_for(runs).name == taken
    assert engine_for(replace(runs, horizon=100)).name == "reference"
