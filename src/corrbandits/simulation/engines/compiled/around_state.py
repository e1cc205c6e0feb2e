"""Rules around another rule as layers, in a form that compiled code reads.

    kind      rule           number       width                 schedule
    HOLD      Blocked        -            -                     1 where the arm before is held, 0 where a block begins
    WALK      OnGraph        -            -                     how many decisions a block has that begins then
    SAFE      Safe           the floor    deviations to it      -
    TRAVEL    Travelling     -            -                     how many decisions are left
    ENOUGH    Satisficing    M            -                     -
    SOFT      Softmax        v, if fixed  -                     2 log t, if v falls

The outermost rule is the first layer. One that changes nothing, such as `Safe` with a floor of -inf, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.gaussian import upper_quantile
from corrbandits.belief import Belief
from corrbandits.policies import (
    Blocked,
    EpsilonGreedy,
    OnGraph,
    Policy,
    Safe,
    Satisficing,
    Softmax,
    Thompson,
    Travelling,
    Uniform,
    Wrapper,
)
from corrbandits.policies.horizon import decisions_left
from corrbandits.simulation.engines.compiled.state import record

HOLD, WALK, SAFE, TRAVEL, ENOUGH, SOFT = range(6)
KINDS: dict[type[Wrapper], int] = {
    Blocked: HOLD,
    OnGraph: WALK,
    Safe: SAFE,
    Travelling: TRAVEL,
    Satisficing: ENOUGH,
    Softmax: SOFT,
}
PLAN = np.dtype([("goal", np.int64), ("stays", np.int64)], align=True)


class Layers(NamedTuple):
    """Rules around a rule, and what they remember."""

    kinds: Integers  # (L,)
    numbers: Array  # (L,)
    widths: Array  # (L,)
    schedules: Array  # (L, n), of n steps
    safes: int  # how many layers are Safe
    walk: int  # which is OnGraph, or -1
    walk_depth: int  # how many that are Safe lie outside it
    travel: int  # which is Travelling, or -1
    largest: bool  # whether nothing but the arm of largest value is asked for
    recurs: bool  # whether an arm may have to be tried first that had not to before
    costs: Array  # (N, N), from each arm to each, if one is Travelling
    next_arm: Integers  # (N, N), on the way from each arm to each, if one is OnGraph
    passed: Integers  # (N,), through how many Safe layers, from the outside, an arm is let
    values: Array  # (N,), what arms are compared by
    law: Array  # (N,), sums of probabilities
    sorted: Integers  # (N,), the arms by their values, as they were last
    plan: Any  # a record of PLAN: where OnGraph is going, or -1, and for how many decisions it stays


class Within(NamedTuple):
    """What the rule within needs besides the belief, some of it."""

    epsilon: float  # how likely an arm at random is
    counts: Array  # (N,), how often each arm was taken
    root: Array  # (N, N), of the prior covariance, for draws
    log_m: Array  # the table of Gittins indices
    log_n: Array
    g: Array
    row: Array
    rank: Integers  # of the arms, if equals are told apart by it
    rng: np.random.Generator


def wrapped(policy: Policy) -> Iterator[Wrapper]:
    """Yield the rules around the one that is farthest in, from the outside, but for those that change nothing."""
    while isinstance(policy, Wrapper):
        if not _idle(policy):
            yield policy
        policy = policy.rule


def effective(policy: Policy) -> Policy:
    """Return the policy, or the rule within where those around it change nothing.

    >>> from corrbandits import UCL
    >>> effective(Softmax(UCL(), temperature=0.0)) == UCL()
    True
    """
    return policy if next(wrapped(policy), None) is not None else innermost(policy)


def innermost(policy: Policy) -> Policy:
    """Return the rule that others are around.

    >>> from corrbandits import UCL, Thompson
    >>> innermost(Blocked(Safe(Thompson(), floor=1.0), length=3)), innermost(UCL()) == UCL()
    (Thompson(), True)
    """
    while isinstance(policy, Wrapper):
        policy = policy.rule
    return policy


def draws(policy: Policy) -> bool:
    """Return whether a choice may be drawn at random.

    >>> from corrbandits import UCL, Thompson
    >>> draws(Blocked(UCL())), draws(Blocked(Thompson())), draws(Softmax(UCL()))
    (False, True, True)
    """
    layers = any(isinstance(rule, (Softmax, Satisficing)) for rule in wrapped(policy))
    return layers or isinstance(innermost(policy), (EpsilonGreedy, Thompson, Uniform))


def layers_of(policy: Policy, belief: Belief, *, recurs: bool) -> Layers:
    """Return the rules around a rule; their schedules come with the steps.

    >>> from corrbandits import UCL, Independent
    >>> layers_of(Blocked(Safe(UCL(), floor=1.0)), Independent(noise_variance=1.0, arms=4), recurs=False).kinds
    array([0, 2])
    """
    rules, n = list(wrapped(policy)), belief.arms
    kinds = [KINDS[type(rule)] for rule in rules]
    walk = kinds.index(WALK) if WALK in kinds else -1
    travel = kinds.index(TRAVEL) if TRAVEL in kinds else -1
    none = np.zeros((0, 0))
    return Layers(
        kinds=np.array(kinds, dtype=np.int64),
        numbers=np.array([_number(rule) for rule in rules], dtype=np.float64),
        widths=np.array([_width(rule) for rule in rules], dtype=np.float64),
        schedules=none,
        safes=kinds.count(SAFE),
        walk=walk,
        walk_depth=kinds[: max(walk, 0)].count(SAFE),
        travel=travel,
        largest=set(kinds) <= {HOLD, WALK},
        recurs=recurs,
        costs=none if travel < 0 else rules[travel].moves.table(n, belief.coordinates),  # type: ignore[attr-defined]
        next_arm=none.astype(np.int64) if walk < 0 else rules[walk].next_arms(n).copy(),  # type: ignore[attr-defined]
        passed=np.zeros(n, dtype=np.int64),
        values=np.zeros(n),
        law=np.zeros(n),
        sorted=np.arange(n),
        plan=record(PLAN, goal=-1),
    )


def schedules_of(policy: Policy, times: Integers) -> Array:
    """Return the schedule of each layer, one number for each of the times.

    >>> from corrbandits import UCL
    >>> schedules_of(Blocked(Satisficing(UCL(), M=1.0), length=2), np.arange(1, 5))
    array([[0., 1., 0., 1.],
           [0., 0., 0., 0.]])
    """
    rules = list(wrapped(policy))
    found = np.zeros((len(rules), times.size))
    for row, rule in zip(found, rules, strict=True):
        if (schedule := SCHEDULES.get(type(rule))) is not None:
            row[:] = schedule(rule, times)
    return found


SCHEDULES: dict[type[Wrapper], Callable[[Any, Integers], Array]] = {
    Blocked: lambda rule, times: ~rule.begins(times),
    OnGraph: lambda rule, times: rule.lasting(times),
    Travelling: lambda rule, times: decisions_left(times, rule.horizon),
    Softmax: lambda rule, times: 2 * np.log(times),
}


def _idle(rule: Wrapper) -> bool:
    """Return whether the choice is always that of the rule within."""
    if isinstance(rule, Safe):
        return rule.floor == -math.inf
    if isinstance(rule, Satisficing):
        return math.inf == rule.M
    if isinstance(rule, Softmax):
        return rule.temperature == 0
    return isinstance(rule, Travelling) and rule.moves.free


def _number(rule: Wrapper) -> float:
    if isinstance(rule, Safe):
        return rule.floor
    if isinstance(rule, Satisficing):
        return rule.M
    return rule.temperature or 0.0 if isinstance(rule, Softmax) else 0.0


def _width(rule: Wrapper) -> float:
    return float(upper_quantile(math.log1p(-rule.delta))) if isinstance(rule, Safe) else 0.0
