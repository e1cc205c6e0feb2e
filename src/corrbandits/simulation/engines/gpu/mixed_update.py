"""How a belief told nothing takes a reward, by a block of threads: `compiled.mixed_update`.

In a streak u, w and d move along h, by the same factors for all arms: a reward changes numbers of the parts alone,
thread g those of part g. Only when the arm changes each thread carries the streak into the entries of its arm under
its parts, and computes those of the new row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.mixed_state import Told
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.mixed_state import (
    AT_ONCE,
    BLOCK,
    CARRIED,
    CROSSED,
    DIFFER,
    ENTRIES,
    HELD,
    LATE,
    LOG_DETERMINANT,
    NUMBER,
    OFFSET,
    ONES,
    SQUARES,
    TO_D,
    TO_U,
    TO_W,
    Mix,
    above,
)

ARM, LENGTH = state.ARM, state.LENGTH


@part
def without_offset(told: Told, at: Any, of_run: Array, reward: float) -> float:
    """Return a reward less the first one, and see whether it differs."""
    if at[NUMBER] == 0:
        of_run[OFFSET] = reward
        if not told.flat and reward != told.centre:
            at[DIFFER] = 1
    elif reward != of_run[OFFSET]:
        at[DIFFER] = 1
    return float(reward - of_run[OFFSET])


@part
def take(m: Mix, told: Told, at: Any, k: int, z: float) -> None:
    """Take a reward of the streak's arm k into the numbers of every part."""
    g = cuda.threadIdx.x
    while g < m.parts:
        p, here = m.of_part[g * ENTRIES : (g + 1) * ENTRIES], g * m.n + k
        noise, held = told.ratios[g] * told.relative[k], p[HELD]
        shrunk = noise / (noise + at[LENGTH] * held)  # the row now is so much of h
        expected = shrunk * held + noise
        precision = 1.0 / expected
        apart, one = z - (m.u[here] + p[TO_U] * held), 1.0 - (m.w[here] + p[TO_W] * held)
        p[ONES] += one * one * precision
        p[CROSSED] += one * apart * precision
        p[SQUARES] += apart * apart * precision
        p[LOG_DETERMINANT] += math.log(expected)
        p[TO_U] += shrunk * apart * precision
        p[TO_W] += shrunk * one * precision
        p[TO_D] += shrunk * shrunk * precision
        g += cuda.blockDim.x
    at[LENGTH] += 1
    at[NUMBER] += 1


@part
def begin_streak(m: Mix, told: Told, at: Any, k: int) -> None:
    """Put off the product of the streak that ends, and set the row of arm k."""
    cuda.syncthreads()  # all have read what stands in `work`
    if at[ARM] >= 0:
        put_off(m, told, at)
    write_factors(m, at[LATE], k)
    g = m.sub
    while g < m.parts and m.i < m.n:
        settle(m, g)
        write_row(m, g, k, at[LATE], m.S if at[CARRIED] else m.prior)
        g += m.subs
    cuda.syncthreads()
    g = cuda.threadIdx.x
    while g < m.parts:
        p = m.of_part[g * ENTRIES : (g + 1) * ENTRIES]
        p[HELD], p[TO_U], p[TO_W], p[TO_D] = m.h[g * m.n + k], 0.0, 0.0, 0.0
        g += cuda.blockDim.x
    at[ARM], at[LENGTH] = k, 0


@part
def put_off(m: Mix, told: Told, at: Any) -> None:
    """Note the root of the factor of the streak that ends; once there are so many products, take them from S."""
    lasted, relative, g = 1.0 * at[LENGTH], told.relative[at[ARM]], cuda.threadIdx.x
    while g < m.parts:
        held = m.of_part[g * ENTRIES + HELD]
        m.c[g * BLOCK + at[LATE]] = math.sqrt(lasted / (told.ratios[g] * relative + lasted * held))
        g += cuda.blockDim.x
    at[LATE] += 1
    cuda.syncthreads()
    if at[LATE] == BLOCK:
        take_products(m, m.S if at[CARRIED] else m.prior)
        at[LATE], at[CARRIED] = 0, 1


