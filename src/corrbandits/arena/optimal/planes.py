"""Three arms: what a campaign is worth is a convex function of two differences of means, kept on a grid of triangles.

    name       meaning
    d          means of the first two arms less that of the third
    move       by how much d changes if a reward lies one deviation above what was expected
    left       m, decisions left: what a campaign is worth rises with d by a share of m, so slopes add up to at most m

A triangle through three values of a convex function lies above it, a tangent plane below. In the same way a normal law
may be replaced by a few points: put at the ends of intervals, its means kept, they make the expectation of a convex
function larger; put at the intervals' means, smaller. So both sides of every value are known here too.
"""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numba import njit

from corrbandits._core.checks import Array, Integers

FARTHEST = 4.0
"""Grids reach so many scales to either side; beyond, bounds by the slope take over."""

ENDS = 4.5
"""The points that stand for a normal law reach so far to either side."""

BEYOND = 7e-7
"""More than E(Z - 4.5)^+."""

POINTS = 28
"""So many of them to either side."""


@final
class Planes:
    """Functions of two differences, one per state, as values at the nodes of a grid."""

    usual: ClassVar[int] = 65

    share: ClassVar[float] = 0.4
    """Where the value lies between its sides: at 1/3 where the function bends along the grid, at 1/2 on diagonals."""

    def __init__(self, moves: Array, scales: Array, nodes: int) -> None:
        self._moves, self._spacing, self._nodes = moves, 2 * FARTHEST * scales / (nodes - 1), nodes
        self._upper = np.zeros((len(moves), nodes, nodes))
        self._lower: dict[int, Array] = {}
        self._ends, self._means = normal_laws(POINTS)

    def solve(self, state: int, after: Integers, left: int) -> None:
        """Find the functions of a state with so many decisions left; `after` are the states that follow each arm."""
        axis = self._spacing[state] * (np.arange(self._nodes) - self._nodes // 2)
        d = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        high, low = self._both(state, after, left, d)
        self._upper[state] = high.reshape(self._nodes, self._nodes)
        self._lower[state] = low.reshape(self._nodes, self._nodes, 3)
        for done in [s for s in self._lower if s > after.max()]:
            del self._lower[done]

    def worths(self, states: Integers, after: Integers, left: Integers, d: Array) -> Array:
        """Return, for each of many states and differences, what each arm is worth if the best choices follow."""
        return np.asarray(_above(d, self._upper, after, self._spacing, self._moves[states], *self._ends, left - 1.0))

    def bracket(self, state: int, after: Integers, left: int, d: Array) -> tuple[float, float]:
        """Return what a state is worth at least and at most at one pair of differences."""
        high, low = self._both(state, after, left, d[None])
        return float(low[0, 0]), float(high[0])

    def _both(self, state: int, after: Integers, left: int, d: Array) -> tuple[Array, Array]:
        n, moves = len(d), self._moves[state]
        high = _above(
            d, self._upper, np.tile(after, (n, 1)), self._spacing, np.broadcast_to(moves, (n, 3, 2)), *self._ends,
            np.full(n, left - 1.0),
        ).max(axis=1)  # fmt: skip
        nothing = np.zeros((self._nodes, self._nodes, 3))
        lower = np.stack([self._lower.get(int(s), nothing) for s in after])
        return high, _below(d, lower, self._spacing[after], moves, *self._means, left - 1.0)


def normal_laws(points: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return points and weights that stand for a normal law: at the ends of intervals, and at their means.

    >>> (z, p), (means, q) = normal_laws(6)
    >>> float((p * z**2).sum().round(2)), float((q * means**2).sum().round(2))    # about 1, from above and below
    (1.09, 0.96)
    """
    from scipy.special import ndtr

    z = np.linspace(-ENDS, ENDS, 2 * points + 1)
    density, below = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), ndtr(z)
    falls = np.diff(density - z * ndtr(-z)) / np.diff(z)  # of E(Z - z)^+
    parts = np.concatenate([below[:1], np.diff(below), below[:1]])
    means = -np.diff(density, prepend=0.0, append=0.0) / parts
    return (z, np.diff(falls, prepend=-1.0, append=0.0)), (means, parts)


def above(
    d: Array, upper: Array, after: Integers, spacings: Array, moves: Array, z: Array, weights: Array, slopes: Array
) -> Array:
    """Return what each arm is worth at most, for each d; there are so many states after it, moves and slopes."""
    found, half = np.empty((len(d), 3)), (upper.shape[1] - 1) // 2
    for k in range(len(d)):
        for i in range(3):
            state, slope, a, b = after[k, i], slopes[k], moves[k, i, 0], moves[k, i, 1]
            values, h = upper[state], spacings[state]
            value = d[k, i] if i < 2 else 0.0
            value += slope * (max(0.0, a, b) + max(0.0, -a, -b)) * BEYOND
            for q in range(z.size):
                x, y = (d[k, 0] + a * z[q]) / h + half, (d[k, 1] + b * z[q]) / h + half
                inside_x, inside_y = min(max(x, 0.0), 2.0 * half), min(max(y, 0.0), 2.0 * half)
                r, c = min(int(inside_x), 2 * half - 1), min(int(inside_y), 2 * half - 1)
                s, t = inside_x - r, inside_y - c
                if s >= t:
                    v = (1 - s) * values[r, c] + (s - t) * values[r + 1, c] + t * values[r + 1, c + 1]
                else:
                    v = (1 - t) * values[r, c] + (t - s) * values[r, c + 1] + s * values[r + 1, c + 1]
                value += weights[q] * (v + slope * h * max(0.0, x - inside_x, y - inside_y))
            found[k, i] = value
    return found


_above: Any = njit(above)


def below(d: Array, lower: Array, spacing: Array, moves: Array, z: Array, weights: Array, slope: float) -> Array:
    """Return, for each d, what the best arm is worth at least, with the slopes of a plane that is nowhere above."""
    found, half = np.full((len(d), 3), -np.inf), (lower.shape[1] - 1) // 2
    for k in range(len(d)):
        for i in range(3):
            h, value, up, across = spacing[i], 0.0, 0.0, 0.0
            if i < 2:
                value, up, across = d[k, i], 1.0 - i, 1.0 * i
            for q in range(z.size):
                y1, y2 = d[k, 0] + moves[i, 0] * z[q], d[k, 1] + moves[i, 1] * z[q]
                x, y = y1 / h + half, y2 / h + half
                v, g1, g2 = 0.0, 0.0, 0.0  # one arm for good
                if y1 > 0 and y1 >= y2:
                    v, g1 = slope * y1, slope
                elif y2 > 0:
                    v, g2 = slope * y2, slope
                r = int(min(max(x, 0.0), 2.0 * half - 1))
                c = int(min(max(y, 0.0), 2.0 * half - 1))
                e = 1 if x - r >= y - c else 0
                for p, o in ((0, 0), (1, 1), (e, 1 - e)):  # the corners of the triangle, or of the nearest one
                    u, w = lower[i, r + p, c + o, 1], lower[i, r + p, c + o, 2]
                    plane = lower[i, r + p, c + o, 0] + u * (x - r - p) * h + w * (y - c - o) * h
                    if plane > v:
                        v, g1, g2 = plane, u, w
                value += weights[q] * v
                up += weights[q] * g1
                across += weights[q] * g2
            if value > found[k, 0]:
                found[k, 0], found[k, 1], found[k, 2] = value, up, across
    return found


_below: Any = njit(below)
