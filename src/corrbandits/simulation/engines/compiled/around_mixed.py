"""Rules around another rule on a belief told nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Vague
from corrbandits.belief.vague.opening import in_widest, squared_distances
from corrbandits.policies import Gittins, Policy
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.around_loops import loop_of, played, stand
from corrbandits.simulation.engines.compiled.around_state import Layers, Within, innermost
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.mixed_choose import index_parts, opening_arm, weigh_parts
from corrbandits.simulation.engines.compiled.mixed_state import Mixed, Told, mixed_state
from corrbandits.simulation.engines.compiled.mixed_update import observe_mixed
from corrbandits.simulation.engines.compiled.state import Loop, Steps
from corrbandits.simulation.engines.compiled.update import copy


class Opened(NamedTuple):
    """A belief told nothing that rules may lead anywhere in its opening; means are less the first reward."""

    mu: Array  # of the mixture, as there; no two arrays of a loop may be one
    d: Array
    mixed: Mixed
    told: Told
    squares: Array  # (N, N), squared distances
    away: Array  # (N,), the least of those from an arm to what was tried
    middle: Integers  # (N,), the rank of an arm by how near it is to the middle


@part
def opening(b: Opened, steps: Steps, layers: Layers, within: Within, last: int) -> int:
    """Return the arm to try while there are no variances yet, or -1: `belief.vague.opening.farthest`.

    Who minds the way takes the cheapest to reach of those far enough: `policies.travelling`.
    """
    arm, least = -1, np.inf
    if opening_arm(b.mixed, b.told) >= 0:
        travels = layers.travel >= 0 and last >= 0 and layers.safes == 0
        most, fewest = farthest_and_fewest(b, within)
        for i in range(b.d.size):
            if not travels or (b.away[i] >= most / 4.0 and (most > 0.0 or within.counts[i] == fewest)):
                cost = layers.costs[last, i] if travels else 0.0
                if arm < 0 or cost < least or (cost == least and farther(b, within, i, arm)):
                    arm, least = i, cost
        steps.progress.initialisation += 1
    return arm


@part
def farthest_and_fewest(b: Opened, within: Within) -> tuple[float, float]:
    """Return how far the farthest arm lies from what was tried, and how often the least tried was."""
    most, fewest = b.away[0], within.counts[0]
    for i in range(1, b.d.size):
        most, fewest = max(most, b.away[i]), min(fewest, within.counts[i])
    return most, fewest


@part
def farther(b: Opened, within: Within, i: int, arm: int) -> bool:
    """Return whether arm i goes before another: it lies farther from what was tried, or is less tried, or central."""
    less = within.counts[i] - within.counts[arm]
    return b.away[i] > b.away[arm] or (
        b.away[i] == b.away[arm] and (less < 0.0 or (less == 0.0 and b.middle[i] < b.middle[arm]))
    )


@part
def weigh_opened(b: Opened) -> None:
    """Set the parts' weights and the moments of the mixture."""
    weigh_parts(b.mixed, b.told)
    copy(b.mixed.mu, b.mu)
    copy(b.mixed.variance, b.d)


@part
def mixed_limits(b: Opened, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write means and width deviations."""
    weigh_opened(b)
    for i in range(b.d.size):
        layers.values[i] = b.mixed.seen.offset + (b.mu[i] + width * b.mixed.deviation[i])


@part
def mixed_indices(b: Opened, steps: Steps, layers: Layers, within: Within, ahead: Array) -> None:
    """Write Gittins indices: `ahead` says for how many decisions, and how many deviations of the parts' are added."""
    weigh_opened(b)
    index_parts(b.mixed, b.told, ahead[0], ahead[1], within.log_m, within.g, within.log_n, within.row, layers.values)
    for i in range(b.d.size):
        layers.values[i] += b.mixed.seen.offset


@part
def observe_opened(b: Opened, k: int, reward: float, noise: float) -> None:
    """Take a reward of arm k into every part, and note how far the arms are from it."""
    observe_mixed(b.mixed, b.told, k, reward)
    for i in range(b.d.size):
        b.away[i] = min(b.away[i], b.squares[k, i])


def begin_around_mixed(policy: Policy, belief: Vague, rng: np.random.Generator) -> tuple[Opened, Loop]:
    """Return the state and the loop of a rule around another."""
    state, rule = opened(belief), innermost(policy)
    value = mixed_indices if isinstance(rule, Gittins) else mixed_limits
    go_on = played(policy, belief, state, loop_of(value, observe_opened, stand, opening), rng)
    if not isinstance(rule, Gittins):
        return state, go_on
    return state, lambda steps, left: go_on(steps, np.column_stack([left, doubts(left)]))


def opened(belief: Vague) -> Opened:
    """Return a prior in a form that changes in place."""
    mixed, told = mixed_state(belief)
    points = np.zeros((belief.arms, 0)) if belief.parts.points is None else belief.parts.places()
    points = in_widest(points)
    squares = np.array([squared_distances(points, point) for point in points])
    middle = np.empty(belief.arms, dtype=np.int64)
    middle[told.again] = np.arange(belief.arms)
    return Opened(mixed.mu.copy(), mixed.variance.copy(), mixed, told, squares, np.full(belief.arms, np.inf), middle)
