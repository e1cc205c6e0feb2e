"""Priors made wrong on purpose: in their means, their confidence and their correlation scale.

factor       what the number does to the prior                                      as given   its symbol
shift        it is added to every mean                                              0          mu0 + x
scale        it multiplies the distance of every mean from their average            1          -
noise        normal noise of this deviation is added to the means                   0          mu0 + x z
swap         each mean m goes this share of the way to highest + lowest - m         0          -
confidence   it multiplies the prior's variances                                    1          sigma_0^2, 1 / delta^2
length       it multiplies the lengths assumed in the kernel                        1          length scale
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, Vague
from corrbandits.kernels import Distance, Kernel, Stationary, as_kernel

AS_GIVEN = {"shift": 0.0, "scale": 1.0, "noise": 0.0, "swap": 0.0}
KINDS = tuple(AS_GIVEN)
"""The ways in which a prior's means are made wrong; the first is the one of the pair grids, unless told otherwise."""

IN_SPREADS = {"shift": (-2.0, -1.0, 0.0, 1.0, 2.0), "noise": (0.0, 0.5, 1.0, 2.0, 4.0)}
"""Numbers tried by default, times the spread of the true means."""

PLAIN = {"scale": (-1.0, 0.0, 0.5, 1.0, 2.0), "swap": (0.0, 0.25, 0.5, 0.75, 1.0)}
CONFIDENCE = (0.01, 0.1, 1.0, 10.0, 100.0)
LENGTH = (0.1, 0.3162, 1.0, 3.162, 10.0)

SURVIVING_LENGTHS, SURVIVING_VARIANCES = (0.1, 1.0, 10.0), (1.0, 100.0)
"""Elimination begins with a belief for each of these factors on the length and on the variance that are assumed."""


class Setting(NamedTuple):
    """One wrong prior: how its means are changed and by how much, and the factors on its variance and length."""

    kind: str
    accuracy: float
    confidence: float = 1.0
    length: float = 1.0

    @property
    def as_given(self) -> bool:
        """Whether the means are those of the prior as it was given."""
        return self.accuracy == AS_GIVEN[self.kind]


@final
@dataclass(frozen=True)
class Assumed:
    """What a prior is made of; of a kernel and coordinates, or of a covariance."""

    mean: Array
    noise_variance: Array
    kernel: Kernel | None = None
    coordinates: Array | None = None
    covariance: Array | None = None

    def reordered(self, order: Integers) -> Assumed:
        """Return the same of arms in another order: arm i is arm order[i] of this."""
        where, matrix = self.coordinates, self.covariance
        return Assumed(
            self.mean[order],
            self.noise_variance[order],
            self.kernel,
            None if where is None else where[order],
            None if matrix is None else matrix[np.ix_(order, order)],
        )

    def told_nothing(self) -> Vague:
        """Return the belief that is told no more than where the arms lie, if they lie anywhere."""
        if self.coordinates is None:
            return Vague(arms=self.mean.size)
        if self.kernel is None:
            return Vague(coordinates=self.coordinates)
        where = self.coordinates[:, :-1] if self.kernel.has_deviations else self.coordinates
        return Vague(coordinates=where, distance=_distance(self.kernel))

    def belief(self, setting: Setting, noise: Array) -> Correlated:
        """Return the prior made wrong; as it was given, where the setting changes nothing."""
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
            self.belief(
                setting._replace(length=setting.length * length, confidence=setting.confidence * variance), noise
            )
            for length, variance in factors
        ]


def assumed(truth: Any, mean: Any, kernel: Any, coordinates: Any, covariance: Any, noise_variance: Any) -> Assumed:
    """Return what the prior is made of, checked; places and noise are the truth's if left out."""
    arms = truth.arms
    noise = checks.noise(truth.noise_variance if noise_variance is None else noise_variance, arms)
    common = checks.per_arm("mean", mean, arms), noise
    if (kernel is None) == (covariance is None):
        raise TypeError("give either kernel=... (and coordinates, if the truth has none) or covariance=matrix.")
    where = truth.coordinates if coordinates is None else coordinates
    if kernel is None:
        places = None if where is None else checks.points("coordinates", where)
        return Assumed(*common, coordinates=places, covariance=checks.finite("covariance", covariance))
    if where is None:
        raise ValueError("a kernel needs arms with coordinates, but neither the truth nor the prior has any.")
    known = as_kernel(kernel)
    known.stretched(1.0)  # refuses a kernel whose length cannot be changed
    return Assumed(*common, kernel=known, coordinates=checks.points("coordinates", where))


