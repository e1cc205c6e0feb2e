"""By how much a normal or a Student t variable exceeds a value, on average, and how likely that is."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array


def expected_excess(c: Array) -> Array:
    """Return E[(Z - c)+] = phi(c) - c P(Z > c) for c >= 0, as phi(c) times what keeps its digits in the tail."""
    from scipy.special import erfcx

    c = np.minimum(c, 40.0)  # where it has long been 0 in doubles; the meeting of nearly parallel lines may be infinite
    density = np.exp(-0.5 * c**2) / math.sqrt(2 * math.pi)
    return np.asarray(density * (1 - c * math.sqrt(math.pi / 2) * erfcx(c / math.sqrt(2))))


def better(gap: Array, scale: Array, freedom: float) -> tuple[Array, Array]:
    """Return the probability that scale T - gap is above 0, and its mean where it is, counted as 0 where it is not.

    T is Student's t of so many degrees of freedom, above 1, or standard normal if they are infinite. A scale of 0 is
    taken for that of the same variable twice: it is not above itself, if the gap is 0 too.

    >>> better(np.array([0.0, 1.0, -2.0]), np.array([1.0, 0.0, 0.0]), math.inf)
    (array([0.5, 0. , 1. ]), array([0.39894228, 0.        , 2.        ]))
    """
    from scipy.special import ndtr, stdtr

    sure = scale <= 0
    c = gap / np.where(sure, 1.0, scale)
    excess = expected_excess(np.abs(c)) if math.isinf(freedom) else _excess_of_t(np.abs(c), freedom)
    tail = ndtr(-c) if math.isinf(freedom) else stdtr(freedom, -c)
    above = np.maximum(-gap, 0.0)
    return np.where(sure, gap < 0, tail), np.where(sure, above, scale * excess + above)


def _excess_of_t(c: Array, freedom: float) -> Array:
    """Return E[(T - c)+] = f(c) (freedom + c^2) / (freedom - 1) - c P(T > c) for c >= 0."""
    from scipy.special import betaln, stdtr

    log_density = -betaln(freedom / 2, 0.5) - 0.5 * math.log(freedom) - (freedom + 1) / 2 * np.log1p(c * c / freedom)
    excess = np.exp(log_density) * (freedom + c * c) / (freedom - 1) - c * stdtr(freedom, -c)
    return np.asarray(np.maximum(excess, 0.0))
