"""Several people with parameters in common: the values that all share, how sure they are, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final, overload

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import counted, number
from corrbandits.choices.curvature import curvature
from corrbandits.choices.fitting import Fit, fit
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person
from corrbandits.choices.spreading import SideBySide


@final
@dataclass(frozen=True, eq=False)
class Fits(Sequence[Fit]):
    """The fits of several people, in their order, and what they share; `fit_people` makes it.

    >>> from corrbandits.choices import Round, fit_people
    >>> anna = Person([Round([0, 1, 1, 0, 1], [1.0, 3.0, 2.0, 1.5, 2.0])], arms=2, name="Anna")
    >>> ben = Person([Round([0, 1, 0, 1, 1], [1.0, 3.0, 2.0, 1.5, 2.0])], arms=2, name="Ben")
    >>> both = fit_people([anna, ben], Model(prior_mean=1.0, exploration=0.0, temperature="shared"))
    >>> len(both), both.parameters, {name: round(value, 2) for name, value in both.shared.items()}
    (2, 1, {'temperature': 3.56})
    >>> print(fit_people([anna, ben], Model(prior_mean=1.0, exploration=0.0)))
    2 people, log likelihood -6.7269
    person  temperature
    Anna    2.11 ± 3.5
    Ben     13.4 ± 140
    """

    model: Model
    each: tuple[Fit, ...]
    shared: dict[str, float] = field(default_factory=dict)
    """The values of the parameters that all people share."""

    shared_covariance: Array = field(default_factory=lambda: np.empty((0, 0)))
    """Of these on their lines, all others being fitted anew; inf where unknown."""

    @overload
    def __getitem__(self, place: int) -> Fit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Fit, ...]: ...
    def __getitem__(self, place: int | slice) -> Fit | tuple[Fit, ...]:
        return self.each[place]

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Fit]:
        return iter(self.each)

    @property
    def log_likelihood(self) -> float:
        """That of the choices of all people."""
        return sum(one.log_likelihood for one in self.each)

    def __str__(self) -> str:
        names = [*self.model.free, "notes"] if any(one.notes for one in self.each) else [*self.model.free]
        rows = [["person", *names], *([str(one.person), *_cells(one, names)] for one in self.each)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head = f"{counted(len(self.each), 'person', 'people')}, log likelihood {self.log_likelihood:.4f}"
        values = [
            f"{name} of all: {number(self.shared[name], 4)} ± {number(self.errors[name], 2)}" for name in self.shared
        ]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([head, *values, *lines])

    @property
    def parameters(self) -> int:
        """How many are fitted: those of every person, and those that are shared once."""
        return len(self.shared) + len(self.model.free) * len(self.each)

    @property
    def errors(self) -> dict[str, float]:
        """The standard error of each shared parameter; inf where the choices tell nothing of it."""
        each = np.sqrt(self.shared_covariance.diagonal()).tolist()
        return {name: e * PARAMETERS[name].slope(self.shared[name]) for name, e in zip(self.shared, each, strict=True)}

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % interval of a shared parameter, made on its line."""
        place = list(self.shared).index(name)
        return PARAMETERS[name].interval(self.shared[name], float(self.shared_covariance[place, place]))

    @property
    def aic(self) -> float:
        """Akaike's criterion of the group: twice the number of `parameters`, less twice the log likelihood."""
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian criterion of the group: people's own, and the logarithm of all choices for what is shared."""
        choices = sum(one.choices for one in self.each)
        return sum(one.bic for one in self.each) + (math.log(choices) * len(self.shared) if self.shared else 0.0)


def _cells(one: Fit, names: Sequence[str]) -> list[str]:
    """Return the parameters of a person with their errors as texts, and how many notes there are if that is asked."""
    words = {name: f"{number(one.values[name], 3)} ± {number(e, 2)}" for name, e in one.errors.items()}
    return [words[name] if name in words else str(len(one.notes)) for name in names]


def shared_fits(people: Sequence[Person], model: Model, side_by_side: SideBySide) -> Fits:
    """Return the fits of people with the shared values that make the choices of all of them most likely.

    They are looked for between the values of people fitted alone, and a little beyond.
    """
    problems = [Problem(person, model) for person in people]
    values, failed = _shared(people, problems, model, side_by_side)
    fits = side_by_side(partial(fit, model=model.fixing(values)), people)
    covariance, doubts = _covariance(problems, fits, model.shared)
    return Fits(model, tuple(replace(one, notes=(*failed, *doubts, *one.notes)) for one in fits), values, covariance)


def _shared(
    people: Sequence[Person], problems: list[Problem], model: Model, side_by_side: SideBySide
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the shared values, and words on what went wrong."""
    from scipy.optimize import minimize

    names = model.shared
    alone = side_by_side(partial(fit, model=model.fixing(dict.fromkeys(names, "free"))), people)
    lines = np.array([[PARAMETERS[name].line(one.values[name]) for name in names] for one in alone])

    def down(place: Array) -> tuple[float, Array]:
        fits = side_by_side(partial(fit, model=model.fixing(_values(names, place))), people)
        slopes = [problem.gradient(one.values)[1] for problem, one in zip(problems, fits, strict=True)]
        by = np.array([[slope[name] for name in names] for slope in slopes]).sum(axis=0)
        return -sum(one.log_likelihood for one in fits), -by

    low, high = lines.min(axis=0) - 1, lines.max(axis=0) + 1
    options = {"ftol": 1e-12, "gtol": 1e-5}
    start, bounds = np.median(lines, axis=0), list(zip(low.tolist(), high.tolist(), strict=True))
    found = minimize(down, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    steep = np.abs(found.jac).max() > 1e-3 * (1 + abs(found.fun)) ** 0.5
    failed = (f"the search for what is shared failed ({found.message}). Fix it.",) if steep else ()
    return _values(names, np.asarray(found.x)), failed


def _values(names: Sequence[str], place: Array) -> dict[str, float]:
    return {name: PARAMETERS[name].value(z) for name, z in zip(names, place.tolist(), strict=True)}


def _covariance(
    problems: Sequence[Problem], fits: Sequence[Any], names: tuple[str, ...]
) -> tuple[Array, tuple[str, ...]]:
    """Return the inverse of what all people tell of the shared parameters, and words if that is nothing."""
    told = sum(_told(problem, one, names) for problem, one in zip(problems, fits, strict=True))
    if np.linalg.eigvalsh(told)[0] <= 0:
        fix = "one of them" if names[1:] else "it"
        why = f"{', '.join(names)} shared by all cannot be told from their choices. Fix {fix}."
        return np.diag(np.full(len(names), math.inf)), (why,)
    return np.asarray(np.linalg.inv(told)), ()


def _told(problem: Problem, one: Fit, names: tuple[str, ...]) -> Array:
    """Return what one person tells of the shared parameters: the curvature with their own ones fitted anew.

    Of the person's own parameters those take part that their choices tell of.
    """
    known = np.isfinite(one.covariance.diagonal())
    own = [name for name, is_known in zip(one.model.free, known, strict=True) if is_known]
    H, q = curvature(problem, one.values, [*names, *own]), len(names)
    return np.asarray(H[:q, :q] - H[:q, q:] @ np.linalg.solve(H[q:, q:], H[q:, :q]))
