"""Both sides of every inequality of the paper's lemmas.

Each function returns `Sides(smaller, larger)`: the lemma says that the first is at most the second. Tail
probabilities come as logarithms, so that they can be compared far below the smallest double. Where the print is
wrong, the docstring says so.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.gaussian import upper_quantile
from corrbandits.belief import GaussianBelief
from corrbandits.theory.estimate import conditional_variance, estimate_root, variance_after, whole_counts
from corrbandits.theory.initial import gaussian, initialisation


class Sides(NamedTuple):
    """The two sides of an inequality: it says that smaller <= larger.

    >>> Sides(1.0, 2.0).larger
    2.0
    """

    smaller: Any
    larger: Any


def tail_upper(w: Any) -> Sides:
    """Return log P(z >= w) and log of 2 exp(-w^2/2) / (sqrt(2 pi) (w + sqrt(w^2 + 8/pi))) (Lemma 1 (i)).

    >>> sides = tail_upper(40.0)    # exp(-800) and less
    >>> bool(sides.smaller <= sides.larger < -800)
    True
    """
    w = _from_zero(w)
    log_bound = math.log(2 / math.pi) / 2 + _minus_half_square(w) - np.log(w + np.hypot(w, math.sqrt(8 / math.pi)))
    return Sides(_log_tail(w), log_bound)


def tail_upper_loose(w: Any) -> Sides:
    """Return the logarithm of `tail_upper`'s bound and of exp(-w^2/2) / 2 above it (Lemma 1 (i)).

    >>> float(tail_upper_loose(2.0).larger.round(4))   # -log 2 - 2
    -2.6931
    """
    w = _from_zero(w)
    return Sides(tail_upper(w).larger, -math.log(2) + _minus_half_square(w))


def tail_lower(w: Any) -> Sides:
    """Return log of sqrt(2/pi) exp(-w^2/2) / (w + sqrt(w^2 + 4)) and log P(z >= w) above it (Lemma 1 (i)).

    >>> [float(side.round(4)) for side in tail_lower(0.0)]   # sqrt(2/pi) / 2 and 1/2
    [-0.9189, -0.6931]
    """
    w = _from_zero(w)
    return Sides(math.log(2 / math.pi) / 2 + _minus_half_square(w) - np.log(w + np.hypot(w, 2.0)), _log_tail(w))


def quantile_upper(log_alpha: Any) -> Sides:
    """Return Phi^-1(1 - alpha) and sqrt(-2 log alpha) above it (Lemma 1 (ii)).

    >>> [float(side.round(4)) for side in quantile_upper(math.log(0.025))]
    [1.96, 2.7162]
    """
    log_alpha = _log_probability(log_alpha)
    return Sides(upper_quantile(log_alpha), np.sqrt(-2 * log_alpha))


def quantile_lower(log_alpha: Any) -> Sides:
    """Return sqrt(-log(2 pi alpha^2 (1 - log(2 pi alpha^2)))) and Phi^-1(1 - alpha) above it (Lemma 1 (ii)).

    The print claims it for alpha up to 1/2, but it fails above 0.4403. It holds for alpha <= 1/sqrt(2 pi). The left
    side exists for alpha < sqrt(e / 2 pi) = 0.658.

    >>> lower, z = quantile_lower(np.log([0.4, 0.45]))
    >>> lower <= z
    array([ True, False])
    """
    log_alpha = _log_probability(log_alpha, below=(1 - math.log(2 * math.pi)) / 2)
    return Sides(np.sqrt(_minus_x_minus_log1m(math.log(2 * math.pi) + 2 * log_alpha)), upper_quantile(log_alpha))


def schedule_lower(t: Any, a: float, K: float = math.sqrt(2 * math.pi * math.e)) -> Sides:
    """Return sqrt((3a/2) log t) and Phi^-1(1 - 1/(K t^a)) above it (Lemma 1 (ii)).

    The print has it for K = sqrt(2 pi e), a > 1, and uses it for every K. It holds for that K and larger ones, and
    every a > 0; numerically for K from 3.353 on.

    >>> [float(side.round(4)) for side in schedule_lower(1e6, a=2.0)]
    [6.4379, 7.2297]
    """
    a, K = checks.number("a", a, above=0), checks.number("K", K, above=1)
    times = checks.finite("t", t)
    if (times < 1).any():
        raise ValueError(f"t must be at least 1, got {times.min():g}.")
    power = a * np.log(times)
    return Sides(np.sqrt(1.5 * power), upper_quantile(-math.log(K) - power))


def difference_of_squares(x: Any, y: Any, c1: float, c2: float) -> Sides:
    """Return c1 x^2 - c2 y^2 and (x - y)^2 above it (Lemma 2), for (1 - c1)(1 + c2) >= 1.

    The print allows any such c1 and c2, but it is false for c1 = 3, c2 = -3: c1 < 1 is needed.

    >>> difference_of_squares(x=[2.0, 1.0], y=[1.0, 0.0], c1=0.5, c2=1.0)   # the first is an equality
    Sides(smaller=array([1. , 0.5]), larger=array([1., 1.]))
    >>> difference_of_squares(x=[1.0], y=[0.0], c1=3.0, c2=-3.0)
    Sides(smaller=array([3.]), larger=array([1.]))
    """
    x, y = checks.finite("x", x), checks.finite("y", y)
    c1, c2 = checks.number("c1", c1), checks.number("c2", c2)
    if (1 - c1) * (1 + c2) < 1 - 1e-12:
        raise ValueError(f"(1 - c1)(1 + c2) must be at least 1, but it is {(1 - c1) * (1 + c2):g}.")
    with np.errstate(over="ignore", invalid="ignore"):
        sides = c1 * x**2 - c2 * y**2, (x - y) ** 2
    if not np.isfinite(sides).all():
        raise OverflowError("the squares of x and y must fit into a double; divide both by the same number.")
    return Sides(*sides)


def initial_variance(belief: GaussianBelief, nu: float) -> Sides:
    """Return the variances after initialisation and sigma_s^2 / nu above them (lemma on initialisation).

    That it takes at most N steps, `initialisation` shows.

    >>> from corrbandits import Independent
    >>> initial_variance(Independent(variance=[4.0, 1.0], noise_variance=1.0), nu=1.0).smaller
    array([0.8, 1. ])
    """
    return variance_upper(belief, np.zeros(gaussian(belief).arms, dtype=np.int64), nu)


def variance_upper(belief: GaussianBelief, counts: Any, nu: float) -> Sides:
    """Return s_i^2 after initialisation and `counts` more rewards, and sigma_s^2 / (nu + n_i) above it.

    It is the variance lemma's (i); its proof says nu for sigma_s^2 / nu in between.

    >>> from corrbandits import Independent
    >>> variance_upper(Independent(variance=[4.0, 1.0], noise_variance=1.0), counts=[0, 3], nu=1.0)
    Sides(smaller=array([0.8 , 0.25]), larger=array([1.  , 0.25]))
    """
    counts = whole_counts(counts, belief)
    variance = variance_after(belief, counts + _once(belief, initialisation(belief, nu)))
    with np.errstate(over="ignore"):
        return Sides(variance, belief.noise_variance / (nu + counts))


def variance_lower(belief: GaussianBelief, counts: Any) -> Sides:
    """Return sigma_s^2 / (delta_cond_i^2 + N_i) and s_i^2 after `counts` rewards above it (variance lemma (i)).

    N_i counts every reward. The print counts those after initialisation only, for which it is false.

    >>> from corrbandits import Correlated
    >>> variance_lower(Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=0.64), counts=[0, 1])
    Sides(smaller=array([0.64, 0.32]), larger=array([0.7804878, 0.3902439]))
    """
    counts = whole_counts(counts, belief)
    # sigma_s^2 / (delta_cond^2 + N), written so that an arm of which nothing is believed has no 1 / 0
    conditional = conditional_variance(belief)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = counts * (conditional / belief.noise_variance)
        smaller = np.where(np.isinf(ratio), belief.noise_variance / np.maximum(counts, 1), conditional / (1 + ratio))
        smaller = np.where(counts == 0, conditional, smaller)
    return Sides(smaller, variance_after(belief, counts))


def estimate_variance_upper(belief: GaussianBelief, counts: Any) -> Sides:
    """Return Var(mu_i) for these counts and s_i^2 above it (variance lemma (ii)).

    The print has s_i^2 sum_j rho_ij^2, which is larger and not needed: Cov(mu) = S - S L0 S.

    >>> from corrbandits import Independent
    >>> estimate_variance_upper(Independent(variance=[1.0, 1.0], noise_variance=1.0), counts=[1, 3])
    Sides(smaller=array([0.25  , 0.1875]), larger=array([0.5 , 0.25]))
    """
    counts = whole_counts(counts, belief)
    return Sides(_estimate_variance(belief, counts), variance_after(belief, counts))


def estimate_variance_lower(belief: GaussianBelief, counts: Any) -> Sides:
    """Return n_i s_i^4 / sigma_s^2 and Var(mu_i) above it (variance lemma (ii)); equal for independent arms.

    >>> from corrbandits import Correlated
    >>> estimate_variance_lower(Correlated(covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0), counts=[1, 0])
    Sides(smaller=array([0.25, 0.  ]), larger=array([0.25, 0.16]))
    """
    counts = whole_counts(counts, belief)
    variance = np.where(counts > 0, variance_after(belief, counts), 0.0)
    return Sides(counts * variance * (variance / belief.noise_variance), _estimate_variance(belief, counts))


def _estimate_variance(belief: GaussianBelief, counts: Array) -> Array:
    return np.asarray((estimate_root(belief, counts) ** 2).sum(axis=1))


def _minus_x_minus_log1m(x: Array) -> Array:
    """Return -x - log(1 - x) = x^2/2 + x^3/3 + ... for x < 1, by that series where the difference would cancel."""
    small = np.abs(x) < 0.1
    y = np.where(small, x, 0.0)
    series = sum(y**k / k for k in range(2, 18))
    return np.asarray(np.where(small, series, -x - np.log1p(-np.where(small, 0.0, x))))


def _log_tail(w: Array) -> Array:
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(-w))


def _minus_half_square(w: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(-(w**2) / 2)


def _from_zero(w: Any) -> Array:
    w = checks.finite("w", w)
    if (w < 0).any():
        raise ValueError(f"w must be at least 0, got {w.min():g}.")
    return np.asarray(w)


def _log_probability(log_alpha: Any, below: float = 0.0) -> Array:
    log_alpha = checks.finite("log_alpha", log_alpha)
    if (log_alpha >= below).any():
        raise ValueError(
            f"log_alpha must be below {below:.6g}, so that alpha is below {math.exp(below):.6g}, got "
            f"{log_alpha.max():g}."
        )
    return np.asarray(log_alpha)


def _once(belief: GaussianBelief, taken: list[int]) -> Array:
    return np.bincount(np.array(taken, dtype=np.int64), minlength=belief.arms).astype(float)
