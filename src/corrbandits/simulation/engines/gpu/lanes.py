"""What the threads of a block find out together.

A block first compares within its warps, whose threads see each other's registers, then between them, through
`scratch`. The simulator has no warps: there a warp is one thread.

Every function here must be called by all threads of a block. The scratch has two halves, used in turn, so that one
barrier is enough: who writes to a half has passed the barrier after which all have read it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, part, pure

LANES = 1 if SIMULATED else 32
"""Threads of a warp."""

PARTS = 1 if SIMULATED else 4
"""How many threads share the terms of one arm, where there are many terms."""

KINDS = 2
"""How many numbers a thread may compare at once."""

_EVERY = 0xFFFFFFFF


@pure
def scratch_size(threads: int) -> int:
    """Return how many numbers a block of so many threads needs to compare.

    >>> scratch_size(LANES)
    4
    """
    return 2 * KINDS * (threads // LANES)


if SIMULATED:

    @part
    def meet_in_warp() -> None:
        """Wait for no other thread."""

    @part
    def sum_of_warp(value: float) -> float:
        """Return the sum over the one thread of a warp."""
        return value

    @part
    def most_of_warp(value: float) -> float:
        """Return the largest value of the one thread of a warp."""
        return value

    @part
    def first_of_warp(value: float, most: float) -> int:
        """Return the number of the one thread of a warp."""
        return int(cuda.threadIdx.x)

    @part
    def write_rows(rows: Array, lane: int, target: Array, here: int) -> None:
        """Write the sum of each row over the one thread of a warp."""
        for row in range(rows.size):
            target[here + row] = rows[row]

    @part
    def sum_of_parts(value: float) -> float:
        """Return the sum over the one part of an arm's terms."""
        return value

else:

    @part
    def meet_in_warp() -> None:
        """Wait for the threads of a warp; then all see what any has written."""
        cuda.syncwarp()

    @part
    def sum_of_warp(value: float) -> float:
        """Return the sum over the threads of a warp."""
        step = LANES // 2
        while step > 0:
            value += cuda.shfl_xor_sync(_EVERY, value, step)
            step >>= 1
        return value

    @part
    def most_of_warp(value: float) -> float:
        """Return the largest value of the threads of a warp."""
        step = LANES // 2
        while step > 0:
            other = cuda.shfl_xor_sync(_EVERY, value, step)
            if other > value:
                value = other
            step >>= 1
        return value

    @part
    def first_of_warp(value: float, most: float) -> int:
        """Return the number of the first thread whose value is the largest; any thread's if none is a number."""
        first = cuda.ffs(cuda.ballot_sync(_EVERY, value == most)) - 1
        return int(cuda.threadIdx.x // LANES * LANES + max(first, 0))

    @part
    def halve(rows: Array, half: int, lane: int, apart: int) -> None:
        """Add up pairs of threads: one goes on with the first half of these rows, the other with the second."""
        upper = lane & apart > 0
        for row in range(half):
            low, high = rows[row], rows[row + half]
            kept, given = (high, low) if upper else (low, high)
            rows[row] = kept + cuda.shfl_xor_sync(_EVERY, given, apart)

    @part
    def write_rows(rows: Array, lane: int, target: Array, here: int) -> None:
        """Write the sum of each of eight rows over the threads of a warp, four of which end with each row."""
        halve(rows, 4, lane, 16)
        halve(rows, 2, lane, 8)
        halve(rows, 1, lane, 4)
        value = rows[0] + cuda.shfl_xor_sync(_EVERY, rows[0], 2)
        value += cuda.shfl_xor_sync(_EVERY, value, 1)
        if lane % 4 == 0:
            target[here + lane // 4] = value

    @part
    def sum_of_parts(value: float) -> float:
        """Return the sum over the parts of an arm's terms, which lie `LANES // PARTS` threads apart."""
        value += cuda.shfl_xor_sync(_EVERY, value, 8)
        return float(value + cuda.shfl_xor_sync(_EVERY, value, 16))


@part
def sum_and_most(value: float, other: float, scratch: Array, turn: Any) -> tuple[float, float]:
    """Return the sum of one value and the largest of another, over all threads."""
    return sum_and_most_of(value, other, cuda.blockDim.x // LANES, scratch, turn)


@part
def sum_and_most_of(value: float, other: float, warps: int, scratch: Array, turn: Any) -> tuple[float, float]:
    """Return the sum of one value and the largest of another, over the threads of the first warps."""
    value, other = sum_of_warp(value), most_of_warp(other)
    here = half_of(turn)
    exchange(value, other, scratch, here, warps)
    value, other = 0.0, -np.inf
    for warp in range(warps):
        value += scratch[here + warp]
        if scratch[here + warps + warp] > other:
            other = scratch[here + warps + warp]
    return value, other


@part
def first_largest(value: float, scratch: Array, turn: Any) -> tuple[float, int]:
    """Return the largest value, and the number of the first thread that has it."""
    return first_largest_of(value, cuda.blockDim.x // LANES, scratch, turn)


@part
def first_largest_of(value: float, warps: int, scratch: Array, turn: Any) -> tuple[float, int]:
    """Return the largest value of the first warps, and the number of the first thread that has it."""
    most = most_of_warp(value)
    arm = first_of_warp(value, most)
    here = half_of(turn)
    exchange(most, float(arm), scratch, here, warps)
    most, arm = scratch[here], int(scratch[here + warps])
    for warp in range(1, warps):
        if scratch[here + warp] > most:
            most, arm = scratch[here + warp], int(scratch[here + warps + warp])
    return most, arm


@part
def half_of(turn: Any) -> int:
    """Return where the half of the scratch begins whose turn it is."""
    turn[0] = 1 - turn[0]
    return int(turn[0] * KINDS * (cuda.blockDim.x // LANES))


@part
def exchange(value: float, other: float, scratch: Array, here: int, warps: int) -> None:
    """Write what each of the first warps has found, and wait for all."""
    warp = cuda.threadIdx.x // LANES
    if cuda.threadIdx.x % LANES == 0 and warp < warps:
        scratch[here + warp] = value
        scratch[here + warps + warp] = other
    cuda.syncthreads()