def wrong_mean(mean: Array, setting: Setting, noise: Array) -> Array:
    """Return the means of a prior changed as a setting says; `noise` is what an accuracy of 1 of that kind adds.

    >>> means = np.array([1.0, 3.0, 8.0])
    >>> wrong_mean(means, Setting("swap", 1.0), np.zeros(3)), wrong_mean(means, Setting("scale", 0.5), np.zeros(3))
    (array([8., 6., 1.]), array([2.5, 3.5, 6. ]))
    """
    if setting.as_given:
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


def settings(
    accuracy: Mapping[str, Sequence[float]], confidence: Sequence[float], length: Sequence[float]
) -> list[Setting]:
    """Return every setting once: the three pair grids of the first kind, then the curves of the other kinds.

    The prior as it was given is listed under the first kind alone.

    >>> len(settings({"shift": [-1.0, 0.0], "noise": [0.0, 1.0]}, [0.1, 1.0], [1.0, 2.0]))
    8
    """
    first, *others = accuracy
    grids = (
        product(accuracy[first], confidence, (1.0,)),
        product(accuracy[first], (1.0,), length),
        product((AS_GIVEN[first],), confidence, length),
    )
    paired = (Setting(first, *values) for grid in grids for values in grid)
    alone = (Setting(kind, x) for kind in others for x in accuracy[kind] if x != AS_GIVEN[kind])
    return list(dict.fromkeys((*paired, *alone)))


def corners(
    accuracy: Mapping[str, Sequence[float]], confidence: Sequence[float], length: Sequence[float]
) -> list[Setting]:
    """Return the corners of the grid of accuracy and length; without several lengths, of accuracy and confidence.

    >>> [corner[1:] for corner in corners({"shift": [-9.0, 0.0, 9.0]}, [1.0, 10.0], [0.1, 1.0])]
    [(-9.0, 1.0, 0.1), (-9.0, 1.0, 1.0), (9.0, 1.0, 0.1), (9.0, 1.0, 1.0)]
    """
    first = next(iter(accuracy))
    ends = dict.fromkeys((min(accuracy[first]), max(accuracy[first])))
    if len(length) > 1:
        return [Setting(first, x, 1.0, y) for x in ends for y in (min(length), max(length))]
    return [Setting(first, x, y, 1.0) for x in ends for y in dict.fromkeys((min(confidence), max(confidence)))]


def varied(kinds: Any, accuracy: Any, spread: float) -> dict[str, list[float]]:
    """Return the numbers to try of each kind of inaccuracy: those given, or else the default ones."""
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if not names or not set(names) <= set(KINDS) or len(set(names)) < len(names):
        raise ValueError(f"kinds must be some of {', '.join(KINDS)}, each once, got {kinds!r:.60}.")
    given = accuracy if isinstance(accuracy, Mapping) else {} if accuracy is None else {names[0]: accuracy}
    if stray := [kind for kind in given if kind not in names]:
        raise ValueError(f"accuracy must be of the kinds {', '.join(names)}, got {stray[0]!r:.60}.")
    defaults = {kind: [x * spread for x in factors] for kind, factors in IN_SPREADS.items()} | PLAIN
    return {kind: numbers_to_try("accuracy", given.get(kind, defaults[kind]), AS_GIVEN[kind], kind) for kind in names}


def numbers_to_try(name: str, values: Any, as_given: float, kind: str = "") -> list[float]:
    """Return numbers in order, each once, with the one that leaves the prior as it was given."""
    found = checks.finite(name, values)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} must be a list of numbers such as [0.5, 1.0, 2.0], got {values!r:.60}.")
    if name != "accuracy" and not (found > 0).all():
        raise ValueError(f"{name} must be factors above 0, such as [0.1, 1.0, 10.0], got {found.min():g}.")
    if kind == "noise" and (found < 0).any():
        raise ValueError(f"{name} must be deviations of at least 0 for the kind noise, got {found.min():g}.")
    if kind == "swap" and ((found < 0) | (found > 1)).any():
        raise ValueError(f"{name} must be shares from 0 to 1 for the kind swap, got {found.tolist()}.")
    return [float(x) + 0.0 for x in np.unique(np.append(found, as_given))]


def spread_of(surfaces: Sequence[Any]) -> float:
    """Return the standard deviation of the true means, in the mean over surfaces, in three digits."""
    spread = float(np.mean([surface.means.std() for surface in surfaces]))
    return float(f"{spread:.3g}") if spread > 0 else 1.0
