"""Rules that stay: an arm is chosen at the beginning of a block and held to its end.

name      meaning                                                              Reverdy et al. 2014
frame k   the times from 2^(k-1) to 2^k - 1                                    f_k
block     k times of frame k, or what is left of it                            (k, r)
begin     when a block begins: 2^(k-1) + (r - 1) k, r = 1 ... ceil(2^(k-1)/k)  tau_kr
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits.belief import Belief
from corrbandits.policies.base import Arms, allowed_arms
from corrbandits.policies.wrapping import Wrapper

LONGEST = 1_000_000
"""A block has at most so many decisions."""


class InBlocks(Wrapper):
    """A rule that is asked once in a block.

    Without a `length`, blocks are those of block UCL: frame k are the times from 2^(k-1) to 2^k - 1, in blocks of k.
    """

    length: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None:
            checks.set_field(self, "length", checks.integer("length", self.length, least=1, most=LONGEST))

    def begins(self, t: Any) -> Any:
        """Return whether a block begins at time t, or at each of many.

        >>> from corrbandits import UCL, Blocked
        >>> [t for t in range(1, 20) if Blocked(UCL()).begins(t)]
        [1, 2, 4, 7, 8, 12, 16]
        >>> Blocked(UCL(), length=3).begins(np.arange(1, 8))
        array([ True, False, False,  True, False, False,  True])
        """
        if self.length is not None:
            return (t - 1) % self.length == 0
        frame, first = _frame(t)
        return (t - first) % frame == 0

    def lasting(self, t: Any) -> Any:
        """Return how many decisions a block has that begins at time t, or at each of many.

        >>> from corrbandits import UCL, Blocked
        >>> [Blocked(UCL()).lasting(t) for t in (4, 7, 8, 12)]
        [3, 1, 4, 4]
        """
        frame, first = _frame(t)
        if isinstance(t, (int, np.integer)):
            return self.length or int(min(frame, 2 * first - t))
        return np.minimum(frame, 2 * first - t) if self.length is None else np.full(np.shape(t), self.length)


@final
@dataclass(frozen=True)
class Blocked(InBlocks):
    """Block UCL around any rule: an arm is chosen when a block begins, and held until it ends.

    So one moves less: with `UCL` inside, the number of moves grows more slowly than log T and regret stays
    logarithmic (Reverdy, Srivastava and Leonard 2014). Blocks have the given `length`; without one, they get longer
    with time: those that begin between 2^(k-1) and 2^k have length k. An arm that is held is chosen although it is
    pending elsewhere; one that is not allowed any more is not.

    >>> from corrbandits import UCL, Independent
    >>> prior = Independent(mean=[0.0, 1.0], variance=4.0, noise_variance=1.0)
    >>> rule = Blocked(UCL(), length=10)
    >>> rule.choose(prior, t=1), rule.choose(prior, t=2, last=0)
    (1, 0)
    """

    length: int | None = None

    def choose(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> int:
        """Return the arm that is held, `last`; at the beginning of a block the choice of the rule within."""
        t = checks.integer("t", t, least=1)
        if last is not None and not self.begins(t) and _may_stay(last, belief, allowed):
            return last
        return self.rule.choose(belief, t, rng=rng, allowed=allowed, last=last)


def _may_stay(last: int, belief: Belief, allowed: Arms | None) -> bool:
    checks.arm(last, belief.arms)
    return allowed is None or last in allowed_arms(allowed, belief)


def _frame(t: Any) -> tuple[Any, Any]:
    """Return the number of the frame of a time, or of each of many, and its first time."""
    if isinstance(t, (int, np.integer)):
        k = int(t).bit_length()
        return k, 1 << (k - 1)
    each = np.frexp(np.asarray(t, dtype=np.float64))[1].astype(np.int64)
    return each, np.int64(1) << (each - 1)
