"""The loops on beliefs that change with time; `ON_CHANGING` says which rules they play, `TURNS` on what.

Each begins a step by letting time pass. An arm may become so uncertain again that it must be tried first, so that the
initialisation phase may begin anew at any step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Discounted, Drifting, Windowed
from corrbandits.policies import (
    GPUCB,
    UCL,
    BayesUCB,
    CorrelatedUCL,
    EpsilonGreedy,
    Gittins,
    Greedy,
    HorizonUCL,
    Policy,
    Thompson,
    Uniform,
)
from corrbandits.policies.gittins.table import table
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled import drifting_update as drifting
from corrbandits.simulation.engines.compiled import forgetting_update as forgetting
from corrbandits.simulation.engines.compiled import scales
from corrbandits.simulation.engines.compiled.cache import Part, assembled, distinct, part
from corrbandits.simulation.engines.compiled.choose import (
    arm_at_random,
    between,
    first_index,
    first_limit,
    first_of_equals,
    largest_limit,
)
from corrbandits.simulation.engines.compiled.drifting_state import (
    DriftingApart,
    DriftingJoint,
    DriftingPrinted,
    drifting_state,
)
from corrbandits.simulation.engines.compiled.forgetting_state import (
    DiscountedJoint,
    ForgettingApart,
    WindowedJoint,
    forgetting_state,
)
from corrbandits.simulation.engines.compiled.given import first_arm
from corrbandits.simulation.engines.compiled.state import Loop, Ranked, Steps, ranked, unranked
from corrbandits.simulation.engines.compiled.update import observe_apart, pull


@part
def uncertain_arm(b: Any, steps: Steps) -> int:
    """Return the arm that must be tried first, or -1; there may be one at any time, unless the prior forbids it."""
    arm = -1
    if not b.memory.calm:
        steps.progress.initialising = 1
        arm = first_arm(b.d, steps)
    return arm


@part
def limit_arm(b: Any, steps: Steps, width: float, epsilon: float, rng: np.random.Generator, order: Ranked) -> int:
    """Return, with probability epsilon, any arm, else that of largest mu_i + width s_i."""
    k = uncertain_arm(b, steps)
    if k < 0 and epsilon > 0.0:
        k = arm_at_random(b.d.size, epsilon, rng)
    if k < 0 and order.rank.size > 0:
        k = first_limit(b.mu, b.d, width, order)
    if k < 0:
        for j in range(b.d.size):
            b.w[j] = math.sqrt(b.d[j])
        k = largest_limit(b.mu, b.w, width)
    return k


@part
def index_arm(
    b: Any, steps: Steps, left: float, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
) -> int:
    """Return the arm of largest Gittins index."""
    k = uncertain_arm(b, steps)
    if k < 0:
        between(left, log_m, g, row)
        k = first_index(b.mu, b.d, steps.noise, log_n, row, order)
    return k


class Turn(NamedTuple):
    """What a step does to a kind of state: time passes, every w is set if asked for, a reward is taken in."""

    wait: Part
    weigh: Part
    observe: Part


@part
def weighed_before(b: Any) -> None:
    """Leave every w as it is: there is no other, or the step of time has set it."""


TURNS: Mapping[type, Turn] = {
    DriftingJoint: Turn(drifting.relax_joint, weighed_before, drifting.observe_drifting),
    DriftingPrinted: Turn(drifting.relax_printed, weighed_before, drifting.observe_printed),
    DriftingApart: Turn(drifting.relax_apart, weighed_before, observe_apart),
    WindowedJoint: Turn(forgetting.forget_joint, forgetting.weigh_windowed, forgetting.observe_windowed),
    DiscountedJoint: Turn(forgetting.discount_joint, forgetting.weigh_discounted, forgetting.observe_discounted),
    ForgettingApart: Turn(forgetting.forget_apart, weighed_before, forgetting.observe_forgetting),
}
"""Of every kind of state."""

UNDER_SCALES: Mapping[type, Turn] = {
    DriftingJoint: Turn(scales.relax_scales_joint, weighed_before, scales.observe_scales_joint),
    DriftingApart: Turn(scales.relax_scales_apart, weighed_before, scales.observe_scales_apart),
}
"""Of a belief whose scale is not known, by the kind of its parts."""


def turn_of(state: Any) -> Turn:
    """Return what a step does to a state."""
    return UNDER_SCALES[type(state.parts)] if isinstance(state, scales.Scales) else TURNS[type(state)]


@cache
def limits_of(turn: Turn) -> Any:
    """Return the loop that takes with probability epsilon any arm, else that of largest mu_i + width s_i."""
    wait, _, observe = turn

    def limits(b: Any, steps: Steps, widths: Array, epsilon: float, rng: np.random.Generator, order: Ranked) -> None:
        for t in range(steps.eps.size):
            wait(b)
            k = limit_arm(b, steps, widths[t], epsilon, rng, order)
            observe(b, k, pull(steps, t, k), steps.noise[k])

    return assembled(limits, (wait, observe), distinct)


@cache
def printed_of(turn: Turn) -> Any:
    """Return the loop that takes the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    wait, weigh, observe = turn

    def printed(b: Any, steps: Steps, widths: Array) -> None:
        for t in range(steps.eps.size):
            wait(b)
            k = uncertain_arm(b, steps)
            if k < 0:
                weigh(b)
                k = largest_limit(b.mu, b.w, widths[t])
            observe(b, k, pull(steps, t, k), steps.noise[k])

    return assembled(printed, turn, distinct)


