"""What a team knows: the blocks that play one run on more correlated arms than fit into the memory of one.

name       shape            meaning
S          (size,)          half the covariance (`strips`)
rows       (KEPT_OWN, n)    the vectors of `state.own`
G, weight, by_row, by_column   what passes over S read and write (`sweep`)
sums       (2, n / LANES)   a sum and a largest value of each warp's arms
best       (2, blocks, 2)   the largest value of each block, and its arm; two in turn
met        (1,)             how many blocks have come to a meeting, all meetings together
found      (1,)             how many arms might be better than a streak's, all decisions together
likely     (n / 16 + 2,)    these arms
moved      (waiting,)       what G had for an arm whose streak begins
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.lanes import scratch_size

MEETINGS, FOUND, TURNS = 1, 2, 3
"""Entries of `turn` after the first, whose turn it is in the scratch: how many meetings there were, how many arms were
found."""


class KeptByTeams(NamedTuple):
    """What is kept of each run between two launches."""

    S: Array
    own: Array
    at: Integers
    of_run: Array
    G: Array
    by_row: Array
    by_column: Array
    sums: Array
    best: Array
    met: Integers
    found: Integers
    likely: Integers
    moved: Array


class Team(NamedTuple):
    """What a team knows, and which part of it this thread is."""

    n: int
    run: int
    me: int  # of all threads of the team
    many: int
    block: int
    blocks: int
    S: Array
    rows: Array
    G: Array
    weight: Array  # the last row of G
    by_row: Array
    by_column: Array
    sums: Array
    best: Array
    met: Integers
    found: Integers
    likely: Integers
    moved: Array
    scratch: Array  # of a block: `lanes`
    staged: Array  # of a block: `sweep`
    turn: Any  # of a thread


@part
def run_of(kept: KeptByTeams) -> int:
    """Return the run that this thread's team plays: it has as many blocks of the grid as `best` has room for."""
    return int(cuda.blockIdx.x // kept.best.shape[2])


@part
def team_of(kept: KeptByTeams, n: int, shared: Array, turn: Any) -> Team:
    """Return the team of this thread, on so many arms."""
    blocks, scratch = kept.best.shape[2], scratch_size(cuda.blockDim.x)
    run, block = run_of(kept), cuda.blockIdx.x % blocks
    turn[0], turn[MEETINGS], turn[FOUND] = 0, 0, kept.found[run, 0]
    return Team(
        n, run, block * cuda.blockDim.x + cuda.threadIdx.x, blocks * cuda.blockDim.x, block, blocks,
        kept.S[run], kept.own[run], kept.G[run], kept.G[run, kept.G.shape[1] - 1], kept.by_row[run],
        kept.by_column[run], kept.sums[run], kept.best[run], kept.met[run], kept.found[run], kept.likely[run],
        kept.moved[run], shared[:scratch], shared[scratch:], turn,
    )  # fmt: skip
