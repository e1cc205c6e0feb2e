"""The posterior to twice the digits of a double, for priors that are nearly singular beside the noise.

name     shape      meaning                                                            paper
S0       (N, N)     covariance of the mean rewards before anything is seen             Sigma_0
A        (k,)       the arms that have been seen                                       -
D        (k,)       variance of each seen arm's average reward                         the entries of P(t)
L        (k, k)     Cholesky factor of S0_AA + diag(D), in doubles                     -
X        (k, c)     M^-1 B, where M = S0_AA + diag(D)                                  -
R        (k, c)     what is left of B: B - M X                                         -
T        (N, c)     what is left of a given array: T0 - S0_A' X                        -

In doubles the error of S0 - S0_A' M^-1 S0_A is a rounding of S0, so that a posterior variance that is 1e-10 of the
prior's keeps 6 digits of 16. Here R and T are pairs of doubles, and each correction of X is cut into slices of so few
bits that BLAS multiplies them without rounding (Ozaki et al., Numerical Algorithms 59, 2012). A solution with L serves
as a correction as long as M is not singular to rounding: its error shrinks by that much, every time.

The limit is the prior itself. Its covariance is given in doubles, and another rounding of it, by 1e-16 of a variance,
changes the posterior by some 1e-16 S0_ii / D_i deviations: what is computed here is the posterior of the numbers given.
"""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread

MOST_CORRECTIONS = 40
MOST_SLICES = 6  # of S0; 3 hold all digits unless the entries of a row differ by more than 1e4
SETTLED = 1e-13  # posterior deviations that a last correction may be worth


def refined_mean(mean: Array, S0: Array, L: Array, A: Integers, D: Array, surprise: Pair) -> Array | None:
    """Return the posterior mean, `surprise` the averages less `mean`; None if M is singular to rounding.

    >>> S0 = np.array([[1.0, 1.0], [1.0, 1.0 + 2**-40]])
    >>> L = np.linalg.cholesky(S0 + 2**-40 * np.eye(2))
    >>> twins = np.full(2, 2.0**-40)
    >>> new = refined_mean(np.zeros(2), S0, L, np.arange(2), twins, (np.array([0.0, 1.0]), np.zeros(2)))
    >>> (new * 3).round(10)                 # the first arm's is 1/3, the second's 2/3, less some 1e-12
    array([1., 2.])
    """
    unit = _units(S0)
    right = (surprise[0] / unit[A])[:, None], (surprise[1] / unit[A])[:, None]
    left = _corrected(_scaled(S0, unit), L / unit[A][:, None], A, D / unit[A] ** 2, right, np.zeros((len(S0), 1)))
    return None if left is None else _sum_of(mean, left, unit)


def refined(mean: Array, S0: Array, L: Array, A: Integers, D: Array, surprise: Pair) -> tuple[Array, Array] | None:
    """Return posterior mean and covariance, `surprise` the averages less `mean`; None if M is singular to rounding.

    >>> S0, L, one = np.array([[1.0, 0.8], [0.8, 1.0]]), np.linalg.cholesky([[2.0]]), np.ones(1)
    >>> refined(np.zeros(2), S0, L, np.array([0]), one, (one, 0 * one))
    (array([0.5, 0.4]), array([[0.5 , 0.4 ],
           [0.4 , 0.68]]))
    """
    unit, N = _units(S0), len(S0)
    S = _scaled(S0, unit)
    right = (
        np.column_stack([S[A], surprise[0] / unit[A]]),
        np.column_stack([np.zeros((A.size, N)), surprise[1] / unit[A]]),
    )
    left = _corrected(S, L / unit[A][:, None], A, D / unit[A] ** 2, right, np.column_stack([S, np.zeros(N)]))
    if left is None or (left[0].diagonal() < 0).any():  # the rounding of S0 outweighs D
        return None
    covariance = left[0][:, :N] + left[0][:, :N].T + (left[1][:, :N] + left[1][:, :N].T)
    covariance *= 0.5 * unit
    covariance *= unit[:, None]
    return _sum_of(mean, (left[0][:, N:], left[1][:, N:]), unit), covariance


Pair = tuple[Array, Array]
"""A sum of two arrays, the second the rounding of the first."""


def exact_surprise(mean: Array, counts: Array | Integers, sums: Array) -> Pair:
    """Return sums / counts - mean as a pair.

    >>> exact_surprise(np.array([0.25]), np.array([3.0]), np.array([1.0]))
    (array([0.08333333]), array([1.85037171e-17]))
    """
    average = sums / counts
    product, rounding = _product(average, counts.astype(np.float64))
    high, low = _added(average, -mean)
    return high, low + ((sums - product) - rounding) / counts


def _corrected(S: Array, L: Array, A: Integers, D: Array, right: Pair, T: Array) -> Pair | None:
    """Return T - S_A' M^-1 right as a pair; None if corrections do not shrink, or not to nothing."""
    from scipy.linalg import cho_solve

    rows = _slices(S[A].T)
    R, left, before = right, (T, np.zeros_like(T)), math.inf
    for _ in range(MOST_CORRECTIONS):
        with one_thread():
            X = _slices(cho_solve((L, True), R[0], check_finite=False), along=0, most=2)
            change = _products(rows, X)
        left = _minus(left, change)
        whole = X[0] + X[-1] if len(X) > 1 else X[0]
        R = _minus(_minus(R, (change[0][A], change[1][A])), _product(D[:, None], whole))
        size = _worth(change[0], left[0])
        if size <= SETTLED:
            return left
        if not size < before / 2:
            return None
        before = size
    return None


def _worth(change: Array, left: Array) -> float:
    """Return how much a correction changes a covariance, and a mean in the last column, in posterior deviations.

    Of a mean alone, whose deviation is not known, in thousandths of the largest: it settles to a rounding of that.
    """
    N = len(left)
    if left.shape[1] <= N:
        return float(1e3 * np.abs(change).max() / (np.abs(left).max() or 1.0))
    deviation = np.sqrt(np.abs(left[:, :N].diagonal()))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(change) / (np.append(deviation, 1.0) * deviation[:, None])
    return float(np.where(change == 0, 0.0, share).max())


def _slices(matrix: Array, along: int = 1, most: int = MOST_SLICES) -> list[Array]:
    """Return parts that sum to the matrix, or to its leading bits, products of which over this axis are exact."""
    bits = math.ceil((53 + math.log2(max(matrix.shape[along], 2))) / 2)
    parts: list[Array] = []
    while len(parts) < most and (not parts or matrix.any()):
        largest = np.abs(matrix).max(axis=along, keepdims=True)
        cut = np.exp2(np.frexp(largest)[1] + bits)
        part = (matrix + cut) - cut
        matrix = matrix - part
        parts.append(part)
    return parts


def _products(left: list[Array], right: list[Array]) -> Pair:
    """Return the product of two matrices that are given in slices, as a pair."""
    total = (np.zeros((len(left[0]), right[0].shape[1])),) * 2
    for one in left:
        for other in right:
            high, low = _added(total[0], one @ other)
            total = high, total[1] + low
    return total


def _added(one: Array, other: Array) -> Pair:
    """Return the sum and its rounding (Knuth)."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


def _product(one: Array, other: Array) -> Pair:
    """Return the elementwise product and its rounding (Dekker)."""
    product = one * other
    (a, b), (c, d) = _halves(one), _halves(other)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(values: Array) -> Pair:
    large = 134217729.0 * values  # 2^27 + 1
    high = large - (large - values)
    return high, values - high


def _minus(one: Pair, other: Pair) -> Pair:
    high, low = _added(one[0], -other[0])
    return _added(high, low + (one[1] - other[1]))


def _units(S0: Array) -> Array:
    """Return powers of 2 near the deviations, division by which does not round; 1 for an arm that is known."""
    variance = S0.diagonal()
    return np.asarray(np.exp2(np.where(variance > 0, np.frexp(variance)[1] // 2, 0)))


def _scaled(S0: Array, unit: Array) -> Array:
    return np.asarray(S0 / unit / unit[:, None])


def _sum_of(mean: Array, left: Pair, unit: Array) -> Array:
    high, low = _added(mean, -left[0][:, 0] * unit)
    return np.asarray(high + (low - left[1][:, 0] * unit))
