"""How a streak is carried into the covariance of thousands of arms, by all warps of the device (`whole`).

A warp takes a tile of arms, one for each of its threads, and a chunk of distances a: the covariances of arms i and
i + a. What these add to w_i^2 it sums up, what they add to that of arms i + a it passes on (`joint_update.carry`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, part
from corrbandits.simulation.engines.gpu.joint_update import ONE, THREE, TWO, Four, pass_four, pass_on
from corrbandits.simulation.engines.gpu.lanes import LANES
from corrbandits.simulation.engines.gpu.meeting import meet
from corrbandits.simulation.engines.gpu.state import Kept

CHUNK = 9 if SIMULATED else 256
"""How many distances of arms a warp takes at once."""

D, W = state.D, state.W


def tiles_of(arms: int) -> int:
    """Return how many warps are needed for an arm a thread."""
    return -(-arms // LANES)


def chunks_of(arms: int) -> int:
    """Return how many chunks there are of distances from 1 to half the arms."""
    return -(-(arms // 2) // CHUNK)


def passed_by_tile() -> int:
    """Return how many numbers a warp passes on of a tile."""
    return CHUNK + 1 + LANES


@part
def chunks_tiles(n: int) -> int:
    """Return how many tiles a chunk has."""
    return (n + LANES - 1) // LANES


@part
def carry_tile(kept: Kept, n: int, tile: int, chunk: int, c: float, printed: bool) -> None:
    """Subtract c h h' from the covariances of a tile; write what it adds to w^2, if asked (`joint_update.carry`)."""
    i, a, square, passing = tile * LANES + cuda.threadIdx.x % LANES, chunk * CHUNK + 1, 0.0, 0.0
    last = min((chunk + 1) * CHUNK, n // 2)
    here = (chunk * chunks_tiles(n) + tile) * (CHUNK + 1 + LANES) - chunk * CHUNK
    own = min(i, n - 1)
    h, inverse = c * kept.pairs[0, own], kept.pairs[1, own]
    while a + 7 <= min(last, (n - 1) // 2):
        near, far = fetch_four(kept.S, n, i, a), fetch_four(kept.S, n, i, a + 4)
        near = carry_four(kept, n, i, a, h, near)
        far = carry_four(kept, n, i, a + 4, h, far)
        if printed:
            square += ahead_four(kept.pairs, own + a, near) + ahead_four(kept.pairs, own + a + 4, far)
            passing = pass_four(kept.passed, here + a, passing, inverse, near)
            passing = pass_four(kept.passed, here + a + 4, passing, inverse, far)
        a += 8
    while a <= last:
        s = carry_one(kept, n, i, a, h)
        if printed:
            square += s * s * kept.pairs[1, own + a]
            passing = pass_on(kept.passed, here + a, passing + s * s * inverse)
        a += 1
    if printed:
        kept.passed[here + a + cuda.threadIdx.x % LANES] = passing
        if i < n:
            kept.ahead[chunk, i] = square


@part
def carry_one(kept: Kept, n: int, i: int, a: int, h: float) -> float:
    """Subtract from one covariance and return it; 0 if this thread has none."""
    if i >= n or (2 * a == n and 2 * i >= n):
        return 0.0
    s = kept.S[0, (a - 1) * n + i] - h * kept.pairs[0, i + a]
    kept.S[0, (a - 1) * n + i] = s
    return float(s)


@part
def fetch_four(S: Array, n: int, i: int, a: int) -> Four:
    """Return four covariances: eight are fetched before one is written, which hides how long that takes."""
    if i >= n:
        return 0.0, 0.0, 0.0, 0.0
    here, step = np.uint64((a - 1) * n + i), np.uint64(n)
    return S[0, here], S[0, here + step], S[0, here + TWO * step], S[0, here + THREE * step]


@part
def carry_four(kept: Kept, n: int, i: int, a: int, h: float, four: Four) -> Four:
    """Subtract from four covariances that were fetched."""
    s, t, u, v = four
    if i < n:
        here, step, j = np.uint64((a - 1) * n + i), np.uint64(n), np.uint64(i + a)
        s -= h * kept.pairs[0, j]
        t -= h * kept.pairs[0, j + ONE]
        u -= h * kept.pairs[0, j + TWO]
        v -= h * kept.pairs[0, j + THREE]
        kept.S[0, here], kept.S[0, here + step] = s, t
        kept.S[0, here + TWO * step], kept.S[0, here + THREE * step] = u, v
    return s, t, u, v


@part
def ahead_four(pairs: Array, j: int, four: Four) -> float:
    """Return the sum of S_ij^2 / S_jj over four arms from j on."""
    first, (s, t, u, v) = np.uint64(j), four
    near = s * s * pairs[1, first] + t * t * pairs[1, first + ONE]
    return near + (u * u * pairs[1, first + TWO] + v * v * pairs[1, first + THREE])


@part
def carry(kept: Kept, n: int, c: float, printed: bool) -> None:
    """Carry the streak into S, a tile a warp."""
    tiles, chunks = chunks_tiles(n), (n // 2 + CHUNK - 1) // CHUNK
    for work in range(cuda.grid(1) // LANES, tiles * chunks, cuda.gridsize(1) // LANES):
        carry_tile(kept, n, work % tiles, work // tiles, c, printed)


@part
def received(kept: Kept, n: int, chunk: int, i: int) -> float:
    """Return the sum of S_ij^2 / S_jj over arms j behind, of a chunk, which all its tiles have passed on to arm i."""
    tiles, total = chunks_tiles(n), 0.0
    wide = min((chunk + 1) * CHUNK, n // 2) - chunk * CHUNK
    x = (i - chunk * CHUNK - 1) % n
    tile = x // LANES
    while x - tile * LANES + 1 < wide + LANES:
        total += kept.passed[(chunk * tiles + tile) * (CHUNK + 1 + LANES) + x - tile * LANES + 1]
        tile -= 1
        if tile < 0:
            tile, x = tiles - 1, x + n
    return total


@part
def weigh(kept: Kept, rows: Array, meetings: Any) -> None:
    """Set every w from what the tiles have written: first by arm and chunk, then by arm."""
    n = rows.shape[1]
    chunks = (n // 2 + CHUNK - 1) // CHUNK
    for work in range(cuda.grid(1), n * chunks, cuda.gridsize(1)):
        kept.ahead[work // n, work % n] += received(kept, n, work // n, work % n)
    meet(kept, meetings)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        square = rows[D, i]
        for chunk in range(chunks):
            square += kept.ahead[chunk, i]
        rows[W, i] = math.sqrt(square)
