"""What rewards leave of each part, in standard units: what the mixture is made of.

name     shape         meaning
S        (G, N, N)     R - V'V of rows of V that are not kept any more
v        (G, N)        the row of V that one more reward adds
phi      (G,)          exp(-time / scale): what is left of V after that time, where mean rewards change

After some time V is phi V, and R - phi^2 V'V is left of correlations. V and S are not multiplied each time: `faded` is
the product of all phi since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.vague.budget import much
from corrbandits.belief.vague.evidence import solved_by
from corrbandits.belief.vague.fading import of_seen, with_seen
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard

TOGETHER = 50_000
"""So many correlations of arms with those seen are computed at a time: they stay in the cache."""

PRECISE = 1e-4
"""An average reward with so little noise, of the arms' variance, says more of its arm than all others do."""

FAINTEST = 1e-100
"""V and S are multiplied by what they have faded to before it is less than this."""

BLOCK = 16
"""So many rows of V are put together, in an array that later beliefs share, and so many are taken from S at once."""


class Step(NamedTuple):
    """What one more reward adds to the evidence, one entry per part."""

    variance: Array
    """With which it was expected."""

    zeta: Array
    o: Array
    v: Array


@final
@dataclass(frozen=True, eq=False)
class Factors:
    """Of each part that is kept: what is left of variances, means and beta, and of correlations.

    Of correlations R - V'V is left. S takes the place of R and V where V would have more rows. Where there is much to
    compute, V of the arms seen is not kept, but L is, from which rows of V'V follow.
    """

    parts: Parts
    kept: Integers
    """Which of the parts are kept."""

    left: Array
    """The diagonal of R - V'V, (G, N)."""

    response: Array
    """V' zeta and what earlier seasons say, (G, N): what the rewards make of the arms' means, were beta 0."""

    share: Array
    """1 - V' o, (G, N): how much of beta is left in the arms' means."""

    V: tuple[Array, ...]
    """Some rows each, (G, rows, N), of what was seen and is awaited; of what is awaited alone, if there are roots."""

    seen: Standard
    """What was seen, where V does not tell of it."""

    roots: tuple[Array, ...] = ()
    """L of each part kept, (k, k), if V of the arms seen is not."""

    S: Array | None = None
    faded: Array | None = None
    """What V and S are to be multiplied by, V once and R - S twice, (G,); None where nothing changes with time."""

    def rows(self, arms: Integers) -> Array:
        """Return what is left of the correlation of some arms, each there once, with every arm: (G, arms, N)."""
        rows = self.parts.rows(self.kept, arms) if self.S is None else self._faded_from(self.S[:, arms], arms)
        for V in self.V:
            taken = np.matmul(V[:, :, arms].transpose(0, 2, 1), V)
            rows -= taken if self.faded is None else np.square(self.faded)[:, None, None] * taken
        if self.roots:
            here = [*of_seen(self.parts, self.kept, self.seen, arms)]
            gains = [solved_by(L, solved_by(L, R), transposed=True) for L, R in zip(self.roots, here, strict=True)]
            every = np.arange(self.parts.arms)
            for block in _blocks(self.parts.arms, self.seen.arms.size):
                for place, R in enumerate(with_seen(self.parts, self.kept, every[block], self.seen)):
                    rows[place][:, block] -= (R @ gains[place]).T
        return np.asarray(rows)

    def _faded_from(self, S: Array, arms: Integers) -> Array:
        """Return what rows of S are now."""
        if self.faded is None:
            return S
        R = self.parts.rows(self.kept, arms)
        return np.asarray(R + np.square(self.faded)[:, None, None] * (S - R))

    def covariance(self, part: int, arms: Integers | None = None) -> Array:
        """Return what is left of the correlation of arms under one of the parts kept, by its place among them."""
        every, number = np.arange(self.parts.arms) if arms is None else arms, self.kept.item(part)
        faded = 1.0 if self.faded is None else self.faded.item(part)
        if self.S is None or faded != 1.0:
            left = self.parts.correlation(number, every, every)
        if self.S is not None:
            S = self.S[part].copy() if arms is None else self.S[part][np.ix_(arms, arms)]
            left = S if faded == 1.0 else left + faded**2 * (S - left)
        for rows in self.V:
            V = rows[part] if arms is None else rows[part][:, arms]
            left -= V.T @ V if faded == 1.0 else faded**2 * (V.T @ V)
        if self.roots:
            V = solved_by(self.roots[part], next(of_seen(self.parts, self.kept[[part]], self.seen, every)))
            left -= V.T @ V
        np.fill_diagonal(left, np.maximum(left.diagonal(), 0.0))  # where next to nothing is left, rounding may be more
        return left

    def after(self, row: Array, arm: int, noise: Array, z: Array) -> tuple[Factors, Step]:
        """Return the factors after one more reward z of an arm, and what it adds to the evidence.

        `row` is that of the arm, `noise` its variance under each part; z has an entry per part.
        """
        variance = np.maximum(row[:, arm], 0.0) + noise
        v = row / np.sqrt(variance)[:, None]
        zeta = (z - self.response[:, arm]) / np.sqrt(variance)
        o = self.share[:, arm] / np.sqrt(variance)
        *others, last = self.V
        kept = (v if self.faded is None else v / self.faded[:, None])[:, None]
        more = (np.concatenate([last, kept], axis=1),) if last.shape[1] < BLOCK else (last, kept)
        factors = replace(
            self,
            left=np.maximum(self.left - np.square(v), 0.0),
            response=self.response + v * zeta[:, None],
            share=self.share - v * o[:, None],
            V=(*others, *more),
        )
        return factors, Step(variance, zeta, o, v)

    def later(self, time: float) -> Factors:
        """Return the factors at a later time, nothing seen since."""
        if self.faded is None or self.parts.rates is None or time == self.seen.now:
            return self
        decay = -self.parts.rates[self.kept] * (time - self.seen.now)
        phi, lost, lost_twice = np.exp(decay), -np.expm1(decay)[:, None], -np.expm1(2 * decay)[:, None]
        faded = self.faded * phi
        then = replace(
            self,
            left=np.square(phi)[:, None] * self.left + lost_twice,
            response=phi[:, None] * self.response,
            share=phi[:, None] * self.share + lost,
            faded=faded,
            seen=replace(self.seen, now=time),
        )
        return then if float(faded.min()) > FAINTEST else then._multiplied()

    def _multiplied(self) -> Factors:
        """Return the same with V and S as they are now."""
        if self.faded is None:
            return self
        V = tuple(self.faded[:, None, None] * rows for rows in self.V)
        S = None if self.S is None else self._faded_from(self.S, np.arange(self.parts.arms))
        return replace(self, V=V, S=S, faded=np.ones(self.kept.size))

    def compact(self) -> Factors:
        """Return the same with S in place of R and V, if V has more rows than S, or enough to take from S at once."""
        rows, arms = sum(V.shape[1] for V in self.V), self.parts.arms
        if rows <= arms if self.S is None else rows < BLOCK:
            return self
        S = np.empty((self.kept.size, arms, arms))
        for place in range(self.kept.size):
            S[place] = self.covariance(place)
        faded = None if self.faded is None else np.ones(self.kept.size)
        return replace(self, S=S, V=(np.empty((self.kept.size, 0, arms)),), faded=faded)


