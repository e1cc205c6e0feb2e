"""All games of a report, in parts that are saved as they are done.

A part is one problem at one horizon, played by all who have not played it yet. Parts of low number come first: a
campaign that is stopped has played as many problems of every family, or one more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple, final

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.progress import bar
from corrbandits.arena.contestants import KINDS, LONGEST, Contestant, contestants, on_change
from corrbandits.arena.playing import play
from corrbandits.arena.problems import Make, problem
from corrbandits.arena.results import Game, Key, Results
from corrbandits.belief import Belief

FEWER = {"large grid": 4, "many arms": 16}
"""Families of many arms have so many times fewer problems, but at least two."""

FEWER_LONG = 10
"""So have games longer than `contestants.LONGEST`, which families of many arms do not play."""

SLOWER = {"large grid": 15, "many arms": 60}
"""About as much longer does a game of these take."""

WARM = 10
"""So many decisions are played first, and not recorded: whoever is the first to play also pays for compiling."""

BEFORE = 500
"""A game takes about as long before its first decision as so many decisions."""


class Part(NamedTuple):
    """One problem at one horizon."""

    family: str
    number: int
    horizon: int

    @property
    def weight(self) -> int:
        """About how long it takes."""
        return (BEFORE + self.horizon) * SLOWER.get(self.family, 1)


@final
@dataclass(frozen=True)
class Campaign:
    """What is played: so many problems of each family, at each horizon."""

    families: Mapping[str, Make]
    horizons: Sequence[int]
    problems: int
    told: Sequence[str] = KINDS
    """Who plays: those told everything, nothing, or wrongly."""

    def parts(self) -> list[Part]:
        """Return all the work.

        >>> Campaign({"chain": lambda rng: None, "many arms": lambda rng: None}, [50], problems=3).parts()[2:4]
        [Part(family='chain', number=1, horizon=50), Part(family='many arms', number=1, horizon=50)]
        """
        return [
            Part(family, number, horizon)
            for number in range(self.problems)
            for family in self.families
            for horizon in self.horizons
            if number < self._problems(family, horizon)
        ]

    def _problems(self, family: str, horizon: int) -> int:
        if horizon > getattr(self.families[family], "longest", horizon):
            return 0
        if horizon > LONGEST and family in FEWER:
            return 0
        fewer = FEWER.get(family, 1) * (FEWER_LONG if horizon > LONGEST else 1)
        return min(self.problems, max(2, -(-self.problems // fewer)))


Who = Callable[[int, int], list[Contestant]]


def run(
    campaign: Campaign,
    results: Results,
    *,
    threads: int,
    progress: bool | None = None,
    who: Who = contestants,
) -> None:
    """Play what has not been played, and add it to the results; on Ctrl-C what is done stays."""
    parts, known = campaign.parts(), {game.key for game in results.games()}
    done, total = 0, sum(part.weight for part in parts)
    with one_thread(), bar(total, progress, "playing") as show:
        for part, games in played(campaign, results.seed, parts, known, who, threads):
            if games:
                results.add(games)
            done += part.weight
            show(done)


class _Stopped(Exception):  # noqa: N818  not an error: the game was asked to end
    """Ends a game that nobody waits for."""


def played(
    campaign: Campaign, seed: int, parts: list[Part], known: set[Key], who: Who, threads: int
) -> Iterator[tuple[Part, list[Game]]]:
    """Yield parts as they are done, with the games that were not known."""
    stopped = threading.Event()
    warm: set[tuple[str, type[Belief]]] = set()

    def advanced(_: int) -> None:
        if stopped.is_set():
            raise _Stopped

    def play_part(part: Part) -> tuple[Part, list[Game]]:
        given, games, belief, told = problem(part.family, seed, part.number, campaign.families), [], None, ""
        players = who(part.horizon, len(given.means)) if given.change is None else on_change(part.horizon)
        for contestant in players:
            if contestant.kind not in campaign.told or Key(*part, *contestant) in known:
                continue
            if belief is None or told != contestant.told:
                belief, told = contestant.belief(given, part.horizon), contestant.told
            if (kind := (contestant.rule, type(belief))) not in warm:
                play(given, contestant.policy(WARM), belief, WARM, advanced)
                warm.add(kind)
            outcome = play(given, contestant.policy(part.horizon), belief, part.horizon, advanced)
            games.append(Game(*part, *contestant, *outcome))
        return part, games

    with ThreadPoolExecutor(threads) as pool:
        try:
            waiting = {pool.submit(play_part, part) for part in parts}
            while waiting:
                finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
