"""Gaussian inference on arrays: the rank-one update, the one-shot formula and quantiles.

name     shape      meaning                                            paper
S        (N, N)     covariance of the mean rewards                     Sigma(t)
noise    () or (N,) variance of one reward, or of an average           sigma_s^2
A        (k,)       the arms that have been seen                       -
D        (k,)       variance of each seen arm's average reward         the entries of P(t)
M        (k, k)     covariance of the averages, S0_AA + diag(D)        -
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.refined import exact_surprise, refined, refined_mean
from corrbandits._core.single_thread import one_thread

FINE = 1e-4  # of a prior variance: what a difference leaves below it has lost more than 4 of its 16 digits


def upper_quantile(log_tail: Any) -> Any:
    """Return the z that a standard normal variable exceeds with probability exp(log_tail), computed from that tail.

    >>> upper_quantile([math.log(0.025), -1000.0]).round(4)   # the second tail is far below the smallest double
    array([ 1.96  , 44.6157])
    """
    return -_ndtri_exp()(log_tail)


@cache
def _ndtri_exp() -> Any:
    """Return scipy's function: its import takes long once, and some time at every call."""
    from scipy.special import ndtri_exp

    return ndtri_exp


def shrink(S: Array, arm: int, noise: float) -> Array:
    """Return the covariance after a reward of `arm` (eq. sherman-morrison)."""
    return shrink_along(S, consistent_row(S, np.sqrt(S.diagonal()), arm), arm, noise)[0]


def shrink_along(S: Array, row: Array, arm: int, noise: float) -> tuple[Array, Array]:
    """Return covariance and variances after a reward of `arm`, whose row is given (eq. sherman-morrison).

    The arm's own row is a product, v sigma_s^2 / (sigma_s^2 + v_k), and so without cancellation however small its
    variance gets; the others are S_ij - g_i g_j with one g, which keeps them symmetric to the last bit.
    """
    variance = row.item(arm)
    total = noise + variance
    if total == math.inf:
        raise OverflowError(
            "a variance and the noise's sum to more than a double can hold; measure rewards in a larger unit."
        )
    g = row / math.sqrt(total)
    g[arm] = 0.0
    new = _minus_outer(S, g)
    new[arm] = new[:, arm] = row * (noise / total)
    diagonal = new.reshape(-1)[:: len(new) + 1]
    variances: Array = np.maximum(diagonal, 0.0)  # no rounding may push one below 0
    variances[arm] = noise * (variance / total)
    diagonal[:] = variances
    return new, variances


