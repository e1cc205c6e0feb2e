"""What all threads of the device find out together, its blocks being there at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.lanes import first_largest
from corrbandits.simulation.engines.gpu.state import Kept


@part
def meet(kept: Kept, meetings: Any) -> None:
    """Wait until all threads of the device have come here; then all see what any has written."""
    cuda.syncthreads()
    meetings[0] += 1
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(kept.met, 0, 1)
        while cuda.atomic.add(kept.met, 0, 0) < meetings[0] * cuda.gridDim.x:
            pass
        cuda.threadfence()
    cuda.syncthreads()


@part
def best_of_block(value: float, arm: float, scratch: Array, turn: Any) -> tuple[float, float]:
    """Return the largest value of a block's threads and its arm, the lowest of equals."""
    most, _ = first_largest(value, scratch, turn)
    lowest, _ = first_largest(-arm if value == most else -np.inf, scratch, turn)
    return most, -lowest


@part
def best_of_device(kept: Kept, value: float, arm: int, scratch: Array, turn: Any, meetings: Any) -> tuple[float, int]:
    """Return the largest value of all threads and its arm, the lowest of equals."""
    i, half = cuda.threadIdx.x, meetings[0] % 2
    most, found = best_of_block(value, 1.0 * arm, scratch, turn)
    if i == 0:
        kept.best[half, cuda.blockIdx.x, 0] = most
        kept.best[half, cuda.blockIdx.x, 1] = found
    meet(kept, meetings)
    most, found = -np.inf, np.inf
    for block in range(i, cuda.gridDim.x, cuda.blockDim.x):
        value, other_arm = kept.best[half, block, 0], kept.best[half, block, 1]
        if value > most or (value == most and other_arm < found):
            most, found = value, other_arm
    most, found = best_of_block(most, found, scratch, turn)
    return most, int(found) if most > -np.inf else 0
