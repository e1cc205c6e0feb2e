"""Two arms: what a campaign is worth is a convex function of one number, the difference of the two means.

    name       meaning
    d          mean of the first arm less that of the second
    step       deviation of the next d, after one more reward of an arm
    breaks     where a convex function of straight pieces bends, ascending
    jumps      by how much its slope rises there
    left       its value left of all breaks, where it is level

Pieces are chords (the function lies below them) or tangents (it lies above), so that both sides of every value are
known. The expectation of such a function under a normal law is exact: `left` and the sum of jump * E(X - break)^+.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, final

import numpy as np
from numba import njit

from corrbandits._core.checks import Array, Integers

FARTHEST = 5.0
"""Grids reach so many scales to either side; beyond, bounds by the slope take over."""

NEGLIGIBLE = 7.0
"""E(Z - 7)^+ is below 2e-13, and left out."""


@final
class Lines:
    """Functions of one difference, one per state, as sums of bends: from above by chords, from below by tangents."""

    usual: ClassVar[int] = 161

    share: ClassVar[float] = 1 / 3
    """Where the value lies between its sides: on a fine grid chords are off by twice as much as tangents."""

    def __init__(self, moves: Array, scales: Array, nodes: int) -> None:
        self._steps = np.abs(moves[:, :, 0])
        u = np.linspace(-1.0, 1.0, nodes)
        self._grids = scales[:, None] * FARTHEST * np.sinh(2.0 * u) / math.sinh(2.0)  # dense about 0
        states = len(moves)
        self._upper, self._lower = (tuple(np.zeros((states, *shape)) for shape in _shapes(nodes)) for _ in range(2))

    def solve(self, state: int, after: Integers, left: int) -> None:
        """Find the functions of a state with so many decisions left; `after` are the states that follow each arm."""
        D = self._grids[state]
        high, _ = _worth(D, self._steps[state], after, *self._upper)
        low, slopes = _worth(D, self._steps[state], after, *self._lower)
        rises = np.diff(high) / np.diff(D)
        _keep(self._upper, state, D, np.diff(rises, prepend=0.0, append=float(left)), high[0])
        low[[0, -1]], slopes[[0, -1]] = (0.0, left * D[-1]), (0.0, left)  # never below either arm for good
        jumps = np.diff(slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.diff(slopes * D - low) / jumps
        middle = (D[1:] + D[:-1]) / 2
        crossing = np.where(jumps > 0, np.clip(crossing, D[:-1], D[1:]), middle)
        _keep(self._lower, state, np.append(crossing, D[-1]), np.append(np.maximum(jumps, 0.0), 0.0), 0.0)

    def worths(self, states: Integers, after: Integers, left: Integers, d: Array) -> Array:
        """Return, for each of many states and differences, what each arm is worth if the best choices follow."""
        return np.asarray(_worths(states, after, d[:, 0], self._steps, *self._upper))

    def bracket(self, state: int, after: Integers, left: int, d: Array) -> tuple[float, float]:
        """Return what a state is worth at least and at most at one difference."""
        low, high = (_worth(d, self._steps[state], after, *kept)[0][0] for kept in (self._lower, self._upper))
        return float(low), float(high)


def _shapes(nodes: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of breaks, jumps, sums of jumps, sums of jump * break, and left, of one state."""
    return (nodes,), (nodes,), (nodes + 1,), (nodes + 1,), ()


def _keep(kept: tuple[Array, ...], state: int, breaks: Array, jumps: Array, left: float) -> None:
    sums, moments = (np.concatenate([[0.0], np.cumsum(x)]) for x in (jumps, jumps * breaks))
    for into, what in zip(kept, (breaks, jumps, sums, moments, np.array(left)), strict=True):
        into[state] = what


def expected(
    d: float, step: float, breaks: Array, jumps: Array, sums: Array, moments: Array, left: float
) -> tuple[float, float]:
    """Return the mean of the function under N(d, step^2), and its derivative with respect to d."""
    first = np.searchsorted(breaks, d - NEGLIGIBLE * step)
    last = np.searchsorted(breaks, d + NEGLIGIBLE * step)
    value, slope = left + d * sums[first] - moments[first], sums[first]
    for j in range(first, last):
        z = (breaks[j] - d) / step
        tail = 0.5 * math.erfc(z / math.sqrt(2.0))
        value += jumps[j] * step * (math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - z * tail)
        slope += jumps[j] * tail
    return value, slope


_expected: Any = njit(expected)


def worth(
    D: Array, steps: Array, after: Integers, breaks: Array, jumps: Array, sums: Array, moments: Array, left: Array
) -> tuple[Array, Array]:
    """Return the value of the better arm at each difference, and its slope."""
    values, slopes = np.empty(D.size), np.empty(D.size)
    for k in range(D.size):
        a, b = after[0], after[1]
        first, up = _expected(D[k], steps[0], breaks[a], jumps[a], sums[a], moments[a], left[a])
        second, down = _expected(D[k], steps[1], breaks[b], jumps[b], sums[b], moments[b], left[b])
        first, up = first + D[k], up + 1.0
        values[k], slopes[k] = (first, up) if first > second else (second, down)
    return values, slopes


_worth: Any = njit(worth)


def worths(
    states: Integers,
    after: Integers,
    d: Array,
    steps: Array,
    breaks: Array,
    jumps: Array,
    sums: Array,
    moments: Array,
    left: Array,
) -> Array:
    """Return what each arm is worth, for each of many states and differences."""
    found = np.empty((d.size, 2))
    for k in range(d.size):
        for i in range(2):
            s = after[k, i]
            found[k, i] = _expected(d[k], steps[states[k], i], breaks[s], jumps[s], sums[s], moments[s], left[s])[0]
        found[k, 0] += d[k]
    return found


_worths: Any = njit(worths)
