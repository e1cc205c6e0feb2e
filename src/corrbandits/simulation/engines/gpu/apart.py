"""The kernels that play runs on independent arms: a thread a run, by the parts of the compiled engine.

The threads of a block keep their beliefs in the memory that they share, as long as these fit there, else in that of the
device; either way the numbers of neighbouring threads are neighbours.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64, int64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled import choose, given, update
from corrbandits.simulation.engines.compiled.state import Apart
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import kernel, of_cpu, part
from corrbandits.simulation.engines.gpu.counted import CHOICES, normals
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
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES, LIMITS
from corrbandits.simulation.engines.gpu.state import Kept, Problem, Record, Steps

largest_limit, first_of_near = of_cpu(choose.largest_limit), of_cpu(choose.first_of_near)
pending_arm, observe_apart = of_cpu(given.pending_arm), of_cpu(update.observe_apart)

VECTORS = 5
"""Numbers of an arm: mu, d, w, how often it was taken, and what it is compared by."""

INITIALISING, INITIALISATION, CURSOR = state.INITIALISING, state.INITIALISATION, state.CURSOR
AT, OF_RUN, TOTAL, MU, D, W = state.AT, state.OF_RUN, state.TOTAL, state.MU, state.D, state.W


def vectors_of(rule: int) -> int:
    """Return how many numbers of an arm a kind of rule needs.

    >>> vectors_of(LIMITS), vectors_of(INDICES)
    (4, 5)
    """
    return VECTORS - (rule in (LIMITS, DRAWS))


@part
def load(problem: Problem, kept: Kept, record: Record, done: int, run: int, b: Apart, counts: Array) -> None:
    """Set the belief of a run: the prior, or as the last launch left it."""
    for i in range(b.mu.size):
        if done == 0:
            b.mu[i], b.d[i], b.w[i] = problem.prior[MU, i], problem.prior[D, i], problem.prior[W, i]
        else:
            b.mu[i], b.d[i], b.w[i] = kept.own[0, i, run], kept.own[1, i, run], kept.own[2, i, run]
        counts[i] = record.counts[i, run]


@part
def save(kept: Kept, record: Record, run: int, b: Apart, counts: Array, of_run: Array) -> None:
    """Keep the belief of a run for the next launch; means beyond doubles show in the total of rewards."""
    for i in range(b.mu.size):
        if beyond(b.mu[i]):
            of_run[TOTAL] = np.inf
        kept.own[0, i, run], kept.own[1, i, run], kept.own[2, i, run] = b.mu[i], b.d[i], b.w[i]
        record.counts[i, run] = int(counts[i])


@part
def first_arm(b: Apart, thresholds: Array, at: Any) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    if at[INITIALISING] == 0:
        return -1
    arm = pending_arm(b.d, thresholds)
    at[INITIALISING] = arm >= 0
    at[INITIALISATION] += arm >= 0
    return arm


@part
def largest_draw(problem: Problem, steps: Steps, t: int, run: int, b: Apart, at: Any) -> int:
    """Return the arm of the largest draw, the normal numbers given or counted."""
    n, arm, most, odd = b.mu.size, 0, -np.inf, 0.0
    for i in range(n):
        if steps.draws.shape[0] > 0:
            z = steps.draws[at[CURSOR], run]
            at[CURSOR] += 1
        elif i % 2:
            z = odd
        else:
            pair = (steps.done + t) * ((n + 1) // 2) + i // 2
            z, odd = normals(problem.key0, problem.key1, problem.first + run, CHOICES, pair)
        if b.mu[i] + b.w[i] * z > most:
            arm, most = i, b.mu[i] + b.w[i] * z
    return arm


@part
def first_index(problem: Problem, b: Apart, values: Array, value: float, table: bool) -> int:
    """Return the arm of largest index, by Gittins' table or of this width; of nearly equal ones the first."""
    arm, most, least = 0, -np.inf, np.inf
    for i in range(b.mu.size):
        if table:
            index = gittins(b.mu[i], b.d[i], problem.noise[i], problem.log_n, problem.g, value)
        else:
            index = b.mu[i] + value * math.sqrt(b.d[i])
        values[i] = index
        if index > most:
            arm, most = i, index
        least = min(least, index)
    return first_of_near(values, b.d, problem.rank, arm, most, least)


@cache
def apart_kernel(rule: int, *, resident: bool, differ: bool, registers: int) -> Any:
    """Return the kernel for a kind of rule, beliefs in shared memory (`resident`) or not, problems that differ or not.

    There is room for the most arms that a run has.
    """
    own, last = its_own if differ else the_one, vectors_of(rule) - 1

    @part
    def chosen(problem: Problem, steps: Steps, t: int, run: int, b: Apart, values: Array, at: Any) -> int:
        if rule == LIMITS:
            return largest_limit(b.mu, b.w, steps.values[t])
        if rule == DRAWS:
            return largest_draw(problem, steps, t, run, b, at)
        return first_index(problem, b, values, steps.values[t], rule == INDICES)

    def play(problems: Problem, every: Steps, kept: Kept, record: Record) -> None:
        run, width, most = cuda.grid(1), cuda.blockDim.x, kept.own.shape[1]
        if run >= record.counts.shape[1]:
            return
        problem, steps = own(problems, every, run)
        at, of_run = cuda.local.array(AT, int64), cuda.local.array(OF_RUN, float64)
        numbers, room, n = cuda.shared.array(0, float64), most * width, problem.n
        size = n * width
        if resident:
            mine = numbers[cuda.threadIdx.x :]
            d, w, taken, compared = mine[room:], mine[2 * room :], mine[3 * room :], mine[last * room :]
            b = Apart(mine[:size:width], d[:size:width], w[:size:width])
            counts, values = taken[:size:width], compared[:size:width]
        else:
            b = Apart(kept.own[0, :n, run], kept.own[1, :n, run], kept.own[2, :n, run])
            counts, values = kept.own[3, :n, run], kept.own[last, :n, run]
        begin(kept, steps.done, run, at, of_run)
        load(problem, kept, record, steps.done, run, b, counts)
        even = odd = 0.0
        for t in range(steps.values.size):
            number = steps.done + t
            if steps.eps.shape[0] > 0:
                even = odd = steps.eps[run, t]
            elif t == 0 or number % 2 == 0:
                even, odd = two_noises(problem, run, number // 2)
            k = first_arm(b, problem.thresholds, at)
            if k < 0:
                k = chosen(problem, steps, t, run, b, values, at)
            reward = reward_of(problem, k, odd if number % 2 else even)
            note(problem, steps, record, t, run, k, reward, at, of_run, True)
            observe_apart(b, k, reward, problem.noise[k])
            counts[k] += 1.0
        save(kept, record, run, b, counts, of_run)
        end(kept, run, at, of_run)

    return kernel(play, registers, "apart", rule, resident, differ)
