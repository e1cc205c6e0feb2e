"""Where to look first: places far from each other."""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array, Integers


def farthest(points: Array | None, tried: Integers, candidates: Integers) -> int:
    """Return which candidate lies farthest from what was tried, `tried` counting that per arm.

    Among equally far ones the least tried is taken, then the one nearest to the middle of all arms, then the first by
    coordinates. Before anything was tried it is the one in the middle.

    >>> points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> every = np.arange(5)
    >>> farthest(points, np.zeros(5, dtype=int), every), farthest(points, np.array([0, 0, 1, 0, 0]), every)
    (2, 0)
    """
    if points is None:
        return int(candidates[tried[candidates].argmin()])
    here, seen = points[candidates], np.flatnonzero(tried)
    middle = np.square(here - (points.min(axis=0) + points.max(axis=0)) / 2).sum(axis=1)
    away = np.full(candidates.size, 0.0)
    if seen.size:
        away = np.full(candidates.size, np.inf)
        for arm in seen:
            np.minimum(away, np.square(here - points[arm]).sum(axis=1), out=away)
    order = np.lexsort([*here.T[::-1], middle, tried[candidates], -away])
    return int(candidates[order[0]])
