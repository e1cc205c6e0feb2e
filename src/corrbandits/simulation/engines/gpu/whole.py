"""The kernels that play one run on the whole device: on so many correlated arms that a block has no thread for each.

    name      shape                  meaning
    rows      (KEPT_OWN, N)          the vectors of `state.own`, as far as they are needed: MU0, D0, H, MU, D, W
    pairs     (2, 2 N)               h and 1 / d, each twice, so that i + a needs no modulus
    ahead     (chunks, N)            sum of S_ij^2 / S_jj over the arms j = i + a of a chunk of a
    passed    (chunks, tiles, ...)   the same over arms behind, as each tile passes it on (`joint_update.carry`)
    best      (2, blocks, 2)         the largest index of each block, and its arm; two in turn
    met       (1,)                   how many blocks have come to a meeting, all meetings together

All blocks are on the device at once, and wait for each other at meetings; every thread computes the numbers of the run
for itself. A streak is carried into S in one pass over it (`whole_carry`).
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
from corrbandits.simulation.engines.gpu.meeting import best_of_device, meet
from corrbandits.simulation.engines.gpu.parts import begin, beyond, end, note, reward_of, two_noises
from corrbandits.simulation.engines.gpu.refusing import PRINTED
from corrbandits.simulation.engines.gpu.state import Kept, Problem, Record, Steps, place
from corrbandits.simulation.engines.gpu.whole_carry import carry, weigh

ARM, LENGTH, INITIALISING, INITIALISATION = state.ARM, state.LENGTH, state.INITIALISING, state.INITIALISATION
MU0, D0, H, MU, D, W = state.MU0, state.D0, state.H, state.MU, state.D, state.W
SURPRISE, PRECISION, VARIANCE, MEAN, TOTAL = (
    state.SURPRISE, state.PRECISION, state.VARIANCE, state.MEAN, state.TOTAL,
)  # fmt: skip
AT, OF_RUN = state.AT, state.OF_RUN


@part
def start(kept: Kept, rows: Array, problem: Problem, k: int, at: Any, of_run: Array) -> None:
    """Begin a streak of arm k: move its row from S to h."""
    n = rows.shape[1]
    of_run[VARIANCE], of_run[MEAN], of_run[SURPRISE] = rows[D, k], rows[MU, k], 0.0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        rows[MU0, i], rows[D0, i], h = rows[MU, i], rows[D, i], 0.0
        if i != k:
            h = kept.S[0, place(i, k, n)]
            kept.S[0, place(i, k, n)] = 0.0
        most = of_run[VARIANCE] * rows[D, i]  # beyond its root lies only rounding
        rows[H, i] = h if h * h <= most else math.copysign(math.sqrt(most), h)
    at[ARM], at[LENGTH] = k, 0


@part
def publish(vector: Array, value: float, i: int) -> None:
    """Write an entry of a vector that stands twice."""
    vector[i] = value
    vector[i + vector.size // 2] = value


@part
def take(kept: Kept, rows: Array, problem: Problem, at: Any, of_run: Array, k: int, reward: float) -> None:
    """Take a reward of the streak's arm k into means and variances (`joint_update.take`)."""
    at[LENGTH] += 1
    of_run[SURPRISE] += reward - of_run[MEAN]
    s, variance = problem.noise[k] / at[LENGTH], of_run[VARIANCE]
    c = 1.0 / (s + variance)
    gain = of_run[SURPRISE] / at[LENGTH] * c
    of_run[PRECISION] = c
    for i in range(cuda.grid(1), rows.shape[1], cuda.gridsize(1)):
        h = rows[H, i]
        rest = rows[D0, i] - c * h * h
        rows[MU, i], d = rows[MU0, i] + h * gain, rest if rest > 0.0 else 0.0
        if i == k:
            rows[MU, i], d, h = of_run[MEAN] + variance * gain, s * (variance * c), -s
        rows[D, i], rows[H, i] = d, h
        publish(kept.pairs[0], h, i)
        publish(kept.pairs[1], 1.0 / d if d > problem.floor[i] else 0.0, i)


@part
def pending(kept: Kept, rows: Array, problem: Problem, at: Any, scratch: Array, turn: Any, meetings: Any) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    if at[INITIALISING] == 0:
        return -1
    most, arm = -np.inf, 0
    for i in range(cuda.grid(1), rows.shape[1], cuda.gridsize(1)):
        if rows[D, i] > problem.thresholds[i] and rows[D, i] > most:
            most, arm = rows[D, i], i
    most, arm = best_of_device(kept, most, arm, scratch, turn, meetings)
    at[INITIALISING] = most > -np.inf
    at[INITIALISATION] += at[INITIALISING]
    return arm if at[INITIALISING] else -1


