"""The correlation of arms as a function of length, with its derivative."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices.people import euclidean
from corrbandits.choices.priors import correlation
from corrbandits.kernels import Kernel
from corrbandits.kernels.base import Product, Scaled, Sum, WithDeviations
from corrbandits.kernels.stationary import Stationary, White


@final
class Correlations:
    """The correlation of some arms under a kernel; without one, none.

    >>> from corrbandits import Exponential
    >>> at_two, slope = Correlations(Exponential(1.0), np.array([[0.0], [2.0]]), 2).at(2.0)
    >>> at_two[0].round(4), slope[0].round(4)
    (array([1.    , 0.3679]), array([0.    , 0.3679]))
    """

    def __init__(self, kernel: Kernel | None, where: Array | None, arms: int) -> None:
        if kernel is not None and where is None:
            raise ValueError(
                "a kernel needs to know where arms lie. Say it, as by columns x and y, or take a model without one."
            )
        self._kernel, self._where, self._arms = kernel, where, arms

    def at(self, length: float) -> tuple[Array, Array]:
        """Return the correlation at a length, and its derivative by the logarithm of that."""
        if self._kernel is None or self._where is None:
            return self._alone
        if self._distances is None:
            stretched = self._kernel.stretched(length)
            largest = stretched(self._where).diagonal().max()
            return correlation(self._kernel, self._where, length), by_length(stretched, self._where) / largest
        family, values, places = self._distances
        r = values / length
        return family.correlation(r)[places], -family.slope(r)[places]

    def reach(self) -> tuple[float, float]:
        """Return the smallest distance of two arms above 0 and the largest, in lengths of the kernel.

        >>> from corrbandits import Exponential
        >>> Correlations(Exponential(1.0), np.array([[0.0], [2.0], [7.0]]), 3).reach()
        (2.0, 7.0)
        """
        known = self._distances
        values = np.unique(euclidean(self._where)) if known is None else known[1]
        apart = values[values > 0]
        return (float(apart[0]), float(apart[-1])) if apart.size else (1.0, 1.0)

    @cached_property
    def _alone(self) -> tuple[Array, Array]:
        """The correlation of arms that tell nothing of each other, and its derivative: of many arms it takes long."""
        return np.eye(self._arms), np.zeros((self._arms, self._arms))

    @cached_property
    def _distances(self) -> tuple[Stationary, Array, Any] | None:
        """The distances there are, each once, and which of them each pair of arms has; None of a composed kernel."""
        factored = None if self._kernel is None else self._kernel.factored()
        if factored is None or self._where is None:
            return None
        values, places = np.unique(factored[1].distances(self._where), return_inverse=True)
        return factored[1], values, places.reshape(self._arms, self._arms)


def by_length(kernel: Kernel, where: Array) -> Array:
    """Return the derivative of a covariance by the logarithm of a factor on all lengths.

    >>> from corrbandits import Exponential
    >>> by_length(Exponential(1.0) + 2 * White(), np.array([[0.0], [1.0]])).round(4) + 0.0
    array([[0.    , 0.3679],
           [0.3679, 0.    ]])
    """
    match kernel:
        case Stationary():
            return -kernel.slope(kernel.distances(where))
        case White():
            return np.zeros((len(where), len(where)))
        case Scaled():
            return kernel.variance * by_length(kernel.kernel, where)
        case Sum():
            return sum((by_length(part, where) for part in kernel.parts.values()), np.zeros(()))
        case Product():
            one, other = kernel.parts.values()
            return by_length(one, where) * other(where) + one(where) * by_length(other, where)
        case WithDeviations():
            return np.outer(where[:, -1], where[:, -1]) * by_length(kernel.kernel, where[:, :-1])
    raise TypeError(
        f"the length of a kernel can be fitted if it is made of the library's, got {kernel!r:.60}. Fix length at 1."
    )
