"""What it costs to go from arm to arm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.graphs import Lengths, edges_of, refuse_parts, renumbered
from corrbandits.kernels import Exponential
from corrbandits.kernels.stationary import Distance


@final
@dataclass(frozen=True, repr=False)
class Moves:
    """What it costs to go from one arm to another: so much for each move, and so much for each unit of distance.

    Arms lie at `coordinates`, or on a `graph`: a matrix of lengths, dense or of scipy.sparse, or a list of edges,
    (i, j) or (i, j, length); then the distance is that of the shortest way. Without either they lie where those who use
    it say: the environment, a belief, a study. `distance` is that of a kernel: "euclidean", "cityblock", or for
    latitudes and longitudes "great_circle", in km. To stay costs nothing.

    >>> moves = Moves(per_move=2.0, per_distance=0.5, coordinates=[0.0, 3.0, 7.0])
    >>> moves.cost(0, 1), moves.row(0, arms=3)
    (3.5, array([0. , 3.5, 5.5]))
    >>> Moves(per_distance=1.0, graph=[(0, 1), (1, 2)]).cost(0, 2)
    2.0
    """

    per_move: float = 0.0
    per_distance: float = 0.0
    coordinates: Any = None
    graph: Any = None
    distance: Distance = "euclidean"

    def __post_init__(self) -> None:
        for name in ("per_move", "per_distance"):
            checks.set_field(self, name, checks.number(name, getattr(self, name), least=0))
        Exponential(1.0, distance=self.distance)  # refuses a distance that there is not
        if self.coordinates is not None and self.graph is not None:
            raise ValueError("arms lie at coordinates or on a graph, got both. Leave one of them out.")
        if self.coordinates is not None:
            places = checks.points("coordinates", self.coordinates)
            checks.set_field(self, "coordinates", tuple(map(tuple, places.tolist())))
            self._from(0)  # refuses a distance that does not fit
        if self.graph is not None:
            checks.set_field(self, "graph", edges_of(self.graph))
            refuse_parts(self.graph)

    @property
    def free(self) -> bool:
        """Whether no move costs anything."""
        return not (self.per_move or self.per_distance)

    def cost(self, start: int, end: int) -> float:
        """Return what it costs to go from one arm to another."""
        most = self._places or checks.MOST
        return float(self.along(np.array([checks.arm(start, most), checks.arm(end, most)]))[0])

    def row(self, start: int, arms: int, where: Array | None = None) -> Array:
        """Return what it costs to go from an arm to each of so many, which lie `where` if nothing else was said."""
        start = checks.arm(start, self.fitting(arms))
        costs = np.full(arms, self.per_move)
        if self.per_distance:
            costs += self._of(self._from(start, where))
        costs[start] = 0.0
        return held(costs)

    def table(self, arms: int, where: Array | None = None) -> Array:
        """Return what it costs to go from each of so many arms to each, which lie `where` if nothing else was said.

        >>> Moves(per_move=1.0, per_distance=2.0, coordinates=[0.0, 3.0]).table(2)
        array([[0., 7.],
               [7., 0.]])
        """
        return np.array([self.row(start, arms, where) for start in range(self.fitting(arms))])

    def distances(self, arms: int, where: Array | None = None) -> Array:
        """Return how far it is from each of so many arms to each, which lie `where` if nothing else was said.

        >>> Moves(per_distance=2.0, graph=[(0, 1), (1, 2, 3.5)]).distances(3)
        array([[0. , 1. , 4.5],
               [1. , 0. , 3.5],
               [4.5, 3.5, 0. ]])
        """
        return np.array([self._from(start, where) for start in range(self.fitting(arms))])

    def along(self, arms: Integers, where: Array | None = None) -> Array:
        """Return what each step along a way costs: from its first arm to the second, and so on.

        >>> Moves(per_move=1.0, per_distance=2.0, coordinates=[0.0, 3.0]).along(np.array([0, 0, 1, 0]))
        array([0., 7., 7.])
        """
        start, end = arms[:-1], arms[1:]
        moved = start != end
        costs = np.where(moved, self.per_move, 0.0)
        for arm in np.unique(start[moved]).tolist() if self.per_distance else ():
            leaving = moved & (start == arm)
            costs[leaving] += self._of(self._from(arm, where)[end[leaving]])
        return held(costs)

    def placed(self, coordinates: Any) -> Moves:
        """Return what moves cost between arms at these places, unless it says already where they lie.

        >>> Moves(per_distance=2.0).placed([0.0, 3.0]).cost(0, 1)
        6.0
        """
        return self if self._places is not None else replace(self, coordinates=coordinates)

    def renumbered(self, order: Integers) -> Moves:
        """Return what moves cost between the same arms in another order: arm i is arm order[i] of before.

        >>> Moves(per_distance=1.0, coordinates=[0.0, 3.0, 7.0]).renumbered(np.array([2, 0, 1])).cost(0, 1)
        7.0
        """
        self.fitting(order.size)
        if self.graph is not None:
            return replace(self, graph=renumbered(self.graph, order))
        return self if self.coordinates is None else replace(self, coordinates=self._points[order])

    def fitting(self, arms: int) -> int:
        """Return the number of arms; refuse another than there are places for."""
        places = self._places
        if places is not None and places != arms:
            raise ValueError(
                f"moves must be between the {arms} arms there are, but they are between {places}. Give the coordinates "
                "or the graph of these arms."
            )
        return arms

    def _of(self, distances: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(self.per_distance * distances)

    @cached_property
    def _places(self) -> int | None:
        if self.graph is not None:
            return 1 + max(int(end) for _, end, _ in self.graph)
        return None if self.coordinates is None else len(self.coordinates)

    def _from(self, start: int, where: Array | None = None) -> Array:
        """Return the distance of each arm from one."""
        if self.graph is not None:
            return np.asarray(self._lengths[start])
        places = where if self.coordinates is None else self._points
        if places is None:
            raise ValueError(
                f"per_distance must go with places, got {self.per_distance:g} and arms that lie nowhere. Give Moves "
                "the coordinates of the arms, or their graph."
            )
        kernel = Exponential(1.0, distance=self.distance)
        return np.asarray(kernel.distances(places[start : start + 1], places)[0])

    @cached_property
    def _points(self) -> Array:
        return np.array(self.coordinates)

    @cached_property
    def _lengths(self) -> Lengths:
        return Lengths(self.graph, self._places or 0)

    def __repr__(self) -> str:
        said = [f"per_move={self.per_move:g}"] if self.per_move else []
        said += [f"per_distance={self.per_distance:g}"] if self.per_distance else []
        said += [f"graph of {self._places} arms"] if self.graph else []
        said += [f"{self._places} places"] if self.coordinates else []
        return f"Moves({', '.join(said)})"


def held(costs: Array) -> Array:
    """Return costs that a double can hold; refuse others."""
    if np.isfinite(costs).all():
        return costs
    raise OverflowError("moves cost more than a double can hold; measure costs and rewards in a larger unit.")
