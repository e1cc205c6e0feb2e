"""Players who share what they see, or compete: who they are, who hears whom, what happens where they meet."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

from corrbandits._core import checks
from corrbandits._core.checks import Integers
from corrbandits.belief import Belief, GaussianBelief
from corrbandits.company.collisions import COLLISIONS
from corrbandits.company.graphs import links_of
from corrbandits.policies import IndexPolicy, Policy, Wrapper

SHARING = ("full", "none", "neighbours", "consensus")
ASSIGNMENTS = ("own", "announced", "turns", "optimal", "ranks", "rotating", "chairs")
BY_INDEX = ("optimal", "ranks", "rotating", "chairs")
"""The assignments that compare the indices of arms."""

MOST_PLAYERS = 1_000


@final
@dataclass(frozen=True)
class Team:
    """Several players of one bandit: what each plays, how they share, what happens where they meet.

    `players` are pairs of a policy and the belief it starts from; `Team.of` makes a team of equals.

    `sharing` is "full": every player has seen every reward at the next step; "neighbours": its own and those of its
    neighbours in the `graph`; "none": its own; or "consensus": neighbours average estimates of counts and sums, with
    the step `kappa` (from above 0 to 1), and each believes what these tell it. `doubt` counts such estimates for less,
    as coop-UCB2 does (see `coop_ucb2`). The graph is "complete", "ring", "star", "path" or a matrix of links.

    `collisions` are "none", "lost" (who is not alone gets nothing), "one" (one of those on an arm is paid) or "split"
    (they share). Players that have `sensed` a collision do not take a reward that they lost for the arm's.

    `assignment` is how arms are chosen: by each on its "own"; or so that players avoid each other, see
    `corrbandits.company.assignment`: "announced", "turns", "optimal", "ranks", "rotating" or "chairs".

    >>> from corrbandits import UCL, Independent
    >>> flat = Independent(noise_variance=1.0, arms=5)
    >>> Team.of(UCL(), flat, players=4, sharing="consensus", graph="ring")
    <Team of 4 players: UCL, consensus on a ring>
    """

    players: Sequence[tuple[Policy, Belief]]
    sharing: str = "full"
    graph: Any = "complete"
    collisions: str = "none"
    sensed: bool = True
    assignment: str = "own"
    kappa: float | None = None
    doubt: float = 0.0

    def __post_init__(self) -> None:
        checks.set_field(self, "players", _players(self.players))
        for name, choices in (("sharing", SHARING), ("collisions", COLLISIONS), ("assignment", ASSIGNMENTS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r:.60}.")
        checks.flag("sensed", self.sensed)
        if not isinstance(self.graph, str):
            links = links_of(self.graph, len(self.players))
            checks.set_field(self, "graph", tuple(map(tuple, links.tolist())))
        if self.kappa is not None:
            checks.set_field(self, "kappa", checks.number("kappa", self.kappa, above=0, up_to=1))
        checks.set_field(self, "doubt", checks.number("doubt", self.doubt, least=0))
        _ = self.links
        self._refuse_sharing()
        self._refuse_meetings()
        if self.collisions == "lost" and self.sensed and self.assignment == "own":
            self._warn_of_equals()

    @classmethod
    def of(cls, policy: Policy, belief: Belief, players: int, **options: Any) -> Self:
        """Return a team of equals, with the options of a team.

        >>> from corrbandits import UCL, Independent
        >>> len(Team.of(UCL(), Independent(noise_variance=1.0, arms=5), players=3).players)
        3
        """
        number = checks.integer("players", players, least=1, most=MOST_PLAYERS)
        return cls([(policy, belief)] * number, **options)

    def __len__(self) -> int:
        return len(self.players)

    @property
    def arms(self) -> int:
        """The number of arms, N."""
        return self.players[0][1].arms

    @cached_property
    def links(self) -> Integers:
        """Who hears whom, (M, M): 1 or 0."""
        return links_of(self.graph, len(self.players))

    def __repr__(self) -> str:
        rules = list(dict.fromkeys(type(policy).__name__ for policy, _ in self.players))
        graph = f"a {self.graph}" if isinstance(self.graph, str) else "a graph of their own"
        parts = [
            f"{self.sharing} sharing" if self.sharing in ("full", "none") else f"{self.sharing} on {graph}",
            *([] if self.kappa is None else [f"kappa {self.kappa:g}"]),
            *([f"doubt {self.doubt:g}"] if self.doubt else []),
            *([] if self.assignment == "own" else [f"assignment {self.assignment}"]),
            *([] if self.collisions == "none" else [f"collisions {self.collisions}"]),
            *([] if self.collisions == "none" or self.sensed else ["not sensed"]),
        ]
        return f"<Team of {len(self)} player{'s' * (len(self) > 1)}: {', '.join([*rules, *parts])}>"

    def _refuse_sharing(self) -> None:
        """Refuse what only goes with consensus, and beliefs that cannot be made of estimates."""
        if self.sharing != "consensus":
            if self.kappa is not None or self.doubt:
                raise ValueError(
                    f"kappa and doubt go with sharing='consensus', got sharing={self.sharing!r}. Leave them out."
                )
            return
        for _, belief in self.players:
            fits = isinstance(belief, GaussianBelief) and belief.fixed_prior
            if not fits or belief.counts.any() or belief.awaited:
                raise ValueError(
                    "consensus is for priors such as Independent or Correlated that have seen and await nothing, got "
                    f"{belief!r}. Take such a prior, or sharing='full' or 'neighbours'."
                )

    def _refuse_meetings(self) -> None:
        """Refuse more players than arms where they may not meet, and rules that an assignment cannot use."""
        if (self.collisions != "none" or self.assignment in (*BY_INDEX, "turns")) and len(self) > self.arms:
            raise ValueError(
                f"{len(self)} players cannot avoid each other on {self.arms} arms. Take as many arms as players, or "
                "collisions='none' and assignment='own'."
            )
        for policy, belief in self.players:
            if self.assignment in BY_INDEX and not (
                isinstance(policy, IndexPolicy) and not isinstance(policy, Wrapper)
            ):
                raise TypeError(
                    f"assignment {self.assignment!r} compares indices, but {type(policy).__name__} has none, or minds "
                    "more than these. Take assignment='turns', or a rule such as UCL."
                )
            if self.collisions != "none" and not self.sensed:
                belief.checked_reward(0.5 if self.collisions == "split" else 0.0)
        if self.assignment == "chairs" and (self.collisions == "none" or not self.sensed):
            raise ValueError(
                "assignment 'chairs' needs collisions that are sensed: a player moves on when it meets another. Take "
                "collisions='lost', 'one' or 'split' with sensed=True, or another assignment."
            )

    def _warn_of_equals(self) -> None:
        """Warn of equal players that try the same unknown arm for ever, because one that is lost teaches nothing."""
        for number, (policy, belief) in enumerate(self.players):
            other = next(k for k, (rule, prior) in enumerate(self.players) if prior is belief and rule == policy)
            if other < number and policy.pending(belief).any():
                warnings.warn(
                    f"players {other} and {number} are equal and try the same unknown arms first: where a lost reward "
                    "teaches nothing, they collide for ever. Give them a prior of finite variance and a rule with "
                    "chance such as Thompson, different priors, sensed=False, or an assignment such as 'turns'.",
                    RuntimeWarning,
                    stacklevel=4,
                )
                return


def _players(given: Any) -> tuple[tuple[Policy, Belief], ...]:
    pairs = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if not 1 <= len(pairs) <= MOST_PLAYERS:
        raise TypeError(
            f"players must be 1 to {MOST_PLAYERS:,} pairs (policy, belief), got {given!r:.60}. For equals, "
            "Team.of(policy, belief, players=10)."
        )
    for number, pair in enumerate(pairs):
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(map(isinstance, pair, (Policy, Belief)))):
            raise TypeError(f"player {number} must be a pair (policy, belief), got {pair!r:.80}.")
        if pair[1].arms != pairs[0][1].arms:
            raise ValueError(
                f"all players face the same arms, but player {number} believes in {pair[1].arms} and player 0 in "
                f"{pairs[0][1].arms}."
            )
    return pairs
