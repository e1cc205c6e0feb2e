"""How a reward changes a belief on many correlated arms, by a team: `compiled.update`, some arms a thread.

A streak that ends waits in G, and some of them are carried into S at once: S is read whenever every w is asked for, but
written once for all that wait. The arms of a thread are `me`, `me` + `many` and so on.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from numba import cuda, float64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.meeting import meet
from corrbandits.simulation.engines.gpu.state import Problem
from corrbandits.simulation.engines.gpu.strips import place
from corrbandits.simulation.engines.gpu.sweep import AT_ONCE, NOTHING, sweep_of
from corrbandits.simulation.engines.gpu.team_state import Team

ARM, LENGTH, TRIED, MEASURED, WAITING = state.ARM, state.LENGTH, state.TRIED, state.MEASURED, state.WAITING
MU0, D0, W0, X, H, MU, D, W = state.MU0, state.D0, state.W0, state.X, state.H, state.MU, state.D, state.W
SURPRISE, PRECISION, VARIANCE, MEAN = state.SURPRISE, state.PRECISION, state.VARIANCE, state.MEAN
WEIGHT, FLOOR_K, NOISE, NOW, LEFT = state.WEIGHT, state.FLOOR_K, state.NOISE, state.NOW, state.LEFT


@part
def clear(team: Team, at: Any) -> None:
    """Forget the streaks that waited, once they are carried into S."""
    for i in range(team.me, team.n, team.many):
        for one in range(team.G.shape[0] - 1):
            team.G[one, i] = 0.0
    at[ARM], at[WAITING] = -1, 0


@part
def awaited(team: Team, column: Array, waiting: int, i: int) -> float:
    """Return what the first streaks that wait take from the covariance of arm i with the arm of this column of G."""
    total, one, g = 0.0, 0, cuda.local.array(AT_ONCE, float64)
    while one < waiting:
        for step in range(AT_ONCE):
            here = min(one + step, waiting - 1)
            g[step] = team.G[here, i] * column[here]
        for step in range(AT_ONCE):
            total += g[step] if one + step < waiting else 0.0
        one += AT_ONCE
    return total


@part
def of_grid(problem: Problem, team: Team, i: int, k: int) -> float:
    """Return the prior covariance of two arms of a grid; of an arm that was taken before, all lies in G."""
    if team.rows[i, X] > 0.0 or team.rows[k, X] > 0.0:
        return 0.0
    width, height = problem.width, problem.height
    line, other = i // width, k // width
    away = abs(line // height - other // height) * height + abs(line % height - other % height)
    return float(problem.S[away * width + abs(i - line * width - (k - other * width))])


@part
def of_strips(problem: Problem, team: Team, i: int, k: int) -> float:
    """Take the covariance of two arms out of S, and return it."""
    here = place(i, k, team.n)
    s = float(team.S[here])
    team.S[here] = 0.0
    return s


@cache
def update_of(waiting: int, *, on_grid: bool) -> tuple[Any, Any]:
    """Return what ends a streak and what begins one, where so many may wait; on a grid, none is carried further."""
    sweep = sweep_of(waiting, NOTHING)
    taken = of_grid if on_grid else of_strips

    @part
    def settle(team: Team, at: Any) -> None:
        if at[ARM] >= 0:
            at[ARM] = -1
            at[WAITING] += 1
            if not on_grid and at[WAITING] == waiting:
                meet(team)
                sweep(team, True)
                meet(team)
                clear(team, at)

    @part
    def start(team: Team, problem: Problem, k: int, at: Any, of_run: Array) -> None:
        """Begin a streak of arm k: move its row from S and G to h."""
        rows, column = team.rows, team.moved if on_grid else team.G[:, k]
        of_run[VARIANCE], of_run[MEAN], of_run[WEIGHT] = rows[k, D], rows[k, MU], rows[k, W]
        of_run[FLOOR_K], of_run[SURPRISE] = problem.floor[k], 0.0
        if on_grid:  # where many wait, each number of the column is fetched from afar once
            for one in range(team.me, at[WAITING], team.many):
                team.moved[one] = team.G[one, k]
            meet(team)
        for i in range(team.me, team.n, team.many):
            mean, variance, w, h = rows[i, MU], rows[i, D], rows[i, W], 0.0  # all is fetched before any is written
            if i != k:
                h = taken(problem, team, i, k) - awaited(team, column, at[WAITING], i)
            most = of_run[VARIANCE] * variance  # beyond its root lies only rounding
            rows[i, H] = h if h * h <= most else math.copysign(math.sqrt(most), h)
            rows[i, MU0], rows[i, D0], rows[i, W0] = mean, variance, w
        at[ARM], at[LENGTH], at[TRIED], at[MEASURED] = k, 0, 0, 0
        meet(team)
        for one in range(team.me, at[WAITING], team.many):
            team.G[one, k] = 0.0
        if on_grid and team.me == 0:
            rows[k, X] = 1.0

    return settle, start


@part
def take(team: Team, problem: Problem, at: Any, of_run: Array, k: int, reward: float) -> None:
    """Take a reward of the streak's arm k into means and variances (`joint_update.take`); G has the streak as it is."""
    at[LENGTH] += 1
    of_run[SURPRISE] += reward - of_run[MEAN]
    s, variance = problem.noise[k] / at[LENGTH], of_run[VARIANCE]
    c = 1.0 / (s + variance)
    gain, root, rows = of_run[SURPRISE] / at[LENGTH] * c, math.sqrt(c), team.rows
    of_run[PRECISION], of_run[NOISE] = c, s
    of_run[NOW], of_run[LEFT] = of_run[MEAN] + variance * gain, s * (variance * c)
    for i in range(team.me, team.n, team.many):
        h, mean, rest, least = rows[i, H], rows[i, MU0], rows[i, D0], problem.floor[i]
        mean, rest = mean + h * gain, rest - c * h * h
        d = rest if rest > 0.0 else 0.0
        if i == k:
            mean, d, h = of_run[NOW], of_run[LEFT], -s
        rows[i, MU], rows[i, D], rows[i, H] = mean, d, h
        team.G[at[WAITING], i] = root * h
        team.weight[i] = 1.0 / d if d > least else 0.0
