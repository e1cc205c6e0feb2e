"""How much is computed: all parts, or the heaviest where arms and rewards are so many that all would take long."""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.parts import Parts

MUCH = 2e9
"""More products than this are much to compute: parts x arms x the square of how many were seen."""

SECOND = 6e9
"""So many products, and the correlations for them, take less than a second: if there are more, parts are left out."""

FEWEST = 8
"""But so many are kept."""

NEGLIGIBLE = 1e-3
"""Where there is much to compute, the lightest parts are left out, up to this share of the weight in all.

A thousandth of the weight moves means by a thousandth of a deviation or so; another choice of 48 parts, by more.
"""


def much(parts: Parts, seen: int) -> bool:
    """Return whether there is much to compute, so many arms having been seen."""
    return len(parts) * parts.arms * seen**2 > MUCH


def worth_keeping(parts: Parts, weights: Array, seen: int) -> Integers:
    """Return which parts are kept, given the weights of all: all of them, unless there is much to compute.

    It depends on what was seen alone, not on its order.
    """
    if not much(parts, seen):
        return np.arange(len(parts))
    order = np.argsort(-weights, kind="stable")
    heavy = int(np.count_nonzero(np.cumsum(weights[order]) < 1 - NEGLIGIBLE)) + 1
    affordable = max(int(SECOND / (parts.arms * seen**2)), FEWEST)
    return np.sort(order[: min(heavy, affordable)])
