"""Engines that play one run after the other, in blocks of steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.environments import Environment
from corrbandits.simulation.engines.protocol import Advanced, Engine, Recorded, Runs
from corrbandits.simulation.engines.walking import Walk

BLOCK = 1 << 14
"""A summary is made of blocks of at most this many decisions, which stay in the processor's cache."""


class Run(ABC):
    """One run of one policy: it goes on from where it stopped."""

    initialisation: int
    """How many steps of initialisation there were."""

    block: int
    """How many steps to make between two calls of `advanced`: they take some hundredths of a second."""

    @abstractmethod
    def advance(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise; write the arms and the rewards."""

    @abstractmethod
    def finish(self) -> None:
        """Refuse, at the end, what exceeded the doubles on the way."""


class OneByOne(Engine):
    """Plays one run after the other."""

    @abstractmethod
    def begin(self, runs: Runs, rng: np.random.Generator) -> Run:
        """Return one of the runs before its first decision; `rng` is for the policy's random choices."""

    def play(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play the runs in order."""
        record = _in_full if runs.times is None else _in_summary
        with one_thread():
            for row, (for_environment, for_policy) in enumerate(runs.generators()):
                run = self.begin(runs, for_policy)
                record(runs, run, for_environment, {name: array[row] for name, array in into.items()}, advanced)
                run.finish()
                into["initialisation"][row] = run.initialisation


def refuse_beyond(*arrays: Array) -> None:
    """Refuse means or sums of rewards beyond the doubles, as a belief does."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise OverflowError(
            "rewards, their sums or means exceed what a double can hold; measure them in a larger unit."
        )


def _in_full(runs: Runs, run: Run, rng: np.random.Generator, into: Recorded, advanced: Advanced) -> None:
    """Play a run and record every decision."""
    for first, last in _blocks(runs.horizon, run.block):
        noise = runs.environment.noise(rng, last - first)
        run.advance(noise, into["arms"][first:last], into["rewards"][first:last])
        advanced(last - first)
    into["counts"][:] = np.bincount(into["arms"], minlength=runs.environment.arms)
    if runs.moves is not None:
        into["moves"][:], into["move_cost"][:] = Walk(runs.moves, runs.environment.coordinates).along(into["arms"])
    if "regret" in into:
        _losses(runs.environment, into["arms"], 0, into["regret"])
        np.cumsum(into["regret"], out=into["regret"])


def _in_summary(runs: Runs, run: Run, rng: np.random.Generator, into: Recorded, advanced: Advanced) -> None:
    """Play a run and record its regret, and its moves if they are asked for, at the chosen times."""
    assert runs.times is not None
    counts, size = into["counts"], min(BLOCK, run.block, runs.horizon)
    walk = None if runs.moves is None else Walk(runs.moves, runs.environment.coordinates)
    arms: Any = np.empty(size, dtype=np.int32)
    rewards, regret = np.empty(size), np.zeros(size + 1)
    counts[:] = 0
    for first, last in _blocks(runs.horizon, size):
        n = last - first
        run.advance(runs.environment.noise(rng, n), arms[:n], rewards[:n])
        counts += np.bincount(arms[:n], minlength=counts.size)
        _losses(runs.environment, arms[:n], first, regret[1 : n + 1])
        np.cumsum(regret[: n + 1], out=regret[: n + 1])  # one after the other: the bits of a sum over all times
        _record(runs.times, first, last, regret, into["regret"])
        regret[0] = regret[n]
        if walk is not None:
            for name, so_far in zip(("moves", "move_cost"), walk.along(arms[:n]), strict=True):
                _record(runs.times, first, last, np.append(0, so_far), into[name])
        advanced(n)


def _losses(environment: Environment, arms: Integers, done: int, out: Array) -> None:
    """Write how much less than the best arm's of its time the mean reward of each arm taken is."""
    if environment.changes:
        out[:] = environment.losses(arms, done + 1)
    else:
        np.take(environment.gaps, arms, out=out)


def _record(times: Integers, first: int, last: int, so_far: Array, into: Array) -> None:
    """Write a sum at those of the times that lie in a block; so_far[i] is that after `first` + i decisions."""
    begun, ended = np.searchsorted(times, (first, last), side="right")
    into[begun:ended] = so_far[times[begun:ended] - first]


def _blocks(horizon: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, horizon, size):
        yield first, min(first + size, horizon)