def _minus_outer(S: Array, g: Array) -> Array:
    """Return S - g g'. A product of two numbers has the same bits by BLAS, which is faster for few arms, and without.

    Of many arms, some rows at a time: they stay in the cache between the product and the difference.
    """
    if len(g) <= 512:
        new: Array = g[:, None].dot(g[None])
        return np.subtract(S, new, out=new)
    new = np.empty(S.shape)
    rows = max(1, 2**15 // len(g))
    for k in range(0, len(g), rows):
        part = np.multiply(g[k : k + rows, None], g, out=new[k : k + rows])
        np.subtract(S[k : k + rows], part, out=part)
    return new


def consistent_row(S: Array, deviation: Array, arm: int) -> Array:
    """Return one row of the covariance, no entry beyond sqrt(S_ii S_jj); `deviation` is sqrt(S_ii).

    Beyond lies only the rounding of a nearly singular covariance, which updates with little noise would multiply
    without end.
    """
    most = deviation * deviation[arm]
    row: Array = np.minimum(S[arm], most)
    np.maximum(row, np.negative(most, out=most), out=row)
    row[arm] = S[arm, arm]
    return row


def condition(mean: Array, S0: Array, noise: Array, counts: Integers | Array, sums: Array) -> tuple[Array, Array]:
    """Return posterior mean and covariance from counts and sums (eq. inference-corr-simplified).

    Written from S0, not from its inverse: S = S0 - S0_A' M^-1 S0_A, with M = S0_AA + diag(D). A seen arm whose
    average is more precise than its prior takes the equal form without cancellation instead: its row is D_i (M^-1
    S0_A)_i, its mean rbar_i - D_i (M^-1 (rbar - mu_0))_i. Where arms all but determine each other that cancels too, and
    the same is computed with twice the digits (see `refined`): unless M is singular to rounding, the result is that of
    exact arithmetic on the numbers given, to 1e-10 of a posterior deviation or the rounding of the mean.
    """
    from scipy.linalg import cho_solve, solve_triangular

    A = np.flatnonzero(counts)
    if not A.size:
        return mean.copy(), S0.copy()
    D, average, rows = noise[A] / counts[A], sums[A] / counts[A], S0[A]
    with one_thread():
        L = _factor(rows[:, A], D)
        if L is None:
            return _one_by_one(mean, S0, A, D, average)
        if _determined(L, S0, A) and (fine := _finely(mean, S0, noise, counts, sums, L)):
            return fine
        half = solve_triangular(L, rows, lower=True, check_finite=False)
        whole = solve_triangular(L, half, lower=True, trans="T", check_finite=False)
        S = S0 - half.T @ half
        weight = cho_solve((L, True), average - mean[A], check_finite=False)
        new_mean = mean + rows.T @ weight
    variances = np.maximum(S.diagonal(), 0.0)
    precise = np.flatnonzero(S0[A, A] > D)
    for i in precise[np.argsort(-D[precise], kind="stable")]:  # the most precise last: its row is the most accurate
        k = A[i]
        S[k] = S[:, k] = D[i] * whole[i]
        variances[k] = D[i] * min(max(whole[i, k], 0.0), 1.0)
        new_mean[k] = average[i] - D[i] * weight[i]
    np.fill_diagonal(S, variances)
    if left_by_others(variances, counts, noise, FINE * S0.diagonal()):
        return _finely(mean, S0, noise, counts, sums, L) or (new_mean, S)
    return new_mean, S


def condition_finely(mean: Array, S0: Array, noise: Array, counts: Integers, sums: Array) -> tuple[Array, Array] | None:
    """Return what `condition` does, with twice the digits whether they are needed or not; None if M is singular.

    >>> prior = np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]), np.ones(2)
    >>> condition_finely(*prior, np.array([1, 0]), np.array([2.0, 0.0]))[0]
    array([1. , 0.8])
    """
    A = np.flatnonzero(counts)
    L = _factor(S0[np.ix_(A, A)], noise[A] / counts[A])
    return None if L is None else _finely(mean, S0, noise, counts, sums, L)


def _finely(
    mean: Array, S0: Array, noise: Array, counts: Integers | Array, sums: Array, L: Array
) -> tuple[Array, Array] | None:
    A = np.flatnonzero(counts)
    return refined(mean, S0, L, A, noise[A] / counts[A], exact_surprise(mean[A], counts[A], sums[A]))


def left_by_others(variances: Array, counts: Integers | Array, noise: Array, floor: Array) -> bool:
    """Return whether a variance is below its floor, and rewards of other arms have done most of that.

    An arm's own rewards shrink its variance by products, those of others by differences, which cancel.

    >>> one, floor = np.ones(1), np.array([1e-4])
    >>> left_by_others(np.array([1e-6]), np.array([10**6]), one, floor), left_by_others(1e-6 * one, 0 * one, one, floor)
    (False, True)
    """
    small = variances < floor
    return bool(np.count_nonzero(small) and (counts * variances < 0.5 * noise)[small].any())


def _determined(L: Array, S0: Array, A: Integers) -> bool:
    """Return whether arms before leave one of the seen so little variance that rounding shows in it."""
    return bool((L.diagonal() ** 2 < FINE * S0[A, A]).any())


def posterior_mean(mean: Array, S0: Array, noise: Array, counts: Array, sums: Array) -> Array:
    """Return the posterior mean alone, as `condition` does but without the time and the memory of the covariance."""
    from scipy.linalg import cho_solve

    A = np.flatnonzero(counts)
    if not A.size:
        return mean.copy()
    D, average = noise[A] / counts[A], sums[A] / counts[A]
    L = _factor(S0[np.ix_(A, A)], D)
    if L is None:
        return _one_by_one(mean, S0, A, D, average)[0]
    if _determined(L, S0, A):
        fine = refined_mean(mean, S0, L, A, D, exact_surprise(mean[A], counts[A], sums[A]))
        if fine is not None:
            return fine
    weight = np.zeros(len(S0))
    weight[A] = cho_solve((L, True), average - mean[A], check_finite=False)
    new_mean = mean + S0 @ weight
    precise = S0.diagonal()[A] > D
    new_mean[A[precise]] = (average - D * weight[A])[precise]
    return np.asarray(new_mean)


def _factor(S_AA: Array, D: Array) -> Array | None:
    """Return the Cholesky factor of S_AA + diag(D), or None: a singular S_AA, and D too small to show beside it."""
    from scipy.linalg import cholesky

    S_AA[np.diag_indices(D.size)] += D
    try:
        return np.asarray(cholesky(S_AA.T, lower=True, overwrite_a=True, check_finite=False))  # .T: no copy is made
    except np.linalg.LinAlgError:
        return None


def _one_by_one(mean: Array, S0: Array, A: Integers, D: Array, average: Array) -> tuple[Array, Array]:
    """Return what `condition` does, by one rank-one update for each seen arm: slower, but no singular S0 stops it."""
    S = S0
    for k, d, r in zip(A.tolist(), D.tolist(), average.tolist(), strict=True):
        row = consistent_row(S, np.sqrt(S.diagonal()), k)
        mean = mean + row / (d + row[k]) * (r - mean[k])
        S, _ = shrink_along(S, row, k, d)
    return mean, S
