"""What every way to lay runs out on the device offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.gpu import device, state
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES

OF_PROBLEM, OF_RUN = state.KEPT_OWN + 8, state.AT + state.OF_RUN
"""Vectors of a `Problem`: the prior's and eight more; and how many numbers of a run every thread knows."""


@dataclass(frozen=True)
class Shape(ABC):
    """The kernel of a kind of rule for so many arms and decisions."""

    rule: int
    arms: int
    horizon: int

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

    def common(self) -> int:
        """Return how many numbers serve all runs: the prior covariance, some vectors, and what the rule looks up."""
        found = table() if self.rule == INDICES else None
        return self.prior_numbers() + OF_PROBLEM * self.arms + (found.g.size + found.log_n.size if found else 0)

    def prior_numbers(self) -> int:
        """Return how many numbers say how arms are correlated, and how their mean rewards are drawn."""
        return 0

    def root_numbers(self) -> int:
        """Return the size of a root of the prior covariance, by which correlated mean rewards are drawn."""
        return self.arms**2 if self.rule == DRAWS else 0


def of_runs(runs: int) -> tuple[Any, Any]:
    """Return room for the numbers of so many runs: whole ones, and others."""
    return device.room(runs, state.AT, of=np.int64), device.room(runs, state.OF_RUN)
