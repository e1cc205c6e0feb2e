"""The components of the mixture: what each makes of the mean and the scale of all arms, and its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.evidence import Evidence
from corrbandits.belief.vague.known import Known

LEVELS = (1e-4, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.999, 0.9999)
"""Where a scale must be integrated out numerically it has one value between each two of these probabilities."""

SMALLEST = 1e-250
"""The square of a stated scale, in standard units, is at least this: what is divided by it stays a double."""

LEAST = 1e-60
"""Squares that are left, in standard units, are at least this where a scale is integrated out numerically."""

POINTS, PASSES, DEEP = 400, 4, 40.0
"""The density of a scale is computed at so many points, so many times over where its logarithm is within `DEEP`."""


@final
@dataclass(frozen=True)
class Components:
    """What each component of the mixture makes of beta and tau, in standard units; several may share a part."""

    part: Integers
    log_weight: Array
    """Up to a constant: the log density of the rewards under the component, and its prior."""

    beta: Array
    """The location of beta."""

    beta_variance: Array
    """Its variance, over tau^2."""

    tau_squared: Array
    """tau^2, or the square of the scale of a t."""

    freedom: float
    """Degrees of freedom: inf where the scale is known to a component."""

    @property
    def inflation(self) -> float:
        """The variance of a component over the square of its scale."""
        return 1.0 if math.isinf(self.freedom) else self.freedom / (self.freedom - 2)

    def weights(self) -> Array:
        """Return the posterior probabilities of the components."""
        likely = np.exp(self.log_weight - self.log_weight.max())
        return np.asarray(likely / likely.sum())

    def kept(self, which: Integers, parts: Integers) -> Components:
        """Return some components, their parts numbered by the place among those kept."""
        place = np.searchsorted(parts, self.part[which])
        return Components(
            place,
            self.log_weight[which],
            self.beta[which],
            self.beta_variance[which],
            self.tau_squared[which],
            self.freedom,
        )


def squares_of(scales: Array, unit: float) -> Array:
    """Return the squares of stated scales in standard units; so far below the rewards, what is less is the same."""
    return np.maximum(np.square(scales / unit), SMALLEST)


def freedom(number: int, mean: Known | None, *, free: bool) -> float:
    """Return the degrees of freedom after so many rewards: of the t's, where scales are free."""
    if not free:
        return math.inf if number or mean is not None else 0.0
    return float(number) if mean is not None and not mean.deviation else float(number - 1)


def components(seen: Evidence, scales: Array, mean: Known | None, offset: float, unit: float) -> Components:
    """Return the components from the evidence; `scales` in units of rewards, nan where they are integrated out.

    `offset` and `unit` turn a stated mean, and scales, into standard units.
    """
    n, A = seen.number, seen.ones
    safe = np.where(A > 0, A, 1.0)
    beta_hat = seen.crossed / safe
    least = np.maximum(seen.squares - seen.crossed * beta_hat, 0.0)  # at the best beta
    common = -0.5 * seen.log_determinant
    part, zero = np.arange(A.size), np.zeros(A.size)
    free = bool(np.isnan(scales).any())
    centre = None if mean is None else (mean.centre - offset) / unit
    if free and mean is None:
        tau_squared = least / max(n - 1, 1)
        log_weight = common - 0.5 * np.log(safe) - 0.5 * (n - 1) * _log(least)
        return Components(part, log_weight, beta_hat, 1 / safe, tau_squared, freedom(n, mean, free=True))
    if free and mean is not None and not mean.deviation:
        assert centre is not None
        about = least + A * np.square(beta_hat - centre)
        log_weight = common - 0.5 * n * _log(about)
        return Components(part, log_weight, zero + centre, zero, about / max(n, 1), freedom(n, mean, free=True))
    squares = squares_of(scales, unit)
    if mean is None:
        log_weight = common - 0.5 * np.log(safe) - 0.5 * (n - 1) * np.log(squares) - 0.5 * least / squares
        return Components(part, log_weight, beta_hat, 1 / safe, squares, math.inf)
    assert centre is not None
    given = _Given(n, A, least, A * np.square(beta_hat - centre), (mean.deviation / unit) ** 2)
    if free:
        part, squares, log_weight = given.scales()
    else:
        log_weight = given.log_density(np.log(squares))
    A, v = A[part], given.spread / squares
    beta = (centre + v * A * beta_hat[part]) / (1 + v * A)
    return Components(part, common[part] + log_weight, beta, v / (1 + v * A), squares, math.inf)


@final
@dataclass(frozen=True)
class _Given:
    """What parts say of their scale where the mean is known to be normal: all but `number` and `spread` (G,)."""

    number: int
    ones: Array
    least: Array
    """The squares that are left at the best mean."""

    more: Array
    """By how much they exceed that at the mean that is expected."""

    spread: float
    """The variance of the mean."""

    def log_density(self, log_square: Array) -> Array:
        """Return the log density of the rewards at tau^2, (G,) or (points, G)."""
        over = np.exp(-log_square)
        doubt = self.spread * over * self.ones
        about = self.least + self.more / (1 + doubt)
        return np.asarray(-0.5 * (np.log1p(doubt) + self.number * log_square + about * over))

    def scales(self) -> tuple[Integers, Array, Array]:
        """Return parts, values of tau^2 between any two of `LEVELS`, and the logarithms of their weights.

        The law is that under the prior 1 / tau; each value is the mean between its levels, so that the mean of tau^2
        is that of the law. It lies in the tail of Student's t, where nothing is known of the mean, and a scale that is
        wrong by a little then matters much.
        """
        degrees, least = max(self.number - 1, 1), np.maximum(self.least, LEAST)
        low = np.log(least / self.number) - 4
        high = np.log((least + self.more) / degrees) + 2 * DEEP / degrees + math.sqrt(4 * DEEP / degrees)
        for _ in range(PASSES):  # ever closer to where the density is
            x = np.linspace(low, high, POINTS)
            density = self.log_density(x)
            likely = density >= density.max(axis=0) - DEEP
            first, last = likely.argmax(axis=0), POINTS - 1 - likely[::-1].argmax(axis=0)
            low, high = (
                np.take_along_axis(x, place[None], axis=0)[0]
                for place in (np.maximum(first - 1, 0), np.minimum(last + 1, POINTS - 1))
            )
        top = density.max(axis=0)
        mass = np.exp(density - top)
        total = mass.sum(axis=0)
        reached = (np.cumsum(mass, axis=0) - mass / 2) / total
        between = np.searchsorted(LEVELS, reached)
        part, count = np.arange(top.size), len(LEVELS) + 1
        sums = np.zeros((2, count, top.size))
        np.add.at(sums[0], (between, part), mass)
        np.add.at(sums[1], (between, part), mass * np.exp(x))
        with np.errstate(divide="ignore"):
            log_weight = np.log(sums[0]) + top + np.log(x[1] - x[0])
        squares = np.divide(sums[1], sums[0], out=np.exp(x[density.argmax(axis=0), part]) + sums[0], where=sums[0] > 0)
        return np.tile(part, count), squares.ravel(), log_weight.ravel()


def _log(x: Array) -> Array:
    return np.asarray(np.log(np.maximum(x, np.finfo(float).tiny)))
