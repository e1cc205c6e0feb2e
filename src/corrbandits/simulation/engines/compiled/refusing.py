"""What the compiled engine cannot play, and why, in words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from corrbandits.belief import Belief, Correlated, Discounted, Drifting, GaussianBelief, Independent, Vague, Windowed
from corrbandits.environments import BernoulliBandit, ChangingBandit, Environment, NoisyBandit
from corrbandits.policies import RULES, Gittins, LimitPolicy, OnGraph, Policy, Safe, Thompson, Travelling, Wrapper
from corrbandits.simulation.engines.protocol import Runs

LARGEST = 1e140

MOST_MIXED = 200_000_000
"""A mixture of more covariances than this is not compiled: 1.6 GB."""

MOST_TAKEN_BACK = 100.0
"""How many times the noise a prior variance may be for rewards to be taken back out of a covariance."""

MOST_COSTS = 25_000_000
"""Between more pairs of arms than this, costs of moves are not compiled: 200 MB."""

FINEST = 1e10
"""If arms x prior variance / noise x the rewards there may be exceeds this, a difference keeps too few digits."""

LEAST_LEFT = 1e-9
"""The share of a prior variance that must be left where a covariance is the prior's less what is known."""


def refusal(runs: Runs) -> str:
    """Return which of policy, belief and environment has no compiled form, or what would lose digits; else ""."""
    policy, belief = runs.policy, runs.belief
    if type(policy) not in RULES.values():  # exactly these: a class made from one of them may choose otherwise
        return f"{type(policy).__name__} is not one of {', '.join(RULES)}"
    if isinstance(policy, Wrapper):
        return _without_layers(policy, belief) or refusal(replace(runs, policy=policy.rule))
    if isinstance(belief, Vague):
        return _without_mixed_loop(runs)
    if isinstance(belief, Drifting):
        return _without_drifting_loop(runs)
    if isinstance(belief, (Windowed, Discounted)):
        return _without_forgetting_loop(runs)
    if not isinstance(belief, (Independent, Correlated)):
        return f"the belief is a {type(belief).__name__}"
    if belief.awaited:
        return "the belief awaits rewards"
    if isinstance(belief, Correlated) and (beyond := _beyond(belief)):
        return beyond
    if why_not := _unknown_rewards(runs.environment):
        return why_not
    if isinstance(policy, Thompson) and isinstance(belief, Correlated) and _too_fine(belief, runs.horizon):
        return "the noise is so small beside the prior that draws corrected in place would lose their digits"
    return _without_loop(policy) or _without_first_limit(policy, belief.arms)


def _unknown_rewards(environment: Environment) -> str:
    """Return why rewards of this environment are not compiled, or ""."""
    if isinstance(environment, (NoisyBandit, BernoulliBandit, ChangingBandit)):
        return ""
    other = f"the rewards are those of a {type(environment).__name__}"
    return "the mean rewards change with time" if environment.changes else other


def _without_layers(policy: Wrapper, belief: Belief) -> str:
    """Return why a rule around another is not compiled, or ""."""
    if isinstance(policy, Safe) and (isinstance(belief, Vague) or number_of_scales(belief) > 1):
        return "Safe asks for a quantile of a mixture"
    within = policy.rule
    while isinstance(policy, OnGraph) and isinstance(within, Wrapper):
        if isinstance(within, OnGraph):
            return "OnGraph goes around another OnGraph"
        within = within.rule
    if isinstance(policy, Travelling) and belief.arms**2 > MOST_COSTS:
        return f"the costs of moves between {belief.arms:,} arms take too much memory"
    return ""


def _without_loop(policy: Policy) -> str:
    from corrbandits.simulation.engines.compiled.loops import LOOPS

    begin = LOOPS.get(type(policy), f"{type(policy).__name__} has no compiled loop")
    return begin if isinstance(begin, str) else ""


def _without_mixed_loop(runs: Runs) -> str:
    """Return why there is no compiled form of these runs on a belief told nothing, or ""."""
    from corrbandits.simulation.engines.compiled.loops import ON_MIXTURES

    policy, belief, environment = runs.policy, runs.belief, runs.environment
    assert isinstance(belief, Vague)
    if type(policy) not in ON_MIXTURES:
        return f"{type(policy).__name__} needs more of a Vague belief than means and variances"
    if belief.counts.any() or belief.awaited:
        return "the belief has seen or awaits rewards"
    if belief.parts.past is not None:
        return "the belief knows of earlier seasons"
    if belief.level is not None and belief.level.deviation and belief.parts.free:
        return "the scale must be integrated out numerically"
    if (1 + belief.changes) * len(belief.parts) * belief.arms**2 > MOST_MIXED:
        return f"the covariances of {belief.arms:,} arms under {len(belief.parts)} parts take too much memory"
    if why_not := _unknown_rewards(environment):
        return why_not
    means = environment.path if isinstance(environment, ChangingBandit) else environment.means
    largest = np.abs(means).max() + np.sqrt(environment.noise_variance.max())
    finest = max(float(np.ptp(means)), float(np.sqrt(environment.noise_variance.max())))
    return "" if largest < 1e100 and not 0 < finest < 1e-100 else "squares of the rewards leave the doubles"


