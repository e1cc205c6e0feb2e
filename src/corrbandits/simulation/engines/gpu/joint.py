"""The kernels that play runs on correlated arms: a block of threads a run, a thread an arm.

The covariance lies in the memory that a block shares, as long as half of it fits there, else in that of the device.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64, int64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import kernel, part
from corrbandits.simulation.engines.gpu.counted import CHOICES, normals
from corrbandits.simulation.engines.gpu.joint_choose import (
    first_arm,
    first_of_equals,
    largest,
    likely_printed_limit,
)
from corrbandits.simulation.engines.gpu.joint_update import TOLD, Block, publish, settle, start, take
from corrbandits.simulation.engines.gpu.lanes import LANES, scratch_size, sum_and_most
from corrbandits.simulation.engines.gpu.parts import begin, end, gittins, note, reward_of, two_noises
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES, LIMITS, PRINTED
from corrbandits.simulation.engines.gpu.state import Kept, Problem, Record, Steps

ARM, LASTING, INITIALISING = state.ARM, state.LASTING, state.INITIALISING
COUNT, CURSOR = state.COUNT, state.CURSOR
H, MU, D, W, FLOOR, PRECISION = state.H, state.MU, state.D, state.W, state.FLOOR, state.PRECISION
KEPT_OWN, OWN, AT, OF_RUN = state.KEPT_OWN, state.OWN, state.AT, state.OF_RUN


def threads_for(arms: int) -> int:
    """Return how many threads a block has: an arm each, in whole warps.

    >>> threads_for(LANES), threads_for(LANES + 1) // LANES
    (32, 2)
    """
    return -(-arms // LANES) * LANES


def shared_numbers(arms: int, *, covariance: bool) -> int:
    """Return how many numbers a block shares, with the covariance or without.

    >>> shared_numbers(100, covariance=True) - shared_numbers(100, covariance=False)
    4950
    """
    threads = threads_for(arms)
    return covariance * arms * (arms - 1) // 2 + 5 * arms + TOLD + scratch_size(threads) + threads


@part
def shared_by(n: int, S: Array, vectors: Array) -> Block:
    """Return what the threads of a block share, laid out in its memory."""
    scratch, eps = 5 * n + TOLD, 5 * n + TOLD + 4 * (cuda.blockDim.x // LANES)
    return Block(
        n, S, vectors[: 2 * n], vectors[2 * n : 4 * n], vectors[4 * n : 5 * n], vectors[5 * n : scratch],
        vectors[scratch:eps], vectors[eps : eps + cuda.blockDim.x],
    )  # fmt: skip


@part
def load(problem: Problem, kept: Kept, done: int, own: Array) -> None:
    """Set what a thread knows of its arm: the prior's, or as the last launch left it."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    for entry in range(OWN):
        own[entry] = 0.0
    if i < problem.means.size:
        for entry in range(KEPT_OWN):
            own[entry] = kept.own[run, entry, i] if done > 0 else problem.prior[entry, i]
        own[FLOOR] = problem.floor[i]


@part
def save(problem: Problem, kept: Kept, own: Array) -> None:
    """Keep what a thread knows of its arm for the next launch."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    if i < problem.means.size:
        for entry in range(KEPT_OWN):
            kept.own[run, entry, i] = own[entry]


@part
def copy(source: Array, target: Array, n: int) -> None:
    """Copy the covariances, all threads together."""
    for entry in range(cuda.threadIdx.x, n * (n - 1) // 2, cuda.blockDim.x):
        target[entry] = source[entry]


@part
def draw_noise(b: Block, problem: Problem, done: int) -> None:
    """Draw the noise of the next steps, each thread that of one, once all have read the last."""
    cuda.syncthreads()
    number = done + cuda.threadIdx.x
    even, odd = two_noises(problem, cuda.blockIdx.x, number // 2)
    b.eps[cuda.threadIdx.x] = odd if number % 2 else even
    cuda.syncthreads()


@part
def drawn(b: Block, problem: Problem, steps: Steps, t: int, own: Array, at: Any, of_run: Array, turn: Any) -> float:
    """Return a draw of this thread's mean reward: a draw of the prior, corrected by what was seen of it.

    It is `compiled.choose.draw`.
    """
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
    total = own[D] * z
    if i < n:
        for j in range(n):
            if j != i:
                total += b.S[state.place(i, j, n)] * b.g[j]
    return float(own[MU] - total + c * h * (product - h * z))


@part
def two_normals(
    b: Block, problem: Problem, steps: Steps, t: int, seen: float, at: Any
) -> tuple[float, float]:
    """Return two normal numbers for this thread's draw at a step: counted or, in the order of others, given."""
    i, n, run = cuda.threadIdx.x, b.n, cuda.blockIdx.x
    if steps.draws.shape[0] == 0:
        return normals(problem.key[0], problem.key[1], problem.first + run, CHOICES, (steps.done + t) * n + i)
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


