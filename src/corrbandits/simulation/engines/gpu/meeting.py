"""What the threads of a team find out together: of all blocks that play one run.

A team of one block meets at the block's barrier. The blocks of a larger one are on the device at once, and wait for
each other in its memory.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.lanes import LANES, first_largest, most_of_warp, sum_of_warp
from corrbandits.simulation.engines.gpu.team_state import MEETINGS, Team


@part
def meet(team: Team) -> None:
    """Wait until all threads of the team have come here; then all see what any has written."""
    cuda.syncthreads()
    if team.blocks > 1:
        team.turn[MEETINGS] += 1
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(team.met, 0, 1)
            while cuda.atomic.add(team.met, 0, 0) < team.turn[MEETINGS] * team.blocks:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@part
def best_of_block(team: Team, value: float, arm: float) -> tuple[float, float]:
    """Return the largest value of a block's threads and its arm, the lowest of equals."""
    most, _ = first_largest(value, team.scratch, team.turn)
    lowest, _ = first_largest(-arm if value == most else -np.inf, team.scratch, team.turn)
    return most, -lowest


@part
def best_of_team(team: Team, value: float, arm: int) -> tuple[float, int]:
    """Return the largest value of all threads and its arm, the lowest of equals."""
    most, found = best_of_block(team, value, 1.0 * arm)
    if team.blocks > 1:
        i, half = cuda.threadIdx.x, team.turn[MEETINGS] % 2
        if i == 0:
            team.best[half, team.block, 0] = most
            team.best[half, team.block, 1] = found
        meet(team)
        most, found = -np.inf, np.inf
        for block in range(i, team.blocks, cuda.blockDim.x):
            value, other = team.best[half, block, 0], team.best[half, block, 1]
            if value > most or (value == most and other < found):
                most, found = value, other
        most, found = best_of_block(team, most, found)
    return most, int(found) if most > -np.inf else 0


@part
def note_terms(team: Team, i: int, value: float, other: float) -> None:
    """Note a term of a sum and a value to compare, of arm i: all threads of a warp, whose arms are neighbours."""
    value, other = sum_of_warp(value), most_of_warp(other)
    if cuda.threadIdx.x % LANES == 0 and i < team.n:
        team.sums[0, i // LANES] = value
        team.sums[1, i // LANES] = other


@part
def sum_and_most_of_team(team: Team) -> tuple[float, float]:
    """Return the sum of all terms that were noted before the last meeting, the same on any team, and the largest."""
    total, most = 0.0, -np.inf
    for one in range(cuda.threadIdx.x % LANES, (team.n + LANES - 1) // LANES, LANES):
        total += team.sums[0, one]
        most = max(most, team.sums[1, one])
    return sum_of_warp(total), most_of_warp(most)
