"""Whether models are told apart: people are made up by each, and fitted by all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.choices.fitting import fit
from corrbandits.choices.group import leave_one_round_out
from corrbandits.choices.model import Model
from corrbandits.choices.people import Person
from corrbandits.choices.population import Population
from corrbandits.choices.recovery import Environments, MadeUp, problems_of
from corrbandits.choices.spreading import Folder, answers

if TYPE_CHECKING:
    import xarray as xr

Evidence = Literal["bic", "aic", "left out"]

LEVEL = 0.01
"""Models whose log evidence is this close to the best one's describe somebody as well: odds of 1.01 say nothing."""


@final
@dataclass(frozen=True, eq=False)
class Confusion:
    """How often people of each model are taken for people of each; `recover_models` makes it.

    >>> seen = Confusion(("one", "other"), np.array([[[-3.0, -5.0], [-4.0, -6.0]], [[-7.0, -6.0], [-5.0, -6.0]]]))
    >>> seen.matrix.tolist(), seen.inversion.round(2).tolist()
    ([[1.0, 0.0], [0.5, 0.5]], [[0.67, 0.0], [0.33, 1.0]])
    """

    names: tuple[str, ...]
    evidence: Array
    """The log evidence of each person under each model, (model made up by, people, model fitted)."""

    @property
    def matrix(self) -> Array:
        """The share of people made up by a model (rows) whose best model is each (columns).

        Somebody whom several models describe as well counts for each of them in equal parts.
        """
        return np.asarray((self._level / self._level.sum(axis=2, keepdims=True)).mean(axis=1))

    @property
    def ties(self) -> Array:
        """The share of people made up by each model whom two models or more describe as well as the best.

        >>> Confusion(("one", "other"), np.array([[[-3.0, -3.0], [-4.0, -6.0]], [[-7.0, -6.0], [-5.0, -6.0]]])).ties
        array([0.5, 0. ])
        """
        return np.asarray((self._level.sum(axis=2) > 1).mean(axis=1))

    @property
    def _level(self) -> Array:
        """Which models describe a person as well as the best one."""
        return np.asarray(self.evidence >= self.evidence.max(axis=2, keepdims=True) - LEVEL)

    @property
    def inversion(self) -> Array:
        """The probability that somebody whose best model is this (columns) was made up by each (rows).

        Before, all are equally likely; nan for a model that is nobody's best.
        """
        with np.errstate(invalid="ignore"):
            return np.asarray(self.matrix / self.matrix.sum(axis=0))

    def to_dataset(self) -> xr.Dataset:
        """Return all of it as an xarray.Dataset."""
        import xarray as xr

        pair = ("made_up_by", "fitted")
        columns: dict[str, Any] = {"evidence": (("made_up_by", "person", "fitted"), self.evidence)}
        columns |= {"matrix": (pair, self.matrix), "inversion": (pair, self.inversion), "ties": (pair[:1], self.ties)}
        return xr.Dataset(columns, {"made_up_by": list(self.names), "fitted": list(self.names)})

    def __str__(self) -> str:
        wide = max(map(len, self.names))
        head = " " * wide + "".join(f"  {name:>{max(len(name), 5)}}" for name in self.names)
        rows = [
            f"{name:<{wide}}"
            + "".join(f"  {share:>{max(len(other), 5)}.2f}" for other, share in zip(self.names, row, strict=True))
            for name, row in zip(self.names, self.matrix, strict=True)
        ]
        return "\n".join([head, *rows])


def recover_models(
    laws: Mapping[str, Population],
    environments: Environments,
    *,
    people: int = 50,
    horizon: int | Sequence[int] = 40,
    given: int = 1,
    evidence: Evidence = "bic",
    seed: int = 0,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
    folder: Folder = None,
    progress: bool | None = None,
) -> Confusion:
    """Return how often people drawn from the population of each model are best described by each model.

    `evidence` is what says so: minus half of "bic" or "aic", or the log likelihood of rounds "left out". All else is as
    in `recover`.

    >>> from corrbandits import GaussianBandit
    >>> seeks = Population.of_law(Model(prior_mean=1.0, exploration=0.0), [-1.0], [[0.01]])
    >>> sticks = Model(prior_mean=1.0, exploration=0.0, temperature=9.0, stickiness="free")
    >>> laws = {"seek": seeks, "stay": Population.of_law(sticks, [3.0], [[0.01]])}
    >>> print(recover_models(laws, [GaussianBandit([0.0, 1.0, 2.0], 1.0)] * 4, people=5, horizon=10))
           seek   stay
    seek   1.00   0.00
    stay   0.00   1.00
    """
    checks.integer("people", people, least=1)
    models = tuple(law.model for law in laws.values())
    refuse_shared(models)
    questions = [
        Weighed(
            MadeUp(law.model, one, problems_of(environments, k), horizon, given, (seed, which, k)), models, evidence
        )
        for which, law in enumerate(laws.values())
        for k, one in enumerate(law.draw(people, [seed, which]))
    ]
    how: Any = {"threads": threads, "map": map, "folder": folder, "progress": progress}
    found = answers(weigh, questions, label="recovering models", **how)
    return Confusion(tuple(laws), np.array(found).reshape(len(models), people, len(models)))


@final
@dataclass(frozen=True)
class Weighed:
    """A person to be made up, and the models to be weighed by what they say of the first rounds."""

    made_up: MadeUp
    models: tuple[Model, ...]
    evidence: Evidence
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.evidence not in ("bic", "aic", "left out"):
            raise ValueError(f'evidence must be "bic", "aic" or "left out", got {self.evidence!r:.60}.')


def weigh(asked: Weighed) -> list[float]:
    """Return the log evidence of each model."""
    person = asked.made_up.person()
    person = person if asked.rounds is None else person.only(range(asked.rounds))
    return [evidence_of(person, model, asked.evidence) for model in asked.models]


def evidence_of(person: Person, model: Model, evidence: Evidence) -> float:
    """Return the log evidence of a model."""
    if evidence == "left out":
        return leave_one_round_out(person, model).log_likelihood
    found = fit(person, model)
    return -(found.bic if evidence == "bic" else found.aic) / 2


def refuse_shared(models: Sequence[Model]) -> None:
    """Refuse models with parameters that are shared: people are fitted one by one."""
    if shared := [name for model in models for name in model.shared]:
        raise ValueError(f"{shared[0]} must be free or fixed here: people are fitted one by one.")
