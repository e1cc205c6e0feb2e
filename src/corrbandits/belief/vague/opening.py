"""Where to look first: places far from each other."""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array, Integers


def farthest(points: Array | None, tried: Integers, candidates: Integers) -> int:
    """Return which candidate lies farthest from what was tried, `tried` counting that per arm.

    Among equally far ones the least tried is taken, then the one nearest to the middle of all arms, then the first by
    coordinates, then the first candidate. Before anything was tried it is the one in the middle.

    >>> points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> every = np.arange(5)
    >>> farthest(points, np.zeros(5, dtype=int), every), farthest(points, np.array([0, 0, 1, 0, 0]), every)
    (2, 0)
    """
    if points is None:
        return int(candidates[tried[candidates].argmin()])
    here, seen = points[candidates], np.flatnonzero(tried)
    away = np.full(candidates.size, np.inf if seen.size else 0.0)
    for arm in seen:
        np.minimum(away, np.square(here - points[arm]).sum(axis=1), out=away)
    return int(candidates[np.lexsort([*_from_middle(points, here), tried[candidates], -away])[0]])


def first_of(points: Array | None, expected: Array, candidates: Integers) -> int:
    """Return the candidate of which most is expected; of nearly equal ones the first by coordinates.

    >>> first_of(np.array([[3.0], [1.0], [2.0]]), np.array([7.0, 7.0, 1.0]), np.arange(3))
    1
    """
    values = expected[candidates]
    near = candidates[values >= values.max() - 1e-9 * np.ptp(values)]
    return int(near[0] if points is None else near[np.lexsort(points[near].T[::-1])[0]])


def in_order(points: Array | None, arms: int) -> tuple[Integers, Integers]:
    """Return the order in which `farthest` takes the arms, each once, and that in which it takes them ever after.

    >>> in_order(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 5)
    (array([2, 0, 4, 1, 3]), array([2, 1, 3, 0, 4]))
    """
    if points is None:
        return np.arange(arms), np.arange(arms)
    again = np.lexsort(_from_middle(points, points))
    there = points[again]
    away, first = np.full(arms, np.inf), np.zeros(arms, dtype=np.int64)
    for place in range(1, arms):
        np.minimum(away, np.square(there - there[first[place - 1]]).sum(axis=1), out=away)
        away[first[:place]] = -1.0  # an arm at the place of one that was tried comes before it is tried again
        first[place] = away.argmax()
    return again[first], again


def _from_middle(points: Array, here: Array) -> list[Array]:
    """Return keys to sort some places by: how far they lie from the middle of all, then their coordinates."""
    middle = np.square(here - (points.min(axis=0) + points.max(axis=0)) / 2).sum(axis=1)
    return [*here.T[::-1], middle]
