"""How time and rewards change a drifting belief: parts of the loops.

A step of time takes the means a share closer to mu0, and S to phi^2 S + (1 - phi^2) S0: of S0 - S, what is known, it
leaves phi^2. So only numbers are multiplied, until so many rows wait that one pass over A serves them all.

While one arm k is taken again and again, its row stays in the span of two: h, what it was at first, and u = S0_k, to
which time pulls it. A reward shrinks both of its coordinates, and what all rewards of such a streak make known has
three numbers, and two rows at its end.
"""

from __future__ import annotations

import math
from typing import Any

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.drifting_state import LINE, DriftingApart, DriftingJoint, DriftingPrinted
from corrbandits.simulation.engines.compiled.state import MOST_WAITING


@part
def relax(b: Any) -> None:
    """Let a step of time pass, unless it is the first: means and variances of any drifting belief."""
    if b.memory.begun:
        phi, share, fresh = b.memory.phi, b.memory.share, b.memory.fresh
        for j in range(b.d.size):
            b.mu[j] = b.mu0[j] + phi * (b.mu[j] - b.mu0[j])
            b.d[j] = share * b.d[j] + fresh * b.d0[j]


@part
def relax_joint(b: DriftingJoint) -> None:
    """Let a step of time pass, unless it is the first."""
    relax(b)
    if b.memory.begun:
        share = b.memory.share
        b.memory.kept *= share
        for p in range(b.memory.waiting):
            b.age[p] *= share
        b.memory.hh *= share
        b.memory.hu *= share
        b.memory.uu *= share
        b.memory.a *= share
        b.memory.b = share * b.memory.b + b.memory.fresh
    b.memory.begun = 1


@part
def relax_apart(b: DriftingApart) -> None:
    """Let a step of time pass, unless it is the first; the w are as they were."""
    relax(b)
    b.memory.begun = 1


