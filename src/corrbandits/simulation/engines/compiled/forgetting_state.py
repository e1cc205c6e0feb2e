"""A windowed or a discounted belief in a form that changes in place.

name      shape          meaning
mu0, d0   (N,)           means and variances of the prior
S0, S     (N(N-1)/2,)    covariance below the diagonal, of the prior and now
V         (N, N)         what averages make known, where the covariance is computed anew (`weighed`)
counts    (N,)           how many rewards of each arm count, and `sums` what they sum to
widths    (T,)           how far back rewards count at each time, if that changes
arms      (W,)           the arms of the latest decisions, that at time t at (t - 1) % W, and `told` their rewards
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, Discounted, Windowed
from corrbandits.simulation.engines.compiled.state import FLOOR, pack, record

FEWEST_BETWEEN = 64
"""A windowed belief is computed anew from its prior after at least so many rewards were taken back."""

MEMORY = np.dtype(
    [
        ("calm", np.int64),  # 1 if no variance can be above its threshold
        ("done", np.int64),  # decisions
        ("start", np.int64),  # the first of them that counts, from 0
        ("back", np.int64),  # rewards taken back since all was computed anew
        ("between", np.int64),  # as many may be
        ("largest", np.float64),  # of the rewards that count, without their signs
        ("rows", np.int64),  # of V
        ("window", np.float64),  # how far back rewards count, unless that changes
        ("factor", np.float64),  # what a step leaves of counts and sums
    ],
    align=True,
)


class ForgettingApart(NamedTuple):
    """A windowed or a discounted belief on independent arms; w_i = s_i."""

    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
    noise: Array
    counts: Array
    sums: Array
    widths: Array
    arms: Integers
    told: Array
    memory: Any  # a record of MEMORY


class WindowedJoint(NamedTuple):
    """A windowed belief on correlated arms."""

    S0: Array
    S: Array
    row: Array
    inverse: Array
    floor: Array
    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
    noise: Array
    counts: Array
    sums: Array
    widths: Array
    arms: Integers
    told: Array
    memory: Any


class DiscountedJoint(NamedTuple):
    """A discounted belief on correlated arms."""

    S0: Array  # all of it
    V: Array
    row: Array
    mu0: Array
    d0: Array
    mu: Array  # before the latest reward
    d: Array
    w: Array
    noise: Array
    counts: Array
    sums: Array
    memory: Any


def forgetting_state(
    belief: Windowed | Discounted, horizon: int, threshold: float | Array
) -> ForgettingApart | WindowedJoint | DiscountedJoint:
    """Return a belief that has seen nothing in a form that changes in place.

    >>> prior = Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0)
    >>> state = forgetting_state(Windowed(prior=prior, window=10), 50, np.inf)
    >>> state.S, state.told.size
    (array([1.]), 11)
    """
    prior, n = belief.prior, belief.arms
    shared = _shared(belief, horizon, calm=bool((prior.variance <= threshold).all()))
    if isinstance(prior, Correlated) and isinstance(belief, Discounted):
        return DiscountedJoint(S0=prior.covariance, V=np.zeros((n, n)), row=np.zeros(n), **shared)
    if isinstance(belief, Windowed):
        shared |= _looking_back(belief, horizon)
    else:
        shared |= {"widths": np.zeros(0), "arms": np.zeros(1, dtype=np.int64), "told": np.zeros(1)}
    if not isinstance(prior, Correlated):
        return ForgettingApart(**shared)
    S = np.empty(n * (n - 1) // 2)
    pack(prior.covariance, S)
    return WindowedJoint(S0=S, S=S.copy(), row=np.zeros(n), inverse=np.zeros(n), floor=FLOOR * prior.variance, **shared)


def _shared(belief: Windowed | Discounted, horizon: int, *, calm: bool) -> dict[str, Any]:
    """Return what all states have."""
    prior, n, given = belief.prior, belief.arms, belief.prior_arguments()
    moments = {"mu0": prior.mean, "d0": prior.variance, "mu": prior.mean.copy(), "d": prior.variance.copy()}
    counted = {"noise": prior.noise_variance, "counts": np.zeros(n), "sums": np.zeros(n)}
    window, factor = given.get("window", np.inf), given.get("factor", 1.0)
    between = n if isinstance(prior, Correlated) else _room(belief, horizon)
    memory = record(
        MEMORY,
        calm=calm,
        between=max(between, FEWEST_BETWEEN),
        window=np.inf if isinstance(window, tuple) else window,
        factor=factor,
    )
    return {**moments, **counted, "w": np.sqrt(prior.variance), "memory": memory}


def _looking_back(belief: Windowed, horizon: int) -> dict[str, Any]:
    """Return how far back rewards count at each time, if that changes, and room for those that do."""
    grows, room = isinstance(belief.prior_arguments()["window"], tuple), _room(belief, horizon)
    widths = [belief.width(time) for time in range(1, horizon + 1)] if grows else []
    return {
        "widths": np.array(widths, dtype=np.float64),
        "arms": np.zeros(room, dtype=np.int64),
        "told": np.zeros(room),
    }


def _room(belief: Windowed | Discounted, horizon: int) -> int:
    """Return how many rewards may count at once, and one more."""
    return 1 + int(min(belief.width(horizon), horizon)) if isinstance(belief, Windowed) else 1
