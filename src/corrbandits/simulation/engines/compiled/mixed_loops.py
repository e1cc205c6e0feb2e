"""The loops on a belief told nothing; `loops.ON_MIXTURES` says which rules they play."""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Vague
from corrbandits.policies import Gittins, Policy
from corrbandits.policies.gittins.table import table
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.cache import compiled
from corrbandits.simulation.engines.compiled.choose import first_limit, first_of_equals, largest_limit
from corrbandits.simulation.engines.compiled.mixed_choose import index_parts, opening_arm, weigh_parts
from corrbandits.simulation.engines.compiled.mixed_state import Mixed, Told, mixed_state
from corrbandits.simulation.engines.compiled.mixed_update import observe_mixed
from corrbandits.simulation.engines.compiled.state import Loop, Ranked, Steps, ranked, unranked
from corrbandits.simulation.engines.compiled.update import pull


@compiled
def limits_mixed(b: Mixed, told: Told, steps: Steps, widths: Array, order: Ranked) -> None:
    """Go on, taking the arm of largest mean and width deviations."""
    for t in range(steps.eps.size):
        k = opening_arm(b, told)
        if k < 0:
            weigh_parts(b, told)
            if order.rank.size > 0:
                k = first_limit(b.mu, b.variance, widths[t], order)
            else:
                k = largest_limit(b.mu, b.deviation, widths[t])
        else:
            steps.progress.initialisation += 1
        observe_mixed(b, told, k, pull(steps, t, k))


@compiled
def indices_mixed(
    b: Mixed,
    told: Told,
    steps: Steps,
    left: Array,
    doubt: Array,
    log_m: Array,
    log_n: Array,
    g: Array,
    row: Array,
    order: Ranked,
) -> None:
    """Go on, taking the arm of largest Gittins index."""
    for t in range(steps.eps.size):
        k = opening_arm(b, told)
        if k < 0:
            weigh_parts(b, told)
            index_parts(b, told, left[t], doubt[t], log_m, g, log_n, row, order.values)
            k = first_of_equals(order.values, b.variance, order.rank)
        else:
            steps.progress.initialisation += 1
        observe_mixed(b, told, k, pull(steps, t, k))


def begin_mixed(policy: Policy, belief: Vague) -> tuple[Mixed, Loop]:
    """Return the state and the loop of a rule on a belief that is told nothing, or little."""
    state, told = mixed_state(belief)
    if not isinstance(policy, Gittins):
        order = ranked(belief) if policy.ordered else unranked()
        return state, lambda steps, widths: limits_mixed(state, told, steps, widths, order)
    known, order = table(), ranked(belief)
    row = np.zeros(known.log_n.size)
    return state, lambda steps, left: indices_mixed(
        state, told, steps, left, doubts(left), known.log_m, known.log_n, known.g, row, order
    )
