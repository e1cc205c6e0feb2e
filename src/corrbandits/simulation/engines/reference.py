"""The reference engine: choose, draw, observe, with the beliefs and policies as they are."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
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
        self._ahead: list[int] = []  # the arms that the policy has planned, the next at the end
        self._last: int | None = None
        self.block = NUMBERS // runs.belief.arms + 1

    def advance(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise."""
        policy, belief = self._policy, self._belief
        for i, eps in enumerate(noise.tolist()):
            t = self._done + i + 1
            belief = belief.after(t)
            self.initialisation += bool(policy.pending(belief).any())
            arm = self._next(belief, t)
            reward = reward_at(self._environment, arm, eps, t)
            belief = belief.observe(arm, reward)
            arms[i], rewards[i] = arm, reward
        self._belief = belief
        self._done += noise.size

    def _next(self, belief: Belief, t: int) -> int:
        """Return the next arm of the plan; make another if it is done."""
        if not self._ahead:
            self._ahead = [*reversed(self._policy.plan(belief, t, rng=self._rng, last=self._last))]
            if not self._ahead:
                raise ValueError(f"a plan must name an arm at least, but that of {self._policy!r:.60} is empty.")
        self._last = self._ahead.pop()
        return self._last

    def finish(self) -> None:
        """Do nothing: the belief has refused it."""
