"""The likelihood of choices whose utilities are linear in coefficients, and where it is largest.

    u_i(a) = sum_j x_j X_ij(a) + X_ip(a),    P_i(a) = (1 - lapse) exp u_i(a) / sum_b exp u_i(b) + lapse / N

Without lapses its logarithm is concave in x, a conditional (multinomial) logit, and Newton's method finds its top.
"""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.compiled.cache import compiled, part

MOST_HALVINGS = 30
"""Of a step that leads too far."""

ROUNDING = 1e-26
"""The variance over arms of what is the same for all of them, over its square, as doubles round it."""

LEAST_RIDGE, MOST_RIDGE = 1e-10, 1e6
"""What is added to a matrix that is as good as singular, over its diagonal: at first, and at most."""


@part
def _laws(X: Array, i: int, x: Array, law: Array) -> float:
    """Set the law of choice i without lapses, each entry over the sum; return the logarithm of the sum."""
    p, n = x.size, X.shape[2]
    for a in range(n):
        law[a] = X[i, p, a]
    for j in range(p):
        for a in range(n):
            law[a] += x[j] * X[i, j, a]
    top = law[0]
    for a in range(1, n):
        top = max(top, law[a])
    total = 0.0
    for a in range(n):
        law[a] = math.exp(law[a] - top)
        total += law[a]
    for a in range(n):
        law[a] /= total
    return top + math.log(total)


@part
def _chosen(X: Array, i: int, x: Array, arm: int, log_sum: float, lapse: float, n: int) -> tuple[float, float]:
    """Return the log probability of what was chosen, and the probability that it was no lapse."""
    sure = X[i, x.size, arm] - log_sum
    for j in range(x.size):
        sure += x[j] * X[i, j, arm]
    if lapse <= 0.0:
        return sure, 1.0
    sure += math.log1p(-lapse)
    other = math.log(lapse / n)
    top = max(sure, other)
    total = top + math.log(math.exp(sure - top) + math.exp(other - top))
    return total, math.exp(sure - total)


@compiled
def choices(X: Array, chosen: Integers, x: Array, lapse: float, each: Array, residual: Array) -> float:
    """Return the log likelihood and its derivative by the lapse; set that of each choice, and derivatives by u.

    What is returned is the derivative; the likelihood is the sum of `each`.
    """
    n, by_lapse = X.shape[2], 0.0
    for i in range(chosen.size):
        law = residual[i]
        log_sum = _laws(X, i, x, law)
        each[i], sure = _chosen(X, i, x, chosen[i], log_sum, lapse, n)
        by_lapse += (1.0 - sure) / lapse - sure / (1.0 - lapse) if lapse > 0.0 else math.exp(-each[i]) / n - 1.0
        for a in range(n):
            law[a] *= -sure
        law[chosen[i]] += sure
    return by_lapse


@compiled
def laws(X: Array, x: Array, lapse: float, into: Array) -> None:
    """Set the probability of every arm at every choice."""
    n = X.shape[2]
    for i in range(X.shape[0]):
        _laws(X, i, x, into[i])
        for a in range(n):
            into[i, a] = (1.0 - lapse) * into[i, a] + lapse / n


@part
def _derive(X: Array, chosen: Integers, x: Array, lapse: float, law: Array, g: Array, H: Array, E: Array) -> float:
    """Return the log likelihood; set its gradient g, minus its Hessian H, and E, which is never indefinite.

    What is the same for all arms tells nothing: what is left of it is rounding, and set to 0.
    """
    p, n, value = x.size, X.shape[2], 0.0
    mean, gap, squares = np.empty(p), np.empty(p), np.zeros(p)
    g[:], H[:], E[:] = 0.0, 0.0, 0.0
    for i in range(chosen.size):
        log_sum = _laws(X, i, x, law)
        one, sure = _chosen(X, i, x, chosen[i], log_sum, lapse, n)
        value += one
        for j in range(p):
            dot = 0.0
            for a in range(n):
                dot += law[a] * X[i, j, a]
            mean[j] = dot
            gap[j] = X[i, j, chosen[i]] - dot
            squares[j] += sure * dot * dot
            g[j] += sure * gap[j]
        for j in range(p):
            for m in range(j + 1):
                dot = 0.0
                for a in range(n):
                    dot += law[a] * (X[i, j, a] - mean[j]) * (X[i, m, a] - mean[m])
                E[j, m] += sure * dot
                H[j, m] += sure * dot - sure * (1.0 - sure) * gap[j] * gap[m]
    for j in range(p):
        if E[j, j] <= ROUNDING * squares[j]:
            g[j] = 0.0
            for m in range(p):
                H[j, m], E[j, m], H[m, j], E[m, j] = 0.0, 0.0, 0.0, 0.0
    return value


