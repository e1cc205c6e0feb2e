"""What rewards leave of each part, in standard units: what the mixture and its weights are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard

NEGLIGIBLE = 1e-9
"""Where there is much to compute, parts of a smaller share of the weight are left out."""

MUCH = 30_000_000
"""More numbers than this are much: parts x arms x arms seen."""


@final
@dataclass(frozen=True)
class Evidence:
    """What the density of the rewards follows from, one entry per part: see `mixture`."""

    number: int
    """n, the number of rewards."""

    log_determinant: Array
    """log |M| + (n - k) log lambda."""

    ones: Array
    """1'M^-1 1, or nothing seen: 0."""

    crossed: Array
    """1'M^-1 z."""

    squares: Array
    """z'M^-1 z, and the spread within arms over lambda."""


@final
@dataclass(frozen=True)
class Factors:
    """Of each part that is kept: V, zeta and o, whose rows grow with what is seen or awaited."""

    kept: Integers
    """Which parts are kept."""

    V: Array
    """(G, rows, N)"""

    zeta: Array
    """(G, rows)"""

    o: Array
    """(G, rows)"""

    left: Array
    """The diagonal of R - V'V, (G, N)."""

    response: Array
    """V' zeta, (G, N): what the rewards make of the arms' means, were beta 0."""

    share: Array
    """1 - V' o, (G, N): how much of beta is left in the arms' means."""

    def row(self, parts: Parts, arm: int) -> Array:
        """Return row `arm` of R - V'V under every part kept."""
        return np.asarray(parts.rows(self.kept, arm) - np.matmul(self.V[:, :, arm][:, None, :], self.V)[:, 0])

    def covariance(self, parts: Parts, part: int) -> Array:
        """Return R - V'V under one of the parts kept, by its place among them."""
        every = np.arange(self.V.shape[2])
        return np.asarray(parts.correlation(self.kept.item(part), every, every) - self.V[part].T @ self.V[part])

    def after(self, row: Array, arm: int, noise: Array, z: Array) -> tuple[Factors, Array]:
        """Return the factors after one more reward z of an arm, and the variance of what it was expected to be.

        `row` is that of the arm, `noise` its variance under each part; z may be one number or one per part.
        """
        variance = row[:, arm] + noise
        v = row / np.sqrt(variance)[:, None]
        zeta = (z - self.response[:, arm]) / np.sqrt(variance)
        o = self.share[:, arm] / np.sqrt(variance)
        more = Factors(
            kept=self.kept,
            V=np.concatenate([self.V, v[:, None]], axis=1),
            zeta=np.concatenate([self.zeta, zeta[:, None]], axis=1),
            o=np.concatenate([self.o, o[:, None]], axis=1),
            left=np.maximum(self.left - np.square(v), 0.0),
            response=self.response + v * zeta[:, None],
            share=self.share - v * o[:, None],
        )
        return more, variance


def conditioned(parts: Parts, seen: Standard, relative: Array) -> tuple[Evidence, list[Array], list[Array]]:
    """Return the evidence of what was seen, and under each part L and L^-1 (z, 1)."""
    from scipy.linalg import solve_triangular

    A, k, n = seen.arms, seen.arms.size, seen.number
    sides = np.stack([seen.averages, np.ones(k)], axis=1)
    over = relative[A] / seen.counts
    roots: list[Array] = []
    solved: list[Array] = []
    log_determinant = np.empty(len(parts))
    with one_thread():
        for part in range(len(parts)):
            M = parts.correlation(part, A, A)
            M.flat[:: k + 1] += parts.ratios[part] * over
            L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
            roots.append(L)
            solved.append(solve_triangular(L, sides, lower=True, check_finite=False) if k else sides)
            log_determinant[part] = 2 * np.log(L.diagonal()).sum() + (n - k) * np.log(parts.ratios[part])
    zeta, o = (np.array([both[:, side] for both in solved]).reshape(len(parts), k) for side in (0, 1))
    evidence = Evidence(
        number=n,
        log_determinant=log_determinant,
        ones=np.square(o).sum(axis=1),
        crossed=(o * zeta).sum(axis=1),
        squares=np.square(zeta).sum(axis=1) + seen.within / parts.ratios,
    )
    return evidence, roots, solved


def factors(
    parts: Parts, seen: Standard, kept: Integers, roots: list[Array], solved: list[Array], arms: int
) -> Factors:
    """Return the factors of the parts kept."""
    from scipy.linalg import solve_triangular

    A, every, k = seen.arms, np.arange(arms), seen.arms.size
    V = np.empty((kept.size, k, arms))
    with one_thread():
        for place, part in enumerate(kept.tolist()):
            if k:
                across = parts.correlation(part, A, every)
                V[place] = solve_triangular(roots[part], across, lower=True, check_finite=False, overwrite_b=True)
    zeta, o = (np.array([solved[part][:, side] for part in kept]).reshape(kept.size, k) for side in (0, 1))
    return Factors(
        kept=kept,
        V=V,
        zeta=zeta,
        o=o,
        left=np.maximum(1.0 - np.square(V).sum(axis=1), 0.0),
        response=np.matmul(zeta[:, None], V)[:, 0],
        share=1.0 - np.matmul(o[:, None], V)[:, 0],
    )
