"""Covariances as arrays: what is refused as one, and the correlations in it.

name     shape      meaning                                            paper
S        (N, N)     covariance of the mean rewards                     Sigma(t)
rho      (N, N)     correlations of the mean rewards                   rho_ij
"""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread


def correlations(S: Array) -> Array:
    """Return rho_ij; 0 between two arms of which one is known, 1 of every arm with itself."""
    inverse = inverse_deviation(S)
    rho: Array = S * inverse[:, None]
    rho *= inverse
    # |rho| <= 1; beyond it lies the rounding of a nearly singular covariance
    np.clip(rho, -1.0, 1.0, out=rho)
    np.fill_diagonal(rho, 1.0)
    return rho


def spreads(S: Array) -> Array:
    """Return sqrt(sum_j rho_ij^2) of any covariance, by strips of rows: no second N x N array."""
    inverse, squares = inverse_deviation(S), np.empty(len(S))
    for k in range(0, len(S), 256):
        strip = slice(k, k + 256)
        rho = S[strip] * inverse[strip, None]
        rho *= inverse
        np.clip(rho, -1.0, 1.0, out=rho)
        np.fill_diagonal(rho[:, strip], 1.0)
        squares[strip] = np.square(rho, out=rho).sum(axis=1)
    return np.asarray(np.sqrt(squares))


def weighted_squares(S: Array, weights: Array) -> Array:
    """Return sum_j S_ij^2 weights_j; of many arms by strips of rows, for no second N x N array.

    BLAS has one thread for a product of so few numbers as there are in 512 rows, and is held to one beyond.
    """
    if len(S) <= 512:
        squares: Array = np.square(S).dot(weights)
        return squares
    with one_thread():
        return np.concatenate([np.square(S[k : k + 256]).dot(weights) for k in range(0, len(S), 256)])


def inverse_deviation(S: Array) -> Array:
    """Return 1 / sqrt(S_ii), and 0 for an arm that is known."""
    deviation = np.sqrt(S.diagonal())
    return np.divide(1.0, deviation, out=np.zeros(len(S)), where=deviation > 0)


def refuse_indefinite(S: Array) -> Array:
    """Return the covariance, symmetric to the last bit; refuse one that is not symmetric or has a negative eigenvalue.

    Rounding is not refused: S_ij and S_ji may differ by 1e-12 sqrt(S_ii S_jj), and the smallest eigenvalue may be
    -N 1e-14 times the largest.
    """
    from scipy.linalg import cholesky

    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size:
        raise ValueError(f"covariance must be a square matrix, one row per arm, but its shape is {S.shape}.")
    variances = S.diagonal()
    if (variances < 0).any():
        arm = int(variances.argmin())
        raise ValueError(f"variances must be at least 0, but the covariance has {variances[arm]:g} for arm {arm}.")
    S = _symmetric(S, np.sqrt(variances))
    with one_thread():
        try:
            cholesky(S.T, lower=True, check_finite=False)  # its one copy is all the memory this takes
        except np.linalg.LinAlgError:
            eigenvalues = np.linalg.eigvalsh(S)
            if eigenvalues[0] < -len(S) * 1e-14 * eigenvalues[-1]:
                raise ValueError(
                    f"covariance must have no negative eigenvalue, but its smallest is {eigenvalues[0]:.6g} (largest "
                    f"{eigenvalues[-1]:.6g}). Covariances guessed entry by entry often clash: use a kernel."
                ) from None
    return S


def _symmetric(S: Array, deviation: Array) -> Array:
    """Return S with what rounding left of asymmetry averaged away; refuse more. By strips, to save memory."""
    strips = [slice(k, k + 256) for k in range(0, len(S), 256)]
    beyond, largest, where = False, 0.0, (0, 0)
    for strip in strips:
        asymmetry = np.abs(S[strip] - S[:, strip].T)
        beyond = beyond or bool((asymmetry > 1e-12 * np.outer(deviation[strip], deviation)).any())
        if asymmetry.max() > largest:
            row, column = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
            largest, where = float(asymmetry.max()), (strip.start + int(row), int(column))
    if beyond:
        i, j = where
        raise ValueError(
            f"covariance must be symmetric, but its entry ({i}, {j}) is {S[i, j]:g} and ({j}, {i}) is {S[j, i]:g}. "
            "If that is rounding, pass (S + S.T) / 2."
        )
    if not largest:
        return S
    mean = S / 2
    for strip in strips:
        mean[strip] += S[:, strip].T / 2
    return np.asarray(mean)
