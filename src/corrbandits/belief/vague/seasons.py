"""What earlier seasons at the same places say of this one.

    name     shape      meaning
    rho      (G,)       correlation between seasons of an arm's mean rewards, each less its season's mean
    H        ()         earlier seasons; n rewards in all, which make k averages of an arm in a season
    M        (k, k)     R_AA, times rho between seasons, + lambda diag(v_i / n_i)
    X        (k, H)     1 where an average is of a season: each has a mean of its own, of which nothing is known
    P        (k, k)     takes out the columns of L^-1 X, L L' = M
    W        (k, N)     rho P L^-1 R_A: of the covariance of this season's arms R - W'W is left

The means of earlier seasons are integrated out in closed form. The scale is that of this season: what earlier ones say
of it is kept as degrees of freedom and a sum of squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief.vague.standard import Standard

if TYPE_CHECKING:
    from corrbandits.belief.vague.parts import Parts

Season = tuple[tuple[int, ...], tuple[float, ...]]
"""Arms, and a reward of each; an arm may be there several times."""

MOST = 100_000_000
"""A history that takes more numbers than this is refused, parts x averages x arms: 800 MB."""


@final
@dataclass(frozen=True, eq=False)
class Seasons:
    """What earlier seasons say, under each part, in units of 2^exponent."""

    W: Array
    """(G, k, N)"""

    expected: Array
    """W' P L^-1 z, (G, N): what is expected of this season's arms, were its mean 0."""

    left: Array
    """The diagonal of R - W'W, (G, N)."""

    squares: Array
    """z' L^-T P L^-1 z, and the spread within arms over lambda, (G,)."""

    log_determinant: Array
    """log |M| + (n - k) log lambda + log |X'M^-1 X|, (G,)."""

    degrees: int
    """n - H."""

    exponent: int
    rewards: int
    """n."""

    ranks: bool
    """Whether arms of a season differ in their averages: else nothing is known of which is better."""

    def expected_in(self, exponent: int) -> Array:
        """Return what is expected in units of another power of 2."""
        return np.ldexp(self.expected, self.exponent - exponent)

    @staticmethod
    def of(parts: Parts, history: Sequence[Season], relative: Array) -> Seasons:
        """Return what a history says; `relative` are the arms' noise variances, up to a factor."""
        from scipy.linalg import solve_triangular

        seen = [Standard.of(_tally(season, parts.arms), relative) for season in history]
        exponent = max((one.exponent for one in seen if not one.all_equal), default=0)
        seen = [one.in_units_of(exponent) for one in seen]
        A = np.concatenate([one.arms for one in seen])
        season = np.repeat(np.arange(len(seen)), [one.arms.size for one in seen])
        if len(parts) * A.size * parts.arms > MOST:
            raise MemoryError(
                f"a history of {A.size:,} averages must fit in memory with {len(parts)} parts and {parts.arms:,} arms, "
                "but it does not. Give fewer seasons, or say parts=8."
            )
        over = relative[A] / np.concatenate([one.counts for one in seen])
        sides = np.concatenate(
            [np.concatenate([one.averages for one in seen])[:, None], season[:, None] == np.arange(len(seen))], axis=1
        )
        n, within = sum(one.number for one in seen), sum(one.within for one in seen)
        every, (which, back) = np.arange(parts.arms), np.unique(A, return_inverse=True)
        W = np.empty((len(parts), A.size, parts.arms))
        zeta, log_determinant = np.empty((len(parts), A.size)), np.empty(len(parts))
        with one_thread():
            for part, rho in enumerate(parts.alike.tolist()):
                R = parts.correlation(part, which, every)[back]
                M = R[:, A] * np.where(season[:, None] == season, 1.0, rho)
                M.flat[:: A.size + 1] += parts.ratios[part] * over
                L = np.linalg.cholesky(M)
                solved = solve_triangular(L, np.concatenate([sides, rho * R], axis=1), lower=True, check_finite=False)
                Q, upper = np.linalg.qr(solved[:, 1 : 1 + len(seen)])
                both = solved[:, [0, *range(1 + len(seen), solved.shape[1])]]
                both -= Q @ (Q.T @ both)
                zeta[part], W[part] = both[:, 0], both[:, 1:]
                log_determinant[part] = 2 * np.log(L.diagonal()).sum() + 2 * np.log(np.abs(upper.diagonal())).sum()
        return Seasons(
            W=W,
            expected=np.matmul(zeta[:, None], W)[:, 0],
            left=np.maximum(1.0 - np.square(W).sum(axis=1), 0.0),
            squares=np.square(zeta).sum(axis=1) + within / parts.ratios,
            log_determinant=log_determinant + (n - A.size) * np.log(parts.ratios),
            degrees=n - len(seen),
            exponent=exponent,
            rewards=n,
            ranks=any(np.ptp(one.averages) > 0 for one in seen),
        )


_A_HISTORY = "history must be a list of seasons, each a pair of arms and rewards, such as [([0, 3], [31.5, 28.0])]"


def seasons_in(history: Any, arms: int) -> tuple[Season, ...]:
    """Return a history in the form in which it is stored; refuse one that is none.

    >>> seasons_in([([1, 0], [5.0, 3.0])], 2)
    (((0, 1), (3.0, 5.0)),)
    """
    if history is None:
        return ()
    if not isinstance(history, (list, tuple)):
        raise TypeError(f"{_A_HISTORY}, got {history!r:.60}.")
    found: list[Season] = []
    for number, season in enumerate(history, start=1):
        if not isinstance(season, (tuple, list)) or len(season) != 2 or np.ndim(season[0]) != 1:
            raise ValueError(f"{_A_HISTORY}, got {season!r:.60} for season {number}.")
        which = checks.arm_array(season[0], arms)
        rewards = np.atleast_1d(checks.finite(f"rewards of season {number}", season[1]))
        if rewards.shape != which.shape or not which.size:
            raise ValueError(
                f"a season of history must have as many rewards as arms, and one at least, got {which.size} arms and "
                f"{rewards.size} rewards in season {number}."
            )
        order = np.lexsort([rewards, which])
        found.append((tuple(which[order].tolist()), tuple(rewards[order].tolist())))
    return tuple(found)


def turned(given: Sequence[tuple[Any, tuple[float, ...]]]) -> tuple[tuple[Any, tuple[float, ...]], ...]:
    """Return seasons, or fields, with rewards turned round, -r."""
    return tuple((where, tuple(-reward for reward in rewards)) for where, rewards in given)


def _tally(season: Season, arms: int) -> Tally:
    return Tally.empty(arms).plus((arm, 1, reward) for arm, reward in zip(*season, strict=True))
