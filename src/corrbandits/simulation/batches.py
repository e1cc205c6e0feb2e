"""Batches of runs: what a worker is given, how it plays them, what it keeps.

Run k draws from `SeedSequence(seed, spawn_key=(k,))`, with one stream for the environment and one for the policy,
so it is the same whatever runs beside it: other runs, other policies, other threads, other machines.

    kept             shape      meaning
    arms, rewards    (.., T)    every decision, if all is recorded
    regret           (.., K)    cumulative regret at the K chosen times, if a summary is
    counts           (.., N)    how often each arm was taken
    initialisation   (..)       steps of initialisation
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.policies import Policy
from corrbandits.simulation.engines.players import Player, begin, steps_between_looks

Kept = dict[str, Any]

MOST_BATCHES = 512
"""Runs of a policy are divided into at most this many batches."""

BLOCK = 1 << 14
"""A summary is made of blocks of at most this many decisions, which stay in the processor's cache."""


@final
@dataclass(frozen=True)
class Problem:
    """What every worker must know."""

    players: tuple[tuple[Policy, Belief, bool], ...]
    """The policies, the beliefs they start from, and whether the compiled engine plays them."""

    environment: Environment
    horizon: int
    seed: int
    times: Integers | None
    """When the regret is recorded; None if every decision is."""


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


def batches(problem: Problem, runs: int) -> list[Batch]:
    """Return all the work, in parts."""
    size = -(-runs // MOST_BATCHES)
    return [
        Batch(player, first, min(first + size, runs))
        for first in range(0, runs, size)
        for player in range(len(problem.players))
    ]


def runs_in(work: Iterable[Batch]) -> int:
    """Return how many runs these are."""
    return sum(batch.last - batch.first for batch in work)


def part(kept: Kept, batch: Batch) -> Kept:
    """Return the rows of a batch, to write into."""
    return {name: array[batch.rows] for name, array in kept.items()}


def room(problem: Problem, *shape: int) -> Kept:
    """Return arrays to keep runs in."""
    kept: Kept = {
        "counts": np.zeros((*shape, problem.environment.arms), dtype=np.int64),
        "initialisation": np.zeros(shape, dtype=np.int64),
    }
    if problem.times is not None:
        return {"regret": np.empty((*shape, problem.times.size)), **kept}
    arms = np.empty((*shape, problem.horizon), dtype=np.int32)
    return {"arms": arms, "rewards": np.empty(arms.shape), **kept}


def play(problem: Problem, batch: Batch, kept: Kept, advanced: Callable[[int], None]) -> None:
    """Play a batch into arrays of its runs; `advanced` hears of every block of steps, and may raise to stop."""
    policy, belief, compiled = problem.players[batch.player]
    play_run = _play_in_full if problem.times is None else _play_in_summary
    with one_thread():
        for row, run in enumerate(range(batch.first, batch.last)):
            for_environment, for_policy = np.random.SeedSequence(problem.seed, spawn_key=(run,)).spawn(2)
            player = begin(policy, belief, problem.environment, np.random.default_rng(for_policy), compiled)
            of_run = {name: array[row] for name, array in kept.items()}
            play_run(problem, player, np.random.default_rng(for_environment), of_run, advanced)
            player.finish()
            kept["initialisation"][row] = player.initialisation


def played(problem: Problem, batch: Batch) -> tuple[Batch, Kept]:
    """Return a batch with arrays of its runs: the work of another process or machine."""
    kept = room(problem, batch.last - batch.first)
    play(problem, batch, kept, lambda _: None)
    return batch, kept


def _play_in_full(
    problem: Problem, player: Player, rng: np.random.Generator, kept: Kept, advanced: Callable[[int], None]
) -> None:
    for first, last in _blocks(problem.horizon, steps_between_looks(player)):
        noise = problem.environment.noise(rng, last - first)
        player.play(noise, kept["arms"][first:last], kept["rewards"][first:last])
        advanced(last - first)
    kept["counts"][:] = np.bincount(kept["arms"], minlength=problem.environment.arms)


def _play_in_summary(
    problem: Problem, player: Player, rng: np.random.Generator, kept: Kept, advanced: Callable[[int], None]
) -> None:
    assert problem.times is not None
    gaps, counts, size = problem.environment.gaps, kept["counts"], min(BLOCK, steps_between_looks(player))
    size = min(size, problem.horizon)
    arms: Any = np.empty(size, dtype=np.int32)
    rewards, regret = np.empty(size), np.zeros(size + 1)
    counts[:] = 0
    for first, last in _blocks(problem.horizon, size):
        n = last - first
        player.play(problem.environment.noise(rng, n), arms[:n], rewards[:n])
        counts += np.bincount(arms[:n], minlength=counts.size)
        np.take(gaps, arms[:n], out=regret[1 : n + 1])
        np.cumsum(regret[: n + 1], out=regret[: n + 1])  # one after the other: the bits of a sum over all times
        _record(problem.times, first, last, regret, kept["regret"])
        regret[0] = regret[n]
        advanced(n)


def _record(times: Integers, first: int, last: int, regret: Array, into: Array) -> None:
    """Note the regret at those of the times that lie in a block; regret[i] is that after `first` + i decisions."""
    begun, ended = np.searchsorted(times, (first, last), side="right")
    into[begun:ended] = regret[times[begun:ended] - first]


def _blocks(horizon: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, horizon, size):
        yield first, min(first + size, horizon)
