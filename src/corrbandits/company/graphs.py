"""Who hears whom: graphs of players, and the weights by which neighbours average.

    name      shape     meaning                                                literature
    links     (M, M)    1 where two players hear each other, 0 elsewhere       A
    degrees   (M,)      how many neighbours each player has                    d_k
    weights   (M, M)    M times the matrix by which estimates are averaged     M P

P = I - (kappa / d_max) L, with L = diag(d) - A, is that of running consensus (Landgren, Srivastava and Leonard, 2016
and 2021). Without kappa it is I - L / (d_max + 1), the maximum-degree weights: on a complete graph these average all
players at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen


def complete(players: int) -> Integers:
    """Return links between all players.

    >>> complete(3).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    return np.ones((players, players), dtype=np.int64) - np.eye(players, dtype=np.int64)


def path(players: int) -> Integers:
    """Return links from each player to the next.

    >>> path(3).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    return np.eye(players, k=1, dtype=np.int64) + np.eye(players, k=-1, dtype=np.int64)


def ring(players: int) -> Integers:
    """Return links from each player to the next, and from the last to the first.

    >>> ring(4).tolist()
    [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    """
    links = path(players)
    if players > 2:
        links[0, -1] = links[-1, 0] = 1
    return links


def star(players: int) -> Integers:
    """Return links between the first player and every other.

    >>> star(3).tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    links = np.zeros((players, players), dtype=np.int64)
    links[0, 1:] = links[1:, 0] = 1
    return links


GRAPHS: dict[str, Callable[[int], Integers]] = {"complete": complete, "ring": ring, "star": star, "path": path}
"""The graphs that have a name."""


def links_of(graph: Any, players: int) -> Integers:
    """Return the links of a graph: one of the named ones, or a matrix of 0 and 1, dense or of scipy.sparse.

    >>> links_of("ring", 3).sum(), links_of([[0, 1], [1, 0]], 2).sum()
    (np.int64(6), np.int64(2))
    """
    if isinstance(graph, str):
        if graph not in GRAPHS:
            raise ValueError(f"graph must be {', '.join(GRAPHS)} or a matrix of links, got {graph!r:.60}.")
        return frozen(GRAPHS[graph](players))
    given = checks.finite("graph", graph.toarray() if hasattr(graph, "toarray") else graph)
    if given.shape != (players, players):
        raise ValueError(f"graph must have {players} rows and columns, one per player, but its shape is {given.shape}.")
    if not np.isin(given, (0.0, 1.0)).all() or given.diagonal().any() or (given != given.T).any():
        raise ValueError(
            "graph must be 1 where two players hear each other and 0 elsewhere, the same both ways, with 0 on the "
            "diagonal. Give the adjacency matrix of an undirected graph without weights."
        )
    return frozen(given.astype(np.int64))


def averaging(links: Integers, kappa: float | None) -> Array:
    """Return M P, whole numbers where P averages all players at once.

    >>> averaging(complete(3), None).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    >>> (averaging(path(3), kappa=0.5) / 3).tolist()
    [[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]
    """
    players, degrees = len(links), links.sum(axis=1)
    most = max(int(degrees.max()), 1)
    step = players / (most + 1) if kappa is None else players * kappa / most
    return frozen(step * links + np.diag(players - step * degrees))
