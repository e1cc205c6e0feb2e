"""The loops on a drifting belief; `ON_DRIFTING` says which rules they play.

Each begins a step by letting time pass. An arm may become so uncertain again that it must be tried first, so that the
initialisation phase may begin anew at any step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Drifting
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
from corrbandits.simulation.engines.compiled.cache import compiled, part
from corrbandits.simulation.engines.compiled.choose import (
    arm_at_random,
    between,
    first_index,
    first_limit,
    largest_limit,
)
from corrbandits.simulation.engines.compiled.drifting_state import (
    DriftingApart,
    DriftingJoint,
    DriftingPrinted,
    drifting_state,
)
from corrbandits.simulation.engines.compiled.drifting_update import (
    observe_drifting,
    observe_printed,
    relax_apart,
    relax_joint,
    relax_printed,
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


@compiled
def limits_drifting(
    b: DriftingJoint, steps: Steps, widths: Array, epsilon: float, rng: np.random.Generator, order: Ranked
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        relax_joint(b)
        k = limit_arm(b, steps, widths[t], epsilon, rng, order)
        observe_drifting(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def limits_drifting_apart(
    b: DriftingApart, steps: Steps, widths: Array, epsilon: float, rng: np.random.Generator, order: Ranked
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        relax_apart(b)
        k = limit_arm(b, steps, widths[t], epsilon, rng, order)
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def printed_drifting(b: DriftingPrinted, steps: Steps, widths: Array) -> None:
    """Go on, taking the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    for t in range(steps.eps.size):
        relax_printed(b)
        k = uncertain_arm(b, steps)
        if k < 0:
            k = largest_limit(b.mu, b.w, widths[t])
        observe_printed(b, k, pull(steps, t, k), steps.noise[k])


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


@compiled
def indices_drifting(
    b: DriftingJoint, steps: Steps, left: Array, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        relax_joint(b)
        k = index_arm(b, steps, left[t], log_m, log_n, g, row, order)
        observe_drifting(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def indices_drifting_apart(
    b: DriftingApart, steps: Steps, left: Array, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        relax_apart(b)
        k = index_arm(b, steps, left[t], log_m, log_n, g, row, order)
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def draws_drifting_apart(b: DriftingApart, steps: Steps, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(steps.eps.size):
        relax_apart(b)
        k, most = uncertain_arm(b, steps), -np.inf
        if k < 0:
            for i in range(b.d.size):
                value = b.mu[i] + math.sqrt(b.d[i]) * rng.standard_normal()
                if value > most:
                    k, most = i, value
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


def begin_drifting(policy: Policy, belief: Drifting, rng: np.random.Generator) -> tuple[Any, Loop]:
    """Return the state and the loop of a rule on a drifting belief of known scale."""
    joint = isinstance(belief.prior, Correlated)
    if joint and isinstance(policy, CorrelatedUCL) and policy.factor:
        state: Any = drifting_state(belief, policy.threshold(belief), printed=True)
        return state, lambda steps, widths: printed_drifting(state, steps, widths)
    state = drifting_state(belief, policy.threshold(belief), printed=False)
    if isinstance(policy, Thompson):
        return state, lambda steps, _: draws_drifting_apart(state, steps, rng)
    if isinstance(policy, Gittins):
        indices: Any = indices_drifting if joint else indices_drifting_apart
        known, order = table(), ranked(belief)
        row, lasting = np.zeros(known.log_n.size), max(float(np.round(belief.scales[0])), 1.0)
        return state, lambda steps, left: indices(
            state, steps, np.minimum(left, lasting), known.log_m, known.log_n, known.g, row, order
        )
    limits: Any = limits_drifting if joint else limits_drifting_apart
    order, epsilon = (
        ranked(belief) if policy.ordered else unranked(),
        EXPLORING.get(type(policy), lambda _: 0.0)(policy),
    )
    return state, lambda steps, widths: limits(state, steps, widths, epsilon, rng, order)


EXPLORING: Mapping[type[Policy], Any] = {EpsilonGreedy: lambda policy: policy.epsilon, Uniform: lambda policy: 1.0}
"""The rules that take any arm with some probability, and which."""

ON_DRIFTING: frozenset[type[Policy]] = frozenset(
    {UCL, CorrelatedUCL, BayesUCB, GPUCB, Greedy, HorizonUCL, Gittins, Thompson, EpsilonGreedy, Uniform}
)
"""The rules that are played here; Thompson on independent arms alone."""
