"""The k x k Cholesky factor that stands for what was seen of k arms.

    name     shape   meaning                                                       paper
    arms     (k,)    the arms that have been seen, A                               -
    D        (k,)    variance of each seen arm's average reward                    the entries of P(t)
    K        (k, k)  the prior's covariance of the seen arms, S0_AA                -
    L        (k, k)  lower triangular, L L' = M = K + diag(D)                      -

A new arm adds a row to L, O(k^2). After another reward of a seen arm L is computed afresh, O(k^3): up to some
thousand arms LAPACK does so in the time that a rank-one change of L takes, and rounding does not add up.

No factorisation can fail, and no jitter is added. A pivot of L is D_i + S_ii, S_ii what the arms before leave of the
arm's variance. Of an arm that they all but determine, the difference S_ii = K_ii - K_i' M^-1 K_i is rounding; but it is
least_w (e_i - w)' K (e_i - w) + w' D w, so no less than w' D w at w = M^-1 K_i, and if the arm is determined, that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread

SOUND = 1e-10  # pivots of LAPACK below this part of the arm's variance are computed with care
ROUNDING = 8 * np.finfo(float).eps  # what may be left of a variance of which nothing is left
HOPELESS = 1e-20  # the least pivot beside the arm's variance that the rounding of K leaves a meaning


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
        """Return the factor of K + diag(D); its arms are in another order if some all but determine others."""
        from scipy.linalg import cholesky
        from scipy.linalg.lapack import dpstrf

        with one_thread():
            try:
                L = cholesky(K + np.diag(D), lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                L = None
        if L is not None and (L.diagonal() ** 2 > SOUND * (K.diagonal() + D)).all():
            return Factor(arms, D, L)
        scale = np.exp2(np.frexp(K.diagonal() + D)[1] // 2)  # powers of 2 do not round
        with one_thread():
            L, order, rank, _ = dpstrf((K + np.diag(D)) / scale / scale[:, None], lower=1, tol=SOUND)
        kept, rest = order[:rank] - 1, order[rank:] - 1
        factor = Factor(arms[kept], D[kept], np.tril(L[:rank, :rank]) * scale[kept, None])
        for i in rest[np.argsort(D[rest], kind="stable")].tolist():
            longer = factor.plus(int(arms[i]), float(D[i]), K[kept, i], float(K[i, i]))
            if longer is not factor:
                factor, kept = longer, np.append(kept, i)
        return factor

    def half(self, right: Array) -> Array:
        """Return L^-1 right."""
        from scipy.linalg import solve_triangular

        with one_thread():
            return np.asarray(solve_triangular(self.L, right, lower=True, check_finite=False))

    def _other_half(self, right: Array) -> Array:
        """Return L'^-1 right."""
        from scipy.linalg import solve_triangular

        with one_thread():
            return np.asarray(solve_triangular(self.L, right, lower=True, trans="T", check_finite=False))

    def solve(self, right: Array) -> Array:
        """Return M^-1 right."""
        from scipy.linalg import cho_solve

        with one_thread():
            return np.asarray(cho_solve((self.L, True), right, check_finite=False))

    def place(self, arm: int) -> int | None:
        """Return where the arm stands among the seen ones; None if it does not."""
        found = np.flatnonzero(self.arms == arm)
        return int(found[0]) if found.size else None

    def shares(self) -> Array:
        """Return S_ii / D_i = 1 - D_i (M^-1)_ii of every arm; a share near 0 has few digits."""
        from scipy.linalg.lapack import dtrtri

        with one_thread():
            inverse = dtrtri(self.L, lower=1)[0]
        return np.asarray(np.clip(1.0 - self.D * np.einsum("li,li->i", inverse, inverse), 0.0, 1.0))

    def plus(self, arm: int, D: float, column: Array, variance: float) -> Factor:
        """Return the factor with one more arm, of this covariance with the seen ones.

        Itself if the arms before determine this one, and all have so little noise that the rounding of the kernel
        outweighs it by far: some 1e-20 of the variance.
        """
        k, half, left = self.arms.size, column, variance
        if k:
            half = self.half(column)
            least = float(self.D @ np.square(self._other_half(half)))
            left = variance - float(half @ half)
            if left - least <= ROUNDING * variance:
                left = least
        if D + left <= HOPELESS * (variance + D):
            return self
        L = np.zeros((k + 1, k + 1))
        L[:k, :k], L[k, :k], L[k, k] = self.L, half, np.sqrt(D + left)
        return Factor(np.append(self.arms, arm), np.append(self.D, D), L)
