"""The precision of a prior, the inverse of its covariance; the pseudo-inverse where the covariance is singular.

name     meaning                                                                  paper
L0       precision of the prior                                                   Lambda_0
C        correlation matrix of the prior                                          -
d        how much the prior means exceed the true ones                            mu_0 - m
w        d in prior deviations                                                    -
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.covariances import correlations
from corrbandits.belief import GaussianBelief

LARGEST = 1e300


class Precision(NamedTuple):
    """What is needed of L0: s_i (L0 d)_i and, if asked for, its diagonal and its columns' sums of absolute values."""

    times_d: Array
    diagonal: Array
    absolute_sums: Array
    singular: bool = False
    """Whether it is of the pseudo-inverse; times_d is then infinite if d is not in the range of the covariance."""


def precision(
    belief: GaussianBelief, d: Array, *, diagonal: bool = False, absolute_sums: bool = False
) -> Precision | None:
    """Return what is needed of L0, from one factorisation of the correlation matrix.

    Where L0 does not exist the pseudo-inverse takes its place; None if its columns' absolute sums are asked for.
    """
    if not belief.variance.all():
        return None if absolute_sums else _pseudo(belief, d, diagonal)
    if belief.independent:
        with np.errstate(over="ignore"):
            inverse = 1 / belief.variance
            return Precision(d / np.sqrt(belief.variance), inverse, inverse)
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

    deviation = np.sqrt(belief.variance)
    factor, failed = dpotrf(correlations(belief.covariance_of()).T, lower=1, clean=1, overwrite_a=1)
    if failed or factor.diagonal().min() ** 2 < _rounding(belief):
        return None if absolute_sums else _pseudo(belief, d, diagonal)
    with np.errstate(over="ignore"):
        times_d = dpotrs(factor, np.clip(d / deviation, -LARGEST, LARGEST), lower=1)[0]
        if absolute_sums:
            inverse = dpotri(factor, lower=1, overwrite_c=1)[0]  # its lower half; the upper one is 0
            squares = inverse.diagonal().copy()
            np.abs(inverse, out=inverse)
            inverse /= deviation[:, None]
            inverse /= deviation
            sums = inverse.sum(axis=0) + inverse.sum(axis=1) - inverse.diagonal()
            return Precision(times_d, squares / belief.variance, sums)
        nothing = np.full(belief.arms, np.nan)
        if not diagonal:
            return Precision(times_d, nothing, nothing)
        root = dtrtri(factor, lower=1, overwrite_c=1)[0]  # L0 = root' root
        return Precision(times_d, np.einsum("ij,ij->j", root, root) / belief.variance, nothing)


def _pseudo(belief: GaussianBelief, d: Array, diagonal: bool) -> Precision:
    """Return the same of a singular prior, from a Cholesky factorisation with pivoting, C = R R', of rank r.

    With R = (L1, L2) on the r pivots and on the other arms, C u = w has a solution if and only if L2 y = w_2 for y =
    L1^-1 w_1, and then u = (L1'^-1 y, 0) is one. Of a unit vector y'y is (C^+)_ii; without a solution the others
    determine that arm, or with its help another, and its conditional variance is 0.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    C = correlations(belief.covariance_of()) if not belief.independent else np.eye(belief.arms)
    R, pivots, rank, _ = dpstrf(C, lower=1, tol=_rounding(belief))
    order = pivots - 1
    L1, L2 = np.tril(R)[:rank, :rank], R[rank:, :rank]

    def solved(w: Array) -> tuple[Array, Array]:
        """Return y of each column, and whether it has a solution."""
        y = solve_triangular(L1, w[order[:rank]], lower=True, check_finite=False)
        size = np.abs(w).max(axis=0) + np.sqrt(np.square(y).sum(axis=0))
        return y, np.abs(L2 @ y - w[order[rank:]]).max(axis=0, initial=0.0) <= _rounding(belief) * size

    deviation, times_d = np.sqrt(belief.variance), np.zeros(belief.arms)
    known = deviation == 0
    w = np.divide(np.clip(d, -LARGEST, LARGEST), deviation, out=np.zeros(belief.arms), where=~known)
    y, within = solved(w[:, None])
    times_d[order[:rank]] = solve_triangular(L1, y[:, 0], lower=True, trans="T", check_finite=False)
    if not within[0] or d[known].any():
        times_d = np.full(belief.arms, np.inf)
    nothing = np.full(belief.arms, np.nan)
    if not diagonal:
        return Precision(times_d, nothing, nothing, singular=True)
    units, free = solved(np.eye(belief.arms))
    with np.errstate(divide="ignore"):
        squares = np.where(free & ~known, np.square(units).sum(axis=0) / belief.variance, np.inf)
    return Precision(times_d, squares, nothing, singular=True)


def _rounding(belief: GaussianBelief) -> float:
    """Return what counts as rounding of a correlation matrix."""
    return float(10 * belief.arms * np.finfo(np.float64).eps)
