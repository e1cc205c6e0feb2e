"""How runs are laid out on the device: which kernel, how many blocks and threads, what is kept between launches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Implicit, Vague
from corrbandits.simulation.engines.compiled.mixed_state import Told
from corrbandits.simulation.engines.gpu import apart, device, joint, mixed, mixed_state, state, strips, team
from corrbandits.simulation.engines.gpu.lanes import LANES
from corrbandits.simulation.engines.gpu.refusing import DRAWS, PRINTED
from corrbandits.simulation.engines.gpu.state import Kept
from corrbandits.simulation.engines.gpu.team_state import KeptByTeams
from corrbandits.simulation.engines.protocol import Runs

THREADS, THREADS_OF_TEAM = 128, 256
"""Of a block that plays a run in each thread, fewer where the beliefs of so many do not fit into shared memory; and of
one that plays a run or a part of one."""


REGISTERS, PRINTED_REGISTERS, TEAM_REGISTERS, GRID_REGISTERS = 65_536, 128, 128, 40
"""Of a multiprocessor; of a thread that looks for the largest printed index, of one in a team, and of one on a grid
without a matrix: as measured on an H200."""


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
        """Return how many numbers are kept of each run."""

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
        """Return how many numbers serve all runs: the problem's, and a root of the prior covariance for draws."""
        return self.numbers() + (self.arms**2 if self.rule == DRAWS else 0)


