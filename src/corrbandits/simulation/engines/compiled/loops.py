"""The loops on Gaussian beliefs, one per kind of rule and belief, and the table of which rule is played by which.

A loop goes on with a run for as many steps as there is noise. A rule that is to be compiled gets a loop here, unless
one of these will do, and a line in `LOOPS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, GaussianBelief
from corrbandits.policies import (
    GPUCB,
    UCB1,
    UCL,
    BayesUCB,
    CorrelatedUCL,
    EpsilonGreedy,
    Gittins,
    Greedy,
    HorizonUCL,
    InformationDirected,
    KnowledgeGradient,
    Policy,
    Thompson,
    Uniform,
)
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.compiled.around_loops import begin_around
from corrbandits.simulation.engines.compiled.around_state import KINDS
from corrbandits.simulation.engines.compiled.cache import compiled
from corrbandits.simulation.engines.compiled.choose import (
    arm_at_random,
    between,
    draw,
    first_index,
    first_limit,
    largest_limit,
    likely_printed_limit,
)
from corrbandits.simulation.engines.compiled.gains import largest_gain_apart, largest_gain_joint
from corrbandits.simulation.engines.compiled.given import first_arm
from corrbandits.simulation.engines.compiled.state import Apart, Joint, Loop, Ranked, Steps, ranked, unranked
from corrbandits.simulation.engines.compiled.update import (
    observe_apart,
    observe_joint,
    pull,
    settle,
    start,
    take,
    weigh,
)

Begin = Callable[[Any, Any, Any, np.random.Generator], Loop]
"""Returns the loop of a run: to be called with the rule, the belief, its state and the rule's random numbers."""


