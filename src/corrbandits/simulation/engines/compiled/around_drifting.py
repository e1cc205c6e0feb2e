"""Rules around another rule on a drifting belief of known scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from corrbandits.belief import Correlated, Drifting
from corrbandits.policies import CorrelatedUCL, Gittins, Policy
from corrbandits.simulation.engines.compiled.around_loops import VALUES, loop_of, played
from corrbandits.simulation.engines.compiled.around_state import Layers, Within, innermost
from corrbandits.simulation.engines.compiled.cache import part
from corrbandits.simulation.engines.compiled.drifting_state import DriftingPrinted, drifting_state
from corrbandits.simulation.engines.compiled.drifting_update import (
    observe_drifting,
    observe_printed,
    relax_apart,
    relax_joint,
    relax_printed,
)
from corrbandits.simulation.engines.compiled.state import Loop, Steps
from corrbandits.simulation.engines.compiled.update import observe_apart


@part
def printed_now(b: DriftingPrinted, steps: Steps, layers: Layers, within: Within, width: float) -> None:
    """Write mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    for i in range(b.d.size):
        layers.values[i] = b.mu[i] + width * b.w[i]


def begin_around_drifting(policy: Policy, belief: Drifting, rng: np.random.Generator) -> tuple[Any, Loop]:
    """Return the state and the loop of a rule around another."""
    rule, joint = innermost(policy), isinstance(belief.prior, Correlated)
    printed = joint and isinstance(rule, CorrelatedUCL) and rule.factor
    state = drifting_state(belief, policy.threshold(belief), printed=printed)
    if printed:
        loop = loop_of(printed_now, observe_printed, relax_printed)
    elif joint:
        loop = loop_of(VALUES[type(rule)], observe_drifting, relax_joint)
    else:
        loop = loop_of(VALUES[type(rule)], observe_apart, relax_apart)
    go_on = played(policy, belief, state, loop, rng, recurs=not state.memory["calm"])
    if not isinstance(rule, Gittins):
        return state, go_on
    lasting = max(float(np.round(belief.scales[0])), 1.0)  # it looks no farther ahead than what is learnt lasts
    return state, lambda steps, left: go_on(steps, np.minimum(left, lasting))
