"""The loops of players who see rewards: their own, their neighbours' or everybody's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from corrbandits._core.checks import Array, Integers
from corrbandits.company.engines.compiled.table import (
    Table,
    clear,
    free_average,
    free_limit,
    free_pending,
    pay,
    settled,
    sit,
)
from corrbandits.simulation.engines.compiled.cache import compiled, part
from corrbandits.simulation.engines.compiled.choose import likely_printed_limit
from corrbandits.simulation.engines.compiled.state import Apart, Joint
from corrbandits.simulation.engines.compiled.update import observe_apart, observe_joint, observe_printed, settle


@compiled
def heard_apart(
    b: Apart,
    circle: Integers,
    hears: npt.NDArray[np.bool_],
    noise: Array,
    table: Table,
    widths: Array,
    referee: np.random.Generator,
) -> None:
    """Go on, each player taking the arm of largest mu_i + width s_i of independent arms."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(circle.size):
            c = circle[p]
            if not settled(table, p):
                k = first_arm(table, p, b.d[c])
                if k < 0:
                    k = free_limit(table, b.mu[c], b.w[c], widths[table.schedule[p], t])
                sit(table, p, k)
        pay(table, t, referee)
        for c in range(hears.shape[0]):
            one = Apart(b.mu[c], b.d[c], b.w[c])
            for p in range(circle.size):
                if hears[c, p] and not np.isnan(table.seen[p]):
                    observe_apart(one, table.taken[p], table.seen[p], noise[c, table.taken[p]])


@compiled
def heard_averages(
    b: Apart,
    counts: Array,
    sums: Array,
    circle: Integers,
    hears: npt.NDArray[np.bool_],
    table: Table,
    widths: Array,
    referee: np.random.Generator,
) -> None:
    """Go on, each player taking the arm of largest average and width / sqrt(n_i) (`baselines.UCB1`)."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(circle.size):
            c = circle[p]
            if not settled(table, p):
                k = first_arm(table, p, b.d[c])
                if k < 0:
                    k = free_average(table, b.mu[c], b.w[c], widths[table.schedule[p], t])
                sit(table, p, k)
        pay(table, t, referee)
        for c in range(hears.shape[0]):
            for p in range(circle.size):
                if hears[c, p] and not np.isnan(table.seen[p]):
                    k = table.taken[p]
                    counts[c, k] += 1.0
                    sums[c, k] += table.seen[p]
                    b.mu[c, k] = sums[c, k] / counts[c, k]
                    b.w[c, k] = 1.0 / math.sqrt(counts[c, k])
                    b.d[c, k] = 0.0


@compiled
def heard_joint(
    b: Joint,
    circle: Integers,
    hears: npt.NDArray[np.bool_],
    noise: Array,
    printed: bool,
    table: Table,
    widths: Array,
    referee: np.random.Generator,
) -> None:
    """Go on, each player taking the arm of largest limit of correlated arms, the printed one or the plain one."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(circle.size):
            if not settled(table, p):
                one, width = joint_at(b, circle[p]), widths[table.schedule[p], t]
                k = first_arm(table, p, one.d)
                if k < 0 and printed:
                    k = printed_limit(table, one, width)
                if k < 0:
                    for j in range(one.d.size):
                        one.w[j] = math.sqrt(one.d[j])
                    k = free_limit(table, one.mu, one.w, width)
                sit(table, p, k)
        pay(table, t, referee)
        for c in range(hears.shape[0]):
            one = joint_at(b, c)
            for p in range(circle.size):
                if hears[c, p] and not np.isnan(table.seen[p]):
                    k = table.taken[p]
                    if printed:
                        observe_printed(one, k, table.seen[p], noise[c, k])
                    else:
                        observe_joint(one, True, k, table.seen[p], noise[c, k])


@part
def first_arm(table: Table, p: int, d: Array) -> int:
    """Return the free arm that the initialisation phase takes, or -1; variances fall, so that once over it is over."""
    before, k = table.initialisation[p], free_pending(table, p, d)
    table.initialising[p] = table.initialisation[p] > before
    return k


@part
def joint_at(b: Joint, c: int) -> Any:
    """Return one of several correlated beliefs."""
    return Joint(
        b.S[c],
        b.G[c],
        b.mu0[c],
        b.d0[c],
        b.w0[c],
        b.x[c],
        b.h[c],
        b.mu[c],
        b.d[c],
        b.w[c],
        b.inverse[c],
        b.work[c],
        b.floor[c],
        b.candidates[c],
        b.streak[c],
    )


@part
def printed_limit(table: Table, b: Joint, width: float) -> int:
    """Return the free arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2); w is set, or the streak goes on.

    It is tried without a pass over S in a streak that may be `lasting`: one of an arm that was taken before, too, and
    that began when w was known.
    """
    k, last = -1, b.streak.arm
    if last >= 0 and b.streak.lasting and width > 0.0 and not table.turns:
        k = likely_printed_limit(b, width)
    if k < 0 or k != last:
        settle(b, True)
        if k < 0:
            k = free_limit(table, b.mu, b.w, width)
        b.streak.lasting = k == last
    return k
