"""What runs take of a device's memory: counted ahead, and in the end."""

from itertools import chain

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.simulation.engines import Runs
from corrbandits.simulation.engines.gpu import device, game, memory, problems, shapes, strips, team_shapes
from corrbandits.simulation.engines.gpu.refusing import DRAWS
from tests.support.devices import bandit_of, belief_of, on_grid

SHAPES = {
    "jointly": (cb.UCL(), belief_of("joint", 60)),
    "jointly, draws": (cb.Thompson(), belief_of("joint", 60)),
    "jointly, indices": (cb.Gittins(9), belief_of("joint", 60)),
    "in teams": (cb.CorrelatedUCL(), belief_of("joint", 300)),
    "in teams, draws": (cb.Thompson(), belief_of("joint", 300)),
    "on a grid": (cb.UCL(), on_grid((15, 20))),
    "on a small grid": (cb.UCL(), on_grid((strips.WIDE + 1,))),
    "told nothing": (cb.HorizonUCL(9), cb.Vague(arms=40, parts=8)),
    "apart": (cb.UCL(), belief_of("flat", 300)),
    "apart, draws": (cb.Thompson(), belief_of("flat", 300)),
}


def runs_of(name, horizon=50, runs=1):
    policy, belief = SHAPES[name]
    return Runs(policy, belief, bandit_of("gaussian", belief.arms), horizon, 1, 0, runs)


def taken(runs, shape):
    """The bytes of all arrays; those of one number stand where nothing is needed."""
    arrays = (*shape.kept(1), *problems.problems_of([runs], shape), *chain(*shape.given([runs])))
    return sum(one.nbytes for one in arrays if getattr(one, "size", 1) > 1)


@pytest.mark.parametrize("name", SHAPES)
def test_what_a_run_takes_is_what_was_counted(name):
    runs = runs_of(name)
    shape = shapes.shape_of(runs)
    found, counted = taken(runs, shape), 8 * (shape.numbers() + shape.common())
    assert 0.8 * counted <= found <= counted


def test_a_root_is_counted_where_there_is_a_covariance():
    arms, apart = 60_000, shapes.Apart(DRAWS, 60_000, 100)
    assert apart.common() < 20 * arms
    assert team_shapes.InTeams(DRAWS, arms, 100).common() > 1.4 * arms**2


def test_a_device_holds_as_many_runs_as_fit(monkeypatch):
    runs, each = runs_of("on a grid", runs=5), 8 * (51 * 300)
    shape = shapes.shape_of(runs)
    monkeypatch.setattr(memory, "MOST_RECORDED", 0)
    monkeypatch.setattr(
        device, "free_memory", lambda: 8 * shape.common() + 3 * memory.bytes_of_run(shape, 0, same_noise=False)
    )
    assert memory.most_at_once(shape, 5, 0, same_noise=False) == 3
    assert each < memory.bytes_of_run(shape, 0, same_noise=False) < 1.3 * each  # streaks, and little else


@pytest.mark.parametrize("name", ["jointly, draws", "apart, draws"])
def test_draws_that_are_given_are_counted_on_the_device_and_here(monkeypatch, name):
    runs = runs_of(name, runs=5)
    shape, given = shapes.shape_of(runs), 8 * 2 * runs.belief.arms * 50
    each = memory.bytes_of_run(shape, 0, same_noise=True)
    assert each - memory.bytes_of_run(shape, 0, same_noise=False) == given
    monkeypatch.setattr(memory, "MOST_RECORDED", 0)
    monkeypatch.setattr(device, "free_memory", lambda: 8 * shape.common() + 3 * each)
    assert memory.most_at_once(shape, 5, 0, same_noise=True) == 3
    assert memory.most_at_once(shape, 5, 0, same_noise=False) == 5
    monkeypatch.setattr(memory, "MOST_DRAWN", 2 * given)
    assert memory.most_at_once(shape, 5, 0, same_noise=True) == 2
    monkeypatch.setattr(memory, "MOST_DRAWN", given - 1)
    with pytest.raises(MemoryError, match=r"draws are given ahead: they take .* GB, above .*'compiled' or 'gpu'"):
        memory.most_at_once(shape, 5, 0, same_noise=True)


def test_draws_that_are_given_are_sent_to_the_device_once(monkeypatch):
    sent, launched = [], []
    monkeypatch.setattr(device, "sent", lambda array: sent.append(array) or array)
    monkeypatch.setattr(device, "uploaded", lambda arrays: arrays)
    monkeypatch.setattr(shapes.Jointly, "launch", lambda shape, arguments, runs: launched.append(arguments[1].draws))
    runs = Runs(cb.Thompson(), belief_of("joint", 3), bandit_of("gaussian", 3), 20, 1, 0, 2)
    playing, into = game.game_of(runs, same_noise=True), runs.room()
    for first, last in ((0, 4), (4, 20)):
        playing.advance(first, last, into)
    (draws,) = (array for array in sent if array.shape == (2 * 3 * 20, 2))
    assert all(one is draws for one in launched)
    for run, (_, rng) in enumerate(runs.generators()):
        np.testing.assert_array_equal(draws[:, run], rng.standard_normal(2 * 3 * 20))
