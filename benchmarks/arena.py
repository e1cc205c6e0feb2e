"""Peers on the problems of the arena, told nothing, on the noise that our rules meet.

Games are added to a folder of `corrbandits arena`, or to a new one, each as soon as it was played. Those that are
there are not played again, so that the same command goes on where it was stopped. Our default plays too, and, as a
yardstick, the same rule told everything.
"""

from __future__ import annotations

import argparse
import math
import os
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks import kept
from benchmarks.families import asked, known_families, positive, problem_of
from benchmarks.opponents import PEERS
from benchmarks.opponents.player import FIRST
from benchmarks.threads import ONE_THREAD
from benchmarks.timing import tell
from corrbandits._shell.progress import bar
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, Contestant
from corrbandits.arena.playing import Outcome, play, play_step_by_step
from corrbandits.arena.problems import TUNING, Problem, problem
from corrbandits.arena.results import Game, Key, Results

OURS = DEFAULT.rule

LONGEST = {"BoTorch fully Bayesian qLogNEI": 40, "BoTorch fully Bayesian UCB": 40}
"""How many decisions those take at most who need seconds for each."""

PACKAGES = {
    "Optuna": "optuna",
    "Optuna GP": "torch",
    "BoTorch": "botorch",
    "BoTorch fully Bayesian": "numpyro",
    "scikit-learn": "sklearn",
    "bayesianbandits": "bayesianbandits",
    "PyMAB": "pymab",
}
"""What those peers need whose names begin so."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    parser.add_argument("--results", type=Path, metavar="DIRECTORY", required=True, help="where games are kept")
    parser.add_argument("--seed", type=int, help="that of a new folder; drawn if left out")
    parser.add_argument("--families", nargs="+", metavar="FAMILY", help="all of them if left out")
    parser.add_argument("--fields", type=Path, metavar="DIRECTORY", help="real fields to play too, as CSV files")
    parser.add_argument("--problems", type=positive, default=4, help="of each family (4)")
    parser.add_argument("--horizons", nargs="+", type=positive, default=[40], help="decisions in a game (40)")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS), metavar="PEER")
    parser.add_argument("--jobs", type=positive, default=1, help="games at the same time (1)")
    options = parser.parse_args(arguments)
    try:
        results = Results(options.results, options.seed)
        known = {game.key for game in results.games()}
        families = asked(options.families, known_families(options.fields))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    wanted = games(families, options.problems, options.horizons, installed(options.peers))
    try:
        failures = played(results, [key for key in wanted if key not in known], options.jobs, options.fields)
    except KeyboardInterrupt:
        tell(f"Stopped. What was played is in {results.directory}; the same command goes on from there.")
        return 130
    print(table(results.games(), options.horizons))
    for failure in failures:
        tell(failure)
    return 1 if failures else 0


def installed(peers: Iterable[str]) -> list[str]:
    """Return those peers whose package is there; say which one is not."""
    found = []
    for peer in peers:
        missing = [package for start, package in PACKAGES.items() if peer.startswith(start) and not find_spec(package)]
        if missing:
            tell(f"{peer} does not play: {missing[0]} is not installed. `make .venv-bench/.ready` installs it.")
        else:
            found.append(peer)
    return found


def games(families: Iterable[str], problems: int, horizons: Sequence[int], peers: Sequence[str]) -> list[Key]:
    """Return what is to be played, the first problem of every family first.

    >>> [key.rule for key in games(["chain"], 1, [40, 200], ["BoTorch UCB", "BoTorch fully Bayesian UCB"])]
    ['Gittins', 'Gittins', 'BoTorch UCB', 'BoTorch fully Bayesian UCB', 'Gittins', 'Gittins', 'BoTorch UCB']
    """
    return [
        Key(family, number, horizon, *who)
        for horizon in horizons
        for number in range(problems)
        for family in families
        for who in ((OURS, NOTHING), (OURS, EVERYTHING), *((peer, NOTHING) for peer in peers))
        if horizon <= LONGEST.get(who[0], horizon)
    ]


def played(results: Results, keys: Sequence[Key], jobs: int, fields: Path | None = None) -> list[str]:
    """Add these games to the results as they are played; return what went wrong."""
    os.environ.update(ONE_THREAD)
    failures = []
    work = [(key, results.seed, fields) for key in keys]
    with bar(len(work), label="playing") as show:
        for done, game in enumerate(kept.results(game_of, work, jobs, _quiet), start=1):
            if isinstance(game, str):
                failures.append(game)
            else:
                results.add([game])
            show(done)
    return failures


def _quiet() -> None:
    """Leave libraries' warnings to those who develop with them."""
    warnings.simplefilter("ignore")


def game_of(work: tuple[Key, int, Path | None]) -> Game | str:
    """Return a game, or which one could not be played and why."""
    key, seed, fields = work
    try:
        who = Contestant(key.rule, key.told)
        _warm(who)
        return Game(*key, *outcome_of(who, problem_of(key.family, seed, key.number, fields), key.horizon))
    except Exception as error:  # whatever a library raises ends this game alone
        return f"{key.rule} gave up on {key.family} {key.number}, {key.horizon} decisions: {error!r:.300}"


def outcome_of(who: Contestant, given: Problem, horizon: int) -> Outcome:
    """Return how our rule or a peer plays a problem."""
    if who.rule == OURS:
        return play(given, who.policy(horizon), who.belief(given), horizon)
    return play_step_by_step(given, PEERS[who.rule](given.coordinates, horizon, given.stream % 2**32), horizon)


@cache
def _warm(who: Contestant) -> None:
    """Have a short game played first in this process: what is imported and compiled then counts in no game."""
    outcome_of(who, problem("chain", TUNING[0], 0), FIRST + 1)


def table(played: Iterable[Game], horizons: Iterable[int]) -> str:
    """Return how much the peers lose, relative to our default on the same problems; families count the same."""
    known = {game.key: game for game in played if game.told == NOTHING}
    lines = [
        f"{'decisions':>9}  {'rule':32}{'problems':>8}{'regret':>8}{'better in':>10}{'worst':>7}{'s a decision':>14}"
    ]
    for horizon in horizons:
        for rule in (OURS, *PEERS):
            pairs = [
                (game, known[key._replace(rule=OURS)])
                for key, game in known.items()
                if (key.horizon, key.rule) == (horizon, rule) and key._replace(rule=OURS) in known
            ]
            if pairs:
                lines.append(f"{horizon:9}  {rule:32}{len(pairs):8}{_summary(pairs)}")
    return "\n".join(lines)


def _summary(pairs: Sequence[tuple[Game, Game]]) -> str:
    """Return the geometric mean over families, in how many ours loses more, the largest ratio, and the time."""
    families = {theirs.family for theirs, _ in pairs}
    logs = []
    for family in families:
        regrets = np.array([(theirs.regret, ours.regret) for theirs, ours in pairs if theirs.family == family])
        logs.append(float(np.diff(-np.log(regrets.mean(axis=0)))[0]))
    mean, worst = math.exp(np.mean(logs)), math.exp(max(logs))
    better = f"{sum(log < 0 for log in logs)} of {len(families)}"
    return f"{mean:8.2f}{better:>10}{worst:7.2f}{np.mean([theirs.seconds for theirs, _ in pairs]):14.2g}"


if __name__ == "__main__":
    raise SystemExit(main())
