"""The loops of rules around another rule: one for each way to give values to arms and to take in a reward."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Correlated, GaussianBelief
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
    KnowledgeGradient,
    Policy,
    Thompson,
    Uniform,
)
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.compiled import around_write as write
from corrbandits.simulation.engines.compiled.around_choose import (
    certify,
    early_arm,
    inner_arm,
    on_the_way,
    outer_arm,
    planned_arm,
)
from corrbandits.simulation.engines.compiled.around_state import Layers, Within, innermost, layers_of, schedules_of
from corrbandits.simulation.engines.compiled.cache import Part, assembled, distinct, part
from corrbandits.simulation.engines.compiled.state import Apart, Joint, Loop, Steps, ranked
from corrbandits.simulation.engines.compiled.update import observe_apart, observe_joint, observe_printed, pull, weigh


@part
def stand(b: Any) -> None:
    """Let time pass that changes nothing."""


@part
def observe_rows(b: Joint, k: int, reward: float, noise: float) -> None:
    """Take a reward into a correlated belief of which rows are read."""
    observe_joint(b, True, k, reward, noise)


@part
def observe_whole(b: Joint, k: int, reward: float, noise: float) -> None:
    """Take a reward into a correlated belief all of which is read."""
    observe_joint(b, False, k, reward, noise)


@cache
def choice_of(value: Part, early: Part) -> Part:
    """Return what chooses an arm at a step, by the values of the arms and by the layers."""

    @part
    def choose(b: Any, steps: Steps, width: Any, layers: Layers, within: Within, last: int, t: int) -> int:
        certify(layers, b.mu, b.d)
        first, k = early(b, steps, layers, within, last), -1
        if layers.plan.goal < 0:
            k, asked = outer_arm(layers, b.mu, b.d, last, t)
            if k < 0:
                k = first
            if k < 0:
                value(b, steps, layers, within, width)
                k = inner_arm(layers, within, b.mu, b.d, last, t)
            k = on_the_way(layers, k, asked, last, t)
        if layers.plan.goal >= 0:
            k = planned_arm(layers, last)
        return k

    return choose


@cache
def loop_of(value: Part, observe: Part, wait: Part = stand, early: Part = early_arm) -> Any:
    """Return the loop that gives values to arms, chooses by them and by the layers, and takes in the reward.

    `wait` lets time pass before a step, `early` returns the arm that must be tried first, or -1.
    """
    choose = choice_of(value, early)

    def loop(b: Any, steps: Steps, schedule: Array, layers: Layers, within: Within) -> None:
        for t in range(steps.eps.size):
            last = steps.arms[t - 1] if t > 0 else steps.before
            wait(b)
            k = choose(b, steps, schedule[t], layers, within, last, t)
            within.counts[k] += 1.0
            observe(b, k, pull(steps, t, k), steps.noise[k])

    return assembled(loop, (wait, early, value, observe), distinct)


VALUES: Mapping[type[Policy], Part] = {
    **dict.fromkeys((UCL, CorrelatedUCL, BayesUCB, GPUCB, Greedy, HorizonUCL), write.limits),
    **dict.fromkeys((EpsilonGreedy, Uniform), write.explored),
    Gittins: write.indices,
    UCB1: write.averages,
    Thompson: write.draws_apart,
    KnowledgeGradient: write.gains_apart,
}
"""What gives its values to independent arms, for every rule that others can be around."""

WHOLE: Mapping[type[Policy], Part] = {
    CorrelatedUCL: write.printed,
    Thompson: write.draws_joint,
    KnowledgeGradient: write.gains_joint,
}
"""And to correlated ones, where it needs more than means and variances."""


def parts_of(rule: Policy, state: Joint | Apart) -> tuple[Part, Part]:
    """Return what gives a rule's values to arms, and what takes in a reward."""
    if isinstance(state, Apart):
        return VALUES[type(rule)], observe_apart
    if type(rule) in WHOLE and getattr(rule, "factor", True):
        return WHOLE[type(rule)], observe_printed if type(rule) is CorrelatedUCL else observe_whole
    return VALUES[type(rule)], observe_rows


def begin_around(policy: Policy, belief: GaussianBelief, state: Joint | Apart, rng: np.random.Generator) -> Loop:
    """Return the loop of a rule around another."""
    value, observe = parts_of(innermost(policy), state)
    if isinstance(state, Joint) and observe is observe_printed:
        weigh(state)
    loop = loop_of(value, observe)
    return played(policy, belief, state, loop, rng)


def played(
    policy: Policy, belief: Belief, state: Any, loop: Any, rng: np.random.Generator, *, recurs: bool = False
) -> Loop:
    """Return a loop that is given the layers and their schedules; see `Layers` for `recurs`."""
    layers, within = layers_of(policy, belief, recurs=recurs), within_of(innermost(policy), belief, rng)

    def go_on(steps: Steps, schedule: Array) -> None:
        times = np.arange(steps.done + 1, steps.done + steps.eps.size + 1)
        loop(state, steps, schedule, layers._replace(schedules=schedules_of(policy, times)), within)

    return go_on


def within_of(rule: Policy, belief: Belief, rng: np.random.Generator) -> Within:
    """Return what a rule needs besides the belief."""
    known, draws = table(), isinstance(rule, Thompson) and isinstance(belief, Correlated)
    return Within(
        epsilon=1.0 if isinstance(rule, Uniform) else getattr(rule, "epsilon", 0.0),
        counts=belief.counts.astype(np.float64),
        root=belief.prior_root() if draws else np.zeros((0, 0)),  # type: ignore[attr-defined]
        log_m=known.log_m,
        log_n=known.log_n,
        g=known.g,
        row=np.zeros(known.log_n.size),
        rank=ranked(belief).rank if rule.ordered else np.zeros(0, dtype=np.int64),
        rng=rng,
    )
