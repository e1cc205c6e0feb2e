"""How likely rewards are under a Gaussian prior: the log marginal likelihood and its gradient.

    name        shape      meaning                                                      paper
    counts      (k,)       rewards of each of the k arms that were seen                 n_i(t)
    averages    (k,)       their averages                                               mbar_i(t)
    scatter     (k,)       per arm, the sum of squares of rewards about their average   -
    noise       (k,)       variance of a reward about its arm's mean                    sigma_s^2
    D           (k,)       variance of an average, noise / counts                       the entries of P(t)
    K           (k, k)     the prior's covariance of the arms seen, S0_AA               -
    site        ()         variance of what is each arm's own, besides K                -
    M           (k, k)     covariance of the averages, K + diag(D + site)               -
    r           (k, k)     distances, in lengths                                        -

A reward is r_ij = m_i + f_i + e_ij, f of covariance K + site I and e_ij of variance noise_i. Of one arm, given f_i, the
rewards' density is that of their average times what does not depend on f_i, so that

    log p(rewards) = log N(averages; m, M) + sum_i [-(n_i - 1)/2 log(2 pi noise_i) - log(n_i)/2 - scatter_i/(2 noise_i)]

at a cost of O(k^3), however many rewards there are. With w = M^-1 (averages - m), the derivative of the first term
with respect to any parameter p is tr((w w' - M^-1) dM/dp) / 2, with respect to a mean shared by all it is sum w.
Nothing is added to a diagonal: where rounding leaves M without a Cholesky factor the likelihood counts as -inf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.gaussian import consistent_row, shrink_along
from corrbandits._core.single_thread import one_thread
from corrbandits.kernels import Kernel, Stationary

LOG_2PI = math.log(2 * math.pi)


@final
@dataclass(frozen=True)
class Value:
    """A log marginal likelihood, and its derivatives."""

    value: float
    by_length: Array
    """With respect to the logarithm of the length, or of each of them."""
    by_variance: float
    """With respect to the logarithm of the kernel's variance."""
    by_noise: float
    """With respect to the logarithm of a factor on all noise variances."""
    by_site: float
    """With respect to the logarithm of the sites' own variance."""
    by_mean: float
    """With respect to what is added to all means; 0 if the mean was fitted."""
    mean: Any
    """The mean it was taken at: as given, or the one that fits best."""
    mean_variance: float
    """The variance of the mean that fits best, all else known."""


NOWHERE = Value(-math.inf, np.zeros(0), 0.0, 0.0, 0.0, 0.0, math.nan, math.nan)


@final
@dataclass(frozen=True)
class Averages:
    """The averages of k arms, ready to be compared with kernels of one family and any length and variance."""

    family: Stationary
    parts: Array
    """(1, k, k) distances; with a length per dimension, (dimensions, k, k) distances along each."""
    counts: Array
    values: Array

    @staticmethod
    def of(family: Stationary, points: Array, counts: Any, values: Array) -> Averages:
        """Return the averages of arms at these points."""
        if isinstance(family.length, tuple):
            parts = np.abs(points.T[:, :, None] - points.T[:, None, :])
        else:
            parts = replace(family, length=1.0).distances(points)[None]
        return Averages(family, parts, np.asarray(counts, dtype=np.float64), values)

    def at(self, length: Any, variance: float, noise: Any, mean: Any = None, *, site: float = 0.0) -> Value:
        """Return the log density of the averages; without a mean, at the one that makes it largest.

        `site` is a variance of each arm's own, the same in all its rewards: more of them do not average it out.

        That mean is 1' M^-1 averages / 1' M^-1 1, generalised least squares.

        >>> from corrbandits import Exponential
        >>> two = Averages.of(Exponential(1.0), np.array([[0.0], [9e9]]), [1, 1], np.array([1.0, 3.0]))
        >>> two.at(1.0, variance=0.5, noise=0.5, mean=0.0).value       # two standard normals: -log(2 pi) - 5
        -6.837877066409345
        """
        C, slopes = self._correlations(np.atleast_1d(length))
        D = np.broadcast_to(noise, self.counts.shape) / self.counts
        M = variance * C
        M[np.diag_indices(D.size)] += D + site
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):
            inverse, log_det = _inverse(M)
            if inverse is None:
                return NOWHERE
            ones = inverse.sum(axis=0)
            at = ones @ self.values / ones.sum() if mean is None else mean
            residual = self.values - at
            w = inverse @ residual
            value = -0.5 * (log_det + residual @ w + D.size * LOG_2PI)
            if not math.isfinite(value):
                return NOWHERE
            G = np.outer(w, w)
            G -= inverse
            by_length = 0.5 * variance * np.array([np.vdot(G, slope) for slope in slopes])
            by_variance, by_noise = 0.5 * variance * float(np.vdot(G, C)), 0.5 * float(G.diagonal() @ D)
            by_site = 0.5 * site * float(G.diagonal().sum())
        if not np.isfinite([*by_length, by_variance, by_noise, by_site]).all():
            return NOWHERE
        by_mean = 0.0 if mean is None else float(w.sum())
        return Value(float(value), by_length, by_variance, by_noise, by_site, by_mean, at, 1 / float(ones.sum()))

    def _correlations(self, length: Array) -> tuple[Array, list[Array]]:
        """Return the correlations, and their derivatives with respect to the logarithm of each length."""
        if length.size == 1:
            r = np.minimum(self.parts[0] / length[0], 1e150)
            return self.family.correlation(r), [-self.family.slope(r)]
        steps = np.minimum(self.parts / length[:, None, None], 1e75)
        if self.family.distance == "euclidean":
            steps *= steps  # r^2 = sum of squares: d log r / d log length is minus each one's share of them
        whole = steps.sum(axis=0)
        r = np.sqrt(whole) if self.family.distance == "euclidean" else whole
        along = self.family.slope(r) / np.where(whole > 0, whole, 1.0)
        return self.family.correlation(r), [-along * step for step in steps]


