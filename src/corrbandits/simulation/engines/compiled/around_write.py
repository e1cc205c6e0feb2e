"""The values that the rule within gives to all arms: parts of the loops of rules around it.

They are its indices or, for a rule that draws, what it would compare; an arm taken at random is above all others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits.simulation.engines.compiled.around_state import Layers, Within
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import (
    arm_at_random,
    between,
    draw,
    likely_printed_limit,
    write_indices,
)
from corrbandits.simulation.engines.compiled.gains import best_two, gain_alone, gain_of_lines
from corrbandits.simulation.engines.compiled.state import Apart, Joint, Steps
from corrbandits.simulation.engines.compiled.update import row, settle


@part
def limits(b: Any, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write mu_i + width s_i."""
    for i in range(b.d.size):
        layers.values[i] = b.mu[i] + width * math.sqrt(b.d[i])


@part
def printed(b: Joint, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write mu_i + width s_i sqrt(sum_j rho_ij^2); if only the largest is asked for, perhaps that none other is."""
    k = -1
    if layers.largest and b.streak.arm >= 0 and b.streak.lasting and width > 0.0:
        k = likely_printed_limit(b, width)
    if k < 0 or k != b.streak.arm:
        settle(b, True)
        b.streak.lasting = 1
    for i in range(b.d.size):
        layers.values[i] = b.mu[i] + width * b.w[i] if k < 0 else -np.inf
    if k >= 0:
        layers.values[k] = np.inf


@part
def explored(b: Any, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write means but, with probability epsilon, infinity for any of the arms that are let through."""
    allowed = 0
    for i in range(b.d.size):
        layers.values[i] = b.mu[i]
        allowed += layers.passed[i] == layers.safes
    place = arm_at_random(allowed, within.epsilon, within.rng)
    for i in range(b.d.size):
        if place >= 0 and layers.passed[i] == layers.safes:
            if place == 0:
                layers.values[i] = np.inf
            place -= 1


@part
def draws_joint(b: Joint, steps: Steps, layers: Layers, within: Within, nothing: float) -> None:
    """Write a draw of all mean rewards."""
    draw(b, within.root, steps.noise, within.counts, within.rng, b.x, layers.values)


@part
def draws_apart(b: Any, steps: Steps, layers: Layers, within: Within, nothing: float) -> None:
    """Write a draw of all mean rewards."""
    for i in range(b.d.size):
        layers.values[i] = b.mu[i] + math.sqrt(b.d[i]) * within.rng.standard_normal()


@part
def gains_joint(b: Joint, steps: Steps, layers: Layers, within: Within, left: float) -> None:
    """Write mu_i + left gain_i (`baselines.KnowledgeGradient`)."""
    for i in range(b.d.size):
        row(b, i, b.work)
        layers.values[i] = b.mu[i] + left * gain_of_lines(b.mu, b.work, 1.0 / math.sqrt(b.d[i] + steps.noise[i]))


@part
def gains_apart(b: Apart, steps: Steps, layers: Layers, within: Within, left: float) -> None:
    """Write mu_i + left gain_i: only its own line has a slope."""
    best, second = best_two(b.mu)
    for i in range(b.d.size):
        rival = second if i == best else b.mu[best]
        layers.values[i] = b.mu[i] + left * gain_alone(b.mu[i], b.d[i], steps.noise[i], rival)


@part
def indices(b: Any, steps: Steps, layers: Layers, within: Within, left: float) -> None:
    """Write Gittins indices (`horizon.Gittins`)."""
    between(left, within.log_m, within.g, within.row)
    write_indices(b.mu, b.d, steps.noise, within.log_n, within.row, layers.values)


@part
def averages(b: Any, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write averages and width / sqrt(n_i), infinity for an arm never taken (`baselines.UCB1`)."""
    for i in range(b.d.size):
        n = within.counts[i]
        layers.values[i] = steps.sums[i] / n + width / math.sqrt(n) if n > 0.0 else np.inf
