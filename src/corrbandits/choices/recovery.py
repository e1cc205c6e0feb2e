"""Whether parameters are found again: people are made up with known ones, and fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits.choices.fitting import Fit, fit
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person, Round
from corrbandits.choices.pooling import fit_population
from corrbandits.choices.population import Population
from corrbandits.choices.sharing import Fits
from corrbandits.choices.simulating import simulate
from corrbandits.choices.spreading import Folder, answers
from corrbandits.environments import Environment

if TYPE_CHECKING:
    import xarray as xr

Environments = Sequence[Environment] | Callable[[int], Sequence[Environment]]
"""The problems of all people, one a round, or a function that returns those of person k, from 0."""


@final
@dataclass(frozen=True, eq=False)
class Recovery:
    """Parameters that were given to people, and those that were found; `recover` makes it.

    >>> recovery = Recovery(("length",), np.array([[0.0], [1.0], [2.0]]), np.array([[0.1], [0.8], [2.5]]))
    >>> recovery.spearman, round(recovery.pearson["length"], 3)
    ({'length': 1.0}, 0.972)
    """

    names: tuple[str, ...]
    given: Array
    """The parameters of the people made up, on their lines, (people, parameters)."""

    found: Array
    """Those that were found."""

    fits: Fits | Population | None = None

    @property
    def spearman(self) -> dict[str, float]:
        """The correlation of the ranks of what was given and what was found, of each parameter."""
        from scipy.stats import rankdata

        return self._correlations(rankdata(self.given, axis=0), rankdata(self.found, axis=0))

    @property
    def kendall(self) -> dict[str, float]:
        """Kendall's correlation of what was given and what was found, of each parameter: how pairs are ordered.

        >>> found = Recovery(("length",), np.array([[0.0], [1.0], [2.0]]), np.array([[0.1], [2.5], [0.8]]))
        >>> round(found.kendall["length"], 3)
        0.333
        """
        from scipy.stats import kendalltau

        pairs = zip(self.names, self.given.T, self.found.T, strict=True)
        return {name: float(kendalltau(given, found).statistic) for name, given, found in pairs}

    @property
    def pearson(self) -> dict[str, float]:
        """The correlation of what was given and what was found on their lines, of each parameter."""
        return self._correlations(self.given, self.found)

    @property
    def bias(self) -> dict[str, float]:
        """By how much the median of what was found lies above what was given, on its line, of each parameter."""
        return dict(zip(self.names, np.median(self.found - self.given, axis=0).tolist(), strict=True))

    @property
    def trade_offs(self) -> Array:
        """The correlation of the ranks of errors, (parameters, parameters): where one is missed, which other is too."""
        from scipy.stats import rankdata

        return np.atleast_2d(np.corrcoef(rankdata(self.found - self.given, axis=0), rowvar=False))

    def to_dataset(self) -> xr.Dataset:
        """Return given and found values as an xarray.Dataset with the dimensions person and parameter."""
        import xarray as xr

        columns = {
            which: (("person", "parameter"), _values(self.names, lines))
            for which, lines in (("given", self.given), ("found", self.found))
        }
        return xr.Dataset(columns, {"person": np.arange(len(self.given)), "parameter": list(self.names)})

    def _correlations(self, one: Array, other: Array) -> dict[str, float]:
        with np.errstate(invalid="ignore", divide="ignore"):  # of what does not vary: nan
            pairs = zip(self.names, one.T, other.T, strict=True)
            return {name: round(float(np.corrcoef(a, b)[0, 1]), 12) for name, a, b in pairs}

    def __str__(self) -> str:
        rows = [
            f"  {name:<12} {number(rank, 3):>6} {number(self.bias[name], 2):>8}" for name, rank in self.spearman.items()
        ]
        return "\n".join([f"{len(self.given)} people    ranks     bias", *rows])


def recover(
    law: Population,
    environments: Environments,
    *,
    people: int | Sequence[Mapping[str, float]] = 100,
    horizon: int | Sequence[int] = 40,
    given: int = 1,
    pooled: bool = True,
    seed: int = 0,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
    folder: Folder = None,
    progress: bool | None = None,
) -> Recovery:
    """Return how well the parameters of people are found again, who are drawn from a population.

    `people` says how many, or what the parameters of each are. Each makes `horizon` choices in a round on each of the
    `environments`, after `given` arms were shown. They are fitted as a population or, with `pooled` false, one by
    one. With a `folder`, what is done is kept there, and the same call goes on where it was stopped.

    >>> from corrbandits import GaussianBandit
    >>> law = Population.of_law(Model(prior_mean=1.0, exploration=0.0, noise=0.5), [-0.5], [[0.25]])
    >>> found = recover(law, [GaussianBandit([0.0, 1.0, 2.0], 1.0)] * 4, people=8, horizon=10, seed=1)
    >>> found.spearman["temperature"] > 0.6
    True
    """
    drawn = law.draw(people, [seed, 0]) if isinstance(people, int) else [dict(one) for one in people]
    checks.integer("people", len(drawn), least=2)
    questions = [
        MadeUp(law.model, one, problems_of(environments, k), horizon, given, (seed, 1, k))
        for k, one in enumerate(drawn)
    ]
    how = {"threads": threads, "map": map, "progress": progress}
    found = answers(made_up_and_fitted, questions, folder=folder, label="recovering people", **how)
    alone = Fits(law.model, tuple(_read_fit(law.model, k, answer["fit"]) for k, answer in enumerate(found)))
    fits: Fits | Population = alone
    if pooled:
        made_up = [_read_person(q, k, answer) for k, (q, answer) in enumerate(zip(questions, found, strict=True))]
        fits = fit_population(made_up, law.model, correlated=law.correlated, start=alone, **how)
    each = fits.people if isinstance(fits, Population) else fits.each
    names = law.model.free
    return Recovery(names, _lines(names, drawn), _lines(names, [one.values for one in each]), fits)


def problems_of(environments: Environments, k: int) -> tuple[Environment, ...]:
    """Return the problems of person k."""
    return tuple(environments(k) if callable(environments) else environments)


@final
@dataclass(frozen=True)
class MadeUp:
    """A person to be made up: by which model and parameters, on which problems."""

    model: Model
    values: dict[str, float]
    environments: tuple[Environment, ...]
    horizon: int | Sequence[int]
    given: int
    seed: tuple[int, ...]

    def person(self) -> Person:
        """Return the person."""
        return simulate(
            self.model, self.values, self.environments, horizon=self.horizon, given=self.given, seed=self.seed
        )


def made_up_and_fitted(asked: MadeUp) -> dict[str, Any]:
    """Return a person made up and their fit, in plain numbers."""
    person = asked.person()
    rounds = [[one.arms.tolist(), one.rewards.tolist(), one.given, one.horizon] for one in person.rounds]
    return {"rounds": rounds, "fit": _written_fit(fit(person, asked.model))}


def _written_fit(one: Fit) -> dict[str, Any]:
    kept = ("values", "log_likelihood", "choices", "arms", "notes")
    return {name: getattr(one, name) for name in kept} | {"covariance": one.covariance.tolist()}


def _read_fit(model: Model, name: Any, written: Mapping[str, Any]) -> Fit:
    p = len(model.free)
    covariance = np.array(written["covariance"], dtype=np.float64).reshape(p, p)
    return Fit(name, model, **{**written, "covariance": covariance, "notes": tuple(written["notes"])})


def _read_person(asked: MadeUp, name: Any, answer: Mapping[str, Any]) -> Person:
    where, arms = asked.environments[0].coordinates, asked.environments[0].arms
    return Person([Round(*one) for one in answer["rounds"]], coordinates=where, arms=arms, name=name)


def _lines(names: Sequence[str], values: Sequence[Mapping[str, float]]) -> Array:
    return np.array([[PARAMETERS[name].line(one[name]) for name in names] for one in values])


def _values(names: Sequence[str], lines: Array) -> Array:
    return np.array([[PARAMETERS[name].value(z) for name, z in zip(names, row, strict=True)] for row in lines.tolist()])
