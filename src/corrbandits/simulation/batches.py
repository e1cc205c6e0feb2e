"""A simulation divided into batches of runs: what a worker is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, final

from corrbandits._core.checks import Integers
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.policies import Policy
from corrbandits.simulation.engines import ENGINES, Advanced, Recorded, Runs


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

    def runs(self, batch: Batch) -> Runs:
        """Return the runs of a batch."""
        policy, belief, _ = self.players[batch.player]
        return Runs(policy, belief, self.environment, self.horizon, self.seed, batch.first, batch.last, self.times)


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


def batches(simulation: Simulation, runs: int) -> list[Batch]:
    """Return all the work, in parts as large as the engines want them; early runs come first."""
    work: list[Batch] = []
    for number, player in enumerate(simulation.players):
        size = ENGINES[player.engine].batch_size(simulation.runs(Batch(number, 0, runs)))
        work += [Batch(number, first, min(first + size, runs)) for first in range(0, runs, size)]
    return sorted(work, key=lambda batch: (batch.first, batch.player))


def runs_in(work: Iterable[Batch]) -> int:
    """Return how many runs these are."""
    return sum(batch.last - batch.first for batch in work)


def part(recorded: Recorded, batch: Batch) -> Recorded:
    """Return the rows of a batch, to write into."""
    return {name: array[batch.rows] for name, array in recorded.items()}


def run_into(simulation: Simulation, batch: Batch, into: Recorded, advanced: Advanced) -> None:
    """Have the engine play a batch into arrays of its runs; `advanced` hears of its steps, may raise to stop it."""
    engine = ENGINES[simulation.players[batch.player].engine]
    engine.play(simulation.runs(batch), into, advanced)
    if (played := into["counts"].sum(axis=-1)).min() != simulation.horizon or played.max() != simulation.horizon:
        raise RuntimeError(
            f"the {engine.name} engine must count {simulation.horizon:,} decisions in each run, got {played.min():,} "
            "in one of them. Its play() must fill in every array it is given."
        )


def run_batch(simulation: Simulation, batch: Batch) -> tuple[Batch, Recorded]:
    """Return a batch with arrays of its runs: the work of another process or machine."""
    recorded = simulation.runs(batch).room()
    run_into(simulation, batch, recorded, lambda _: None)
    return batch, recorded
