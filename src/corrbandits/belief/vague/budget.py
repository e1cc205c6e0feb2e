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


STEPWISE = 50_000_000
"""Where mean rewards change and covariances under all parts are at most so many numbers, they are kept: 400 MB."""

MOST_AT_ONCE = 1_000
"""Of more arms no more rewards than this can be taken in: all of them must be conditioned on at once."""


def stepwise(parts: Parts) -> bool:
    """Return whether mean rewards change, and so few arms that rewards can be taken in one after the other."""
    return parts.rates is not None and len(parts) * parts.arms**2 <= STEPWISE


def refuse_too_many(parts: Parts, rewards: int) -> None:
    """Refuse more rewards of arms that change than can be computed with."""
    if parts.rates is not None and rewards > MOST_AT_ONCE and not stepwise(parts):
        raise MemoryError(
            f"at most {MOST_AT_ONCE:,} rewards of {parts.arms:,} arms that change can be taken in under {len(parts)} "
            f"parts, got {rewards:,}. Say parts=8, or take fewer arms, up to {int((STEPWISE / len(parts)) ** 0.5):,}."
        )


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
