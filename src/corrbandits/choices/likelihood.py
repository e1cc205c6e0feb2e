"""How likely a person's choices are under a model, with derivatives, and the part of it that is concave.

    name     shape   meaning
    f        (5,)    weights of what a utility is made of: mean, its share of the prior mean, bonus, last arm, distance
    x        (p,)    1 / temperature, prior_mean / temperature, exploration / temperature, stickiness, distance: those
                     of them that are fitted; f is linear in x

For given length, noise and lapse the likelihood of the others is a conditional logit in x. Newton's method finds its
top in a few steps; along length and noise it is then climbed with its gradient, which at that top is the partial one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices import compiled
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person
from corrbandits.choices.trials import Trials
from corrbandits.choices.views import Compiled, Stepwise, View

Values = Mapping[str, float]

WARMEST, COLDEST = 1e-4, 1e3
"""The ends of 1 / temperature, over the unit of rewards: all arms as good as equally likely, and a thousandth of the
unit enough to prefer one arm to another."""

FLATTEST = 1e-6
"""The smallest prior deviation that is fitted, in units of rewards."""

MOST_ODDS = 10.0
"""The largest stickiness, and the most that the distance to the nearest arm may cost, as a logarithm of odds."""

OF_VALUES = ("prior_mean", "exploration", "prior_sd")
"""The parameters whose coefficients are over the temperature."""

MOST_STEPS = 60
"""Of Newton's method, which takes some five."""


@final
@dataclass(frozen=True)
class Top:
    """Where the likelihood is largest for given length, noise and lapse."""

    values: dict[str, float]
    log_likelihood: float
    ends: dict[str, str]
    """The parameters that are held at an end of where they may lie, and at which: lower or upper."""

    failed: bool
    x: Array
    """The coefficients, in their units."""


