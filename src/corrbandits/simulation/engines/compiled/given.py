"""Which arm the initialisation phase takes: parts of the loops."""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.state import Steps


@part
def pending_arm(d: Array, thresholds: Array) -> int:
    """Return the arm of largest variance among those strictly above their threshold, or -1 (initialisation)."""
    arm, most = -1, -np.inf
    for i in range(d.size):
        if d[i] > thresholds[i] and d[i] > most:
            arm, most = i, d[i]
    return arm


@part
def first_arm(d: Array, steps: Steps) -> int:
    """Return the arm that the initialisation phase takes, or -1 once it is over."""
    arm = -1
    if steps.progress.initialising:
        arm = pending_arm(d, steps.thresholds)
        steps.progress.initialisation += arm >= 0
        steps.progress.initialising = arm >= 0
    return arm
