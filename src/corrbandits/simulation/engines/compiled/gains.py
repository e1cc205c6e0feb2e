"""What a reward of an arm should add to the largest mean (`baselines.KnowledgeGradient`): parts of the loops."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import largest_limit
from corrbandits.simulation.engines.compiled.state import Joint
from corrbandits.simulation.engines.compiled.update import row

FAR = 40.0
"""A standard normal variable does not lie this far from 0: the probability is below the smallest double."""


@part
def expected_excess(c: float) -> float:
    """Return E[(Z - c)+] = phi(c) - c P(Z > c) for c >= 0 and Z standard normal."""
    if c >= FAR:
        return 0.0
    return math.exp(-0.5 * c * c) / math.sqrt(2 * math.pi) - 0.5 * c * math.erfc(c / math.sqrt(2.0))


@part
def gain_of_lines(mu: Array, slopes: Array, scale: float) -> float:
    """Return E[max_j (mu_j + scale slopes_j Z)] - max_j mu_j for a standard normal Z.

    Walks along the upper envelope of the lines: from the highest at -FAR to the one it meets first, and so on.
    """
    line, most = 0, -np.inf
    for j in range(mu.size):
        height = mu[j] - FAR * scale * slopes[j]
        if height > most or (height == most and slopes[j] > slopes[line]):
            line, most = j, height
    total = 0.0
    while True:
        following, meeting = -1, FAR
        for j in range(mu.size):
            steeper = scale * (slopes[j] - slopes[line])
            if steeper > 0.0:
                z = (mu[line] - mu[j]) / steeper
                if z < meeting or (z == meeting and following >= 0 and slopes[j] > slopes[following]):
                    following, meeting = j, z
        if following < 0:
            return total
        total += scale * (slopes[following] - slopes[line]) * expected_excess(abs(meeting))
        line = following


@part
def largest_gain_joint(b: Joint, noise: Array, left: float) -> int:
    """Return the arm of largest mu_i + left gain_i, the lowest of equals.

    A gain is at most (largest slope - smallest slope) / sqrt(2 pi), so few arms need their envelope.
    """
    arm, most = 0, -np.inf
    for i in range(b.d.size):
        row(b, i, b.work)
        scale = 1.0 / math.sqrt(b.d[i] + noise[i])
        low = high = b.work[0]
        for j in range(1, b.d.size):
            low = min(low, b.work[j])
            high = max(high, b.work[j])
        bound = b.mu[i] + left * scale * (high - low) / math.sqrt(2 * math.pi)
        if bound * (1.0 + math.copysign(1e-12, bound)) >= most:
            value = b.mu[i] + left * gain_of_lines(b.mu, b.work, scale)
            if value > most:
                arm, most = i, value
    return arm


@part
def largest_gain_apart(d: Array, mu: Array, noise: Array, left: float) -> int:
    """Return the arm of largest mu_i + left gain_i, the lowest of equals: only its own line has a slope."""
    best, second = best_two(mu)
    arm, most = 0, -np.inf
    for i in range(mu.size):
        rival = second if i == best else mu[best]
        value = mu[i] + left * gain_alone(mu[i], d[i], noise[i], rival)
        if value > most:
            arm, most = i, value
    return arm


@part
def best_two(mu: Array) -> tuple[int, float]:
    """Return the arm of largest mean, the lowest of equals, and the largest mean of the others; -inf without any."""
    best, second = largest_limit(mu, mu, 0.0), -np.inf
    for i in range(mu.size):
        if i != best and mu[i] > second:
            second = mu[i]
    return best, second


@part
def gain_alone(mean: float, variance: float, noise: float, rival: float) -> float:
    """Return what a reward of an arm should add to the largest mean, if it changes the arm's own mean alone."""
    slope = variance / math.sqrt(variance + noise)
    return slope * expected_excess(abs(mean - rival) / slope) if slope > 0.0 and rival > -np.inf else 0.0