def factors(
    parts: Parts, seen: Standard, relative: Array, kept: Integers, roots: list[Array], solved: list[Array]
) -> Factors:
    """Return the factors of the parts kept."""
    k, every = seen.arms.size, np.arange(parts.arms)
    implicit = much(parts, k)
    zeta, o = (np.array([solved[part][:, side] for part in kept]).reshape(kept.size, k) for side in (0, 1))
    left, response, share = (np.full((kept.size, parts.arms), value) for value in (1.0, 0.0, 1.0))
    if parts.past is not None:
        left, response = parts.past.left[kept], parts.past.expected_in(seen.exponent)[kept]
    V = np.empty((kept.size, 0 if implicit else k, parts.arms))
    with one_thread():
        for block in _blocks(parts.arms if k else 0, k):
            for place, R in enumerate(with_seen(parts, kept, every[block], seen)):
                v = solved_by(roots[kept[place]], R.T)
                left[place, block] = np.maximum(left[place, block] - np.square(v).sum(axis=0), 0.0)
                response[place, block] += zeta[place] @ v
                share[place, block] = 1.0 - o[place] @ v
                if not implicit:
                    V[place, :, block] = v
    for place in range(kept.size):
        _sharpen(left[place], roots[kept[place]], parts.ratios[kept[place]] * relative[seen.arms] / seen.counts, seen)
    L = tuple(roots[part] for part in kept) if implicit else ()
    faded = None if parts.rates is None else np.ones(kept.size)
    return Factors(parts, kept, left, response, share, (V,), seen, L, faded=faded)


def _sharpen(left: Array, L: Array, D: Array, seen: Standard) -> None:
    """Put what is left of precisely measured arms in place: D - D^2 M^-1 keeps the digits that 1 - V'V loses."""
    precise = np.flatnonzero(D < PRECISE)
    if seen.times is None and precise.size:
        chosen = np.zeros((D.size, precise.size), order="F")
        chosen[precise, np.arange(precise.size)] = 1.0
        d = D[precise]
        left[seen.arms[precise]] = d * np.maximum(1 - d * np.square(solved_by(L, chosen)).sum(axis=0), 0.0)


def _blocks(arms: int, seen: int) -> Iterator[slice]:
    """Return some arms at a time."""
    size = max(TOGETHER // max(seen, 1), BLOCK)
    return (slice(start, min(start + size, arms)) for start in range(0, arms, size))
