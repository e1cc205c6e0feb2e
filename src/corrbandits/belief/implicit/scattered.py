"""A prior covariance that is never formed: rows of it as they are asked for, at scattered points.

name       shape   meaning                                                     paper
points     (N, d)  where the arms lie                                          the embedding space of section 1
arms       (k,)    some arms, A                                                -
u          (N,)    1 / s_j, or 0 for an arm that is not to be counted          1 / sigma_j(t)
V          (k, N)  L^-1 S0_A, so that S = S0 - V' V                            -
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.draws import covariance_root
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.implicit.factor import Factor
from corrbandits.kernels import Kernel

STRIP = 1024
MOST_ENTRIES = 2**22  # of the temporary matrices that large ones are worked through by
MOST_DRAWN = 5_000


@final
class Scattered:
    """The covariance of any kernel at any points. It keeps the rows of the arms it is told to."""

    cancels = 0.0
    """The part of its prior variance below which an arm is not to be counted in `squared_correlations`."""

    def __init__(self, kernel: Kernel, points: Array) -> None:
        self.kernel, self.points = kernel, points
        self._kept: Mapping[int, Array] = {}

    @cached_property
    def variance(self) -> Array:
        """The prior variance of every arm, from small blocks about the diagonal."""
        variance = np.empty(len(self.points))
        for strip in in_strips(variance.size, 32):
            variance[strip] = covariance(self.kernel, self.points[strip], self.points[strip]).diagonal()
        return variance

    def keeping(self, arms: Integers) -> Scattered:
        """Return the same covariance that keeps the rows of these arms, and no others."""
        new = object.__new__(Scattered)  # not by copy, which leaves the root behind
        new.__dict__ = self.__dict__ | {"_kept": {arm: self.row(arm) for arm in arms.tolist()}}
        return new

    def row(self, arm: int) -> Array:
        """Return the covariance of one arm with all."""
        if arm in self._kept:
            return self._kept[arm]
        return np.asarray(covariance(self.kernel, self.points[arm : arm + 1], self.points)[0])

    def block(self, arms: Integers, others: Integers) -> Array:
        """Return the covariance of each of the arms with each of the others."""
        return np.array([self.row(arm)[others] for arm in arms.tolist()]).reshape(arms.size, others.size)

    def combined(self, arms: Integers, weights: Array) -> Array:
        """Return the sum of the rows of these arms, each times its weight."""
        total = np.zeros(len(self.points))
        for arm, weight in zip(arms.tolist(), weights.tolist(), strict=True):
            total += weight * self.row(arm)
        return total

    def squared_correlations(self, u: Array, factor: Factor) -> Array:
        """Return sum_j (u_i S_ij u_j)^2, strip by strip: N^2 / 2 kernel values, and k products for each of them."""
        total, strips = np.zeros(u.size), list(in_strips(u.size, STRIP))
        V = factor.half(self.block(factor.arms, np.arange(u.size))) if factor.arms.size else np.zeros((0, u.size))
        for n, one in enumerate(strips):
            for other in strips[n:]:
                S = covariance(self.kernel, self.points[one], self.points[other])
                with one_thread():
                    S -= V[:, one].T @ V[:, other]
                S *= u[one, None]
                S *= u[other]
                squares = np.square(np.clip(S, -1.0, 1.0, out=S), out=S)
                total[one] += squares.sum(axis=1)
                if other is not one:
                    total[other] += squares.sum(axis=0)
        return total

    def draw(self, rng: np.random.Generator) -> Array:
        """Return one draw from the prior with mean 0."""
        root = self._root
        with one_thread():
            return np.asarray(root @ rng.standard_normal(len(root)))

    @cached_property
    def _root(self) -> Array:
        if len(self.points) > MOST_DRAWN:
            raise ValueError(
                f"draws need a root of the prior covariance, which is formed for at most {MOST_DRAWN} arms, but there "
                f"are {len(self.points)}. Take a policy that does not draw, or put the arms on a regular grid that is "
                "some times as wide as the kernel's length."
            )
        return covariance_root(covariance(self.kernel, self.points, self.points))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: a root is large, and soon found again."""
        return {name: value for name, value in self.__dict__.items() if name != "_root"}


def covariance(kernel: Kernel, points: Array, others: Array) -> Array:
    """Return the kernel's covariance of two sets of points; refuse one that is not finite or has the wrong shape."""
    matrix = checks.finite("the kernel's covariance", kernel(points, others))
    if matrix.shape != (len(points), len(others)):
        raise ValueError(
            f"for {len(points)} points and {len(others)} others the kernel must give as many rows and columns, not "
            f"{matrix.shape}."
        )
    return matrix


def in_strips(size: int, width: int) -> Iterator[slice]:
    """Yield slices of so many entries that cover all."""
    return (slice(start, min(start + width, size)) for start in range(0, size, width))
