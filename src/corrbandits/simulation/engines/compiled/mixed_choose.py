"""What a belief told nothing is asked for a choice: the arm of the opening, weights and moments, Gittins indices."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import at_lattice, between
from corrbandits.simulation.engines.compiled.mixed_state import Mixed, Told

NEGLIGIBLE = 1e-12
"""A part of less weight than this adds nothing to moments and indices."""


@part
def opening_at(told: Told, n: int, differ: int) -> int:
    """Return the arm to try after n rewards, if there are no variances yet, or -1."""
    wanting = 0 if not told.flat else 1
    if told.free:
        wanting = 4 if told.flat else 3
    if n >= wanting and (differ == 1 or not told.free):
        return -1
    return told.first[n] if n < told.first.size else told.again[n % told.first.size]


@part
def opening_arm(b: Mixed, told: Told) -> int:
    """Return the arm to try while there are no variances yet, or -1."""
    return opening_at(told, b.seen.number, b.seen.differ)


@part
def fitted(A: float, crossed: float, squares: float) -> tuple[float, float]:
    """Return the mean beta that fits a part best, and the squares that are left about it."""
    beta = crossed / A if A > 0.0 else 0.0
    return beta, max(squares - crossed * beta, 1e-300)


@part
def under(told: Told, g: int, n: int, centre: float, A: float, fit: tuple[float, float]) -> tuple[float, float, float]:
    """Return what a part that is `fitted` makes of beta and its variance, and the expected square of the scale."""
    beta, least = fit
    if told.free and told.flat:
        return beta, 1.0 / A, least / (n - 3.0)
    if told.free:
        return centre, 0.0, (least + A * (beta - centre) ** 2) / (n - 2.0)
    if told.flat:
        return beta, 1.0 / A, told.squares[g]
    v = told.spread / told.squares[g]
    return (centre + v * A * beta) / (1.0 + v * A), v / (1.0 + v * A), told.squares[g]


@part
def log_weight(told: Told, g: int, n: int, centre: float, A: float, fit: tuple[float, float]) -> float:
    """Return the logarithm of the weight of a part that is `fitted`, up to the determinant's and a constant."""
    beta, least = fit
    if told.free and told.flat:
        return -(0.5 * math.log(A) + 0.5 * (n - 1) * math.log(least))
    if told.free:
        return -0.5 * n * math.log(least + A * (beta - centre) ** 2)
    square = told.squares[g]
    if told.flat:
        return -(0.5 * math.log(A) + 0.5 * (n - 1) * math.log(square) + 0.5 * least / square)
    v = told.spread / square
    value = -(0.5 * math.log1p(v * A) + 0.5 * n * math.log(square))
    return value - 0.5 * (least + A * (beta - centre) ** 2 / (1.0 + v * A)) / square


@part
def under_part(b: Mixed, told: Told, g: int) -> tuple[float, float, float]:
    """Return what a part makes of beta and its variance, and the expected square of the scale."""
    A = b.ones[g]
    return under(told, g, b.seen.number, told.centre - b.seen.offset, A, fitted(A, b.crossed[g], b.squares[g]))


@part
def weigh_parts(b: Mixed, told: Told) -> None:
    """Set the parts' weights and the moments of the mixture."""
    G, N, n = b.u.shape[0], b.u.shape[1], b.seen.number
    centre, most = told.centre - b.seen.offset, -np.inf
    for g in range(G):
        A = b.ones[g]
        value = log_weight(told, g, n, centre, A, fitted(A, b.crossed[g], b.squares[g])) - 0.5 * b.log_determinant[g]
        b.weight[g] = value
        most = max(most, value)
    total = 0.0
    for g in range(G):
        b.weight[g] = math.exp(b.weight[g] - most)
        total += b.weight[g]
    for i in range(N):
        b.mu[i] = 0.0
        b.variance[i] = 0.0
    for g in range(G):
        b.weight[g] /= total
        p = b.weight[g]
        if p < NEGLIGIBLE:
            continue
        beta, more, expected = under_part(b, told, g)
        for i in range(N):
            share = 1.0 - b.w[g, i]
            mean = b.u[g, i] + beta * share
            b.mu[i] += p * mean
            b.variance[i] += p * (expected * (b.d[g, i] + more * share * share) + mean * mean)
    for i in range(N):
        b.variance[i] = max(b.variance[i] - b.mu[i] * b.mu[i], 0.0)
        b.deviation[i] = math.sqrt(b.variance[i])


@part
def index_parts(
    b: Mixed, told: Told, m: float, doubt: float, log_m: Array, table: Array, log_n: Array, row: Array, out: Array
) -> None:
    """Write the mean of the parts' Gittins indices, m decisions left, and so many of their deviations."""
    G, N = b.u.shape
    for i in range(N):
        out[i] = 0.0
        b.deviation[i] = 0.0
    between(m, log_m, table, row)
    ahead = 0.0
    for g in range(G):
        if b.weight[g] < NEGLIGIBLE:
            continue
        if told.fades:  # no farther ahead than what is learnt lasts
            between(min(m, told.lasting[g]), log_m, table, row)
            ahead += b.weight[g] * min(doubt, told.doubt[g])
        beta, more, expected = under_part(b, told, g)
        for i in range(N):
            share = 1.0 - b.w[g, i]
            value, left = b.u[g, i] + beta * share, b.d[g, i] + more * share * share
            if left > 0.0:
                value += math.sqrt(expected * left) * at_lattice(told.ratios[g] * told.relative[i] / left, log_n, row)
            b.each[g, i] = value
            out[i] += b.weight[g] * value
    for g in range(G):
        if b.weight[g] < NEGLIGIBLE:
            continue
        for i in range(N):
            b.deviation[i] += b.weight[g] * (b.each[g, i] - out[i]) ** 2
    if told.fades:
        doubt = ahead
    for i in range(N):
        out[i] += doubt * math.sqrt(b.deviation[i])
