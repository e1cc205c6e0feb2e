"""The compiled engine: what it can play, and a run of it.

It is for the library's own policies on Gaussian beliefs, with rewards 0 and 1 or those that are a mean and noise. It
draws the same random numbers as the reference engine, so that both make the same decisions where none hangs on
rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits.belief import Belief, Correlated, Drifting, GaussianBelief, Independent, Vague
from corrbandits.environments import BernoulliBandit, ChangingBandit, Environment, NoisyBandit
from corrbandits.policies import RULES, Gittins, LimitPolicy, OnGraph, Policy, Safe, Thompson, Travelling, Wrapper
from corrbandits.simulation.engines.one_by_one import OneByOne, Run
from corrbandits.simulation.engines.protocol import Runs

LARGEST = 1e140

NUMBERS = 20_000_000
"""A block of steps goes through about as many numbers."""

MOST_MIXED = 200_000_000
"""A mixture of more covariances than this is not compiled: 1.6 GB."""

MOST_COSTS = 25_000_000
"""Between more pairs of arms than this, costs of moves are not compiled: 200 MB."""

LEAST_LEFT = 1e-9
"""The share of a prior variance that must be left where a covariance is the prior's less what is known."""

PAGE = 1 << 14
"""A schedule is computed for this many times at once."""


@final
class Compiled(OneByOne):
    """Plays the package's rules on `Independent`, `Correlated`, `Vague` and `Drifting` beliefs."""

    name = "compiled"

    def refuses(self, runs: Runs) -> str:
        """Return which of policy, belief and environment has no compiled form, or what would lose digits."""
        policy, belief = runs.policy, runs.belief
        if type(policy) not in RULES.values():  # exactly these: a class made from one of them may choose otherwise
            return f"{type(policy).__name__} is not one of {', '.join(RULES)}"
        if isinstance(policy, Wrapper):
            return _without_layers(policy, belief) or self.refuses(replace(runs, policy=policy.rule))
        if isinstance(belief, Vague):
            return _without_mixed_loop(runs)
        if isinstance(belief, Drifting):
            return _without_drifting_loop(runs)
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

    def begin(self, runs: Runs, rng: np.random.Generator) -> Run:
        """Return a run on private copies of the belief's arrays."""
        return CompiledRun(runs, rng)


