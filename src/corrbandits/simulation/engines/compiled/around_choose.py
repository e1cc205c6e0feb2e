"""What rules around a rule make of its choice: parts of the loops.

A step goes from the outermost layer inwards until one knows the arm: `Blocked` that holds one, `Safe` if none is safe.
If no layer does, it is an arm that must be tried first or, by the indices of the rule within, what `Travelling`,
`Satisficing` or `Softmax` make of them. `OnGraph` then goes there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.compiled.around_state import ENOUGH, HOLD, SAFE, SOFT, Layers, Within
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.choose import first_of_near
from corrbandits.simulation.engines.compiled.state import Steps


@part
def certify(layers: Layers, mu: Array, d: Array) -> None:
    """Set through how many layers that are Safe, from the outside, each arm is let."""
    if layers.safes > 0:
        layers.passed[:] = 0
        depth = 0
        for a in range(layers.kinds.size):
            if layers.kinds[a] == SAFE:
                for i in range(d.size):
                    if layers.passed[i] == depth and lower_limit(mu[i], d[i], layers.widths[a]) >= layers.numbers[a]:
                        layers.passed[i] += 1
                depth += 1


@part
def lower_limit(mean: float, variance: float, width: float) -> float:
    """Return the limit of an arm by which `Safe` certifies it; nothing is certain of an unknown one."""
    return -np.inf if variance == np.inf else mean + width * math.sqrt(variance)


@part
def least_dangerous(layers: Layers, depth: int, mu: Array, d: Array, width: float) -> int:
    """Return the arm of largest lower limit of those that so many Safe layers let through."""
    arm, most = -1, -np.inf
    for i in range(d.size):
        if layers.passed[i] >= depth:
            lower = lower_limit(mu[i], d[i], width)
            if arm < 0 or lower > most:
                arm, most = i, lower
    return arm


@part
def early_arm(b: Any, steps: Steps, layers: Layers, within: Within, last: int) -> int:
    """Return the arm that must be tried first, of those certified, or -1; of equals the cheapest to reach."""
    arm, d = -1, b.d
    if steps.progress.initialising:
        most, least, some = -np.inf, np.inf, 0
        for i in range(d.size):
            if d[i] > steps.thresholds[i]:
                some = 1
                cost = layers.costs[last, i] if layers.travel >= 0 and last >= 0 else 0.0
                if layers.passed[i] == layers.safes and (d[i] > most or (d[i] == most and cost < least)):
                    arm, most, least = i, d[i], cost
        steps.progress.initialisation += arm >= 0
        steps.progress.initialising = some or layers.recurs
    return arm


@part
def outer_arm(layers: Layers, mu: Array, d: Array, last: int, t: int) -> tuple[int, int]:
    """Return the arm that a layer knows before any index is asked for, or -1, and how many layers were asked."""
    arm, depth, a = -1, 0, 0
    while arm < 0 and a < layers.kinds.size:
        if layers.kinds[a] == HOLD and last >= 0 and layers.schedules[a, t] != 0.0 and layers.passed[last] >= depth:
            arm = last
        if layers.kinds[a] == SAFE:
            depth += 1
            if not any_passed(layers.passed, depth):
                arm = least_dangerous(layers, depth - 1, mu, d, layers.widths[a])
        a += 1
    return arm, a


@part
def any_passed(passed: Integers, depth: int) -> bool:
    """Return whether so many Safe layers let some arm through."""
    found = False
    for i in range(passed.size):
        found = found or passed[i] >= depth
    return found


@part
def inner_arm(layers: Layers, within: Within, mu: Array, d: Array, last: int, t: int) -> int:
    """Return what the layers make of the values of the arms that are let through."""
    arm, travels = -1, layers.travel >= 0 and last >= 0
    if travels:
        charge(layers, mu, d, last, layers.schedules[layers.travel, t])
    for a in range(0 if travels else layers.kinds.size):
        if arm < 0 and layers.kinds[a] == ENOUGH:
            arm = any_enough(layers, layers.numbers[a], within.rng)
        if arm < 0 and layers.kinds[a] == SOFT:
            spread_law(layers, layers.numbers[a], layers.schedules[a, t])
            arm = drawn_arm(layers, within.rng)
    return arm if arm >= 0 else largest_passed(layers, d, within.rank)


@part
def charge(layers: Layers, mu: Array, d: Array, last: int, left: float) -> None:
    """Take from each value what the way from the last arm costs per decision of the stay (`policies.travelling`)."""
    most = -np.inf
    for i in range(mu.size):
        most = max(most, mu[i])
    for i in range(mu.size):
        chance = 0.0 if mu[i] < most else 0.5
        if d[i] > 0.0:
            chance = 0.5 * math.erfc((most - mu[i]) / math.sqrt(2.0 * d[i]))
        stay = min(max(chance * left, 1.0), math.sqrt(left))
        layers.values[i] -= layers.costs[last, i] / stay


@part
def largest_passed(layers: Layers, d: Array, rank: Integers) -> int:
    """Return the arm of largest value that is let through; of equals the lowest or, with ranks, the first."""
    arm, most, least = -1, -np.inf, np.inf
    for i in range(d.size):
        value = layers.values[i]
        if layers.passed[i] < layers.safes:
            layers.values[i] = -np.inf
        else:
            least = min(least, value)
            if arm < 0 or value > most:
                arm, most = i, value
    return first_of_near(layers.values, d, rank, arm, most, least) if rank.size > 0 else arm


@part
def any_enough(layers: Layers, enough: float, rng: np.random.Generator) -> int:
    """Return any arm whose value is at least so much, each as likely, or -1 (`enough.Satisficing`)."""
    found, arm = 0, -1
    for i in range(layers.values.size):
        found += layers.passed[i] == layers.safes and layers.values[i] >= enough
    if found > 0:
        place = int(rng.random() * found)
        for i in range(layers.values.size):
            if layers.passed[i] == layers.safes and layers.values[i] >= enough:
                if place == 0:
                    arm = i
                place -= 1
    return arm


@part
def spread_law(layers: Layers, temperature: float, cooled: float) -> None:
    """Write the sums of exp((Q_i - largest Q) / v), v fixed or, if it is 0, falling (`softmax.Softmax`)."""
    top, total = -np.inf, 0.0
    for i in range(layers.values.size):
        if layers.passed[i] == layers.safes:
            top = max(top, layers.values[i])
    gap = smallest_gap(layers) if temperature == 0.0 else temperature
    for i in range(layers.values.size):
        value, share = layers.values[i], 0.0
        if layers.passed[i] == layers.safes and (value == top or top < np.inf):
            share = 1.0 if value == top else math.exp(exponent(value, top, gap, temperature, cooled))
        total += share
        layers.law[i] = total


@part
def exponent(value: float, top: float, gap: float, temperature: float, cooled: float) -> float:
    """Return (Q_i - largest Q) / v; at the first decision of a v that falls, all that are numbers are alike."""
    below = (value - top) / gap
    if temperature == 0.0:
        below = below * cooled if cooled > 0.0 else (0.0 if value > -np.inf else -np.inf)
    return below


@part
def smallest_gap(layers: Layers) -> float:
    """Return the smallest gap between two values that differ, of arms that are let through; 0 if no two do.

    The arms are sorted anew from the order that they had last, which is nearly theirs.
    """
    order, values, least, before = layers.sorted, layers.values, np.inf, -1
    for i in range(1, order.size):
        arm, j = order[i], i
        while j > 0 and values[order[j - 1]] > values[arm]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = arm
    for i in range(order.size):
        arm = order[i]
        if layers.passed[arm] == layers.safes and abs(values[arm]) < np.inf:
            if before >= 0 and values[arm] > values[before]:
                least = min(least, values[arm] - values[before])
            before = arm
    return least if least < np.inf else 0.0


@part
def drawn_arm(layers: Layers, rng: np.random.Generator) -> int:
    """Return an arm by the law of their sums; one uniform number says which."""
    u, arm = rng.random() * layers.law[layers.law.size - 1], 0
    while layers.law[arm] <= u:
        arm += 1
    return arm


@part
def on_the_way(layers: Layers, goal: int, asked: int, last: int, t: int) -> int:
    """Return the first arm to take on the way to the one that the layers within `OnGraph` chose.

    If it is the outermost layer the way and the stay are planned; else it will be asked again at the next step.
    """
    arm = goal
    if layers.walk == 0:
        layers.plan.goal = goal
        layers.plan.stays = int(layers.schedules[0, t])
    elif 0 < layers.walk < asked and last >= 0:
        arm = layers.next_arm[last, goal]
        while arm != goal and layers.passed[arm] < layers.walk_depth:
            arm = layers.next_arm[arm, goal]
    return arm


@part
def planned_arm(layers: Layers, last: int) -> int:
    """Return the next arm on the way of the plan, or its goal; the plan is done after its last stay there."""
    arm = layers.next_arm[last, layers.plan.goal] if last >= 0 else layers.plan.goal
    if arm == layers.plan.goal:
        layers.plan.stays -= 1
        if layers.plan.stays <= 0:
            layers.plan.goal = -1
    return arm
