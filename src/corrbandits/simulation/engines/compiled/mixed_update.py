"""How a belief told nothing takes a reward, in place.

While one arm is taken again and again h is the arm's row of S as it was before, and after m rewards of the streak
S - m / (lambda + m h_k) h h' is left. Such products are put off until there are `BLOCK` of them: S is too large for
the nearest cache, and one pass over it then does for all.

Where mean rewards change there are no streaks: R - faded^2 (c h h' + ...) is left, h over what had faded when it was
written, and a decision that passes changes `faded` alone.
"""

from __future__ import annotations

import math

from corrbandits.belief.vague.factors import FAINTEST
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.mixed_state import BLOCK, Mixed, Told


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
def observe_fading(b: Mixed, told: Told, k: int, z: float) -> None:
    """Take a reward of arm k into every part, where mean rewards change."""
    G, N = b.u.shape
    late = b.seen.late
    for g in range(G):
        h, square = b.h[g, late], b.faded[g] * b.faded[g]
        for i in range(k):
            h[i] = b.S[g, k, i]
        for i in range(k, N):
            h[i] = b.S[g, i, k]
        for q in range(late):
            step = b.c[g, q] * b.h[g, q, k]
            for i in range(N):
                h[i] -= step * b.h[g, q, i]
        for i in range(N):
            h[i] = b.R[g, k, i] + square * h[i]
        expected = max(h[k], 0.0) + told.ratios[g] * told.relative[k]
        apart, one = z - b.u[g, k], 1.0 - b.w[g, k]
        b.ones[g] += one * one / expected
        b.crossed[g] += one * apart / expected
        b.squares[g] += apart * apart / expected
        b.log_determinant[g] += math.log(expected)
        for i in range(N):
            b.u[g, i] += apart / expected * h[i]
            b.w[g, i] += one / expected * h[i]
            b.d[g, i] = max(b.d[g, i] - h[i] * h[i] / expected, 0.0)
            h[i] /= b.faded[g]
        b.c[g, late] = 1.0 / expected
    b.seen.late = late + 1
    if b.seen.late == BLOCK:
        take_products(b)
        b.seen.late = 0


@part
def fade(b: Mixed, told: Told) -> None:
    """Let one decision pass."""
    G, N = b.u.shape
    for g in range(G):
        phi = told.phi[g]
        for i in range(N):
            b.u[g, i] *= phi
            b.w[g, i] *= phi
            b.d[g, i] = phi * phi * b.d[g, i] + told.lost[g]
        b.faded[g] *= phi
        if b.faded[g] < FAINTEST:
            for i in range(N):
                for j in range(i + 1):
                    b.S[g, i, j] *= b.faded[g] * b.faded[g]
                for q in range(b.seen.late):
                    b.h[g, q, i] *= b.faded[g]
            b.faded[g] = 1.0


@part
def without_offset(b: Mixed, told: Told, reward: float) -> float:
    """Return a reward less the first one, and see whether it differs."""
    if b.seen.number == 0:
        b.seen.offset = reward
        if not told.flat and reward != told.centre:
            b.seen.differ = 1
    elif reward != b.seen.offset:
        b.seen.differ = 1
    return reward - b.seen.offset


@part
def observe_mixed(b: Mixed, told: Told, k: int, reward: float) -> None:
    """Take a reward of arm k into every part, and go on to the next decision."""
    z = without_offset(b, told, reward)
    if told.fades:
        observe_fading(b, told, k, z)
        fade(b, told)
        b.seen.number += 1
    else:
        observe_lasting(b, told, k, z)


@part
def observe_lasting(b: Mixed, told: Told, k: int, z: float) -> None:
    """Take a reward of arm k into every part, where mean rewards stay."""
    G, N = b.u.shape
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
