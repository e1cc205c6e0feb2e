"""Trials that are asked for at once, in an order to walk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corrbandits._core.walks import walked
from corrbandits._shell.numbers import number
from corrbandits.policies import Policy, Travelling, placed
from corrbandits.study.arms import Arms


def walk_in_words(policy: Policy, arms: Arms, chosen: Sequence[int], start: int | None) -> str:
    """Return in which order arms are best walked to from where one is; "" if that is not known, or is theirs.

    >>> from corrbandits import Gittins, Moves
    >>> sites = Arms.of({"name": ["mill", "ford", "brook"], "x": [0.0, 2.0, 9.0]})
    >>> walk_in_words(Travelling(Gittins(40), Moves(per_distance=0.5)), sites, [2, 0, 1], start=0)
    'In an order to walk: mill, ford, brook. These ways cost 4.5.'
    """
    minding = policy if arms.coordinates is None else placed(policy, arms.coordinates)
    if start is None or not isinstance(minding, Travelling) or minding.moves.free:
        return ""
    stops = np.array([start, *dict.fromkeys(chosen)])
    costs = np.array([minding.moves.row(stop, arms.count)[stops] for stop in stops.tolist()])
    order = stops[[0, *walked(costs)]]
    paid, as_chosen = (minding.moves.along(way).sum() for way in (order, stops))
    if paid >= as_chosen * (1 - 1e-9):
        return ""
    names = ", ".join(arms.name(arm) for arm in order[1:].tolist())
    return f"In an order to walk: {names}. These ways cost {number(float(paid), 6)}."
