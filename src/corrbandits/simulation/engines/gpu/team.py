"""The kernels that play runs on more correlated arms than one block has memory for: a team of blocks a run.

Where there are many runs a team is one block; one run has the whole device. `team_state` says what a team knows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64, int64

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import kernel, part
from corrbandits.simulation.engines.gpu.lanes import LANES, scratch_size
from corrbandits.simulation.engines.gpu.meeting import meet
from corrbandits.simulation.engines.gpu.parts import begin, beyond, end, its_own, note, reward_of, the_one, two_noises
from corrbandits.simulation.engines.gpu.refusing import DRAWS, LIMITS, PRINTED
from corrbandits.simulation.engines.gpu.state import Problem, Record, Steps
from corrbandits.simulation.engines.gpu.sweep import staged_by_warp
from corrbandits.simulation.engines.gpu.team_choose import (
    first_arm,
    first_index_of,
    largest_limit,
    likely_printed_limit,
    printed_of,
)
from corrbandits.simulation.engines.gpu.team_draw import drawn_of
from corrbandits.simulation.engines.gpu.team_state import TURNS, KeptByTeams, Team, run_of, team_of
from corrbandits.simulation.engines.gpu.team_update import take, update_of

ARM, LASTING, INITIALISING, AT = state.ARM, state.LASTING, state.INITIALISING, state.AT
MU, OF_RUN, TOTAL = state.MU, state.OF_RUN, state.TOTAL

READ, UNREAD = 6, 8
"""How many streaks may wait where every decision reads S, and where none does: they are kept in registers."""


def waiting_for(rule: int) -> int:
    """Return how many streaks may wait.

    >>> waiting_for(PRINTED) < waiting_for(LIMITS)
    True
    """
    return READ if rule in (PRINTED, DRAWS) else UNREAD


def shared_by_team(rule: int, threads: int) -> int:
    """Return how many numbers the threads of a block share."""
    return scratch_size(threads) + threads // LANES * staged_by_warp(waiting_for(rule))


@part
def load(team: Team, problem: Problem, done: int, on_grid: bool) -> None:
    """Set the belief of a run at its first launch; later it is as the last one left it."""
    if done == 0:
        for i in range(team.me, team.n, team.many):
            for row in range(team.rows.shape[1]):
                team.rows[i, row] = problem.prior[row, i]
        if not on_grid:
            for i in range(team.me, team.G.shape[1], team.many):
                for one in range(team.G.shape[0]):
                    team.G[one, i] = 0.0
            for entry in range(team.me, problem.S.size, team.many):
                team.S[entry] = problem.S[entry]
    meet(team)


@part
def observe(team: Team, problem: Problem, steps: Steps, record: Record, t: int, k: int, at: Any, of_run: Array) -> None:
    """Pull arm k, whose streak it is, and take in its reward."""
    number = steps.done + t
    if steps.eps.shape[0] > 0:
        eps = steps.eps[team.run, t]
    else:
        even, odd = two_noises(problem, team.run, number // 2)
        eps = odd if number % 2 else even
    reward = reward_of(problem, k, eps)
    note(problem, steps, record, t, team.run, k, reward, at, of_run, team.me == 0)
    if team.me == 0:
        record.counts[k, team.run] += 1
    take(team, problem, at, of_run, k, reward)


@part
def finish(team: Team, kept: KeptByTeams, at: Any, of_run: Array) -> None:
    """Keep the numbers of the run; means beyond doubles show in the total of rewards."""
    if team.me == 0:
        end(kept, team.run, at, of_run)
    meet(team)
    for i in range(team.me, team.n, team.many):
        if beyond(team.rows[i, MU]):
            kept.of_run[team.run, TOTAL] = np.inf


def chosen_of(rule: int) -> Any:
    """Return the function that makes a decision of a rule after the initialisation."""
    if rule == LIMITS:

        @part
        def chosen(team: Team, p: Problem, steps: Steps, record: Record, t: int, at: Any, of_run: Array) -> int:
            return largest_limit(team, steps.values[t])

    elif rule == PRINTED:
        printed = printed_of(waiting_for(rule))

        @part
        def chosen(team: Team, p: Problem, steps: Steps, record: Record, t: int, at: Any, of_run: Array) -> int:
            k, width = -1, steps.values[t]
            if at[LASTING] and width > 0.0:
                k = likely_printed_limit(team, at, of_run, width)
            return k if k >= 0 else printed(team, at, width)

    elif rule == DRAWS:
        drawn = drawn_of(waiting_for(rule))

        @part
        def chosen(team: Team, p: Problem, steps: Steps, record: Record, t: int, at: Any, of_run: Array) -> int:
            return drawn(team, p, steps, record.counts, t, at)

    else:
        first_index = first_index_of(rule)

        @part
        def chosen(team: Team, p: Problem, steps: Steps, record: Record, t: int, at: Any, of_run: Array) -> int:
            return first_index(team, p, steps.values[t])

    return chosen


@cache
def team_kernel(rule: int, *, on_grid: bool, differ: bool, registers: int) -> Any:
    """Return the kernel for a kind of rule, the prior covariance in S or, on a grid, in the problem's."""
    chosen, own = chosen_of(rule), its_own if differ else the_one
    settle, start = update_of(waiting_for(rule), on_grid=on_grid)

    def play(problems: Problem, every: Steps, kept: KeptByTeams, record: Record) -> None:
        at, of_run = cuda.local.array(AT, int64), cuda.local.array(OF_RUN, float64)
        turn = cuda.local.array(TURNS, int64)
        problem, steps = own(problems, every, run_of(kept))
        team = team_of(kept, problem.n, cuda.shared.array(0, float64), turn)
        begin(kept, steps.done, team.run, at, of_run)
        load(team, problem, steps.done, on_grid)
        for t in range(steps.values.size):
            last = at[ARM]
            k = first_arm(team, problem, at)
            if k < 0:
                k = chosen(team, problem, steps, record, t, at, of_run)
            if k != at[ARM]:
                settle(team, at)
                start(team, problem, k, at, of_run)
            at[LASTING] = k == last and at[INITIALISING] == 0
            observe(team, problem, steps, record, t, k, at, of_run)
        finish(team, kept, at, of_run)

    return kernel(play, registers, "team", rule, waiting_for(rule), on_grid, differ)
