"""Which parameters make a person's choices most likely."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits._shell.numbers import number
from corrbandits.choices.bounds import REASONS, Box
from corrbandits.choices.curvature import curvature
from corrbandits.choices.likelihood import Problem, Top
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person

CLIMBS = 2
"""From how many of the starting points the likelihood is climbed: the best ones."""

CERTAIN = -1e-6
"""A log likelihood per choice above which every choice is as good as certain."""

UNTOLD = 20.0
"""A standard error of a logarithm or of log odds beyond which the parameter could be anything."""

SQUARED = 1e140
"""The square of a number beyond it, or of one over such a number, may be no double."""


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """The parameters that make a person's choices most likely, and how sure that is; `fit` makes it.

    `notes` are sentences on what went wrong: parameters that run to an end, that cannot be told apart, or a search that
    failed. Where there are any, read them before the numbers.

    >>> from corrbandits.choices import Round
    >>> somebody = Person([Round([0, 1, 1, 0, 1, 1], [1.0, 3.0, 2.0, 1.5, 2.0, 2.2])], arms=2, name="Anna")
    >>> print(fit(somebody, Model(prior_mean=1.5, exploration=0.0)))
    Anna: 6 choices, log likelihood -3.5172
      temperature  1.202 ± 1.2
    """

    person: Any
    model: Model
    values: dict[str, float]
    """Of all parameters, the fixed ones too."""

    covariance: Array
    """Of the free parameters on their lines (logarithms, log odds), in the order of `model.free`; inf where unknown."""

    log_likelihood: float
    choices: int
    arms: int
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> dict[str, float]:
        """The standard error of each free parameter; inf where the choices tell nothing of it."""
        each = np.sqrt(self.covariance.diagonal()).tolist()
        return {
            name: e * PARAMETERS[name].slope(self.values[name]) for name, e in zip(self.model.free, each, strict=True)
        }

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % interval of a free parameter, made on its line: of a positive one both ends are positive."""
        place = self.model.free.index(name)
        return PARAMETERS[name].interval(self.values[name], float(self.covariance[place, place]))

    @property
    def aic(self) -> float:
        """Akaike's criterion: twice the number of free parameters, less twice the log likelihood."""
        return 2 * len(self.model.free) - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian criterion: log n for each free parameter, less twice the log likelihood."""
        return math.log(self.choices) * len(self.model.free) - 2 * self.log_likelihood

    @property
    def at_random(self) -> float:
        """The log likelihood of choices at random."""
        return -self.choices * math.log(self.arms)

    @property
    def share_explained(self) -> float:
        """McFadden's share: 0 for choices at random, 1 for choices foreseen."""
        return 1 - self.log_likelihood / self.at_random if self.at_random else 0.0

    def __str__(self) -> str:
        head = f"{self.person or 'one person'}: {self.choices} choices, log likelihood {self.log_likelihood:.4f}"
        rows = [f"  {name:<12} {number(self.values[name], 4)} ± {number(e, 2)}" for name, e in self.errors.items()]
        return "\n".join([head, *rows, *(f"  note: {note}" for note in self.notes)])


def fit(person: Person, model: Model, *, start: Mapping[str, float] | None = None) -> Fit:
    """Return the parameters that make a person's choices most likely.

    The parameters that utilities are linear in are found by Newton's method, for any length, noise and lapse; along
    those the likelihood is climbed with its gradient, from the best two of several starting points. If there is a
    `start`, it is climbed from there alone, unless a starting point is higher than where that leads. No random number
    is used.

    >>> from corrbandits import GaussianBandit, SquaredExponential
    >>> from corrbandits.choices import simulate
    >>> hill = GaussianBandit([0.0, 1.0, 4.0, 9.0, 4.0, 1.0, 0.0], 0.1, coordinates=np.arange(7.0))
    >>> model = Model(kernel=SquaredExponential(1.0), prior_mean=3.0, prior_sd=3.0, noise=0.1)
    >>> known = {"length": 1.5, "exploration": 0.5, "temperature": 0.7}
    >>> anna = simulate(model, known, [hill] * 12, horizon=15, seed=1)
    >>> found = fit(anna, model)
    >>> all(low < known[name] < high for name in model.free for low, high in [found.interval(name)])
    True
    """
    if model.shared:
        raise ValueError(f"{', '.join(model.shared)} shared by people can be fitted to several. Use fit_people.")
    if not person.choices:
        raise ValueError(f"person {person.name!r} has made no choice. Give trials that were not given.")
    problem = Problem(person, model)
    box = Box.of(problem)
    found, place, failure = _highest(problem, box, start)
    ends = box.ends(place) | found.ends
    if "temperature" in model.free and found.log_likelihood > CERTAIN * person.choices:
        ends["temperature"] = "lower"
    covariance, doubts = _covariance(problem, found.values, tuple(ends))
    words = [
        f"{name} runs to its {end} end, {number(found.values[name], 3)}: {REASONS[name, end]}."
        for name, end in ends.items()
    ]
    notes = (*failure, *words, *doubts)
    return Fit(person.name, model, found.values, covariance, found.log_likelihood, person.choices, person.arms, notes)


