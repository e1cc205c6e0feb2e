"""What was found of a population: how parameters are spread over people, and where everybody is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits.choices.fitting import Fit
from corrbandits.choices.model import Model
from corrbandits.choices.parameters import PARAMETERS

Seed = int | Sequence[int] | np.random.SeedSequence


@final
@dataclass(frozen=True, eq=False)
class Population:
    """How free parameters are spread over people, and everybody's parameters given that; `fit_population` makes it.

    `people` are fits whose values are the most likely ones given choices and population; their covariance is the
    posterior one. `notes` name the people for whom Laplace's approximation is doubtful. Somebody whose likelihood has
    no peak there is taken to be as uncertain as the population in the directions in which it bends upwards.

    >>> law = Population.of_law(Model(prior_mean=0.0, exploration=0.0), mean=[0.0], covariance=[[0.25]])
    >>> law.median, law.spread
    ({'temperature': 1.0}, {'temperature': 0.5})
    >>> [round(person["temperature"], 3) for person in law.draw(3, seed=1)]
    [1.189, 1.508, 1.18]
    """

    model: Model
    mean: Array
    """Of the free parameters over people, on their lines, in the order of `model.free`."""

    covariance: Array
    """Of the same."""

    mean_covariance: Array
    """How uncertain `mean` is; inf where the choices of all people tell nothing of it."""

    shared: dict[str, float]
    shared_covariance: Array
    people: tuple[Fit, ...]
    log_evidence: Array
    """The logarithm of the probability of each person's choices under the population."""

    steps: tuple[float, ...]
    """The log evidence of all after each step of the iteration."""

    correlated: bool = False
    notes: tuple[str, ...] = ()

    @staticmethod
    def of_law(model: Model, mean: object, covariance: object) -> Population:
        """Return a population that is assumed rather than found: nobody is in it yet, and nothing uncertain."""
        m, V = checks.finite("mean", mean), checks.finite("covariance", covariance)
        p = len(model.free)
        if m.shape != (p,) or V.shape != (p, p):
            raise ValueError(f"mean and covariance must be of {', '.join(model.free)}, got {m.shape} and {V.shape}.")
        return Population(model, m, V, np.zeros((p, p)), {}, np.empty((0, 0)), (), np.empty(0), ())

    @property
    def median(self) -> dict[str, float]:
        """The value of each free parameter that half of all people lie below."""
        return {name: PARAMETERS[name].value(z) for name, z in zip(self.model.free, self.mean.tolist(), strict=True)}

    @property
    def spread(self) -> dict[str, float]:
        """The standard deviation of each free parameter over people, on its line."""
        return dict(zip(self.model.free, np.sqrt(self.covariance.diagonal()).tolist(), strict=True))

    @property
    def errors(self) -> dict[str, float]:
        """The standard error of each median and of each shared parameter."""
        return {
            name: math.sqrt(variance) * PARAMETERS[name].slope(value)
            for name, (value, variance) in self._fitted.items()
        }

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % interval of a median or a shared parameter, made on its line."""
        if name not in self._fitted:
            raise ValueError(f"{name} must be fitted; these are {', '.join(self._fitted)}.")
        return PARAMETERS[name].interval(*self._fitted[name])

    @property
    def parameters(self) -> int:
        """How many numbers describe the population: means, variances, covariances if any, and what is shared."""
        p = len(self.model.free)
        return p + (p * (p + 1) // 2 if self.correlated else p) + len(self.shared)

    @property
    def aic(self) -> float:
        """Twice the number of `parameters`, less twice the log evidence."""
        return 2 * self.parameters - 2 * float(self.log_evidence.sum())

    @property
    def bic(self) -> float:
        """The integrated criterion: the logarithm of all choices for each of `parameters`, less twice the log evidence.

        Everybody's own parameters are integrated out, so that they need not be counted.
        """
        choices = sum(one.choices for one in self.people)
        return math.log(choices) * self.parameters - 2 * float(self.log_evidence.sum())

    def draw(self, number: int, seed: Seed = 0) -> list[dict[str, float]]:
        """Return the free parameters of so many new people, with what all share: for `simulate`."""
        checks.integer("number", number, least=1)
        rng = np.random.default_rng(seed)
        factor = np.linalg.cholesky(self.covariance)
        places = self.mean + rng.standard_normal((number, self.mean.size)) @ factor.T
        return [
            {name: PARAMETERS[name].value(z) for name, z in zip(self.model.free, row, strict=True)} | self.shared
            for row in places.tolist()
        ]

    @property
    def _fitted(self) -> dict[str, tuple[float, float]]:
        """The value and, on its line, the variance of each median and shared parameter."""
        medians = zip(self.median.items(), self.mean_covariance.diagonal().tolist(), strict=True)
        shared = zip(self.shared.items(), self.shared_covariance.diagonal().tolist(), strict=True)
        return {name: (value, variance) for (name, value), variance in (*medians, *shared)}

    def __str__(self) -> str:
        evidence = float(self.log_evidence.sum())
        head = f"{len(self.people)} people, log evidence {evidence:.2f} after {len(self.steps)} steps"
        spread, errors = self.spread, self.errors
        rows = [
            f"  {name:<12} {number(value, 4)} ± {number(errors[name], 2)}, "
            + (f"spread {number(spread[name], 3)}" if name in spread else "shared by all")
            for name, (value, _) in self._fitted.items()
        ]
        return "\n".join([head, *rows, *(f"  note: {note}" for note in self.notes)])
