"""Why to go there, in one sentence for whoever stands in the field."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from corrbandits._shell.numbers import counted, number
from corrbandits.study.report.lattice import across_and_up, shrink

if TYPE_CHECKING:
    from corrbandits.study import Explanation, Snapshot


NEAR = 2
"""So many steps to the nearest site, at most, for one that did well to be called near."""


def sentence(found: Explanation, snapshot: Snapshot) -> str:
    """Return in one sentence why an arm was chosen, from what was known then."""
    if found.opening:
        if found.history:
            return "It did best in earlier seasons" + (", of what is not measured yet." if found.t > 1 else ".")
        if not found.places:
            return "To begin with: it is the first of those tried least."
        if found.t > 1:
            return "To see a part that nobody has measured yet: it lies far from what was tried."
        near = found.way is not None
        return f"To begin with: it {'costs least to reach' if near else 'lies in the middle of all sites'}."
    return f"{_promise(found, snapshot)}{'; what the way there costs is weighed' if found.way else ''}."


def _promise(found: Explanation, snapshot: Snapshot) -> str:
    """Return what is expected of the arm, and how it stands among others."""
    unit = f" {snapshot.settings.unit}" if getattr(snapshot.settings, "unit", None) else ""
    level = f"{number(found.chosen.mean, 3)} ± {number(found.chosen.deviation, 2)}{unit}"
    if not math.isfinite(found.chosen.deviation):
        return "Nothing is known of it yet"
    if found.initial:
        return f"Each site is tried once to begin with; of this one least is known: {level}"
    if found.mean_rank == 1:
        return f"The most promising of all: {level}{_near(found, snapshot)}"
    if found.rank == 1 or found.rank is None:
        return f"The most promising of what is still uncertain: {level}{_near(found, snapshot)}"
    return f"Among the most promising: {level}{_near(found, snapshot)}"


def _near(found: Explanation, snapshot: Snapshot) -> str:
    """Return which good site with rewards lies near, or how often the arm itself was measured."""
    arm, counts = found.chosen.arm, snapshot.belief.counts
    if counts[arm]:
        return f", measured {counted(int(counts[arm]), 'time')} so far"
    places = across_and_up(snapshot.arms)
    if places is None or not counts.any():
        return ""
    across, up = places[0] * shrink(snapshot.arms), places[1] if places[1] is not None else np.zeros(counts.size)
    apart = np.hypot(across - across[arm], up - up[arm])
    step = np.partition(apart[apart > 0], 0)[0] if (apart > 0).any() else 0.0
    sign = 1.0 if snapshot.settings.goal == "max" else -1.0
    means = sign * snapshot.belief.mean
    good = (counts > 0) & (apart <= (NEAR + 0.01) * step) & (means > np.median(means))
    if not good.any():
        return ""
    return f", near {snapshot.arms.name(int(np.where(good, means, -np.inf).argmax()))}, which did well"
