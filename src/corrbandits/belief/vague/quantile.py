"""Quantiles of a mixture of Student t or normal components, one mixture per arm.

name             shape     meaning
p                (C,)      weights of the components
location, scale  (C, N)    of each arm under each component, which is sure of it where the scale is 0
y                (C, N)    how many scales a value lies above the location
above            (N,)      the probability of more than the value; `tail` is what it is to be
slope            (N,)      how fast it falls: the density of the mixture
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers

TRUSTED, MOST_STEPS = 10, 100
"""After so many steps of Newton's every other one halves the bounds instead: where a component is sure, `above` jumps.
"""

NEAR, ROUGH = 1e-7, 1e-3
"""Of the least scale: a shorter step is the last, because its error is about its square; where `above` is rough, too.
"""


class Laws(NamedTuple):
    """A mixture for each arm."""

    p: Array
    location: Array
    scale: Array
    freedom: float

    def at(self, x: Array, arms: Integers, *, rough: bool) -> tuple[Array, Array]:
        """Return above and slope at a value for each of some arms."""
        width = self.scale[:, arms]
        sure = width <= 0
        width = np.where(sure, 1.0, width)
        y = (x - self.location[:, arms]) / width
        above = _roughly_above(y, self.freedom) if rough else _above(y, self.freedom)
        density = _density(y, self.freedom) / width
        return self.p @ np.where(sure, y < 0, above), self.p @ np.where(sure, 0.0, density)


def quantile(p: Array, location: Array, scale: Array, freedom: float, log_tail: float) -> Array:
    """Return for each arm what the mixture is above with probability exp(log_tail).

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
    laws = Laws(p[kept], location[kept], scale[kept], freedom)
    z = -float(ndtri(tail) if math.isinf(freedom) else stdtrit(freedom, tail))
    each = laws.location + z * laws.scale
    begin = np.clip(laws.p @ each, each.min(axis=0), each.max(axis=0))
    if math.isfinite(freedom):  # the probabilities of a t take long
        begin = _solved(laws, tail, begin, each, rough=True)
    return _solved(laws, tail, begin, each, rough=False)


def _solved(laws: Laws, tail: float, begin: Array, each: Array, *, rough: bool) -> Array:
    """Return where `above` is the tail: Newton's steps on its logarithm, within bounds that close in.

    `each` are the quantiles of the components, between which it lies.
    """
    x, low, high = begin.copy(), each.min(axis=0), each.max(axis=0)
    finest, widest, left = laws.scale.min(axis=0), laws.scale.max(axis=0), np.flatnonzero(high > low)
    near = (ROUGH if rough else NEAR) * finest
    for number in range(MOST_STEPS):
        if not left.size:
            break
        here, rounding = x[left], 1e-12 * (np.abs(x[left]) + widest[left])
        above, slope = laws.at(here, left, rough=rough)
        low[left] = np.where(above > tail, here, low[left])
        high[left] = np.where(above > tail, high[left], here)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = np.log(above / tail) * above / slope
        last = np.abs(step) <= np.maximum(near[left], rounding)
        taken = (here + step > low[left]) & (here + step < high[left]) & (number < TRUSTED or number % 2 == 1)
        x[left] = np.where(last | taken, here + step, (low[left] + high[left]) / 2)
        left = left[~last & (np.abs(x[left] - here) > rounding)]
    return x


def _above(y: Array, freedom: float) -> Array:
    from scipy.special import ndtr, stdtr

    return np.asarray(ndtr(-y) if math.isinf(freedom) else stdtr(freedom, -y))


def _roughly_above(y: Array, freedom: float) -> Array:
    """Return the probability of more than y by the normal distribution, y brought to about its tail (Wallace 1959)."""
    from scipy.special import ndtr

    root = np.sqrt(freedom * np.log1p(np.square(y) / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return np.asarray(ndtr(-np.copysign(root, y)))


def _density(y: Array, freedom: float) -> Array:
    if math.isinf(freedom):
        return np.asarray(np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi))
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return np.asarray(constant * np.exp(-(freedom + 1) / 2 * np.log1p(y * y / freedom)))
