"""Players who neither hear nor meet each other: as many runs of single players, played as `simulate` plays them."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.company.engines.protocol import Streams, TeamRun, TeamRuns
from corrbandits.company.team import Team
from corrbandits.policies import Policy
from corrbandits.simulation.engines import Runs
from corrbandits.simulation.engines.compiled import Compiled

SINGLE = Compiled()
"""What plays one player."""


def strangers(team: Team) -> bool:
    """Return whether no player's decisions depend on another's.

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(noise_variance=1.0, arms=5)
    >>> [strangers(Team.of(UCL(), flat, players=2, sharing=way)) for way in ("none", "full")]
    [True, False]
    """
    return team.sharing == "none" and team.collisions == "none" and team.assignment in ("own", "announced")


def why_not_alone(runs: TeamRuns, policy: Policy, belief: Belief) -> str:
    """Return why one of the players could not be played if it were alone, or ""."""
    return SINGLE.refuses(_alone(runs, policy, belief))


@final
class SingleRuns(TeamRun):
    """A run of players who know nothing of each other."""

    def __init__(self, runs: TeamRuns, drawn: Streams) -> None:
        pairs = zip(runs.team.players, drawn.choices, strict=True)
        self._runs = [SINGLE.begin(_alone(runs, *pair), rng) for pair, rng in pairs]
        self.block = 4 * min(run.block for run in self._runs) // len(self._runs) + 1
        self.initialisation = np.zeros(len(runs.team), dtype=np.int64)

    def advance(self, noise: Array, arms: Integers, paid: Array, sent: Integers) -> None:
        """Make as many steps as there is noise, one player after the other."""
        for player, run in enumerate(self._runs):
            run.advance(noise[player], arms[player], paid[player])
            self.initialisation[player] = run.initialisation

    def finish(self) -> None:
        """Refuse what exceeded the doubles on the way."""
        for run in self._runs:
            run.finish()


def _alone(runs: TeamRuns, policy: Policy, belief: Belief) -> Runs:
    return Runs(policy, belief, runs.environment, runs.horizon, runs.seed, runs.first, runs.last, runs.times)
