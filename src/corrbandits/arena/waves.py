"""Games of many problems at once, where there is a device: a wave of them at a time.

Who plays there is decided ahead, by one problem of each family. The games of one contestant at one horizon are played
together, so that the time that they share is that of this rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from corrbandits.arena.contestants import Contestant
from corrbandits.arena.playing import Outcome, game_of, play_at_once
from corrbandits.arena.problems import Problem
from corrbandits.arena.results import Key
from corrbandits.belief import Belief
from corrbandits.simulation.engines import Advanced, on_device

WARM = 10
"""So many decisions are played first, and not recorded: whoever is the first to play also pays for compiling."""


class Seat(NamedTuple):
    """A game that is to be played: which one, and its problem."""

    key: Key
    given: Problem

    @property
    def contestant(self) -> Contestant:
        """Who plays."""
        return Contestant(self.key.rule, self.key.told)

    @property
    def kind(self) -> Key:
        """Which game it is, but for the number of the problem."""
        return self.key._replace(number=0)

    def belief(self) -> Belief:
        """Return what the contestant is told."""
        return self.contestant.belief(self.given, self.key.horizon)


def sent_away(sample: Sequence[Seat], many: Mapping[tuple[str, int], int], share: float, by: Any) -> set[Key]:
    """Return the kinds of games that are played on a device, as `on_device` says of a sample, one of each kind.

    There are so many problems of each family and horizon, and this share of them in a wave.
    """
    found: set[Key] = set()
    beliefs = _beliefs(sample, by)
    for some in _grouped(sample, lambda seat: (seat.key.horizon, *seat.contestant)):
        policy, horizon = some[0].contestant.policy(some[0].key.horizon), some[0].key.horizon
        games = [game_of(seat.given, policy, beliefs[_told(seat)], horizon) for seat in some]
        in_all = [many[seat.key.family, horizon] for seat in some]
        there = on_device(games, [share * number for number in in_all], in_all)
        found |= {seat.kind for seat, away in zip(some, there, strict=True) if away}
    return found


def at_once(seats: Sequence[Seat], warm: set[Hashable], by: Any, advanced: Advanced) -> dict[Key, Outcome]:
    """Return how games ended, those of each contestant and horizon played on a device at once.

    `by` is a function like `map`, and `warm` has the rules that were played on kinds of beliefs before.
    """
    found: dict[Key, Outcome] = {}
    for alike in _grouped(seats, lambda seat: (seat.key.horizon, seat.key.told)):
        beliefs = _beliefs(alike, by)
        for some in _grouped(alike, lambda seat: seat.key.rule):
            policy, horizon = some[0].contestant.policy, some[0].key.horizon
            play = partial(play_at_once, [seat.given for seat in some], [beliefs[_told(seat)] for seat in some])
            if (kind := (some[0].key.rule, some[0].key.told, "at once")) not in warm:
                play(policy(WARM), WARM, by, advanced)
                warm.add(kind)
            ended = play(policy(horizon), horizon, by, advanced)
            found |= {seat.key: outcome for seat, outcome in zip(some, ended, strict=True)}
    return found


def _told(seat: Seat) -> Hashable:
    """Return what games have in common that begin with the same belief."""
    return seat.key._replace(rule="")


def _beliefs(seats: Sequence[Seat], by: Any) -> dict[Hashable, Belief]:
    """Return what contestants are told, each belief made once."""
    first = {_told(seat): seat for seat in seats}
    return dict(zip(first, by(Seat.belief, first.values()), strict=True))


def _grouped(seats: Sequence[Seat], by: Callable[[Seat], Hashable]) -> list[list[Seat]]:
    """Return games in groups."""
    groups: dict[Hashable, list[Seat]] = defaultdict(list)
    for seat in seats:
        groups[by(seat)].append(seat)
    return [*groups.values()]
