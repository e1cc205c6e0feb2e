"""Arms that lie on a regular grid, in any order, perhaps with holes: as the rows and columns of a picture.

    name       shape                meaning
    row        (N,)                 of each arm, 0 the lowest
    column     (N,)                 of each arm, 0 the leftmost
    x, y       (columns,), (rows,)  where columns and rows lie

Up is y, or north; to the right is x, or east.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.study.arms import Arms

ROUNDING = 0.01  # of a step: files have few decimals
MOST_CELLS = 4  # per arm: with more holes than this it is no grid


@final
@dataclass(frozen=True)
class Lattice:
    """Where each arm lies on a grid."""

    row: Integers
    column: Integers
    x: Array
    y: Array

    def picture(self, values: Array) -> Array:
        """Return values as rows and columns, the lowest row first; NaN where there is no arm."""
        cells = np.full((self.y.size, self.x.size), np.nan)
        cells[self.row, self.column] = values
        return cells


def across_and_up(arms: Arms) -> tuple[Array, Array | None] | None:
    """Return how far to the right and how far up arms lie: the second is None on a line; None if nobody knows."""
    if arms.coordinates is None or arms.coordinates.shape[1] > 2:
        return None
    columns = arms.coordinates.T
    if len(columns) == 1:
        return columns[0], None
    return (columns[1], columns[0]) if arms.axes == ("latitude", "longitude") else (columns[0], columns[1])


def shrink(arms: Arms) -> float:
    """Return how long a step to the right is beside one up: less than 1 for longitudes, away from the equator."""
    if arms.axes != ("latitude", "longitude") or arms.coordinates is None:
        return 1.0
    return max(math.cos(math.radians(float(arms.coordinates[:, 0].mean()))), 0.01)


def lattice(arms: Arms) -> Lattice | None:
    """Return the regular grid on which arms lie, if they do.

    >>> found = lattice(Arms.of({"x": [3, 1, 2, 1, 3], "y": [10, 10, 10, 15, 15]}))
    >>> found.picture(np.arange(5.0)).tolist()
    [[1.0, 2.0, 0.0], [3.0, nan, 4.0]]
    """
    places = across_and_up(arms)
    if places is None or arms.count < 2:
        return None
    across, up = places
    columns = _steps(across)
    rows = _steps(np.zeros(arms.count) if up is None else up)
    if columns is None or rows is None:
        return None
    (column, x), (row, y) = columns, rows
    taken = np.unique(row * x.size + column).size
    return Lattice(row, column, x, y) if taken == arms.count and x.size * y.size <= MOST_CELLS * taken else None


def _steps(values: Array) -> tuple[Integers, Array] | None:
    """Return the step at which each value stands, and the values of all steps; None if steps are not even."""
    low, span = float(values.min()), float(np.ptp(values))
    if span == 0:
        return np.zeros(values.size, dtype=np.int64), values[:1]
    gaps = np.diff(np.unique(values))
    gaps = gaps[gaps > 1e-6 * span]  # what differs by less is the same
    if not gaps.size:  # more steps than differences can be told from rounding
        return None
    least = float(gaps[gaps < 1.5 * gaps.min()].mean())
    if span / least > MOST_CELLS * values.size:
        return None
    count = round(span / least)
    place = (values - low) / (span / count)
    step = np.rint(place).astype(np.int64)
    if np.abs(place - step).max() > ROUNDING:
        return None
    return step, np.linspace(low, low + span, count + 1)
