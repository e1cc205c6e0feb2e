"""A belief on correlated arms from its prior and averages of rewards, computed anew: parts of the loops.

name     shape     meaning
S0       (N, N)    covariance of the prior
V        (R, N)    what the averages of R arms make known, each beyond those before it: the covariance is S0 - V'V

Where the weights of all averages change at every step there is no update of rank one: this takes O(R^2 N).
"""

from __future__ import annotations

import math

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import part


@part
def take_average(S0: Array, V: Array, rows: int, k: int, average: float, s: float, mu: Array, d: Array) -> None:
    """Take the average of arm k, of variance s, after those of `rows` others (eq. sherman-morrison)."""
    v = V[rows]
    row_less(S0, V, rows, k, v)
    variance = d[k]
    total = s + variance
    gain, over = (average - mu[k]) / total, 1.0 / math.sqrt(total)
    for j in range(v.size):
        mu[j] += v[j] * gain
        known = v[j] * over
        rest = d[j] - known * known
        d[j] = rest if rest > 0.0 else 0.0
        v[j] = known
    d[k] = s * (variance / total)


@part
def row_less(S0: Array, V: Array, rows: int, k: int, out: Array) -> None:
    """Write row k of S0 - V'V, as far as so many rows of V, four at a time."""
    for j in range(out.size):
        out[j] = S0[k, j]
    fours = rows - rows % 4
    for p in range(0, fours, 4):
        one, two, three, four = V[p], V[p + 1], V[p + 2], V[p + 3]
        v_one, v_two, v_three, v_four = one[k], two[k], three[k], four[k]
        for j in range(out.size):
            out[j] -= v_one * one[j] + v_two * two[j] + (v_three * three[j] + v_four * four[j])
    for p in range(fours, rows):
        one, v_one = V[p], V[p, k]
        for j in range(out.size):
            out[j] -= v_one * one[j]


@part
def weigh_rows(S0: Array, V: Array, rows: int, d: Array, row: Array, w: Array) -> None:
    """Write w_i = s_i sqrt(sum_j rho_ij^2)."""
    for i in range(d.size):
        row_less(S0, V, rows, i, row)
        row[i] = 0.0
        total = d[i]
        for j in range(d.size):
            if d[j] > 0.0:
                total += row[j] * row[j] / d[j]
        w[i] = math.sqrt(total)