@compiled
def printed_limits(b: Joint, steps: Steps, widths: Array) -> None:
    """Go on, taking the arm of largest mu_i + width s_i sqrt(sum_j rho_ij^2)."""
    for t in range(steps.eps.size):
        last = b.streak.arm
        k = first_arm(b.d, steps)
        if k < 0 and b.streak.lasting and widths[t] > 0.0:
            k = likely_printed_limit(b, widths[t])
        if k != last or k < 0:
            settle(b, steps.progress.initialising == 0)  # in initialisation no w is needed
            if k < 0:
                k = largest_limit(b.mu, b.w, widths[t])
            start(b, k)
        b.streak.lasting = k == last and steps.progress.initialising == 0  # an arm taken twice may be taken again
        take(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def limits_joint(
    b: Joint, steps: Steps, widths: Array, epsilon: float, rng: np.random.Generator, order: Ranked
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0 and epsilon > 0.0:
            k = arm_at_random(b.d.size, epsilon, rng)
        if k < 0 and order.rank.size > 0:
            k = first_limit(b.mu, b.d, widths[t], order)
        if k < 0:
            for j in range(b.d.size):
                b.w[j] = math.sqrt(b.d[j])
            k = largest_limit(b.mu, b.w, widths[t])
        observe_joint(b, True, k, pull(steps, t, k), steps.noise[k])


@compiled
def limits_apart(
    b: Apart, steps: Steps, widths: Array, epsilon: float, rng: np.random.Generator, order: Ranked
) -> None:
    """Go on, taking with probability epsilon any arm, else that of largest mu_i + width s_i."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0 and epsilon > 0.0:
            k = arm_at_random(b.d.size, epsilon, rng)
        if k < 0 and order.rank.size > 0:
            k = first_limit(b.mu, b.d, widths[t], order)
        if k < 0:
            k = largest_limit(b.mu, b.w, widths[t])
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def draws_joint(b: Joint, steps: Steps, root: Array, counts: Array, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(steps.eps.size):
        draw(b, root, steps.noise, counts, rng, b.x, b.w)
        k = largest_limit(b.w, b.w, 0.0)
        counts[k] += 1.0
        observe_joint(b, False, k, pull(steps, t, k), steps.noise[k])


@compiled
def draws_apart(b: Apart, steps: Steps, rng: np.random.Generator) -> None:
    """Go on, taking the arm of the largest draw."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0:
            most = -np.inf
            for i in range(b.d.size):
                value = b.mu[i] + b.w[i] * rng.standard_normal()
                if value > most:
                    k, most = i, value
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def gains_joint(b: Joint, steps: Steps, left: Array) -> None:
    """Go on, taking the arm of largest mu_i + left gain_i (`baselines.KnowledgeGradient`)."""
    for t in range(steps.eps.size):
        k = largest_gain_joint(b, steps.noise, left[t])
        observe_joint(b, False, k, pull(steps, t, k), steps.noise[k])


@compiled
def gains_apart(b: Apart, steps: Steps, left: Array) -> None:
    """Go on, taking the arm of largest mu_i + left gain_i (`baselines.KnowledgeGradient`)."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0:
            k = largest_gain_apart(b.d, b.mu, steps.noise, left[t])
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def indices_joint(
    b: Joint, steps: Steps, left: Array, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0:
            between(left[t], log_m, g, row)
            k = first_index(b.mu, b.d, steps.noise, log_n, row, order)
        observe_joint(b, True, k, pull(steps, t, k), steps.noise[k])


@compiled
def indices_apart(
    b: Apart, steps: Steps, left: Array, log_m: Array, log_n: Array, g: Array, row: Array, order: Ranked
) -> None:
    """Go on, taking the arm of largest Gittins index (`horizon.Gittins`)."""
    for t in range(steps.eps.size):
        k = first_arm(b.d, steps)
        if k < 0:
            between(left[t], log_m, g, row)
            k = first_index(b.mu, b.d, steps.noise, log_n, row, order)
        observe_apart(b, k, pull(steps, t, k), steps.noise[k])


@compiled
def averages(unknown: Array, counts: Array, steps: Steps, widths: Array) -> None:
    """Go on, taking each arm once, then that of the largest average and width / sqrt(n_i).

    `unknown` is infinite for arms of which nothing was believed, which come first, and 0 for the others.
    """
    for t in range(steps.eps.size):
        k, most = first_arm(unknown, steps), -np.inf
        if k < 0:
            for i in range(counts.size):
                if counts[i] == 0.0:
                    k = i
                    break
                value = steps.sums[i] / counts[i] + widths[t] / math.sqrt(counts[i])
                if value > most:
                    k, most = i, value
        pull(steps, t, k)
        counts[k] += 1.0
        unknown[k] = 0.0


def _limits(policy: Policy, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    return _explored(0.0, state, rng, ranked(belief) if policy.ordered else unranked())


def _explored(epsilon: float, state: Joint | Apart, rng: np.random.Generator, order: Ranked | None = None) -> Loop:
    loop: Any = limits_joint if isinstance(state, Joint) else limits_apart
    ranks = unranked() if order is None else order
    return lambda steps, widths: loop(state, steps, widths, epsilon, rng, ranks)


def _printed(policy: CorrelatedUCL, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    if not policy.factor or isinstance(state, Apart):  # the factor of independent arms is 1
        return _explored(0.0, state, rng)
    weigh(state)
    return lambda steps, widths: printed_limits(state, steps, widths)


def _draws(policy: Thompson, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    if isinstance(state, Apart):
        return lambda steps, _: draws_apart(state, steps, rng)
    assert isinstance(belief, Correlated)
    root, seen = belief.prior_root(), belief.counts.astype(np.float64)
    return lambda steps, _: draws_joint(state, steps, root, seen, rng)


def _gains(policy: KnowledgeGradient, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    loop: Any = gains_joint if isinstance(state, Joint) else gains_apart
    return lambda steps, left: loop(state, steps, left)


def _indices(policy: Gittins, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    loop: Any = indices_joint if isinstance(state, Joint) else indices_apart
    known = table()
    row, order = np.zeros(known.log_n.size), ranked(belief)
    return lambda steps, left: loop(state, steps, left, known.log_m, known.log_n, known.g, row, order)


def _averages(policy: UCB1, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    unknown, counts = np.where(np.isinf(belief.variance), np.inf, 0.0), belief.counts.astype(np.float64)
    return lambda steps, widths: averages(unknown, counts, steps, widths)


LOOPS: Mapping[type[Policy], Begin | str] = {
    UCL: _limits,
    CorrelatedUCL: _printed,
    BayesUCB: _limits,
    GPUCB: _limits,
    Greedy: _limits,
    Thompson: _draws,
    InformationDirected: "InformationDirected compares many draws of the belief",
    KnowledgeGradient: _gains,
    UCB1: _averages,
    EpsilonGreedy: lambda policy, belief, state, rng: _explored(policy.epsilon, state, rng),
    HorizonUCL: _limits,
    Gittins: _indices,
    Uniform: lambda policy, belief, state, rng: _explored(1.0, state, rng),
    **dict.fromkeys(KINDS, begin_around),
}
"""Every rule of the package: how its loop begins, or why it is not compiled."""

ON_MIXTURES: frozenset[type[Policy]] = frozenset({HorizonUCL, Gittins, GPUCB, Greedy})
"""The rules that need no more of a belief told nothing than means and deviations: `mixed_loops` plays them."""
