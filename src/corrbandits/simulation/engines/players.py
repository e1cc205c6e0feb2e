"""The two engines: one run of one policy, as the paper tells it and compiled.

The reference engine uses the beliefs and policies a user has. The compiled one does the same arithmetic in place, for
the library's own policies on Gaussian beliefs, with Gaussian rewards or rewards 0 and 1. It draws the same random
numbers, so that both make the same decisions where none hangs on rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent
from corrbandits.environments import BernoulliBandit, Environment, GaussianBandit
from corrbandits.policies import (
    GPUCB,
    UCB1,
    UCL,
    BayesUCB,
    CorrelatedUCL,
    EpsilonGreedy,
    Greedy,
    KnowledgeGradient,
    LimitPolicy,
    Policy,
    Thompson,
    Uniform,
)

FLOOR = 1e-20
"""A variance that has fallen below this share of its first value is the rounding of a variance of 0."""

COMPILED = (UCL, CorrelatedUCL, BayesUCB, GPUCB, Greedy, Thompson, KnowledgeGradient, UCB1, EpsilonGreedy, Uniform)
LARGEST = 1e140

PAGE = 1 << 14
"""Widths are computed for this many times at once."""


class Player(ABC):
    """One run of one policy: it goes on where it stopped."""

    initialisation: int
    """How many steps of initialisation there were."""

    cost: int
    """How many numbers a step goes through, about."""

    @abstractmethod
    def play(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise; note the arms and the rewards."""

    @abstractmethod
    def finish(self) -> None:
        """Refuse, at the end, what went beyond doubles on the way."""


def begin(policy: Policy, belief: Belief, environment: Environment, rng: np.random.Generator, compiled: bool) -> Player:
    """Return a run before its first decision."""
    return (CompiledPlayer if compiled else ReferencePlayer)(policy, belief, environment, rng)


def steps_between_looks(player: Player) -> int:
    """Return how many steps to take before looking whether to stop: some hundredths of a second."""
    numbers = 20_000_000 if isinstance(player, CompiledPlayer) else 20_000
    return numbers // player.cost + 1


