"""An environment of this package as one of Gymnasium's."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.environments import Environment, reward_at

NOTHING = np.int64(0)
"""The only observation there is."""


@final
class BanditEnv(gymnasium.Env[np.int64, np.int64]):
    """A bandit for agents that speak Gymnasium: an action is an arm, an episode has `horizon` steps.

    A bandit has no state, so there is nothing to see: the observation is always 0, the only member of `Discrete(1)`.
    Arms and rewards of the past are the agent's own to remember. An episode never terminates; after `horizon` steps it
    is truncated. `info` holds the `regret` of the step, how much less than the best arm's the arm's mean reward is,
    and whether the arm is `optimal`; an agent that learns from either cheats.

    The noise of an episode is drawn when it is reset, one number per step, so the rewards of a seed depend on the
    present arm and not on those before. The first episode after `reset(seed=s)` meets the noise of run 0 of
    `simulate(..., seed=s)`, the next, by a `reset()` without seed, that of run 1, and so on.

    >>> from corrbandits import GaussianBandit
    >>> env = BanditEnv(GaussianBandit(means=[1.0, 3.0], noise_variance=4.0), horizon=2)
    >>> env.reset(seed=0)
    (np.int64(0), {})
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> round(reward, 3), terminated, truncated, info
    (2.572, False, False, {'regret': 2.0, 'optimal': False})
    >>> env.step(1)[3]      # truncated
    True
    """

    def __init__(self, environment: Environment, *, horizon: int) -> None:
        if not isinstance(environment, Environment):
            raise TypeError(f"environment must be an Environment such as GaussianBandit(...), got {environment!r:.60}.")
        self.environment = environment
        self.horizon = checks.integer("horizon", horizon, least=1)
        self.action_space = gymnasium.spaces.Discrete(environment.arms)
        self.observation_space = gymnasium.spaces.Discrete(1)
        self._run = -1
        self._noise: Array = np.empty(0)
        self._step = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Begin an episode: run 0 of the seed if one is given, otherwise the run after the last; no options are known.

        Without any seed, Gymnasium draws one.
        """
        super().reset(seed=seed)
        if options:
            raise ValueError(f"a bandit is reset without options, got {options!r:.60}.")
        self._run = 0 if seed is not None else self._run + 1
        self._noise, self._step = self.environment.noise(self._stream(), self.horizon), 0
        return NOTHING, {}

    def step(self, action: int | np.integer[Any]) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """Take an arm; return the observation 0, its reward, False, whether the horizon is reached, and `info`."""
        arm = checks.arm(action, self.environment.arms)
        if self._step == self._noise.size:
            raise ResetNeeded(
                f"an episode begins with reset() and has {self.horizon} steps, got step() "
                f"{'after the last of them' if self._step else 'before'}. Call reset() first."
            )
        noise, self._step = self._noise.item(self._step), self._step + 1
        reward = reward_at(self.environment, arm, noise, self._step)
        regret = self.environment.gaps_at(self._step).item(arm)
        info = {"regret": regret, "optimal": regret == 0}
        return NOTHING, reward, False, self._step == self.horizon, info

    def _stream(self) -> np.random.Generator:
        """Return the generator that `simulate` gives the environment in this run; or the one that somebody has set."""
        if self.np_random_seed < 0:  # Gymnasium's word for a generator that was put into np_random
            return self.np_random
        entropy = np.random.SeedSequence(self.np_random_seed, spawn_key=(self._run,))
        return np.random.default_rng(entropy.spawn(2)[0])
