"""How an arm is chosen from a belief: parts of the loops. Ties go to the lowest arm, unless arms have ranks."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.policies.base import NEAR
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.state import Joint, Ranked
from corrbandits.simulation.engines.compiled.update import row


@part
def arm_at_random(n: int, epsilon: float, rng: np.random.Generator) -> int:
    """Return an arm at random, with probability epsilon, or -1; one number serves both."""
    u = rng.random()
    return min(int(u / epsilon * n), n - 1) if u < epsilon else -1


@part
def largest_limit(mu: Array, w: Array, width: float) -> int:
    """Return the arm of largest mu_i + width w_i, the lowest of equals."""
    arm, most = 0, -np.inf
    for i in range(mu.size):
        limit = mu[i] + width * w[i]
        if limit > most:
            arm, most = i, limit
    return arm


@part
def first_of_equals(values: Array, d: Array, rank: Integers) -> int:
    """Return the arm of largest value; of nearly equal ones that of largest variance, then that of lowest rank.

    It is `policies.base.first_of_equals`.
    """
    arm, most, least = 0, -np.inf, np.inf
    for i in range(values.size):
        if values[i] > most:
            arm, most = i, values[i]
        least = min(least, values[i])
    return first_of_near(values, d, rank, arm, most, least)


@part
def first_of_near(values: Array, d: Array, rank: Integers, arm: int, most: float, least: float) -> int:
    """Return the first of the arms whose value is nearly the largest, that of `arm`; the least says what is near."""
    bar = most - (NEAR * max(most - least, math.sqrt(d[arm])) + 1e-15 * abs(most))
    found, widest = 0, -np.inf
    for i in range(values.size):
        if values[i] >= bar:
            found += 1
            widest = max(widest, d[i])
    if found > 1:
        first = values.size
        for i in range(values.size):
            if values[i] >= bar and d[i] >= (1.0 - NEAR) * widest and rank[i] < first:
                arm, first = i, rank[i]
    return arm


@part
def first_limit(mu: Array, d: Array, width: float, ranked: Ranked) -> int:
    """Return the arm of largest mu_i + width s_i, of nearly equal ones the first."""
    for i in range(mu.size):
        ranked.values[i] = mu[i] + width * math.sqrt(d[i])
    return first_of_equals(ranked.values, d, ranked.rank)


@part
def measure(b: Joint, k: int) -> None:
    """Set the norms before a streak of arm k without their k-th terms, once in a streak."""
    if not b.streak.measured:
        over = 1.0 / b.streak.variance if b.streak.variance > b.floor[k] else 0.0
        for i in range(b.d.size):
            rest = b.w0[i] * b.w0[i] - b.h[i] * b.h[i] * over
            b.x[i] = math.sqrt(rest) if rest > 0.0 else 0.0
        rest = b.w0[k] * b.w0[k] - b.streak.variance
        b.streak.norm = math.sqrt(rest) if rest > 0.0 else 0.0
        b.streak.measured = 1


@part
def find_candidates(b: Joint, k: int, width: float) -> tuple[float, int]:
    """Return the limit of the streak's arm k, and how many others might be above it; note which.

    w is a norm, (sum_j S_ij^2 / S_jj)^(1/2), so in a streak no w_i is above the root of

        ratio (x_i + c |h_i| y)^2 + (c s h_i)^2 / d_k,    ratio = max_{j != k} d0_j / d_j,

    with x_i and y the norms of rows i and k before it, without their k-th terms.
    """
    measure(b, k)
    n, c, s, ratio, w_k = b.d.size, b.streak.precision, -b.h[k], 1.0, 0.0
    for j in range(n):
        b.inverse[j] = 1.0 / b.d[j] if b.d[j] > b.floor[j] else 0.0
    inverse_k, b.inverse[k] = b.inverse[k], 0.0
    for j in range(n):
        w_k += b.h[j] * b.h[j] * b.inverse[j]
        ratio = max(ratio, b.d0[j] * b.inverse[j])
    b.inverse[k] = inverse_k
    limit = b.mu[k] + width * math.sqrt(w_k * (c * s) ** 2 + b.d[k])
    safe = width * width * (1.0 + 1e-9)  # so that rounding hides no arm
    far, own = c * b.streak.norm, (c * s) ** 2 * inverse_k
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


@part
def likely_printed_limit(b: Joint, width: float) -> int:
    """Return, in a streak, the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2), the lowest of equals, or -1.

    Only arms whose limit could be the largest need their row; -1 if they are so many that a pass over S is cheaper.
    """
    k, n = b.streak.arm, b.d.size
    most, found = find_candidates(b, k, width)
    b.streak.tried += found
    if found > n // 16 + 1 or b.streak.tried > n // 8 + 8:
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


@part
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
    c = b.streak.precision if b.streak.arm >= 0 else 0.0
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


@part
def between(m: float, log_m: Array, g: Array, row: Array) -> None:
    """Write g(m, .), between the m of the table (`policies.gittins`)."""
    x = math.log(min(max(m, 1.0), math.exp(log_m[log_m.size - 1])))
    after = 1
    while after < log_m.size - 1 and log_m[after] < x:
        after += 1
    share = (x - log_m[after - 1]) / (log_m[after] - log_m[after - 1])
    for j in range(row.size):
        row[j] = (1.0 - share) * g[after - 1, j] + share * g[after, j]


@part
def at_lattice(n: float, log_n: Array, row: Array) -> float:
    """Return g at n, between the n of the table."""
    place = (math.log(n) - log_n[0]) / (log_n[log_n.size - 1] - log_n[0]) * (log_n.size - 1)
    place = min(max(place, 0.0), log_n.size - 1.0)
    j = min(int(place), log_n.size - 2)
    return row[j] + (place - j) * (row[j + 1] - row[j])


@part
def first_index(mu: Array, d: Array, noise: Array, log_n: Array, row: Array, ranked: Ranked) -> int:
    """Return the arm of largest mu_i + s_i g(sigma_i^2 / s_i^2), of nearly equal ones the first."""
    write_indices(mu, d, noise, log_n, row, ranked.values)
    return first_of_equals(ranked.values, d, ranked.rank)


@part
def write_indices(mu: Array, d: Array, noise: Array, log_n: Array, row: Array, out: Array) -> None:
    """Write mu_i + s_i g(sigma_i^2 / s_i^2)."""
    for i in range(mu.size):
        value = mu[i]
        if d[i] > 0.0:
            value += math.sqrt(d[i]) * at_lattice(noise[i] / d[i], log_n, row)
        out[i] = value