@part
def observe_drifting(b: DriftingJoint, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a belief whose rows are read (eq. sherman-morrison)."""
    if k != b.memory.arm:
        start_drifting(b, k)
    h, u, along_h, along_u = b.h, b.S0[k], b.memory.a, b.memory.b
    variance = b.d[k]
    total = noise + variance
    gain, over = (reward - b.mu[k]) / total, 1.0 / total
    for j in range(h.size):
        v = along_h * h[j] + along_u * u[j]
        b.mu[j] += v * gain
        rest = b.d[j] - v * v * over
        b.d[j] = rest if rest > 0.0 else 0.0
    b.d[k] = noise * (variance / total)
    b.memory.hh += along_h * along_h * over
    b.memory.hu += along_h * along_u * over
    b.memory.uu += along_u * along_u * over
    b.memory.a *= noise * over
    b.memory.b *= noise * over


@part
def start_drifting(b: DriftingJoint, k: int) -> None:
    """End the streak, if there is one, and begin one of arm k."""
    if b.memory.waiting + 2 > MOST_WAITING:
        carry_drifting(b)
    if b.memory.arm >= 0:
        u, hh, hu, rest = b.S0[b.memory.arm], b.memory.hh, b.memory.hu, b.memory.uu
        if hh > 0.0:
            root = math.sqrt(hh)
            wait(b, root, hu / root, u)
            rest -= hu * (hu / hh)
        if rest > 1e-16 * b.memory.uu:
            wait(b, 0.0, math.sqrt(rest), u)
    row_drifting(b, k, b.h)
    b.memory.arm = k
    b.memory.a = 1.0
    b.memory.b = b.memory.hh = b.memory.hu = b.memory.uu = 0.0


@part
def wait(b: DriftingJoint, along_h: float, along_u: float, u: Array) -> None:
    """Let a row wait in G."""
    g = b.G[b.memory.waiting]
    for j in range(g.size):
        g[j] = along_h * b.h[j] + along_u * u[j]
    b.age[b.memory.waiting] = 1.0
    b.memory.waiting += 1


@part
def take_along(b: DriftingPrinted, g: Array, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k, whose row is g, into means and variances; of g leave what is taken from S, g g'."""
    variance = b.d[k]
    total = noise + variance
    gain, root = (reward - b.mu[k]) / total, 1.0 / math.sqrt(total)
    for j in range(g.size):
        v = g[j]
        b.mu[j] += v * gain
        v *= root
        rest = b.d[j] - v * v
        b.d[j] = rest if rest > 0.0 else 0.0
        g[j] = v
    b.d[k] = noise * (variance / total)


@part
def row_drifting(b: DriftingJoint, k: int, out: Array) -> None:
    """Write row k of the covariance outside a streak; beyond sqrt(S_kk S_jj) lies only rounding."""
    kept, S0 = b.memory.kept, b.S0[k]
    first = k * (k - 1) // 2
    for j in range(k):
        out[j] = S0[j] - kept * b.A[first + j]
    at = first + 2 * k
    for j in range(k + 1, out.size):
        out[j] = S0[j] - kept * b.A[at]
        at += j
    out[k] = 0.0
    for p in range(b.memory.waiting):
        g, g_k = b.G[p], b.age[p] * b.G[p, k]
        for j in range(out.size):
            out[j] -= g_k * g[j]
    clip(out, b.d, k)


@part
def clip(row: Array, d: Array, k: int) -> None:
    """Let no entry of row k be beyond sqrt(S_kk S_jj)."""
    variance = d[k]
    for j in range(row.size):
        v, most = row[j], variance * d[j]
        row[j] = v if v * v <= most else math.copysign(math.sqrt(most), v)
    row[k] = variance


@part
def carry_drifting(b: DriftingJoint) -> None:
    """Take the rows that wait into A, four at a time, each by what time has left of it."""
    kept, first = b.memory.kept, 0
    b.age[b.memory.waiting :] = 0.0
    for i in range(1, b.d.size):
        target = b.A[first : first + i]
        first += i
        for j in range(i):
            target[j] *= kept
        for p in range(0, MOST_WAITING, 4):
            one, two, three, four = b.G[p], b.G[p + 1], b.G[p + 2], b.G[p + 3]
            g_one, g_two = b.age[p] * one[i], b.age[p + 1] * two[i]
            g_three, g_four = b.age[p + 2] * three[i], b.age[p + 3] * four[i]
            for j in range(i):
                target[j] += g_one * one[j] + g_two * two[j] + (g_three * three[j] + g_four * four[j])
    b.memory.kept = 1.0
    b.memory.waiting = 0


@part
def relax_printed(b: DriftingPrinted) -> None:
    """Let a step of time pass, unless it is the first, and set every w."""
    relax(b)
    share, fresh = 1.0, 0.0
    if b.memory.begun:
        share, fresh = b.memory.share, b.memory.fresh
    weigh_drifting(b, share, fresh)
    b.memory.begun = 1


@part
def weigh_drifting(b: DriftingPrinted, share: float, fresh: float) -> None:
    """Let S be share (S - g g') + fresh S0 and, in the same pass, set w_i^2 = sum_j S_ij^2 / S_jj.

    Two rows at a time: each entry of g, 1 / d and w that is fetched serves both. What lies on the line of the diagonal
    is there twice, (i, j) and (j, i), and counts along its row alone.
    """
    n, g, inverse, along, across = b.d.size, b.g, b.inverse, b.along, b.across
    for j in range(n):
        inverse[j] = 1.0 / b.d[j] if b.d[j] > 0.0 else 0.0
        across[j] = 0.0
    for i in range(0, n, 2):
        start, middle, end = b.first[i], b.first[i + 1], b.first[i + 2]
        one, two, prior_one, prior_two = b.S[start:middle], b.S[middle:end], b.S0[start:middle], b.S0[middle:end]
        g_one, g_two, inverse_one, inverse_two = share * g[i], share * g[i + 1], inverse[i], inverse[i + 1]
        w_one = w_two = 0.0
        for j in range(middle - start):
            s_one = share * one[j] + (fresh * prior_one[j] - g_one * g[j])
            s_two = share * two[j] + (fresh * prior_two[j] - g_two * g[j])
            one[j] = s_one
            two[j] = s_two
            s_one *= s_one
            s_two *= s_two
            w_one += s_one * inverse[j]
            w_two += s_two * inverse[j]
            across[j] += s_one * inverse_one + s_two * inverse_two
        along[i], along[i + 1] = w_one, w_two
        if (i + 2) % LINE == 0:
            across[i + 2 - LINE : i + 2] = 0.0
    across[n // LINE * LINE :] = 0.0
    for j in range(n):
        b.w[j] = math.sqrt(along[j] + across[j])


@part
def observe_printed(b: DriftingPrinted, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a belief all of whose covariance is read; S follows with the next step of time."""
    g, row = b.g[: b.d.size], b.S[b.first[k] : b.first[k + 1]]
    for j in range(min(row.size, g.size)):
        g[j] = row[j]
    for j in range(row.size, g.size):
        g[j] = b.S[b.first[j] + k]
    clip(g, b.d, k)
    take_along(b, g, k, reward, noise)
