"""Kernels of the distance between two points alone."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, fields_of
from corrbandits.kernels.base import Kernel

Distance = Literal["euclidean", "cityblock", "great_circle", "chordal"]
EARTH_RADIUS_KM = 6371.0088

BEYOND = 1e150
"""Where correlations are 0, and squares of distances are doubles; no distance is longer, in lengths."""


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the distance between two points alone.

    `length` is one number, or one per dimension. `distance` is "euclidean", "cityblock", or on the globe, for
    points given as latitude and longitude in degrees and lengths in km, "great_circle" (along the surface) or
    "chordal" (through the earth). A subclass must define `correlation`; with `slope` its length can be fitted.
    """

    any_distance: ClassVar[bool] = False
    """Whether it is a covariance of every distance, of cityblock and great_circle too."""

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
        if self.distance in ("cityblock", "great_circle") and not self.any_distance:
            instead = "euclidean" if self.distance == "cityblock" else "chordal"
            raise ValueError(
                f"{type(self).__name__} of a {self.distance} distance is not a covariance: some of its "
                f"matrices have negative eigenvalues. Use Exponential, or distance={instead!r}."
            )

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the correlation of each of the points with each of the others."""
        return self.correlation(self.distances(points, others))

    def distances(self, points: Any, others: Any = None) -> Array:
        """Return the distances, in lengths, up to `BEYOND`."""
        x = checks.points("points", points)
        y = x if others is None else checks.points("others", others)
        if x.shape[1] != y.shape[1]:
            raise ValueError(f"points have {x.shape[1]} coordinates but others have {y.shape[1]}.")
        return np.minimum(self._scaled_distance(x, y), BEYOND)

    @abstractmethod
    def correlation(self, r: Array) -> Array:
        """Return the correlation at distance r, in lengths."""

    def slope(self, r: Array) -> Array:
        """Return the derivative of the correlation with respect to log r, that is r times its slope at r.

        >>> Exponential(1.0).slope(np.array([1.0, 2.0])).round(4)
        array([-0.3679, -0.2707])
        """
        raise TypeError(
            f"the length of a {type(self).__name__} kernel cannot be fitted, because it does not define slope(r), the "
            "derivative of its correlation with respect to log r. Define it, or use Exponential or a Matern kernel."
        )

    @property
    def depends_on_offset(self) -> bool:
        """Whether its distance does: those on the globe do not."""
        return self.distance in ("euclidean", "cityblock")

    def factored(self) -> tuple[float, Stationary] | None:
        """Return 1 and itself."""
        return 1.0, self

    def stretched(self, factor: float) -> Kernel:
        """Return the kernel with its length, or each of them, multiplied."""
        length = np.asarray(self.length) * factor
        return replace(self, length=tuple(length.tolist()) if length.ndim else float(length))

    def in_words(self) -> str:
        """Return its name, its lengths, and what else was given."""
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()
        lengths = self.length if isinstance(self.length, tuple) else (self.length,)
        unit = " km" if self.distance in ("great_circle", "chordal") else ""
        rest = [self.distance.replace("_", " ") + " distance"] if self.distance != "euclidean" else []
        rest += [f"{name} {value:g}" for name, value in fields_of(self).items() if name not in ("length", "distance")]
        return f"{name} kernel of length {' x '.join(f'{length:g}' for length in lengths)}{unit}" + (
            f" ({', '.join(rest)})" if rest else ""
        )

    def _scaled_distance(self, x: Array, y: Array) -> Array:
        if self.distance in ("great_circle", "chordal"):
            chord = _distances(on_unit_sphere(x), on_unit_sphere(y))
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
        return _distances(x, y, cityblock=self.distance == "cityblock")


@final
@dataclass(frozen=True)
class Exponential(Stationary):
    """exp(-r), the paper's kernel: rough surfaces, correlation that falls off at once.

    >>> Exponential(length=3.0)([[0, 0]], [[0, 3], [4, 3]]).round(4)
    array([[0.3679, 0.1889]])
    """

    any_distance = True

    def correlation(self, r: Array) -> Array:
        """Return exp(-r)."""
        return np.exp(-r)

    def slope(self, r: Array) -> Array:
        """Return -r exp(-r)."""
        return -r * np.exp(-r)


@final
@dataclass(frozen=True)
class SquaredExponential(Stationary):
    """exp(-r^2 / 2): very smooth surfaces; its matrices are singular to rounding when the length is large.

    >>> SquaredExponential(length=2.0)([0.0], [2.0]).round(4)
    array([[0.6065]])
    """

    def correlation(self, r: Array) -> Array:
        """Return exp(-r^2 / 2)."""
        s = np.minimum(r, 1e3)
        return np.asarray(np.exp(-0.5 * s**2))

    def slope(self, r: Array) -> Array:
        """Return -r^2 exp(-r^2 / 2)."""
        s = np.minimum(r, 1e3)
        return np.asarray(-(s**2) * np.exp(-0.5 * s**2))


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

    def slope(self, r: Array) -> Array:
        """Return -s^2 exp(-s), s = sqrt(3) r."""
        s = np.minimum(math.sqrt(3.0) * r, 1e3)
        return -(s**2) * np.exp(-s)


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

    def slope(self, r: Array) -> Array:
        """Return -s^2 (1 + s) exp(-s) / 3, s = sqrt(5) r."""
        s = np.minimum(math.sqrt(5.0) * r, 1e3)
        return np.asarray(-(s**2) / 3 * (1 + s) * np.exp(-s))


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

    def slope(self, r: Array) -> Array:
        """Return -2 alpha q / (1 + q) times the correlation, q = r^2 / (2 alpha)."""
        with np.errstate(divide="ignore"):
            share = 1 / (1 + 2 * self.alpha / np.square(r))
        return -2 * self.alpha * share * self.correlation(r)


@final
@dataclass(frozen=True)
class White(Kernel):
    """1 of a point with itself, 0 of two points: what is each arm's own, whatever its neighbours are like.

    >>> (4 * Exponential(3.0) + 0.5 * White())([0.0, 3.0]).round(4)
    array([[4.5   , 1.4715],
           [1.4715, 4.5   ]])
    """

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return whether each of the points is each of the others."""
        x = checks.points("points", points)
        y = x if others is None else checks.points("others", others)
        if x.shape[1] != y.shape[1]:
            raise ValueError(f"points have {x.shape[1]} coordinates but others have {y.shape[1]}.")
        return np.asarray(_distances(x, y, cityblock=True) == 0, dtype=np.float64)

    @property
    def depends_on_offset(self) -> bool:
        """Whether it depends on the offset of two points alone: it does."""
        return True

    def stretched(self, factor: float) -> Kernel:
        """Return itself: it has no length."""
        return self

    def in_words(self) -> str:
        """Return what it is called in a sentence."""
        return "a variance of each arm's own"


