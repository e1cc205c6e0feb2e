"""A belief told nothing in a form that changes in place, and the loops that play rules on it.

Names as in `belief.vague`; here u = V' zeta and w = V' o, so that under a part the arms' means are u + beta (1 - w),
about which S is left. While one arm is taken again and again h is the arm's row of S as it was before, and after m
rewards of the streak S - m / (lambda + m h_k) h h' is left. Such products are put off until there are `BLOCK` of them:
S is too large for the nearest cache, and one pass over it then does for all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Vague
from corrbandits.belief.vague.opening import in_order
from corrbandits.simulation.engines.compiled.cache import compiled, part
from corrbandits.simulation.engines.compiled.choose import (
    at_lattice,
    between,
    first_limit,
    first_of_equals,
    largest_limit,
)
from corrbandits.simulation.engines.compiled.state import Ranked, Steps, record
from corrbandits.simulation.engines.compiled.update import pull

NEGLIGIBLE = 1e-12
"""A part of less weight than this adds nothing to moments and indices."""

BLOCK = 16
"""So many products are taken from S at once; a multiple of 4."""

SEEN = np.dtype(
    [
        ("number", np.int64),  # n
        ("differ", np.int64),  # 1 once two rewards have differed, or one from a mean that is known
        ("arm", np.int64),  # of the streak, or -1
        ("late", np.int64),  # how many products are put off
        ("length", np.int64),  # m
        ("offset", np.float64),
    ],
    align=True,
)


class Told(NamedTuple):
    """What was told, and what follows from the arms' places."""

    free: bool  # whether scales are integrated out
    flat: bool  # whether nothing is known of the mean
    centre: float  # of the mean
    spread: float  # its variance
    ratios: Array
    squares: Array  # of the scales
    relative: Array
    first: Integers  # the arms in the order of the opening
    again: Integers  # and once each was tried


class Mixed(NamedTuple):
    """A mixture: one row per part."""

    S: Array  # (G, N, N), its lower triangle
    h: Array  # (G, BLOCK, N): rows whose products are put off, and that of the streak
    c: Array  # (G, BLOCK), their factors
    d: Array  # (G, N), the diagonal now
    u: Array
    w: Array
    ones: Array  # (G,)
    crossed: Array
    squares: Array
    log_determinant: Array
    held: Array  # h_k
    weight: Array
    mu: Array  # (N,), of the mixture
    variance: Array
    deviation: Array
    each: Array  # (G, N), the parts' indices
    seen: Any  # a record of SEEN


def mixed_state(belief: Vague) -> tuple[Mixed, Told]:
    """Return a prior in a form that changes in place, and what was told."""
    parts, level, n = belief.parts, belief.level, belief.arms
    G, every = len(parts), np.arange(n)
    S = np.array([parts.correlation(part, every, every) for part in range(G)])
    zeros = np.zeros((2, G, n))
    sums = np.zeros((6, G))
    state = Mixed(
        S=S,
        h=np.zeros((G, BLOCK, n)),
        c=np.zeros((G, BLOCK)),
        d=np.ones((G, n)),
        u=zeros[0],
        w=zeros[1],
        ones=sums[0],
        crossed=sums[1],
        squares=sums[2],
        log_determinant=sums[3] - 2 * parts.log_prior,
        held=sums[4],
        weight=sums[5],
        mu=np.zeros(n),
        variance=np.zeros(n),
        deviation=np.zeros(n),
        each=np.zeros((G, n)),
        seen=record(SEEN, arm=-1),
    )
    first, again = in_order(None if parts.points is None else parts.places(), n)
    told = Told(
        free=parts.free,
        flat=level is None,
        centre=0.0 if level is None else level.centre,
        spread=0.0 if level is None else level.deviation**2,
        ratios=parts.ratios,
        squares=np.ones(G) if parts.free else np.square(parts.scales),
        relative=belief.relative_variance,
        first=first,
        again=again,
    )
    return state, told


@part
def opening_arm(b: Mixed, told: Told) -> int:
    """Return the arm to try while there are no variances yet, or -1."""
    n = b.seen.number
    wanting = 0 if not told.flat else 1
    if told.free:
        wanting = 4 if told.flat else 3
    if n >= wanting and (b.seen.differ == 1 or not told.free):
        return -1
    return told.first[n] if n < told.first.size else told.again[n % told.first.size]


@part
def under_part(b: Mixed, told: Told, g: int) -> tuple[float, float, float]:
    """Return what a part makes of beta and its variance, and the expected square of the scale."""
    n, A, centre = b.seen.number, b.ones[g], told.centre - b.seen.offset
    beta = b.crossed[g] / A if A > 0.0 else 0.0
    least = max(b.squares[g] - b.crossed[g] * beta, 1e-300)
    if told.free and told.flat:
        return beta, 1.0 / A, least / (n - 3.0)
    if told.free:
        return centre, 0.0, (least + A * (beta - centre) ** 2) / (n - 2.0)
    if told.flat:
        return beta, 1.0 / A, told.squares[g]
    v = told.spread / told.squares[g]
    return (centre + v * A * beta) / (1.0 + v * A), v / (1.0 + v * A), told.squares[g]


