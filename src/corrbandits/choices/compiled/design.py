"""What the utility of an arm is made of, and derivatives back to its parts.

    u_i(a) = c_i (f0 A_t(a) + f1 B_t(a) + f2 W_t(a)) + f3 [a = l_i] - f4 d(a, l_i)

t is the trial of choice i, l_i the arm of the trial before it (none in a round's first: -1), c_i the cooling, f the
five weights and W the bonus for what is not known. All are linear in f.
"""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.compiled.cache import compiled


@compiled
def utilities(
    weights: Array, A: Array, B: Array, W: Array, trials: Integers, last: Integers, cooling: Array, distances: Array,
    X: Array,
) -> None:  # fmt: skip
    """Set X, (n, rows, N): the utilities of all arms at each choice under each row of weights."""
    n = A.shape[1]
    for i in range(trials.size):
        t, before, c = trials[i], last[i], cooling[i]
        for j in range(weights.shape[0]):
            f0, f1, f2 = c * weights[j, 0], c * weights[j, 1], c * weights[j, 2]
            row = X[i, j]
            for a in range(n):
                row[a] = f0 * A[t, a] + f1 * B[t, a] + f2 * W[t, a]
            if before >= 0:
                f4 = weights[j, 4]
                if f4 != 0.0:
                    for a in range(n):
                        row[a] -= f4 * distances[before, a]
                row[before] += weights[j, 3]


@compiled
def parts(
    weights: Array, A: Array, B: Array, W: Array, trials: Integers, last: Integers, cooling: Array, distances: Array,
    residual: Array, by_A: Array, by_B: Array, by_W: Array,
) -> Array:  # fmt: skip
    """Return derivatives by the five weights, from those by u; set those by A, B and W, which come as zeros."""
    n, by = A.shape[1], np.zeros(5)
    for i in range(trials.size):
        t, before, c, r = trials[i], last[i], cooling[i], residual[i]
        f0, f1, f2 = c * weights[0], c * weights[1], c * weights[2]
        g0, g1, g2, g4 = 0.0, 0.0, 0.0, 0.0
        for a in range(n):
            g0 += r[a] * A[t, a]
            g1 += r[a] * B[t, a]
            g2 += r[a] * W[t, a]
            by_A[t, a] = f0 * r[a]
            by_B[t, a] = f1 * r[a]
            by_W[t, a] = f2 * r[a]
        by[0] += c * g0
        by[1] += c * g1
        by[2] += c * g2
        if before >= 0:
            for a in range(n):
                g4 += r[a] * distances[before, a]
            by[3] += r[before]
            by[4] -= g4
    return by