def _distances(x: Array, y: Array, *, cityblock: bool = False) -> Array:
    """Return the distance of each x from each y, with the bits of scipy's `cdist`, whose import takes long.

    Some rows at a time: they stay in the cache from one coordinate to the next.
    """
    total, columns = np.zeros((len(x), len(y))), y.T.copy()
    rows = max(1, 2**15 // max(len(y), 1))
    with np.errstate(over="ignore"):
        for k in range(0, len(x), rows):
            part = total[k : k + rows]
            for column, other in zip(x[k : k + rows].T, columns, strict=True):
                gap = column[:, None] - other
                part += np.abs(gap, out=gap) if cityblock else np.square(gap, out=gap)
            if not cityblock:
                np.sqrt(part, out=part)
    return total


def on_unit_sphere(degrees: Array) -> Array:
    """Return (n, 3) points on the unit sphere from (n, 2) latitudes and longitudes."""
    if degrees.shape[1] != 2 or np.abs(degrees[:, 0]).max() > 90:
        raise ValueError(
            "on the globe a point is latitude (-90 to 90) and longitude in degrees, in this order, "
            f"got {degrees[np.abs(degrees[:, 0]).argmax()].tolist()}."
        )
    latitude, longitude = np.radians(degrees).T
    towards_pole, across = np.sin(latitude), np.cos(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), towards_pole], axis=1)
