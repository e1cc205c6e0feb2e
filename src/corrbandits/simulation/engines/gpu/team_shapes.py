"""How runs are laid out that teams of blocks play: on many correlated arms, and on a grid without a matrix."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import device, state, strips, team
from corrbandits.simulation.engines.gpu.lanes import LANES
from corrbandits.simulation.engines.gpu.shape_base import OF_RUN, Shape, of_runs
from corrbandits.simulation.engines.gpu.team_state import KeptByTeams

THREADS_OF_TEAM, TEAM_REGISTERS, GRID_REGISTERS = 256, 128, 40
"""Threads of a block that plays a run or a part of one; registers of a thread in a team, and of one on a grid without a
matrix, as measured on an H200."""


@final
class InTeams(Shape):
    """Some blocks play a run: one each if there are many runs, else as many as the device has place for at once."""

    def covariance_of(self, belief: Any) -> Array:
        """Return half the covariance in strips."""
        return strips.in_strips(belief.covariance)

    def numbers(self) -> int:
        """Return the size of half the covariance, of the sums over it and of some vectors."""
        rows, slots = self._sums()
        return (rows + slots) * strips.WIDE + rows + _of_team(self.arms, team.waiting_for(self.rule), self._threads())

    def prior_numbers(self) -> int:
        """Return the size of half the covariance, and of its root for draws."""
        return self._sums()[0] * strips.WIDE + self.root_numbers()

    def kept(self, runs: int) -> KeptByTeams:
        """Return room for covariances, streaks that wait, and the sums over them."""
        rows, slots = self._sums()
        half = device.room(runs, rows * strips.WIDE)
        blocks = blocks_of_team(runs, self._threads(), TEAM_REGISTERS)
        sums = device.room(runs, rows), device.room(runs, slots, strips.WIDE)
        return _kept_by_teams(half, self.arms, team.waiting_for(self.rule), sums, blocks)

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch all teams."""
        _launch_teams(self, arguments, on_grid=False)

    def _threads(self) -> int:
        return strips.chunks_of(self.arms) * LANES

    def _sums(self) -> tuple[int, int]:
        n = self.arms
        rows = strips.first_row(strips.strips_of(n), strips.whole_rows(n))
        return rows, strips.chunks_of(n) + strips.strips_of(n)


@final
class OnGrid(Shape):
    """Some blocks play a run on a grid of so many arms that there is no matrix: only streaks are kept, all of them."""

    def covariance_of(self, belief: Any) -> Array:
        """Return the covariance of the first arm with every arm."""
        return np.asarray(belief.layout.row(0))

    def sides(self, belief: Any) -> tuple[int, int]:
        """Return the last two sides of the grid."""
        _, height, width = (1, 1, *belief.layout.shape)[-3:]
        return height, width

    def numbers(self) -> int:
        """Return the size of as many streaks as there are decisions, and of some vectors."""
        return _of_team(self.arms, self.horizon, self.arms)

    def prior_numbers(self) -> int:
        """Return the size of the first arm's row of the covariance."""
        return self.arms

    def kept(self, runs: int) -> KeptByTeams:
        """Return room for as many streaks as there are decisions."""
        nothing = device.room(runs, 1), device.room(runs, 1, 1)
        blocks = blocks_of_team(runs, self.arms, GRID_REGISTERS)
        return _kept_by_teams(device.room(runs, 1), self.arms, self.horizon, nothing, blocks)

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch all teams."""
        _launch_teams(self, arguments, on_grid=True)


def blocks_of_team(runs: int, threads: int, registers: int) -> int:
    """Return how many blocks play a run, all runs at once, if there is work for so many threads of so many registers.

    >>> blocks_of_team(1000, 10**6, 128)
    1
    """
    at_once = device.blocks_at_once(THREADS_OF_TEAM, registers)
    return max(1, min(at_once // runs, threads // THREADS_OF_TEAM))


def _of_team(arms: int, waiting: int, threads: int) -> int:
    """Return how many numbers of `_kept_by_teams` a run has beside what is kept of S, with work for so many threads."""
    streaks = (waiting + 1) * strips.strips_of(arms) * strips.WIDE + waiting
    compared = 2 * -(-arms // LANES) + 4 * max(1, threads // THREADS_OF_TEAM) + arms // 16 + 4
    return streaks + compared + state.KEPT_OWN * arms + OF_RUN


def _kept_by_teams(half: Any, arms: int, waiting: int, sums: tuple[Any, Any], blocks: int) -> KeptByTeams:
    runs, long = half.shape[0], strips.strips_of(arms) * strips.WIDE
    return KeptByTeams(
        half,
        device.room(runs, arms, state.KEPT_OWN),
        *of_runs(runs),
        G=device.room(runs, waiting + 1, long),
        by_row=sums[0],
        by_column=sums[1],
        sums=device.room(runs, 2, -(-arms // LANES)),
        best=device.room(runs, 2, blocks, 2),
        met=device.zeros(runs, 1),
        found=device.zeros(runs, 1),
        likely=device.room(runs, arms // 16 + 2, of=np.int64),
        moved=device.room(runs, waiting),
    )


def _launch_teams(shape: Shape, arguments: tuple[Any, ...], *, on_grid: bool) -> None:
    """Launch the blocks of all teams; those of a larger one are there at once, for they wait for each other."""
    problem, steps, kept, record = arguments
    threads, (runs, _, blocks, _) = 4 if device.simulated() else THREADS_OF_TEAM, kept.best.shape
    registers = GRID_REGISTERS if on_grid else TEAM_REGISTERS
    kernel = team.team_kernel(shape.rule, on_grid=on_grid, differ=shape.differ, registers=registers)
    begun = problem, steps, kept._replace(met=device.zeros(runs, 1)), record
    shared = 8 * team.shared_by_team(shape.rule, threads)
    device.launch(kernel, runs * blocks, threads, shared, begun, together=blocks > 1)
