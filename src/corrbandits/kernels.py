"""Covariance as a function of two points.

    name       shape      meaning                                       paper
    points     (n, d)     where the arms lie                            the embedding space of section 1
    others     (m, d)     the points compared with                      -
    length     () or (d,) how far correlation reaches                   "length scale", section 5
    r          (n, m)     distance over length                          -

The paper's own kernel is `Exponential`: exp(-distance / length), the distance not squared. Kernels add, multiply
and scale: `10 * Exponential(3.0) + 0.5 * SquaredExponential(8.0)`. Each is a correlation (1 at distance 0) until it
is scaled. `WithDeviations` scales each arm by its own standard deviation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array

Distance = Literal["euclidean", "cityblock", "great_circle", "chordal"]
Covariance = Callable[[Any, Any], Any]
"""Anything that is called with two sets of points and returns their covariance, a scikit-learn kernel for one."""

EARTH_RADIUS_KM = 6371.0088


class Kernel(ABC):
    """A covariance of two points. Kernels add and multiply, with each other and with any callable on points."""

    @abstractmethod
    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the covariance of each of the points with each of the others (by default, the points themselves)."""

    def __add__(self, other: Covariance) -> Kernel:
        return Sum(self, _covariance(other))

    def __radd__(self, other: Covariance) -> Kernel:
        return Sum(_covariance(other), self)

    def __mul__(self, other: float | Covariance) -> Kernel:
        return Product(self, other) if callable(other) else Scaled(self, other)

    def __rmul__(self, other: float | Covariance) -> Kernel:
        return Product(other, self) if callable(other) else Scaled(self, other)


@final
@dataclass(frozen=True)
class Sum(Kernel):
    """The sum of two kernels; written `one + other`.

    >>> (Exponential(1.0) + 2 * Exponential(4.0))([0.0])
    array([[3.]])
    """

    one: Covariance
    other: Covariance

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the sum of the two."""
        return np.asarray(self.one(points, others) + self.other(points, others))


@final
@dataclass(frozen=True)
class Product(Kernel):
    """The product of two kernels; written `one * other`.

    >>> (Exponential(1.0) * Exponential(1.0))([0.0], [1.0]).round(4)
    array([[0.1353]])
    """

    one: Covariance
    other: Covariance

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the product of the two."""
        return np.asarray(self.one(points, others) * self.other(points, others))


@final
@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel times a variance; written `variance * kernel`.

    >>> (10 * Exponential(3.0))([0.0], [3.0]).round(4)
    array([[3.6788]])
    """

    kernel: Kernel
    variance: float

    def __post_init__(self) -> None:
        checks.set_field(self, "variance", checks.number("a kernel's variance", self.variance, above=0))

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the scaled covariance."""
        return self.variance * self.kernel(points, others)


