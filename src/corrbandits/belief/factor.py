"""The k x k Cholesky factor that stands for what was seen of k arms.

    name     shape   meaning                                                       paper
    arms     (k,)    the arms that have been seen, A                               -
    D        (k,)    variance of each seen arm's average reward                    the entries of P(t)
    K        (k, k)  the prior's covariance of the seen arms, S0_AA                -
    L        (k, k)  lower triangular, L L' = M = K + diag(D)                      -

A new arm adds a row to L, O(k^2). After another reward of a seen arm L is computed afresh, O(k^3): up to some
thousand arms LAPACK does so in the time that a rank-one change of L takes, and rounding does not add up.

No factorisation can fail: an arm that the arms before it determine to rounding, with too little noise to show
beside it, tells nothing that they have not told, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits.blas import one_thread
from corrbandits.checks import Array, Integers

ROUNDING = 1e-13  # what a pivot is beside the arm's variance when all of it is rounding


@final
@dataclass(frozen=True)
class Factor:
    """The Cholesky factor of the covariance of the seen arms' average rewards."""

    arms: Integers
    D: Array
    L: Array

    @staticmethod
    def empty() -> Factor:
        """Return the factor of no arms."""
        return Factor(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)))

    @staticmethod
    def of(arms: Integers, D: Array, K: Array) -> Factor:
        """Return the factor of K + diag(D); of arms that determine each other those of least D are kept."""
        from scipy.linalg import cholesky

        with one_thread():
            try:
                L = cholesky(K + np.diag(D), lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                L = None
        if L is not None and (L.diagonal() ** 2 > ROUNDING * (K.diagonal() + D)).all():
            return Factor(arms, D, L)
        factor, kept = Factor.empty(), np.zeros(0, dtype=np.int64)
        for i in np.argsort(D, kind="stable").tolist():
            longer = factor.plus(int(arms[i]), float(D[i]), K[kept, i], float(K[i, i]))
            if longer is not factor:
                factor, kept = longer, np.append(kept, i)
        return factor

    def half(self, right: Array) -> Array:
        """Return L^-1 right."""
        from scipy.linalg import solve_triangular

        with one_thread():
            return np.asarray(solve_triangular(self.L, right, lower=True, check_finite=False))

    def solve(self, right: Array) -> Array:
        """Return M^-1 right."""
        from scipy.linalg import cho_solve

        with one_thread():
            return np.asarray(cho_solve((self.L, True), right, check_finite=False))

    def place(self, arm: int) -> int | None:
        """Return where the arm stands among the seen ones; None if it does not."""
        found = np.flatnonzero(self.arms == arm)
        return int(found[0]) if found.size else None

    def plus(self, arm: int, D: float, column: Array, variance: float) -> Factor:
        """Return the factor with one more arm, of this covariance with the seen ones; itself if that tells nothing."""
        k = self.arms.size
        half = self.half(column) if k else column
        pivot = D + max(variance - float(half @ half), 0.0)
        if pivot <= ROUNDING * (variance + D):
            return self
        L = np.zeros((k + 1, k + 1))
        L[:k, :k], L[k, :k], L[k, k] = self.L, half, np.sqrt(pivot)
        return Factor(np.append(self.arms, arm), np.append(self.D, D), L)
