"""The loops on windowed and discounted beliefs; `ON_FORGETTING` says which rules they play.

Each begins a step by letting go of what no longer counts; `since` is the oldest time that does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Discounted, Windowed
from corrbandits.policies import CorrelatedUCL, Gittins, Policy, Thompson
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.compiled.cache import compiled
from corrbandits.simulation.engines.compiled.choose import largest_limit
from corrbandits.simulation.engines.compiled.drifting_loops import (
    EXPLORING,
    ON_DRIFTING,
    index_arm,
    limit_arm,
    uncertain_arm,
)
from corrbandits.simulation.engines.compiled.forgetting_state import ForgettingApart, WindowedJoint, forgetting_state
from corrbandits.simulation.engines.compiled.forgetting_update import (
    forget_apart,
    forget_joint,
    observe_forgetting,
    observe_windowed,
)
from corrbandits.simulation.engines.compiled.state import Loop, Ranked, Steps, ranked, unranked
from corrbandits.simulation.engines.compiled.update import pull, settle_printed

ON_FORGETTING = ON_DRIFTING - {Thompson}
"""The rules that are played here."""


@compiled
def limits_windowed(
    b: WindowedJoint,
    steps: Steps,
    since: Array,
    widths: Array,
    epsilon: float,
    rng: np.random.Generator,
    order: Ranked,
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        forget_joint(b, since[t], steps.noise)
        k = limit_arm(b, steps, widths[t], epsilon, rng, order)
        observe_windowed(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def limits_forgetting(
    b: ForgettingApart,
    steps: Steps,
    since: Array,
    widths: Array,
    epsilon: float,
    rng: np.random.Generator,
    order: Ranked,
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        forget_apart(b, since[t], steps.noise)
        k = limit_arm(b, steps, widths[t], epsilon, rng, order)
        observe_forgetting(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def printed_windowed(b: WindowedJoint, steps: Steps, since: Array, widths: Array) -> None:
    """Go on, taking the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    for t in range(steps.eps.size):
        forget_joint(b, since[t], steps.noise)
        k = uncertain_arm(b, steps)
        if k < 0:
            b.row[:] = 0.0
            settle_printed(b.S, b.d, b.row, b.inverse, b.floor, b.w)
            k = largest_limit(b.mu, b.w, widths[t])
        observe_windowed(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def indices_windowed(
    b: WindowedJoint,
    steps: Steps,
    since: Array,
    left: Array,
    log_m: Array,
    log_n: Array,
    g: Array,
    row: Array,
    order: Ranked,
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        forget_joint(b, since[t], steps.noise)
        k = index_arm(b, steps, left[t], log_m, log_n, g, row, order)
        observe_windowed(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def indices_forgetting(
    b: ForgettingApart,
    steps: Steps,
    since: Array,
    left: Array,
    log_m: Array,
    log_n: Array,
    g: Array,
    row: Array,
    order: Ranked,
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        forget_apart(b, since[t], steps.noise)
        k = index_arm(b, steps, left[t], log_m, log_n, g, row, order)
        observe_forgetting(b, k, pull(steps, t, k), steps.noise[k])


def begin_forgetting(
    policy: Policy, belief: Windowed | Discounted, horizon: int, rng: np.random.Generator
) -> tuple[Any, Loop]:
    """Return the state and the loop of a rule on a windowed or a discounted belief that has seen nothing."""
    joint = isinstance(belief.prior, Correlated)
    state: Any = forgetting_state(belief, horizon, policy.threshold(belief))
    since = _Since(belief)
    if joint and isinstance(policy, CorrelatedUCL) and policy.factor:
        return state, lambda steps, widths: printed_windowed(state, steps, since.of(steps), widths)
    if isinstance(policy, Gittins):
        indices: Any = indices_windowed if joint else indices_forgetting
        known, order = table(), ranked(belief)
        row = np.zeros(known.log_n.size)
        return state, lambda steps, left: indices(
            state, steps, since.of(steps), left, known.log_m, known.log_n, known.g, row, order
        )
    limits: Any = limits_windowed if joint else limits_forgetting
    order = ranked(belief) if policy.ordered else unranked()
    epsilon = EXPLORING.get(type(policy), lambda _: 0.0)(policy)
    return state, lambda steps, widths: limits(state, steps, since.of(steps), widths, epsilon, rng, order)


class _Since:
    """The oldest times that count, decision after decision."""

    def __init__(self, belief: Windowed | Discounted) -> None:
        self._belief, self._done = belief, 0

    def of(self, steps: Steps) -> Array:
        """Return the oldest times that count at these steps, which follow those that were asked for before."""
        times = range(self._done + 1, self._done + steps.eps.size + 1)
        self._done += steps.eps.size
        if not isinstance(self._belief, Windowed):
            return np.full(len(times), -np.inf)
        return np.array([time - self._belief.width(time) for time in times], dtype=np.float64)
