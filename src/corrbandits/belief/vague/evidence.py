"""How likely the rewards are under each part, in standard units: what the weights of the mixture are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.vague.fading import each_with_each
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard


@final
@dataclass(frozen=True)
class Evidence:
    """What the density of the rewards follows from, one entry per part: see `mixture`."""

    number: int
    """n, the number of rewards, and the degrees of freedom of earlier seasons."""

    log_determinant: Array
    """log |M| + (n - k) log lambda, less twice the log prior of the part."""

    ones: Array
    """1'M^-1 1, or nothing seen: 0."""

    crossed: Array
    """1'M^-1 z."""

    squares: Array
    """z'M^-1 z, and the spread within arms over lambda."""

    def after(self, variance: Array, zeta: Array, o: Array) -> Evidence:
        """Return the evidence after one more reward: the variance it was expected with, and its L^-1 z and L^-1 1."""
        return Evidence(
            number=self.number + 1,
            log_determinant=self.log_determinant + np.log(variance),
            ones=self.ones + o * o,
            crossed=self.crossed + o * zeta,
            squares=self.squares + zeta * zeta,
        )

    def repeated(self, more: int, ratios: Array) -> Evidence:
        """Return the evidence if that reward was the average of so many more at its time; their spread is counted."""
        if not more:
            return self
        log_determinant = self.log_determinant + more * np.log(ratios)
        return replace(self, number=self.number + more, log_determinant=log_determinant)


def conditioned(parts: Parts, seen: Standard, relative: Array) -> tuple[Evidence, list[Array], list[Array]]:
    """Return the evidence of what was seen, and under each part L and L^-1 (z, 1)."""
    A, k, n, past = seen.arms, seen.arms.size, seen.number, parts.past
    expected = np.zeros((len(parts), k)) if past is None else past.expected_in(seen.exponent)[:, A]
    one = np.ones(k)
    over = relative[A] / seen.counts
    roots: list[Array] = []
    solved: list[Array] = []
    log_determinant = np.empty(len(parts))
    with one_thread():
        for part, M in enumerate(each_with_each(parts, np.arange(len(parts)), seen)):
            M.flat[:: k + 1] += parts.ratios[part] * over
            L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
            roots.append(L)
            solved.append(solved_by(L, np.stack([seen.averages - expected[part], one], axis=1)))
            log_determinant[part] = 2 * np.log(L.diagonal()).sum() + (n - k) * np.log(parts.ratios[part])
    zeta, o = (np.array([both[:, side] for both in solved]).reshape(len(parts), k) for side in (0, 1))
    log_determinant -= 2 * parts.log_prior
    squares = np.square(zeta).sum(axis=1) + seen.within / parts.ratios
    if past is not None:
        n, log_determinant = n + past.degrees, log_determinant + past.log_determinant
        squares += np.ldexp(past.squares, 2 * (past.exponent - seen.exponent))
    ones, crossed = np.square(o).sum(axis=1), (o * zeta).sum(axis=1)
    return Evidence(n, log_determinant, ones, crossed, squares), roots, solved


def solved_by(L: Array, sides: Array, *, transposed: bool = False) -> Array:
    """Return L^-1 or L'^-1 times the sides; in place of these if their columns lie one after the other."""
    if not L.size:
        return sides
    from scipy.linalg import solve_triangular

    trans = 1 if transposed else 0
    solved = solve_triangular(L, sides, trans=trans, lower=True, overwrite_b=True, check_finite=False)
    return np.asarray(solved)
