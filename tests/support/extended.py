"""Linear algebra in more digits than doubles have, where a witness needs more than what it is the witness of."""

import math

import numpy as np


def inverse(K):
    """Return the inverse of a symmetric positive definite matrix and the logarithm of its determinant.

    By the Cholesky factor: in long doubles, 64 bits of mantissa on most processors, or as `mpmath` numbers if these
    are its entries.
    """
    kind = object if np.asarray(K).dtype == object else np.longdouble
    left, size = np.array(K, dtype=kind), len(K)
    L, X = np.zeros((size, size), dtype=kind), np.eye(size, dtype=kind)
    for j in range(size):
        L[j:, j] = (left[j:, j] - L[j:, :j] @ L[j, :j]) / (left[j, j] - L[j, :j] @ L[j, :j]) ** 0.5
    for j in range(size):
        X[j] = (X[j] - L[j, :j] @ X[:j]) / L[j, j]
    return X.T @ X, 2 * sum(map(math.log, L.diagonal()))
