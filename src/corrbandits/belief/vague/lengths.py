"""How far correlation may reach: lengths that follow from where the arms lie, or from what was said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief.vague.known import FARTHEST, NINETY, Known, known
from corrbandits.kernels import Distance

APART = 8.0
"""Where each coordinate has a length of its own, a factor that these differ by from what is usual for their extents."""


def one_length(points: Array | None, said: Any, u: Array, distance: Distance) -> Array:
    """Return one length of each part: from half the distance of neighbours to the extent of all, or as it was said."""
    within = known("length", said, positive=True)
    if within is not None:
        return np.asarray(within.quantile(u))
    low, high = (1.0, 1.0) if points is None else reach(points, distance)
    if not (low >= 1 / FARTHEST and high <= FARTHEST):
        raise ValueError(
            f"coordinates must lie between {1 / FARTHEST:g} and {FARTHEST:g} apart, or no length follows from them, "
            f"got neighbours {low:g} apart and an extent of {high:g}. Take other units."
        )
    return log_uniform(u, low / 2, high)


def lengths_of_each(points: Array, said: Any, u: Array) -> Array:
    """Return a length of each coordinate under each part, (G, C).

    In units of the coordinates' extents there is one length as ever, times a factor of each coordinate that lies
    between 1 / APART and APART with probability 0.9: one coordinate may matter much less than another.
    """
    number = points.shape[1]
    given = [None] * number if said is None else list(said) if isinstance(said, (list, tuple)) else [said]
    if len(given) != number:
        raise ValueError(
            f"length must have an entry for each of the {number} coordinates, a number, an interval or None, where "
            f"each has a length of its own, got {said!r:.60}."
        )
    common = one_length(in_extents(points), None, u[0], "euclidean")
    factor = Known(0.0, math.log(APART) / NINETY, positive=True)
    columns = []
    for coordinate, (one, extent) in enumerate(zip(given, _extents(points), strict=True)):
        within = known(f"length of coordinate {coordinate + 1}", one, positive=True)
        v = u[4 + coordinate]
        columns.append(common * extent * factor.quantile(v) if within is None else within.quantile(v))
    return np.stack(columns, axis=1)


def _extents(points: Array) -> Array:
    widest = np.ptp(points, axis=0)
    return np.where(widest > 0, widest, 1.0)


def in_extents(points: Array) -> Array:
    """Return where arms lie, from 0 to 1 along each coordinate."""
    return np.asarray((points - points.min(axis=0)) / _extents(points))


def reach(points: Array, distance: Distance) -> tuple[float, float]:
    """Return the median distance of an arm from its nearest neighbour, and the largest extent of all.

    Arms at one place are one arm here.

    >>> reach(np.array([[0.0], [1.0], [3.0]]), "euclidean")
    (1.0, 3.0)
    """
    from scipy.spatial import cKDTree

    places = np.unique(points, axis=0)
    if len(places) < 2:
        return 1.0, 1.0
    if distance in ("great_circle", "chordal"):
        from corrbandits.kernels.stationary import EARTH_RADIUS_KM, on_unit_sphere

        places = EARTH_RADIUS_KM * on_unit_sphere(places)
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    with np.errstate(over="ignore"):
        widest = np.ptp(places, axis=0)
        return float(np.median(nearest)), float(math.sqrt(np.square(widest).sum()))


def log_uniform(u: Array, low: float, high: float) -> Array:
    """Return the quantiles u of the law whose logarithm is uniform between two numbers."""
    return np.asarray(low * (high / low) ** u)
