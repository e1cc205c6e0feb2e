"""How runs are laid out on the device: which kernel, how many blocks and threads, what is kept between launches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits.belief import Correlated
from corrbandits.simulation.engines.gpu import apart, device, joint, refusing, state, whole, whole_carry
from corrbandits.simulation.engines.gpu.lanes import scratch_size
from corrbandits.simulation.engines.gpu.refusing import PRINTED
from corrbandits.simulation.engines.gpu.state import Kept
from corrbandits.simulation.engines.protocol import Runs

THREADS, THREADS_OF_WHOLE = 128, 512
"""Of a block that plays a run in each thread, fewer where the beliefs of so many do not fit into shared memory; and of
one that plays a part of a run."""


REGISTERS, PRINTED_REGISTERS = 65_536, 128
"""Of a multiprocessor; and of a thread that looks for the largest printed index, as measured on an H200."""


@dataclass(frozen=True)
class Shape(ABC):
    """The kernel of a kind of rule for so many arms."""

    rule: int
    arms: int

    @abstractmethod
    def kept(self, runs: int) -> Kept:
        """Return room for what is kept of so many runs."""

    @abstractmethod
    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Play some steps of so many runs."""


@final
class Jointly(Shape):
    """A block of threads plays a run."""

    def kept(self, runs: int) -> Kept:
        """Return room for covariances too."""
        n = self.arms
        own = device.room(runs, state.KEPT_OWN, n)
        return Kept(device.room(runs, n * (n - 1) // 2), own, *_of_runs(runs), *_nothing())

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each run."""
        arms, threads = self.arms, joint.threads_for(self.arms)
        resident = 8 * joint.shared_numbers(arms, self.rule, covariance=True) <= device.shared_limit()
        shared = 8 * joint.shared_numbers(arms, self.rule, covariance=resident)
        least = PRINTED_REGISTERS if self.rule == PRINTED else 0
        kernel = joint.joint_kernel(self.rule, resident=resident, registers=registers_for(threads, shared, least))
        device.launch(kernel, runs, threads, shared, arguments)


@final
class Whole(Shape):
    """All threads of the device play one run."""

    def kept(self, runs: int) -> Kept:
        """Return room for one run."""
        n, chunks = self.arms, whole_carry.chunks_of(self.arms)
        passed = device.room(chunks * whole_carry.tiles_of(n) * whole_carry.passed_by_tile())
        own = device.room(1, state.KEPT_OWN, n)
        best = device.room(2, device.processors(), 2)
        work = device.room(2, 2 * n), device.room(chunks, n), passed, best, device.zeros(1)
        return Kept(device.room(1, n * (n - 1) // 2), own, *_of_runs(1), *work)

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each processor, so that all are there at once."""
        problem, steps, kept, record = arguments
        threads = 4 if device.simulated() else THREADS_OF_WHOLE
        kernel = whole.whole_kernel(self.rule, registers=REGISTERS // THREADS_OF_WHOLE)
        begun = problem, steps, kept._replace(met=device.zeros(1)), record
        device.launch(kernel, device.processors(), threads, 8 * scratch_size(threads), begun)


@final
class Apart(Shape):
    """A thread plays a run."""

    def kept(self, runs: int) -> Kept:
        """Return room for beliefs and counts, the arms of neighbouring runs side by side."""
        return Kept(device.room(1, 1), device.room(apart.VECTORS, self.arms, runs), *_of_runs(runs), *_nothing())

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


def _nothing() -> tuple[Any, ...]:
    return device.room(1, 1), device.room(1, 1), device.room(1), device.room(1, 1, 1), device.zeros(1)


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
    arms = runs.belief.arms
    if not isinstance(runs.belief, Correlated):
        return Apart(rule, arms)
    return (Jointly if arms <= refusing.MOST_JOINT else Whole)(rule, arms)
