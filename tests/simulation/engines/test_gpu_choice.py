"""Who takes a device where there is one: `engine="auto"`, and with it the arena, the stress test and the audit.

The device here only notes who asked it, and lets the cores play.
"""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.arena import calibration, playing
from corrbandits.arena.problems import problem
from corrbandits.paper import audit
from corrbandits.simulation.engines import ENGINES, Runs, engine_for
from corrbandits.simulation.engines.gpu import device, engine
from tests.support.stress_cases import stressed


@pytest.fixture
def asked(monkeypatch):
    """What a device was asked to play: by which engine, and on which belief."""
    noted = []

    def play(self, runs, into, advanced):
        noted.append((self.name, type(runs.belief).__name__))
        ENGINES["compiled"].play(runs, into, advanced)

    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "missing", lambda: "")
    monkeypatch.setattr(engine.OnDevice, "play", play)
    for name in ("ENOUGH_APART", "ENOUGH_JOINTLY", "ENOUGH_MIXED"):
        monkeypatch.setattr(engine, name, 0)
    return noted


def test_games_of_the_arena_are_played_on_the_device_under_the_noise_that_all_meet(asked):
    given, policy = problem("chain", seed=7, number=0), cb.HorizonUCL(12)
    for belief in (given.told_nothing(), given.told_everything()):
        played = playing.play(given, policy, belief, 12)
        here = Runs(policy, belief, given.environment(), 12, given.stream, 0, 1)
        into = here.room()
        ENGINES["compiled"].play(here, into, lambda _: None)
        assert played.regret == pytest.approx(here.environment.gaps[into["arms"][0]].sum() / given.scale)
    assert asked == [("gpu-same-noise", "Vague"), ("gpu-same-noise", "Correlated")]


def test_what_beliefs_say_of_problems_is_asked_after_games_on_the_device(asked):
    assert [*calibration.statements(problem("chain", seed=7, number=0), 0, cb.HorizonUCL(9), times=(9,), looks=(9,))]
    assert asked == [("gpu-same-noise", "Vague")]


def test_all_who_play_a_stress_test_meet_the_same_noise_on_the_device(asked):
    stressed(confidence=[1.0], length=[1.0], runs=1, survivors=False, horizon=5)
    assert {name for name, _ in asked} == {"gpu-same-noise"}
    assert {kind for _, kind in asked} == {"Correlated", "Independent", "Vague"}


def test_an_audit_plays_all_runs_of_a_problem_on_the_device(asked, monkeypatch):
    def note(self, runs, into, advanced):  # the cores would take a quarter of a minute
        asked.append((self.name, len(runs)))
        into["counts"][:, 0] = runs.horizon

    monkeypatch.setattr(engine.OnDevice, "play", note)
    assert audit.run(problems=1, counterexamples=0, drawn=0, runs=3, seed=0).pairs
    assert asked
    assert set(asked) == {("gpu", 3)}


def test_policies_meet_the_same_noise_if_not_all_are_played_on_the_device(asked):
    flat, bandit = cb.Independent(noise_variance=1.0, arms=3), cb.GaussianBandit([0.0, 1.0, 2.0], 1.0)
    players = {"on the device": (cb.Greedy(), flat), "not": (cb.UCB1(), flat)}
    both = cb.simulate(players, bandit, 20, 4)
    assert asked == [("gpu-same-noise", "Independent")]
    alone = cb.simulate({"not": players["not"]}, bandit, 20, 4, engine="compiled")
    np.testing.assert_array_equal(both.arms[1], alone.arms[0])
    assert engine_for(Runs(*players["on the device"], bandit, 20, 0, 0, 4)).name == "gpu"
