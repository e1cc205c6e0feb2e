"""How a reward changes a belief on correlated arms, by a block of threads: `compiled.update`, an arm a thread.

Threads beyond the last arm take part in nothing but the barriers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
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

Four = tuple[float, float, float, float]

ONE, TWO, THREE = (np.uint64(number) for number in (1, 2, 3))
"""Places that are no negative numbers need not be looked at whether they count from the end."""

TOLD = 4
"""How many numbers one thread tells the others."""


class Block(NamedTuple):
    """What the threads of a block share."""

    n: int
    warps: int  # so many have arms
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
        square = own[D] + carry(b)
        cuda.syncthreads()
        if printed:
            square += behind(b)
            own[W] = math.sqrt(square)
            cuda.syncthreads()  # the next streak takes its row out of S
        own[MU0], own[D0], own[W0] = own[MU], own[D], own[W]
        at[ARM] = -1


@part
def invert(own: Array) -> None:
    """Set 1 / d, and 0 where d is only rounding."""
    own[INVERSE] = 1.0 / own[D] if own[D] > own[FLOOR] else 0.0


@part
def carry(b: Block) -> float:
    """Subtract g g' from the covariance, each thread from that of its arm i with arms j = i + a.

    Return the sum of S_ij^2 / S_jj over these j.
    """
    i, n, a, square = cuda.threadIdx.x, b.n, 1, 0.0
    while a + 3 <= (n - 1) // 2:
        square += ahead_four(b, i, a, carry_four(b, i, a))
        a += 4
    while a <= n // 2:
        s = carry_one(b, i, a)
        square += s * s * b.inverse[min(i, n - 1) + a]
        a += 1
    return square


@part
def carry_one(b: Block, i: int, a: int) -> float:
    """Subtract from one covariance and return it; 0 if this thread has none."""
    if i >= b.n or (2 * a == b.n and 2 * i >= b.n):
        return 0.0
    here = np.uint64((a - 1) * b.n + i)
    s = b.S[here] - b.g[i] * b.g[i + a]
    b.S[here] = s
    return float(s)


@part
def carry_four(b: Block, i: int, a: int) -> Four:
    """Subtract from four covariances: all are fetched before one is written, which hides how long that takes."""
    if i >= b.n:
        return 0.0, 0.0, 0.0, 0.0
    here, n, j, g = np.uint64((a - 1) * b.n + i), np.uint64(b.n), np.uint64(i + a), b.g[np.uint64(i)]
    second, third, fourth = here + n, here + TWO * n, here + THREE * n
    s, t, u, v = b.S[here], b.S[second], b.S[third], b.S[fourth]
    s -= g * b.g[j]
    t -= g * b.g[j + ONE]
    u -= g * b.g[j + TWO]
    v -= g * b.g[j + THREE]
    b.S[here], b.S[second], b.S[third], b.S[fourth] = s, t, u, v
    return s, t, u, v


@part
def ahead_four(b: Block, i: int, a: int, four: Four) -> float:
    """Return the sum of S_ij^2 / S_jj over four arms j = i + a."""
    j, (s, t, u, v) = np.uint64(min(i, b.n - 1) + a), four
    near = s * s * b.inverse[j] + t * t * b.inverse[j + ONE]
    return near + (u * u * b.inverse[j + TWO] + v * v * b.inverse[j + THREE])


@part
def behind(b: Block) -> float:
    """Return the sum of S_ij^2 / S_jj over arms j = i - a, read again."""
    i, n, total = cuda.threadIdx.x, b.n, 0.0
    if i < n:
        for a in range(1, (n - 1) // 2 + 1):
            s = b.S[np.uint64(a * (n - 1) - n + i + (n if a > i else 0))]
            total += s * s * b.inverse[np.uint64(i - a + n)]
        if 2 * i >= n and n % 2 == 0:
            s = b.S[(n // 2 - 1) * n + i - n // 2]
            total += s * s * b.inverse[i - n // 2]
    return total


@part
def times_g(b: Block) -> float:
    """Return the sum of S_ij g_j over all arms j but this thread's own."""
    i, n, total = cuda.threadIdx.x, b.n, 0.0
    if i < n:
        for a in range(1, (n - 1) // 2 + 1):
            total += b.S[(a - 1) * n + i] * b.g[i + a]
            total += b.S[a * (n - 1) - n + i + (n if a > i else 0)] * b.g[i - a + n]
        if n % 2 == 0:
            total += b.S[(n // 2 - 1) * n + i % (n // 2)] * b.g[i + n // 2]
    return total


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
