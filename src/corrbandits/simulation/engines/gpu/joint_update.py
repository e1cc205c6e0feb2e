"""How a reward changes a belief on correlated arms, by a block of threads: `compiled.update`, an arm a thread.

Threads beyond the last arm take part in nothing but the barriers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.state import place

ARM, LENGTH, TRIED, MEASURED = state.ARM, state.LENGTH, state.TRIED, state.MEASURED
MU0, D0, W0, H, MU, D, W = state.MU0, state.D0, state.W0, state.H, state.MU, state.D, state.W
FLOOR, INVERSE = state.FLOOR, state.INVERSE
SURPRISE, PRECISION, VARIANCE, MEAN = state.SURPRISE, state.PRECISION, state.VARIANCE, state.MEAN
WEIGHT, FLOOR_K, NOISE, NOW, LEFT = state.WEIGHT, state.FLOOR_K, state.NOISE, state.NOW, state.LEFT

TOLD = 4
"""How many numbers one thread tells the others."""


class Block(NamedTuple):
    """What the threads of a block share."""

    n: int
    S: Array
    g: Array  # twice, one after the other, so that i + a needs no modulus
    inverse: Array  # likewise
    h: Array
    told: Array
    scratch: Array
    eps: Array  # noise of as many steps as there are threads


@part
def publish(vector: Array, value: float, n: int) -> None:
    """Write this thread's entry of a vector that stands twice."""
    i = cuda.threadIdx.x
    vector[i] = value
    vector[i + n] = value


@part
def settle(b: Block, own: Array, at: Any, of_run: Array, printed: bool) -> None:
    """End the streak, if there is one: carry it into S and, if asked, set every w."""
    if at[ARM] >= 0:
        invert(own)
        if cuda.threadIdx.x < b.n:
            publish(b.g, own[H] * math.sqrt(of_run[PRECISION]), b.n)
            publish(b.inverse, own[INVERSE], b.n)
        cuda.syncthreads()
        if printed:
            carry_printed(b, own)
        else:
            carry_plain(b)
        cuda.syncthreads()
        own[MU0], own[D0], own[W0] = own[MU], own[D], own[W]
        at[ARM] = -1


@part
def invert(own: Array) -> None:
    """Set 1 / d, and 0 where d is only rounding."""
    own[INVERSE] = 1.0 / own[D] if own[D] > own[FLOOR] else 0.0


@part
def carry_plain(b: Block) -> None:
    """Subtract g g' from the covariance: each thread that of its arm i and of arms i + a."""
    i, n = cuda.threadIdx.x, b.n
    if i < n:
        g_i = b.g[i]
        for a in range(1, (n - 1) // 2 + 1):
            b.S[(a - 1) * n + i] -= g_i * b.g[i + a]
        if 2 * i < n and n % 2 == 0:
            b.S[(n // 2 - 1) * n + i] -= g_i * b.g[i + n // 2]


@part
def carry_printed(b: Block, own: Array) -> None:
    """Subtract g g' from the covariance and set w_i^2 = sum_j S_ij^2 / S_jj, first over arms i + a, then over i - a."""
    i, n = cuda.threadIdx.x, b.n
    square = own[D]
    if i < n:
        g_i = b.g[i]
        for a in range(1, (n - 1) // 2 + 1):
            s = b.S[(a - 1) * n + i] - g_i * b.g[i + a]
            b.S[(a - 1) * n + i] = s
            square += s * s * b.inverse[i + a]
        if 2 * i < n and n % 2 == 0:
            s = b.S[(n // 2 - 1) * n + i] - g_i * b.g[i + n // 2]
            b.S[(n // 2 - 1) * n + i] = s
            square += s * s * b.inverse[i + n // 2]
    cuda.syncthreads()
    if i < n:
        own[W] = math.sqrt(square + squares_behind(b, i))


@part
def squares_behind(b: Block, i: int) -> float:
    """Return the sum of S_ij^2 / S_jj over arms j = i - a."""
    n, square = b.n, 0.0
    for a in range(1, (n - 1) // 2 + 1):
        j = i - a if i >= a else i - a + n
        s = b.S[(a - 1) * n + j]
        square += s * s * b.inverse[j]
    if 2 * i >= n and n % 2 == 0:
        s = b.S[(n // 2 - 1) * n + i - n // 2]
        square += s * s * b.inverse[i - n // 2]
    return square


@part
def start(b: Block, own: Array, at: Any, of_run: Array, k: int) -> None:
    """Begin a streak of arm k: move its row from S to h, and tell all what thread k knows of it."""
    i = cuda.threadIdx.x
    if i == k:
        b.told[0], b.told[1], b.told[2], b.told[3] = own[D0], own[MU0], own[W0], own[FLOOR]
        own[H] = 0.0
    elif i < b.n:
        here = place(i, k, b.n)
        own[H] = b.S[here]
        b.S[here] = 0.0
    cuda.syncthreads()
    of_run[VARIANCE], of_run[MEAN], of_run[WEIGHT], of_run[FLOOR_K] = b.told[0], b.told[1], b.told[2], b.told[3]
    most = of_run[VARIANCE] * own[D0]  # beyond its root lies only rounding
    if own[H] * own[H] > most:
        own[H] = math.copysign(math.sqrt(most), own[H])
    if i < b.n:
        b.h[i] = own[H]
    at[ARM], at[LENGTH], at[TRIED], at[MEASURED] = k, 0, 0, 0
    of_run[SURPRISE] = 0.0


@part
def take(own: Array, at: Any, of_run: Array, k: int, reward: float, noise: float) -> None:
    """Take a reward of the streak's arm k into means and variances (eq. sherman-morrison, n rewards as one average)."""
    at[LENGTH] += 1
    of_run[SURPRISE] += reward - of_run[MEAN]
    share = 1.0 / at[LENGTH]
    variance, s = of_run[VARIANCE], noise * share
    c = 1.0 / (s + variance)
    gain = of_run[SURPRISE] * share * c
    of_run[PRECISION], of_run[NOISE] = c, s
    of_run[NOW], of_run[LEFT] = of_run[MEAN] + variance * gain, s * (variance * c)
    rest = own[D0] - c * own[H] * own[H]
    own[MU] = own[MU0] + own[H] * gain
    own[D] = rest if rest > 0.0 else 0.0
    if cuda.threadIdx.x == k:
        own[MU], own[D], own[H] = of_run[NOW], of_run[LEFT], -s
