"""What is tried on a prior: kinds of inaccuracy and factors, alone and in pairs.

factor       what the number does to the prior                                      as given   its symbol
shift        it is added to every mean                                              0          mu0 + x
scale        it multiplies the distance of every mean from their average            1          -
noise        normal noise of this deviation is added to the means                   0          mu0 + x z
swap         each mean m goes this share of the way to highest + lowest - m         0          -
drift        it multiplies the scale of the drift; inf takes the means for fixed    1          -
confidence   it multiplies the prior's variances                                    1          sigma_0^2, 1 / delta^2
length       it multiplies the lengths assumed in the kernel                        1          length scale
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core import checks

AS_GIVEN = {"shift": 0.0, "scale": 1.0, "noise": 0.0, "swap": 0.0, "drift": 1.0}
KINDS = tuple(AS_GIVEN)
"""The ways in which a prior's means are made wrong; the first is the one of the pair grids, unless told otherwise."""

DRIFT = "drift"
"""The one among them that only a prior that drifts can be wrong in."""

FACTORS = (DRIFT, "confidence", "length")
"""What is multiplied: its values lie evenly on a logarithmic axis."""

IN_SPREADS = {"shift": (-2.0, -1.0, 0.0, 1.0, 2.0), "noise": (0.0, 0.5, 1.0, 2.0, 4.0)}
"""Numbers tried by default, times the spread of the true means."""

PLAIN = {
    "scale": (-1.0, 0.0, 0.5, 1.0, 2.0),
    "swap": (0.0, 0.25, 0.5, 0.75, 1.0),
    DRIFT: (0.1, 0.3162, 1.0, 3.162, 10.0, math.inf),
}
CONFIDENCE = (0.01, 0.1, 1.0, 10.0, 100.0)
LENGTH = (0.1, 0.3162, 1.0, 3.162, 10.0)


class Setting(NamedTuple):
    """One wrong prior: how its means are changed and by how much, and the factors on its variance and length."""

    kind: str
    accuracy: float
    confidence: float = 1.0
    length: float = 1.0

    @property
    def as_given(self) -> bool:
        """Whether the means are those of the prior as it was given."""
        return self.accuracy == AS_GIVEN[self.kind]

    @property
    def drift(self) -> float:
        """The factor on the scale of the drift."""
        return self.accuracy if self.kind == DRIFT else 1.0


def settings(
    accuracy: Mapping[str, Sequence[float]], confidence: Sequence[float], length: Sequence[float]
) -> list[Setting]:
    """Return every setting once: the three pair grids of the first kind, then the curves of the other kinds.

    The prior as it was given is listed under the first kind alone.

    >>> len(settings({"shift": [-1.0, 0.0], "noise": [0.0, 1.0]}, [0.1, 1.0], [1.0, 2.0]))
    8
    """
    first, *others = accuracy
    grids = (
        product(accuracy[first], confidence, (1.0,)),
        product(accuracy[first], (1.0,), length),
        product((AS_GIVEN[first],), confidence, length),
    )
    paired = (Setting(first, *values) for grid in grids for values in grid)
    alone = (Setting(kind, x) for kind in others for x in accuracy[kind] if x != AS_GIVEN[kind])
    return list(dict.fromkeys((*paired, *alone)))


def corners(
    accuracy: Mapping[str, Sequence[float]], confidence: Sequence[float], length: Sequence[float]
) -> list[Setting]:
    """Return the corners of the grid of accuracy and length; without several lengths, of accuracy and confidence.

    >>> [corner[1:] for corner in corners({"shift": [-9.0, 0.0, 9.0]}, [1.0, 10.0], [0.1, 1.0])]
    [(-9.0, 1.0, 0.1), (-9.0, 1.0, 1.0), (9.0, 1.0, 0.1), (9.0, 1.0, 1.0)]
    """
    first = next(iter(accuracy))
    ends = dict.fromkeys((min(accuracy[first]), max(accuracy[first])))
    if len(length) > 1:
        return [Setting(first, x, 1.0, y) for x in ends for y in (min(length), max(length))]
    return [Setting(first, x, y, 1.0) for x in ends for y in dict.fromkeys((min(confidence), max(confidence)))]


def kinds_of(drifts: bool) -> tuple[str, ...]:
    """Return every way in which the means of a prior can be wrong, if it drifts and if it does not."""
    return tuple(kind for kind in KINDS if drifts or kind != DRIFT)


def varied(kinds: Any, accuracy: Any, spread: float, *, drifts: bool) -> dict[str, list[float]]:
    """Return the numbers to try of each kind of inaccuracy: those given, or else the default ones."""
    names = list(kinds_of(drifts) if kinds is None else [kinds] if isinstance(kinds, str) else kinds)
    if not names or not set(names) <= set(KINDS) or len(set(names)) < len(names):
        raise ValueError(f"kinds must be some of {', '.join(KINDS)}, each once, got {kinds!r:.60}.")
    if DRIFT in names and not drifts:
        raise ValueError(
            "the kind drift makes the scale of a drift wrong, but the prior takes the means for fixed. Take one that "
            'drifts, kind = "drifting" in a file and drift=... in Python, or leave drift out of kinds.'
        )
    given = accuracy if isinstance(accuracy, Mapping) else {} if accuracy is None else {names[0]: accuracy}
    if stray := [kind for kind in given if kind not in names]:
        raise ValueError(f"accuracy must be of the kinds {', '.join(names)}, got {stray[0]!r:.60}.")
    defaults = {kind: [x * spread for x in factors] for kind, factors in IN_SPREADS.items()} | PLAIN
    return {kind: numbers_to_try("accuracy", given.get(kind, defaults[kind]), AS_GIVEN[kind], kind) for kind in names}


def numbers_to_try(name: str, values: Any, as_given: float, kind: str = "") -> list[float]:
    """Return numbers in order, each once, with the one that leaves the prior as it was given."""
    found = checks.numbers(name, values) if kind == DRIFT else checks.finite(name, values)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} must be a list of numbers such as [0.5, 1.0, 2.0], got {values!r:.60}.")
    if (name != "accuracy" or kind == DRIFT) and not (found > 0).all():
        of_kind = " for the kind drift" if kind == DRIFT else ""
        raise ValueError(f"{name} must be factors above 0{of_kind}, such as [0.1, 1.0, 10.0], got {found.min():g}.")
    if kind == "noise" and (found < 0).any():
        raise ValueError(f"{name} must be deviations of at least 0 for the kind noise, got {found.min():g}.")
    if kind == "swap" and ((found < 0) | (found > 1)).any():
        raise ValueError(f"{name} must be shares from 0 to 1 for the kind swap, got {found.tolist()}.")
    return [float(x) + 0.0 for x in np.unique(np.append(found, as_given))]