def _without_drifting_loop(runs: Runs) -> str:
    """Return why there is no compiled form of these runs on a drifting belief, or ""."""
    from corrbandits.simulation.engines.compiled.changing_loops import ON_CHANGING

    policy, belief = runs.policy, runs.belief
    assert isinstance(belief, Drifting)
    joint = isinstance(belief.prior, Correlated)
    if type(policy) not in ON_CHANGING:
        return f"{type(policy).__name__} has no compiled loop on a Drifting belief"
    if isinstance(policy, Thompson) and joint:
        return "a draw of a Drifting belief on correlated arms needs a root of its covariance at every step"
    if belief.scales.size > 1 and (why_not := _without_scales(policy, belief)):
        return why_not
    if isinstance(policy, Gittins) and belief.counts.any():
        return "how far ahead Gittins looks depends on when rewards came before the first decision"
    if belief.awaited or belief.time != 1:
        return "the belief awaits rewards, or its time is not that of the first decision"
    if joint and (beyond := _beyond(belief.prior) or _cancelling(belief, runs.horizon)):
        return beyond
    return _unknown_rewards(runs.environment) or _without_first_limit(policy, belief.arms)


def _without_scales(policy: Policy, belief: Drifting) -> str:
    """Return why a rule is not compiled on a drift whose scale is not known, or ""."""
    from corrbandits.simulation.engines.compiled.changing_loops import UNDER_ANY_SCALE

    if type(policy) not in UNDER_ANY_SCALE:
        return f"{type(policy).__name__} needs more of a Drifting belief of unknown scale than means and variances"
    if belief.counts.any():
        return "the belief has seen rewards, and the scale of its drift is not known"
    if belief.scales.size * belief.arms**2 > MOST_MIXED:
        return f"the covariances of {belief.arms:,} arms under {belief.scales.size} scales take too much memory"
    return ""


def _without_forgetting_loop(runs: Runs) -> str:
    """Return why there is no compiled form of these runs on a windowed or discounted belief, or ""."""
    from corrbandits.simulation.engines.compiled.changing_loops import ON_CHANGING

    policy, belief = runs.policy, runs.belief
    assert isinstance(belief, (Windowed, Discounted))
    name, joint = type(belief).__name__, isinstance(belief.prior, Correlated)
    if type(policy) not in ON_CHANGING or isinstance(policy, Thompson):
        return f"{type(policy).__name__} has no compiled loop on a {name} belief"
    if belief.counts.any() or belief.awaited or belief.time != 1:
        return "the belief has seen or awaits rewards, or its time is not that of the first decision"
    largest = belief.prior.variance.max() / belief.noise_variance.min()
    if joint and isinstance(belief, Windowed) and largest > MOST_TAKEN_BACK:
        return "the noise is so small beside the prior that rewards taken back would lose their digits"
    if is_computed_anew(belief) and belief.arms * largest * runs.horizon > FINEST:
        return "the noise is so small beside the prior that differences would lose their digits"
    if joint and (beyond := _beyond(belief.prior)):
        return beyond
    return _unknown_rewards(runs.environment) or _without_first_limit(policy, belief.arms)


def number_of_scales(belief: Belief) -> int:
    """Return under how many scales a belief drifts."""
    return belief.scales.size if isinstance(belief, Drifting) else 1


def is_computed_anew(belief: Belief) -> bool:
    """Return whether every step computes the belief from its prior: discounts change all correlated arms at once."""
    return isinstance(belief, Discounted) and isinstance(belief.prior, Correlated)


def _beyond(belief: GaussianBelief) -> str:
    """Return that variances are so large or small that products of two are no doubles, or ""."""
    scales = np.concatenate([belief.variance[belief.variance > 0], belief.noise_variance])
    if scales.min() > 1 / LARGEST and scales.max() < LARGEST:
        return ""
    return f"variances must lie between {1 / LARGEST:g} and {LARGEST:g}, or products of two leave the doubles"


def _cancelling(belief: Drifting, horizon: int) -> str:
    """Return that so little may be left of a variance that its difference from the prior's loses digits, or ""."""
    prior = belief.prior.variance
    left = 1 / (1 + horizon * prior.max() / belief.noise_variance.min()) - math.expm1(-2 / belief.scales.max())
    return (
        "" if left > LEAST_LEFT else "the noise is so small beside the prior that differences would lose their digits"
    )


def _without_first_limit(policy: Policy, arms: int) -> str:
    if not isinstance(policy, LimitPolicy):
        return ""
    try:
        return "" if np.isfinite(policy.width(1, arms)) else "the limit at t = 1 is not finite"
    except ValueError as error:  # a schedule that begins later: initialisation may last till then
        return f"at t = 1 {error}"


def _too_fine(belief: Correlated, horizon: int) -> bool:
    """Return whether a variance might fall so far that `Correlated.sample` would draw in another way."""
    with np.errstate(divide="ignore"):
        least = 1 / (1 / belief.variance + horizon / belief.noise_variance.min())
    return bool((least < belief.finest()).any())
