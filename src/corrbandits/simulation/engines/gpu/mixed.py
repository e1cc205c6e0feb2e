"""The kernels that play runs on a belief told nothing: a block of threads a run, a thread an arm under some parts."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64, int64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.mixed_state import Told
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import kernel, part
from corrbandits.simulation.engines.gpu.joint import draw_noise, shared_by
from corrbandits.simulation.engines.gpu.joint_choose import first_of_equals, largest
from corrbandits.simulation.engines.gpu.joint_update import TOLD, Block
from corrbandits.simulation.engines.gpu.lanes import scratch_size
from corrbandits.simulation.engines.gpu.mixed_choose import mixing, opening_at, weigh
from corrbandits.simulation.engines.gpu.mixed_state import (
    AT,
    DIFFER,
    ENTRIES,
    NUMBER,
    OF_RUN,
    Kept,
    Mix,
    Prior,
    all_play,
    load_mix,
    mix_of,
    save_mix,
    some_play,
    threads_for,
    told_its_own,
    told_the_one,
    work_size,
)
from corrbandits.simulation.engines.gpu.mixed_update import begin_streak, take, without_offset
from corrbandits.simulation.engines.gpu.parts import begin, beyond, end, its_own, note, reward_of, the_one
from corrbandits.simulation.engines.gpu.refusing import INDICES, LIMITS
from corrbandits.simulation.engines.gpu.state import Problem, Record, Steps

ARM, COUNT, DRAWN, INITIALISATION, MU, D, TOTAL, OWN = (
    state.ARM, state.COUNT, state.CURSOR, state.INITIALISATION, state.MU, state.D, state.TOTAL, state.OWN,
)  # fmt: skip


def shared_numbers(arms: int, parts: int, *, vectors: bool, differ: bool = False) -> int:
    """Return how many numbers a block shares, with the vectors of all parts or without.

    >>> shared_numbers(100, 48, vectors=True) - shared_numbers(100, 48, vectors=False)
    19200
    """
    threads = threads_for(arms, parts, differ=differ)
    common = 5 * arms + TOLD + scratch_size(threads) + threads
    return vectors * 4 * parts * arms + common + ENTRIES * parts + work_size(arms, parts, threads)


@part
def noise_at(b: Block, problem: Problem, steps: Steps, t: int, at: Any) -> float:
    """Return the noise of a step, given or drawn; as many are drawn at once as there are threads."""
    if steps.eps.shape[0] > 0:
        return float(steps.eps[cuda.blockIdx.x, t])
    if t == 0 or at[DRAWN] == cuda.blockDim.x:
        draw_noise(b, problem, steps.done + t)
        at[DRAWN] = 0
    at[DRAWN] += 1
    return float(b.eps[at[DRAWN] - 1])


@part
def observe(m: Mix, told: Told, k: int, reward: float, at: Any, of_run: Array) -> None:
    """Take a reward of arm k into every part."""
    z = without_offset(told, at, of_run, reward)
    if k != at[ARM]:
        begin_streak(m, told, at, k)
    take(m, told, at, k, z)


@part
def end_run(m: Mix, kept: Kept, record: Record, own: Array, at: Any, of_run: Array) -> None:
    """Keep the numbers of the run for the next launch; means beyond doubles show in the total of rewards."""
    i, run = cuda.threadIdx.x, cuda.blockIdx.x
    if cuda.syncthreads_count(np.int32(beyond(own[MU]))) > 0:
        of_run[TOTAL] = np.inf
    if i < m.n:
        record.counts[i, run] = at[COUNT]
    if i == 0:
        end(kept, run, at, of_run)


def choice_of(rule: int) -> Any:
    """Return the function that makes a decision of a rule, once there are variances."""
    mix = mixing(rule)

    @part
    def chosen(m: Mix, b: Block, problem: Problem, told: Told, steps: Steps, t: int, own: Array, turn: Any) -> int:
        value, doubt = steps.values[t], steps.doubts[t] if rule == INDICES else 0.0
        index = mix(m, problem, told, value, doubt, own)
        if rule != INDICES:
            index = own[MU] + value * math.sqrt(own[D])
        if rule == LIMITS:
            return largest(b, index, turn)
        return first_of_equals(b, own, index, 1.0 * problem.rank[min(cuda.threadIdx.x, b.n - 1)], turn)

    return chosen


@cache
def mixed_kernel(rule: int, *, resident: bool, differ: bool, registers: int) -> Any:
    """Return the kernel for a kind of rule, the vectors of all parts in shared memory (`resident`) or not."""
    chosen, own_problem = choice_of(rule), its_own if differ else the_one
    own_told, place = (told_its_own, some_play) if differ else (told_the_one, all_play)

    def play(problems: Problem, every: Steps, kept: Kept, record: Record, all_told: Told, priors: Prior) -> None:
        run = cuda.blockIdx.x
        problem, steps = own_problem(problems, every, run)
        n = problem.n
        told, prior = own_told(all_told, priors, run, n)
        parts = told.ratios.size
        own, of_run = cuda.local.array(OWN, float64), cuda.local.array(OF_RUN, float64)
        at, turn = cuda.local.array(AT, int64), cuda.local.array(1, int64)
        turn[0] = 0
        numbers = cuda.shared.array(0, float64)
        size = 4 * parts * n if resident else 0
        common = size + 5 * n + TOLD + scratch_size(cuda.blockDim.x) + cuda.blockDim.x
        b = shared_by(n, prior.S, numbers[size:])
        vectors, where = numbers[:size] if resident else kept.vectors[run], place(n, parts)
        m = mix_of(n, parts, where, prior.S, kept, vectors, numbers[common:])
        begin(kept, steps.done, run, at, of_run)
        load_mix(m, kept, resident, prior.log_determinant, steps.done)
        own[MU], own[D], at[COUNT] = 0.0, 0.0, record.counts[min(cuda.threadIdx.x, n - 1), run]
        for t in range(steps.values.size):
            eps = noise_at(b, problem, steps, t, at)
            k = opening_at(told, at[NUMBER], at[DIFFER])
            at[INITIALISATION] += k >= 0
            if k < 0:
                weigh(m, told, at, of_run, b.scratch, turn)
                k = chosen(m, b, problem, told, steps, t, own, turn)
            reward = reward_of(problem, k, eps)
            note(problem, steps, record, t, run, k, reward, at, of_run, cuda.threadIdx.x == 0)
            at[COUNT] += cuda.threadIdx.x == k
            observe(m, told, k, reward, at, of_run)
        save_mix(m, kept, resident)
        end_run(m, kept, record, own, at, of_run)

    return kernel(play, registers, "mixed", rule, resident, differ)
