"""What every kernel offers, and kernels made of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array

if TYPE_CHECKING:
    from corrbandits.kernels.stationary import Stationary

MOST_NESTED = 100
"""Kernels may be made of kernels that are made of kernels, and so on, so many times."""

Covariance = Callable[[Any, Any], Any]
"""Anything that is called with two sets of points and returns their covariance, a scikit-learn kernel for one."""


class Kernel(ABC):
    """A covariance of two points. Kernels add and multiply, with each other and with any callable on points.

    A subclass must define `__call__`. What the other methods say of it by default is always true, and little.
    """

    @abstractmethod
    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the covariance of each of the points with each of the others (by default, the points themselves)."""

    @property
    def parts(self) -> dict[str, Kernel]:
        """The kernels that it is made of, by the names of its fields."""
        return {}

    @property
    def depends_on_offset(self) -> bool:
        """Whether it is known to depend on the offset of two points alone, whichever way that points."""
        return False

    @property
    def has_deviations(self) -> bool:
        """Whether the last coordinate of a point is its standard deviation."""
        return False

    def factored(self) -> tuple[float, Stationary] | None:
        """Return variance and correlation of `variance * correlation`; None for a kernel of another form.

        >>> from corrbandits import Exponential
        >>> (2 * (5 * Exponential(3.0))).factored()
        (10.0, Exponential(length=3.0, distance='euclidean'))
        >>> (Exponential(3.0) + Exponential(4.0)).factored() is None
        True
        """
        return None

    def scaled(self, factor: float) -> Kernel:
        """Return the kernel with its variance multiplied.

        >>> from corrbandits import Exponential
        >>> (10 * Exponential(3.0)).scaled(0.1)
        Scaled(kernel=Exponential(length=3.0, distance='euclidean'), variance=1.0)
        """
        return Scaled(self, factor)

    def stretched(self, factor: float) -> Kernel:
        """Return the kernel with all its lengths multiplied; refused where they are not known.

        >>> from corrbandits import Exponential
        >>> (10 * Exponential(3.0)).stretched(2.0)
        Scaled(kernel=Exponential(length=6.0, distance='euclidean'), variance=10.0)
        """
        raise TypeError(
            "kernel must be one of the library's, such as 10 * Exponential(3.0), or made of these, so that its length "
            f"can be varied, got {self!r:.60}. Give covariance=matrix instead: then the length stays as it is."
        )

    def in_words(self) -> str:
        """Return what it is called in a sentence.

        >>> from corrbandits import RationalQuadratic
        >>> (10 * RationalQuadratic(3.0, alpha=0.5)).in_words()
        'rational quadratic kernel of length 3 (alpha 0.5)'
        """
        return repr(self)

    def __add__(self, other: Covariance) -> Kernel:
        return Sum(self, other)

    def __radd__(self, other: Covariance) -> Kernel:
        return Sum(other, self)

    def __mul__(self, other: float | Covariance) -> Kernel:
        return Product(self, other) if callable(other) else Scaled(self, other)

    def __rmul__(self, other: float | Covariance) -> Kernel:
        return Product(other, self) if callable(other) else Scaled(self, other)


@final
@dataclass(frozen=True, repr=False)
class Function(Kernel):
    """A function of two sets of points, taken as a kernel; it is made where such a function is given for one.

    >>> Function(np.multiply.outer)(np.array([1.0, 2.0]), np.array([3.0]))
    array([[3.],
           [6.]])
    """

    function: Covariance

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return what the function does."""
        return np.asarray(self.function(points, others))

    def __repr__(self) -> str:
        return repr(self.function)


@dataclass(frozen=True)
class Composed(Kernel):
    """A kernel made of others, which are the fields named in `made_of`: what holds of all of them holds of it."""

    made_of: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for name in self.made_of:
            checks.set_field(self, name, as_kernel(getattr(self, name)))
        if _depth(self) > MOST_NESTED:
            raise ValueError(
                f"a kernel must be nested at most {MOST_NESTED} deep, got more. Add many kernels two by two, and then "
                "the sums, or write one function of two sets of points that adds them all."
            )

    @property
    def parts(self) -> dict[str, Kernel]:
        """The kernels that it is made of, by the names of its fields."""
        return {name: getattr(self, name) for name in self.made_of}

    @property
    def depends_on_offset(self) -> bool:
        """Whether every part is known to depend on the offset of two points alone."""
        return all(part.depends_on_offset for part in self.parts.values())

    def stretched(self, factor: float) -> Kernel:
        """Return the kernel made of its parts stretched."""
        return replace(self, **{name: part.stretched(factor) for name, part in self.parts.items()})


@final
@dataclass(frozen=True)
class Sum(Composed):
    """The sum of two kernels; written `one + other`.

    >>> from corrbandits import Exponential
    >>> (Exponential(1.0) + 2 * Exponential(4.0))([0.0])
    array([[3.]])
    """

    made_of = ("one", "other")

    one: Covariance
    other: Covariance

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the sum of the two."""
        return np.asarray(self.one(points, others) + self.other(points, others))


