"""Stress tests and the arena, whose games a device plays at once: what they find is what the cores find."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.arena import campaign, waves
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, Contestant
from corrbandits.arena.problems import Problem
from corrbandits.arena.results import Results
from corrbandits.simulation.engines import ENGINES
from corrbandits.simulation.engines.gpu import device, engine
from tests.support.devices import (
    SIMULATED,
    make_all_work_large,
    quick_switches,  # noqa: F401  a fixture for every test here
)

HORIZON = 8 if SIMULATED else 60
RULES = ("UCL a=1", "CorrelatedUCL", "Gittins", "Thompson", "KnowledgeGradient")
WHO = [*(Contestant(rule, EVERYTHING) for rule in RULES), Contestant("UCL a=1", "length x 4"), DEFAULT]


@pytest.fixture
def at_once(monkeypatch):
    """How many games a device has played at once; one that takes any work, the simulator too."""
    lots, play = [], engine.GpuSameNoise._play_lot

    def noted(self, lot, advanced):
        lots.append((type(lot[0][0].belief).__name__, len(lot)))
        play(self, lot, advanced)

    monkeypatch.setattr(engine.GpuSameNoise, "_play_lot", noted)
    monkeypatch.setattr(device, "present", lambda: True)
    monkeypatch.setattr(device, "processors", lambda: 1)
    monkeypatch.setattr(campaign, "LARGE", 1)
    make_all_work_large(monkeypatch)
    return lots


@pytest.fixture
def on_cores(monkeypatch):
    """What a function returns where there is no device."""

    def found(function):
        with monkeypatch.context() as without:
            without.setattr(device, "present", lambda: False)
            return function()

    return found


def stressed():
    where, kernel = cb.landscapes.grid(2, 2), 4 * cb.Exponential(2.0)
    truth = cb.landscapes.draw(kernel, where, noise_variance=4.0, seed=1, mean=20.0, shape=(2, 2))
    few = {"kinds": ["shift", "noise"], "accuracy": [0.0, 2.0], "confidence": [1.0], "length": [1.0, 3.0], "runs": 3}
    rule = cb.CorrelatedUCL(a=1.5)
    return stress.run(rule, truth, HORIZON, mean=truth.means, kernel=kernel, survivors=False, **few).data


def test_a_stress_test_finds_the_same_regrets(at_once, on_cores):
    here, there = on_cores(stressed), stressed()
    assert sorted({kind for kind, _ in at_once}) == ["Correlated", "Vague"]
    assert sum(many for _, many in at_once) == 3 * (1 + 2 * there.sizes["setting"])
    np.testing.assert_array_equal(there["regret"], here["regret"])
    np.testing.assert_array_equal(there["initialisation"], here["initialisation"])


def family(arms):
    """Return a family of problems of about so many arms."""

    def make(rng):
        where = rng.uniform(0, 5, (int(rng.integers(arms, arms + 3)), 2))
        means = rng.normal(10, 2, len(where))
        return Problem(where, means, 10.0, 2.0, 1.0, lambda stretch: 4 * cb.Exponential(2.0 * stretch)(where))

    return make


FAMILIES = {"few": family(3), "more": family(6)}


def games_of(place, problems=3, threads=2):
    results = Results(place, seed=7)
    asked = campaign.Campaign(FAMILIES, [HORIZON, HORIZON + 1], problems)
    campaign.run(asked, results, threads=threads, who=lambda horizon, arms: WHO)
    return {game.key: game for game in results.games()}


@pytest.mark.parametrize("wave", [512, 5])
def test_a_campaign_finds_the_same_regrets_in_waves_of_any_size(at_once, on_cores, monkeypatch, tmp_path, wave):
    monkeypatch.setattr(campaign, "WAVE", wave)
    here, there = on_cores(lambda: games_of(tmp_path / "here")), games_of(tmp_path / "there")
    assert len(there) == 2 * 2 * 3 * len(WHO)
    assert sorted({kind for kind, _ in at_once}) == ["Correlated", "Vague"]
    assert there.keys() == here.keys()
    for key, game in there.items():
        assert game[:-1] == here[key][:-1]
        assert game.seconds > 0


def test_a_campaign_that_is_stopped_on_the_device_goes_on_to_the_same_games(at_once, monkeypatch, tmp_path):
    monkeypatch.setattr(campaign, "WAVE", 4)
    whole, play, calls = games_of(tmp_path / "whole"), waves.play_at_once, []

    def stopping(*arguments):
        calls.append(arguments)
        if len(calls) == 18:  # in the second of three waves
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(waves, "play_at_once", stopping)
    with pytest.raises(KeyboardInterrupt):
        games_of(tmp_path / "stopped")
    saved = Results(tmp_path / "stopped").games()
    assert 0 < len(saved) < len(whole)
    found = games_of(tmp_path / "stopped")
    assert {game[:-1] for game in found.values()} == {game[:-1] for game in whole.values()}


def test_a_small_campaign_does_not_look_for_a_device(monkeypatch, tmp_path):
    monkeypatch.setattr(device, "present", lambda: pytest.fail("which may take a second"))
    assert games_of(tmp_path, problems=1)


def test_the_time_of_games_at_once_is_without_that_of_compiling(at_once, monkeypatch, tmp_path):
    kinds, play = [], ENGINES["gpu-same-noise"].play_each

    def noted(self, games, into, advanced):
        kinds.append((games[0].horizon, type(games[0].policy).__name__))
        play(games, into, advanced)

    monkeypatch.setattr(engine.GpuSameNoise, "play_each", noted)
    games_of(tmp_path, problems=1)
    for rule in ("UCL", "CorrelatedUCL", "Gittins"):
        assert next(horizon for horizon, name in kinds if name == rule) == waves.WARM
