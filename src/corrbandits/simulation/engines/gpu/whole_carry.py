"""How a streak is carried into the covariance of thousands of arms, by all warps of the device (`whole`).

A warp takes a tile of arms, one for each of its threads, and a chunk of distances a: the covariances of arms i and
i + a. What these add to w_i^2 it sums up, what they add to that of arms i + a it passes on (`joint_update.carry`).
"""

from __future__ import annotations

import math
from typing import Any

from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, part
from corrbandits.simulation.engines.gpu.joint_update import pass_on_to
from corrbandits.simulation.engines.gpu.lanes import LANES
from corrbandits.simulation.engines.gpu.meeting import meet
from corrbandits.simulation.engines.gpu.state import Kept

CHUNK = 9 if SIMULATED else 256
"""How many distances of arms a warp takes at once."""

H, D, W = state.H, state.D, state.W
INVERSE = state.X
"""The row of 1 / d, where the other kernels have what is not needed here."""

Four = tuple[float, float, float, float]


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
def carry_tile(kept: Kept, rows: Array, tile: int, chunk: int, c: float, printed: bool) -> None:
    """Subtract c h h' from the covariances of a tile; write what it adds to w^2, if asked (`joint_update.carry`)."""
    n, first = rows.shape[1], chunk * CHUNK
    i, a, square, passing = tile * LANES + cuda.threadIdx.x % LANES, first + 1, 0.0, 0.0
    last, here = min(first + CHUNK, n // 2), (chunk * chunks_tiles(n) + tile) * (CHUNK + 1 + LANES) - first
    h, inverse = (c * rows[H, i], rows[INVERSE, i]) if i < n else (0.0, 0.0)
    while a + 7 <= min(last, (n - 1) // 2):
        near, far = fetch_four(kept.S, n, i, a), fetch_four(kept.S, n, i, a + 4)
        for_four = carry_four(kept.S, rows, i, a, h, near)
        for_more = carry_four(kept.S, rows, i, a + 4, h, far)
        if printed:
            square += ahead_four(rows, i, a, for_four) + ahead_four(rows, i, a + 4, for_more)
            passing = pass_four(kept.passed, here + a, passing, inverse, for_four)
            passing = pass_four(kept.passed, here + a + 4, passing, inverse, for_more)
        a += 8
    while a <= last:
        s = carry_one(kept.S, rows, i, a, h)
        if printed:
            square += ahead(rows, i, a, s)
            passing = pass_on_to(kept.passed, here + a, passing + s * s * inverse)
        a += 1
    if printed:
        kept.passed[here + a + cuda.threadIdx.x % LANES] = passing
        if i < n:
            kept.ahead[chunk, i] = square


@part
def other(i: int, a: int, n: int) -> int:
    """Return the arm a ahead of arm i; some arm if there is no arm i."""
    j = min(i, n - 1) + a
    return j if j < n else j - n


@part
def ahead(rows: Array, i: int, a: int, s: float) -> float:
    """Return S_ij^2 / S_jj of an arm j = i + a."""
    return s * s * rows[INVERSE, other(i, a, rows.shape[1])]


@part
def carry_one(S: Array, rows: Array, i: int, a: int, h: float) -> float:
    """Subtract from one covariance and return it; 0 if this thread has none."""
    n = rows.shape[1]
    if i >= n or (2 * a == n and 2 * i >= n):
        return 0.0
    s = S[0, (a - 1) * n + i] - h * rows[H, other(i, a, n)]
    S[0, (a - 1) * n + i] = s
    return float(s)


@part
def fetch_four(S: Array, n: int, i: int, a: int) -> Four:
    """Return four covariances: eight are fetched before one is written, which hides how long that takes."""
    if i >= n:
        return 0.0, 0.0, 0.0, 0.0
    here = (a - 1) * n + i
    return S[0, here], S[0, here + n], S[0, here + 2 * n], S[0, here + 3 * n]


@part
def carry_four(S: Array, rows: Array, i: int, a: int, h: float, four: Four) -> Four:
    """Subtract from four covariances that were fetched."""
    n, (s, t, u, v) = rows.shape[1], four
    if i < n:
        here = (a - 1) * n + i
        s -= h * rows[H, other(i, a, n)]
        t -= h * rows[H, other(i, a + 1, n)]
        u -= h * rows[H, other(i, a + 2, n)]
        v -= h * rows[H, other(i, a + 3, n)]
        S[0, here], S[0, here + n], S[0, here + 2 * n], S[0, here + 3 * n] = s, t, u, v
    return s, t, u, v


@part
def ahead_four(rows: Array, i: int, a: int, four: Four) -> float:
    """Return the sum of S_ij^2 / S_jj over four arms j."""
    s, t, u, v = four
    return ahead(rows, i, a, s) + ahead(rows, i, a + 1, t) + (ahead(rows, i, a + 2, u) + ahead(rows, i, a + 3, v))


@part
def pass_four(passed: Array, here: int, passing: float, inverse: float, four: Four) -> float:
    """Pass on S_ij^2 / S_ii to four arms j."""
    s, t, u, v = four
    passing = pass_on_to(passed, here, passing + s * s * inverse)
    passing = pass_on_to(passed, here + 1, passing + t * t * inverse)
    passing = pass_on_to(passed, here + 2, passing + u * u * inverse)
    return float(pass_on_to(passed, here + 3, passing + v * v * inverse))


@part
def carry(kept: Kept, rows: Array, c: float, printed: bool) -> None:
    """Carry the streak into S, a tile a warp."""
    tiles = chunks_tiles(rows.shape[1])
    chunks = (rows.shape[1] // 2 + CHUNK - 1) // CHUNK
    for work in range(cuda.grid(1) // LANES, tiles * chunks, cuda.gridsize(1) // LANES):
        carry_tile(kept, rows, work % tiles, work // tiles, c, printed)


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
