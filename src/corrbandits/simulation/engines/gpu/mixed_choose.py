"""What a belief told nothing is asked for a choice, by a block of threads: `compiled.mixed_choose`.

Each thread adds up what the parts it has say of its arm; the thread of the arm then adds up what those have found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled import mixed_choose as compiled
from corrbandits.simulation.engines.compiled.mixed_state import Told
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import of_cpu, part
from corrbandits.simulation.engines.gpu.lanes import LANES, sum_and_most_of
from corrbandits.simulation.engines.gpu.mixed_state import (
    BETA,
    CROSSED,
    ENTRIES,
    EXPECTED,
    LOG_DETERMINANT,
    MORE,
    NUMBER,
    OFFSET,
    ONES,
    SQUARES,
    SUMS,
    TO_D,
    TO_U,
    TO_W,
    WEIGHT,
    Mix,
)
from corrbandits.simulation.engines.gpu.parts import gittins
from corrbandits.simulation.engines.gpu.refusing import INDICES
from corrbandits.simulation.engines.gpu.state import Problem

MU, D = state.MU, state.D
NEGLIGIBLE = compiled.NEGLIGIBLE

opening_at, fitted = of_cpu(compiled.opening_at), of_cpu(compiled.fitted)
under, log_weight = of_cpu(compiled.under), of_cpu(compiled.log_weight)

Three = tuple[float, float, float]


@part
def weigh(m: Mix, told: Told, at: Any, of_run: Array, scratch: Array, turn: Any) -> None:
    """Set the parts' weights, 0 where they are negligible, and what each makes of mean and scale."""
    x, threads, n, g = cuda.threadIdx.x, cuda.blockDim.x, at[NUMBER], cuda.threadIdx.x
    centre, most, total = told.centre - of_run[OFFSET], -np.inf, 0.0
    warps = min(m.parts + LANES - 1, threads) // LANES
    while g < m.parts:
        p = m.of_part[g * ENTRIES : (g + 1) * ENTRIES]
        fit = fitted(p[ONES], p[CROSSED], p[SQUARES])
        p[WEIGHT] = log_weight(told, g, n, centre, p[ONES], fit) - 0.5 * p[LOG_DETERMINANT]
        p[BETA], p[MORE], p[EXPECTED] = under(told, g, n, centre, p[ONES], fit)
        most = max(most, p[WEIGHT])
        g += threads
    _, most = sum_and_most_of(0.0, most, warps, scratch, turn)
    g = x
    while g < m.parts:
        weight = math.exp(m.of_part[g * ENTRIES + WEIGHT] - most)
        m.of_part[g * ENTRIES + WEIGHT] = weight
        total += weight
        g += threads
    total, _ = sum_and_most_of(total, 0.0, warps, scratch, turn)
    g = x
    while g < m.parts:
        weight = m.of_part[g * ENTRIES + WEIGHT] / total
        m.of_part[g * ENTRIES + WEIGHT] = weight if weight >= NEGLIGIBLE else 0.0
        g += threads
    cuda.syncthreads()


@part
def under_part(m: Mix, g: int) -> Three:
    """Return mean and variance of this thread's arm under a part, and the expected square of the scale."""
    here, of = np.uint64(g * m.n + m.i), np.uint64(g * ENTRIES)
    h, expected = m.h[here], m.of_part[of + np.uint64(EXPECTED)]
    share = 1.0 - (m.w[here] + m.of_part[of + np.uint64(TO_W)] * h)
    mean = m.u[here] + m.of_part[of + np.uint64(TO_U)] * h + m.of_part[of + np.uint64(BETA)] * share
    left = max(m.d[here] - m.of_part[of + np.uint64(TO_D)] * h * h, 0.0)
    return mean, expected * (left + m.of_part[of + np.uint64(MORE)] * share * share), expected


def mixing(rule: int) -> Any:
    """Return the function that adds up what all parts say of the arms, for a kind of rule."""

    @part
    def mix(m: Mix, problem: Problem, told: Told, place_m: float, doubt: float, own: Array) -> float:
        # The thread of each arm gets mean and variance of the mixture and, if the rule goes by them, the mean of the
        # parts' Gittins indices and so many of their deviations.
        mean, square, sums, g = 0.0, 0.0, (0.0, 0.0, 0.0), m.sub
        while g < m.parts and m.i < m.n:
            p = m.of_part[np.uint64(g * ENTRIES + WEIGHT)]
            if p > 0.0:
                its_mean, variance, expected = under_part(m, g)
                mean += p * its_mean
                square += p * (variance + its_mean * its_mean)
                if rule == INDICES:
                    noise = expected * told.ratios[g] * told.relative[m.i]
                    index = gittins(its_mean, variance, noise, problem.log_n, problem.g, place_m)
                    sums = joined(sums, (p, index, 0.0))
            g += m.subs
        return together(m, mean, square, sums, doubt, own)

    return mix


@part
def together(m: Mix, mean: float, square: float, sums: Three, doubt: float, own: Array) -> float:
    """Set mean and variance, and return the index, of what all threads of an arm have found."""
    first = SUMS * m.sub * m.n + m.i
    if m.i < m.n:
        m.work[first], m.work[first + m.n] = mean, square
        m.work[first + 2 * m.n], m.work[first + 3 * m.n], m.work[first + 4 * m.n] = sums
    cuda.syncthreads()
    mean, square, sums = 0.0, 0.0, (0.0, 0.0, 0.0)
    if m.sub == 0 and m.i < m.n:
        for sub in range(m.subs):
            here = SUMS * sub * m.n + m.i
            mean += m.work[here]
            square += m.work[here + m.n]
            sums = joined(sums, (m.work[here + 2 * m.n], m.work[here + 3 * m.n], m.work[here + 4 * m.n]))
        own[MU], own[D] = mean, max(square - mean * mean, 0.0)
    weight, index, squares = sums
    return weight * index + doubt * math.sqrt(squares)


@part
def joined(one: Three, other: Three) -> Three:
    """Return weight, mean and squares about the mean of two groups together, which loses no digits."""
    weight, mean, squares = one
    more, its_mean, its_squares = other
    if more == 0.0:
        return one
    apart, share = its_mean - mean, more / (weight + more)
    return weight + more, mean + apart * share, squares + its_squares + apart * apart * weight * share
