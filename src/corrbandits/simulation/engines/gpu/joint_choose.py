"""How an arm is chosen from a belief on correlated arms, by a block of threads: `compiled.choose`, an arm a thread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.policies.base import NEAR
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.joint_update import Block, invert
from corrbandits.simulation.engines.gpu.lanes import first_largest, first_largest_of, sum_and_most, sum_and_most_of
from corrbandits.simulation.engines.gpu.state import place

ARM, TRIED, MEASURED = state.ARM, state.TRIED, state.MEASURED
INITIALISING, INITIALISATION = state.INITIALISING, state.INITIALISATION
D0, W0, X, H, MU, D = state.D0, state.W0, state.X, state.H, state.MU, state.D
INVERSE = state.INVERSE
PRECISION, VARIANCE, NORM, WEIGHT = state.PRECISION, state.VARIANCE, state.NORM, state.WEIGHT
FLOOR_K, NOISE, NOW, LEFT = state.FLOOR_K, state.NOISE, state.NOW, state.LEFT


@part
def first_arm(b: Block, own: Array, at: Any, threshold: float, turn: Any) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    if at[INITIALISING] == 0:
        return -1
    pending = cuda.threadIdx.x < b.n and own[D] > threshold
    most, arm = first_largest(own[D] if pending else -np.inf, b.scratch, turn)
    if most == -np.inf:
        at[INITIALISING] = 0
        return -1
    at[INITIALISATION] += 1
    return arm


@part
def largest_of_arms(b: Block, value: float, turn: Any) -> tuple[float, int]:
    """Return the largest value of all arms, and the lowest arm that has it; the first arm if none is a number.

    Among values that are no numbers that of a thread without an arm would be the largest.
    """
    most, arm = first_largest_of(value if cuda.threadIdx.x < b.n else -np.inf, b.warps, b.scratch, turn)
    return most, arm if arm < b.n else 0


@part
def largest(b: Block, value: float, turn: Any) -> int:
    """Return the arm of the largest value, the lowest of equals."""
    _, arm = largest_of_arms(b, value, turn)
    return arm


@part
def first_of_equals(b: Block, own: Array, value: float, rank: float, turn: Any) -> int:
    """Return the arm of largest value; of nearly equal ones that of largest variance, then that of lowest rank."""
    i = cuda.threadIdx.x
    if i < b.n:
        b.h[i] = own[D]
    inside = i < b.n
    most, arm = largest_of_arms(b, value, turn)
    _, least = sum_and_most_of(0.0, -value if inside else -np.inf, b.warps, b.scratch, turn)
    bar = most - (NEAR * max(most + least, math.sqrt(b.h[arm])) + 1e-15 * abs(most))
    near = inside and value >= bar
    if cuda.syncthreads_count(np.int32(near)) > 1:
        _, widest = sum_and_most_of(0.0, own[D] if near else -np.inf, b.warps, b.scratch, turn)
        near = near and own[D] >= (1.0 - NEAR) * widest
        arm = largest(b, -rank if near else -np.inf, turn)
    return arm


@part
def measure(own: Array, at: Any, of_run: Array) -> None:
    """Set the norms before a streak without the terms of its arm, once in a streak."""
    if at[MEASURED] == 0:
        over = 1.0 / of_run[VARIANCE] if of_run[VARIANCE] > of_run[FLOOR_K] else 0.0
        own[X] = math.sqrt(max(own[W0] * own[W0] - own[H] * own[H] * over, 0.0))
        of_run[NORM] = math.sqrt(max(of_run[WEIGHT] * of_run[WEIGHT] - of_run[VARIANCE], 0.0))
        at[MEASURED] = 1


@part
def limit_in_streak(b: Block, own: Array, at: Any, of_run: Array, width: float, turn: Any) -> tuple[float, bool]:
    """Return the limit of the streak's arm, and whether that of this thread's arm might be above it.

    The bound is that of `compiled.choose.find_candidates`.
    """
    measure(own, at, of_run)
    invert(own)
    h, other = own[H], cuda.threadIdx.x < b.n and cuda.threadIdx.x != at[ARM]
    square, ratio = h * h * own[INVERSE] if other else 0.0, own[D0] * own[INVERSE] if other else 1.0
    square, ratio = sum_and_most(square, max(ratio, 1.0), b.scratch, turn)
    c, shrunk, left = of_run[PRECISION], (of_run[PRECISION] * of_run[NOISE]) ** 2, of_run[LEFT]
    limit = of_run[NOW] + width * math.sqrt(square * shrunk + left)
    lacking, bound = limit - own[MU], own[X] + c * of_run[NORM] * abs(h)
    own_term = shrunk / left * h * h if left > of_run[FLOOR_K] else 0.0
    safe = width * width * (1.0 + 1e-9)  # so that rounding hides no arm
    return limit, other and safe * (ratio * bound * bound + own_term) >= lacking * abs(lacking)


@part
def limit_of(b: Block, own: Array, of_run: Array, k: int, width: float, turn: Any) -> float:
    """Return mu_k + width s_k sqrt(sum_j rho_kj^2) of one arm that is not the streak's."""
    i, square, mean = cuda.threadIdx.x, 0.0, -np.inf
    if i == k:
        square, mean = own[D], own[MU]
    elif i < b.n:
        s = b.S[place(i, k, b.n)] - of_run[PRECISION] * b.h[k] * own[H]
        square = s * s * own[INVERSE]
    square, mean = sum_and_most(square, mean, b.scratch, turn)
    return float(mean + width * math.sqrt(square))


@part
def likely_printed_limit(b: Block, own: Array, at: Any, of_run: Array, width: float, turn: Any) -> int:
    """Return, in a streak, the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), the lowest of equals, or -1.

    Only arms whose limit could be the largest need their row; -1 if they are so many that a pass over S is cheaper.
    """
    most, likely = limit_in_streak(b, own, at, of_run, width, turn)
    arm, found = at[ARM], cuda.syncthreads_count(np.int32(likely))
    at[TRIED] += found
    if found > b.n // 16 + 1 or at[TRIED] > b.n // 8 + 8:
        return -1
    for _ in range(found):
        _, k = first_largest(0.0 if likely else -np.inf, b.scratch, turn)
        if cuda.threadIdx.x == k:
            likely = False
        limit = limit_of(b, own, of_run, k, width, turn)
        if limit > most or (limit == most and k < arm):
            arm, most = k, limit
    return int(arm)
