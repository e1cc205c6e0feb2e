"""How fast mean rewards change: what a user may say of it, and what it is under each part.

Mean rewards about their common mean, which stays, follow a stationary Ornstein-Uhlenbeck process: the correlation of
two of them, R in space, is R exp(-|t - t'| / scale) at times t and t'.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief.vague.known import known, said
from corrbandits.belief.vague.lengths import log_uniform

UNKNOWN = (5.0, 5_000.0)
"""The scale of which nothing is known: log-uniform in this range, in decisions or, in a study, in days; or infinite."""

STILL = 0.25
"""The probability that it is infinite, and nothing changes."""

Drift = bool | float | tuple[float, float] | None
"""True: not known. A number: known. Two: a 90 % interval. None or False: nothing changes."""


def drift_in(given: Any) -> Drift:
    """Return what was said in the form in which it is stored, None if nothing changes; refuse what makes no sense.

    >>> drift_in(True), drift_in(40), drift_in([20, 80]), drift_in(False), drift_in(np.inf)
    (True, 40.0, (20.0, 80.0), None, inf)
    """
    if given is None or isinstance(given, (bool, np.bool_)):
        return True if given else None
    if isinstance(given, (int, float)) and given == math.inf:
        return math.inf
    try:
        known("drift", given, positive=True)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "drift must be the time in which rewards change, a number above 0 or a 90 % interval (least, most), or "
            f"true if it is not known, got {given!r:.60}. After that time the correlation of an arm's mean reward with "
            "itself has fallen to 37 %. Leave it out if nothing changes."
        ) from None
    return said("drift", given)


def unknown(drift: Drift) -> bool:
    """Return whether parts differ in how fast mean rewards change."""
    return drift is True or isinstance(drift, tuple)


def rates_of(drift: Drift, u: Array) -> Array | None:
    """Return 1 / scale under each part, from numbers that are spread evenly; None if nothing changes.

    >>> rates_of(True, np.array([0.1, 0.25, 0.9999])).round(4)
    array([0.    , 0.2   , 0.0002])
    """
    if drift is None:
        return None
    if drift is True:
        moving = log_uniform(np.maximum(u - STILL, 0.0) / (1 - STILL), *UNKNOWN)
        return np.where(u < STILL, 0.0, 1 / moving)
    if drift == math.inf:
        return np.zeros(u.size)
    law = known("drift", drift, positive=True)
    assert law is not None
    return np.asarray(1 / law.quantile(u))


def scales_of(rates: Array) -> Array:
    """Return the scales, inf where nothing changes."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / rates)


def drift_in_words(drift: Drift, unit: str = "") -> str:
    """Return what was said of the change, in a unit of time if it has one.

    >>> drift_in_words(True), drift_in_words(40.0), drift_in_words((20.0, 80.0), "days")
    ('that rewards may change', 'that rewards change within 40', 'that rewards change within 20 to 80 days')
    """
    if isinstance(drift, bool) or drift is None:
        return "that rewards may change" if drift else "that nothing changes"
    within = f"{drift[0]:g} to {drift[1]:g}" if isinstance(drift, tuple) else f"{drift:g}"
    return f"that rewards change within {within} {unit}".rstrip()
