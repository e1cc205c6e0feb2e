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
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, part

LANES = 1 if SIMULATED else 32
"""Threads of a warp."""

KINDS = 2
"""How many numbers a thread may compare at once."""

_EVERY = 0xFFFFFFFF


def scratch_size(threads: int) -> int:
    """Return how many numbers a block of so many threads needs to compare.

    >>> scratch_size(LANES)
    4
    """
    return 2 * KINDS * (threads // LANES)


if SIMULATED:

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
    def of_next_lane(value: float) -> float:
        """Return the value of the next thread of a warp, or of this one if it is the last."""
        return value

else:

    @part
    def of_next_lane(value: float) -> float:
        """Return the value of the next thread of a warp, or of this one if it is the last."""
        return float(cuda.shfl_down_sync(_EVERY, value, 1))

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
def sum_and_most(value: float, other: float, scratch: Array, turn: Any) -> tuple[float, float]:
    """Return the sum of one value and the largest of another, over all threads."""
    value, other = sum_of_warp(value), most_of_warp(other)
    warps = cuda.blockDim.x // LANES
    here = half_of(turn, warps)
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
    most = most_of_warp(value)
    arm = first_of_warp(value, most)
    warps = cuda.blockDim.x // LANES
    here = half_of(turn, warps)
    exchange(most, float(arm), scratch, here, warps)
    most, arm = scratch[here], int(scratch[here + warps])
    for warp in range(1, warps):
        if scratch[here + warp] > most:
            most, arm = scratch[here + warp], int(scratch[here + warps + warp])
    return most, arm


@part
def half_of(turn: Any, warps: int) -> int:
    """Return where the half of the scratch begins whose turn it is."""
    turn[0] = 1 - turn[0]
    return int(turn[0] * KINDS * warps)


@part
def exchange(value: float, other: float, scratch: Array, here: int, warps: int) -> None:
    """Write what each warp has found, and wait for all."""
    if cuda.threadIdx.x % LANES == 0:
        warp = cuda.threadIdx.x // LANES
        scratch[here + warp] = value
        scratch[here + warps + warp] = other
    cuda.syncthreads()
