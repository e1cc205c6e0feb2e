"""Passes over half a covariance in strips, by all warps of a team: to carry streaks into it, and to sum up its rows.

    name       shape              meaning
    G          (waiting + 1, N)   streaks that are not yet in S: off the diagonal the covariance is S - G'G; then v
    by_row     (rows,)            sum over a strip's columns j of x_ij v_j, x the covariance or its square
    by_column  (slots, WIDE)      sum over a chunk's rows i of x_ij v_i; slot: chunk + strip

N is the number of arms rounded up to whole strips; G and v are 0 beyond the last arm.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu.compiling import part, pure
from corrbandits.simulation.engines.gpu.lanes import LANES, PARTS, meet_in_warp, sum_of_parts, write_rows
from corrbandits.simulation.engines.gpu.strips import (
    ROWS,
    WIDE,
    chunk_of,
    chunks_of,
    first_of_chunk,
    first_row,
    groups_of,
    share_of,
    strip_of,
    whole_rows,
)
from corrbandits.simulation.engines.gpu.team_state import Team

NOTHING, PRODUCTS, SQUARES = range(3)
"""What is summed up in a pass: nothing, covariances times v, or their squares times v."""

BOTH = 2 * ROWS
"""Covariances that a thread takes at once, in two columns."""

ROW = np.uint64(ROWS)

AT_ONCE = 8
"""How many numbers a thread fetches before it needs the first."""


@pure
def staged_by_warp(waiting: int) -> int:
    """Return how many numbers a warp needs of the rows that it takes at once: of streaks, and v.

    >>> staged_by_warp(4) == 5 * ROWS
    True
    """
    return (waiting + 1) * ROWS


@cache
def sweep_of(waiting: int, terms: int) -> Any:
    """Return the pass that subtracts so many streaks and sums up these terms; what it subtracts it may write."""
    factors = 2 * waiting + 2  # of a thread's two columns: in each streak, and v
    size = np.uint64(staged_by_warp(waiting))
    turns = -(-staged_by_warp(waiting) // LANES)

    @part
    def stage(G: Array, i: int, staged: Array) -> None:
        """Fetch what a group needs of its rows, each number once for a warp."""
        lane, fetched = np.uint64(cuda.threadIdx.x % LANES), cuda.local.array(turns, float64)
        for turn in range(turns):
            one = lane + np.uint64(turn * LANES)
            if one < size:
                fetched[turn] = G[one // ROW, np.uint64(i) + one % ROW]
        for turn in range(turns):
            one = lane + np.uint64(turn * LANES)
            if one < size:
                staged[one] = fetched[turn]
        meet_in_warp()

    @part
    def group(S: Array, G: Array, row: int, i: int, first: int, mine: Array, sums: Array, rows: Array,
              staged: Array, writes: bool) -> None:  # fmt: skip
        """Take a group of rows from arm i on, of the strip whose columns begin with arm `first`."""
        lane = cuda.threadIdx.x % LANES
        here, s = np.uint64(row * WIDE + lane), cuda.local.array(BOTH, float64)
        for one in range(BOTH):
            s[one] = S[here + np.uint64(one * LANES)]
        stage(G, i, staged)
        for r in range(ROWS):
            near, far = s[2 * r], s[2 * r + 1]
            for one in range(waiting):
                g = staged[np.uint64(one * ROWS + r)]
                near -= g * mine[2 * one]
                far -= g * mine[2 * one + 1]
            s[2 * r] = near if first + lane < i + r else 0.0
            s[2 * r + 1] = far if first + LANES + lane < i + r else 0.0
        if writes:
            for one in range(BOTH):
                S[here + np.uint64(one * LANES)] = s[one]
        if terms != NOTHING:
            for r in range(ROWS):
                near, far, v = s[2 * r], s[2 * r + 1], staged[np.uint64(waiting * ROWS + r)]
                if terms == SQUARES:
                    near, far = near * near, far * far
                rows[r] = near * mine[2 * waiting] + far * mine[2 * waiting + 1]
                sums[0] += near * v
                sums[1] += far * v
        meet_in_warp()

    @part
    def segment(S: Array, G: Array, n: int, strip: int, row: int, last: int, by_row: Array,
                by_column: Array, slot: int, staged: Array, writes: bool) -> None:  # fmt: skip
        """Take the rows of one strip from one up to another."""
        lane, first, m = cuda.threadIdx.x % LANES, strip * WIDE, whole_rows(n)
        mine, sums = cuda.local.array(factors, float64), cuda.local.array(2, float64)
        rows = cuda.local.array(ROWS, float64)
        for side in range(2):
            j = first + side * LANES + lane
            for one in range(waiting + 1):
                mine[2 * one + side] = G[one, j]
            sums[side] = 0.0
        i = first + row - first_row(strip, m)
        while row < last:
            group(S, G, row, i, first, mine, sums, rows, staged, writes)
            if terms != NOTHING:
                write_rows(rows, lane, by_row, row)
            row += ROWS
            i += ROWS
        if terms != NOTHING:
            by_column[slot, lane] = sums[0]
            by_column[slot, lane + LANES] = sums[1]

    @part
    def sweep(team: Team, writes: bool) -> None:
        """Take some of the chunks; write what is left after the streaks that wait, if asked."""
        n, warp = team.n, cuda.threadIdx.x // LANES
        m, staged = whole_rows(n), team.staged[warp * staged_by_warp(waiting) :]
        groups, chunks = groups_of(n), chunks_of(n)
        chunk, step, end = share_of(team.me // LANES, team.many // LANES, n)
        while chunk < end:
            row, last = first_of_chunk(chunk, groups, chunks), first_of_chunk(chunk + 1, groups, chunks)
            strip = strip_of(row, m)
            while row < last:
                until = min(last, first_row(strip + 1, m))
                segment(team.S, team.G, n, strip, row, until, team.by_row, team.by_column, chunk + strip,
                        staged, writes)  # fmt: skip
                row, strip = until, strip + 1
            chunk += step

    return sweep


@part
def summed(team: Team, i: int) -> float:
    """Return the sum over all arms j of x_ij v_j, found by as many threads of a warp as an arm's terms have parts."""
    n, part_of = team.n, cuda.threadIdx.x % LANES // (LANES // PARTS)
    m, groups, chunks, last, total = whole_rows(n), groups_of(n), chunks_of(n), i // WIDE, 0.0
    rows, columns = cuda.local.array(AT_ONCE, float64), cuda.local.array(AT_ONCE, float64)
    strip, chunk = part_of, chunk_of(first_row(last, m), groups, chunks) + part_of
    end = chunk_of(first_row(last + 1, m) - 1, groups, chunks)
    while strip <= last or chunk <= end:
        for step in range(AT_ONCE):
            one, other = min(strip + step * PARTS, last), min(chunk + step * PARTS, end)
            rows[step] = team.by_row[np.uint64(first_row(one, m) + i - WIDE * one)]
            columns[step] = team.by_column[np.uint64(other + last), np.uint64(i - WIDE * last)]
        for step in range(AT_ONCE):
            total += rows[step] if strip + step * PARTS <= last else 0.0
            total += columns[step] if chunk + step * PARTS <= end else 0.0
        strip, chunk = strip + AT_ONCE * PARTS, chunk + AT_ONCE * PARTS
    return float(sum_of_parts(total))
