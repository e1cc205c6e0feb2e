"""What the engine on a device cannot play, and why, in words; and which kind of kernel plays a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from corrbandits.belief import Belief, Correlated, Implicit, Independent, Vague
from corrbandits.belief.implicit.grid import Grid
from corrbandits.environments import BernoulliBandit, GaussianBandit, NoisyBandit
from corrbandits.policies import GPUCB, UCL, BayesUCB, CorrelatedUCL, Gittins, Greedy, HorizonUCL, Policy, Thompson
from corrbandits.simulation.engines.compiled.refusing import LEAST_LEFT
from corrbandits.simulation.engines.compiled.refusing import refusal as not_compiled
from corrbandits.simulation.engines.protocol import Runs

LIMITS, RANKED, PRINTED, INDICES, DRAWS = range(5)
"""Kinds of rules: by mu + width s, lowest of equals; the first by rank; by the printed index; by Gittins; by draws."""

RULES: Mapping[type[Policy], int] = {
    UCL: LIMITS,
    CorrelatedUCL: LIMITS,
    BayesUCB: LIMITS,
    GPUCB: LIMITS,
    Greedy: LIMITS,
    HorizonUCL: RANKED,
    Gittins: INDICES,
    Thompson: DRAWS,
}
"""The rules that have kernels; `CorrelatedUCL` with its factor on correlated arms is of the printed kind."""


MOST_MIXED = 1024
"""A block has at most so many threads, and in a mixture each has an arm of its own."""


def rule_of(policy: Policy, belief: Belief) -> int:
    """Return which kind of kernel plays a rule on a belief.

    >>> flat = Independent(noise_variance=1.0, arms=3)
    >>> rule_of(CorrelatedUCL(), flat) == rule_of(UCL(), flat) == LIMITS
    True
    """
    printed = isinstance(policy, CorrelatedUCL) and policy.factor and isinstance(belief, Correlated)
    return PRINTED if printed else RULES[type(policy)]


def is_binary(runs: Runs) -> bool:
    """Return whether rewards are 0 and 1, by uniform noise; else they are a mean and noise."""
    return isinstance(runs.environment, BernoulliBandit)


def refusal(runs: Runs, *, same_noise: bool) -> str:
    """Return which of policy, belief, environment and record has no kernel, or what would lose digits; else ""."""
    policy, belief, environment = runs.policy, runs.belief, runs.environment
    if type(policy) not in RULES:
        return f"{type(policy).__name__} has no kernel"
    if not isinstance(belief, (Independent, Correlated, Implicit, Vague)):
        return f"the belief is a {type(belief).__name__}"
    if isinstance(belief, Vague) and (why_not := _without_mixed_kernel(belief)):
        return why_not
    if not isinstance(environment, (NoisyBandit, BernoulliBandit)):
        return f"the rewards are those of a {type(environment).__name__}"
    if not same_noise and not isinstance(environment, (GaussianBandit, BernoulliBandit)):
        return (
            f"the noise of a {type(environment).__name__} is not drawn on the device; engine='gpu-same-noise' takes "
            "what the other engines draw"
        )
    if runs.moves is not None and runs.times is not None:
        return "moves are counted from full records alone"
    return _not_on_grid(runs, belief) if isinstance(belief, Implicit) else not_compiled(runs)


def _without_mixed_kernel(belief: Vague) -> str:
    """Return why a belief told nothing has no kernel, or ""."""
    if belief.changes:
        return "the mean rewards of a Vague belief change with time"
    return f"a Vague belief has no kernel for more than {MOST_MIXED:,} arms" if belief.arms > MOST_MIXED else ""


def _not_on_grid(runs: Runs, belief: Implicit) -> str:
    """Return why there is no kernel for these runs on arms too many for a matrix, or ""."""
    policy = runs.policy
    if isinstance(policy, Thompson) or (isinstance(policy, CorrelatedUCL) and policy.factor):
        return f"{type(policy).__name__} needs more of an Implicit belief than means and variances"
    if not isinstance(belief.layout, Grid):
        return "the arms of the Implicit belief are not on a regular grid"
    if belief.counts.any() or belief.awaited:
        return "the belief has seen or awaits rewards"
    if belief.noise_variance.min() < LEAST_LEFT * runs.horizon * belief.variance.max():
        return "the noise is so small beside the prior that differences would lose their digits"
    apart = Independent(mean=belief.mean, variance=belief.variance, noise_variance=belief.noise_variance)
    return not_compiled(replace(runs, belief=apart))
