"""A belief told nothing in a form that changes in place.

Names as in `belief.vague`; here u = V' zeta and w = V' o, so that under a part the arms' means are u + beta (1 - w),
about which S is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Vague
from corrbandits.belief.vague.drift import scales_of
from corrbandits.belief.vague.opening import in_order
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.state import record

BLOCK = 16
"""So many products are taken from S at once; a multiple of 4."""

SEEN = np.dtype(
    [
        ("number", np.int64),  # n
        ("differ", np.int64),  # 1 once two rewards have differed, or one from a mean that is known
        ("arm", np.int64),  # of the streak, or -1
        ("late", np.int64),  # how many products are put off
        ("length", np.int64),  # m
        ("offset", np.float64),
    ],
    align=True,
)


class Told(NamedTuple):
    """What was told, and what follows from the arms' places."""

    free: bool  # whether scales are integrated out
    flat: bool  # whether nothing is known of the mean
    centre: float  # of the mean
    spread: float  # its variance
    ratios: Array
    squares: Array  # of the scales
    relative: Array
    first: Integers  # the arms in the order of the opening
    again: Integers  # and once each was tried
    fades: bool  # whether mean rewards change
    phi: Array  # what is left of a correlation after one decision
    lost: Array  # 1 - phi^2
    lasting: Array  # after how many decisions that is little
    doubt: Array  # `horizon.doubts` of these


class Mixed(NamedTuple):
    """A mixture: one row per part."""

    S: Array  # (G, N, N), its lower triangle; where mean rewards change, S - R over faded^2
    R: Array  # (G, N, N), correlations, if mean rewards change
    h: Array  # (G, BLOCK, N): rows whose products are put off, and that of the streak
    c: Array  # (G, BLOCK), their factors
    d: Array  # (G, N), the diagonal now
    u: Array
    w: Array
    ones: Array  # (G,)
    crossed: Array
    squares: Array
    log_determinant: Array
    held: Array  # h_k
    faded: Array  # the product of phi since S and h were written
    weight: Array
    mu: Array  # (N,), of the mixture
    variance: Array
    deviation: Array
    each: Array  # (G, N), the parts' indices
    seen: Any  # a record of SEEN


def mixed_state(belief: Vague) -> tuple[Mixed, Told]:
    """Return a prior in a form that changes in place, and what was told."""
    parts, n = belief.parts, belief.arms
    G, R = len(parts), np.array([*parts.matrices()])
    zeros = np.zeros((2, G, n))
    sums = np.zeros((6, G))
    state = Mixed(
        S=np.zeros(R.shape) if belief.changes else R,
        R=R if belief.changes else np.zeros((0, 0, 0)),
        h=np.zeros((G, BLOCK, n)),
        c=np.zeros((G, BLOCK)),
        d=np.ones((G, n)),
        u=zeros[0],
        w=zeros[1],
        ones=sums[0],
        crossed=sums[1],
        squares=sums[2],
        log_determinant=sums[3] - 2 * parts.log_prior,
        held=sums[4],
        faded=np.ones(G),
        weight=sums[5],
        mu=np.zeros(n),
        variance=np.zeros(n),
        deviation=np.zeros(n),
        each=np.zeros((G, n)),
        seen=record(SEEN, arm=-1),
    )
    return state, told_of(belief)


def told_of(belief: Vague) -> Told:
    """Return what a belief was told."""
    parts, level = belief.parts, belief.level
    first, again = in_order(None if parts.points is None else parts.places(), belief.arms)
    return Told(
        free=parts.free,
        flat=level is None,
        centre=0.0 if level is None else level.centre,
        spread=0.0 if level is None else level.deviation**2,
        ratios=parts.ratios,
        squares=np.ones(len(parts)) if parts.free else np.square(parts.scales),
        relative=belief.relative_variance,
        first=first,
        again=again,
        **_fading(belief),
    )


def _fading(belief: Vague) -> dict[str, Any]:
    """Return what follows from how fast mean rewards change, a decision being one unit of time."""
    rates = belief.parts.rates if belief.parts.rates is not None else np.zeros(len(belief.parts))
    lasting = np.maximum(np.round(scales_of(rates)), 1.0)
    fading = {"phi": np.exp(-rates), "lost": -np.expm1(-2 * rates), "lasting": lasting, "doubt": doubts(lasting)}
    return {"fades": belief.changes, **fading}