@final
@dataclass(frozen=True)
class Product(Composed):
    """The product of two kernels; written `one * other`.

    >>> from corrbandits import Exponential
    >>> (Exponential(1.0) * Exponential(1.0))([0.0], [1.0]).round(4)
    array([[0.1353]])
    """

    made_of = ("one", "other")

    one: Covariance
    other: Covariance

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the product of the two."""
        return np.asarray(self.one(points, others) * self.other(points, others))


@final
@dataclass(frozen=True)
class Scaled(Composed):
    """A kernel times a variance; written `variance * kernel`.

    >>> from corrbandits import Exponential
    >>> (10 * Exponential(3.0))([0.0], [3.0]).round(4)
    array([[3.6788]])
    """

    made_of = ("kernel",)

    kernel: Kernel
    variance: float

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "variance", checks.number("a kernel's variance", self.variance, above=0))

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the scaled covariance."""
        return self.variance * self.kernel(points, others)

    @property
    def has_deviations(self) -> bool:
        """Whether its kernel's points have deviations."""
        return self.kernel.has_deviations

    def factored(self) -> tuple[float, Stationary] | None:
        """Return its variance times its kernel's, and its kernel's correlation."""
        inner = self.kernel.factored()
        return None if inner is None else (inner[0] * self.variance, inner[1])

    def scaled(self, factor: float) -> Kernel:
        """Return the same kernel times another variance."""
        return Scaled(self.kernel, self.variance * factor)

    def in_words(self) -> str:
        """Return what its kernel is called."""
        return self.kernel.in_words()


@final
@dataclass(frozen=True)
class WithDeviations(Composed):
    """A kernel for arms that are not all equally uncertain: a point's last coordinate is its standard deviation.

    The covariance of two points is the kernel's, of their other coordinates, times both deviations.

    >>> from corrbandits import Exponential
    >>> WithDeviations(Exponential(3.0))([[0.0, 2.0]], [[0.0, 2.0], [3.0, 5.0]]).round(4)
    array([[4.    , 3.6788]])
    """

    made_of = ("kernel",)

    kernel: Kernel

    def __call__(self, points: Any, others: Any = None) -> Array:
        """Return the scaled covariance."""
        x = _with_deviations(points)
        y = x if others is None else _with_deviations(others)
        return np.asarray(x[:, -1:] * y[:, -1] * self.kernel(x[:, :-1], y[:, :-1]))

    @property
    def depends_on_offset(self) -> bool:
        """False: it depends on the deviations."""
        return False

    @property
    def has_deviations(self) -> bool:
        """True: that is what it is for."""
        return True

    def in_words(self) -> str:
        """Return what its kernel is called."""
        return self.kernel.in_words()


def as_kernel(given: Any) -> Kernel:
    """Return a kernel: the one given, or one that is a function of two sets of points."""
    if not callable(given):
        raise TypeError(
            f"a kernel must be called with two sets of points, such as Exponential(3.0), got {given!r:.60}. A constant "
            "is a function of two sets of points too."
        )
    return given if isinstance(given, Kernel) else Function(given)


def _depth(kernel: Kernel) -> int:
    return 1 + max((_depth(part) for part in kernel.parts.values()), default=-1)


def _with_deviations(points: Any) -> Array:
    x = checks.points("points", points)
    if x.shape[1] < 2 or not (x[:, -1] >= 0).all():
        raise ValueError(
            "WithDeviations needs a standard deviation, at least 0, behind the coordinates of each point, got "
            f"{x[x[:, -1].argmin()].tolist()}."
        )
    return x