@cache
def indices_of(turn: Turn) -> Any:
    """Return the loop that takes the arm of largest Gittins index (`horizon.Gittins`)."""
    wait, _, observe = turn

    def indices(
        b: Any, steps: Steps, left: Array, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
    ) -> None:
        for t in range(steps.eps.size):
            wait(b)
            k = index_arm(b, steps, left[t], log_m, log_n, g, row, order)
            observe(b, k, pull(steps, t, k), steps.noise[k])

    return assembled(indices, (wait, observe), distinct)


@cache
def indices_under_scales(turn: Turn) -> Any:
    """Return the loop that takes the arm of largest Gittins index where the scale is not known."""
    wait, _, observe = turn

    def indices(b: Any, steps: Steps, ahead: Array, known: Any, row: Array, order: Ranked) -> None:
        for t in range(steps.eps.size):
            wait(b)
            k = uncertain_arm(b, steps)
            if k < 0:
                scales.write_scales(b, steps.noise, ahead[t], known, row, order.values)
                k = first_of_equals(order.values, b.d, order.rank)
            observe(b, k, pull(steps, t, k), steps.noise[k])

    return assembled(indices, (wait, observe), distinct)


@distinct
def draws_drifting_apart(b: DriftingApart, steps: Steps, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(steps.eps.size):
        drifting.relax_apart(b)
        k, most = uncertain_arm(b, steps), -np.inf
        if k < 0:
            for i in range(b.d.size):
                value = b.mu[i] + math.sqrt(b.d[i]) * rng.standard_normal()
                if value > most:
                    k, most = i, value
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


Changing = Drifting | Windowed | Discounted


def changing_state(policy: Policy, rule: Policy, belief: Changing, horizon: int) -> Any:
    """Return a belief in a form that changes in place, for a policy that is a rule, or goes around one."""
    threshold = policy.threshold(belief)
    if isinstance(belief, Drifting) and belief.scales.size > 1:
        return scales.scales_state(belief, threshold)
    if isinstance(belief, Drifting):
        return drifting_state(belief, threshold, printed=is_printed(rule, belief))
    return forgetting_state(belief, horizon, threshold)


def is_printed(rule: Policy, belief: Changing) -> bool:
    """Return whether the factor of the printed index is needed; that of independent arms is 1."""
    return isinstance(belief.prior, Correlated) and isinstance(rule, CorrelatedUCL) and rule.factor


def begin_changing(policy: Policy, belief: Changing, horizon: int, rng: np.random.Generator) -> tuple[Any, Loop]:
    """Return the state and the loop of a rule on a belief that changes."""
    state = changing_state(policy, policy, belief, horizon)
    turn = turn_of(state)
    if is_printed(policy, belief):
        printed = printed_of(turn)
        return state, lambda steps, widths: printed(state, steps, widths)
    if isinstance(policy, Thompson):
        return state, lambda steps, _: draws_drifting_apart(state, steps, rng)
    if isinstance(policy, Gittins):
        return state, _indices(state, turn, belief)
    limits, order = limits_of(turn), ranked(belief) if policy.ordered else unranked()
    epsilon = EXPLORING.get(type(policy), lambda _: 0.0)(policy)
    return state, lambda steps, widths: limits(state, steps, widths, epsilon, rng, order)


def _indices(state: Any, turn: Turn, belief: Changing) -> Loop:
    """Return the loop of Gittins."""
    known, order = table(), ranked(belief)
    row = np.zeros(known.log_n.size)
    if isinstance(state, scales.Scales):
        scaled, of = indices_under_scales(turn), (known.log_m, known.log_n, known.g)
        return lambda steps, left: scaled(state, steps, ahead_of(belief, left), of, row, order)
    indices = indices_of(turn)
    return lambda steps, left: indices(
        state, steps, ahead_of(belief, left), known.log_m, known.log_n, known.g, row, order
    )


def ahead_of(belief: Changing, left: Array) -> Array:
    """Return for how many decisions Gittins looks ahead: for no more than what is learnt lasts, if that is known.

    If its scale is not, that is left to the parts, and what is doubted with so many decisions left is returned too.
    """
    if not isinstance(belief, Drifting):
        return left
    if belief.scales.size > 1:
        return np.column_stack([left, doubts(left)])
    return np.minimum(left, max(float(np.round(belief.scales[0])), 1.0))


EXPLORING: Mapping[type[Policy], Any] = {EpsilonGreedy: lambda policy: policy.epsilon, Uniform: lambda policy: 1.0}
"""The rules that take any arm with some probability, and which."""

ON_CHANGING: frozenset[type[Policy]] = frozenset(
    {UCL, CorrelatedUCL, BayesUCB, GPUCB, Greedy, HorizonUCL, Gittins, Thompson, EpsilonGreedy, Uniform}
)
"""The rules that are played here; Thompson on independent arms that drift alone."""

UNDER_ANY_SCALE: frozenset[type[Policy]] = frozenset({GPUCB, Greedy, HorizonUCL, Gittins, EpsilonGreedy, Uniform})
"""Those that need no more of a belief whose scale is not known than means and deviations, if of each part."""