def profile(person: Person, model: Model, name: str, at: Sequence[float]) -> Array:
    """Return the largest log likelihood with one parameter fixed at each of some values, all others fitted anew.

    >>> from corrbandits.choices import Round
    >>> somebody = Person([Round([0, 1, 1, 1, 0, 1], [1.0, 3.0, 2.0, 2.5, 1.0, 2.0])], arms=2)
    >>> curve = profile(somebody, Model(prior_mean=2.0, exploration=0.0), "temperature", [0.1, 1.0, 10.0])
    >>> curve.argmax()
    np.int64(1)
    """
    if name not in model.free:
        raise ValueError(f"{name} must be a free parameter of the model; these are {', '.join(model.free)}.")
    best: list[float] = []
    start: dict[str, float] | None = None
    for value in at:
        found = fit(person, model.fixing({name: float(value)}), start=start)
        start = found.values
        best.append(found.log_likelihood)
    return np.array(best)


def _highest(problem: Problem, box: Box, start: Mapping[str, float] | None) -> tuple[Top, Array, tuple[str, ...]]:
    """Return the highest point that is found, where it lies in the box, and words on a search that failed."""
    fixed = problem.model.fixed
    if not box.names:
        top, _ = problem.top(fixed)
        return top, np.empty(0), _failed(top, "")
    heights = [problem.top({**fixed, **box.values(at)})[0].log_likelihood for at in box.starts]
    looks = [box.starts[place] for place in np.argsort(heights)[::-1]]
    if start is not None:
        found = _climbed(problem, box, box.line(dict(start)))
        if found[0].log_likelihood >= max(heights):
            return found
    climbs = [_climbed(problem, box, at) for at in looks[:CLIMBS]]
    return max(climbs, key=lambda climb: climb[0].log_likelihood)


def _climbed(problem: Problem, box: Box, start: Array) -> tuple[Top, Array, tuple[str, ...]]:
    """Return the top that is reached from a start."""
    from scipy.optimize import minimize

    fixed = problem.model.fixed
    warm: list[Array | None] = [None]

    def down(place: Array) -> tuple[float, Array]:
        top, view = problem.top({**fixed, **box.values(place)}, warm[0])
        if not top.failed:
            warm[0] = top.x
        _, by = problem.gradient(top.values, view)
        return -top.log_likelihood, -np.array([by[name] for name in box.names])

    limits = list(zip(box.low.tolist(), box.high.tolist(), strict=True))
    options = {"maxiter": 200, "ftol": 1e-13, "gtol": 1e-6, "maxls": 40}
    with one_thread():
        found = minimize(down, start, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    top, _ = problem.top({**fixed, **box.values(found.x)}, warm[0])
    steep = np.abs(np.where((found.x > box.low) & (found.x < box.high), found.jac, 0.0)).max()
    message = "" if found.success or steep < 1e-3 * (1 + abs(top.log_likelihood)) ** 0.5 else str(found.message)
    return top, np.asarray(found.x), _failed(top, message)


def _failed(top: Top, message: str) -> tuple[str, ...]:
    if not (top.failed or message):
        return ()
    return (
        f"the search for the largest likelihood failed ({message or 'no top after many steps'}). Fix a parameter, or "
        "give start=... near the top.",
    )


def _covariance(problem: Problem, values: dict[str, float], ends: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Return the inverse of the observed information on the lines, and words if there is none."""
    free = problem.model.free
    covariance = np.diag(np.full(len(free), math.inf))
    inside = [name for name in free if name not in ends]
    if any(not 1 / SQUARED < problem.natural_unit(name, values) < SQUARED for name in inside):
        return covariance, ("how sure that is cannot be computed of such rewards. Give them in another unit.",)
    information = curvature(problem, values, inside)
    scale = np.sqrt(np.abs(information.diagonal()))
    if not inside or not scale.all():
        return covariance, _told_nothing([name for name, s in zip(inside, scale, strict=True) if not s])
    each, ways = np.linalg.eigh(information / scale / scale[:, None])  # the product of two may be no double
    if each[0] < 1e-9:
        loose = [name for name, share in zip(inside, np.abs(ways[:, 0]), strict=True) if share > 0.1]
        return covariance, _told_nothing(loose)
    places = [free.index(name) for name in inside]
    covariance[np.ix_(places, places)] = (ways / each @ ways.T) / scale / scale[:, None]
    wide = np.sqrt(covariance.diagonal()[places]) > UNTOLD
    anything = [name for name, is_wide in zip(inside, wide, strict=True) if is_wide and PARAMETERS[name].low == 0]
    return covariance, _told_nothing(anything)


def _told_nothing(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    one = (
        f"{names[0]} cannot be told from these choices"
        if len(names) == 1
        else f"{', '.join(names)} cannot be told apart"
    )
    return (f"{one}: the likelihood has no curvature there. Fix {'it' if len(names) == 1 else 'one of them'}.",)
