"""Places in an order to walk: each time on to the nearest that is left, then crossings undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.study import Trial
from corrbandits.study.arms import Arms

MOST_MENDED = 200
"""Of longer walks, crossings are left."""


def in_order(arms: Arms, trials: Sequence[Trial], start: Mapping[str, float] | None) -> list[Trial]:
    """Return trials in an order to walk, from a place or from the first of them; as they are where places are unknown.

    >>> arms = Arms.of({"x": [0.0, 9.0, 1.0, 8.0], "y": [0.0, 0.0, 0.0, 0.0]})
    >>> [trial.arm for trial in in_order(arms, [Trial(k + 1, k, str(k)) for k in range(4)], {"x": 0.0, "y": 1.0})]
    [0, 2, 3, 1]
    """
    if start is None or arms.coordinates is None or len(trials) < 2:
        return list(trials)
    points = arms.coordinates[[trial.arm for trial in trials]]
    first = np.array([start[axis] for axis in arms.axes])
    if "latitude" in arms.axes:
        shrink = np.where(
            np.array(arms.axes) == "longitude", np.cos(np.radians(first[arms.axes.index("latitude")])), 1.0
        )
        points, first = points * shrink, first * shrink
    return [trials[k] for k in _walk(np.vstack([first, points]))]


def refuse_start(arms: Arms, start: Mapping[str, float] | None) -> None:
    """Refuse a place that does not say where on each axis, and no more."""
    if start is not None and set(start) != set(arms.axes):
        axes = " and ".join(arms.axes) or "nothing: its arms lie nowhere"
        raise ValueError(f"near must say a place of this study, by {axes}, got {', '.join(start)!r:.60}.")


def _walk(points: Array) -> list[int]:
    """Return the order of the points after the first, which is where one stands."""
    far = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    left, order = set(range(1, len(points))), [0]
    while left:
        order.append(min(left, key=lambda k: (far[order[-1], k], k)))
        left.remove(order[-1])
    if len(order) <= MOST_MENDED:
        _mend(order, far)
    return [k - 1 for k in order[1:]]


def _mend(order: list[int], far: Array) -> None:
    """Turn parts of a walk round for as long as that makes it shorter."""
    better = True
    while better:
        better = False
        for i in range(1, len(order) - 1):
            for j in range(i + 1, len(order)):
                before, first, last = order[i - 1], order[i], order[j]
                after = order[j + 1] if j + 1 < len(order) else None
                old = far[before, first] + (0 if after is None else far[last, after])
                new = far[before, last] + (0 if after is None else far[first, after])
                if new < old - 1e-12 * (1 + old):
                    order[i : j + 1] = order[i : j + 1][::-1]
                    better = True
