"""A simulation divided into batches of runs: what a worker is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

from corrbandits._core.checks import Integers
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.policies import Policy
from corrbandits.simulation.engines import ENGINES, Advanced, Recorded, Runs
from corrbandits.simulation.fingerprint import fingerprint


class Ensemble(Protocol):
    """What workers and checkpoints must know of runs: of single policies (`Simulation`) or of several players."""

    @property
    def environment(self) -> Environment:
        """What the rewards come from."""

    @property
    def horizon(self) -> int:
        """How many decisions a run has."""

    @property
    def seed(self) -> int:
        """What all randomness comes from."""

    @property
    def times(self) -> Integers | None:
        """When the regret is recorded; None if every decision is."""

    def sizes(self, runs: int) -> list[int]:
        """Return how many runs are played at a time, for each of those who play."""

    def room(self, batch: Batch) -> Recorded:
        """Return arrays to record a batch in."""

    def play(self, batch: Batch, into: Recorded, advanced: Advanced) -> None:
        """Play a batch into arrays of its runs; `advanced` hears of its steps, may raise to stop it."""

    def described(self, names: list[str]) -> dict[str, Any]:
        """Return what makes those who play the ones they are, as entries of a JSON file."""


class Player(NamedTuple):
    """A policy, the belief it starts from, and the name of the engine that plays it."""

    policy: Policy
    belief: Belief
    engine: str


@final
@dataclass(frozen=True)
class Simulation:
    """What every worker must know."""

    players: tuple[Player, ...]
    environment: Environment
    horizon: int
    seed: int
    times: Integers | None
    """When the regret is recorded; None if every decision is."""

    moves: Moves | None = None
    """What moves cost, if they are recorded."""

    def runs(self, batch: Batch) -> Runs:
        """Return the runs of a batch."""
        policy, belief, _ = self.players[batch.player]
        rows = batch.first, batch.last
        return Runs(policy, belief, self.environment, self.horizon, self.seed, *rows, self.times, self.moves)

    def sizes(self, runs: int) -> list[int]:
        """Return how many runs each policy's engine wants to play at a time."""
        asked = (self.runs(Batch(number, 0, runs)) for number in range(len(self.players)))
        return [ENGINES[player.engine].batch_size(of) for player, of in zip(self.players, asked, strict=True)]

    def room(self, batch: Batch) -> Recorded:
        """Return arrays to record a batch in."""
        return self.runs(batch).room()

    def play(self, batch: Batch, into: Recorded, advanced: Advanced) -> None:
        """Have the engine play a batch into arrays of its runs; `advanced` hears of its steps, may raise to stop it."""
        engine = ENGINES[self.players[batch.player].engine]
        engine.play(self.runs(batch), into, advanced)
        if (played := into["counts"].sum(axis=-1)).min() != self.horizon or played.max() != self.horizon:
            raise RuntimeError(
                f"the {engine.name} engine must count {self.horizon:,} decisions in each run, got {played.min():,} "
                "in one of them. Its play() must fill in every array it is given."
            )

    def described(self, names: list[str]) -> dict[str, Any]:
        """Return the engine of each policy, and the fingerprints of policy, belief and what moves cost."""
        policies: dict[str, Any] = {} if self.moves is None else {"moves": fingerprint(self.moves)}
        for name, (policy, belief, engine) in zip(names, self.players, strict=True):
            policies |= {
                f"engine of {name!r}": engine,
                f"policy {name!r}": fingerprint(policy),
                f"belief of {name!r}": fingerprint(belief),
            }
        return policies


@final
@dataclass(frozen=True)
class Batch:
    """Some runs of one policy: from `first` up to, not including, `last`."""

    player: int
    first: int
    last: int

    @property
    def rows(self) -> tuple[int, slice]:
        """Where they stand in arrays of (policy, run, ...)."""
        return self.player, slice(self.first, self.last)


def batches(ensemble: Ensemble, runs: int) -> list[Batch]:
    """Return all the work, in parts as large as the engines want them; early runs come first."""
    work: list[Batch] = []
    for number, size in enumerate(ensemble.sizes(runs)):
        work += [Batch(number, first, min(first + size, runs)) for first in range(0, runs, size)]
    return sorted(work, key=lambda batch: (batch.first, batch.player))


def runs_in(work: Iterable[Batch]) -> int:
    """Return how many runs these are."""
    return sum(batch.last - batch.first for batch in work)


def part(recorded: Recorded, batch: Batch) -> Recorded:
    """Return the rows of a batch, to write into."""
    return {name: array[batch.rows] for name, array in recorded.items()}


def run_batch(ensemble: Ensemble, batch: Batch) -> tuple[Batch, Recorded]:
    """Return a batch with arrays of its runs: the work of another process or machine."""
    recorded = ensemble.room(batch)
    ensemble.play(batch, recorded, lambda _: None)
    return batch, recorded
