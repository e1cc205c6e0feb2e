"""What the kernels that play on a belief told nothing read and write: `compiled.mixed_state`, its arrays flat.

    name       shape              meaning
    S          (G N(N+1)/2,)      of each part what lies above the diagonal, row by row, and that (`above`)
    rows       (G BLOCK N,)       rows whose products are put off, and that of the streak
    c          (G BLOCK,)         their factors
    u, w, d    (G N,)             as there
    h          (G N,)             the row of the streak
    of_part    (G ENTRIES,)       numbers of each part

S, rows and c lie in the device's memory: they are touched when the arm changes. The rest lies in the memory that a
block shares, if it fits there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Vague
from corrbandits.simulation.engines.compiled.mixed_state import Told
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import SIMULATED, part, pure
from corrbandits.simulation.engines.gpu.lanes import LANES

BLOCK = 16
"""So many products are taken from S at once; a multiple of `AT_ONCE`, so that who fetches as many stays in a part."""

AT_ONCE = 8
"""A thread fetches so many numbers before it uses the first, which hides how long that takes."""

THREADS = 16 if SIMULATED else 512
"""A block has about so many threads, but no fewer than arms; in the simulator, two for each arm, unless runs differ."""

ONES, CROSSED, SQUARES, LOG_DETERMINANT, HELD, TO_U, TO_W, TO_D, WEIGHT, BETA, MORE, EXPECTED, ENTRIES = range(13)
"""Entries of `of_part`: those of `compiled.mixed_state.Mixed`; how much of h the streak has added to u and w, and of
its square taken from d; the weight, and what `compiled.mixed_choose.under` returns."""

NUMBER, DIFFER, LATE, CARRIED, AT = range(state.AT, state.AT + 5)
"""More entries of `at`: those of `compiled.mixed_state.SEEN`, and whether S is this run's own or still the prior's."""

OFFSET, OF_RUN = range(state.OF_RUN, state.OF_RUN + 2)
"""One more entry of `of_run`."""

SUMS = 5
"""How many sums over its parts a thread makes for its arm."""


class Prior(NamedTuple):
    """With what a run begins."""

    S: Array
    log_determinant: Array


class Kept(NamedTuple):
    """What is kept of each run between two launches."""

    S: Array
    rows: Array
    c: Array
    vectors: Array  # u, w, d and h
    of_part: Array
    at: Integers
    of_run: Array


class Mix(NamedTuple):
    """What the threads of a block share of a mixture, and which arm and parts a thread has."""

    n: int
    parts: int
    i: int  # its arm, or one beyond the last
    sub: int  # the first of its parts
    subs: int  # its parts are so far apart
    prior: Array  # S at the start
    S: Array
    rows: Array
    c: Array
    u: Array
    w: Array
    d: Array
    h: Array
    of_part: Array
    work: Array


def width_of(arms: int) -> int:
    """Return how many threads a part has: an arm each, in whole warps."""
    return -(-arms // LANES) * LANES


@pure
def subs_of(width: int, parts: int) -> int:
    """Return how many groups of so many threads play a run: each has all arms, and some of the parts.

    >>> subs_of(LANES, 1)
    1
    """
    return max(1, min(parts, 2 if SIMULATED else THREADS // width))


def threads_for(arms: int, parts: int, *, differ: bool = False) -> int:
    """Return how many threads a block has; where runs differ, as many for fewer arms.

    >>> threads_for(LANES, 1) // LANES
    1
    """
    width = width_of(arms)
    own = subs_of(width, parts) * width
    return max(own, THREADS) if differ else own


def work_size(arms: int, parts: int, threads: int) -> int:
    """Return how many numbers a block needs for what its threads find out together of a mixture."""
    return max(BLOCK * parts, BLOCK * arms + AT_ONCE, SUMS * threads)


@pure
def above(j: int, n: int) -> int:
    """Return where row j of what lies above the diagonal would begin, if it began with column 0.

    >>> [above(j, 3) + i for j in range(3) for i in range(j, 3)]
    [0, 1, 2, 3, 4, 5]
    """
    return j * (2 * n - j - 1) // 2


def prior_of(belief: Vague) -> Prior:
    """Return with what a run begins.

    >>> prior_of(Vague(arms=3, parts=2)).S
    array([1., 0., 0., 1., 0., 1., 1., 0., 0., 1., 0., 1.])
    """
    parts, upper = belief.parts, _upper(belief.arms)
    halves = [matrix.reshape(-1)[upper] for matrix in parts.matrices()]
    return Prior(np.concatenate(halves), -2.0 * parts.log_prior)


@lru_cache(state.SIZES)
def _upper(arms: int) -> Integers:
    """Return where what lies above the diagonal, and that, stands in a matrix."""
    rows, columns = np.triu_indices(arms)
    return np.asarray(rows * arms + columns)


@part
def told_the_one(told: Told, prior: Prior, run: int, n: int) -> tuple[Told, Prior]:
    """Return what was told, and with what all runs begin."""
    return told, prior


@part
def told_its_own(told: Any, priors: Prior, run: int, n: int) -> tuple[Told, Prior]:
    """Return what was told, and with what a run begins, where runs differ."""
    own = Told(
        told.free[run], told.flat[run], told.centre[run], told.spread[run], told.ratios[run], told.squares[run],
        told.relative[run], told.first[run, :n], told.again[run, :n], told.fades[run], told.phi[run], told.lost[run],
        told.lasting[run], told.doubt[run],
    )  # fmt: skip
    return own, Prior(priors.S[run], priors.log_determinant[run])


@part
def all_play(n: int, parts: int) -> tuple[int, int]:
    """Return the arm of a thread, and in how many groups of all arms a block plays, if all its threads do."""
    width = (n + LANES - 1) // LANES * LANES
    return cuda.threadIdx.x % width, cuda.blockDim.x // width


@part
def some_play(n: int, parts: int) -> tuple[int, int]:
    """Return the same if some threads may only wait, so that a game is the same in any block; they have no arm."""
    x, width = cuda.threadIdx.x, (n + LANES - 1) // LANES * LANES
    subs = subs_of(width, parts)
    return x % width if x < subs * width else n, subs


@part
def mix_of(n: int, parts: int, place: tuple[int, int], prior: Array, kept: Kept, vectors: Array, numbers: Array) -> Mix:
    """Return what the threads of a block share, laid out in its memory; `vectors` may lie elsewhere."""
    run, x, size, width = cuda.blockIdx.x, cuda.threadIdx.x, parts * n, (n + LANES - 1) // LANES * LANES
    return Mix(
        n,
        parts,
        i=place[0],
        sub=x // width,
        subs=place[1],
        prior=prior,
        S=kept.S[run],
        rows=kept.rows[run],
        c=kept.c[run],
        u=vectors[:size],
        w=vectors[size : 2 * size],
        d=vectors[2 * size : 3 * size],
        h=vectors[3 * size : 4 * size],
        of_part=numbers[: parts * ENTRIES],
        work=numbers[parts * ENTRIES :],
    )


@part
def load_mix(m: Mix, kept: Kept, resident: bool, log_determinant: Array, done: int) -> None:
    """Set what a block knows of its run: the prior's, or as the last launch left it."""
    run, x, threads, size = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x, m.parts * m.n
    for e in range(x, size, threads):
        if done == 0:
            m.u[e], m.w[e], m.d[e], m.h[e] = 0.0, 0.0, 1.0, 0.0
        elif resident:
            m.u[e], m.w[e] = kept.vectors[run, e], kept.vectors[run, size + e]
            m.d[e], m.h[e] = kept.vectors[run, 2 * size + e], kept.vectors[run, 3 * size + e]
    for e in range(x, ENTRIES * m.parts, threads):
        first = log_determinant[e // ENTRIES] if e % ENTRIES == LOG_DETERMINANT else 0.0
        m.of_part[e] = kept.of_part[run, e] if done > 0 else first
    cuda.syncthreads()


@part
def save_mix(m: Mix, kept: Kept, resident: bool) -> None:
    """Keep what a block knows of its run for the next launch."""
    run, x, threads, size = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x, m.parts * m.n
    cuda.syncthreads()
    if resident:
        for e in range(x, size, threads):
            kept.vectors[run, e], kept.vectors[run, size + e] = m.u[e], m.w[e]
            kept.vectors[run, 2 * size + e], kept.vectors[run, 3 * size + e] = m.d[e], m.h[e]
    for e in range(x, ENTRIES * m.parts, threads):
        kept.of_part[run, e] = m.of_part[e]
