"""The reference engine: choose, draw, observe, with the beliefs and policies as they are."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.environments import reward_at
from corrbandits.simulation.engines.one_by_one import OneByOne, Run
from corrbandits.simulation.engines.protocol import Runs

NUMBERS = 20_000
"""A block of steps goes through about as many numbers."""


@final
class Reference(OneByOne):
    """Plays every policy on every belief, as the paper tells it."""

    name = "reference"

    def refuses(self, runs: Runs) -> str:
        """Return "": it plays anything."""
        return ""

    def begin(self, runs: Runs, rng: np.random.Generator) -> Run:
        """Return a run that asks the policy and the belief at every step."""
        return ReferenceRun(runs, rng)


@final
class ReferenceRun(Run):
    """A run whose every step is a call of the policy and of the belief."""

    def __init__(self, runs: Runs, rng: np.random.Generator) -> None:
        self._policy, self._belief, self._environment, self._rng = runs.policy, runs.belief, runs.environment, rng
        self._done = self.initialisation = 0
        self.block = NUMBERS // runs.belief.arms + 1

    def advance(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise."""
        policy, belief = self._policy, self._belief
        for i, eps in enumerate(noise.tolist()):
            t = self._done + i + 1
            belief = belief.after(t)
            self.initialisation += bool(policy.pending(belief).any())
            arm = policy.choose(belief, t, rng=self._rng)
            reward = reward_at(self._environment, arm, eps, t)
            belief = belief.observe(arm, reward)
            arms[i], rewards[i] = arm, reward
        self._belief = belief
        self._done += noise.size

    def finish(self) -> None:
        """Do nothing: the belief has refused it."""
