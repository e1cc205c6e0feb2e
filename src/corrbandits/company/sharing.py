"""What each player believes, and what is sent so that it does.

    name      shape     meaning                                                       literature
    counts    (M, N)    each player's estimate of how often the group took an arm     M n_hat_i^k(t)
    sums      (M, N)    its estimate of what the group's rewards sum to               M s_hat_i^k(t)
    weights   (M, M)    M times the averaging matrix (`graphs.averaging`)             M P
    doubt     -         f(t) = doubt sqrt(log t)                                      f(t)

Running consensus (Landgren, Srivastava and Leonard, 2016 and 2021): n_hat <- P (n_hat + xi), s_hat <- P (s_hat + r),
with xi the arms just taken and r their rewards. Here both are kept times M, so that they are the group's. The mean of
each over the players is exact at every time; who is far from others knows of their rewards late and, for a while, in
part.

A player puts its estimates into the inference of the paper (section 4.1) as if they were counts and sums. That is not
exact: its estimates hold the rewards of others with unequal weights, so that their variance is larger than the
counts say. coop-UCB2 makes up for it: it takes n_hat / (n_hat + f(t - 1)) of each count. On a complete graph with the
weights that average at once, and without doubt, estimates are the group's counts and sums, and all is exact.

A number is counted as sent once for each player that receives it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import numpy as np
import numpy.typing as npt

from corrbandits._core.checks import Array
from corrbandits._core.tally import HARDLY
from corrbandits.belief import Belief, GaussianBelief
from corrbandits.company.graphs import averaging
from corrbandits.company.team import Team

Seen = list[tuple[int, float]]
"""What each player took, and what it takes for a reward of that arm; NaN if nothing."""


class Knowledge(ABC):
    """What the players of a team believe while a run goes on."""

    @abstractmethod
    def beliefs(self, t: int) -> list[Belief]:
        """Return what each player believes before the decision at time t."""

    @abstractmethod
    def learn(self, seen: Seen) -> int:
        """Take in what the players have seen at this step; return how many numbers were sent."""


def begin(team: Team) -> Knowledge:
    """Return what a team knows before the first decision.

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(variance=1.0, noise_variance=1.0, arms=2)
    >>> known = begin(Team.of(UCL(), flat, players=2, sharing="full"))
    >>> known.learn([(0, 3.0), (0, 6.0)])
    4
    >>> [belief.mean.tolist() for belief in known.beliefs(t=2)]
    [[3.0, 0.0], [3.0, 0.0]]
    """
    return Estimated(team) if team.sharing == "consensus" else Heard(team)


def hearing(team: Team) -> npt.NDArray[np.bool_]:
    """Return who hears whom, (M, M): with sharing "full" everybody, with "none" only itself, otherwise neighbours.

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> hearing(Team.of(UCL(), flat, players=3, sharing="neighbours", graph="path")).tolist()
    [[True, True, False], [True, True, True], [False, True, True]]
    """
    own = np.eye(len(team), dtype=np.bool_)
    if team.sharing == "none":
        return own
    return np.ones_like(own) if team.sharing == "full" else own | (team.links > 0)


def circles(team: Team) -> tuple[list[int], list[int]]:
    """Return which belief each player has, by number, and for each belief a player that has it.

    Players that start from one prior and see the same rewards, or average with the same weights, have one belief
    between them.

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> circles(Team.of(UCL(), flat, players=3, sharing="full"))
    ([0, 0, 0], [0])
    """
    numbers: dict[tuple[bytes, int], int] = {}
    rows = averaging(team.links, team.kappa) if team.sharing == "consensus" else hearing(team)
    keys = [(row.tobytes(), id(prior)) for row, (_, prior) in zip(rows, team.players, strict=True)]
    of_players = [numbers.setdefault(key, len(numbers)) for key in keys]
    return of_players, [of_players.index(number) for number in range(len(numbers))]


@final
class Heard(Knowledge):
    """Players who see rewards: their own, their neighbours', or everybody's."""

    def __init__(self, team: Team) -> None:
        self._hears = hearing(team)
        self._of_players, firsts = circles(team)
        self._circles = [np.flatnonzero(self._hears[first]).tolist() for first in firsts]
        self._beliefs = [team.players[first][1] for first in firsts]
        self._receivers = (self._hears.sum(axis=0) - 1).tolist()

    def beliefs(self, t: int) -> list[Belief]:
        """Return what each player believes at time t."""
        self._beliefs = [belief.after(t) for belief in self._beliefs]
        return [self._beliefs[number] for number in self._of_players]

    def learn(self, seen: Seen) -> int:
        """Have every belief see its rewards; each that goes to another is two numbers: the arm, and what it gave."""
        for number, circle in enumerate(self._circles):
            for player in circle:
                arm, reward = seen[player]
                if not math.isnan(reward):
                    self._beliefs[number] = self._beliefs[number].observe(arm, reward)
        return sum(2 * n for n, (_, reward) in zip(self._receivers, seen, strict=True) if not math.isnan(reward))


@final
class Estimated(Knowledge):
    """Players who average estimates of counts and sums with their neighbours."""

    def __init__(self, team: Team) -> None:
        self._weights, self._doubt = averaging(team.links, team.kappa), team.doubt
        self._priors: list[GaussianBelief] = [prior for _, prior in team.players if isinstance(prior, GaussianBelief)]
        self.counts, self.sums = np.zeros((len(team), team.arms)), np.zeros((len(team), team.arms))
        self._sent = 2 * team.arms * int(team.links.sum())

    def beliefs(self, t: int) -> list[Belief]:
        """Return what each player believes at time t: its prior after what it estimates."""
        counts, averages = effective(self.counts, self.sums, self._doubt, t)
        known = zip(self._priors, counts, averages, strict=True)
        return [prior.weighed(n, n * average) if n.any() else prior for prior, n, average in known]

    def learn(self, seen: Seen) -> int:
        """Average with neighbours, who are sent the count and the sum of every arm."""
        players = len(seen)
        for player, (arm, reward) in enumerate(seen):
            if not math.isnan(reward):
                self.counts[player, arm] += players
                self.sums[player, arm] += players * reward
        self.counts, self.sums = self._weights @ self.counts / players, self._weights @ self.sums / players
        return self._sent


def effective(counts: Array, sums: Array, doubt: float, t: int) -> tuple[Array, Array]:
    """Return how many rewards estimated counts, (M, N), are taken for at time t, and the averages.

    >>> effective(np.array([[4.0, 0.0], [2.0, 0.0]]), np.array([[8.0, 0.0], [6.0, 0.0]]), doubt=0.0, t=3)[1]
    array([[2., 0.],
           [3., 0.]])
    """
    known = counts > HARDLY
    averages = np.divide(sums, counts, out=np.zeros(counts.shape), where=known)
    each = counts / len(counts)
    f = doubt * math.sqrt(math.log(max(t - 1, 1)))
    return np.where(known, counts * np.divide(each, each + f, out=np.zeros(counts.shape), where=known), 0.0), averages
