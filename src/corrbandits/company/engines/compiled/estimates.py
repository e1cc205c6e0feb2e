"""The loops of players who average estimates of counts and sums with their neighbours (`sharing`).

All counts change at every step, so that with correlated arms a player's belief is computed anew at each (`weighed`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import HARDLY
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
from corrbandits.simulation.engines.compiled.cache import distinct, part
from corrbandits.simulation.engines.compiled.weighed import take_average, weigh_rows


class Estimates(NamedTuple):
    """What M players estimate of N arms, their priors, and what they believe (one at a time)."""

    counts: Array  # (M, N)
    sums: Array  # (M, N)
    near_counts: Array  # (M, N) summed over those near a player
    near_sums: Array  # (M, N)
    near: npt.NDArray[np.bool_]  # (M, M) whether a player is another's neighbour, or itself with as large a weight
    same: Integers  # (M,) an earlier player that has the same players near, or -1
    step: Array  # (M,) the weight of each player near; M times that of P
    rest: Array  # (M,) the weight of its own estimates beyond that
    means: Array  # (M, N) of the priors
    variances: Array  # (M, N) of the priors
    noise: Array  # (M, N)
    mu: Array  # (N,)
    d: Array  # (N,)
    w: Array  # (N,)


class Factors(NamedTuple):
    """Room for the inference of one player with correlated arms."""

    covariances: Array  # (U, N, N) of the priors
    prior: Integers  # (M,) which of them a player has
    V: Array  # (N, N), what averages make known
    row: Array  # (N,)


@distinct
def estimated_apart(
    e: Estimates, averages: bool, doubts: Array, table: Table, widths: Array, referee: np.random.Generator
) -> None:
    """Go on, each player taking the arm of largest limit, or of largest average and width / sqrt(n_i)."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(e.counts.shape[0]):
            if settled(table, p):
                continue
            believe_apart(e, p, averages, doubts[t])
            k = free_pending(table, p, e.d)
            if k < 0 and averages:
                k = free_average(table, e.mu, e.w, widths[table.schedule[p], t])
            elif k < 0:
                k = free_limit(table, e.mu, e.w, widths[table.schedule[p], t])
            sit(table, p, k)
        pay(table, t, referee)
        mix(e, table)


@distinct
def estimated_joint(
    e: Estimates, f: Factors, printed: bool, doubts: Array, table: Table, widths: Array, referee: np.random.Generator
) -> None:
    """Go on, each player taking the arm of largest limit of correlated arms, the printed one or the plain one."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(e.counts.shape[0]):
            if settled(table, p):
                continue
            believe_joint(e, f, p, printed, doubts[t])
            k = free_pending(table, p, e.d)
            if k < 0:
                k = free_limit(table, e.mu, e.w, widths[table.schedule[p], t])
            sit(table, p, k)
        pay(table, t, referee)
        mix(e, table)


@part
def effective(count: float, players: int, f: float) -> float:
    """Return how many rewards an estimated count is taken for."""
    each = count / players
    return count * (each / (each + f))


@part
def believe_apart(e: Estimates, p: int, averages: bool, f: float) -> None:
    """Write what player p believes of independent arms (section 3.1), or averages and 1 / sqrt(n_i)."""
    players = e.counts.shape[0]
    for i in range(e.mu.size):
        count, prior = e.counts[p, i], e.variances[p, i]
        e.mu[i], e.d[i] = e.means[p, i], prior
        e.w[i] = np.inf if averages else math.sqrt(prior)
        if count > HARDLY:
            n, average = effective(count, players, f), e.sums[p, i] / count
            if averages:
                e.mu[i], e.d[i], e.w[i] = average, 0.0, 1.0 / math.sqrt(n)
            else:
                s = e.noise[p, i] / n
                share = 1.0 if prior == np.inf else prior / (s + prior)
                e.mu[i] += share * (average - e.mu[i])
                e.d[i] = s * share
                e.w[i] = math.sqrt(e.d[i])


@part
def believe_joint(e: Estimates, f: Factors, p: int, printed: bool, doubt: float) -> None:
    """Write what player p believes of correlated arms (section 4.1)."""
    n, S0, rows = e.mu.size, f.covariances[f.prior[p]], 0
    for i in range(n):
        e.mu[i], e.d[i] = e.means[p, i], S0[i, i]
    for i in range(n):
        count = e.counts[p, i]
        if count > HARDLY:
            s = e.noise[p, i] / effective(count, e.counts.shape[0], doubt)
            if s < np.inf:
                take_average(S0, f.V, rows, i, e.sums[p, i] / count, s, e.mu, e.d)
                rows += 1
    if printed:
        weigh_rows(S0, f.V, rows, e.d, f.row, e.w)
    else:
        for i in range(n):
            e.w[i] = math.sqrt(e.d[i])


@part
def mix(e: Estimates, table: Table) -> None:
    """Take in what was seen, and average with neighbours (`sharing.Estimated.learn`)."""
    players = e.counts.shape[0]
    for p in range(players):
        if not np.isnan(table.seen[p]):
            e.counts[p, table.taken[p]] += players
            e.sums[p, table.taken[p]] += players * table.seen[p]
    for p in range(players):
        if e.same[p] < 0:
            gather(e.near[p], e.counts, e.near_counts[p])
            gather(e.near[p], e.sums, e.near_sums[p])
    for p in range(players):
        near = p if e.same[p] < 0 else e.same[p]
        step, rest = e.step[p], e.rest[p]
        blend(e.counts[p], e.near_counts[near], step, rest, players)
        blend(e.sums[p], e.near_sums[near], step, rest, players)


@part
def gather(near: npt.NDArray[np.bool_], rows: Array, total: Array) -> None:
    """Write the sum of some of the rows."""
    for i in range(total.size):
        total[i] = 0.0
    for q in range(near.size):
        if near[q]:
            row = rows[q]
            for i in range(total.size):
                total[i] += row[i]


@part
def blend(own: Array, near: Array, step: float, rest: float, players: int) -> None:
    """Write a row of P times all estimates: step times those near, and what is left of its own."""
    for i in range(own.size):
        own[i] = (step * near[i] + rest * own[i]) / players
