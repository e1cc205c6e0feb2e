"""What every way to lay runs out on the device offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.gpu import device, state
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES
from corrbandits.simulation.engines.protocol import Runs

OF_PROBLEM, OF_RUN = state.KEPT_OWN + 8, state.AT + state.OF_RUN
"""Vectors of a `Problem`: the prior's and eight more; and how many numbers of a run every thread knows."""

OWN_REGISTERS = 128
"""Of a thread where runs differ, whatever the number of arms: a kind of rule is compiled once, and a game is the same
bit for bit whatever games are beside it."""


@dataclass(frozen=True)
class Shape(ABC):
    """The kernel of a kind of rule for so many arms and decisions."""

    rule: int
    arms: int
    """The most that a run has."""

    horizon: int
    differ: bool = field(default=False, kw_only=True)
    """Whether each run plays a problem of its own, or all the same."""

    @abstractmethod
    def covariance_of(self, belief: Any) -> Array:
        """Return the prior covariance, as the kernel reads it."""

    @abstractmethod
    def numbers(self) -> int:
        """Return how many numbers are kept of each run: at least as many as `kept` makes room for."""

    @abstractmethod
    def kept(self, runs: int) -> Any:
        """Return room for what is kept of so many runs."""

    @abstractmethod
    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Play some steps of so many runs."""

    def sides(self, belief: Any) -> tuple[int, int]:
        """Return the last two sides of the grid that the arms lie on, if it matters."""
        return 1, 1

    def given(self, games: Sequence[Runs]) -> tuple[Any, ...]:
        """Return what the kernel is given of the beliefs beside the problems."""
        return ()

    def block(self) -> Hashable:
        """Return what kind of block plays; games that differ are at once where it is the kind that each has alone."""
        return None

    def registers(self, threads: int, shared: int, least: int = 0) -> int:
        """Return how many registers a thread may have, if the threads of a block share so many bytes.

        So many that as many blocks fit side by side as shared memory allows; fewer blocks fit if a thread is to have
        at least so many.
        """
        alone = device.REGISTERS // threads // 8 * 8
        if self.differ:
            return min(OWN_REGISTERS, alone)
        blocks = max(1, min(device.threads_at_once() // threads, (device.shared_limit() + 1024) // (shared + 1024)))
        return min(255, alone, max(64, least, device.REGISTERS // (blocks * threads) // 8 * 8))

    def of_problem(self) -> int:
        """Return how many numbers a problem has: the prior covariance, and some vectors."""
        return self.prior_numbers() + OF_PROBLEM * self.arms

    def common(self) -> int:
        """Return how many numbers serve all runs: the problem, if it is one, and what the rule looks up."""
        found = table() if self.rule == INDICES else None
        return (0 if self.differ else self.of_problem()) + (found.g.size + found.log_n.size if found else 0)

    def prior_numbers(self) -> int:
        """Return how many numbers say how arms are correlated, and how their mean rewards are drawn."""
        return 0

    def root_numbers(self) -> int:
        """Return the size of a root of the prior covariance, by which correlated mean rewards are drawn."""
        return self.arms**2 if self.rule == DRAWS else 0


def of_runs(runs: int) -> tuple[Any, Any]:
    """Return room for the numbers of so many runs: whole ones, and others."""
    return device.room(runs, state.AT, of=np.int64), device.room(runs, state.OF_RUN)