@final
class ReferencePlayer(Player):
    """Choose, draw, observe."""

    def __init__(self, policy: Policy, belief: Belief, environment: Environment, rng: np.random.Generator) -> None:
        self._policy, self._belief, self._environment, self._rng = policy, belief, environment, rng
        self._done = self.initialisation = 0
        self.cost = belief.arms

    def play(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise, as the paper tells it."""
        policy, belief = self._policy, self._belief
        for i, eps in enumerate(noise.tolist()):
            self.initialisation += bool(policy.pending(belief).any())
            arm = policy.choose(belief, self._done + i + 1, rng=self._rng)
            reward = self._environment.reward(arm, eps)
            belief = belief.observe(arm, reward)
            arms[i], rewards[i] = arm, reward
        self._belief = belief
        self._done += noise.size

    def finish(self) -> None:
        """Do nothing: the belief has refused it."""


@final
class CompiledPlayer(Player):
    """The same in compiled loops, on private copies of the belief's arrays."""

    def __init__(self, policy: Policy, belief: Belief, environment: Environment, rng: np.random.Generator) -> None:
        from corrbandits.simulation.engines.compiled import kernels

        assert isinstance(belief, GaussianBelief)
        self._policy, self._arms = policy, belief.arms
        self._done = self.initialisation = 0
        self._sums, self._progress = belief.sums.copy(), np.array([0, 1])
        self._fixed = (
            environment.means,
            np.sqrt(environment.noise_variance),
            isinstance(environment, BernoulliBandit),
            belief.noise_variance,
            thresholds(policy, belief),
            self._sums,
            self._progress,
        )
        if isinstance(belief, Correlated):
            self._state: Any = kernels.joint(belief.mean, belief.covariance, FLOOR * belief.variance)
            self.cost = belief.arms**2
        else:
            self._state = kernels.Apart(belief.mean.copy(), belief.variance.copy(), np.sqrt(belief.variance))
            self.cost = belief.arms
        self._go_on = _loop(policy, belief, self._state, rng)

    def play(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise, without Python in between."""
        from corrbandits.simulation.engines.compiled.kernels import Run

        if isinstance(self._policy, KnowledgeGradient):
            self._policy.left(min(self._done + noise.size, self._policy.horizon + 1))
        schedule = _schedule(self._policy, self._arms, self._done, self._done + noise.size)
        self._go_on(Run(*self._fixed, noise, arms, rewards), schedule)
        self._done += noise.size
        self.initialisation = int(self._progress[0])
        if not np.isfinite(rewards).all():
            checks.number("a reward", float(rewards[~np.isfinite(rewards)][0]))

    def finish(self) -> None:
        """Refuse means or sums of rewards beyond the doubles, as a belief does."""
        if not (np.isfinite(self._state.mu).all() and np.isfinite(self._sums).all()):
            raise OverflowError(
                "rewards, their sums or means exceed what a double can hold; measure them in a larger unit."
            )


def _loop(policy: Policy, belief: Belief, state: Any, rng: np.random.Generator) -> Callable[[Any, Array], None]:
    """Return the compiled loop of a policy, to call with steps of a run and the schedule at these."""
    from corrbandits.simulation.engines.compiled import kernels

    joint = isinstance(belief, Correlated)
    match policy:
        case UCB1():
            unknown, counts = np.where(np.isinf(belief.variance), np.inf, 0.0), belief.counts.astype(np.float64)
            return lambda run, widths: kernels.averages(unknown, counts, run, widths)
        case KnowledgeGradient():
            gains = kernels.gains_joint if joint else kernels.gains_apart
            return lambda run, left: gains(state, run, left)
        case Thompson() if isinstance(belief, Correlated):
            root, seen = belief.prior_root(), belief.counts.astype(np.float64)
            return lambda run, _: kernels.draws_joint(state, run, root, seen, rng)
        case Thompson():
            return lambda run, _: kernels.draws_apart(state, run, rng)
        case CorrelatedUCL(factor=True) if joint:
            kernels.weigh(state)
            return lambda run, widths: kernels.printed_limits(state, run, widths)
    epsilon = 1.0 if isinstance(policy, Uniform) else getattr(policy, "epsilon", 0.0)
    limits = kernels.limits_joint if joint else kernels.limits_apart
    return lambda run, widths: limits(state, run, widths, epsilon, rng)


def _schedule(policy: Policy, arms: int, done: int, until: int) -> Array:
    """Return what a policy's index depends on besides the belief, at times `done` + 1 to `until`; all runs share it."""
    pages = [_page(policy, arms, page) for page in range(done // PAGE, -(-until // PAGE))]
    values = pages[0] if len(pages) == 1 else np.concatenate(pages)
    first = done // PAGE * PAGE
    return values[done - first : until - first]


@lru_cache(maxsize=256)  # 32 MB: enough for four million times, and no more for any horizon
def _page(policy: Policy, arms: int, page: int) -> Array:
    times = np.arange(page * PAGE + 1, (page + 1) * PAGE + 1)
    match policy:
        case LimitPolicy():
            return frozen(np.asarray(policy.width(times, arms)))
        case UCB1():
            return frozen(policy.width(times))
        case KnowledgeGradient():
            return frozen(np.maximum(policy.horizon - times, 0.0))
    return frozen(np.zeros(PAGE))


def why_not_compiled(policy: Policy, belief: Belief, environment: Environment, horizon: int) -> str:
    """Return why the compiled engine cannot play this, or nothing if it can."""
    if type(policy) not in COMPILED:  # exactly these: a class made from one of them may choose otherwise
        return f"{type(policy).__name__} is not one of {', '.join(kind.__name__ for kind in COMPILED)}"
    if not isinstance(belief, (Independent, Correlated)):
        return f"the belief is a {type(belief).__name__}"
    if belief.awaited:
        return "the belief awaits rewards"
    scales = np.concatenate([belief.variance[belief.variance > 0], belief.noise_variance])
    if isinstance(belief, Correlated) and not (scales.min() > 1 / LARGEST and scales.max() < LARGEST):
        return f"variances must lie between {1 / LARGEST:g} and {LARGEST:g}, or products of two leave the doubles"
    if not isinstance(environment, (GaussianBandit, BernoulliBandit)):
        return f"the rewards are those of a {type(environment).__name__}"
    if isinstance(policy, Thompson) and isinstance(belief, Correlated) and _too_fine(belief, horizon):
        return "the noise is so small beside the prior that draws corrected in place would lose their digits"
    if isinstance(policy, LimitPolicy):
        return _why_not_from_the_start(policy, belief.arms)
    return ""


def _why_not_from_the_start(policy: LimitPolicy, arms: int) -> str:
    try:
        return "" if np.isfinite(policy.width(1, arms)) else "the limit at t = 1 is not finite"
    except ValueError as error:  # a schedule that begins later: initialisation may last till then
        return f"at t = 1 {error}"


def _too_fine(belief: Correlated, horizon: int) -> bool:
    """Return whether a variance might fall so far that `Correlated.sample` would draw in another way."""
    with np.errstate(divide="ignore"):
        least = 1 / (1 / belief.variance + horizon / belief.noise_variance.min())
    return bool((least < belief.finest()).any())


def thresholds(policy: Policy, belief: GaussianBelief) -> Array:
    """Return the variance above which an arm is taken first: sigma_i^2 / nu, or the largest number there is."""
    largest = np.finfo(np.float64).max
    if isinstance(policy, CorrelatedUCL):
        with np.errstate(over="ignore"):
            return np.minimum(belief.noise_variance / policy.nu, largest)
    return np.full(belief.arms, np.inf if isinstance(policy, Uniform) else largest)
