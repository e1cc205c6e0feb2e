"""Which arm is taken without a choice: one that is held, or that the initialisation phase takes. Parts of the loops."""

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
def held_arm(steps: Steps, t: int) -> int:
    """Return the arm that is held at step t, the one before, or -1."""
    arm = -1
    if steps.held.size > 0 and steps.held[t]:
        arm = steps.arms[t - 1] if t > 0 else steps.before
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


@part
def given_arm(d: Array, steps: Steps, t: int) -> int:
    """Return the arm that is held at step t, or else that which the initialisation phase takes, or -1."""
    first, held = first_arm(d, steps), held_arm(steps, t)
    return held if held >= 0 else first
