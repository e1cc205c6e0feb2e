"""The loops of players who average estimates of counts and sums with their neighbours (`sharing`).

    name       shape     meaning
    R          (N,)      sqrt(n_i / sigma_i^2), n_i the effective counts
    L          (N, N)    Cholesky factor of I + R S0 R, which is never singular
    V          (N, N)    L^-1 R S0: the covariance is S0 - V'V (eq. inference-corr-simplified)

All counts change at every step, so that there is no update of rank one: with correlated arms a player's belief takes
O(N^3) at each step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import HARDLY
from corrbandits.company.engines.compiled.table import (
    Table,
    clear,
    free_average,
    free_limit,
    free_pending,
    pay,
    sit,
)
from corrbandits.simulation.engines.compiled.cache import compiled, part


class Estimates(NamedTuple):
    """What M players estimate of N arms, their priors, and what they believe (one at a time)."""

    counts: Array  # (M, N)
    sums: Array  # (M, N)
    old_counts: Array  # (M, N)
    old_sums: Array  # (M, N)
    weights: Array  # (M, M)
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
    R: Array  # (N,)
    L: Array  # (N, N)
    V: Array  # (N, N)
    z: Array  # (N,)


@compiled
def estimated_apart(
    e: Estimates, averages: bool, doubts: Array, table: Table, widths: Array, referee: np.random.Generator
) -> None:
    """Go on, each player taking the arm of largest limit, or of largest average and width / sqrt(n_i)."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(e.counts.shape[0]):
            believe_apart(e, p, averages, doubts[t])
            k = free_pending(table, p, e.d)
            if k < 0 and averages:
                k = free_average(table, e.mu, e.w, widths[table.schedule[p], t])
            elif k < 0:
                k = free_limit(table, e.mu, e.w, widths[table.schedule[p], t])
            sit(table, p, k)
        pay(table, t, referee)
        mix(e, table)


@compiled
def estimated_joint(
    e: Estimates, f: Factors, printed: bool, doubts: Array, table: Table, widths: Array, referee: np.random.Generator
) -> None:
    """Go on, each player taking the arm of largest limit of correlated arms, the printed one or the plain one."""
    for t in range(table.eps.shape[1]):
        clear(table)
        for p in range(e.counts.shape[0]):
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
    n, S0 = e.mu.size, f.covariances[f.prior[p]]
    for i in range(n):
        count = e.counts[p, i]
        f.R[i], f.z[i] = 0.0, 0.0
        if count > HARDLY:
            f.R[i] = math.sqrt(effective(count, e.counts.shape[0], doubt) / e.noise[p, i])
            f.z[i] = f.R[i] * (e.sums[p, i] / count - e.means[p, i])
    factor(f, S0)
    for i in range(n):
        e.mu[i], e.d[i] = e.means[p, i], S0[i, i]
    for k in range(n):
        if f.R[k] > 0.0:
            for i in range(n):
                e.mu[i] += f.V[k, i] * f.z[k]
                e.d[i] -= f.V[k, i] * f.V[k, i]
    for i in range(n):
        e.d[i] = max(e.d[i], 0.0)
        e.w[i] = math.sqrt(e.d[i])
    if printed:
        spread(e, f, S0)


@part
def factor(f: Factors, S0: Array) -> None:
    """Write L, V = L^-1 R S0, and L^-1 z in place of z; rows of arms without counts are those of nothing."""
    n = f.R.size
    for i in range(n):
        if f.R[i] > 0.0:
            for j in range(i + 1):
                if f.R[j] > 0.0:
                    total = f.R[i] * S0[i, j] * f.R[j] + (1.0 if i == j else 0.0)
                    for k in range(j):
                        if f.R[k] > 0.0:
                            total -= f.L[i, k] * f.L[j, k]
                    f.L[i, j] = math.sqrt(total) if i == j else total / f.L[j, j]
            for j in range(n):
                f.V[i, j] = f.R[i] * S0[i, j]
            for k in range(i):
                if f.R[k] > 0.0:
                    l_ik = f.L[i, k]
                    f.z[i] -= l_ik * f.z[k]
                    for j in range(n):
                        f.V[i, j] -= l_ik * f.V[k, j]
            over = 1.0 / f.L[i, i]
            f.z[i] *= over
            for j in range(n):
                f.V[i, j] *= over


@part
def spread(e: Estimates, f: Factors, S0: Array) -> None:
    """Write w_i = s_i sqrt(sum_j rho_ij^2), from the rows of S0 - V'V."""
    n = e.mu.size
    for i in range(n):
        for j in range(n):
            f.z[j] = S0[i, j]
        for k in range(n):
            if f.R[k] > 0.0:
                v = f.V[k, i]
                for j in range(n):
                    f.z[j] -= v * f.V[k, j]
        total = e.d[i]
        for j in range(n):
            if j != i and e.d[j] > 0.0:
                total += f.z[j] * f.z[j] / e.d[j]
        e.w[i] = math.sqrt(total)


@part
def mix(e: Estimates, table: Table) -> None:
    """Take in what was seen, and average with neighbours (`sharing.Estimated.learn`)."""
    players, n = e.counts.shape
    for p in range(players):
        if not np.isnan(table.seen[p]):
            e.counts[p, table.taken[p]] += players
            e.sums[p, table.taken[p]] += players * table.seen[p]
    e.old_counts[:] = e.counts
    e.old_sums[:] = e.sums
    for p in range(players):
        for i in range(n):
            e.counts[p, i] = 0.0
            e.sums[p, i] = 0.0
        for q in range(players):
            weight = e.weights[p, q]
            if weight != 0.0:
                for i in range(n):
                    e.counts[p, i] += weight * e.old_counts[q, i]
                    e.sums[p, i] += weight * e.old_sums[q, i]
        for i in range(n):
            e.counts[p, i] /= players
            e.sums[p, i] /= players
