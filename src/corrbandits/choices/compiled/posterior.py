"""What was believed before each trial, and derivatives back through it; see the package for the names.

Row t of V costs O(t N): V_t = (K_k - sum_u V_uk V_u) / q_t, q_t^2 = its entry k + ratio, where k is the arm of trial t.
"""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.compiled.cache import compiled


@compiled
def posterior(
    K: Array, ratio: float, arms: Integers, rewards: Array, starts: Integers, A: Array, B: Array, D: Array, V: Array,
    q: Array, a: Array, b: Array,
) -> None:  # fmt: skip
    """Set A, B, D, V, q, a and b; a round's last trial is not learnt from, for no choice follows."""
    n = K.shape[0]
    for r in range(starts.size - 1):
        first, end = starts[r], starts[r + 1]
        for j in range(n):
            A[first, j], B[first, j], D[first, j] = 0.0, 1.0, K[j, j]
        for t in range(first, end - 1):
            k = arms[t]
            row = V[t]
            for j in range(n):
                row[j] = K[k, j]
            for u in range(first, t):
                known, share = V[u], V[u, k]
                for j in range(n):
                    row[j] -= share * known[j]
            q[t] = math.sqrt(max(row[k], 0.0) + ratio)
            a[t], b[t] = (rewards[t] - A[t, k]) / q[t], -B[t, k] / q[t]
            for j in range(n):
                row[j] /= q[t]
                A[t + 1, j] = A[t, j] + a[t] * row[j]
                B[t + 1, j] = B[t, j] + b[t] * row[j]
                rest = D[t, j] - row[j] * row[j]
                D[t + 1, j] = rest if rest > 0.0 else 0.0


@compiled
def adjoint(
    by_A: Array, by_B: Array, by_D: Array, slope: Array, arms: Integers, starts: Integers, V: Array, q: Array,
    a: Array, b: Array,
) -> tuple[float, float]:  # fmt: skip
    """Return the derivatives by what moves K along `slope`, and by the ratio, from those by A, B and D of each trial.

    The derivatives given are overwritten: each row becomes the sum of those after it, which is what a trial is worth.
    """
    n = slope.shape[0]
    by_V = np.zeros_like(V)
    along, by_ratio = 0.0, 0.0
    for r in range(starts.size - 1):
        first, end = starts[r], starts[r + 1]
        for t in range(end - 2, first - 1, -1):
            k, row, back = arms[t], V[t], by_V[t]
            to_A, to_B, to_D = by_A[t + 1], by_B[t + 1], by_D[t + 1]
            by_a, by_b, by_q = 0.0, 0.0, 0.0
            for j in range(n):
                by_a += row[j] * to_A[j]
                by_b += row[j] * to_B[j]
                back[j] += a[t] * to_A[j] + b[t] * to_B[j] - 2.0 * row[j] * to_D[j]
            for j in range(n):
                by_q += back[j] * row[j]
                back[j] /= q[t]
                by_A[t, j] += to_A[j]
                by_B[t, j] += to_B[j]
                by_D[t, j] += to_D[j]
            by_A[t, k] -= by_a / q[t]
            by_B[t, k] -= by_b / q[t]
            half = -(by_q + by_a * a[t] + by_b * b[t]) / q[t] / (2.0 * q[t])
            back[k] += half
            by_ratio += half
            for j in range(n):
                along += back[j] * slope[k, j]
            for u in range(first, t):
                known, other, share, dot = V[u], by_V[u], V[u, k], 0.0
                for j in range(n):
                    other[j] -= share * back[j]
                    dot += back[j] * known[j]
                other[k] -= dot
        for j in range(n):
            along += by_D[first, j] * slope[j, j]
    return along, by_ratio


@compiled
def printed(
    K: Array, slope: Array, ratio: float, arms: Integers, starts: Integers, W: Array, by_slope: Array, by_ratio: Array,
    derive: bool,
) -> None:  # fmt: skip
    """Set W_i = s_i sqrt(sum_j rho_ij^2) before each trial (section 4.1) and, if asked, its derivatives."""
    n = K.shape[0]
    S, S_slope, S_ratio = np.empty_like(K), np.empty_like(K), np.empty_like(K)
    g, g_slope, g_ratio = np.empty(n), np.empty(n), np.empty(n)
    for r in range(starts.size - 1):
        first, end = starts[r], starts[r + 1]
        S[:], S_slope[:], S_ratio[:] = K, slope, 0.0
        for t in range(first, end):
            for i in range(n):
                total, d_slope, d_ratio = 0.0, 0.0, 0.0
                for j in range(n):
                    if S[j, j] > 0.0:
                        rho = S[i, j] / S[j, j]
                        total += rho * S[i, j]
                        if derive:
                            d_slope += rho * (2.0 * S_slope[i, j] - rho * S_slope[j, j])
                            d_ratio += rho * (2.0 * S_ratio[i, j] - rho * S_ratio[j, j])
                W[t, i] = math.sqrt(total)
                if derive:
                    by_slope[t, i] = d_slope / (2.0 * W[t, i]) if total > 0.0 else 0.0
                    by_ratio[t, i] = d_ratio / (2.0 * W[t, i]) if total > 0.0 else 0.0
            if t == end - 1:
                break
            k = arms[t]
            c = 1.0 / (S[k, k] + ratio)
            c_slope, c_ratio = -c * c * S_slope[k, k], -c * c * (S_ratio[k, k] + 1.0)
            for j in range(n):
                g[j], g_slope[j], g_ratio[j] = S[k, j], S_slope[k, j], S_ratio[k, j]
            for i in range(n):
                for j in range(n):
                    S[i, j] -= c * g[i] * g[j]
                    if derive:
                        S_slope[i, j] -= c * (g_slope[i] * g[j] + g[i] * g_slope[j]) + c_slope * g[i] * g[j]
                        S_ratio[i, j] -= c * (g_ratio[i] * g[j] + g[i] * g_ratio[j]) + c_ratio * g[i] * g[j]
