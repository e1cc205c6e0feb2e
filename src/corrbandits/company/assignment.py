"""How the players of a team come to their arms.

    own         each takes what its rule chooses. Equal players who know the same choose alike
    announced   one after the other: each knows what those before it, of those it hears, take at this step, and awaits
                their rewards, as several people do who ask one study
    turns       one after the other: an arm that is taken is left to who took it
    optimal     a centre hears all indices and assigns arms so that their sum is largest (`linear_sum_assignment`)
    ranks       nothing is said: player k takes the arm of its k-th largest index, as in coop-UCB2-selective-learning
                (Landgren, Srivastava and Leonard, 2021) and rho-PRE (Anandkumar and others, 2011)
    rotating    the same, the ranks going round with time, so that all are paid alike: TDFS (Liu and Zhao, 2010)
    chairs      nothing is said: each sits on one of its M best arms where it was alone, and who meets another draws
                again. Musical chairs (Rosenski, Shamir and Szlak, 2016) by an index: MCTopM (Besson and Kaufmann, 2018)

Arms that a rule must try first come before all others, the one of largest variance first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.company.sharing import hearing
from corrbandits.company.team import Team
from corrbandits.policies import IndexPolicy, Policy


@final
class Assigner:
    """Chooses the arms of a team's players, step by step; the draws of each come from a generator of its own."""

    def __init__(self, team: Team, generators: Sequence[np.random.Generator]) -> None:
        self._team, self._generators, self._hears = team, generators, hearing(team)
        ways = {
            "own": self._own,
            "announced": self._announced,
            "turns": self._turns,
            "optimal": self._optimal,
            "ranks": self._ranks,
            "rotating": self._rotating,
            "chairs": self._chairs,
        }
        self._choose = ways[team.assignment]
        self._last: list[int | None] = [None] * len(team)
        self._ahead: list[list[int]] = [[] for _ in team.players]  # what is left of each player's plan, the next last
        self._met, self._sits = [False] * len(team), [False] * len(team)
        self._wanted: list[Array] = []
        self.sent = sent_by_choosing(team)

    def arms(self, beliefs: list[Belief], t: int) -> list[int]:
        """Return the arm that each player takes at time t."""
        arms = self._choose(beliefs, t)
        self._met = [arms.count(arm) > 1 for arm in arms]
        self._last = list(arms)
        return arms

    def _own(self, beliefs: list[Belief], t: int) -> list[int]:
        return [self._by_rule(player, belief, t) for player, belief in enumerate(beliefs)]

    def _announced(self, beliefs: list[Belief], t: int) -> list[int]:
        taken: list[int] = []
        for player, belief in enumerate(beliefs):
            known = [arm for other, arm in enumerate(taken) if self._hears[player, other]]
            taken.append(self._by_rule(player, belief.assume(known) if known else belief, t))
        return taken

    def _turns(self, beliefs: list[Belief], t: int) -> list[int]:
        taken: list[int] = []
        for player, belief in enumerate(beliefs):
            free = np.setdiff1d(np.arange(self._team.arms), taken) if taken else None
            taken.append(self._by_rule(player, belief, t, free))
        return taken

    def _optimal(self, beliefs: list[Belief], t: int) -> list[int]:
        from scipy.optimize import linear_sum_assignment

        _, arms = linear_sum_assignment(np.array(self._indices(beliefs, t)), maximize=True)
        return [int(arm) for arm in arms]

    def _ranks(self, beliefs: list[Belief], t: int) -> list[int]:
        return [int(ranked(index)[player]) for player, index in enumerate(self._indices(beliefs, t))]

    def _rotating(self, beliefs: list[Belief], t: int) -> list[int]:
        players = len(self._team)
        indices = enumerate(self._indices(beliefs, t))
        return [int(ranked(index)[(player + t - 1) % players]) for player, index in indices]

    def _chairs(self, beliefs: list[Belief], t: int) -> list[int]:
        before, self._wanted = self._wanted, self._indices(beliefs, t)
        return [self._chair(player, before) for player in range(len(self._team))]

    def _chair(self, player: int, before: list[Array]) -> int:
        """Return where a player sits: where it was, or on a chair it draws (MCTopM, transitions 1 to 5)."""
        last, best = self._last[player], ranked(self._wanted[player])[: len(self._team)]
        if last is not None and last in best and (self._sits[player] or not self._met[player]):
            self._sits[player] = True
            return last
        self._sits[player] = False
        if last is not None and last not in best:  # an arm that has come up among the best: no better than it was
            risen = best[before[player][best] <= before[player][last]]
            best = risen if risen.size else best
        return int(best[int(self._generators[player].random() * best.size)])

    def _by_rule(self, player: int, belief: Belief, t: int, free: Integers | None = None) -> int:
        """Return the next arm of a player's plan; if there is none, or that arm is not free, of a new plan."""
        ahead, (policy, _) = self._ahead[player], self._team.players[player]
        if not ahead or (free is not None and ahead[-1] not in free):
            rng, last = self._generators[player], self._last[player]
            ahead[:] = reversed(policy.plan(belief, t, rng=rng, allowed=free, last=last))
        return ahead.pop()

    def _indices(self, beliefs: list[Belief], t: int) -> list[Array]:
        return [wanted(policy, belief, t) for (policy, _), belief in zip(self._team.players, beliefs, strict=True)]


def ranked(index: Array) -> Integers:
    """Return the arms from the largest index to the least; equals in the order of arms.

    >>> ranked(np.array([1.0, 3.0, 3.0, 2.0]))
    array([1, 2, 3, 0])
    """
    return np.argsort(-index, kind="stable").astype(np.int64)


def wanted(policy: Policy, belief: Belief, t: int) -> Array:
    """Return the indices of all arms, finite; those that must be tried first above all others, by their variance.

    >>> from corrbandits import UCL, Independent
    >>> wanted(UCL(), Independent(mean=[0.0, 1.0, 9.0], variance=[np.inf, 1.0, 1.0], noise_variance=1.0), t=1).round(2)
    array([17.7, 1.7, 9.7])
    """
    assert isinstance(policy, IndexPolicy)
    index, pending = np.array(policy.index(belief, t)), policy.pending(belief)
    first = pending | np.isposinf(index)
    if first.any():
        rest = index[~first]
        top, apart = (rest.max(), np.ptp(rest)) if rest.size else (0.0, 0.0)
        order = np.unique(belief.variance[first], return_inverse=True)[1]
        index[first] = top + (apart or 1.0) * (1.0 + order)
    return index


def sent_by_choosing(team: Team) -> int:
    """Return how many numbers a step's choice sends: arms to those who choose later, or indices to a centre.

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(noise_variance=1.0, arms=5)
    >>> sent_by_choosing(Team.of(UCL(), flat, players=3, assignment="turns"))
    3
    """
    players = len(team)
    if team.assignment == "announced":
        return int(np.tril(hearing(team), -1).sum())
    return {"turns": players * (players - 1) // 2, "optimal": players * (team.arms + 1)}.get(team.assignment, 0)
