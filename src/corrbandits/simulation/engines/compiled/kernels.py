"""The loops, compiled: arrays in, arrays changed in place.

    name        shape          meaning                                                        paper
    S           (N(N-1)/2,)    covariance below the diagonal, row by row                      Sigma(t)
    d           (N,)           its diagonal                                                   sigma_i^2(t)
    mu          (N,)           posterior means                                                mu_i(t)
    w           (N,)           what the width multiplies: s_i, or s_i sqrt(sum_j rho_ij^2)    -
    inverse     (N,)           1 / d, and 0 where d is but rounding                           -
    floor       (N,)           variances at or below it are rounding                          -
    sums        (N,)           sums of rewards                                                n_i(t) mbar_i(t)
    counts      (N,)           numbers of rewards                                             n_i(t)
    noise       (N,)           variances of a reward                                          sigma_s^2
    progress    (2,)           steps of initialisation, 1 while initialising                  -

While one arm is taken again and again, its n rewards are one average of variance s = sigma_s^2 / n (eq.
inference-corr-simplified), so that nothing of size N^2 is touched: S, mu0, d0 stay as they were before the streak, h
is the arm's row of then, and now

    S_ij - c h_i h_j,  d0_j - c h_j^2,  mu0_j + h_j c (mbar - mu0_k),    c = 1 / (s + d0_k).

Row k of S itself is 0 in a streak of arm k and h_k is -s, which makes its entries the product c s h_j, without
cancellation. A streak ends in one pass over S, which also gives every w.

All kernels are in this one file, since numba's cache does not notice a change in a function of another.
`fastmath` is limited to what reorders sums and fuses products: NaN and infinity keep their meaning. Nothing here
allocates, raises or calls Python, so runs go side by side in threads. Random numbers are those NumPy would draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from pickle import UnpicklingError
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache

from corrbandits._core.checks import Array, Integers

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}

MOST_WAITING = 16
"""How many streaks may wait before they are carried into S, where rows are all that is read of it."""

ARM, LENGTH, TRIED, MEASURED, WAITING, LASTING = range(6)
"""Of a streak: its arm or -1; its length; how many w were computed singly; if x is known; rows in G; if it may last."""

SURPRISE, PRECISION, VARIANCE, NORM = range(4)
"""Numbers of a streak: the sum of r - mu0_k; c; d0_k; sqrt(w0_k^2 - d0_k)."""

FAR = 40.0
"""A standard normal variable does not lie this far from 0: the probability is below the smallest double."""


class _Cache(FunctionCache):
    """Compiled code on disk; a damaged file or a full disk only costs the time to compile again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None."""
        with suppress(Exception):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; a list of contents that cannot be read is begun anew."""
        with suppress(Exception):
            try:
                super().save_overload(sig, data)
            except (EOFError, ValueError, UnpicklingError):
                self.flush()
                super().save_overload(sig, data)


def _compiled(function: _F) -> _F:
    """Compile, and keep the result on disk where a directory can be written."""
    result: Any = njit(**_OPTIONS)(function)
    with suppress(RuntimeError):  # no directory can be
        result._cache = _Cache(function)
    return cast("_F", result)


def _part(function: _F) -> _F:
    """Make a function a part of the loops that call it.

    Compiled on its own as well, it would exist twice, optimised and so rounded differently; which of the two a loop
    calls would depend on whether the loop was just compiled or came from the cache.
    """
    result: _F = njit(inline="always", **_OPTIONS)(function)
    return result


class Joint(NamedTuple):
    """A correlated belief: before the streak (S, mu0, d0, w0, x), of the streak, and now (mu, d, w)."""

    S: Array
    G: Array  # streaks that are not yet in S: off the diagonal the covariance is S - G'G
    mu0: Array
    d0: Array
    w0: Array
    x: Array  # sqrt(w0_i^2 - h_i^2 / d0_k)
    h: Array
    mu: Array
    d: Array
    w: Array
    inverse: Array
    work: Array
    floor: Array
    candidates: Integers
    streak: Integers  # see ARM and its like
    scalars: Array  # see SURPRISE and its like


class Apart(NamedTuple):
    """A belief on independent arms; w_i = s_i."""

    mu: Array
    d: Array
    w: Array


class Run(NamedTuple):
    """Some steps of a run: as many as there is eps. A reward is m_i + sigma_i eps or, if binary, whether eps < m_i."""

    means: Array
    deviations: Array
    binary: bool
    noise: Array
    thresholds: Array
    sums: Array
    progress: Integers
    eps: Array
    arms: Integers
    rewards: Array