@part
def _solve(H: Array, g: Array, ridge: float, L: Array, step: Array) -> bool:
    """Set step = (H + ridge diag H)^-1 g by Cholesky from the lower half; return whether H is definite enough."""
    p = g.size
    for j in range(p):
        for m in range(j + 1):
            s = H[j, m] * (1.0 + ridge if j == m else 1.0)
            for k in range(m):
                s -= L[j, k] * L[m, k]
            if j > m:
                L[j, m] = s / L[m, m]
            elif s > 1e-13 * H[j, j] and s > 0.0:
                L[j, j] = math.sqrt(s)
            elif H[j, j] == 0.0 and g[j] == 0.0:  # of no consequence: leave it where it is
                L[j, j] = 1.0
            else:
                return False
    for j in range(p):
        s = g[j]
        for k in range(j):
            s -= L[j, k] * step[k]
        step[j] = s / L[j, j]
    for j in range(p - 1, -1, -1):
        s = step[j]
        for k in range(j + 1, p):
            s -= L[k, j] * step[k]
        step[j] = s / L[j, j]
    return True


@part
def _step(H: Array, E: Array, g: Array, ridge: float, L: Array, step: Array) -> None:
    """Set a step uphill: Newton's, or with E where that is none, or with E and a ridge where E is singular."""
    if ridge == 0.0 and _solve(H, g, 0.0, L, step):
        return
    while not _solve(E, g, ridge, L, step):
        if ridge > MOST_RIDGE:
            for j in range(g.size):
                step[j] = g[j] / E[j, j] if E[j, j] > 0.0 else 0.0
            return
        ridge = max(LEAST_RIDGE, 100.0 * ridge)


@compiled
def climb(X: Array, chosen: Integers, x: Array, lapse: float, most: int) -> tuple[float, int]:
    """Move x to where the log likelihood is largest; return that and how many steps it took, `most` if it failed."""
    p, n = x.size, X.shape[2]
    law, g, step, there = np.empty(n), np.empty(p), np.empty(p), np.empty(p)
    H, E, L = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
    value = _derive(X, chosen, x, lapse, law, g, H, E)
    ridge = 0.0
    for tried in range(most):
        _step(H, E, g, ridge, L, step)
        gain = 0.0
        for j in range(p):
            gain += g[j] * step[j]
        if not gain > 1e-15 * (1.0 + abs(value)) or value > -1e-9:
            return value, tried
        last = gain < 1e-8 * (1.0 + abs(value))  # one more step, which squares the error; rounding hides what it gains
        share = 1.0
        for _ in range(MOST_HALVINGS):
            for j in range(p):
                there[j] = x[j] + share * step[j]
            new = _derive(X, chosen, there, lapse, law, g, H, E)
            if new >= value + 1e-4 * share * gain or last:
                break
            share *= 0.5
        else:  # rounding has turned the step: shorten it where H is as good as singular
            if ridge > MOST_RIDGE:
                return value, most
            ridge = max(LEAST_RIDGE, 100.0 * ridge)
            value = _derive(X, chosen, x, lapse, law, g, H, E)
            continue
        ridge = ridge / 10.0 if ridge > LEAST_RIDGE else 0.0
        if last and not new >= value - 1e-12 * (1.0 + abs(value)):
            return value, tried
        x[:] = there
        value = new
        if last:
            return value, tried
    return value, most
