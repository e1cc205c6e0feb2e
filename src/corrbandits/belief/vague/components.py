"""The components of the mixture: what each makes of the mean and the scale of all arms, and its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.evidence import Evidence
from corrbandits.belief.vague.known import Known

NODES = 5
"""Where a scale must be integrated out numerically: so many values of it per part."""


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
    if free:
        part, squares, proposal = _scale_nodes(least, n)
        adjusted = -np.log(squares) - proposal
    else:
        squares, adjusted = np.square(scales / unit), zero
    A, safe, beta_hat, least, common = (x[part] for x in (A, safe, beta_hat, least, common))
    if mean is None:
        log_weight = common - 0.5 * np.log(safe) - 0.5 * (n - 1) * np.log(squares) - 0.5 * least / squares
        return Components(part, log_weight + adjusted, beta_hat, 1 / safe, squares, math.inf)
    assert centre is not None
    v = (mean.deviation / unit) ** 2 / squares
    log_weight = common - 0.5 * np.log1p(v * A) - 0.5 * n * np.log(squares)
    log_weight -= 0.5 * (least + A * np.square(beta_hat - centre) / (1 + v * A)) / squares
    beta = (centre + v * A * beta_hat) / (1 + v * A)
    return Components(part, log_weight + adjusted, beta, v / (1 + v * A), squares, math.inf)


def _scale_nodes(least: Array, n: int) -> tuple[Integers, Array, Array]:
    """Return parts, values of tau^2 at even probabilities of its law under a flat mean, and the log density there."""
    from scipy.special import chdtri, gammaln

    shape = max(n - 1, 1) / 2
    levels = (np.arange(NODES) + 0.5) / NODES
    part = np.repeat(np.arange(least.size), NODES)
    half = np.maximum(least[part], np.finfo(float).tiny) / 2
    squares = 2 * half / np.tile(chdtri(2 * shape, levels), least.size)
    density = shape * np.log(half) - gammaln(shape) - (shape + 1) * np.log(squares) - half / squares
    return part, squares, density


def _log(x: Array) -> Array:
    return np.asarray(np.log(np.maximum(x, np.finfo(float).tiny)))
