"""The two engines: one run of one policy, as the paper tells it and compiled.

The reference engine uses the beliefs and policies a user has. The compiled one does the same arithmetic in place,
for the policies whose index is a mean and so many standard deviations, on Gaussian rewards.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent
from corrbandits.checks import Array, Integers
from corrbandits.environments import Environment, GaussianBandit
from corrbandits.policies import GPUCB, UCL, BayesUCB, CorrelatedUCL, Greedy, LimitPolicy, Policy

FLOOR = 1e-20
"""A variance that has fallen below this share of its first value is the rounding of a variance of 0."""

STEPS_BETWEEN_LOOKS = 20_000_000
"""How many numbers the compiled engine updates before it looks whether to stop: some hundredths of a second."""


COMPILED = (UCL, CorrelatedUCL, BayesUCB, GPUCB, Greedy)
LARGEST = 1e140


@dataclass(frozen=True)
class Run:
    """One run of one policy: what it starts from, and the arrays it is written into."""

    policy: Policy
    belief: Belief
    environment: Environment
    noise: Array  # (T,)
    rng: np.random.Generator
    arms: Integers  # (T,)
    rewards: Array  # (T,)
    progress: Integers  # steps done; of these in initialisation; 1 while initialising
    stopped: threading.Event


def play_reference(run: Run) -> None:
    """Choose, draw, observe, until the horizon."""
    belief = run.belief
    for t, noise in enumerate(run.noise.tolist(), start=1):
        if run.stopped.is_set():
            return
        run.progress[1] += bool(run.policy.pending(belief).any())
        arm = run.policy.choose(belief, t, rng=run.rng)
        reward = run.environment.reward(arm, noise)
        belief = belief.observe(arm, reward)
        run.arms[t - 1], run.rewards[t - 1] = arm, reward
        run.progress[0] = t


def play_compiled(run: Run) -> None:
    """Do the same in compiled loops, on private copies of the belief's arrays."""
    from corrbandits import compiled

    policy, belief = run.policy, run.belief
    assert isinstance(policy, LimitPolicy)
    assert isinstance(belief, GaussianBelief)
    horizon = run.noise.size
    printed = isinstance(policy, CorrelatedUCL) and policy.factor
    d, mu, w = belief.variance.copy(), belief.mean.copy(), np.sqrt(belief.variance)
    common = (
        belief.noise_variance,
        thresholds(policy, belief),
        policy.width(np.arange(1, horizon + 1), belief.arms),
        run.environment.means,
        np.sqrt(run.environment.noise_variance),
        run.noise,
        run.arms,
        run.rewards,
        run.progress,
    )
    run.progress[2] = 1
    if isinstance(belief, Correlated):
        if printed:
            w *= belief.spread()
        work, floor = np.empty((2, belief.arms)), FLOOR * d
        state: tuple[Any, ...] = (belief.covariance.copy(), d, mu, w, work, floor, printed)
        play: Any = compiled.play_correlated
        block = STEPS_BETWEEN_LOOKS // belief.arms**2 + 1
    else:
        state, play, block = (d, mu, w), compiled.play_independent, STEPS_BETWEEN_LOOKS // belief.arms + 1
    while run.progress[0] < horizon and not run.stopped.is_set():
        play(*state, *common, min(horizon, int(run.progress[0]) + block))
    if not run.stopped.is_set():
        _refuse_overflow(run, mu)


def _refuse_overflow(run: Run, mu: Array) -> None:
    """Refuse means, rewards or sums of rewards beyond the doubles, as a belief does."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.bincount(run.arms, weights=run.rewards)
    if not (np.isfinite(mu).all() and np.isfinite(sums).all()):
        raise OverflowError(
            "rewards, their sums or means exceed what a double can hold; measure them in a larger unit."
        )


def why_not_compiled(policy: Policy, belief: Belief, environment: Environment) -> str:
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
    if not isinstance(environment, GaussianBandit):
        return f"the rewards are those of a {type(environment).__name__}"
    if not np.isfinite(cast("LimitPolicy", policy).width(1, belief.arms)):
        return "the limit at t = 1 is not finite"
    return ""


def thresholds(policy: Policy, belief: GaussianBelief) -> Array:
    """Return the variance above which an arm is taken first: sigma_i^2 / nu, or the largest number there is."""
    if isinstance(policy, CorrelatedUCL):
        with np.errstate(over="ignore"):
            return np.asarray(belief.noise_variance / policy.nu)
    return np.full(belief.arms, np.finfo(np.float64).max)
