"""Sums of Gaussian tails over time."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.gaussian import upper_quantile

DIRECT = 4_096
NEGLIGIBLE = 100.0  # terms smaller than the first of the rest by exp(-100) are left out


def sum_of_tails(K: float, a: float, b: float, horizon: int) -> float:
    """Return sum over t = 1 to the horizon of min(1, 2 P(z >= z_t - b)), z_t = Phi^-1(1 - 1/(K t^a)).

    The terms are 1 while z_t <= b. The next few thousand are added one by one; beyond, where each is nearly like
    the one before, Euler and Maclaurin's formula gives the rest, so that a horizon of 10^9 costs no more than one of
    10^4.

    >>> round(sum_of_tails(4.13, 2.0, 0.0, 10), 4)   # b = 0: the sum of 2 / (K t^a)
    0.7505
    """
    from scipy.special import log_ndtr

    # z_t <= b, that is log K + a log t <= -log P(z >= b)
    last_one = (-float(log_ndtr(-b)) - math.log(K)) / a
    ones = horizon if last_one >= math.log(horizon) else math.floor(math.exp(last_one))
    until = min(horizon, ones + DIRECT)
    times = np.arange(1, until - ones + 1) + float(ones)
    near = float(np.minimum(np.exp(_log_term(np.log(times), K, a, b)), 1.0).sum())
    return ones + near + (_rest(until + 1, horizon, K, a, b) if until < horizon else 0.0)


def _rest(first: int, last: int, K: float, a: float, b: float) -> float:
    """Return the sum from first to last: the integral, half the ends, and a twelfth of the difference of slopes.

    The next term of the formula is smaller by (a/t)^2 / 60, and where a is near t or above it, the rest is nothing
    beside the terms before it.
    """
    low, high = math.log(first), _end(math.log(first), math.log(last), K, a, b)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(low, high, 40 + int(8 * (high - low)))
    centre, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    u = centre[:, None] + half[:, None] * nodes  # the integral of f(t) dt is that of f(e^u) e^u du
    integral = float(np.sum(np.exp(_log_term(u, K, a, b) + u) * weights * half[:, None]))
    ends = np.array([low, high])
    slopes = np.diff(_slope(ends, K, a, b))[0]
    return float(integral + np.exp(_log_term(ends, K, a, b)).sum() / 2 + slopes / 12)


def _end(low: float, high: float, K: float, a: float, b: float) -> float:
    """Return the logarithm of the time from which on terms are negligible, or of the last one."""
    least = _log_term(np.array([low]), K, a, b)[0] - NEGLIGIBLE
    if _log_term(np.array([high]), K, a, b)[0] >= least:
        return high
    above = low
    for _ in range(60):
        middle = (above + high) / 2
        above, high = (middle, high) if _log_term(np.array([middle]), K, a, b)[0] >= least else (above, middle)
    return high


def _log_term(u: Array, K: float, a: float, b: float) -> Array:
    """Return log of 2 P(z >= z_t - b) at t = e^u."""
    from scipy.special import log_ndtr

    return np.asarray(math.log(2) + log_ndtr(b - upper_quantile(-math.log(K) - a * u)))


def _slope(u: Array, K: float, a: float, b: float) -> Array:
    """Return its derivative with respect to t: dz/du = a P(z >= z_t) / phi(z_t)."""
    from scipy.special import erfcx

    z = upper_quantile(-math.log(K) - a * u)
    mills = math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2))
    return np.asarray(-2 / math.sqrt(2 * math.pi) * np.exp(-((z - b) ** 2) / 2 - u) * a * mills)
