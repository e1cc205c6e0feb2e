"""What an engine of teams is given and what it fills in.

    recorded         shape        meaning
    arms, rewards    (n, M, T)    every decision, and what it was paid, if all is recorded
    regret           (n, K)       the group's cumulative regret at the K chosen times, or at all T
    own_regret       (n, M, K)    each player's part of it
    collisions       (n, K)       how many players have met another on their arm so far, each time counted
    sent             (n, K)       how many numbers have been sent so far
    moves            (n, K)       how many moves all players have made so far, if it was said what they cost
    move_cost        (n, K)       what these have cost
    counts           (n, M, N)    how often each player took each arm
    initialisation   (n, M)       steps of initialisation of each player

n is the number of runs in a batch, M that of players, N that of arms, T the horizon. Player p of run k draws its noise
from `SeedSequence(seed, spawn_key=(k, 2 p))` and its choices from `(k, 2 p + 1)`; player 0 has the streams of a single
player. Whom a collision pays is drawn from `(k, 0, 0)`. So all teams meet the same noise, and a run is the same
whatever plays beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.company.collisions import losses, together
from corrbandits.company.team import Team
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.simulation.engines import Advanced, Recorded
from corrbandits.simulation.engines.walking import Walk

BLOCK = 1 << 14
"""At most so many decisions of a player are made between two looks at the clock."""


class Streams(NamedTuple):
    """The random numbers of one run: of each player's noise and choices, and of who wins where players meet."""

    noise: list[np.random.Generator]
    choices: list[np.random.Generator]
    referee: np.random.Generator


def streams(seed: int, run: int, players: int) -> Streams:
    """Return the generators of one run."""
    children = np.random.SeedSequence(seed, spawn_key=(run,)).spawn(2 * players)
    generators = [np.random.default_rng(child) for child in children]
    referee = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, 0, 0)))
    return Streams(generators[::2], generators[1::2], referee)


@final
@dataclass(frozen=True)
class TeamRuns:
    """Some runs of one team, from number `first` up to, not including, `last`.

    >>> from corrbandits import UCL, GaussianBandit, Independent, Team
    >>> team = Team.of(UCL(), Independent(noise_variance=1.0, arms=2), players=3)
    >>> TeamRuns(team, GaussianBandit([0.0, 1.0], 1.0), horizon=50, seed=0, first=0, last=2).room()["arms"].shape
    (2, 3, 50)
    """

    team: Team
    environment: Environment
    horizon: int
    seed: int
    first: int
    last: int
    times: Integers | None = None
    """When the regret is recorded; None if every decision is."""

    moves: Moves | None = None
    """What moves cost, if they are to be recorded."""

    def __len__(self) -> int:
        return self.last - self.first

    def streams(self) -> Iterator[Streams]:
        """Yield the random numbers of each run."""
        for run in range(self.first, self.last):
            yield streams(self.seed, run, len(self.team))

    def room(self, *outer: int) -> Recorded:
        """Return arrays to record the runs in, with further dimensions before them if these are given."""
        shape, players = (*outer, len(self)), len(self.team)
        kept = self.horizon if self.times is None else self.times.size
        recorded: Recorded = {
            "regret": np.empty((*shape, kept)),
            "own_regret": np.empty((*shape, players, kept)),
            "collisions": np.zeros((*shape, kept), dtype=np.int64),
            "sent": np.zeros((*shape, kept), dtype=np.int64),
            "counts": np.zeros((*shape, players, self.environment.arms), dtype=np.int64),
            "initialisation": np.zeros((*shape, players), dtype=np.int64),
        }
        if self.moves is not None:
            recorded |= {"moves": np.zeros((*shape, kept), dtype=np.int64), "move_cost": np.zeros((*shape, kept))}
        if self.times is None:
            arms = np.empty((*shape, players, kept), dtype=np.int32)
            recorded = {"arms": arms, "rewards": np.empty(arms.shape), **recorded}
        return recorded


class TeamRun(ABC):
    """One run of one team: it goes on from where it stopped."""

    initialisation: Integers
    """How many steps of initialisation each player has had."""

    block: int
    """How many steps to make between two calls of `advanced`."""

    @abstractmethod
    def advance(self, noise: Array, arms: Integers, paid: Array, sent: Integers) -> None:
        """Make as many steps as there is noise, (M, n); write the arms, what they paid, and the numbers sent, (n,)."""

    @abstractmethod
    def finish(self) -> None:
        """Refuse, at the end, what exceeded the doubles on the way."""


