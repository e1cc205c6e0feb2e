"""How half the covariance of many arms lies in the memory of the device: in strips of columns.

    name     meaning
    n        number of arms
    m        n rounded up to whole groups of rows
    strip    WIDE columns j of all rows i from the first of these columns on, row after row; where j >= i it is 0
    row      a row of a strip: rows of all strips stand one after the other
    group    ROWS such rows, which a warp reads at once
    chunk    groups that a warp takes one after the other, as many in each chunk, or one more

So a warp reads memory without gaps, and 7 % of it for nothing at 1,000 arms. Chunks depend on n alone, and with them
the order of every sum: a run is the same, bit for bit, however many blocks play it.
"""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, pure
from corrbandits.simulation.engines.gpu.lanes import LANES

WIDE = 2 * LANES
ROWS = 2 if SIMULATED else 8
CHUNKS, SMALL, LARGE = 64, 1100, 8192
"""On fewer arms a block plays a run, and there are so many chunks, neighbours for each of its warps; on many arms a
chunk has 16 groups, which leaves fewer sums to add up; in between 4, which the warps of a device share."""


@pure
def whole_rows(n: int) -> int:
    """Return m.

    >>> whole_rows(ROWS + 1) == 2 * ROWS
    True
    """
    return (n + ROWS - 1) // ROWS * ROWS


@pure
def strips_of(n: int) -> int:
    """Return the number of strips.

    >>> [strips_of(n) for n in (1, WIDE, WIDE + 1)]
    [1, 1, 2]
    """
    return (n + WIDE - 1) // WIDE


@pure
def first_row(strip: int, m: int) -> int:
    """Return the number of rows of all strips before this one.

    >>> first_row(2, 10 * WIDE) == 19 * WIDE
    True
    """
    return strip * m - WIDE * (strip * (strip - 1) // 2)


@pure
def strip_of(row: int, m: int) -> int:
    """Return the strip in which a row stands: the root of a quadratic, and its neighbours lest rounding decide.

    >>> [strip_of(row, 2 * WIDE) for row in (0, 2 * WIDE - 1, 2 * WIDE)]
    [0, 0, 1]
    """
    b = m + 0.5 * WIDE
    strip = int((b - math.sqrt(max(b * b - 2.0 * WIDE * row, 0.0))) / WIDE)
    while first_row(strip, m) > row:
        strip -= 1
    while first_row(strip + 1, m) <= row:
        strip += 1
    return strip


@pure
def groups_of(n: int) -> int:
    """Return the number of groups.

    >>> groups_of(WIDE) == WIDE // ROWS
    True
    """
    return first_row(strips_of(n), whole_rows(n)) // ROWS


@pure
def chunks_of(n: int) -> int:
    """Return the number of chunks."""
    groups = groups_of(n)
    if n <= SMALL:
        return min(groups, CHUNKS)
    return (groups + 15) // 16 if n >= LARGE else (groups + 3) // 4


@pure
def first_of_chunk(chunk: int, groups: int, chunks: int) -> int:
    """Return the first row of a chunk.

    >>> [first_of_chunk(chunk, groups=10, chunks=4) // ROWS for chunk in range(5)]
    [0, 2, 5, 7, 10]
    """
    return chunk * groups // chunks * ROWS


@pure
def chunk_of(row: int, groups: int, chunks: int) -> int:
    """Return the chunk in which a row stands.

    >>> [chunk_of(group * ROWS, groups=10, chunks=4) for group in range(10)]
    [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]
    """
    return ((row // ROWS + 1) * chunks - 1) // groups


@pure
def share_of(warp: int, warps: int, n: int) -> tuple[int, int, int]:
    """Return which chunks one of so many warps takes: the first, how far the next is, and where they end.

    A block's warps take neighbours, all of them as many groups; those of a device take turns, in memory that is near.

    >>> [share_of(warp, 4, n=WIDE) for warp in (0, 3)] == [(0, 1, chunks_of(WIDE) // 4), (3 * chunks_of(WIDE) // 4, 1,
    ...                                                                                 chunks_of(WIDE))]
    True
    """
    chunks = chunks_of(n)
    if n <= SMALL:
        return warp * chunks // warps, 1, (warp + 1) * chunks // warps
    return warp, warps, chunks


@pure
def place(i: int, j: int, n: int) -> int:
    """Return where the covariance of two of n arms stands.

    >>> place(1, 0, 9) == place(0, 1, 9) == WIDE
    True
    """
    low, high = min(i, j), max(i, j)
    strip = low // WIDE
    return (first_row(strip, whole_rows(n)) + high - WIDE * strip) * WIDE + low - WIDE * strip


def in_strips(covariance: Array) -> Array:
    """Return half a covariance matrix, in strips.

    >>> found = in_strips(np.array([[9.0, 2.0], [2.0, 9.0]]))
    >>> found[place(0, 1, 2)], found.sum()
    (np.float64(2.0), np.float64(2.0))
    """
    n, m = len(covariance), whole_rows(len(covariance))
    result = np.zeros((first_row(strips_of(n), m), WIDE))
    for strip in range(strips_of(n)):
        first, columns = first_row(strip, m), slice(strip * WIDE, min((strip + 1) * WIDE, n))
        below = covariance[strip * WIDE :, columns]
        result[first : first + len(below), : below.shape[1]] = np.tril(below, -1)
    return result.ravel()
