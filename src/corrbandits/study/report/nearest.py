"""Arms that are scattered in the plane, as the cells of a picture: each cell is that of the nearest arm.

Cells that are far from every arm stay empty. What is believed between arms is not said anywhere; the picture only lets
an eye see the surface that the arms are on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.study.arms import Arms
from corrbandits.study.report.lattice import Lattice, across_and_up, shrink

FEWEST = 12
"""Fewer arms are points: there is no surface to see."""

REACH = 2.0
"""How far an arm reaches, in sides of the square that each would have if they were spread evenly."""


class Cells(NamedTuple):
    """A grid of cells: where its columns and rows lie, and the arm that is nearest to each cell, -1 if none is near."""

    x: Array
    y: Array
    arm: Integers

    def picture(self, values: Array) -> Array:
        """Return the values of the nearest arms, the lowest row first; NaN where none is near."""
        return np.where(self.arm < 0, np.nan, values[self.arm])

    def places(self, across: Array, up: Array) -> tuple[Integers, Integers]:
        """Return the rows and columns of the cells in which points lie."""
        return _steps(up, self.y), _steps(across, self.x)


def cells(arms: Arms, columns: int, rows: int) -> Cells | None:
    """Return a grid of square cells over scattered arms, at most so many; None where arms are few or on one place.

    >>> rng = np.random.default_rng(0)
    >>> found = cells(Arms.of({"x": rng.uniform(0, 10, 50), "y": rng.uniform(0, 5, 50)}), columns=32, rows=24)
    >>> found.arm.shape
    (16, 32)
    """
    places = across_and_up(arms)
    if places is None or places[1] is None or arms.count < FEWEST:
        return None
    across, up, factor = places[0], places[1], shrink(arms)
    width, height = float(np.ptp(across)) * factor, float(np.ptp(up))
    side = max(width / columns, height / rows)
    if not 0 < side < math.inf:
        return None
    x, y = _centres(across, width / side, columns), _centres(up, height / side, rows)
    even = math.sqrt(max(width, side) * max(height, side) / arms.count)
    near = _nearest(np.column_stack([across * factor, up]), x * factor, y, REACH * max(even, side))
    return Cells(x, y, near)


def terminal_lattice(found: Cells) -> tuple[Lattice, Integers]:
    """Return the cells that are near an arm as a regular grid, and the arms that they stand for."""
    row, column = np.nonzero(found.arm >= 0)
    return Lattice(row, column, found.x, found.y), found.arm[row, column]


def _centres(values: Array, count: float, most: int) -> Array:
    number = min(max(round(count), 1), most)
    return np.linspace(values.min(), values.max(), number) if number > 1 else np.array([values.mean()])


def _steps(values: Array, centres: Array) -> Integers:
    if centres.size == 1:
        return np.zeros(values.shape, dtype=np.int64)
    steps: Integers = np.rint((values - centres[0]) / (centres[1] - centres[0])).astype(np.int64)
    return steps


def _nearest(points: Array, x: Array, y: Array, reach: float) -> Integers:
    from scipy.spatial import cKDTree

    where = np.stack(np.meshgrid(x, y), axis=-1)
    _, arm = cKDTree(points).query(where, distance_upper_bound=reach)
    return np.asarray(np.where(arm < len(points), arm, -1))
