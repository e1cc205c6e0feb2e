"""What rewards leave of each part, in standard units: what the mixture is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.vague.budget import much
from corrbandits.belief.vague.evidence import solved_by
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard

BLOCK = 512
"""So many arms at a time: what is computed of them stays in the cache."""


@final
@dataclass(frozen=True)
class Factors:
    """Of each part that is kept: what is left of variances, means and beta, and V, zeta and o.

    Where there is much to compute, V of the arms seen is not kept, but L is, from which rows of V'V follow.
    """

    parts: Parts
    kept: Integers
    """Which of the parts are kept."""

    V: Array
    """(G, rows, N), of what was seen and is awaited; of what is awaited alone, if there are roots."""

    zeta: Array
    """(G, rows)"""

    o: Array
    """(G, rows)"""

    left: Array
    """The diagonal of R - V'V, (G, N)."""

    response: Array
    """V' zeta and what earlier seasons say, (G, N): what the rewards make of the arms' means, were beta 0."""

    share: Array
    """1 - V' o, (G, N): how much of beta is left in the arms' means."""

    seen: Integers
    """The arms that were seen, where V does not tell of them."""

    roots: tuple[Array, ...] = ()
    """L of each part kept, (k, k), if V of the arms seen is not."""

    def row(self, arm: int) -> Array:
        """Return row `arm` of R - V'V under every part kept."""
        parts = self.parts
        rows = parts.rows(self.kept, arm) - np.matmul(self.V[:, :, arm][:, None, :], self.V)[:, 0]
        every, here = np.arange(parts.arms), np.array([arm])
        for place, (part, L) in enumerate(zip(self.kept.tolist(), self.roots, strict=False)):
            gain = solved_by(L, solved_by(L, parts.correlation(part, self.seen, here)), transposed=True)[:, 0]
            for block in _blocks(parts.arms):
                rows[place, block] -= parts.correlation(part, every[block], self.seen) @ gain
        return np.asarray(rows)

    def covariance(self, part: int) -> Array:
        """Return R - V'V under one of the parts kept, by its place among them."""
        parts = self.parts
        every, number = np.arange(parts.arms), self.kept.item(part)
        S = parts.correlation(number, every, every) - self.V[part].T @ self.V[part]
        if self.roots:
            V = solved_by(self.roots[part], parts.correlation(number, self.seen, every))
            S -= V.T @ V
        return np.asarray(S)

    def after(self, row: Array, arm: int, noise: Array, z: Array) -> tuple[Factors, Array]:
        """Return the factors after one more reward z of an arm, and the variance of what it was expected to be.

        `row` is that of the arm, `noise` its variance under each part; z may be one number or one per part.
        """
        variance = row[:, arm] + noise
        v = row / np.sqrt(variance)[:, None]
        zeta = (z - self.response[:, arm]) / np.sqrt(variance)
        o = self.share[:, arm] / np.sqrt(variance)
        more = replace(
            self,
            V=np.concatenate([self.V, v[:, None]], axis=1),
            zeta=np.concatenate([self.zeta, zeta[:, None]], axis=1),
            o=np.concatenate([self.o, o[:, None]], axis=1),
            left=np.maximum(self.left - np.square(v), 0.0),
            response=self.response + v * zeta[:, None],
            share=self.share - v * o[:, None],
        )
        return more, variance


def factors(parts: Parts, seen: Standard, kept: Integers, roots: list[Array], solved: list[Array]) -> Factors:
    """Return the factors of the parts kept."""
    A, k, every = seen.arms, seen.arms.size, np.arange(parts.arms)
    implicit = much(parts, k)
    zeta, o = (np.array([solved[part][:, side] for part in kept]).reshape(kept.size, k) for side in (0, 1))
    left, response, share = (np.full((kept.size, parts.arms), value) for value in (1.0, 0.0, 1.0))
    if parts.past is not None:
        left, response = parts.past.left[kept], parts.past.expected_in(seen.exponent)[kept]
    V = np.empty((kept.size, 0 if implicit else k, parts.arms))
    with one_thread():
        for block in _blocks(parts.arms if k else 0):
            for place, part in enumerate(kept.tolist()):
                v = solved_by(roots[part], parts.correlation(part, every[block], A).T)
                left[place, block] = np.maximum(left[place, block] - np.square(v).sum(axis=0), 0.0)
                response[place, block] += zeta[place] @ v
                share[place, block] = 1.0 - o[place] @ v
                if not implicit:
                    V[place, :, block] = v
    L = tuple(roots[part] for part in kept) if implicit else ()
    return Factors(parts, kept, V, zeta, o, left, response, share, A, L)


def _blocks(arms: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, arms)) for start in range(0, arms, BLOCK))