@part
def weigh_parts(b: Mixed, told: Told) -> None:
    """Set the parts' weights and the moments of the mixture."""
    G, N, n = b.u.shape[0], b.u.shape[1], b.seen.number
    centre, most = told.centre - b.seen.offset, -np.inf
    for g in range(G):
        A = b.ones[g]
        beta = b.crossed[g] / A if A > 0.0 else 0.0
        least = max(b.squares[g] - b.crossed[g] * beta, 1e-300)
        value = -0.5 * b.log_determinant[g]
        if told.free and told.flat:
            value -= 0.5 * math.log(A) + 0.5 * (n - 1) * math.log(least)
        elif told.free:
            value -= 0.5 * n * math.log(least + A * (beta - centre) ** 2)
        elif told.flat:
            square = told.squares[g]
            value -= 0.5 * math.log(A) + 0.5 * (n - 1) * math.log(square) + 0.5 * least / square
        else:
            square = told.squares[g]
            v = told.spread / square
            value -= 0.5 * math.log1p(v * A) + 0.5 * n * math.log(square)
            value -= 0.5 * (least + A * (beta - centre) ** 2 / (1.0 + v * A)) / square
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
def begin_streak(b: Mixed, told: Told, k: int) -> None:
    """Put off the product of the streak that ends, and set the row of arm k."""
    G, N = b.u.shape
    last, late = b.seen.arm, b.seen.late
    if last >= 0:
        for g in range(G):
            lasted = float(b.seen.length)
            b.c[g, late] = lasted / (told.ratios[g] * told.relative[last] + lasted * b.held[g])
        late += 1
        if late == BLOCK:
            take_products(b)
            late = 0
    for g in range(G):
        h = b.h[g, late]
        for i in range(k):
            h[i] = b.S[g, k, i]
        for i in range(k, N):
            h[i] = b.S[g, i, k]
        for q in range(late):
            step = b.c[g, q] * b.h[g, q, k]
            for i in range(N):
                h[i] -= step * b.h[g, q, i]
        b.held[g] = h[k]
    b.seen.arm, b.seen.length, b.seen.late = k, 0, late


@part
def take_products(b: Mixed) -> None:
    """Take the products that were put off from S, four at a time."""
    G, N = b.u.shape
    for g in range(G):
        for first in range(0, BLOCK, 4):
            h0, h1, h2, h3 = b.h[g, first], b.h[g, first + 1], b.h[g, first + 2], b.h[g, first + 3]
            for i in range(N):
                s0, s1 = b.c[g, first] * h0[i], b.c[g, first + 1] * h1[i]
                s2, s3 = b.c[g, first + 2] * h2[i], b.c[g, first + 3] * h3[i]
                row = b.S[g, i]
                for j in range(i + 1):
                    row[j] -= s0 * h0[j] + s1 * h1[j] + s2 * h2[j] + s3 * h3[j]


@part
def observe_mixed(b: Mixed, told: Told, k: int, reward: float) -> None:
    """Take a reward of arm k into every part."""
    G, N = b.u.shape
    if b.seen.number == 0:
        b.seen.offset = reward
        if not told.flat and reward != told.centre:
            b.seen.differ = 1
    elif reward != b.seen.offset:
        b.seen.differ = 1
    z = reward - b.seen.offset
    if k != b.seen.arm:
        begin_streak(b, told, k)
    m, late = b.seen.length, b.seen.late
    for g in range(G):
        noise = told.ratios[g] * told.relative[k]
        shrunk = noise / (noise + m * b.held[g])  # the row now is so much of h
        expected = shrunk * b.held[g] + noise
        apart, one = z - b.u[g, k], 1.0 - b.w[g, k]
        b.ones[g] += one * one / expected
        b.crossed[g] += one * apart / expected
        b.squares[g] += apart * apart / expected
        b.log_determinant[g] += math.log(expected)
        to_u, to_w, to_d = shrunk * apart / expected, shrunk * one / expected, shrunk * shrunk / expected
        for i in range(N):
            h = b.h[g, late, i]
            b.u[g, i] += to_u * h
            b.w[g, i] += to_w * h
            b.d[g, i] = max(b.d[g, i] - to_d * h * h, 0.0)
    b.seen.length += 1
    b.seen.number += 1


@compiled
def limits_mixed(b: Mixed, told: Told, steps: Steps, widths: Array, order: Ranked) -> None:
    """Go on, taking the arm of largest mean and width deviations."""
    for t in range(steps.eps.size):
        k = opening_arm(b, told)
        if k < 0:
            weigh_parts(b, told)
            if order.rank.size > 0:
                k = first_limit(b.mu, b.variance, widths[t], order)
            else:
                k = largest_limit(b.mu, b.deviation, widths[t])
        else:
            steps.progress.initialisation += 1
        observe_mixed(b, told, k, pull(steps, t, k))


@part
def index_parts(b: Mixed, told: Told, doubt: float, log_n: Array, row: Array, out: Array) -> None:
    """Write the mean of the parts' Gittins indices, and so many of their deviations."""
    G, N = b.u.shape
    for i in range(N):
        out[i] = 0.0
        b.deviation[i] = 0.0
    for g in range(G):
        if b.weight[g] < NEGLIGIBLE:
            continue
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
    for i in range(N):
        out[i] += doubt * math.sqrt(b.deviation[i])


@compiled
def indices_mixed(
    b: Mixed,
    told: Told,
    steps: Steps,
    left: Array,
    doubt: Array,
    log_m: Array,
    log_n: Array,
    g: Array,
    row: Array,
    order: Ranked,
) -> None:
    """Go on, taking the arm of largest Gittins index."""
    for t in range(steps.eps.size):
        k = opening_arm(b, told)
        if k < 0:
            weigh_parts(b, told)
            between(left[t], log_m, g, row)
            index_parts(b, told, doubt[t], log_n, row, order.values)
            k = first_of_equals(order.values, b.variance, order.rank)
        else:
            steps.progress.initialisation += 1
        observe_mixed(b, told, k, pull(steps, t, k))