def split(kernel: Any) -> tuple[float, Stationary]:
    """Return variance and correlation of `variance * correlation`; refuse kernels that cannot be fitted.

    >>> from corrbandits import Exponential
    >>> split(2 * (5 * Exponential(3.0)))
    (10.0, Exponential(length=3.0, distance='euclidean'))
    """
    found = kernel.factored() if isinstance(kernel, Kernel) else None
    if found is None:
        raise TypeError(
            "length and variance can be fitted of one kernel, such as 10 * Exponential(3.0), not of sums, products or "
            f"functions, got {kernel!r}."
        )
    found[1].slope(np.ones(1))  # refuses a kernel that has none
    return found


def within(counts: Array, noise: Any, scatter: Array) -> tuple[float, float]:
    """Return what the scatter of rewards about their averages adds, and its derivative by a log factor on the noise.

    >>> within(np.array([2.0]), 1.0, np.array([0.0]))[1]
    -0.5
    """
    each = np.broadcast_to(noise, counts.shape)
    value = -0.5 * ((counts - 1) @ (LOG_2PI + np.log(each)) + np.log(counts).sum() + (scatter / each).sum())
    return float(value), 0.5 * float((scatter / each).sum() - (counts - 1).sum())


def log_density(residual: Array, K: Array, D: Array) -> float:
    """Return log N(residual; 0, K + diag(D)) of any covariance K, singular to rounding or not.

    >>> log_density(np.array([1.0, 3.0]), 0.5 * np.eye(2), np.array([0.5, 0.5]))
    -6.837877066409345
    """
    from scipy.linalg import cholesky, solve_triangular

    if not D.size:
        return 0.0
    M = K + np.diag(D)
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        try:
            L = cholesky(M, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return _one_by_one(residual, K, D)
        half = solve_triangular(L, residual, lower=True, check_finite=False)
        value = -0.5 * float(half @ half + D.size * LOG_2PI) - float(np.log(L.diagonal()).sum())
    return value if not math.isnan(value) else -math.inf


def one_log_density(surprise: float, variance: float) -> float:
    """Return log N(surprise; 0, variance); -inf for a surprise whose square no double can hold."""
    deviation = math.sqrt(variance)
    scaled = surprise / deviation if abs(surprise) < 1e150 * deviation else math.inf
    return -0.5 * (scaled * scaled + LOG_2PI) - math.log(deviation)


def _one_by_one(residual: Array, K: Array, D: Array) -> float:
    """Return log N(residual; 0, K + diag(D)) as a product of conditional densities: no singular K stops it."""
    total, mean = 0.0, np.zeros(D.size)
    for i, d in enumerate(D.tolist()):
        row = consistent_row(K, np.sqrt(K.diagonal()), i)
        total += one_log_density(float(residual[i] - mean[i]), float(row[i]) + d)
        mean = mean + row / (d + row[i]) * (residual[i] - mean[i])
        K, _ = shrink_along(K, row, i, d)
    return total if not math.isnan(total) else -math.inf


def _inverse(M: Array) -> tuple[Array | None, float]:
    """Return the inverse and log determinant of a covariance; nothing if rounding leaves it no Cholesky factor."""
    from scipy.linalg.lapack import dpotrf, dpotri

    L, failed = dpotrf(M, lower=1, clean=1)
    if failed or not np.isfinite(L.diagonal()).all():
        return None, math.inf
    log_det = 2 * float(np.log(L.diagonal()).sum())
    inverse, failed = dpotri(L, lower=1)
    if failed:
        return None, math.inf
    return inverse + np.tril(inverse, -1).T, log_det


def seen(counts: Integers, sums: Array) -> tuple[Integers, Array, Array]:
    """Return the arms that were seen, how often, and their averages."""
    arms = np.flatnonzero(counts)
    number = counts[arms].astype(np.float64)
    return arms, number, sums[arms] / number
