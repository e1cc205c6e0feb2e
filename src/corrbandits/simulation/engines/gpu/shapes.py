"""How runs are laid out on the device: which kernel, how many blocks and threads, what is kept between launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Implicit, Vague
from corrbandits.simulation.engines.compiled.mixed_state import told_of
from corrbandits.simulation.engines.gpu import apart, device, joint, mixed, mixed_state, state
from corrbandits.simulation.engines.gpu.refusing import PRINTED, rule_of
from corrbandits.simulation.engines.gpu.shape_base import OF_RUN, Shape, of_runs
from corrbandits.simulation.engines.gpu.stacking import stacked
from corrbandits.simulation.engines.gpu.state import Kept
from corrbandits.simulation.engines.gpu.team_shapes import InTeams, OnGrid
from corrbandits.simulation.engines.protocol import Runs

THREADS, LEAST_THREADS, PRINTED_REGISTERS = 128, 32, 128
"""Of a block that plays a run in each thread, fewer where the beliefs of so many do not fit into shared memory, but a
warp at least; of a thread that looks for the largest printed index, as measured on an H200."""


@final
class Jointly(Shape):
    """A block of threads plays a run."""

    def covariance_of(self, belief: Any) -> Array:
        """Return half the covariance by distance."""
        return state.halved(belief.covariance)

    def numbers(self) -> int:
        """Return the size of half the covariance and some vectors."""
        return self._half() + state.KEPT_OWN * self.arms + OF_RUN

    def prior_numbers(self) -> int:
        """Return the size of half the covariance, and of its root for draws."""
        return self._half() + self.root_numbers()

    def kept(self, runs: int) -> Kept:
        """Return room for covariances too."""
        return Kept(device.room(runs, self._half()), device.room(runs, state.KEPT_OWN, self.arms), *of_runs(runs))

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each run."""
        threads, shared = joint.threads_for(self.arms), 8 * joint.shared_numbers(self.arms)
        least = PRINTED_REGISTERS if self.rule == PRINTED else 0
        registers = self.registers(threads, shared, least)
        kernel = joint.joint_kernel(self.rule, differ=self.differ, registers=registers)
        device.launch(kernel, runs, threads, shared, arguments)

    def _half(self) -> int:
        return self.arms * (self.arms - 1) // 2


@final
@dataclass(frozen=True)
class Mixed(Shape):
    """A block of threads plays a run on a mixture."""

    parts: int

    def given(self, games: Sequence[Runs]) -> tuple[Any, ...]:
        """Return what was told, and the prior of every part."""
        beliefs: list[Any] = [game.belief for game in games]
        if not self.differ:
            return told_of(beliefs[0]), mixed_state.prior_of(beliefs[0])
        return stacked(map(told_of, beliefs), len(beliefs)), stacked(map(mixed_state.prior_of, beliefs), len(beliefs))

    def covariance_of(self, belief: Any) -> Array:
        """Return nothing: the kernel is given the prior of every part beside the problem."""
        return np.asarray(state.bare(1))

    def numbers(self) -> int:
        """Return the size of all parts."""
        each = self._covariances() + mixed_state.BLOCK * (self.arms + 1) + 4 * self.arms + mixed_state.ENTRIES
        return self.parts * each + mixed_state.AT + mixed_state.OF_RUN

    def prior_numbers(self) -> int:
        """Return the size of the covariances of all parts, and of what is told of each."""
        return self.parts * (self._covariances() + 7)

    def _covariances(self) -> int:
        return self.arms * (self.arms + 1) // 2

    def kept(self, runs: int) -> mixed_state.Kept:
        """Return room for all parts."""
        n, parts, late = self.arms, self.parts, mixed_state.BLOCK
        return mixed_state.Kept(
            S=device.room(runs, parts * self._covariances()),
            rows=device.room(runs, parts * late * n),
            c=device.room(runs, parts * late),
            vectors=device.room(runs, 4 * parts * n),
            of_part=device.room(runs, parts * mixed_state.ENTRIES),
            at=device.room(runs, mixed_state.AT, of=np.int64),
            of_run=device.room(runs, mixed_state.OF_RUN),
        )

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch a block for each run."""
        _, threads, resident = self.block()
        shared = self._shared(vectors=resident)
        registers = self.registers(threads, shared)
        kernel = mixed.mixed_kernel(self.rule, resident=resident, differ=self.differ, registers=registers)
        device.launch(kernel, runs, threads, shared, arguments)

    def block(self) -> tuple[int, int, bool]:
        """Return the number of parts, that of threads, and whether these share the vectors of all parts."""
        threads = mixed_state.threads_for(self.arms, self.parts, differ=self.differ)
        return self.parts, threads, self._shared(vectors=True) <= device.shared_limit()

    def _shared(self, *, vectors: bool) -> int:
        return 8 * mixed.shared_numbers(self.arms, self.parts, vectors=vectors, differ=self.differ)


@final
class Apart(Shape):
    """A thread plays a run."""

    def covariance_of(self, belief: Any) -> Array:
        """Return nothing: arms are independent."""
        return np.asarray(state.bare())

    def numbers(self) -> int:
        """Return the size of some vectors."""
        return apart.VECTORS * self.arms + OF_RUN

    def kept(self, runs: int) -> Kept:
        """Return room for beliefs and counts, the arms of neighbouring runs side by side."""
        return Kept(device.room(1, 1), device.room(apart.VECTORS, self.arms, runs), *of_runs(runs))

    def launch(self, arguments: tuple[Any, ...], runs: int) -> None:
        """Launch blocks whose threads share memory for their beliefs, if so few as a warp can."""
        each, threads, resident = self._each(), THREADS, self.block()
        while threads > LEAST_THREADS and each * threads > device.shared_limit():
            threads //= 2
        shared = each * threads * resident
        registers = self.registers(threads, shared)
        kernel = apart.apart_kernel(self.rule, resident=resident, differ=self.differ, registers=registers)
        device.launch(kernel, -(-runs // threads), threads, shared, arguments)

    def block(self) -> bool:
        """Return whether a warp can share its beliefs."""
        return self._each() * LEAST_THREADS <= device.shared_limit()

    def _each(self) -> int:
        return 8 * apart.vectors_of(self.rule) * self.arms


def shape_of(runs: Runs) -> Shape:
    """Return how these runs are laid out."""
    belief, size = runs.belief, (rule_of(runs.policy, runs.belief), runs.belief.arms, runs.horizon)
    if isinstance(belief, Vague):
        return Mixed(*size, len(belief.parts))
    if isinstance(belief, Implicit):
        return OnGrid(*size)
    if not isinstance(belief, Correlated):
        return Apart(*size)
    fits = 8 * joint.shared_numbers(belief.arms) <= device.shared_limit()
    return (Jointly if fits else InTeams)(*size)
