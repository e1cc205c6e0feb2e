"""The kernels that play runs on correlated arms: a block of threads a run, a thread an arm.

Half the covariance lies in the memory that the block shares; where it does not fit, a `team` plays.
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
from corrbandits.simulation.engines.gpu.joint_choose import (
    first_arm,
    first_of_equals,
    largest,
    likely_printed_limit,
)
from corrbandits.simulation.engines.gpu.joint_draw import drawn
from corrbandits.simulation.engines.gpu.joint_update import TOLD, Block, settle, start, take
from corrbandits.simulation.engines.gpu.lanes import LANES, scratch_size
from corrbandits.simulation.engines.gpu.parts import (
    begin,
    beyond,
    end,
    gittins,
    its_own,
    note,
    reward_of,
    the_one,
    two_noises,
)
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES, LIMITS, PRINTED
from corrbandits.simulation.engines.gpu.state import Kept, Problem, Record, Steps

ARM, LASTING, INITIALISING = state.ARM, state.LASTING, state.INITIALISING
COUNT, H, MU, D, W, FLOOR = state.COUNT, state.H, state.MU, state.D, state.W, state.FLOOR
TOTAL = state.TOTAL
KEPT_OWN, OWN, AT, OF_RUN = state.KEPT_OWN, state.OWN, state.AT, state.OF_RUN


def threads_for(arms: int) -> int:
    """Return how many threads a block has: an arm each, in whole warps.

    >>> [threads_for(arms) // LANES for arms in (1, LANES, LANES + 1)]
    [1, 1, 2]
    """
    return -(-arms // LANES) * LANES


def shared_numbers(arms: int) -> int:
    """Return how many numbers a block shares.

    >>> shared_numbers(100) - shared_numbers(99) > 99
    True
    """
    threads = threads_for(arms)
    return arms * (arms - 1) // 2 + 5 * arms + TOLD + scratch_size(threads) + threads


@part
def shared_by(n: int, S: Array, vectors: Array) -> Block:
    """Return what the threads of a block share, laid out in its memory."""
    threads = cuda.blockDim.x
    scratch, eps = 5 * n + TOLD, 5 * n + TOLD + scratch_size(threads)
    return Block(
        n,
        (n + LANES - 1) // LANES,
        S,
        g=vectors[: 2 * n],
        inverse=vectors[2 * n : 4 * n],
        h=vectors[4 * n : 5 * n],
        told=vectors[5 * n : scratch],
        scratch=vectors[scratch:eps],
        eps=vectors[eps : eps + threads],
    )


@part
def load(problem: Problem, kept: Kept, done: int, own: Array) -> None:
    """Set what a thread knows of its arm: the prior's, or as the last launch left it."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    for entry in range(OWN):
        own[entry] = 0.0
    if i < problem.n:
        for entry in range(KEPT_OWN):
            own[entry] = kept.own[run, entry, i] if done > 0 else problem.prior[entry, i]
        own[FLOOR] = problem.floor[i]


@part
def save(problem: Problem, kept: Kept, own: Array) -> None:
    """Keep what a thread knows of its arm for the next launch."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    if i < problem.n:
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
def begin_run(b: Block, problem: Problem, steps: Steps, kept: Kept, record: Record, own: Array, at: Any) -> None:
    """Set what a block knows of its run, but its numbers, which `begin` sets."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    load(problem, kept, steps.done, own)
    copy(problem.S if steps.done == 0 else kept.S[run], b.S, b.n)
    if i < b.n:
        b.h[i] = own[H]
        at[COUNT] = record.counts[i, run]
    cuda.syncthreads()


@part
def end_run(b: Block, problem: Problem, kept: Kept, record: Record, own: Array, at: Any, of_run: Array) -> None:
    """Keep what a block knows of its run for the next launch; means beyond doubles show in the total of rewards."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    if cuda.syncthreads_count(np.int32(beyond(own[MU]))) > 0:
        of_run[TOTAL] = np.inf
    save(problem, kept, own)
    copy(b.S, kept.S[run], b.n)
    if i < b.n:
        record.counts[i, run] = at[COUNT]
    if i == 0:
        end(kept, run, at, of_run)


@part
def printed_arm(b: Block, own: Array, at: Any, of_run: Array, first: int, width: float, turn: Any) -> int:
    """Return the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), or the first if there is one; begin its streak.

    It is a step of `compiled.loops.printed_limits`.
    """
    k, last = first, at[ARM]
    if k < 0 and at[LASTING] and width > 0.0:
        k = likely_printed_limit(b, own, at, of_run, width, turn)
    if k != last or k < 0:
        settle(b, own, at, of_run, at[INITIALISING] == 0)
        if k < 0:
            k = largest(b, own[MU] + width * own[W], turn)
        start(b, own, at, of_run, k)
    at[LASTING] = k == last and at[INITIALISING] == 0
    return k


@part
def noise_at(b: Block, problem: Problem, steps: Steps, t: int) -> float:
    """Return the noise of a step, given or drawn; as many are drawn at once as there are threads."""
    if steps.eps.shape[0] > 0:
        return float(steps.eps[cuda.blockIdx.x, t])
    if t % cuda.blockDim.x == 0:
        draw_noise(b, problem, steps.done + t)
    return float(b.eps[t % cuda.blockDim.x])


@part
def observe(
    problem: Problem, steps: Steps, record: Record, t: int, k: int, eps: float, own: Array, at: Any, of_run: Array
) -> None:
    """Pull arm k, whose streak it is, and take in its reward."""
    reward = reward_of(problem, k, eps)
    note(problem, steps, record, t, cuda.blockIdx.x, k, reward, at, of_run, cuda.threadIdx.x == 0)
    if cuda.threadIdx.x == k:
        at[COUNT] += 1
    take(own, at, of_run, k, reward, problem.noise[k])


def step_of(rule: int) -> Any:
    """Return the function that makes a decision of a rule and begins the arm's streak."""

    @part
    def chosen(b: Block, problem: Problem, steps: Steps, t: int, own: Array, at: Any, of_run: Array, turn: Any) -> int:
        if rule == DRAWS:
            return largest(b, drawn(b, problem, steps, t, own, at, of_run, turn), turn)
        value, i = steps.values[t], min(cuda.threadIdx.x, b.n - 1)
        index = own[MU] + value * math.sqrt(own[D])
        if rule == LIMITS:
            return largest(b, index, turn)
        if rule == INDICES:
            index = gittins(own[MU], own[D], problem.noise[i], problem.log_n, problem.g, value)
        return first_of_equals(b, own, index, 1.0 * problem.rank[i], turn)

    @part
    def step(b: Block, problem: Problem, steps: Steps, t: int, own: Array, at: Any, of_run: Array, turn: Any) -> int:
        i = min(cuda.threadIdx.x, b.n - 1)
        k = first_arm(b, own, at, problem.thresholds[i], turn)
        if rule == PRINTED:
            return printed_arm(b, own, at, of_run, k, steps.values[t], turn)
        if k < 0:
            k = chosen(b, problem, steps, t, own, at, of_run, turn)
        if k != at[ARM]:
            settle(b, own, at, of_run, False)
            start(b, own, at, of_run, k)
        return k

    return step


@cache
def joint_kernel(rule: int, *, differ: bool, registers: int) -> Any:
    """Return the kernel for a kind of rule, problems that differ or not."""
    step, own_problem = step_of(rule), its_own if differ else the_one

    def play(problems: Problem, every: Steps, kept: Kept, record: Record) -> None:
        run = cuda.blockIdx.x
        problem, steps = own_problem(problems, every, run)
        n = problem.n
        own, of_run = cuda.local.array(OWN, float64), cuda.local.array(OF_RUN, float64)
        at = cuda.local.array(AT, int64)
        turn = cuda.local.array(1, int64)
        turn[0] = 0
        numbers, size = cuda.shared.array(0, float64), n * (n - 1) // 2
        b = shared_by(n, numbers[:size], numbers[size:])
        begin(kept, steps.done, run, at, of_run)
        begin_run(b, problem, steps, kept, record, own, at)
        for t in range(steps.values.size):
            eps = noise_at(b, problem, steps, t)
            k = step(b, problem, steps, t, own, at, of_run, turn)
            observe(problem, steps, record, t, k, eps, own, at, of_run)
        end_run(b, problem, kept, record, own, at, of_run)

    return kernel(play, registers, "joint", rule, differ)
