"""What a stress test says of the factors on the variance, the length and the scale of the drift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corrbandits._shell.numbers import counted, number
from corrbandits.stress.findings import NO_VERDICT, Found
from corrbandits.stress.settings import DRIFT

DRIFT_NOUN = "scale of the drift"


def safe_words(found: Found, about: Mapping[str, Any]) -> str:
    """Return where the length is safe, or the variance if there is no length, and the scale of a drift."""
    if varies(found, "length"):
        said = f"a length of {_range(found, 'length', about.get('assumed_length'))}"
    else:
        said = f"a variance of {_range(found, 'confidence', about.get('variance'))}"
    return f"{said}, and a {DRIFT_NOUN} of {_range(found, DRIFT, about[DRIFT])}" if varies(found, DRIFT) else said


def _range(found: Found, factor: str, unit: float | None) -> str:
    """Return where a factor is safe, in its own unit if it has one."""
    low, high = found[f"{factor}_low"], found[f"{factor}_high"]
    tried, own = found[f"{factor}_tried"], 1.0 if unit is None else unit
    times = " times yours" if unit is None else ""
    if found["verdict"] == NO_VERDICT:
        return f"{number(tried[0] * own)} to {number(tried[1] * own)}{times} was tried"
    if low is None:
        return f"{number(tried[0] * own)} to {number(tried[1] * own)}{times} is nowhere safe"
    ends = {(True, True): ", all that was tried,", (True, False): ", from the least that was tried,"}
    ends[False, True] = ", the most that was tried,"
    return f"{number(low * own)} to {number(high * own)}{times}{ends.get(found[f'{factor}_to_the_end'], '')} is safe"


def varies(found: Found, factor: str) -> bool:
    """Return whether several values of a factor were tried."""
    low, high = found.get(f"{factor}_tried", (1.0, 1.0))
    return bool(low < high)


def about_factor(found: Found, factor: str, noun: str, unit: float | None) -> str:
    """Return where a factor is safe, and its best value."""
    best = found[f"{factor}_best"] * (1.0 if unit is None else unit)
    steps, own = found[f"{factor}_best_initial"], found["initial"]
    why = f", with {counted(steps, 'decision')} of initialisation instead of {number(own)}" if steps != own else ""
    if why and not steps:
        why = f", by skipping initialisation, which takes {counted(own, 'decision')} with yours"
    return f"A {noun} of {_range(found, factor, unit)}; {number(best)}{'' if unit else ' times'} was best{why}."


def about_length(found: Found, about: Mapping[str, Any]) -> str:
    """Return where the length is safe, or why it was not varied."""
    if not varies(found, "length"):
        why = "" if about.get("has_kernel") else ": a covariance without a kernel has no length"
        return f"The correlation scale was not varied{why}."
    return about_factor(found, "length", "length", about.get("assumed_length"))
