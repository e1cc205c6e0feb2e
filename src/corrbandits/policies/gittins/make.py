"""Makes the table: `python -m corrbandits.policies.gittins.make` writes it where the package reads it."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from corrbandits._core.checks import Array, Integers

LATTICE = 40
"""Values of n per factor of e."""

STEP = 0.01
"""Between normalised means."""


def decisions(most: int, ratio: float) -> Integers:
    """Return the m of the table: one by one at first, then by a ratio."""
    ms = list(range(1, 41))
    while ms[-1] < most:
        ms.append(min(most, max(ms[-1] + 1, round(ms[-1] * ratio))))
    return np.array(ms)


def make(most: int, ratio: float = 1.04, low: float = -10.0, high: float = 14.0) -> tuple[Array, Array, Array]:
    """Return log m, log n and g."""
    log_n = np.arange(round(low * LATTICE), round(high * LATTICE) + 1) / LATTICE
    nodes = np.linspace(-6.0, 6.0, 97)  # values have kinks: evenly spaced nodes do better than Gauss's
    weights = np.exp(-0.5 * np.square(nodes))
    ms = decisions(most, ratio)
    g: Array = _boundaries(ms, np.exp(log_n), np.arange(-6.0, 4.0 + STEP / 2, STEP), nodes, weights / weights.sum())
    return np.log(ms), log_n, g


def boundaries(ms: Integers, n: Array, X: Array, nodes: Array, weights: Array) -> Array:
    """Return g for each m and n; between two m a step takes as many decisions as lie between two n, at least one."""
    g = np.zeros((ms.size, n.size))
    before, now = np.zeros((n.size, X.size)), np.zeros((n.size, X.size))
    for i in range(n.size):
        for k in range(X.size):
            before[i, k] = max(0.0, X[k])
    dx, ratio = X[1] - X[0], math.log(n[1] / n[0])
    for a in range(1, ms.size):
        b = float(ms[a] - ms[a - 1])
        for i in range(n.size - 1, -1, -1):
            h = b if i + 1 == n.size else min(b, max(1.0, n[i + 1] - n[i]))
            after = n[i] + h
            place = math.log(after / n[0]) / ratio
            j = min(int(place + 1e-9), n.size - 2)
            share_n, share_m = min(max(place - j, 0.0), 1.0), h / b
            shrink, apart, left = math.sqrt(n[i] / after), math.sqrt(h / after), ms[a] - h
            worth_before, root = 0.0, X[0]
            for k in range(X.size):
                worth = h * X[k]
                for q in range(nodes.size):
                    x = (X[k] + apart * nodes[q]) / shrink
                    z = (x - X[0]) / dx
                    if z >= X.size - 1:
                        worth += weights[q] * left * x * shrink
                    elif z > 0.0:
                        c = int(z)
                        s = z - c
                        old = (1 - share_n) * ((1 - s) * before[j, c] + s * before[j, c + 1])
                        old += share_n * ((1 - s) * before[j + 1, c] + s * before[j + 1, c + 1])
                        if share_m < 1.0:  # then n + h is not below the next n, whose values are known
                            new = (1 - share_n) * ((1 - s) * now[j, c] + s * now[j, c + 1])
                            new += share_n * ((1 - s) * now[j + 1, c] + s * now[j + 1, c + 1])
                            old = share_m * old + (1 - share_m) * new
                        worth += weights[q] * old * shrink
                now[i, k] = max(0.0, worth)
                if worth > 0.0 >= worth_before and k > 0 and root == X[0]:
                    root = X[k - 1] - worth_before * dx / (worth - worth_before)
                worth_before = worth
            # taken h at a time, boundaries lie lower by 0.5826 deviations of a step than in continuous time (Chernoff)
            single = math.sqrt(1.0 / (n[i] + 1.0))
            g[a, i] = -root + (0.5826 * (apart - single) if h > 1.0 else 0.0)
        before[:] = now
    return g


_boundaries: Any = njit(boundaries)


if __name__ == "__main__":
    log_m, log_n, g = make(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    np.savez_compressed(Path(__file__).with_name("table.npz"), log_m=log_m, log_n=log_n, g=g.astype(np.float32))