def joint(mean: Array, covariance: Array, floor: Array) -> Joint:
    """Return a correlated belief to play with; its w are not yet known.

    >>> belief = joint(np.zeros(2), np.array([[4.0, 1.0], [1.0, 9.0]]), np.zeros(2))
    >>> belief.S, belief.d
    (array([1.]), array([4., 9.]))
    """
    n, d = mean.size, covariance.diagonal().copy()
    S = np.empty(n * (n - 1) // 2)
    pack(covariance, S)
    w0, x, h, w, inverse, work = np.zeros((6, n))
    candidates, streak, scalars = np.zeros(n, dtype=np.int64), np.array([-1, 0, 0, 0, 0, 0]), np.zeros(4)
    mu0, d0, mu = mean.copy(), d.copy(), mean.copy()
    return Joint(
        S, np.zeros((MOST_WAITING, n)), mu0, d0, w0, x, h, mu, d, w, inverse, work, floor, candidates, streak, scalars
    )


@_compiled
def pack(covariance: Array, S: Array) -> None:
    """Write what lies below the diagonal row by row."""
    start = 0
    for i in range(1, len(covariance)):
        S[start : start + i] = covariance[i, :i]
        start += i


@_compiled
def weigh(b: Joint) -> None:
    """Set w_i = s_i sqrt(sum_j rho_ij^2) of a belief that is in no streak."""
    b.work[:] = 0.0
    settle_printed(b.S, b.d, b.work, b.inverse, b.floor, b.w)
    remember(b)


@_part
def pull(run: Run, t: int, k: int) -> float:
    """Return the reward of arm k at step t, and note both."""
    eps = run.eps[t]
    reward = run.means[k] + run.deviations[k] * eps
    if run.binary:
        reward = 1.0 if eps < run.means[k] else 0.0
    run.arms[t] = k
    run.rewards[t] = reward
    run.sums[k] += reward
    return reward


@_part
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
    for p in range(b.streak[WAITING]):
        g, g_k = b.G[p], b.G[p, k]
        for j in range(n):
            b.h[j] -= g_k * g[j]
        g[k] = 0.0
    for j in range(n):
        v, most = b.h[j], variance * b.d0[j]
        b.h[j] = v if v * v <= most else math.copysign(math.sqrt(most), v)
    b.h[k] = 0.0
    b.streak[ARM] = k
    b.streak[LENGTH] = 0
    b.streak[TRIED] = 0
    b.streak[MEASURED] = 0
    b.scalars[SURPRISE] = 0.0
    b.scalars[VARIANCE] = variance


@_part
def take(b: Joint, k: int, reward: float, noise: float) -> None:
    """Take a reward of the streak's arm k into means and variances (eq. sherman-morrison, n rewards as one average)."""
    b.streak[LENGTH] += 1
    b.scalars[SURPRISE] += reward - b.mu0[k]
    variance = b.scalars[VARIANCE]
    s = noise / b.streak[LENGTH]
    total = s + variance
    c = 1.0 / total
    gain = b.scalars[SURPRISE] / b.streak[LENGTH] * c
    for j in range(b.d.size):
        v = b.h[j]
        b.mu[j] = b.mu0[j] + v * gain
        rest = b.d0[j] - c * v * v
        b.d[j] = rest if rest > 0.0 else 0.0
    b.mu[k] = b.mu0[k] + variance * gain
    b.d[k] = s * (variance / total)
    b.h[k] = -s
    b.scalars[PRECISION] = c


@_part
def settle(b: Joint, printed: bool) -> None:
    """End the streak, if there is one: carry it into S and, if asked, set every w."""
    if b.streak[ARM] >= 0:
        root = math.sqrt(b.scalars[PRECISION])
        for j in range(b.d.size):
            b.work[j] = b.h[j] * root
        if printed:
            settle_printed(b.S, b.d, b.work, b.inverse, b.floor, b.w)
        else:
            settle_plain(b.S, b.work)
        remember(b)


@_part
def remember(b: Joint) -> None:
    """Let what is now be what was before the next streak."""
    for j in range(b.d.size):
        b.mu0[j] = b.mu[j]
        b.d0[j] = b.d[j]
        b.w0[j] = b.w[j]
    b.streak[ARM] = -1


@_part
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


@_part
def settle_plain(S: Array, g: Array) -> None:
    """Subtract g g' from the covariance."""
    first = 0
    for i in range(1, g.size):
        target, g_i = S[first : first + i], g[i]
        first += i
        for j in range(i):
            target[j] -= g_i * g[j]


@_part
def defer(b: Joint) -> None:
    """End the streak, if there is one, but leave S as it is until so many wait that one pass serves them all."""
    if b.streak[ARM] >= 0:
        root, g = math.sqrt(b.scalars[PRECISION]), b.G[b.streak[WAITING]]
        for j in range(b.d.size):
            g[j] = b.h[j] * root
        remember(b)
        b.streak[WAITING] += 1
        if b.streak[WAITING] == MOST_WAITING:
            carry(b.S, b.G)
            b.streak[WAITING] = 0


@_part
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


@_part
def row(b: Joint, i: int, out: Array) -> None:
    """Write row i of the covariance as it is now."""
    h_i = b.h[i] * b.scalars[PRECISION] if b.streak[ARM] >= 0 else 0.0
    first = i * (i - 1) // 2
    for j in range(i):
        out[j] = b.S[first + j] - h_i * b.h[j]
    at = first + 2 * i
    for j in range(i + 1, b.d.size):
        out[j] = b.S[at] - h_i * b.h[j]
        at += j
    for p in range(b.streak[WAITING]):
        g, g_i = b.G[p], b.G[p, i]
        for j in range(b.d.size):
            out[j] -= g_i * g[j]
    out[i] = b.d[i]


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
def measure(b: Joint, k: int) -> None:
    """Set the norms before a streak of arm k without their k-th terms, once in a streak."""
    if not b.streak[MEASURED]:
        over = 1.0 / b.scalars[VARIANCE] if b.scalars[VARIANCE] > b.floor[k] else 0.0
        for i in range(b.d.size):
            rest = b.w0[i] * b.w0[i] - b.h[i] * b.h[i] * over
            b.x[i] = math.sqrt(rest) if rest > 0.0 else 0.0
        rest = b.w0[k] * b.w0[k] - b.scalars[VARIANCE]
        b.scalars[NORM] = math.sqrt(rest) if rest > 0.0 else 0.0
        b.streak[MEASURED] = 1


@_part
def find_candidates(b: Joint, k: int, width: float) -> tuple[float, int]:
    """Return the limit of the streak's arm k, and how many others might be above it; note which.

    w is a norm, (sum_j S_ij^2 / S_jj)^(1/2), so in a streak no w_i is above the root of

        ratio (x_i + c |h_i| y)^2 + (c s h_i)^2 / d_k,    ratio = max_{j != k} d0_j / d_j,

    with x_i and y the norms of rows i and k before it, without their k-th terms.
    """
    measure(b, k)
    n, c, s, ratio, w_k = b.d.size, b.scalars[PRECISION], -b.h[k], 1.0, 0.0
    for j in range(n):
        b.inverse[j] = 1.0 / b.d[j] if b.d[j] > b.floor[j] else 0.0
    inverse_k, b.inverse[k] = b.inverse[k], 0.0
    for j in range(n):
        w_k += b.h[j] * b.h[j] * b.inverse[j]
        ratio = max(ratio, b.d0[j] * b.inverse[j])
    b.inverse[k] = inverse_k
    limit = b.mu[k] + width * math.sqrt(w_k * (c * s) ** 2 + b.d[k])
    safe = width * width * (1.0 + 1e-9)  # so that rounding hides no arm
    far, own = c * b.scalars[NORM], (c * s) ** 2 * inverse_k
    for i in range(n):
        lacking, bound = limit - b.mu[i], b.x[i] + far * abs(b.h[i])
        b.work[i] = safe * (ratio * bound * bound + own * b.h[i] * b.h[i]) - lacking * abs(lacking)
    b.work[k] = -1.0
    found = 0
    for i in range(n):
        if b.work[i] >= 0.0:
            b.candidates[found] = i
            found += 1
    return limit, found


@_part
def likely_printed_limit(b: Joint, width: float) -> int:
    """Return, in a streak, the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), the lowest of equals, or -1.

    Only arms whose limit could be the largest need their row; -1 if they are so many that a pass over S is cheaper.
    """
    k, n = b.streak[ARM], b.d.size
    most, found = find_candidates(b, k, width)
    b.streak[TRIED] += found
    if found > n // 16 + 1 or b.streak[TRIED] > n // 8 + 8:
        return -1
    arm = k
    for i in b.candidates[:found]:
        row(b, i, b.work)
        b.work[i] = 0.0
        square = b.d[i]
        for j in range(n):
            square += b.work[j] * b.work[j] * b.inverse[j]
        limit = b.mu[i] + width * math.sqrt(square)
        if limit > most or (limit == most and i < arm):
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
def first_arm(d: Array, run: Run) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    arm = -1
    if run.progress[1]:
        arm = pending_arm(d, run.thresholds)
        run.progress[0] += arm >= 0
        run.progress[1] = arm >= 0
    return arm


@_part
def arm_at_random(n: int, epsilon: float, rng: np.random.Generator) -> int:
    """Return an arm at random, with probability epsilon, or -1; one number serves both."""
    u = rng.random()
    return min(int(u / epsilon * n), n - 1) if u < epsilon else -1


@_part
def observe_joint(b: Joint, lazy: bool, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into a correlated belief, whose w are not kept; S may lag behind if only rows are read."""
    if k != b.streak[ARM]:
        if lazy:
            defer(b)
        else:
            settle(b, False)
        start(b, k)
    take(b, k, reward, noise)


@_part
def observe_apart(b: Apart, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into its own posterior (section 3.1); of an unknown arm the reward is all there is."""
    if b.d[k] == np.inf:
        b.mu[k] = reward
        b.d[k] = noise
    else:
        share = b.d[k] / (noise + b.d[k])
        b.mu[k] += share * (reward - b.mu[k])
        b.d[k] = noise * share
    b.w[k] = math.sqrt(b.d[k])


@_compiled
def printed_limits(b: Joint, run: Run, widths: Array) -> None:
    """Go on, taking the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    for t in range(run.eps.size):
        last = b.streak[ARM]
        k = first_arm(b.d, run)
        if k < 0 and b.streak[LASTING] and widths[t] > 0.0:
            k = likely_printed_limit(b, widths[t])
        if k != last or k < 0:
            settle(b, run.progress[1] == 0)  # in initialisation no w is needed
            if k < 0:
                k = largest_limit(b.mu, b.w, widths[t])
            start(b, k)
        b.streak[LASTING] = k == last and run.progress[1] == 0  # an arm taken twice may be taken again
        take(b, k, pull(run, t, k), run.noise[k])


@_compiled
def limits_joint(b: Joint, run: Run, widths: Array, epsilon: float, rng: np.random.Generator) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(run.eps.size):
        k = first_arm(b.d, run)
        if k < 0 and epsilon > 0.0:
            k = arm_at_random(b.d.size, epsilon, rng)
        if k < 0:
            for j in range(b.d.size):
                b.w[j] = math.sqrt(b.d[j])
            k = largest_limit(b.mu, b.w, widths[t])
        observe_joint(b, True, k, pull(run, t, k), run.noise[k])


@_compiled
def limits_apart(b: Apart, run: Run, widths: Array, epsilon: float, rng: np.random.Generator) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(run.eps.size):
        k = first_arm(b.d, run)
        if k < 0 and epsilon > 0.0:
            k = arm_at_random(b.d.size, epsilon, rng)
        if k < 0:
            k = largest_limit(b.mu, b.w, widths[t])
        observe_apart(b, k, pull(run, t, k), run.noise[k])


@_part
def draw(b: Joint, root: Array, noise: Array, counts: Array, rng: np.random.Generator, z: Array, out: Array) -> None:
    """Draw all mean rewards: a draw of the prior, corrected by what was seen of it (`gaussian.posterior_draw`)."""
    n = b.d.size
    for i in range(n):
        z[i] = rng.standard_normal()
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += root[i, j] * z[j]
        out[i] = total
    product = 0.0
    for i in range(n):
        z[i] = 0.0
        if counts[i] > 0.0:
            D = noise[i] / counts[i]
            z[i] = (out[i] + math.sqrt(D) * rng.standard_normal()) / D
            product += z[i] * b.h[i]
    c = b.scalars[PRECISION] if b.streak[ARM] >= 0 else 0.0
    if c == 0.0:
        product = 0.0
    first = 0
    for i in range(n):
        part, z_i = b.S[first : first + i], z[i]
        first += i
        total = b.d[i] * z_i
        for j in range(i):
            total += part[j] * z[j]
            out[j] -= part[j] * z_i
        h_i = b.h[i] if c > 0.0 else 0.0
        out[i] += b.mu[i] - total + c * h_i * (product - h_i * z_i)


@_compiled
def draws_joint(b: Joint, run: Run, root: Array, counts: Array, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(run.eps.size):
        draw(b, root, run.noise, counts, rng, b.x, b.w)
        k = largest_limit(b.w, b.w, 0.0)
        counts[k] += 1.0
        observe_joint(b, False, k, pull(run, t, k), run.noise[k])


@_compiled
def draws_apart(b: Apart, run: Run, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(run.eps.size):
        k = first_arm(b.d, run)
        if k < 0:
            most = -np.inf
            for i in range(b.d.size):
                value = b.mu[i] + b.w[i] * rng.standard_normal()
                if value > most:
                    k, most = i, value
        observe_apart(b, k, pull(run, t, k), run.noise[k])


@_part
def expected_excess(c: float) -> float:
    """Return E[(Z - c)+] = phi(c) - c P(Z > c) for c >= 0 and Z standard normal."""
    if c >= FAR:
        return 0.0
    return math.exp(-0.5 * c * c) / math.sqrt(2 * math.pi) - 0.5 * c * math.erfc(c / math.sqrt(2.0))


@_part
def gain_of_lines(mu: Array, slopes: Array, scale: float) -> float:
    """Return E[max_j (mu_j + scale slopes_j Z)] - max_j mu_j for a standard normal Z.

    Walks along the upper envelope of the lines: from the highest at -FAR to the one it meets first, and so on.
    """
    line, most = 0, -np.inf
    for j in range(mu.size):
        height = mu[j] - FAR * scale * slopes[j]
        if height > most or (height == most and slopes[j] > slopes[line]):
            line, most = j, height
    total = 0.0
    while True:
        following, meeting = -1, FAR
        for j in range(mu.size):
            steeper = scale * (slopes[j] - slopes[line])
            if steeper > 0.0:
                z = (mu[line] - mu[j]) / steeper
                if z < meeting or (z == meeting and following >= 0 and slopes[j] > slopes[following]):
                    following, meeting = j, z
        if following < 0:
            return total
        total += scale * (slopes[following] - slopes[line]) * expected_excess(abs(meeting))
        line = following


@_part
def largest_gain_joint(b: Joint, noise: Array, left: float) -> int:
    """Return the arm of largest mu_i + left gain_i, the lowest of equals.

    A gain is at most (largest slope - smallest slope) / sqrt(2 pi), so few arms need their envelope.
    """
    arm, most = 0, -np.inf
    for i in range(b.d.size):
        row(b, i, b.work)
        scale = 1.0 / math.sqrt(b.d[i] + noise[i])
        low = high = b.work[0]
        for j in range(1, b.d.size):
            low = min(low, b.work[j])
            high = max(high, b.work[j])
        bound = b.mu[i] + left * scale * (high - low) / math.sqrt(2 * math.pi)
        if bound * (1.0 + math.copysign(1e-12, bound)) >= most:
            value = b.mu[i] + left * gain_of_lines(b.mu, b.work, scale)
            if value > most:
                arm, most = i, value
    return arm


@_compiled
def gains_joint(b: Joint, run: Run, left: Array) -> None:
    """Go on, taking the arm of largest mu_i + left gain_i (`baselines.KnowledgeGradient`)."""
    for t in range(run.eps.size):
        k = largest_gain_joint(b, run.noise, left[t])
        observe_joint(b, False, k, pull(run, t, k), run.noise[k])


@_part
def largest_gain_apart(d: Array, mu: Array, noise: Array, left: float) -> int:
    """Return the arm of largest mu_i + left gain_i, the lowest of equals: only its own line has a slope."""
    best = largest_limit(mu, mu, 0.0)
    second = -np.inf
    for i in range(mu.size):
        if i != best and mu[i] > second:
            second = mu[i]
    arm, most = 0, -np.inf
    for i in range(mu.size):
        slope = d[i] / math.sqrt(d[i] + noise[i])
        value = mu[i]
        if slope > 0.0 and mu.size > 1:
            rival = second if i == best else mu[best]
            value += left * slope * expected_excess(abs(mu[i] - rival) / slope)
        if value > most:
            arm, most = i, value
    return arm


@_compiled
def gains_apart(b: Apart, run: Run, left: Array) -> None:
    """Go on, taking the arm of largest mu_i + left gain_i (`baselines.KnowledgeGradient`)."""
    for t in range(run.eps.size):
        k = first_arm(b.d, run)
        if k < 0:
            k = largest_gain_apart(b.d, b.mu, run.noise, left[t])
        observe_apart(b, k, pull(run, t, k), run.noise[k])


@_compiled
def averages(unknown: Array, counts: Array, run: Run, widths: Array) -> None:
    """Go on, taking each arm once, then that of the largest average and width / sqrt(n_i).

    `unknown` is infinite for arms of which nothing was believed, which come first, and 0 for the others.
    """
    for t in range(run.eps.size):
        k, most = first_arm(unknown, run), -np.inf
        if k < 0:
            for i in range(counts.size):
                if counts[i] == 0.0:
                    k = i
                    break
                value = run.sums[i] / counts[i] + widths[t] / math.sqrt(counts[i])
                if value > most:
                    k, most = i, value
        pull(run, t, k)
        counts[k] += 1.0
        unknown[k] = 0.0
