"""People as draws from one population: partial pooling by expectation maximisation with Laplace's approximation.

Huys, Cools, Goelzer, Friedel, Heinz, Dolan and Dayan (2011), Disentangling the roles of approach, activation and
valence in instrumental and Pavlovian responding, text S1. The notation is that of `modes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.progress import bar
from corrbandits.choices.fitting import Fit
from corrbandits.choices.group import fit_people
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.model import Model
from corrbandits.choices.modes import Law, Mode, most_likely
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person
from corrbandits.choices.population import Population
from corrbandits.choices.sharing import Fits
from corrbandits.choices.spreading import SideBySide, spread

LEAST_SPREAD = 1e-2
"""The smallest deviation over people, in units by which utilities move by about 1."""

FASTEST = 10.0
"""How many times larger or smaller a variance may become in a step."""

CLOSE = 1e-3
"""The log evidence that further steps are expected to gain, below which there are none."""


@final
@dataclass(frozen=True, eq=False)
class _State:
    """Where the iteration is: the law, what people share, and everybody's mode under both."""

    law: Law
    shared: dict[str, float]
    modes: tuple[Mode, ...]
    steps: tuple[float, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether what is left to gain is little, if gains go on falling as they do (Aitken)."""
        if len(self.steps) < 4:
            return False
        before, last = np.diff(self.steps[-3:])
        rate = min(abs(last) / abs(before), 0.99) if before else 0.0
        return bool(abs(last) / (1 - rate) < CLOSE)


def fit_population(
    people: Sequence[Person],
    model: Model,
    *,
    correlated: bool = False,
    start: Fits | None = None,
    most_steps: int = 200,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
    progress: bool | None = None,
) -> Population:
    """Return the population that people were drawn from, and everybody's parameters given that.

    The free parameters of people are normally distributed on their lines (logarithms of positive ones, log odds of the
    lapse), independently or, with `correlated`, with any covariance. Mean and covariance make the choices of all people
    most likely, with everybody's own parameters integrated out by Laplace's approximation. Somebody whose choices tell
    little is drawn to the others, and nobody runs to an end. Parameters that the model shares have one value for all,
    the one that makes all choices most likely.

    People are looked at side by side in `threads`, or by `map`, as in `fit_people`, whose result serves as `start` if
    it is there already; no random number is used.

    >>> from corrbandits import GaussianBandit
    >>> from corrbandits.choices import simulate
    >>> arms = [GaussianBandit([0.0, 1.0, 3.0], 1.0)] * 4
    >>> model = Model(prior_mean=1.0, prior_sd=2.0, noise=0.5, exploration=0.0)
    >>> people = [simulate(model, {"temperature": 0.3 + 0.2 * k}, arms, horizon=10, seed=k, name=k) for k in range(6)]
    >>> found = fit_population(people, model)
    >>> low, high = found.interval("temperature")
    >>> low < 0.8 < high, len(found.people)
    (True, 6)
    """
    checks.flag("correlated", correlated)
    checks.integer("most_steps", most_steps, least=1)
    if len(people) < 2 or not model.free:
        raise ValueError(
            f"a population needs two people or more and a free parameter, got {len(people)} people and "
            f"{len(model.free)} free. Use fit_people."
        )
    side_by_side = spread(threads, map)
    problems = [Problem(person, model) for person in people]
    with bar(most_steps, progress, "pooling people") as show:
        alone = fit_people(people, model, map=side_by_side) if start is None else start
        state = _first(alone, problems, model, side_by_side)
        least = LEAST_SPREAD * _units(problems, [mode.values for mode in state.modes], model.free)
        for step in range(most_steps):
            state = _stepped(state, problems, side_by_side, least, correlated)
            show(step + 1)
            if state.is_settled:
                state, is_better = _looked_again(state, problems, side_by_side)
                if not is_better:
                    break
    return _population(state, problems, correlated, least)


def _first(alone: Fits, problems: list[Problem], model: Model, side_by_side: SideBySide) -> _State:
    """Return the state to begin with: a law as wide as people fitted alone are spread, and modes under it.

    It must not be narrow: people would be held at places near the others, and not leave them again. Who has run far
    away counts as the twentieth person of twenty does.
    """
    lines = np.array([[PARAMETERS[name].line(one.values[name]) for name in model.free] for one in alone])
    near = np.clip(lines, *np.quantile(lines, [0.05, 0.95], axis=0))
    units = _units(problems, [one.values for one in alone], model.free)
    m = near.mean(axis=0)
    law = Law(model.free, m, np.diag(np.maximum(near.std(axis=0), units / 2) ** 2))
    starts = [([own, own_near, m], np.zeros((m.size, m.size))) for own, own_near in zip(lines, near, strict=True)]
    return _State(law, dict(alone.shared), _modes(problems, law, alone.shared, starts, side_by_side))


def _modes(
    problems: list[Problem], law: Law, shared: dict[str, float], starts: Sequence[Any], side_by_side: SideBySide
) -> tuple[Mode, ...]:
    """Return everybody's mode (the E step)."""
    return tuple(side_by_side(partial(_own_mode, law, shared), list(zip(problems, starts, strict=True))))


def _own_mode(law: Law, shared: dict[str, float], one: tuple[Problem, tuple[list[Array], Array]]) -> Mode:
    problem, (starts, H) = one
    return most_likely(problem, law, {**problem.model.fixed, **shared}, starts, H)


def _stepped(
    state: _State, problems: list[Problem], side_by_side: SideBySide, least: Array, correlated: bool
) -> _State:
    """Return the state after one step: a law from the modes and what they leave uncertain, and the modes under it."""
    law = _next_law(state, least, correlated)
    shared = _moved(state, problems)
    modes = _modes(problems, law, shared, [([mode.z], mode.H) for mode in state.modes], side_by_side)
    return _State(law, shared, modes, (*state.steps, sum(mode.log_evidence for mode in modes)))


def _next_law(state: _State, least: Array, correlated: bool) -> Law:
    """Return a law under which people as they are found are more likely (the M step).

    The mean takes a Newton step, and so do variances of parameters that are not correlated: where people hardly differ,
    the usual step, to the mean and covariance of what is known of everybody, is a small one.
    """
    law = state.law
    W, S = np.linalg.inv(law.V), np.array([mode.S for mode in state.modes])
    z = np.array([mode.center for mode in state.modes])
    told = W - W @ S @ W
    m = law.m + np.linalg.solve(told.sum(axis=0), W @ (z - law.m).sum(axis=0))
    usual = (z - m).T @ (z - m) / len(z) + S.mean(axis=0)
    if correlated:
        return Law(law.names, m, _at_least(usual, least))
    V, w = law.V.diagonal(), np.diagonal(told, axis1=1, axis2=2)
    score = len(z) * (usual.diagonal() - V) / V**2
    ahead = np.clip(V + score / (w**2).sum(axis=0), V / FASTEST, V * FASTEST)
    return Law(law.names, m, np.diag(np.maximum(ahead, least**2)))


def _at_least(V: Array, least: Array) -> Array:
    """Return a covariance in which no direction has less than the least spread."""
    each, ways = np.linalg.eigh(V / np.outer(least, least))
    return np.asarray((ways * np.maximum(each, 1.0)) @ ways.T * np.outer(least, least))


def _moved(state: _State, problems: list[Problem]) -> dict[str, float]:
    """Return what people share after a Newton step, which moves utilities by about 1 at most."""
    if not state.shared:
        return {}
    names = tuple(state.shared)
    units = _units(problems, [mode.values for mode in state.modes], names)
    each, ways = np.linalg.eigh(_told(state) * np.outer(units, units))
    score = units * np.sum([mode.score for mode in state.modes], axis=0)
    step = units * np.clip(ways @ ((ways.T @ score) / np.maximum(np.abs(each), 1e-9)), -1.0, 1.0)
    places = [PARAMETERS[name].line(state.shared[name]) + d for name, d in zip(names, step.tolist(), strict=True)]
    return {name: PARAMETERS[name].value(z) for name, z in zip(names, places, strict=True)}


def _told(state: _State) -> Array:
    """Return what all choices tell of the parameters that people share."""
    return np.asarray(np.sum([mode.told for mode in state.modes], axis=0))


def _looked_again(state: _State, problems: list[Problem], side_by_side: SideBySide) -> tuple[_State, bool]:
    """Return the state with higher modes if there are any about the mean, and whether there are."""
    law, p = state.law, len(state.law.m)
    around = [law.m, *(law.m + sign * 1.5 * law.C[:, k] for k in range(p) for sign in (1, -1))]
    starts = [([mode.z, *around], mode.H) for mode in state.modes]
    modes = _modes(problems, law, state.shared, starts, side_by_side)
    gain = sum(mode.log_evidence for mode in modes) - sum(mode.log_evidence for mode in state.modes)
    return replace(state, modes=modes), gain > CLOSE


def _units(problems: list[Problem], values: Sequence[dict[str, float]], names: Sequence[str]) -> Array:
    """Return by how much each parameter moves the utilities of a typical person by about 1."""
    each = [[problem.natural_unit(name, own) for name in names] for problem, own in zip(problems, values, strict=True)]
    return np.asarray(np.median(each, axis=0))


def _population(state: _State, problems: list[Problem], correlated: bool, least: Array) -> Population:
    model, law = problems[0].model, state.law
    own = model.fixing(state.shared)
    people = tuple(
        Fit(p.person.name, own, mode.values, mode.S, mode.log_likelihood, p.person.choices, p.person.arms)
        for p, mode in zip(problems, state.modes, strict=True)
    )
    W = np.linalg.inv(law.V)
    told = np.sum([W - W @ mode.S @ W for mode in state.modes], axis=0)  # Louis (1982): sum_i (V + H_i^-1)^-1
    return Population(
        model,
        law.m,
        law.V,
        _inverse(told),
        state.shared,
        _inverse(_told(state)),
        people,
        np.array([mode.log_evidence for mode in state.modes]),
        state.steps,
        correlated,
        tuple(_notes(state, problems, least)),
    )


def _inverse(told: Array) -> Array:
    """Return a covariance from what is told; inf where that is nothing."""
    is_told = not told.size or np.linalg.eigvalsh(told)[0] > 0
    return np.asarray(np.linalg.inv(told)) if is_told else np.diag(np.full(len(told), np.inf))


def _notes(state: _State, problems: list[Problem], least: Array) -> Iterator[str]:
    """Return sentences on what is doubtful."""
    if not state.is_settled:
        yield f"the iteration has not settled after {len(state.steps)} steps. Give most_steps=... more."
    named = list(zip(state.modes, [problem.person.name for problem in problems], strict=True))
    if lost := [str(name) for mode, name in named if not mode.is_found]:
        yield f"the most likely parameters of {_few(lost)} were not found. See their choices, or fix a parameter."
    if bent := [str(name) for mode, name in named if not mode.is_peaked]:
        yield f"the likelihood of {_few(bent)} has no peak there: they are taken to be as uncertain as the population."
    for name, variance, small in zip(state.law.names, state.law.V.diagonal(), least, strict=True):
        if variance < 1.1 * small**2:
            yield f'{name} does not differ between people as far as their choices tell. Say {name}="shared".'


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown
