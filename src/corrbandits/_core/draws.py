"""Draws of jointly normal variables: roots of covariances, and draws of a posterior from those of its prior.

name     shape      meaning                                            paper
S        (N, N)     covariance of the mean rewards                     Sigma(t)
A        (k,)       the arms that have been seen                       -
D        (k,)       variance of each seen arm's average reward         the entries of P(t)
M        (k, k)     covariance of the averages, S0_AA + diag(D)        -
R0       (N, N)     a root of the prior covariance, S0 = R0 R0'        -
"""

from __future__ import annotations

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.covariances import correlations, inverse_deviation
from corrbandits._core.single_thread import one_thread

SMALL = 1_000
"""Up to so many arms a second array does not matter, and a loop over rows would take longer than the root."""


def covariance_root(S: Array) -> Array:
    """Return R with R R' = S, by Cholesky with pivoting: S may be singular, and nothing is added to it.

    It is the correlations that are factored: what counts as rounding for one arm does not depend on how large
    another's variance is. Where S is large all is done in one array as large as S.
    """
    from scipy.linalg.lapack import dpstrf

    rho, deviation = correlations(S), np.sqrt(S.diagonal())
    with one_thread():
        upper, pivots, rank, _ = dpstrf(rho.T, lower=0, overwrite_a=1)  # .T: no copy is made
    root: Array = upper.T
    if len(S) <= SMALL:
        placed = np.zeros(S.shape)
        placed[pivots - 1, :rank] = np.tril(root)[:, :rank] * deviation[pivots - 1, None]
        return placed
    for k, arm in enumerate(pivots - 1):
        root[k, min(k + 1, rank) :] = 0.0
        root[k] *= deviation[arm]
    _move_rows(root, pivots - 1)
    return root


def _move_rows(array: Array, places: Integers) -> None:
    """Move row k to its place, for every k, without a second array: along the cycles of the permutation."""
    moved = np.zeros(len(array), dtype=bool)
    for start in range(len(array)):
        row, k = array[start].copy(), start
        while not moved[k]:
            moved[k] = True
            k = int(places[k])
            row, array[k] = array[k].copy(), row


def correlated_normals(S: Array, rng: np.random.Generator) -> Array:
    """Return one draw of normal variables with mean 0 and this covariance."""
    root = covariance_root(S)
    with one_thread():
        return np.asarray(root @ rng.standard_normal(len(S)))


def posterior_draw(root: Array, S: Array, A: Integers, D: Array, z: Array, e: Array) -> Array:
    """Return a draw of covariance S and mean 0 from one of the prior, g = R0 z, and one of the averages' noise.

    It is g - S0_A' M^-1 (g_A + e_A), written with S0_A' M^-1 = S_A' / D: for z of N standard normals and e of k
    normals of variance D its covariance is S0 - S0_A' M^-1 S0_A = S. Cancellation costs a draw the square root of
    the share that rewards have left of its arm's variance, 4 of 16 digits for a share of 1e-7, and more where S0 is
    nearly singular: see `least_share`.
    """
    with one_thread():
        g = root.dot(z)
        weight = np.zeros(len(S))
        weight[A] = (g[A] + e) / D
        return np.asarray(g - S.dot(weight))


def least_share(root: Array, S0: Array) -> float:
    """Return the least share of a prior variance for which `posterior_draw` has the covariance S to 1e-6 or better.

    S itself has fewer digits where S0 is nearly singular; how nearly is told by the last pivot of its root.
    """
    pivot = float(np.square(root[:, -1] * inverse_deviation(S0)).max())
    return 1e-12 if pivot > 1e-5 else 1e-8
