"""How a reward changes a belief: parts of the loops.

While one arm is taken again and again, its n rewards are one average of variance s = sigma_s^2 / n (eq.
inference-corr-simplified), so that nothing of size N^2 is touched: S, mu0, d0 stay as they were before the streak, h
is the row that the arm had then, and now

    S_ij - c h_i h_j,  d0_j - c h_j^2,  mu0_j + h_j c (mbar - mu0_k),    c = 1 / (s + d0_k).

Row k of S itself is 0 in a streak of arm k and h_k is -s, which makes its entries the product c s h_j, without
cancellation. A streak ends in one pass over S, which also gives every w.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import compiled, part
from corrbandits.simulation.engines.compiled.state import MOST_WAITING, Joint, Steps


@part
def copy(source: Array, target: Array) -> None:
    """Write all of an array into another; to assign a slice would allocate."""
    for i in range(target.size):
        target[i] = source[i]


@part
def pull(steps: Steps, t: int, k: int) -> float:
    """Return the reward of arm k at step t, and note both."""
    eps = steps.eps[t]
    mean = steps.means[t * steps.stride + k]
    reward = mean + steps.deviations[k] * eps
    if steps.binary:
        reward = 1.0 if eps < mean else 0.0
    steps.arms[t] = k
    steps.rewards[t] = reward
    steps.sums[k] += reward
    return reward


@part
def observe_joint(b: Joint, lazy: bool, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a correlated belief, whose w are not kept; S may lag behind if only rows are read."""
    if k != b.streak.arm:
        if lazy:
            defer(b)
        else:
            settle(b, False)
        start(b, k)
    take(b, k, reward, noise)


