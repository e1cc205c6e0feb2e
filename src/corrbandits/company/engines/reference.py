"""The reference engine of teams: choose, draw, pay, learn, with the beliefs and policies as they are."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.company.assignment import Assigner
from corrbandits.company.collisions import outcome
from corrbandits.company.engines.protocol import Streams, TeamEngine, TeamRun, TeamRuns
from corrbandits.company.sharing import begin
from corrbandits.environments import reward_at

NUMBERS = 20_000
"""A block of steps goes through about as many numbers."""


@final
class TeamReference(TeamEngine):
    """Plays every team."""

    name = "reference"

    def refuses(self, runs: TeamRuns) -> str:
        """Return "": it plays anything."""
        return ""

    def begin(self, runs: TeamRuns, drawn: Streams) -> TeamRun:
        """Return a run that asks policies and beliefs at every step."""
        return ReferenceRun(runs, drawn)


@final
class ReferenceRun(TeamRun):
    """A run whose every step is a call of each player's policy and belief."""

    def __init__(self, runs: TeamRuns, drawn: Streams) -> None:
        self._runs, self._referee, self._done = runs, drawn.referee, 0
        self._known, self._assigner = begin(runs.team), Assigner(runs.team, drawn.choices)
        self.initialisation = np.zeros(len(runs.team), dtype=np.int64)
        self.block = NUMBERS // (runs.team.arms * len(runs.team)) + 1

    def advance(self, noise: Array, arms: Integers, paid: Array, sent: Integers) -> None:
        """Make as many steps as there is noise."""
        team, environment = self._runs.team, self._runs.environment
        for i, eps in enumerate(noise.T.tolist()):
            t = self._done + i + 1
            beliefs = self._known.beliefs(t)
            for player, ((policy, _), belief) in enumerate(zip(team.players, beliefs, strict=True)):
                self.initialisation[player] += bool(policy.pending(belief).any())
            taken = self._assigner.arms(beliefs, t)
            drawn = [reward_at(environment, arm, x, t) for arm, x in zip(taken, eps, strict=True)]
            paid[:, i], seen = outcome(team.collisions, team.sensed, taken, drawn, self._referee)
            arms[:, i] = taken
            sent[i] = self._assigner.sent + self._known.learn(list(zip(taken, seen, strict=True)))
        self._done += noise.shape[1]

    def finish(self) -> None:
        """Do nothing: the beliefs have refused it."""
