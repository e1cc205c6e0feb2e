"""A draw of all mean rewards of correlated arms, by a block of threads: `compiled.choose.draw`, an arm a thread."""

from __future__ import annotations

import math
from typing import Any

from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.counted import CHOICES, normals
from corrbandits.simulation.engines.gpu.joint_update import Block, publish, times_g
from corrbandits.simulation.engines.gpu.lanes import sum_and_most
from corrbandits.simulation.engines.gpu.state import Problem, Steps

ARM, COUNT, CURSOR = state.ARM, state.COUNT, state.CURSOR
H, MU, D, PRECISION = state.H, state.MU, state.D, state.PRECISION


@part
def drawn(b: Block, problem: Problem, steps: Steps, t: int, own: Array, at: Any, of_run: Array, turn: Any) -> float:
    """Return a draw of this thread's mean reward: a draw of the prior, corrected by what was seen of it."""
    i, n, value = cuda.threadIdx.x, b.n, 0.0
    seen = at[COUNT] + problem.seen[i] if i < n else 0.0
    first, second = two_normals(b, problem, steps, t, seen, at)
    if i < n:
        publish(b.g, first, n)
    cuda.syncthreads()
    if i < n:
        for j in range(n):
            value += problem.root[j, i] * b.g[j]
    z = (value + math.sqrt(problem.noise[i] / seen) * second) * seen / problem.noise[i] if seen > 0.0 else 0.0
    return value + corrected(b, own, at, of_run, z, turn)


@part
def corrected(b: Block, own: Array, at: Any, of_run: Array, z: float, turn: Any) -> float:
    """Return what is seen of this thread's arm: its mean less its covariance with all z."""
    i, n = cuda.threadIdx.x, b.n
    c = of_run[PRECISION] if at[ARM] >= 0 else 0.0
    h = own[H] if c > 0.0 else 0.0
    cuda.syncthreads()
    if i < n:
        publish(b.g, z, n)
    product, _ = sum_and_most(z * h, 0.0, b.scratch, turn)
    total = own[D] * z + times_g(b)
    return float(own[MU] - total + c * h * (product - h * z))


@part
def two_normals(b: Block, problem: Problem, steps: Steps, t: int, seen: float, at: Any) -> tuple[float, float]:
    """Return two normal numbers for this thread's draw at a step: counted or, in the order of others, given."""
    i, n, run = cuda.threadIdx.x, b.n, cuda.blockIdx.x
    if steps.draws.shape[0] == 0:
        return normals(problem.key0, problem.key1, problem.first + run, CHOICES, (steps.done + t) * n + i)
    if i < n:
        b.inverse[i] = 1.0 if seen > 0.0 else 0.0
    cuda.syncthreads()
    before = after = 0
    for j in range(n):
        after += int(b.inverse[j])
        before += int(b.inverse[j]) if j < i else 0
    place = at[CURSOR]
    at[CURSOR] += n + after
    return steps.draws[place + min(i, n - 1), run], steps.draws[place + n + before, run]
