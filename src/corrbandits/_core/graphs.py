"""Arms on a graph: its edges as plain values, and the shortest ways along them.

name       shape     meaning
edges      (E,)      (i, j, length), i < j, each once, in order; both ways are the same
lengths    (N, N)    the length of the shortest way from each arm to each
next_arm   (N, N)    the arm after i on the shortest way from i to j; i itself where j is i
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen

Edge = tuple[int, int, float]
Edges = tuple[Edge, ...]

LARGEST = 1e300
"""The longest edge: ways of many add up to a double."""

KEPT = 10_000_000
"""So many lengths of ways are kept, of those computed last."""

EXAMPLE = "a matrix of lengths, dense or of scipy.sparse, or a list of edges such as [(0, 1), (1, 2)]"


def edges_of(graph: Any) -> Edges:
    """Return the edges of a graph that is given as a matrix of lengths, or as a list of (i, j) or (i, j, length).

    In a matrix, dense or of scipy.sparse, 0 is for no edge.

    >>> edges_of([(1, 0), (1, 2, 3.5)])
    ((0, 1, 1.0), (1, 2, 3.5))
    >>> edges_of(np.array([[0.0, 2.0], [2.0, 0.0]]))
    ((0, 1, 2.0),)
    """
    rows = [_edge(row) for row in _listed(graph)]
    found: dict[tuple[int, int], float] = {}
    for start, end, length in rows:
        if found.setdefault((start, end), length) != length:
            raise ValueError(
                f"an edge of a graph must have one length, but between arms {start} and {end} there are "
                f"{found[start, end]:g} and {length:g}. Both ways must be as long."
            )
    if not found:
        raise ValueError("a graph must have an edge at least, got none.")
    return tuple((start, end, length) for (start, end), length in sorted(found.items()))


def refuse_parts(edges: Edges) -> None:
    """Refuse a graph that does not lead from every arm to every other.

    >>> refuse_parts(edges_of([(0, 1), (1, 2)]))
    """
    lost = cut_off(edges, 1 + max(end for _, end, _ in edges))
    if lost is not None:
        raise _in_parts(lost)


def _in_parts(lost: int) -> ValueError:
    return ValueError(
        f"a graph must lead from every arm to every other, but not from arm 0 to arm {lost}. Add the edges between."
    )


def cut_off(edges: Edges, arms: int) -> int | None:
    """Return one of so many arms to which no way leads from arm 0, or None.

    >>> cut_off(edges_of([(0, 1), (2, 3)]), arms=4)
    2
    """
    from scipy.sparse.csgraph import connected_components

    named = {arm for start, end, _ in edges for arm in (start, end)}
    if len(named) < arms:  # before a matrix is made of so many
        return next(arm for arm in range(1, arms) if arm not in named or 0 not in named)
    number, part = connected_components(_matrix(edges, arms), directed=False)
    return int((part != part[0]).argmax()) if number > 1 else None


def renumbered(edges: Edges, order: Integers) -> Edges:
    """Return the edges of the same arms in another order: arm i is arm order[i] of before.

    >>> renumbered(edges_of([(0, 1), (1, 2, 3.5)]), np.array([1, 2, 0]))
    ((0, 1, 3.5), (0, 2, 1.0))
    """
    new = np.argsort(order).tolist()
    return edges_of([(new[start], new[end], length) for start, end, length in edges])


def shortest_ways(edges: Edges, arms: int) -> tuple[Array, Integers]:
    """Return the lengths of the shortest ways between so many arms, and the next arm on each.

    >>> lengths, next_arm = shortest_ways(edges_of([(0, 1), (1, 2), (2, 3)]), arms=4)
    >>> lengths[0], next_arm[0]
    (array([0., 1., 2., 3.]), array([0, 1, 1, 1]))
    """
    from scipy.sparse.csgraph import dijkstra

    lengths, before = dijkstra(_matrix(edges, arms), directed=False, return_predecessors=True)
    if np.isinf(lengths).any():
        raise _in_parts(int(np.isinf(lengths[0]).argmax()))
    next_arm = before.T.astype(np.int64)  # the arm before i on the way from j
    np.fill_diagonal(next_arm, np.arange(arms))
    return frozen(lengths), frozen(next_arm)


@final
class Lengths:
    """The lengths of the shortest ways from an arm to each of so many, computed for those that are asked for.

    >>> Lengths(edges_of([(0, 1), (1, 2, 3.5)]), arms=3)[2]
    array([4.5, 3.5, 0. ])
    """

    def __init__(self, edges: Edges, arms: int) -> None:
        self._matrix, self._rows = _matrix(edges, arms), dict[int, Array]()

    def __getitem__(self, start: int) -> Array:
        from scipy.sparse.csgraph import dijkstra

        if start not in self._rows:
            if len(self._rows) * self._matrix.shape[0] > KEPT:
                self._rows.clear()
            self._rows[start] = frozen(dijkstra(self._matrix, directed=False, indices=start))
        return self._rows[start]


def _matrix(edges: Edges, arms: int) -> Any:
    """Return the lengths of edges as a sparse matrix, above its diagonal."""
    from scipy.sparse import coo_array

    start, end, length = (np.array(column) for column in zip(*edges, strict=True))
    if end.max() >= arms:
        raise ValueError(f"a graph must be of the {arms} arms there are, but it names arm {end.max()}.")
    return coo_array((length, (start, end)), shape=(arms, arms)).tocsr()


def _listed(graph: Any) -> Any:
    """Return the rows of a graph."""
    if isinstance(graph, np.ndarray) and graph.ndim == 2:
        from scipy.sparse import coo_array

        graph = coo_array(checks.finite("a graph", graph))
    if hasattr(graph, "tocoo"):
        sparse = graph.tocoo()
        if sparse.shape[0] != sparse.shape[1]:
            raise ValueError(f"a graph must be a square matrix, one row per arm, but its shape is {sparse.shape}.")
        apart = sparse.row != sparse.col
        return zip(sparse.row[apart].tolist(), sparse.col[apart].tolist(), sparse.data[apart].tolist(), strict=True)
    if isinstance(graph, (str, dict)) or not hasattr(graph, "__iter__"):
        raise TypeError(f"a graph must be {EXAMPLE}, got {graph!r:.60}.")
    return graph


def _edge(row: Any) -> Edge:
    """Return an edge, its arms in order."""
    if not isinstance(row, (tuple, list)) or len(row) not in (2, 3):
        raise TypeError(f"an edge of a graph must be (i, j) or (i, j, length), got {row!r:.60}.")
    start, end = (checks.integer("an arm of a graph", arm, least=0) for arm in row[:2])
    length = checks.number("the length of an edge", row[2] if len(row) == 3 else 1.0, above=0, up_to=LARGEST)
    if start == end:
        raise ValueError(f"an edge of a graph must lead from an arm to another, got {row!r:.60}.")
    return min(start, end), max(start, end), length