@final
@dataclass(frozen=True)
class WithDeviations(Kernel):
    """A kernel for arms that are not all equally uncertain: a point's last coordinate is its standard deviation.

    The covariance of two points is the kernel's, of their other coordinates, times both deviations.

    >>> WithDeviations(Exponential(3.0))([[0.0, 2.0]], [[0.0, 2.0], [3.0, 5.0]]).round(4)
    array([[4.    , 3.6788]])
    """

    kernel: Kernel

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the scaled covariance."""
        x = _with_deviations(points)
        y = x if others is None else _with_deviations(others)
        return np.asarray(x[:, -1:] * y[:, -1] * self.kernel(x[:, :-1], y[:, :-1]))


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the distance between two points alone.

    `length` is one number, or one per dimension. `distance` is "euclidean", "cityblock", or on the globe, for
    points given as latitude and longitude in degrees and lengths in km, "great_circle" (along the surface) or
    "chordal" (through the earth).
    """

    length: float | tuple[float, ...]
    distance: Distance = "euclidean"

    def __post_init__(self) -> None:
        length = checks.finite("length", self.length)
        if length.ndim > 1 or not length.size or not (length > 0).all():
            raise ValueError(f"length must be one number above 0, or one per dimension, got {self.length}.")
        checks.set_field(self, "length", tuple(length.tolist()) if length.ndim else float(length))
        if self.distance not in ("euclidean", "cityblock", "great_circle", "chordal"):
            raise ValueError(f"distance must be euclidean, cityblock, great_circle or chordal, got {self.distance!r}.")
        if length.ndim and self.distance in ("great_circle", "chordal"):
            raise ValueError(f"a {self.distance} distance takes one length, in km, got {length.size}.")
        if self.distance in ("cityblock", "great_circle") and not isinstance(self, Exponential):
            instead = "euclidean" if self.distance == "cityblock" else "chordal"
            raise ValueError(
                f"{type(self).__name__} of a {self.distance} distance is not a covariance: some of its "
                f"matrices have negative eigenvalues. Use Exponential, or distance={instead!r}."
            )

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the correlation of each of the points with each of the others."""
        return self.correlation(self.distances(points, others))

    def distances(self, points: Any, others: Any = None) -> Array:
        """Return the distances, in lengths: 1e150 for those beyond, where correlations are 0 and squares finite."""
        x = checks.points("points", points)
        y = x if others is None else checks.points("others", others)
        if x.shape[1] != y.shape[1]:
            raise ValueError(f"points have {x.shape[1]} coordinates but others have {y.shape[1]}.")
        return np.minimum(self._scaled_distance(x, y), 1e150)

    @abstractmethod
    def correlation(self, r: Array) -> Array:
        """Return the correlation at distance r, in lengths."""

    def _scaled_distance(self, x: Array, y: Array) -> Array:
        from scipy.spatial.distance import cdist

        if self.distance in ("great_circle", "chordal"):
            chord = cdist(_on_unit_sphere(x), _on_unit_sphere(y))
            if self.distance == "great_circle":
                chord = 2 * np.arcsin(np.minimum(chord / 2, 1.0))
            with np.errstate(over="ignore"):
                return np.asarray(chord * EARTH_RADIUS_KM / checks.number("length", self.length))
        length = np.asarray(self.length)
        if length.ndim and length.size != x.shape[1]:
            raise ValueError(f"length has {length.size} entries but the points have {x.shape[1]} coordinates.")
        with np.errstate(over="ignore"):
            x, y = x / length, y / length
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise ValueError(f"length {self.length} is too small for these points: in lengths they overflow a double.")
        return np.asarray(cdist(x, y, self.distance))


@final
@dataclass(frozen=True)
class Exponential(Stationary):
    """exp(-r), the paper's kernel: rough surfaces, correlation that falls off at once.

    >>> Exponential(length=3.0)([[0, 0]], [[0, 3], [4, 3]]).round(4)
    array([[0.3679, 0.1889]])
    """

    def correlation(self, r: Array) -> Array:
        """Return exp(-r)."""
        return np.exp(-r)


@final
@dataclass(frozen=True)
class SquaredExponential(Stationary):
    """exp(-r^2 / 2): very smooth surfaces; its matrices are singular to rounding when the length is large.

    >>> SquaredExponential(length=2.0)([0.0], [2.0]).round(4)
    array([[0.6065]])
    """

    def correlation(self, r: Array) -> Array:
        """Return exp(-r^2 / 2)."""
        return np.exp(-0.5 * r**2)


@final
@dataclass(frozen=True)
class Matern32(Stationary):
    """(1 + sqrt(3) r) exp(-sqrt(3) r): surfaces with one derivative.

    >>> Matern32(length=2.0)([0.0], [2.0]).round(4)
    array([[0.4834]])
    """

    def correlation(self, r: Array) -> Array:
        """Return (1 + sqrt(3) r) exp(-sqrt(3) r)."""
        s = np.minimum(np.sqrt(3.0) * r, 1e3)
        return np.asarray((1 + s) * np.exp(-s))


@final
@dataclass(frozen=True)
class Matern52(Stationary):
    """(1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r): surfaces with two derivatives.

    >>> Matern52(length=2.0)([0.0], [2.0]).round(4)
    array([[0.524]])
    """

    def correlation(self, r: Array) -> Array:
        """Return (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)."""
        s = np.minimum(np.sqrt(5.0) * r, 1e3)
        return np.asarray((1 + s + s**2 / 3) * np.exp(-s))


@final
@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """(1 + r^2 / (2 alpha))^-alpha: a mixture of squared exponentials of many lengths.

    >>> RationalQuadratic(length=2.0, alpha=1.0)([0.0], [2.0]).round(4)
    array([[0.6667]])
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "alpha", checks.number("alpha", self.alpha, above=0))

    def correlation(self, r: Array) -> Array:
        """Return (1 + r^2 / (2 alpha))^-alpha."""
        with np.errstate(divide="ignore"):
            log_quotient = 2 * np.log(r) - math.log(2) - math.log(self.alpha)
        return np.exp(-self.alpha * np.logaddexp(0.0, log_quotient))