@part
def largest(kept: Kept, rows: Array, width: float, printed: bool, scratch: Array, turn: Any, meetings: Any) -> int:
    """Return the arm of largest mu_i + width w_i, or s_i in place of w_i, the lowest of equals."""
    most, arm = -np.inf, 0
    for i in range(cuda.grid(1), rows.shape[1], cuda.gridsize(1)):
        value = rows[MU, i] + width * (rows[W, i] if printed else math.sqrt(rows[D, i]))
        if value > most:
            most, arm = value, i
    _, arm = best_of_device(kept, most, arm, scratch, turn, meetings)
    return arm


@part
def settle(kept: Kept, rows: Array, at: Any, of_run: Array, printed: bool, meetings: Any) -> None:
    """End the streak, if there is one: carry it into S and, if asked, set every w."""
    if at[ARM] >= 0:
        meet(kept, meetings)
        carry(kept, rows.shape[1], of_run[PRECISION], printed)
        meet(kept, meetings)
        if printed:
            weigh(kept, rows, meetings)
        at[ARM] = -1


@part
def load(problem: Problem, kept: Kept, rows: Array, done: int, meetings: Any) -> None:
    """Set the belief of a run at its first launch; later it is as the last one left it."""
    if done == 0:
        for i in range(cuda.grid(1), rows.shape[1], cuda.gridsize(1)):
            for row in range(rows.shape[0]):
                rows[row, i] = problem.prior[row, i]
        for entry in range(cuda.grid(1), problem.S.size, cuda.gridsize(1)):
            kept.S[0, entry] = problem.S[entry]
    meet(kept, meetings)


@part
def observe(
    problem: Problem, steps: Steps, kept: Kept, record: Record, rows: Array, t: int, k: int, at: Any, of_run: Array
) -> None:
    """Pull arm k, whose streak it is, and take in its reward."""
    number = steps.done + t
    even, odd = two_noises(problem, 0, number // 2)
    eps = steps.eps[t, 0] if steps.eps.shape[0] > 0 else (odd if number % 2 else even)
    reward = reward_of(problem, k, eps)
    note(problem, steps, record, t, 0, k, reward, at, of_run, cuda.grid(1) == 0)
    if cuda.grid(1) == 0:
        record.counts[k, 0] += 1
    take(kept, rows, problem, at, of_run, k, reward)


@part
def finish(kept: Kept, rows: Array, at: Any, of_run: Array, meetings: Any) -> None:
    """Keep the numbers of the run; means beyond doubles show in the total of rewards."""
    if cuda.grid(1) == 0:
        end(kept, 0, at, of_run)
    meet(kept, meetings)
    for i in range(cuda.grid(1), rows.shape[1], cuda.gridsize(1)):
        if beyond(rows[MU, i]):
            kept.of_run[0, TOTAL] = np.inf


@cache
def whole_kernel(rule: int, *, registers: int) -> Any:
    """Return the kernel for a kind of rule: by the printed index, or by mu + width s."""
    printed = rule == PRINTED

    def play(problem: Problem, steps: Steps, kept: Kept, record: Record) -> None:
        at, of_run = cuda.local.array(AT, int64), cuda.local.array(OF_RUN, float64)
        turn = cuda.local.array(1, int64)
        meetings = cuda.local.array(1, int64)
        turn[0] = meetings[0] = 0
        scratch, rows = cuda.shared.array(0, float64), kept.own[0]
        begin(kept, steps.done, 0, at, of_run)
        load(problem, kept, rows, steps.done, meetings)
        for t in range(steps.values.size):
            k = pending(kept, rows, problem, at, scratch, turn, meetings)
            if printed and k < 0:
                settle(kept, rows, at, of_run, True, meetings)
            if k < 0:
                k = largest(kept, rows, steps.values[t], printed, scratch, turn, meetings)
            if k != at[ARM]:
                settle(kept, rows, at, of_run, False, meetings)
                start(kept, rows, problem, k, at, of_run)
                meet(kept, meetings)
            observe(problem, steps, kept, record, rows, t, k, at, of_run)
        finish(kept, rows, at, of_run, meetings)

    return kernel(play, registers)