@final
class Jointly(Shape):
    """A block of threads plays a run."""

    def covariance_of(self, belief: Any) -> Array:
        """Return half the covariance by distance."""
        return state.halved(belief.covariance)

    def numbers(self) -> int:
        """Return the size of half the covariance and some vectors."""
        return self.arms * (self.arms - 1) // 2 + state.KEPT_OWN * self.arms

    def kept(self, runs: int) -> Kept:
        """Return room for covariances too."""
        n = self.arms
        return Kept(device.room(runs, n * (n - 1) // 2), device.room(runs, state.KEPT_OWN, n), *_of_runs(runs))

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each run."""
        threads, shared = joint.threads_for(self.arms), 8 * joint.shared_numbers(self.arms)
        least = PRINTED_REGISTERS if self.rule == PRINTED else 0
        kernel = joint.joint_kernel(self.rule, registers=registers_for(threads, shared, least))
        device.launch(kernel, runs, threads, shared, arguments)


@final
class InTeams(Shape):
    """Some blocks play a run: one each if there are many runs, else as many as the device has place for at once."""

    def covariance_of(self, belief: Any) -> Array:
        """Return half the covariance in strips."""
        return strips.in_strips(belief.covariance)

    def numbers(self) -> int:
        """Return the size of half the covariance, of the sums over it and of some vectors."""
        rows, slots = self._sums()
        return (rows + slots) * strips.WIDE + rows + (state.KEPT_OWN + team.waiting_for(self.rule) + 3) * self.arms

    def kept(self, runs: int) -> KeptByTeams:
        """Return room for covariances, streaks that wait, and the sums over them."""
        rows, slots = self._sums()
        half = device.room(runs, rows * strips.WIDE)
        blocks = blocks_of_team(runs, strips.chunks_of(self.arms) * LANES, TEAM_REGISTERS)
        sums = device.room(runs, rows), device.room(runs, slots, strips.WIDE)
        return _kept_by_teams(half, self.arms, team.waiting_for(self.rule), sums, blocks)

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch all teams."""
        _launch_teams(self.rule, arguments, on_grid=False)

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
        return (self.horizon + state.KEPT_OWN + 3) * self.arms

    def kept(self, runs: int) -> KeptByTeams:
        """Return room for as many streaks as there are decisions."""
        nothing = device.room(runs, 1), device.room(runs, 1, 1)
        blocks = blocks_of_team(runs, self.arms, GRID_REGISTERS)
        return _kept_by_teams(device.room(runs, 1), self.arms, self.horizon, nothing, blocks)

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch all teams."""
        _launch_teams(self.rule, arguments, on_grid=True)


def blocks_of_team(runs: int, threads: int, registers: int) -> int:
    """Return how many blocks play a run, all runs at once, if there is work for so many threads of so many registers.

    >>> blocks_of_team(1000, 10**6, 128)
    1
    """
    at_once = device.processors() * (REGISTERS // (registers * THREADS_OF_TEAM))
    return max(1, min(at_once // runs, threads // THREADS_OF_TEAM))


def _kept_by_teams(half: Any, arms: int, waiting: int, sums: tuple[Any, Any], blocks: int) -> KeptByTeams:
    runs, long = half.shape[0], strips.strips_of(arms) * strips.WIDE
    return KeptByTeams(
        half,
        device.room(runs, arms, state.KEPT_OWN),
        *_of_runs(runs),
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


def _launch_teams(rule: int, arguments: tuple[Any, ...], *, on_grid: bool) -> None:
    """Launch the blocks of all teams; those of a larger one are there at once, for they wait for each other."""
    problem, steps, kept, record = arguments
    threads, (runs, _, blocks, _) = 4 if device.simulated() else THREADS_OF_TEAM, kept.best.shape
    kernel = team.team_kernel(rule, on_grid=on_grid, registers=GRID_REGISTERS if on_grid else TEAM_REGISTERS)
    begun = problem, steps, kept._replace(met=device.zeros(runs, 1)), record
    shared = 8 * team.shared_by_team(rule, threads)
    device.launch(kernel, runs * blocks, threads, shared, begun, together=blocks > 1)


@final
@dataclass(frozen=True)
class Mixed(Shape):
    """A block of threads plays a run on a mixture."""

    belief: Vague

    @cached_property
    def told(self) -> Told:
        """What the belief was told, on the device."""
        return self._uploaded[0]

    @cached_property
    def prior(self) -> mixed_state.Prior:
        """The prior of every part, on the device."""
        return self._uploaded[1]

    @cached_property
    def _uploaded(self) -> tuple[Told, mixed_state.Prior]:
        told, prior = map(device.uploaded, mixed_state.told_and_prior(self.belief))
        return told, prior

    def covariance_of(self, belief: Any) -> Array:
        """Return nothing: the kernel is given the prior of every part beside the problem."""
        return np.asarray(state.bare(1))

    def numbers(self) -> int:
        """Return the size of all parts."""
        n = self.arms
        each = n * (n + 1) // 2 + mixed_state.BLOCK * (n + 1) + 4 * n + mixed_state.ENTRIES
        return len(self.belief.parts) * each

    def kept(self, runs: int) -> mixed_state.Kept:
        """Return room for all parts."""
        n, parts, late = self.arms, self.told.ratios.size, mixed_state.BLOCK
        return mixed_state.Kept(
            S=device.room(runs, parts * n * (n + 1) // 2),
            rows=device.room(runs, parts * late * n),
            c=device.room(runs, parts * late),
            vectors=device.room(runs, 4 * parts * n),
            of_part=device.room(runs, parts * mixed_state.ENTRIES),
            at=device.room(runs, mixed_state.AT, of=np.int64),
            of_run=device.room(runs, mixed_state.OF_RUN),
        )

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each run."""
        size, threads = (self.arms, self.told.ratios.size), mixed_state.threads_for(self.arms, self.told.ratios.size)
        resident = 8 * mixed.shared_numbers(*size, vectors=True) <= device.shared_limit()
        shared = 8 * mixed.shared_numbers(*size, vectors=resident)
        kernel = mixed.mixed_kernel(self.rule, resident=resident, registers=registers_for(threads, shared))
        device.launch(kernel, runs, threads, shared, (*arguments, self.told, self.prior))


@final
class Apart(Shape):
    """A thread plays a run."""

    def covariance_of(self, belief: Any) -> Array:
        """Return nothing: arms are independent."""
        return np.asarray(state.bare())

    def numbers(self) -> int:
        """Return the size of some vectors."""
        return apart.VECTORS * self.arms

    def kept(self, runs: int) -> Kept:
        """Return room for beliefs and counts, the arms of neighbouring runs side by side."""
        return Kept(device.room(1, 1), device.room(apart.VECTORS, self.arms, runs), *_of_runs(runs))

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch blocks whose threads share memory for their beliefs, if so few as a warp can."""
        each = 8 * apart.vectors_of(self.rule) * self.arms
        threads = THREADS
        while threads > 32 and each * threads > device.shared_limit():
            threads //= 2
        resident = each * threads <= device.shared_limit()
        shared = each * threads * resident
        kernel = apart.apart_kernel(self.rule, resident=resident, registers=registers_for(threads, shared))
        device.launch(kernel, -(-runs // threads), threads, shared, arguments)


def _of_runs(runs: int) -> tuple[Any, Any]:
    return device.room(runs, state.AT, of=np.int64), device.room(runs, state.OF_RUN)


def registers_for(threads: int, shared: int, least: int = 0) -> int:
    """Return how many registers a thread may have so that as many blocks fit side by side as shared memory allows.

    Fewer blocks fit if each thread is to have at least so many.
    """
    blocks = max(1, min(2048 // threads, (device.shared_limit() + 1024) // (shared + 1024)))
    alone, side_by_side = (REGISTERS // (many * threads) // 8 * 8 for many in (1, blocks))
    return min(255, alone, max(64, least, side_by_side))


def shape_of(runs: Runs, rule: int) -> Shape:
    """Return how these runs are laid out."""
    arms, belief = runs.belief.arms, runs.belief
    if isinstance(belief, Vague):
        return Mixed(rule, arms, runs.horizon, belief)
    if isinstance(belief, Implicit):
        return OnGrid(rule, arms, runs.horizon)
    if not isinstance(belief, Correlated):
        return Apart(rule, arms, runs.horizon)
    fits = 8 * joint.shared_numbers(arms) <= device.shared_limit()
    return (Jointly if fits else InTeams)(rule, arms, runs.horizon)