def depends_on_offset(kernel: Covariance) -> bool:
    """Return whether the covariance is known to depend on the offset of two points alone, whichever way it points.

    >>> depends_on_offset(10 * Exponential(3.0)), depends_on_offset(Exponential(3.0, distance="great_circle"))
    (True, False)
    """
    if isinstance(kernel, Scaled):
        return depends_on_offset(kernel.kernel)
    if isinstance(kernel, (Sum, Product)):
        return depends_on_offset(kernel.one) and depends_on_offset(kernel.other)
    return isinstance(kernel, Stationary) and kernel.distance in ("euclidean", "cityblock")


KERNELS: dict[str, type[Stationary]] = {
    "exponential": Exponential,
    "squared_exponential": SquaredExponential,
    "matern32": Matern32,
    "matern52": Matern52,
    "rational_quadratic": RationalQuadratic,
}
"""The kernels of a distance, by what they are called in files and on the command line."""


def made_of_ours(kernel: Covariance) -> TypeGuard[Kernel]:
    """Return whether a kernel and all its parts are of this module: then its fields say all there is to say of it.

    >>> made_of_ours(10 * Exponential(3.0)), made_of_ours(Exponential(3.0) + (lambda points, others: 1.0))
    (True, False)
    """
    if isinstance(kernel, (Scaled, WithDeviations)):
        return made_of_ours(kernel.kernel)
    if isinstance(kernel, (Sum, Product)):
        return made_of_ours(kernel.one) and made_of_ours(kernel.other)
    return type(kernel) in KERNELS.values()


def _covariance(other: Any) -> Covariance:
    if not callable(other):
        raise TypeError(
            f"a kernel adds to another kernel, not to {other!r}; a constant is a function of two sets of points too."
        )
    result: Covariance = other
    return result


def _with_deviations(points: Any) -> Array:
    x = checks.points("points", points)
    if x.shape[1] < 2 or not (x[:, -1] >= 0).all():
        raise ValueError(
            "WithDeviations needs a standard deviation, at least 0, behind the coordinates of each point, got "
            f"{x[x[:, -1].argmin()].tolist()}."
        )
    return x


def _on_unit_sphere(degrees: Array) -> Array:
    """Return (n, 3) points on the unit sphere from (n, 2) latitudes and longitudes."""
    if degrees.shape[1] != 2 or np.abs(degrees[:, 0]).max() > 90:
        raise ValueError(
            "on the globe a point is latitude (-90 to 90) and longitude in degrees, in this order, "
            f"got {degrees[np.abs(degrees[:, 0]).argmax()].tolist()}."
        )
    latitude, longitude = np.radians(degrees).T
    towards_pole, across = np.sin(latitude), np.cos(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), towards_pole], axis=1)