@final
class CompiledRun(Run):
    """A run whose steps are made by a compiled loop."""

    def __init__(self, runs: Runs, rng: np.random.Generator) -> None:
        from corrbandits.simulation.engines.compiled import loops, state
        from corrbandits.simulation.engines.compiled.around_state import effective

        policy, belief, environment = effective(runs.policy), runs.belief, runs.environment
        self._runs, self._done, self._last, self.initialisation = runs, 0, -1, 0
        self._sums, self._progress = belief.sums.copy(), state.record(state.PROGRESS, initialising=1)
        self._always = (
            np.sqrt(environment.noise_variance),
            isinstance(environment, BernoulliBandit),
            getattr(belief, "noise_variance", environment.noise_variance),
            np.full(belief.arms, policy.threshold(belief)),
            self._sums,
            self._progress,
        )
        self._state: Any
        if isinstance(belief, Vague):
            from corrbandits.simulation.engines.compiled import around_mixed, mixed_loops

            self._state, self._loop = (
                around_mixed.begin_around_mixed(policy, belief, rng)
                if isinstance(policy, Wrapper)
                else mixed_loops.begin_mixed(policy, belief)
            )
            self.block = NUMBERS // (belief.arms**2 * len(belief.parts)) + 1
            return
        if isinstance(belief, Drifting):
            from corrbandits.simulation.engines.compiled import around_drifting, drifting_loops

            begin_drifting = drifting_loops.begin_drifting
            if isinstance(policy, Wrapper):
                begin_drifting = around_drifting.begin_around_drifting
            self._state, self._loop = begin_drifting(policy, belief, rng)
            self.block = NUMBERS // belief.arms**2 + 1
            return
        begin = loops.LOOPS[type(policy)]
        assert isinstance(belief, GaussianBelief)
        assert not isinstance(begin, str)
        self._state = state.state_of(belief)
        self._loop = begin(policy, belief, self._state, rng)
        self.block = NUMBERS // (belief.arms**2 if isinstance(belief, Correlated) else belief.arms) + 1

    def advance(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise, without Python in between."""
        from corrbandits.simulation.engines.compiled.state import Steps

        runs, until = self._runs, self._done + noise.size
        values = schedule(runs.policy, runs.belief.arms, runs.horizon, self._done, until)
        means, stride = means_of(runs.environment, self._done, until)
        self._loop(Steps(means, stride, *self._always, noise, arms, rewards, self._done, self._last), values)
        self._done, self._last = until, int(arms[-1])
        self.initialisation = int(self._progress["initialisation"])
        if not np.isfinite(rewards).all():
            checks.number("a reward", float(rewards[~np.isfinite(rewards)][0]))

    def finish(self) -> None:
        """Refuse means or sums of rewards beyond the doubles, as a belief does."""
        if not (np.isfinite(self._state.mu).all() and np.isfinite(self._sums).all()):
            raise OverflowError(
                "rewards, their sums or means exceed what a double can hold; measure them in a larger unit."
            )


def means_of(environment: Environment, done: int, until: int) -> tuple[Array, int]:
    """Return the mean rewards at times `done` + 1 to `until`, one after the other, and how far these are apart."""
    if isinstance(environment, ChangingBandit):
        return environment.path[done:until].reshape(-1), environment.arms
    return environment.means, 0


def schedule(policy: Policy, arms: int, horizon: int, done: int, until: int) -> Array:
    """Return a policy's schedule at times `done` + 1 to `until`; all runs share it."""
    pages = [
        _page(policy, arms, page * PAGE, min((page + 1) * PAGE, horizon))
        for page in range(done // PAGE, -(-until // PAGE))
    ]
    values = pages[0] if len(pages) == 1 else np.concatenate(pages)
    first = done // PAGE * PAGE
    return values[done - first : until - first]


@lru_cache(maxsize=256)  # 32 MB: enough for four million times, and no more for any horizon
def _page(policy: Policy, arms: int, first: int, last: int) -> Array:
    return frozen(np.array(policy.schedule(np.arange(first + 1, last + 1), arms), dtype=np.float64))


def _unknown_rewards(environment: Environment) -> str:
    """Return why rewards of this environment are not compiled, or ""."""
    if isinstance(environment, (NoisyBandit, BernoulliBandit, ChangingBandit)):
        return ""
    other = f"the rewards are those of a {type(environment).__name__}"
    return "the mean rewards change with time" if environment.changes else other


def _without_layers(policy: Wrapper, belief: Belief) -> str:
    """Return why a rule around another is not compiled, or ""."""
    if isinstance(policy, Safe) and isinstance(belief, Vague):
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
    from corrbandits.simulation.engines.compiled.drifting_loops import ON_DRIFTING

    policy, belief = runs.policy, runs.belief
    assert isinstance(belief, Drifting)
    joint = isinstance(belief.prior, Correlated)
    if type(policy) not in ON_DRIFTING:
        return f"{type(policy).__name__} has no compiled loop on a Drifting belief"
    if isinstance(policy, Thompson) and joint:
        return "a draw of a Drifting belief on correlated arms needs a root of its covariance at every step"
    if belief.scales.size > 1:
        return "the scale of the Drifting belief is not known"
    if isinstance(policy, Gittins) and belief.counts.any():
        return "how far ahead Gittins looks depends on when rewards came before the first decision"
    if belief.awaited or belief.time != 1:
        return "the belief awaits rewards, or its time is not that of the first decision"
    if joint and (beyond := _beyond(belief.prior) or _cancelling(belief, runs.horizon)):
        return beyond
    return _unknown_rewards(runs.environment) or _without_first_limit(policy, belief.arms)


def _beyond(belief: GaussianBelief) -> str:
    """Return that variances are so large or small that products of two are no doubles, or ""."""
    scales = np.concatenate([belief.variance[belief.variance > 0], belief.noise_variance])
    if scales.min() > 1 / LARGEST and scales.max() < LARGEST:
        return ""
    return f"variances must lie between {1 / LARGEST:g} and {LARGEST:g}, or products of two leave the doubles"


def _cancelling(belief: Drifting, horizon: int) -> str:
    """Return that so little may be left of a variance that its difference from the prior's loses digits, or ""."""
    prior = belief.prior.variance
    left = 1 / (1 + horizon * prior.max() / belief.noise_variance.min()) - math.expm1(-2 / belief.scales[0])
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