@part
def write_factors(m: Mix, late: int, k: int) -> None:
    """Write how much of each row that is put off is taken from that of arm k."""
    e = cuda.threadIdx.x
    while e < m.parts * BLOCK:
        m.work[e] = m.c[e] * m.c[e] * m.rows[e * m.n + k] if e % BLOCK < late else 0.0
        e += cuda.blockDim.x
    cuda.syncthreads()


@part
def settle(m: Mix, g: int) -> None:
    """Carry the streak into this thread's entries of u, w and d under a part."""
    here, of = np.uint64(g * m.n + m.i), np.uint64(g * ENTRIES)
    h = m.h[here]
    m.u[here] += m.of_part[of + np.uint64(TO_U)] * h
    m.w[here] += m.of_part[of + np.uint64(TO_W)] * h
    m.d[here] = max(m.d[here] - m.of_part[of + np.uint64(TO_D)] * h * h, 0.0)


@part
def write_row(m: Mix, g: int, k: int, late: int, source: Array) -> None:
    """Set this thread's entry of the row of arm k under a part."""
    fetched, n, q = cuda.local.array(AT_ONCE, float64), np.uint64(m.n), 0
    low, high = min(m.i, k), max(m.i, k)
    value = source[np.uint64(g * (m.n * (m.n + 1) // 2) + above(low, m.n) + high)]
    here, factor = np.uint64(g * BLOCK * m.n + m.i), np.uint64(g * BLOCK)
    while q < late:
        for r in range(AT_ONCE):
            fetched[r] = m.rows[here] if q + r < late else 0.0
            here += n
        for r in range(AT_ONCE):
            value -= m.work[factor + np.uint64(r)] * fetched[r]
        factor += np.uint64(AT_ONCE)
        q += AT_ONCE
    m.rows[np.uint64((g * BLOCK + late) * m.n + m.i)] = value
    m.h[np.uint64(g * m.n + m.i)] = value


@part
def take_products(m: Mix, source: Array) -> None:
    """Take the products that were put off from S, which is read from a source; all threads together."""
    for g in range(m.parts):
        cuda.syncthreads()
        if m.i < m.n:
            scale_rows(m, g)
        cuda.syncthreads()
        j = AT_ONCE * m.sub
        while j <= m.i < m.n:
            take_columns(m, source, g * (m.n * (m.n + 1) // 2) + m.i, j)
            j += AT_ONCE * m.subs
    cuda.syncthreads()


@part
def scale_rows(m: Mix, g: int) -> None:
    """Write this thread's entries of the rows of a part that are put off, each times the root of its factor."""
    fetched, q, first, step = cuda.local.array(AT_ONCE, float64), m.sub, g * BLOCK, m.subs * m.n
    while q < BLOCK:
        here = (first + q) * m.n + m.i
        for r in range(AT_ONCE):
            fetched[r] = m.rows[np.uint64(here)] if q + r * m.subs < BLOCK else 0.0
            here += step
        here = q * m.n + m.i
        for r in range(AT_ONCE):
            if q + r * m.subs < BLOCK:
                m.work[np.uint64(here)] = m.c[np.uint64(first + q + r * m.subs)] * fetched[r]
            here += step
        q += AT_ONCE * m.subs


@part
def take_columns(m: Mix, source: Array, first: int, j: int) -> None:
    """Take the products from some entries of row i of a part: columns j and after it, up to i."""
    s, left, place, step = cuda.local.array(AT_ONCE, float64), m.i - j, first + above(j, m.n), m.n - 1 - j
    for r in range(AT_ONCE):
        s[r] = source[np.uint64(place)] if r <= left else 0.0
        place += step - r
    row, column, n = np.uint64(m.i), np.uint64(j), np.uint64(m.n)
    for _ in range(BLOCK):
        h = m.work[row]
        for r in range(AT_ONCE):
            s[r] -= h * m.work[column + np.uint64(r)]
        row, column = row + n, column + n
    place = first + above(j, m.n)
    for r in range(AT_ONCE):
        if r <= left:
            m.S[np.uint64(place)] = s[r]
        place += step - r
