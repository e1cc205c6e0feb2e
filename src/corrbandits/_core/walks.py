"""Places in an order in which they can be walked.

name     shape             meaning
costs    (n + 1, n + 1)    what it costs to go from place to place, the same both ways; place 0 is where one is
"""

from __future__ import annotations

from corrbandits._core.checks import Array

MOST_TURNED = 200
"""Ways of more places are not looked through for crossings."""


def walked(costs: Array) -> list[int]:
    """Return places 1 to n in an order to walk from place 0: always on to the nearest, then crossings undone.

    >>> from numpy import abs, array, subtract
    >>> at = array([0.0, 5.0, 1.0, 3.0])
    >>> walked(abs(subtract.outer(at, at)))
    [2, 3, 1]
    """
    order, left = [0], list(range(1, len(costs)))
    while left:
        order.append(min(left, key=lambda place: (costs[order[-1], place], place)))
        left.remove(order[-1])
    while len(order) <= MOST_TURNED and _turned(order, costs):
        pass
    return order[1:]


def _turned(order: list[int], costs: Array) -> bool:
    """Turn a stretch of the way round if that makes it cheaper; return whether one was found."""
    for i in range(1, len(order) - 1):
        for j in range(i + 1, len(order)):
            before, first, last = order[i - 1], order[i], order[j]
            gain = costs[before, first] - costs[before, last]
            if j + 1 < len(order):
                gain += costs[last, order[j + 1]] - costs[first, order[j + 1]]
            if gain > 1e-9 * costs[first, last]:
                order[i : j + 1] = order[i : j + 1][::-1]
                return True
    return False
