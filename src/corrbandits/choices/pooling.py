"""People as draws from one population: partial pooling by expectation maximisation with Laplace's approximation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits._shell.progress import bar
from corrbandits.choices.fitting import Fit
from corrbandits.choices.group import fit_people
from corrbandits.choices.iteration import Iteration, State, told
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.model import Model
from corrbandits.choices.people import Person
from corrbandits.choices.population import Population
from corrbandits.choices.sharing import Fits
from corrbandits.choices.spreading import spread

MATTERS = 1.0
"""By how much of the log evidence two ends of the iteration differ for it to be said."""


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

    The iteration begins with a law as wide as people fitted alone are spread, and again with one as wide as the middle
    half of them are. Where these lead to different places, the better one is kept, and a note says so.

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
    alone = fit_people(people, model, map=side_by_side) if start is None else start
    search = Iteration(alone, [Problem(person, model) for person in people], correlated, side_by_side)
    with bar(most_steps, progress, "pooling people") as show:
        ends = [search.settled(state, most_steps, show) for state in search.firsts()]
    return _population(search, sorted(ends, key=lambda end: -end.log_evidence))


def _population(search: Iteration, ends: Sequence[State]) -> Population:
    """Return what was found, from where the iterations ended, the best first."""
    state, model = ends[0], search.alone.model
    law, own = state.law, model.fixing(state.shared)
    people = tuple(
        Fit(p.person.name, own, mode.values, mode.S, mode.log_likelihood, p.person.choices, p.person.arms)
        for p, mode in zip(search.problems, state.modes, strict=True)
    )
    W = np.linalg.inv(law.V)
    of_mean = np.sum([W - W @ mode.S @ W for mode in state.modes], axis=0)  # Louis (1982): sum_i (V + H_i^-1)^-1
    return Population(
        model,
        law.m,
        law.V,
        _inverse(of_mean),
        state.shared,
        _inverse(told(state)),
        people,
        np.array([mode.log_evidence for mode in state.modes]),
        state.steps,
        search.correlated,
        (*_other_tops(ends), *_notes(state, search.problems, search.least)),
    )


def _inverse(told: Array) -> Array:
    """Return a covariance from what is told; inf where that is nothing."""
    is_told = not told.size or np.linalg.eigvalsh(told)[0] > 0
    return np.asarray(np.linalg.inv(told)) if is_told else np.diag(np.full(len(told), np.inf))


def _other_tops(ends: Sequence[State]) -> Iterator[str]:
    """Return a sentence if the iterations have ended at different places."""
    apart = ends[0].log_evidence - ends[-1].log_evidence
    if apart > MATTERS:
        yield (
            f"from another start the log evidence ends lower by {number(apart)}: there are several tops. The best of "
            f"{len(ends)} is kept, and there may be a better one. Fix a parameter, or have it shared."
        )


def _notes(state: State, problems: list[Problem], least: Array) -> Iterator[str]:
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
