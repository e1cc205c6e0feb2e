"""The loops, compiled: arrays in, arrays changed in place.

    name       shape   meaning                                                        paper
    S          (N, N)  covariance; only what lies below the diagonal is kept up       Sigma(t)
    d          (N,)    its diagonal                                                   sigma_i^2(t)
    mu         (N,)    posterior means                                                mu_i(t)
    w          (N,)    what the width multiplies: s_i, or s_i sqrt(sum_j rho_ij^2)    -
    g, inverse (N,)    work space: row k of S over sqrt(sigma_s^2 + S_kk); 1 / d      -
    floor      (N,)    variances at or below it are rounding: their inverse is 0      -
    progress   (3,)    steps done, steps of initialisation, 1 while initialising      -

All kernels are in this one file, since numba's cache does not notice a change in a function of another.
`fastmath` is limited to what reorders sums and fuses products: NaN and infinity keep their meaning. Nothing here
allocates, raises or calls Python, so runs go side by side in threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

from corrbandits.checks import Array, Integers

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}


def _compiled(function: _F) -> _F:
    """Compile, and keep the result on disk where a directory can be written."""
    try:
        result: _F = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        result = njit(**_OPTIONS)(function)
    return result


def _part(function: _F) -> _F:
    """Make a function a part of the loops that call it.

    Compiled on its own as well, it would exist twice, optimised and so rounded differently; which of the two a loop
    calls would depend on whether the loop was just compiled or came from the cache.
    """
    result: _F = njit(inline="always", **_OPTIONS)(function)
    return result


@_part
def begin(S: Array, d: Array, mu: Array, g: Array, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into the means, the variances and the arm's own row (eq. sherman-morrison).

    The row is a product, without cancellation. What remains is S_ij - g_i g_j elsewhere, with g_k = 0.
    """
    n = d.size
    variance = d[k]
    total = noise + variance
    gain = (reward - mu[k]) / total
    scale = 1.0 / math.sqrt(total)
    kept = noise / total
    # beyond sqrt(S_kk S_jj) lies only the rounding of a nearly singular covariance, which little noise would multiply
    for j in range(k):
        v, most = S[k, j], variance * d[j]
        v = v if v * v <= most else math.copysign(math.sqrt(most), v)
        S[k, j] = v * kept
        mu[j] += v * gain
        g[j] = v * scale
    for j in range(k + 1, n):
        v, most = S[j, k], variance * d[j]
        v = v if v * v <= most else math.copysign(math.sqrt(most), v)
        S[j, k] = v * kept
        mu[j] += v * gain
        g[j] = v * scale
    mu[k] += variance * gain
    g[k] = 0.0
    for j in range(n):
        rest = d[j] - g[j] * g[j]
        d[j] = rest if rest > 0.0 else 0.0
    d[k] = noise * (variance / total)


@_part
def finish_printed(S: Array, d: Array, g: Array, inverse: Array, floor: Array, w: Array) -> None:
    """Update the covariance and, in the same pass, w_i^2 = sum_j S_ij^2 / S_jj = s_i^2 sum_j rho_ij^2.

    Two rows at a time: each entry of g, 1 / d and w that is fetched serves both.
    """
    n = d.size
    for j in range(n):
        inverse[j] = 1.0 / d[j] if d[j] > floor[j] else 0.0
        w[j] = d[j]
    for i in range(0, n - 1, 2):
        one, two = S[i], S[i + 1]
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
            s = S[i, j] - g[i] * g[j]
            S[i, j] = s
            w[i] += s * s * inverse[j]
            w[j] += s * s * inverse[i]
    for j in range(n):
        w[j] = math.sqrt(w[j])


@_part
def finish_plain(S: Array, d: Array, g: Array, w: Array) -> None:
    """Update the covariance, and w_i = s_i."""
    for i in range(1, d.size):
        row, g_row = S[i], g[i]
        for j in range(i):
            row[j] -= g_row * g[j]
    for j in range(d.size):
        w[j] = math.sqrt(d[j])


@_part
def largest_limit(mu: Array, w: Array, width: float) -> int:
    """Return the arm of largest mu_i + width w_i, the lowest of equals."""
    arm, most = 0, -np.inf
    for i in range(mu.size):
        limit = mu[i] + width * w[i]
        if limit > most:
            arm, most = i, limit
    return arm


@_part
def pending_arm(d: Array, thresholds: Array) -> int:
    """Return the arm of largest variance among those strictly above their threshold, or -1 (initialisation)."""
    arm, most = -1, -np.inf
    for i in range(d.size):
        if d[i] > thresholds[i] and d[i] > most:
            arm, most = i, d[i]
    return arm


@_part
def next_arm(mu: Array, d: Array, w: Array, width: float, thresholds: Array, progress: Integers) -> int:
    """Return the arm to take: the initialisation phase's while it lasts, then the one of largest limit."""
    if progress[2]:
        arm = pending_arm(d, thresholds)
        if arm >= 0:
            progress[1] += 1
            return arm
        progress[2] = 0
    return largest_limit(mu, w, width)


@_compiled
def play_correlated(
    S: Array,
    d: Array,
    mu: Array,
    w: Array,
    work: Array,
    floor: Array,
    printed: bool,
    noise: Array,
    thresholds: Array,
    widths: Array,
    means: Array,
    deviations: Array,
    eps: Array,
    arms: Integers,
    rewards: Array,
    progress: Integers,
    until: int,
) -> None:
    """Go on to step `until` with a correlated belief: choose, draw, update."""
    g, inverse = work[0], work[1]
    for t in range(progress[0], until):
        k = next_arm(mu, d, w, widths[t], thresholds, progress)
        reward = means[k] + deviations[k] * eps[t]
        arms[t] = k
        rewards[t] = reward
        begin(S, d, mu, g, k, reward, noise[k])
        if printed:
            finish_printed(S, d, g, inverse, floor, w)
        else:
            finish_plain(S, d, g, w)
    progress[0] = until


@_part
def observe_independent(d: Array, mu: Array, w: Array, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into its own posterior (section 3.1); of an unknown arm the reward is all there is."""
    if d[k] == np.inf:
        mu[k] = reward
        d[k] = noise
    else:
        share = d[k] / (noise + d[k])
        mu[k] += share * (reward - mu[k])
        d[k] = noise * share
    w[k] = math.sqrt(d[k])


@_compiled
def play_independent(
    d: Array,
    mu: Array,
    w: Array,
    noise: Array,
    thresholds: Array,
    widths: Array,
    means: Array,
    deviations: Array,
    eps: Array,
    arms: Integers,
    rewards: Array,
    progress: Integers,
    until: int,
) -> None:
    """Go on to step `until` with independent arms: choose, draw, update."""
    for t in range(progress[0], until):
        k = next_arm(mu, d, w, widths[t], thresholds, progress)
        reward = means[k] + deviations[k] * eps[t]
        arms[t] = k
        rewards[t] = reward
        observe_independent(d, mu, w, k, reward, noise[k])
    progress[0] = until
