"""What a notebook shows of a belief."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell import notebook
from corrbandits._shell.numbers import counted, number

if TYPE_CHECKING:
    from corrbandits.belief.base import Belief

MOST = 6  # arms in the table


def shown(belief: Belief) -> str:
    """Return a belief as HTML: how much it has seen, a picture of its means, and its best arms."""
    known = np.isfinite(belief.variance)
    mean, deviation = np.where(known, belief.mean, np.nan), np.where(known, belief.deviation, np.nan)
    order = np.argsort(np.where(known, -belief.mean, np.inf), kind="stable")[:MOST].tolist()
    rows = [(str(k), number(mean[k], 4), number(deviation[k]), f"{belief.counts[k]:,}") for k in order]
    title = f"{type(belief).__name__}: {counted(belief.arms, 'arm')}, {counted(int(belief.counts.sum()), 'reward')}"
    some = (
        f"{MOST} of {belief.arms:,} arms, the largest means first" if belief.arms > MOST else "the largest means first"
    )
    best = order[0] if known.any() and belief.counts.any() else None
    table = notebook.table(("arm", "mean", "sd", "rewards"), rows)
    return notebook.block(title, picture(belief.coordinates, mean, deviation, best), f"<p>{some}</p>", table)


def picture(coordinates: Array | None, mean: Array, deviation: Array, best: int | None) -> str:
    """Return a map, or a line with a band, of means; "" where nobody knows where arms lie, or nothing is known."""
    if coordinates is None or np.isnan(mean).all():
        return ""
    where = np.asarray(coordinates, dtype=float).reshape(mean.size, -1)
    if where.shape[1] == 1:
        return notebook.strip(where[:, 0], mean, deviation, "the mean reward along the line, and two deviations")
    if where.shape[1] > 2:
        return ""
    return notebook.field(where[:, 0], where[:, 1], mean, "a map of the mean reward", best)
