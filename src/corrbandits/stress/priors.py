"""Priors made wrong on purpose: in their means, their confidence, their correlation scale and how fast they drift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, Drifting, Independent, Vague
from corrbandits.kernels import Distance, Kernel, Stationary, as_kernel
from corrbandits.stress.settings import DRIFT, Setting

Law = TypeVar("Law", Correlated, Independent)

SURVIVING_LENGTHS, SURVIVING_VARIANCES = (0.1, 1.0, 10.0), (1.0, 100.0)
"""Elimination begins with a belief for each of these factors on the length and on the variance that are assumed."""


@final
@dataclass(frozen=True)
class Assumed:
    """What a prior is made of; of a kernel and coordinates, or of a covariance.

    `drift` is the scale with which the means drift about it; inf if they are taken for fixed.
    """

    mean: Array
    noise_variance: Array
    kernel: Kernel | None = None
    coordinates: Array | None = None
    covariance: Array | None = None
    drift: float = math.inf

    @property
    def drifts(self) -> bool:
        """Whether it lets the means change with time."""
        return math.isfinite(self.drift)

    def reordered(self, order: Integers) -> Assumed:
        """Return the same of arms in another order: arm i is arm order[i] of this."""
        where, matrix = self.coordinates, self.covariance
        return Assumed(
            self.mean[order],
            self.noise_variance[order],
            self.kernel,
            None if where is None else where[order],
            None if matrix is None else matrix[np.ix_(order, order)],
            self.drift,
        )

    def told_nothing(self) -> Vague:
        """Return the belief that is told no more than where the arms lie, if they lie anywhere, and that they drift."""
        change: dict[str, Any] = {"drift": True} if self.drifts else {}
        if self.coordinates is None:
            return Vague(arms=self.mean.size, **change)
        if self.kernel is None:
            return Vague(coordinates=self.coordinates, **change)
        where = self.coordinates[:, :-1] if self.kernel.has_deviations else self.coordinates
        return Vague(coordinates=where, distance=_distance(self.kernel), **change)

    def belief(self, setting: Setting, noise: Array) -> Correlated | Drifting:
        """Return the prior made wrong; as it was given, where the setting changes nothing."""
        return drifting(self.standing(setting, noise), self.drift * setting.drift)

    def standing(self, setting: Setting, noise: Array) -> Correlated:
        """Return the prior made wrong, of the means at any one time."""
        return Correlated(**self.wrong(setting, noise))

    def wrong(self, setting: Setting, noise: Array) -> dict[str, Any]:
        """Return the arguments a belief is made of, made wrong."""
        common = {"mean": wrong_mean(self.mean, setting, noise), "noise_variance": self.noise_variance}
        if self.kernel is None:
            matrix = self.covariance if setting.confidence == 1 else setting.confidence * np.asarray(self.covariance)
            return common | {"covariance": matrix}
        return common | {"kernel": wrong_kernel(self.kernel, setting), "coordinates": self.coordinates}

    def alternatives(self, setting: Setting, noise: Array) -> list[Correlated]:
        """Return the beliefs that elimination begins with: the wrong prior, and the same with other scales."""
        lengths = (1.0,) if self.kernel is None else SURVIVING_LENGTHS
        factors = sorted(product(lengths, SURVIVING_VARIANCES), key=lambda pair: pair != (1.0, 1.0))
        return [
            self.standing(
                setting._replace(length=setting.length * length, confidence=setting.confidence * variance), noise
            )
            for length, variance in factors
        ]


def drifting(law: Law, scale: float) -> Law | Drifting:
    """Return a belief that drifts about what is believed at any one time; that itself if the scale is infinite."""
    return Drifting(prior=law, scale=scale) if scale < math.inf else law


def assumed(
    truth: Any, mean: Any, kernel: Any, coordinates: Any, covariance: Any, noise_variance: Any, drift: Any = None
) -> Assumed:
    """Return what the prior is made of, checked; places and noise are the truth's if left out."""
    arms, scale = truth.arms, math.inf if drift is None else checks.number("drift", drift, above=0)
    noise = checks.noise(truth.noise_variance if noise_variance is None else noise_variance, arms)
    common = checks.per_arm("mean", mean, arms), noise
    if (kernel is None) == (covariance is None):
        raise TypeError("give either kernel=... (and coordinates, if the truth has none) or covariance=matrix.")
    where = truth.coordinates if coordinates is None else coordinates
    if kernel is None:
        places = None if where is None else checks.points("coordinates", where)
        matrix = checks.finite("covariance", covariance)
        return Assumed(*common, coordinates=places, covariance=matrix, drift=scale)
    if where is None:
        raise ValueError("a kernel needs arms with coordinates, but neither the truth nor the prior has any.")
    known = as_kernel(kernel)
    known.stretched(1.0)  # refuses a kernel whose length cannot be changed
    return Assumed(*common, kernel=known, coordinates=checks.points("coordinates", where), drift=scale)


def wrong_mean(mean: Array, setting: Setting, noise: Array) -> Array:
    """Return the means of a prior changed as a setting says; `noise` is what an accuracy of 1 of that kind adds.

    >>> means = np.array([1.0, 3.0, 8.0])
    >>> wrong_mean(means, Setting("swap", 1.0), np.zeros(3)), wrong_mean(means, Setting("scale", 0.5), np.zeros(3))
    (array([8., 6., 1.]), array([2.5, 3.5, 6. ]))
    """
    if setting.as_given or setting.kind == DRIFT:
        return mean
    x, middle = setting.accuracy, mean.mean()
    match setting.kind:
        case "shift":
            return mean + x
        case "scale":
            return np.asarray(middle + x * (mean - middle))
        case "noise":
            return mean + x * noise
    return np.asarray((1 - x) * mean + x * (mean.max() + mean.min() - mean))


def wrong_kernel(kernel: Kernel, setting: Setting) -> Kernel:
    """Return the kernel with its lengths and its variance multiplied.

    >>> from corrbandits import Exponential
    >>> wrong_kernel(10 * Exponential(3.0), Setting("shift", 0.0, confidence=0.1, length=2.0))
    Scaled(kernel=Exponential(length=6.0, distance='euclidean'), variance=1.0)
    """
    kernel = kernel if setting.length == 1 else kernel.stretched(setting.length)
    return kernel if setting.confidence == 1 else kernel.scaled(setting.confidence)


def _distance(kernel: Kernel) -> Distance:
    """Return by which distance a kernel goes: that of the first of its parts that goes by one."""
    if isinstance(kernel, Stationary):
        return kernel.distance
    return next((_distance(part) for part in kernel.parts.values()), "euclidean")


def one_kernel(kernel: Kernel | None) -> tuple[float, Stationary] | None:
    """Return the variance and the correlation of a kernel that is one times the other, else nothing."""
    return None if kernel is None else kernel.factored()


def scales(kernel: Kernel | None) -> dict[str, float]:
    """Return the one variance and the one length of a kernel, where it has them.

    >>> from corrbandits import Exponential
    >>> scales(10 * Exponential(3.0)), scales(Exponential((3.0, 4.0))), scales(None)
    ({'variance': 10.0, 'assumed_length': 3.0}, {'variance': 1.0}, {})
    """
    found = one_kernel(kernel)
    if found is None:
        return {}
    variance, length = found[0], found[1].length
    return {"variance": variance} | ({"assumed_length": length} if isinstance(length, float) else {})