@final
class Problem:
    """The choices of one person under one model."""

    def __init__(self, person: Person, model: Model) -> None:
        if person.coordinates is None and model.distance != 0:
            raise ValueError("distance needs to know where arms lie. Give people with coordinates, or leave it out.")
        self.person, self.model = person, model
        self.trials = Trials.of(person, model)
        self.viewer = (Compiled if model.compiled else Stepwise)(person, model, self.trials)
        linear = {"exploration", "temperature", "stickiness", "distance", *self.viewer.linear}
        self.inner = tuple(name for name in model.free if name in linear)
        self.outer = tuple(name for name in model.free if name not in linear)
        self._arms = self.trials.arms[self.trials.chosen]

    def each(self, values: Values) -> Array:
        """Return the log probability of each choice."""
        X = self._utilities(self._weights(values)[None], self.viewer.view(values, derive=False))
        each = np.empty(self._arms.size)
        compiled.logit.choices(X, self._arms, np.empty(0), values["lapse"], each, np.empty((each.size, X.shape[2])))
        return each

    def probabilities(self, values: Values) -> Array:
        """Return the probability of every arm at every choice."""
        X = self._utilities(self._weights(values)[None], self.viewer.view(values, derive=False))
        into = np.empty((X.shape[0], X.shape[2]))
        compiled.logit.laws(X, np.empty(0), values["lapse"], into)
        return into

    def gradient(self, values: Values, view: View | None = None) -> tuple[float, dict[str, float]]:
        """Return the log likelihood and its derivatives along the lines of all parameters that are fitted."""
        view = self.viewer.view(values) if view is None else view
        f, data = self._weights(values), self.trials
        X = self._utilities(f[None], view)
        each, residual = np.empty(self._arms.size), np.empty((self._arms.size, X.shape[2]))
        by_lapse = compiled.logit.choices(X, self._arms, np.empty(0), values["lapse"], each, residual)
        back = tuple(np.zeros_like(view.A) for _ in range(3))
        seen = (view.A, view.B, view.W, data.chosen, data.last, data.cooling, self.person.distances)
        by = compiled.design.parts(f, *seen, residual, *back)
        found = self._along(values, f, by) | {"lapse": by_lapse * PARAMETERS["lapse"].slope(values["lapse"])}
        fitted = (*self.model.free, *self.model.shared)
        if set(fitted) - found.keys():
            found |= self.viewer.back(values, view, *back)
        return float(each.sum()), {name: found[name] for name in fitted}

    def top(self, values: Values, start: Array | None = None) -> tuple[Top, View]:
        """Return the top over the parameters that utilities are linear in, those in `values` given."""
        view = self.viewer.view(values)
        held: dict[str, float] = {}
        x = np.zeros(len(self.inner)) if start is None or len(start) != len(self.inner) else np.array(start)
        while True:
            names = [name for name in self.inner if name not in held]
            units = np.array([self._coefficient_unit(name) for name in names])
            rows = np.array([*(self._row(name, values) for name in names), self._offset(values, held)])
            rows[: len(names)] *= units[:, None]  # so that no product of two overflows, whatever rewards are in
            X = self._utilities(rows, view)
            value, steps = compiled.logit.climb(X, self._arms, x, values["lapse"], MOST_STEPS)
            found = {**dict(zip(names, (x * units).tolist(), strict=True)), **held}
            wrong = self._beyond(found, values)
            if not wrong:
                ends = {name: self._end(name, x_held) for name, x_held in held.items()}
                return Top(self._natural(found, values), value, ends, steps == MOST_STEPS, x), view
            held |= wrong
            x = self._near(found, held)

    def natural_unit(self, name: str, values: Values) -> float:
        """Return by how much a parameter must move along its line for utilities to move by about 1."""
        if name == "exploration":
            return values["temperature"] / self._bonus_unit(values)
        return values["temperature"] if name == "prior_mean" else 1.0

    def _utilities(self, weights: Array, view: View) -> Array:
        data = self.trials
        X = np.empty((self._arms.size, len(weights), self.person.arms))
        seen = (view.A, view.B, view.W, data.chosen, data.last, data.cooling, self.person.distances)
        compiled.design.utilities(weights, *seen, X)
        return X

    def _weights(self, values: Values) -> Array:
        """Return f at these values."""
        value = np.array([self.trials.unit, values.get("prior_mean", 0.0), self._bonus(values), 0.0, 0.0])
        rest = np.array([0.0, 0.0, 0.0, values["stickiness"], values["distance"]])
        return np.asarray(value / values["temperature"] + rest)

    def _bonus(self, values: Values) -> float:
        """Return what W is multiplied with at temperature 1."""
        return values["exploration"] * self._bonus_unit(values)

    def _bonus_unit(self, values: Values) -> float:
        return self.viewer.bonus_unit(values) * self.trials.unit

    def _along(self, values: Values, f: Array, by: Array) -> dict[str, float]:
        """Return derivatives along the lines of the linear parameters, from those by f."""
        found = {
            "temperature": -float(f[:3] @ by[:3]),
            "exploration": float(by[2]) * self._bonus_unit(values) / values["temperature"],
            "stickiness": float(by[3]),
            "distance": float(by[4]),
        }
        more = {"prior_mean": float(by[1]) / values["temperature"], "prior_sd": float(f[2] * by[2])}
        return found | {name: more[name] for name in self.viewer.linear}

    def _row(self, name: str, values: Values) -> list[float]:
        """Return the weights that go with one coefficient of x; what is fitted apart is left out of the mean's."""
        free = set(self.inner)
        match name:
            case "temperature":
                mean = 0.0 if "prior_mean" in free else values.get("prior_mean", 0.0)
                bonus = 0.0 if free & {"exploration", "prior_sd"} else self._bonus(values)
                return [self.trials.unit, mean, bonus, 0.0, 0.0]
            case "prior_mean":
                return [0.0, 1.0, 0.0, 0.0, 0.0]
            case "exploration":
                return [0.0, 0.0, self._bonus_unit(values), 0.0, 0.0]
            case "prior_sd":
                return [0.0, 0.0, values["exploration"], 0.0, 0.0]
            case "stickiness":
                return [0.0, 0.0, 0.0, 1.0, 0.0]
        return [0.0, 0.0, 0.0, 0.0, 1.0]

    def _offset(self, values: Values, held: Values) -> Array:
        """Return the weights of what is not fitted, or held at its end."""
        offset = np.zeros(5)
        if "temperature" not in self.inner:
            offset += np.array(self._row("temperature", values)) / values["temperature"]
        for name in ("stickiness", "distance"):
            if name not in self.inner:
                offset += np.array(self._row(name, values)) * values[name]
        for name, x in held.items():
            offset += np.array(self._row(name, values)) * x
        return offset

    def _near(self, found: Values, held: Values) -> Array:
        """Return coefficients to go on from, once some are held at their ends.

        That is 0, where all arms are as likely and the likelihood bends most. If the temperature is held at its lower
        end, choices would be as good as certain there, and nothing bends: it is then where the search was, with all
        values in the ratios they had.
        """
        names = [name for name in self.inner if name not in held]
        if held.get("temperature", 0.0) * self.trials.unit <= 1.0:
            return np.zeros(len(names))
        share = held["temperature"] / found["temperature"]
        each = [found[name] * (share if name in OF_VALUES else 1.0) / self._coefficient_unit(name) for name in names]
        return np.array(each)

    def _coefficient_unit(self, name: str) -> float:
        """Return the unit of a coefficient while it is looked for: those of values are one over the rewards' unit."""
        return 1 / self.trials.unit if name in ("temperature", "exploration") else 1.0

    def _beyond(self, found: Values, values: Values) -> dict[str, float]:
        """Return the coefficients that lie beyond an end, at that end: the temperature first."""
        least, most_rate = WARMEST / self.trials.unit, COLDEST / self.trials.unit
        if not least <= found.get("temperature", least) <= most_rate:
            return {"temperature": min(max(found["temperature"], least), most_rate)}
        rate = found.get("temperature", 1 / values.get("temperature", 1.0))
        flat = FLATTEST * self.trials.unit * rate
        most = {"stickiness": MOST_ODDS, "distance": MOST_ODDS / self._nearest}
        wrong = {name: math.copysign(m, found[name]) for name, m in most.items() if abs(found.get(name, 0.0)) > m}
        return wrong | ({"prior_sd": flat} if found.get("prior_sd", flat) < flat else {})

    def _end(self, name: str, x: float) -> str:
        """Return at which end a parameter is whose coefficient is held."""
        if name == "temperature":
            return "upper" if x * self.trials.unit < 1.0 else "lower"
        return "upper" if x > 0 and name != "prior_sd" else "lower"

    @cached_property
    def _nearest(self) -> float:
        """The smallest distance of two arms above 0."""
        return float(self.person.distances.min(where=self.person.distances > 0, initial=math.inf))

    def _natural(self, found: Values, values: Values) -> dict[str, float]:
        """Return the values of all parameters from the coefficients."""
        every = dict(values)
        rate = found.get("temperature", 1 / values.get("temperature", 1.0))
        for name, x in found.items():
            every[name] = 1 / x if name == "temperature" else x / rate if name in OF_VALUES else x
        return {name: every[name] for name in PARAMETERS if name in every}


