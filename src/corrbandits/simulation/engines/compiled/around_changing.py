"""Rules around another rule on a belief that changes with time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.policies import Gittins, Policy
from corrbandits.simulation.engines.compiled.around_loops import VALUES, loop_of, played
from corrbandits.simulation.engines.compiled.around_state import Layers, Within, innermost
from corrbandits.simulation.engines.compiled.cache import Part, part
from corrbandits.simulation.engines.compiled.changing_loops import (
    Changing,
    ahead_of,
    changing_state,
    is_printed,
    turn_of,
)
from corrbandits.simulation.engines.compiled.scales import Scales, write_scales
from corrbandits.simulation.engines.compiled.state import Loop, Steps


@cache
def printed_by(weigh: Part) -> Part:
    """Return what writes mu_i + width s_i sqrt(sum_j rho_ij^2), every w being set by another part."""

    def printed_now(b: Any, steps: Steps, layers: Layers, within: Within, width: float) -> None:
        weigh(b)
        for i in range(b.d.size):
            layers.values[i] = b.mu[i] + width * b.w[i]

    printed_now.__name__ += f"_{weigh.__name__}"  # by which compiled code is told apart
    return part(printed_now)


@part
def scaled_indices(b: Scales, steps: Steps, layers: Layers, within: Within, ahead: Array) -> None:
    """Write Gittins indices where the scale is not known."""
    known = within.log_m, within.log_n, within.g
    write_scales(b, steps.noise, ahead, known, within.row, layers.values)


def begin_around_changing(policy: Policy, belief: Changing, horizon: int, rng: np.random.Generator) -> tuple[Any, Loop]:
    """Return the state and the loop of a rule around another."""
    rule = innermost(policy)
    state = changing_state(policy, rule, belief, horizon)
    wait, weigh, observe = turn_of(state)
    value = printed_by(weigh) if is_printed(rule, belief) else VALUES[type(rule)]
    if isinstance(rule, Gittins) and isinstance(state, Scales):
        value = scaled_indices
    go_on = played(policy, belief, state, loop_of(value, observe, wait), rng, recurs=not state.memory["calm"])
    if not isinstance(rule, Gittins):
        return state, go_on
    return state, lambda steps, left: go_on(steps, ahead_of(belief, left))
