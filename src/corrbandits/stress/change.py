"""What a stress test says of mean rewards that change with time, and of a prior that lets them drift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corrbandits._shell.numbers import number
from corrbandits.stress.factors import DRIFT_NOUN, about_factor, varies
from corrbandits.stress.findings import NEITHER, Found, alike
from corrbandits.stress.settings import DRIFT

NOT_PLAYED = "Elimination and refitting are for means that stay, so they were not played."

BEST_OF_EACH_TIME = "Mean rewards change with time, and the regret is measured against the best arm of each time."


def drifts(about: Mapping[str, Any]) -> bool:
    """Return whether the prior of a test lets the means drift; `about` are the test's attributes."""
    return DRIFT in about


def about_change(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return what the regret is measured against where mean rewards change, and who takes them for fixed."""
    changes = bool(about.get("truth_changes"))
    said = [BEST_OF_EACH_TIME] if changes else []
    if not drifts(about):
        fixed = "Your prior takes them for fixed, and so do all whom it is measured against; a drifting one would not."
        return [*said, fixed] if changes else []
    if not changes:
        said.append("Mean rewards stay as they are here, though your prior lets them drift.")
    learns = "" if found["vague"] is None else ", and who is told nothing learns how fast they drift"
    others = f"The uninformative prior takes the means for fixed; independent arms drift with your scale{learns}."
    return [*said, others]


def about_drift(found: Found, about: Mapping[str, Any]) -> list[str]:
    """Return where the scale of the drift is safe, and what it costs to take the means for fixed."""
    said = [about_factor(found, DRIFT, DRIFT_NOUN, about[DRIFT])] if varies(found, DRIFT) else []
    if found["fixed"] is not None:
        said.append(f"To take the means for fixed {_cost(found['fixed'], found['given'])}.")
    return said


def _cost(fixed: float, given: float) -> str:
    """Return what one regret is beside another, in words.

    >>> _cost(640.0, 320.0), _cost(5.0, 0.0)
    ('costs 2 times the regret: 640 in place of 320', 'costs 5 in place of 0')
    """
    both = f"{number(fixed)} in place of {number(given)}"
    if alike(fixed, given):
        return f"{NEITHER}: {both}"
    if fixed < given:
        return f"saves {number(100 * (given - fixed) / given)} % of the regret: {both}"
    return f"costs {number(fixed / given)} times the regret: {both}" if given else f"costs {both}"
