"""What a user may say of a quantity: a number, an interval, or nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array

NINETY = NormalDist().inv_cdf(0.95)
"""A 90 % interval reaches so many deviations to both sides."""

FARTHEST = 1e140
"""What is said of a quantity is at most this, and at least 1 over this if it is positive: squares are doubles."""

Said = float | tuple[float, float] | None
"""A number: known. Two: a 90 % interval. None: not known."""


@final
@dataclass(frozen=True)
class Known:
    """What is known of a quantity, as a law: `centre` and `deviation`, of the logarithm if it must be positive.

    >>> float(known("sd", (1.0, 100.0), positive=True).quantile(0.5).round(9))
    10.0
    """

    centre: float
    deviation: float
    positive: bool

    def quantile(self, u: Any) -> Any:
        """Return what the quantity is below with probability u."""
        from scipy.special import ndtri

        value = self.centre + self.deviation * ndtri(u) if self.deviation else self.centre + 0 * u
        return np.exp(value) if self.positive else value


def known(name: str, said: Any, *, positive: bool) -> Known | None:
    """Return the law of what was said; refuse what is neither a number nor an interval.

    >>> known("mean", (20.0, 40.0), positive=False).centre
    30.0
    """
    if said is None:
        return None
    pair = checks.finite(name, said)
    if pair.shape not in ((), (2,)) or (positive and not (pair > 0).all()) or (pair.ndim and not pair[0] < pair[1]):
        above = " above 0" if positive else ""
        raise ValueError(
            f"{name} must be a number{above}, a 90 % interval (least, most){above}, or None if it is not known, "
            f"got {said!r:.60}."
        )
    if positive and not (pair.min() >= 1 / FARTHEST and pair.max() <= FARTHEST):
        raise ValueError(
            f"{name} must lie between {1 / FARTHEST:g} and {FARTHEST:g}, got {said!r:.60}. Take other units."
        )
    if np.abs(pair).max() > FARTHEST:
        raise ValueError(f"{name} must lie between {-FARTHEST:g} and {FARTHEST:g}, got {said!r:.60}. Take other units.")
    if not pair.ndim:
        return Known(math.log(pair.item()) if positive else pair.item(), 0.0, positive)
    low, high = (math.log(x) if positive else x for x in pair.tolist())
    return Known((low + high) / 2, (high - low) / 2 / NINETY, positive)


def said(name: str, value: Any) -> Said:
    """Return a statement in the form in which it is stored: None, a number, or a pair of numbers."""
    if value is None:
        return None
    pair: Array = checks.finite(name, value)
    return pair.item() if not pair.ndim else (pair[0].item(), pair[1].item())


def said_each(name: str, value: Any) -> tuple[Said, ...] | None:
    """Return statements on each of several quantities, in the form in which they are stored; None if there are none.

    >>> said_each("length", [3, None, (1, 2)])
    (3.0, None, (1.0, 2.0))
    """
    if value is None:
        return None
    return tuple(said(name, one) for one in (value if isinstance(value, (list, tuple)) else [value]))
