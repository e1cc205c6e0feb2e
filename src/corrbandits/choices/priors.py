"""What people may believe before they see anything, as functions of a model's parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Correlated, Drifting, Independent, Vague
from corrbandits.choices.people import Person
from corrbandits.kernels import Kernel

Values = Mapping[str, float]


class Prior(ABC):
    """What a person believes before a round begins, made from the values of the parameters that it uses."""

    uses: ClassVar[tuple[str, ...]] = ("prior_mean", "prior_sd", "length", "noise")
    """Which of the parameters of the prior it depends on."""

    @abstractmethod
    def __call__(self, person: Person, kernel: Kernel | None, values: Values) -> Belief:
        """Return the belief that has seen nothing."""


@final
@dataclass(frozen=True)
class Steady(Prior):
    """Mean rewards that do not change: independent without a kernel, correlated with one.

    >>> from corrbandits.choices import Person
    >>> somebody = Person([], arms=2)
    >>> Steady()(somebody, None, {"prior_mean": 50.0, "prior_sd": 10.0, "noise": 0.5}).noise_variance
    array([25., 25.])
    """

    def __call__(self, person: Person, kernel: Kernel | None, values: Values) -> Correlated | Independent:
        """Return the prior of `Independent` or `Correlated` arms."""
        mean, variance = values["prior_mean"], values["prior_sd"] ** 2
        noise = values["noise"] ** 2 * variance
        if kernel is None:
            return Independent(mean=mean, variance=variance, noise_variance=noise, arms=person.arms)
        covariance = variance * correlation(kernel, person.coordinates, values["length"])
        return Correlated(mean=mean, covariance=covariance, noise_variance=noise)


@final
@dataclass(frozen=True)
class Wandering(Prior):
    """Mean rewards that drift: after `scale` trials 37 % of a deviation is left (see `corrbandits.Drifting`).

    >>> from corrbandits.choices import Person
    >>> prior = Wandering(scale=20.0)(Person([], arms=2), None, {"prior_mean": 0.0, "prior_sd": 1.0, "noise": 1.0})
    >>> prior.observe(0, 2.0).after(21).mean.round(3)
    array([0.368, 0.   ])
    """

    scale: float

    def __post_init__(self) -> None:
        checks.set_field(self, "scale", checks.positive("scale", self.scale))

    def __call__(self, person: Person, kernel: Kernel | None, values: Values) -> Drifting:
        """Return a drifting belief about the steady prior."""
        return Drifting(prior=Steady()(person, kernel, values), scale=self.scale)


@final
@dataclass(frozen=True)
class ToldNothing(Prior):
    """Nothing is known at first, and mean, deviation, length and noise are learnt (see `corrbandits.Vague`).

    >>> from corrbandits.choices import Person
    >>> ToldNothing()(Person([], coordinates=[0.0, 1.0, 2.0]), None, {}).arms
    3
    """

    uses = ()

    def __call__(self, person: Person, kernel: Kernel | None, values: Values) -> Vague:
        """Return the mixture."""
        where = {"arms": person.arms} if person.coordinates is None else {"coordinates": person.coordinates}
        return Vague(**where)


def correlation(kernel: Kernel, where: Array, length: float) -> Array:
    """Return the covariance of a kernel whose lengths are multiplied, over its largest variance.

    >>> from corrbandits import Exponential
    >>> correlation(4 * Exponential(1.0), np.array([[0.0], [2.0]]), 2.0).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    covariance = kernel.stretched(length)(where)
    largest = float(covariance.diagonal().max())
    if not (largest > 0 and math.isfinite(largest)):
        raise ValueError(f"the kernel must have a variance above 0, got {largest:g}. Take {kernel!r:.60} without it.")
    return np.asarray(covariance / largest)
