"""A mixture of Student t and normal parts: weights, moments, quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.factors import Evidence
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


def quantile(p: Array, location: Array, scale: Array, freedom: float, log_tail: float) -> Array:
    """Return for each arm what the mixture is above with probability exp(log_tail); p (C,), others (C, N).

    >>> one, ten = np.array([[0.0]]), np.array([[1.0]])
    >>> quantile(np.ones(1), one, ten, math.inf, math.log(0.025)).round(4)
    array([1.96])
    """
    from scipy.special import ndtri, stdtrit

    tail = max(math.exp(log_tail), 1e-300)
    if tail >= 1:
        return np.full(location.shape[1], -np.inf)
    ordered = np.sort(p)
    kept = p >= ordered[(np.cumsum(ordered) > 1e-9 * tail).argmax()]
    p, location, scale = p[kept][:, None], location[kept], scale[kept]
    z = -float(ndtri(tail) if math.isinf(freedom) else stdtrit(freedom, tail))
    each = location + z * scale
    low, high = each.min(axis=0), each.max(axis=0)
    x, left = np.clip((p * each).sum(axis=0), low, high), np.flatnonzero(high > low)
    for _ in range(100):  # Newton's steps on the logarithm, within bounds that close in
        if not left.size:
            break
        width = np.where(scale[:, left] > 0, scale[:, left], 1.0)
        y, sure = (x[left] - location[:, left]) / width, scale[:, left] <= 0
        above = (p * np.where(sure, y < 0, _above(y, freedom))).sum(axis=0)
        slope = (p * np.where(sure, 0.0, _density(y, freedom) / width)).sum(axis=0)
        low[left] = np.where(above > tail, x[left], low[left])
        high[left] = np.where(above > tail, high[left], x[left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = x[left] + np.log(above / tail) * above / slope
        new = np.where((step > low[left]) & (step < high[left]), step, (low[left] + high[left]) / 2)
        done = np.abs(new - x[left]) <= 1e-12 * (np.abs(x[left]) + width.max(axis=0))
        x[left] = new
        left = left[~done]
    return np.asarray(x)


def _above(y: Array, freedom: float) -> Array:
    from scipy.special import ndtr, stdtr

    return np.asarray(ndtr(-y) if math.isinf(freedom) else stdtr(freedom, -y))


def _density(y: Array, freedom: float) -> Array:
    if math.isinf(freedom):
        return np.asarray(np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi))
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return np.asarray(constant * np.exp(-(freedom + 1) / 2 * np.log1p(y * y / freedom)))


def _log(x: Array) -> Array:
    return np.asarray(np.log(np.maximum(x, np.finfo(float).tiny)))
