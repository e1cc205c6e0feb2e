"""A campaign: the same games however it is divided, stopped or gone on with."""

import os
import signal
import subprocess
import time

import pytest

from corrbandits.arena.campaign import Campaign, run
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, Contestant
from corrbandits.arena.playing import Outcome
from corrbandits.arena.problems import FAMILIES
from corrbandits.arena.results import Game, Results
from tests.support.commands import PROGRAM

FEW = {name: FAMILIES[name] for name in ("chain", "heavy tails")}
SMALL = Campaign(FEW, [12], problems=2)


def some(horizon, arms):
    return [Contestant("Thompson", EVERYTHING), Contestant("KnowledgeGradient", EVERYTHING), DEFAULT]


def outcomes(results):
    """Everything of the games but how long they took."""
    return sorted(game[:-1] for game in results.games())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    results = Results(tmp_path_factory.mktemp("whole"), seed=7)
    run(SMALL, results, threads=1, who=some)
    return outcomes(results)


def test_every_problem_is_played_by_everybody_at_every_horizon(whole):
    assert len(whole) == 2 * 2 * 3
    assert {game[:2] for game in whole} == {(name, number) for name in FEW for number in range(2)}
    assert all(regret >= simple >= 0 for *_, regret, simple in whole)


def test_any_number_of_threads_gives_the_same_bits(whole, tmp_path):
    results = Results(tmp_path, seed=7)
    run(SMALL, results, threads=3, who=some)
    assert outcomes(results) == whole


def test_what_was_played_is_not_played_again(whole, tmp_path):
    results = Results(tmp_path, seed=7)
    known = Game("chain", 1, 12, *DEFAULT, 99.0, 9.0, 1.0)
    results.add([known])
    run(SMALL, results, threads=1, who=some)
    games = {game.key: game for game in results.games()}
    assert games[known.key] == known
    assert len(games) == len(whole)
    lines = (tmp_path / "games.csv").read_text(encoding="utf-8")
    run(SMALL, results, threads=1, who=some)
    assert (tmp_path / "games.csv").read_text(encoding="utf-8") == lines


def test_a_campaign_that_ends_in_an_error_keeps_what_was_done(whole, tmp_path):
    results, asked = Results(tmp_path, seed=7), []

    def failing(horizon, arms):
        asked.append(arms)
        if len(asked) == 3:
            raise MemoryError
        return some(horizon, arms)

    with pytest.raises(MemoryError):
        run(SMALL, results, threads=1, who=failing)
    done = outcomes(results)
    assert 0 < len(done) < len(whole)
    assert set(done) < set(whole)
    run(SMALL, results, threads=1, who=some)
    assert outcomes(results) == whole


def _saved(place):
    """Whether there is a game below the heading."""
    return place.exists() and place.read_bytes().count(b"\n") > 1


def test_after_a_kill_the_same_command_goes_on_and_ends_alike(tmp_path):
    families = {"chain": FAMILIES["chain"]}
    words = [PROGRAM, "arena", "--families", "chain", "--horizons", "10,11", "--problems", "40", "--seed", "7"]
    with subprocess.Popen([*words, "--threads", "1", "--out", tmp_path / "killed"], stderr=subprocess.PIPE) as begun:
        place, end = tmp_path / "killed" / "games.csv", time.monotonic() + 120
        while not _saved(place) and begun.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(begun.pid, signal.SIGKILL)
    assert begun.returncode == -signal.SIGKILL
    stopped = Results(tmp_path / "killed")
    played = len(stopped.games())
    assert 0 < played < 80 * 49
    campaign, never = Campaign(families, [10], problems=2), Results(tmp_path / "never", seed=7)
    run(campaign, stopped, threads=2)
    run(campaign, never, threads=1)
    shared = {game[:-1] for game in stopped.games() if game.horizon == 10 and game.number < 2}
    assert sorted(shared) == outcomes(never)


def test_families_of_many_arms_have_fewer_problems_and_long_games_fewer_still():
    parts = Campaign(FAMILIES, [50, 10_000], problems=40).parts()
    number = {
        (family, t): sum((p.family, p.horizon) == (family, t) for p in parts)
        for family in FAMILIES
        for t in (50, 10_000)
    }
    assert (number["chain", 50], number["large grid", 50], number["many arms", 50]) == (40, 10, 3)
    assert (number["chain", 10_000], number["large grid", 10_000], number["many arms", 10_000]) == (4, 0, 0)
    assert [part.number for part in parts] == sorted(part.number for part in parts)
    assert len(set(parts)) == len(parts)
    assert Campaign(FAMILIES, [50], problems=0).parts() == []


def test_the_time_of_a_game_is_without_that_of_compiling(monkeypatch, tmp_path):
    compiled = set()

    def play(given, policy, belief, horizon, advanced):
        kind = type(policy), type(belief)
        seconds = 1e-4 if kind in compiled else 1.0
        compiled.add(kind)
        return Outcome(1.0, 1.0, seconds)

    monkeypatch.setattr("corrbandits.arena.campaign.play", play)
    results = Results(tmp_path, seed=7)
    run(SMALL, results, threads=1, who=some)
    assert {game.seconds for game in results.games()} == {1e-4}
