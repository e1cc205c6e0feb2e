"""Why a study chose an arm: what was believed of it then, beside the runner-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits._shell.numbers import number
from corrbandits.belief import Belief, Vague
from corrbandits.policies import IndexPolicy
from corrbandits.study.arms import Arms
from corrbandits.study.choosing import Moment
from corrbandits.study.minded import remarks
from corrbandits.study.settings import Goal

DIGITS = 3, 6
"""Digits of deviations and limits, where more are not needed to tell two of them apart."""


@final
@dataclass(frozen=True)
class Alternative:
    """An arm at the moment of a choice: what was believed of it, and its limit, the number it was compared by.

    `limit` is None for rules that compare no limits. `way` is what it cost to go there, in rewards, where the rule
    weighs that; None where it does not.
    """

    arm: int
    name: str
    mean: float
    deviation: float
    limit: float | None
    way: float | None = None


@final
@dataclass(frozen=True)
class Explanation:
    """Why an arm was chosen: what was believed of it then, the runner-up, and what the rule does with the same events.

    `rank` is the place of its limit among all arms, 1 the best; it may be a later one while arms are tried for the
    first time (`initial`: then the largest variance decides) or if some were not allowed. `mean_rank` is the place of
    its mean. `tied` is how many other arms were as good by the rule, but for rounding: any would have done.
    `replayed` is the arm that the rule chooses here and now from the same events.
    """

    trial: int
    t: int
    chosen: Alternative
    rank: int | None
    mean_rank: int
    runner_up: Alternative | None
    initial: bool
    open: tuple[int, ...]
    replayed: int
    tied: int = 0
    opening: bool = False
    """Whether there were no means and variances yet: then an arm is chosen for its place, far from what was tried."""

    history: bool = False
    """Whether earlier seasons say which arms are better: then those are tried first that did best in these."""

    places: bool = True
    """Whether arms lie anywhere: if not, those that are tried first are taken in their order."""

    way: float | None = None
    """What it cost to go there, in rewards, where the rule weighs that; None where it does not."""

    remarks: tuple[str, ...] = ()
    """What else the rule minded: a probability, a level that is enough, a floor."""

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the arm beside the runner-up."""
        from corrbandits.study.report.notebook import explanation

        return explanation(self)

    def __str__(self) -> str:
        c, second = self.chosen, self.runner_up
        if self.opening:
            text = f"trial {self.trial} (t = {self.t}): {c.name}, in the opening: {self._place()}"
            return text + (f"\nrunner-up: {second.name}" if second else "\nno other arm could be chosen")
        digits = _digits(c, second) if second and not self.tied else DIGITS
        text = f"trial {self.trial} (t = {self.t}): {c.name}, {_said(c, *digits)}"
        if self.rank is not None:
            text += f"; of all arms number {self.rank} by its limit, {self.mean_rank} by its mean"
        if self.way is not None:
            text += f"; the way there costs {number(self.way, 4)}, which is weighed against it"
        text += "".join(f"; {remark}" for remark in self.remarks)
        if self.initial:
            text += "; not chosen by its limit, but to begin with, for its variance"
        if self.tied and second:
            others = f"{second.name}: either" if self.tied == 1 else f"{self.tied:,} other arms: any of them"
            text += f"; tied with {others} would have done as well"
        if second is None:
            return text + "\nno other arm could be chosen"
        way = "" if second.way is None else f"; the way there costs {number(second.way, 4)}"
        return f"{text}\nrunner-up: {second.name}, {_said(second, *digits)}{way}"

    def _place(self) -> str:
        """Return for what an arm was chosen in the opening."""
        if self.history:
            return "the best of earlier seasons" + (", of those not tried yet" if self.t > 1 else "")
        if self.way is not None:
            far = "far from what was tried, and of such arms " if self.t > 1 else ""
            return f"{far}the cheapest to reach, for {number(self.way, 4)}"
        if not self.places:
            return "the first of those tried least"
        return "the farthest from what was tried" if self.t > 1 else "the middle of all arms"


def explained(at: Moment, arm: int, arms: Arms, goal: Goal) -> Explanation:
    """Return why an arm was chosen at a moment."""
    belief = at.belief
    with one_thread():
        limits = at.policy.index(belief, at.t) if isinstance(at.policy, IndexPolicy) else None
    opening = isinstance(belief, Vague) and belief.opening
    alone = at.candidates is not None and at.candidates.size == 1
    second = None if alone or at.told.arms == 1 else at.choose(without=arm)
    return Explanation(
        trial=at.trial,
        t=at.t,
        chosen=_alternative(at, belief, limits, arm, arms, goal),
        rank=None if limits is None else _rank(limits, arm),
        mean_rank=_rank(belief.mean, arm),
        runner_up=None if second is None else _alternative(at, belief, limits, second, arms, goal),
        initial=bool(at.policy.pending(belief)[arm]),
        open=at.open,
        replayed=at.choose(),
        tied=0 if opening else at.ties(limits, arm),
        opening=opening,
        history=isinstance(belief, Vague) and belief.parts.ranked,
        places=not isinstance(belief, Vague) or belief.coordinates is not None,
        way=at.way(arm),
        remarks=tuple(remarks(at, belief, arm)),
    )


def _alternative(at: Moment, belief: Belief, limits: Array | None, arm: int, arms: Arms, goal: Goal) -> Alternative:
    mean, limit = float(belief.mean[arm]), None if limits is None else float(limits[arm])
    if goal == "min":
        mean, limit = belief.mirror - mean, None if limit is None else belief.mirror - limit
    return Alternative(arm, arms.name(arm), mean, float(np.sqrt(belief.variance[arm])), limit, at.way(arm))


def _rank(values: Array, arm: int) -> int:
    return 1 + int(np.count_nonzero(values > values[arm]))


def _digits(one: Alternative, other: Alternative) -> tuple[int, int]:
    """Return with how many digits deviations and limits are written, so that what differs looks different.

    >>> near = [Alternative(0, "a", 1.0, 2.0, limit) for limit in (30.00000041, 30.00000042)]
    >>> _digits(*near)
    (3, 10)
    """

    def needed(first: float | None, second: float | None, least: int) -> int:
        if first is None or second is None or first == second:
            return least
        return next((d for d in range(least, 17) if number(first, d) != number(second, d)), 17)

    return needed(one.deviation, other.deviation, DIGITS[0]), needed(one.limit, other.limit, DIGITS[1])


def _said(one: Alternative, deviation: int, limit: int) -> str:
    compared = "" if one.limit is None else f", limit {number(one.limit, limit)}"
    return f"mean {number(one.mean, 6)} ± {number(one.deviation, deviation)}{compared}"
