"""All games of a report, in parts that are saved as they are done.

A part is one problem at one horizon, played by all who have not played it yet. Parts of low number come first: a
campaign that is stopped has played as many problems of every family, or one more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.progress import bar
from corrbandits.arena.contestants import KINDS, LONGEST, RULES, Contestant, contestants, on_change
from corrbandits.arena.playing import Outcome, play
from corrbandits.arena.problems import Make, problem
from corrbandits.arena.reference import reference
from corrbandits.arena.results import Game, Key, Results
from corrbandits.arena.waves import WARM, Seat, at_once, sent_away
from corrbandits.belief import Belief
from corrbandits.simulation.engines import has_device

FEWER = {"large grid": 4, "many arms": 16}
"""Families of many arms have so many times fewer problems, but at least two."""

FEWER_LONG = 10
"""So have games longer than `contestants.LONGEST`, which families of many arms do not play."""

SLOWER = {"large grid": 15, "many arms": 60}
"""About as much longer does a game of these take."""

WAVE = 512
"""Where there is a device, the games of so many parts are played at once, at most; a stop loses no more."""

LARGE = 100_000
"""Nobody looks for a device, which may take a second, for fewer decisions by each contestant."""

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

    rules: Sequence[str] = tuple(RULES)
    """Of these only the ones that play these rules, and the one whose regret ratios are to."""

    def asks(self, contestant: Contestant, family: str, horizon: int) -> bool:
        """Return whether a contestant is to play so many decisions on problems of a family.

        >>> some = Campaign({}, [50], problems=1, rules=["Gittins"])
        >>> [some.asks(Contestant(rule, "everything"), "clusters", 50) for rule in ("Gittins", "Greedy", "UCL a=0.5")]
        [True, False, True]
        """
        named = contestant.rule in self.rules or contestant == reference(family, horizon)
        return named and contestant.kind in self.told

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


def played(
    campaign: Campaign, seed: int, parts: list[Part], known: set[Key], who: Who, threads: int
) -> Iterator[tuple[Part, list[Game]]]:
    """Yield parts as they are done, with the games that were not known."""
    hall = _Hall(campaign, seed, known, who)
    with ThreadPoolExecutor(threads) as pool:
        try:
            for wave in hall.waves(parts, pool.map):
                waiting = {pool.submit(play) for play in wave}
                while waiting:
                    finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in finished)
        except BaseException:
            hall.stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


class _Stopped(Exception):  # noqa: N818  not an error: the game was asked to end
    """Ends a game that nobody waits for."""


Play = Callable[[], tuple[Part, list[Game]]]
"""Plays a part."""


@final
class _Hall:
    """Where the games of a campaign are played."""

    def __init__(self, campaign: Campaign, seed: int, known: set[Key], who: Who) -> None:
        self._campaign, self._seed, self._known, self._who = campaign, seed, known, who
        self._warm: set[Hashable] = set()
        self.stopped = threading.Event()

    def waves(self, parts: list[Part], by: Any) -> Iterator[list[Play]]:
        """Yield what is to be played by threads: all parts or, wave by wave, what a device has left of them.

        `by` is a function like `map`.
        """
        away = self._sent_away(parts, by)
        if not away:
            yield [partial(self._play, part, None, {}) for part in parts]
            return
        for first in range(0, len(parts), WAVE):
            wave = parts[first : first + WAVE]
            seats = [*by(self._seats, wave)]
            some = [seat for own in seats for seat in own if seat.kind in away]
            done = at_once(some, self._warm, by, self._advanced)
            yield [partial(self._play, part, own, done) for part, own in zip(wave, seats, strict=True)]

    def _sent_away(self, parts: list[Part], by: Any) -> set[Key]:
        """Return the kinds of games that are played on a device, as the last problem of each family decides."""
        if sum(part.horizon for part in parts) < LARGE or not has_device():
            return set()
        many = Counter((part.family, part.horizon) for part in parts)
        last = {(part.family, part.horizon): part for part in parts}
        sample = [seat for part in last.values() for seat in self._seats(part)]
        return sent_away(sample, many, min(1.0, WAVE / len(parts)), by)

    def _seats(self, part: Part) -> list[Seat]:
        """Return the games of a part that are not known."""
        given = problem(part.family, self._seed, part.number, self._campaign.families)
        players = self._who(part.horizon, len(given.means)) if given.change is None else on_change(part.horizon)
        keys = (Key(*part, *one) for one in players if self._campaign.asks(one, part.family, part.horizon))
        return [Seat(key, given) for key in keys if key not in self._known]

    def _play(self, part: Part, seats: list[Seat] | None, done: Mapping[Key, Outcome]) -> tuple[Part, list[Game]]:
        """Return a part with its games: those that are done, and the others, played now."""
        games, belief, told = [], None, ""
        for seat in self._seats(part) if seats is None else seats:
            if (outcome := done.get(seat.key)) is None:
                if belief is None or told != seat.key.told:
                    belief, told = seat.belief(), seat.key.told
                outcome = self._played(seat, belief)
            games.append(Game(*seat.key, *outcome))
        return part, games

    def _played(self, seat: Seat, belief: Belief) -> Outcome:
        """Return how a game ends; the first of its kind is begun for nothing."""
        if (kind := (seat.key.rule, type(belief))) not in self._warm:
            play(seat.given, seat.contestant.policy(WARM), belief, WARM, self._advanced)
            self._warm.add(kind)
        return play(seat.given, seat.contestant.policy(seat.key.horizon), belief, seat.key.horizon, self._advanced)

    def _advanced(self, _: int) -> None:
        if self.stopped.is_set():
            raise _Stopped
