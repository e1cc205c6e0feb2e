"""What a person saw in the arms before each trial: means and bonuses, and how these depend on parameters.

Of means that do not change the posterior mean is A + prior_mean B, and the bonus prior_sd W, where A, B and W depend
on length and noise alone: so everything else in a utility is linear.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Belief
from corrbandits.choices import compiled
from corrbandits.choices.correlations import Correlations
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person
from corrbandits.choices.trials import Trials
from corrbandits.policies import IndexPolicy

Values = Mapping[str, float]


@final
@dataclass(frozen=True, eq=False)
class View:
    """What is believed before each trial, in units of the rewards' `unit`: mean A + prior_mean B, bonus W."""

    A: Array
    B: Array
    W: Array
    workings: tuple[Array, ...] = ()
    """What derivatives need besides."""


class Viewer(ABC):
    """How a person sees the arms, given the parameters that this depends on in other ways than linearly."""

    def __init__(self, person: Person, model: Model, trials: Trials) -> None:
        self.person, self.model, self.trials = person, model, trials

    linear: ClassVar[frozenset[str]]
    """The parameters of the prior that utilities are linear in."""

    def reach(self) -> tuple[float, float]:
        """Return the smallest distance of two arms above 0 and the largest, in lengths of the kernel."""
        return Correlations(self.model.kernel, self.person.coordinates, self.person.arms).reach()

    @abstractmethod
    def view(self, values: Values, *, derive: bool = True) -> View:
        """Return what is seen."""

    @abstractmethod
    def back(self, values: Values, view: View, by_A: Array, by_B: Array, by_W: Array) -> dict[str, float]:
        """Return derivatives along the lines of the other parameters, from those by what is seen."""

    @abstractmethod
    def bonus_unit(self, values: Values) -> float:
        """Return what W is multiplied with, in units of the rewards' unit."""


@final
class Compiled(Viewer):
    """Arms that do not change, and a limit: in compiled loops, with exact derivatives."""

    linear = frozenset({"prior_mean", "prior_sd"})

    @cached_property
    def _correlations(self) -> Correlations:
        return Correlations(self.model.kernel, self.person.coordinates, self.person.arms)

    def bonus_unit(self, values: Values) -> float:
        """Return the prior deviation."""
        return values["prior_sd"] / self.trials.unit

    def view(self, values: Values, *, derive: bool = True) -> View:
        """Return what is seen, by a Cholesky factor that grows by a row a trial."""
        data, shape = self.trials, (self.trials.arms.size, self.person.arms)
        K, slope = self._correlations.at(values.get("length", 1.0))
        A, B, D, V = (np.empty(shape) for _ in range(4))
        q, a, b = (np.empty(shape[0]) for _ in range(3))
        ratio = values["noise"] ** 2
        compiled.posterior.posterior(K, ratio, data.arms, data.rewards, data.starts, A, B, D, V, q, a, b)
        if not self.model.has_factor:
            S = np.sqrt(D)
            return View(A, B, data.widths[:, None] * S, (slope, V, q, a, b, S))
        S, by_slope, by_ratio = (np.empty(shape) for _ in range(3))
        compiled.posterior.printed(K, slope, ratio, data.arms, data.starts, S, by_slope, by_ratio, derive)
        return View(A, B, data.widths[:, None] * S, (slope, V, q, a, b, by_slope, by_ratio))

    def back(self, values: Values, view: View, by_A: Array, by_B: Array, by_W: Array) -> dict[str, float]:
        """Return the derivatives by log length and log noise."""
        data, (slope, V, q, a, b, *bonus) = self.trials, view.workings
        by_W *= data.widths[:, None]
        along = by_ratio = 0.0
        by_D = np.zeros_like(by_W)
        if self.model.has_factor:
            along, by_ratio = float((by_W * bonus[0]).sum()), float((by_W * bonus[1]).sum())
        else:
            S = bonus[0]
            np.divide(by_W, 2 * S, out=by_D, where=S > 0)
        more = compiled.posterior.adjoint(by_A, by_B, by_D, slope, data.arms, data.starts, V, q, a, b)
        found = {"noise": (by_ratio + more[1]) * 2 * values["noise"] ** 2}
        return found | ({"length": along + more[0]} if "length" in values else {})


@final
class Stepwise(Viewer):
    """Any belief and any rule with an index, asked trial by trial; derivatives are differences."""

    linear = frozenset()
    STEP = 1e-5

    def bonus_unit(self, values: Values) -> float:
        """Return 1: the bonus is in the unit of rewards."""
        return 1.0

    def view(self, values: Values, *, derive: bool = True) -> View:
        """Return what is seen, from the belief before each trial; what was asked last is not asked again."""
        known = tuple(values[name] for name in self.model.prior.uses if name in values)
        if self._last is None or self._last[0] != known:
            self._last = known, self._asked(values)
        return self._last[1]

    _last: tuple[tuple[float, ...], View] | None = None
    """The parameters of the prior that were asked for last, and what was seen."""

    def _asked(self, values: Values) -> View:
        means, bonuses = [], []
        prior = self.model.prior(self.person, self.model.kernel, values)
        for each in self.person.rounds:
            belief, rule = prior, self.model.rule_of(each.horizon)
            for t, (arm, reward) in enumerate(zip(each.arms.tolist(), each.rewards.tolist(), strict=True), 1):
                belief = belief.after(t)
                means.append(belief.mean)
                bonuses.append(_bonus(belief, rule, t - each.given))
                belief = belief.observe(arm, reward)
        A, W = (np.array(rows).reshape(-1, self.person.arms) / self.trials.unit for rows in (means, bonuses))
        return View(A, np.zeros_like(A), W)

    def back(self, values: Values, view: View, by_A: Array, by_B: Array, by_W: Array) -> dict[str, float]:
        """Return the derivatives along the line of each parameter of the prior that is fitted."""
        found = {}
        for name in set(self.model.prior.uses) & {*self.model.free, *self.model.shared}:
            place = PARAMETERS[name].line(values[name])
            up, down = (
                self._asked({**values, name: PARAMETERS[name].value(place + step)}) for step in (self.STEP, -self.STEP)
            )
            change = (by_A * (up.A - down.A)).sum() + (by_W * (up.W - down.W)).sum()
            found[name] = float(change) / (2 * self.STEP)
        return found


def _bonus(belief: Belief, rule: IndexPolicy | None, t: int) -> Array:
    """Return the index less the mean at choice t; an arm of which nothing is known has the largest there is, or 0."""
    if t < 1:
        return np.zeros(belief.arms)
    bonus = (belief.limit(1.0) if rule is None else rule.index(belief, t)) - belief.mean
    known = np.isfinite(bonus)
    return np.where(known, bonus, bonus[known].max(initial=0.0))