@cache
def joint_kernel(rule: int, *, resident: bool, registers: int) -> Any:
    """Return the kernel for a kind of rule, the covariance in shared memory (`resident`) or not."""

    def play(problem: Problem, steps: Steps, kept: Kept, record: Record) -> None:
        run, i, n = cuda.blockIdx.x, cuda.threadIdx.x, problem.means.size
        own, of_run = cuda.local.array(OWN, float64), cuda.local.array(OF_RUN, float64)
        at = cuda.local.array(AT, int64)
        turn = cuda.local.array(1, int64)
        numbers = cuda.shared.array(0, float64)
        size = n * (n - 1) // 2 if resident else 0
        S = numbers[:size] if resident else kept.S[run]
        b = shared_by(n, S, numbers[size:])
        turn[0] = 0
        begin(kept, steps.done, run, at, of_run)
        load(problem, kept, steps.done, own)
        if steps.done == 0:
            copy(problem.S, S, n)
        elif resident:
            copy(kept.S[run], S, n)
        if i < n:
            b.h[i] = own[H]
            at[COUNT] = record.counts[i, run]
        threshold, noise = (problem.thresholds[i], problem.noise[i]) if i < n else (np.inf, 1.0)
        cuda.syncthreads()
        for t in range(steps.values.size):
            value = steps.values[t]
            if steps.eps.shape[0] == 0 and t % cuda.blockDim.x == 0:
                draw_noise(b, problem, steps.done + t)
            k, last = first_arm(b, own, at, threshold, turn), at[ARM]
            if rule == PRINTED:
                if k < 0 and at[LASTING] and value > 0.0:
                    k = likely_printed_limit(b, own, at, of_run, value, turn)
                if k != last or k < 0:
                    settle(b, own, at, of_run, at[INITIALISING] == 0)
                    if k < 0:
                        k = largest(b, own[MU] + value * own[W], turn)
                    start(b, own, at, of_run, k)
                at[LASTING] = k == last and at[INITIALISING] == 0
            else:
                if k < 0:
                    if rule == LIMITS:
                        k = largest(b, own[MU] + value * math.sqrt(own[D]), turn)
                    elif rule == DRAWS:
                        k = largest(b, drawn(b, problem, steps, t, own, at, of_run, turn), turn)
                    else:
                        index = own[MU] + value * math.sqrt(own[D])
                        if rule == INDICES:
                            index = gittins(own[MU], own[D], noise, problem.log_n, problem.g, value)
                        k = first_of_equals(b, own, index, float(problem.rank[i]) if i < n else 0.0, turn)
                if k != last:
                    settle(b, own, at, of_run, False)
                    start(b, own, at, of_run, k)
            eps = b.eps[t % cuda.blockDim.x] if steps.eps.shape[0] == 0 else steps.eps[t, run]
            reward = reward_of(problem, k, eps)
            note(problem, steps, record, t, run, k, reward, at, of_run, i == 0)
            if i == k:
                at[COUNT] += 1
            take(own, at, of_run, k, reward, problem.noise[k])
        save(problem, kept, own)
        if i == 0:
            end(kept, run, at, of_run)
        if i < n:
            record.counts[i, run] = at[COUNT]
        if resident:
            cuda.syncthreads()
            copy(S, kept.S[run], n)

    return kernel(play, registers)
