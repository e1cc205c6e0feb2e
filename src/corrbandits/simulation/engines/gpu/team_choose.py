"""How an arm is chosen from a belief on many correlated arms, by a team: `compiled.choose`, some arms a thread."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from corrbandits._core.checks import Array
from corrbandits.policies.base import NEAR
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part
from corrbandits.simulation.engines.gpu.lanes import LANES, PARTS, sum_of_warp
from corrbandits.simulation.engines.gpu.meeting import best_of_team, meet, note_terms, sum_and_most_of_team
from corrbandits.simulation.engines.gpu.parts import gittins
from corrbandits.simulation.engines.gpu.refusing import INDICES
from corrbandits.simulation.engines.gpu.state import Problem
from corrbandits.simulation.engines.gpu.strips import place
from corrbandits.simulation.engines.gpu.sweep import SQUARES, summed, sweep_of
from corrbandits.simulation.engines.gpu.team_state import FOUND, Team
from corrbandits.simulation.engines.gpu.team_update import clear

ARM, TRIED, MEASURED, WAITING = state.ARM, state.TRIED, state.MEASURED, state.WAITING
INITIALISING, INITIALISATION = state.INITIALISING, state.INITIALISATION
D0, W0, X, H, MU, D, W = state.D0, state.W0, state.X, state.H, state.MU, state.D, state.W
PRECISION, VARIANCE, NORM, WEIGHT = state.PRECISION, state.VARIANCE, state.NORM, state.WEIGHT
FLOOR_K, NOISE, NOW, LEFT = state.FLOOR_K, state.NOISE, state.NOW, state.LEFT


@part
def first_arm(team: Team, problem: Problem, at: Any) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    if at[INITIALISING] == 0:
        return -1
    most, arm, rows = -np.inf, 0, team.rows
    for i in range(team.me, team.n, team.many):
        if rows[i, D] > problem.thresholds[i] and rows[i, D] > most:
            most, arm = rows[i, D], i
    most, arm = best_of_team(team, most, arm)
    at[INITIALISING] = most > -np.inf
    at[INITIALISATION] += at[INITIALISING]
    return arm if at[INITIALISING] else -1


@part
def largest_limit(team: Team, width: float) -> int:
    """Return the arm of largest mu_i + width s_i, the lowest of equals."""
    most, arm, rows = -np.inf, 0, team.rows
    for i in range(team.me, team.n, team.many):
        value = rows[i, MU] + width * math.sqrt(rows[i, D])
        if value > most:
            most, arm = value, i
    _, arm = best_of_team(team, most, arm)
    return arm


@cache
def first_index_of(rule: int) -> Any:
    """Return the function that finds the arm of largest index of a rule that minds the horizon."""

    @part
    def index(team: Team, problem: Problem, i: int, value: float) -> float:
        mean, variance = team.rows[i, MU], team.rows[i, D]
        if rule == INDICES:
            return gittins(mean, variance, problem.noise[i], problem.log_n, problem.g, value)
        return mean + value * math.sqrt(variance)

    @part
    def first_index(team: Team, problem: Problem, value: float) -> int:
        """Return the arm of largest index; of nearly equal ones that of largest variance, then of lowest rank."""
        most, least, widest, first, arm, rows = -np.inf, np.inf, -np.inf, -np.inf, 0, team.rows
        for i in range(team.me, team.n, team.many):
            found = index(team, problem, i, value)
            least = min(least, found)
            if found > most:
                most, arm = found, i
        most, arm = best_of_team(team, most, arm)
        low, _ = best_of_team(team, -least, arm)
        bar = most - (NEAR * max(most + low, math.sqrt(rows[arm, D])) + 1e-15 * abs(most))
        for i in range(team.me, team.n, team.many):
            if index(team, problem, i, value) >= bar:
                widest = max(widest, rows[i, D])
        widest, _ = best_of_team(team, widest, arm)
        for i in range(team.me, team.n, team.many):
            near = rows[i, D] >= (1.0 - NEAR) * widest and index(team, problem, i, value) >= bar
            if near and -problem.rank[i] > first:
                first, arm = -1.0 * problem.rank[i], i
        _, arm = best_of_team(team, first, arm)
        return arm

    return first_index


@part
def measure(team: Team, at: Any, of_run: Array) -> None:
    """Set the norms before a streak without the terms of its arm, once in a streak."""
    if at[MEASURED] == 0:
        over, rows = 1.0 / of_run[VARIANCE] if of_run[VARIANCE] > of_run[FLOOR_K] else 0.0, team.rows
        for i in range(team.me, team.n, team.many):
            rows[i, X] = math.sqrt(max(rows[i, W0] * rows[i, W0] - rows[i, H] * rows[i, H] * over, 0.0))
        of_run[NORM] = math.sqrt(max(of_run[WEIGHT] * of_run[WEIGHT] - of_run[VARIANCE], 0.0))
        at[MEASURED] = 1


@part
def limit_in_streak(team: Team, at: Any, of_run: Array, width: float) -> tuple[float, float]:
    """Return the limit of the streak's arm, and the ratio of `compiled.choose.find_candidates`."""
    rows = team.rows
    for warp_first in range(team.me // LANES * LANES, team.n, team.many):
        i = warp_first + cuda.threadIdx.x % LANES
        square, ratio = 0.0, 1.0
        if i < team.n and i != at[ARM]:
            square = rows[i, H] * rows[i, H] * team.weight[i]
            ratio = max(rows[i, D0] * team.weight[i], 1.0)
        note_terms(team, i, square, ratio)
    meet(team)
    square, ratio = sum_and_most_of_team(team)
    shrunk = (of_run[PRECISION] * of_run[NOISE]) ** 2
    return of_run[NOW] + width * math.sqrt(square * shrunk + of_run[LEFT]), ratio


@part
def find_likely(team: Team, at: Any, of_run: Array, width: float, limit: float, ratio: float) -> int:
    """Note the arms whose limit might be above that of the streak's; return how many there are."""
    c, left, rows = of_run[PRECISION], of_run[LEFT], team.rows
    shrunk, safe = (c * of_run[NOISE]) ** 2, width * width * (1.0 + 1e-9)  # so that rounding hides no arm
    for i in range(team.me, team.n, team.many):
        h, lacking = rows[i, H], limit - rows[i, MU]
        bound = rows[i, X] + c * of_run[NORM] * abs(h)
        own_term = shrunk / left * h * h if left > of_run[FLOOR_K] else 0.0
        if i != at[ARM] and safe * (ratio * bound * bound + own_term) >= lacking * abs(lacking):
            slot = cuda.atomic.add(team.found, 0, 1) - team.turn[FOUND]
            if slot < team.likely.size:
                team.likely[slot] = i
    meet(team)
    found = team.found[0] - team.turn[FOUND]
    team.turn[FOUND] += found
    return int(found)


@part
def limit_of(team: Team, at: Any, k: int, width: float) -> float:
    """Return mu_k + width s_k sqrt(sum_j rho_kj^2) of one arm that is not the streak's, by a warp."""
    square = 0.0
    for i in range(cuda.threadIdx.x % LANES, team.n, LANES):
        if i == k:
            square += team.rows[k, D]
        else:
            s = team.S[place(i, k, team.n)]
            for one in range(at[WAITING] + 1):
                s -= team.G[one, i] * team.G[one, k]
            square += s * s * team.weight[i]
    return float(team.rows[k, MU] + width * math.sqrt(sum_of_warp(square)))


@part
def likely_printed_limit(team: Team, at: Any, of_run: Array, width: float) -> int:
    """Return, in a streak, the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), the lowest of equals, or -1.

    Only arms whose limit could be the largest need their row; -1 if they are so many that a pass over S is cheaper.
    """
    measure(team, at, of_run)
    most, ratio = limit_in_streak(team, at, of_run, width)
    found, arm = find_likely(team, at, of_run, width, most, ratio), at[ARM]
    at[TRIED] += found
    if found > team.n // 16 + 1 or at[TRIED] > team.n // 8 + 8:
        return -1
    if found == 0:
        return int(arm)
    for one in range(team.me // LANES, found, team.many // LANES):
        k = team.likely[one]
        limit = limit_of(team, at, k, width)
        if limit > most or (limit == most and k < arm):
            arm, most = k, limit
    _, arm = best_of_team(team, most, arm)
    return arm


@cache
def printed_of(waiting: int) -> Any:
    """Return the function that finds the arm of the largest printed index, where so many streaks may wait."""
    sweep = sweep_of(waiting, SQUARES)

    @part
    def weigh(team: Team, width: float) -> tuple[float, int]:
        """Set every w; return the largest limit of this thread's arms, and which has it."""
        most, arm, rows, lanes = -np.inf, 0, team.rows, LANES // PARTS
        for first in range(team.me // LANES * lanes, team.n, team.many // PARTS):
            i = min(first + cuda.threadIdx.x % lanes, team.n - 1)
            mean, variance = rows[i, MU], rows[i, D]
            w = math.sqrt(variance + summed(team, i))
            rows[i, W] = w
            value = mean + width * w
            if value > most:
                most, arm = value, i
        return most, arm

    @part
    def largest_printed(team: Team, at: Any, width: float) -> int:
        """Return the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), the lowest of equals; end the streak."""
        most, arm, rows = -np.inf, 0, team.rows
        if at[ARM] >= 0:
            full = at[WAITING] + 1 == waiting
            meet(team)
            sweep(team, full)
            meet(team)
            most, arm = weigh(team, width)
            if full:
                clear(team, at)
            else:
                at[ARM], at[WAITING] = -1, at[WAITING] + 1
        else:
            for i in range(team.me, team.n, team.many):
                if rows[i, MU] + width * rows[i, W] > most:
                    most, arm = rows[i, MU] + width * rows[i, W], i
        _, arm = best_of_team(team, most, arm)
        return arm

    return largest_printed