def log_likelihood(person: Person, model: Model, values: Values | None = None) -> float:
    """Return the logarithm of the probability of a person's choices, given the rewards that they saw.

    `values` says what the parameters are that the model does not fix.

    >>> from corrbandits.choices import Round
    >>> somebody = Person([Round([0, 1, 1], [1.0, 3.0, 2.0])], arms=4)
    >>> guessing = Model(prior_mean=0.0, exploration=0.0, temperature=1e9)
    >>> round(log_likelihood(somebody, guessing) / math.log(4), 6)    # three choices among four equal arms
    -3.0
    """
    return float(Problem(person, model).each(model.complete(values)).sum())


def gradient(person: Person, model: Model, values: Values) -> tuple[float, dict[str, float]]:
    """Return the log likelihood, and its derivatives by the parameters that are fitted.

    They are derivatives by the logarithm of a parameter that is positive, and by the log odds of the lapse.

    >>> from corrbandits.choices import Round
    >>> somebody = Person([Round([0, 1, 1], [1.0, 3.0, 2.0])], arms=4)
    >>> value, by = gradient(somebody, Model(prior_mean=0.0, exploration=1.0, prior_sd=1.0), {"temperature": 1.0})
    >>> round(value, 3), round(by["temperature"], 3)
    (-3.125, -0.548)
    """
    return Problem(person, model).gradient(model.complete(values))


def choice_probabilities(person: Person, model: Model, values: Values | None = None) -> Array:
    """Return the probability of every arm at every choice, (choices, arms).

    >>> from corrbandits.choices import Round
    >>> somebody = Person([Round([0, 1], [1.0, 3.0])], arms=2)
    >>> choice_probabilities(somebody, Model(prior_mean=0.0, exploration=0.0), {"temperature": 1.0}).round(3)
    array([[0.5  , 0.5  ],
           [0.729, 0.271]])
    """
    return Problem(person, model).probabilities(model.complete(values))
