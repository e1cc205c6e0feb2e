"""Who plays: rules by name, and what each of them is told.

Told everything, a rule has the prior that mean rewards were drawn from; told wrongly, that prior with one thing
wrong; told nothing, it knows where the arms lie. Long games and many arms have fewer contestants: what is slow there,
or was decided by shorter games, does not play.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from corrbandits.arena.problems import Problem
from corrbandits.belief import Belief, Discounted, Windowed
from corrbandits.policies import (
    GPUCB,
    UCL,
    CorrelatedUCL,
    Gittins,
    Greedy,
    HorizonUCL,
    InformationDirected,
    KnowledgeGradient,
    Policy,
    Thompson,
    Uniform,
)

EVERYTHING, NOTHING = "everything", "nothing"

KINDS = (EVERYTHING, NOTHING, "wrongly")
"""How a rule may be told."""

RULES: dict[str, Callable[[int], Policy]] = {
    "Gittins": lambda horizon: Gittins(horizon),
    "Gittins without an end": lambda _: Gittins(),
    "HorizonUCL": lambda horizon: HorizonUCL(horizon),
    "UCL a=1": lambda _: UCL(a=1.0),
    "UCL a=0.5": lambda _: UCL(a=0.5),
    "CorrelatedUCL": lambda _: CorrelatedUCL(a=1.0),
    "GP-UCB": lambda _: GPUCB(scale=0.2),
    "Thompson": lambda _: Thompson(),
    "KnowledgeGradient": lambda horizon: KnowledgeGradient(horizon),
    "InformationDirected": lambda _: InformationDirected(),
    "Greedy": lambda _: Greedy(),
    "Random": lambda _: Uniform(),
}
"""Every rule by its name: given the horizon, the policy."""

WRONG: dict[str, dict[str, Any]] = {
    "length x 4": {"length": 4.0},
    "length / 4": {"length": 0.25},
    "sd x 2": {"sd": 2.0},
    "sd / 2": {"sd": 0.5},
    "mean + 2 sd": {"mean": 2.0},
    "mean - 2 sd": {"mean": -2.0},
    "noise x 2": {"noise": 2.0},
    "noise / 2": {"noise": 0.5},
}
"""Every way of being told wrongly, by its name: the arguments of `Problem.told`."""

LITTLE_TOLD = "nothing, not of change"
WINDOW, DISCOUNT = "everything, by a window", "everything, discounted"
"""What rules are told besides where mean rewards change: as if they did not; or the law of one time and, for what form
of change it is, a window or a discount, as Garivier and Moulines (2011) choose them for the right number of changes."""

OF_CHANGE = (LITTLE_TOLD, WINDOW, DISCOUNT)

ON_CHANGE = ("Gittins", "HorizonUCL", "UCL a=1", "Greedy")
"""Who plays where mean rewards change, told everything or nothing."""

TOLD_WRONGLY = ("Gittins", "HorizonUCL", "UCL a=1", "CorrelatedUCL")
TOLD_NOTHING = ("Gittins", "Gittins without an end", "HorizonUCL")
TOLD_NOTHING_SHORT = ("GP-UCB", "Greedy")
TOLD_NOTHING_STEPWISE = {"Thompson": 200, "UCL a=1": 50}
"""These are not compiled on a belief told nothing: they play games of few arms, and of no more decisions than this."""

STEPWISE = {"InformationDirected": 50}
"""These are not compiled on any belief."""

LONGEST = 1_000
"""Longer games are played by fewer."""

SHORT, FEW_ARMS, MANY_ARMS = 200, 160, 400


class Contestant(NamedTuple):
    """A rule, and what it is told.

    >>> DEFAULT.policy(horizon=40)
    Gittins(horizon=40)
    """

    rule: str
    told: str

    def policy(self, horizon: int) -> Policy:
        """Return the rule, for so many decisions."""
        return RULES[self.rule](horizon)

    @property
    def kind(self) -> str:
        """How it is told: everything, nothing or wrongly.

        >>> Contestant("UCL a=1", "length x 4").kind, Contestant("Gittins", "nothing, not of change").kind
        ('wrongly', 'nothing')
        """
        return "wrongly" if self.told in WRONG else self.told.split(",")[0]

    def belief(self, given: Problem, horizon: int = SHORT) -> Belief:
        """Return what it is told of a problem of so many decisions."""
        if self.told == NOTHING:
            return given.told_nothing()
        if self.told == LITTLE_TOLD:
            return replace(given, change=None).told_nothing()
        if self.told in (WINDOW, DISCOUNT) and given.change is not None:
            law: Any = replace(given, change=None).told()
            if self.told == WINDOW:
                return Windowed(prior=law, window=max(2 * math.sqrt(given.change.scale * math.log(horizon)), 1.0))
            return Discounted(prior=law, factor=1 - 0.25 / math.sqrt(max(given.change.scale, 1.0)))
        return given.told(**WRONG.get(self.told, {}))


DEFAULT = Contestant("Gittins", NOTHING)
"""What `recommend` names for who says nothing."""


def on_change(horizon: int) -> list[Contestant]:
    """Return who plays a problem whose mean rewards change, those of one belief together.

    >>> [one.told for one in on_change(horizon=10_000)]
    ['everything', 'everything', 'nothing, not of change']
    """
    rules = ON_CHANGE if horizon <= LONGEST else ("Gittins",)
    told = [Contestant(rule, EVERYTHING) for rule in (*rules, "Random")]
    nothing = [Contestant(rule, NOTHING) for rule in rules] if horizon <= LONGEST else []
    forgetful = [Contestant("UCL a=1", how) for how in (WINDOW, DISCOUNT)] if horizon <= LONGEST else []
    return [*told, *nothing, Contestant("Gittins", LITTLE_TOLD), *forgetful]


def contestants(horizon: int, arms: int) -> list[Contestant]:
    """Return who plays a problem of so many arms, those of one belief together.

    >>> len(contestants(horizon=200, arms=100)), len(contestants(horizon=10_000, arms=100))
    (49, 14)
    """
    short = horizon <= SHORT
    nothing = list(TOLD_NOTHING[:1] if arms > MANY_ARMS else TOLD_NOTHING)
    if short and arms <= MANY_ARMS:
        nothing += TOLD_NOTHING_SHORT
    if arms <= FEW_ARMS:
        nothing += [rule for rule, longest in TOLD_NOTHING_STEPWISE.items() if horizon <= longest]
    everything = [
        Contestant(rule, EVERYTHING)
        for rule in RULES
        if rule not in STEPWISE or (horizon <= STEPWISE[rule] and arms <= FEW_ARMS)
    ]
    wrongly = [Contestant(rule, how) for how in WRONG for rule in TOLD_WRONGLY if horizon <= LONGEST]
    return [*everything, *(Contestant(rule, NOTHING) for rule in nothing), *wrongly]
