"""Moves counted: how many there were, and what they cost."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.moves import Moves, held


@final
class Walk:
    """The moves of one run; the first decision is none, wherever it leads.

    >>> walk = Walk(Moves(per_move=2.0))
    >>> walk.along(np.array([1, 1, 0])), walk.along(np.array([0, 3]))
    ((array([0, 0, 1]), array([0., 0., 2.])), (array([1, 2]), array([2., 4.])))
    """

    def __init__(self, moves: Moves, where: Array | None = None) -> None:
        """Begin a run on arms that lie `where`, if the moves do not say it."""
        self._moves, self._where = moves, where
        self._at: int | None = None
        self._number, self._cost = 0, 0.0

    def along(self, arms: Integers) -> tuple[Integers, Array]:
        """Return the number of moves and their cost after each of the next decisions."""
        way = np.append(arms[0] if self._at is None else self._at, arms).astype(np.int64)
        number = self._number + np.cumsum(np.diff(way) != 0)
        costs = self._moves.along(way, self._where)
        with np.errstate(over="ignore"):
            cost = held(np.cumsum(np.append(self._cost, costs))[1:])  # one after the other: the bits of one sum
        self._at, self._number, self._cost = int(way[-1]), int(number[-1]), float(cost[-1])
        return number, cost
