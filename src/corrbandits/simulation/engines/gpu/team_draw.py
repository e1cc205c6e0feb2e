"""A draw of all mean rewards of many correlated arms, by a team: `compiled.choose.draw`, some arms a thread."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Integers
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.counted import CHOICES, normals
from corrbandits.simulation.engines.gpu.lanes import LANES, PARTS
from corrbandits.simulation.engines.gpu.meeting import best_of_team, meet
from corrbandits.simulation.engines.gpu.state import Problem, Steps
from corrbandits.simulation.engines.gpu.sweep import PRODUCTS, summed, sweep_of
from corrbandits.simulation.engines.gpu.team_state import Team
from corrbandits.simulation.engines.gpu.team_update import clear

CURSOR, WAITING, X, W, MU, D = state.CURSOR, state.WAITING, state.X, state.W, state.MU, state.D


@part
def seen(team: Team, problem: Problem, counts: Integers, i: int) -> float:
    """Return how many rewards of an arm were seen."""
    return float(counts[i, team.run] + problem.seen[i])


@part
def two_normals(
    team: Team, problem: Problem, steps: Steps, counts: Integers, t: int, i: int, at: Any
) -> tuple[float, float]:
    """Return two normal numbers for an arm's draw at a step: counted or, in the order of others, given."""
    if steps.draws.shape[0] == 0:
        pair = (steps.done + t) * team.n + i
        return normals(problem.key0, problem.key1, problem.first + team.run, CHOICES, pair)
    before = 0
    for j in range(i):
        before += seen(team, problem, counts, j) > 0.0
    here = at[CURSOR]
    return steps.draws[here + i, team.run], steps.draws[here + team.n + before, team.run]


@part
def draw_prior(team: Team, problem: Problem, steps: Steps, counts: Integers, t: int, at: Any) -> None:
    """Set x to a draw of the prior and v to what would be seen of it, in units of its noise."""
    rows, after = team.rows, 0
    meet(team)
    for i in range(team.me, team.n, team.many):
        team.weight[i], rows[i, W] = two_normals(team, problem, steps, counts, t, i, at)
    if steps.draws.shape[0] > 0:
        for j in range(team.n):
            after += seen(team, problem, counts, j) > 0.0
        at[CURSOR] += team.n + after
    meet(team)
    for i in range(team.me, team.n, team.many):
        value = 0.0
        for j in range(team.n):
            value += problem.root[j, i] * team.weight[j]
        rows[i, X] = value
    meet(team)
    for i in range(team.me, team.n, team.many):
        many, noise = seen(team, problem, counts, i), problem.noise[i]
        team.weight[i] = (rows[i, X] + math.sqrt(noise / many) * rows[i, W]) * many / noise if many > 0.0 else 0.0
    meet(team)


@cache
def drawn_of(waiting: int) -> Any:
    """Return the function that finds the arm of the largest draw, where so many streaks may wait."""
    sweep = sweep_of(waiting, PRODUCTS)

    @part
    def largest_drawn(team: Team, problem: Problem, steps: Steps, counts: Integers, t: int, at: Any) -> int:
        """Return the arm of the largest draw: of the prior, corrected by what was seen of it."""
        rows, full, lanes = team.rows, at[WAITING] + 1 == waiting, LANES // PARTS
        draw_prior(team, problem, steps, counts, t, at)
        sweep(team, full)
        meet(team)
        most, arm = -np.inf, 0
        for first in range(team.me // LANES * lanes, team.n, team.many // PARTS):
            i = min(first + cuda.threadIdx.x % lanes, team.n - 1)
            total = rows[i, D] * team.weight[i] + summed(team, i)
            value = rows[i, X] + (rows[i, MU] - total)
            if value > most:
                most, arm = value, i
        if full:
            clear(team, at)
        _, arm = best_of_team(team, most, arm)
        return arm

    return largest_drawn