@part
def observe_printed(b: Joint, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k; w is not kept, but known in a streak that began when it was."""
    if k != b.streak.arm:
        if b.streak.arm >= 0:
            settle(b, False)
            b.streak.lasting = 0
        start(b, k)
    take(b, k, reward, noise)


@part
def observe_apart(b: Any, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into its own posterior (section 3.1); of an unknown arm the reward is all there is.

    The belief is `Apart`, or another on independent arms.
    """
    if b.d[k] == np.inf:
        b.mu[k] = reward
        b.d[k] = noise
    else:
        share = b.d[k] / (noise + b.d[k])
        b.mu[k] += share * (reward - b.mu[k])
        b.d[k] = noise * share
    b.w[k] = math.sqrt(b.d[k])


@part
def start(b: Joint, k: int) -> None:
    """Begin a streak of arm k: move its row from S to h.

    Beyond sqrt(S_kk S_jj) lies only the rounding of a nearly singular covariance, which little noise would multiply.
    """
    n = b.d.size
    variance = b.d0[k]
    first = k * (k - 1) // 2
    for j in range(k):
        b.h[j] = b.S[first + j]
        b.S[first + j] = 0.0
    at = first + 2 * k
    for j in range(k + 1, n):
        b.h[j] = b.S[at]
        b.S[at] = 0.0
        at += j
    for p in range(b.streak.waiting):
        g, g_k = b.G[p], b.G[p, k]
        for j in range(n):
            b.h[j] -= g_k * g[j]
        g[k] = 0.0
    for j in range(n):
        v, most = b.h[j], variance * b.d0[j]
        b.h[j] = v if v * v <= most else math.copysign(math.sqrt(most), v)
    b.h[k] = 0.0
    b.streak.arm = k
    b.streak.length = 0
    b.streak.tried = 0
    b.streak.measured = 0
    b.streak.surprise = 0.0
    b.streak.variance = variance


@part
def take(b: Joint, k: int, reward: float, noise: float) -> None:
    """Take a reward of the streak's arm k into means and variances (eq. sherman-morrison, n rewards as one average)."""
    b.streak.length += 1
    b.streak.surprise += reward - b.mu0[k]
    variance = b.streak.variance
    s = noise / b.streak.length
    total = s + variance
    c = 1.0 / total
    gain = b.streak.surprise / b.streak.length * c
    for j in range(b.d.size):
        v = b.h[j]
        b.mu[j] = b.mu0[j] + v * gain
        rest = b.d0[j] - c * v * v
        b.d[j] = rest if rest > 0.0 else 0.0
    b.mu[k] = b.mu0[k] + variance * gain
    b.d[k] = s * (variance / total)
    b.h[k] = -s
    b.streak.precision = c


@part
def settle(b: Joint, printed: bool) -> None:
    """End the streak, if there is one: carry it into S and, if asked, set every w."""
    if b.streak.arm >= 0:
        root = math.sqrt(b.streak.precision)
        for j in range(b.d.size):
            b.work[j] = b.h[j] * root
        if printed:
            settle_printed(b.S, b.d, b.work, b.inverse, b.floor, b.w)
        else:
            settle_plain(b.S, b.work)
        remember(b)


@part
def remember(b: Joint) -> None:
    """Let what is now be what was before the next streak."""
    for j in range(b.d.size):
        b.mu0[j] = b.mu[j]
        b.d0[j] = b.d[j]
        b.w0[j] = b.w[j]
    b.streak.arm = -1


@part
def settle_printed(S: Array, d: Array, g: Array, inverse: Array, floor: Array, w: Array) -> None:
    """Subtract g g' from the covariance and, in the same pass, set w_i^2 = sum_j S_ij^2 / S_jj = s_i^2 sum_j rho_ij^2.

    Two rows at a time: each entry of g, 1 / d and w that is fetched serves both.
    """
    n = d.size
    for j in range(n):
        inverse[j] = 1.0 / d[j] if d[j] > floor[j] else 0.0
        w[j] = d[j]
    first = 0
    for i in range(0, n - 1, 2):
        one, two = S[first : first + i], S[first + i : first + 2 * i + 1]
        first += 2 * i + 1
        g_one, g_two = g[i], g[i + 1]
        inverse_one, inverse_two = inverse[i], inverse[i + 1]
        w_one = w_two = 0.0
        for j in range(i):
            s_one = one[j] - g_one * g[j]
            s_two = two[j] - g_two * g[j]
            one[j] = s_one
            two[j] = s_two
            s_one *= s_one
            s_two *= s_two
            w_one += s_one * inverse[j]
            w_two += s_two * inverse[j]
            w[j] += s_one * inverse_one + s_two * inverse_two
        s = two[i] - g_two * g_one
        two[i] = s
        w[i] += w_one + s * s * inverse_two
        w[i + 1] += w_two + s * s * inverse_one
    if n % 2:
        i = n - 1
        for j in range(i):
            s = S[first + j] - g[i] * g[j]
            S[first + j] = s
            w[i] += s * s * inverse[j]
            w[j] += s * s * inverse[i]
    for j in range(n):
        w[j] = math.sqrt(w[j])


@part
def settle_plain(S: Array, g: Array) -> None:
    """Subtract g g' from the covariance."""
    first = 0
    for i in range(1, g.size):
        target, g_i = S[first : first + i], g[i]
        first += i
        for j in range(i):
            target[j] -= g_i * g[j]


@part
def defer(b: Joint) -> None:
    """End the streak, if there is one, but leave S as it is until so many wait that one pass serves them all."""
    if b.streak.arm >= 0:
        root, g = math.sqrt(b.streak.precision), b.G[b.streak.waiting]
        for j in range(b.d.size):
            g[j] = b.h[j] * root
        remember(b)
        b.streak.waiting += 1
        if b.streak.waiting == MOST_WAITING:
            carry(b.S, b.G)
            b.streak.waiting = 0


@part
def carry(S: Array, G: Array) -> None:
    """Subtract G'G from the covariance, four rows of G at a time."""
    first = 0
    for i in range(1, G.shape[1]):
        target = S[first : first + i]
        first += i
        for p in range(0, MOST_WAITING, 4):
            one, two, three, four = G[p], G[p + 1], G[p + 2], G[p + 3]
            g_one, g_two, g_three, g_four = one[i], two[i], three[i], four[i]
            for j in range(i):
                target[j] -= g_one * one[j] + g_two * two[j] + (g_three * three[j] + g_four * four[j])


@part
def row(b: Joint, i: int, out: Array) -> None:
    """Write row i of the covariance as it is now."""
    h_i = b.h[i] * b.streak.precision if b.streak.arm >= 0 else 0.0
    first = i * (i - 1) // 2
    for j in range(i):
        out[j] = b.S[first + j] - h_i * b.h[j]
    at = first + 2 * i
    for j in range(i + 1, b.d.size):
        out[j] = b.S[at] - h_i * b.h[j]
        at += j
    for p in range(b.streak.waiting):
        g, g_i = b.G[p], b.G[p, i]
        for j in range(b.d.size):
            out[j] -= g_i * g[j]
    out[i] = b.d[i]


@compiled
def weigh(b: Joint) -> None:
    """Set w_i = s_i sqrt(sum_j rho_ij^2) of a belief that is in no streak."""
    b.work[:] = 0.0
    settle_printed(b.S, b.d, b.work, b.inverse, b.floor, b.w)
    remember(b)