class TeamEngine(ABC):
    """Plays runs of teams, one after the other."""

    name: ClassVar[str]

    @abstractmethod
    def refuses(self, runs: TeamRuns) -> str:
        """Return why it cannot play these runs, as the rest of a sentence after "because", or "" if it can."""

    def pays(self, runs: TeamRuns) -> bool:
        """Return whether engine="auto" may take it for these runs, if it can play them; by default it may."""
        return True

    @abstractmethod
    def begin(self, runs: TeamRuns, drawn: Streams) -> TeamRun:
        """Return one of the runs before its first decision."""

    def play(self, runs: TeamRuns, into: Recorded, advanced: Advanced) -> None:
        """Play the runs in order and record them in arrays such as `runs.room()` returns."""
        with one_thread():
            for row, drawn in enumerate(runs.streams()):
                run = self.begin(runs, drawn)
                _record(runs, run, drawn, {name: array[row] for name, array in into.items()}, advanced)
                run.finish()
                into["initialisation"][row] = run.initialisation


def _record(runs: TeamRuns, run: TeamRun, drawn: Streams, into: Recorded, advanced: Advanced) -> None:
    """Play a run, block by block."""
    players, size = len(runs.team), min(BLOCK, run.block, runs.horizon)
    before: Recorded = {name: np.zeros(into[name].shape[:-1], into[name].dtype) for name in SUMS}
    walks = [] if runs.moves is None else [Walk(runs.moves, runs.environment.coordinates) for _ in drawn.noise]
    into["counts"][:] = 0
    for first in range(0, runs.horizon, size):
        n = min(size, runs.horizon - first)
        noise = np.array([runs.environment.noise(rng, n) for rng in drawn.noise])
        arms: Any = np.empty((players, n), dtype=np.int32)
        paid, sent = np.empty((players, n)), np.zeros(n, dtype=np.int64)
        run.advance(noise, arms, paid, sent)
        for player, taken in enumerate(arms):
            into["counts"][player] += np.bincount(taken, minlength=runs.environment.arms)
        if runs.times is None:
            into["arms"][:, first : first + n], into["rewards"][:, first : first + n] = arms, paid
        with np.errstate(over="ignore"):  # rewards at the edge of the doubles: the run refuses what is beyond it
            for name, steps in _steps(runs, arms, sent, first).items():
                before[name] = _add(runs.times, first, before[name], steps, into[name])
            if walks:
                for name, so_far in _walked(walks, arms).items():
                    _write(runs.times, first, so_far, into[name])
        advanced(n)


SUMS = ("regret", "own_regret", "collisions", "sent")
"""What is recorded as a sum over the steps so far."""


def _steps(runs: TeamRuns, arms: Integers, sent: Integers, done: int) -> Recorded:
    """Return what each step adds to each of the sums, the last axis being time."""
    group, each = losses(runs.environment, runs.team.collisions, arms, done)
    met = np.zeros(len(sent), dtype=np.int64)
    if runs.team.collisions != "none":
        met += (together(arms, runs.environment.arms) > 1).sum(axis=0)
    return {"regret": group, "own_regret": each, "collisions": met, "sent": sent}


def _add(times: Integers | None, first: int, before: Any, steps: Any, into: Any) -> Any:
    """Write the sums at those of the times that lie in a block; return those at its end. The steps become sums."""
    steps[..., 0] += before
    np.cumsum(steps, axis=-1, out=steps)  # one after the other: the bits of a sum over all times
    _write(times, first, steps, into)
    return steps[..., -1].copy()


def _write(times: Integers | None, first: int, sums: Any, into: Any) -> None:
    """Write sums over the steps so far, those of a block, at those of the times that lie in it."""
    n = sums.shape[-1]
    if times is None:
        into[..., first : first + n] = sums
    else:
        begun, ended = np.searchsorted(times, (first, first + n), side="right")
        into[..., begun:ended] = sums[..., times[begun:ended] - first - 1]


def _walked(walks: list[Walk], arms: Integers) -> Recorded:
    """Return the moves of all players and what they cost, after each of the next steps."""
    numbers, costs = zip(*(walk.along(taken) for walk, taken in zip(walks, arms, strict=True)), strict=True)
    return {"moves": np.sum(numbers, axis=0), "move_cost": np.sum(costs, axis=0)}
