"""A windowed or a discounted belief in a form that changes in place.

name      shape          meaning
mu0, d0   (N,)           means and variances of the prior
S0, S     (N(N-1)/2,)    covariance below the diagonal, of the prior and now
counts    (N,)           how many rewards of each arm count, and `sums` what they sum to
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
    counts: Array
    sums: Array
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
    counts: Array
    sums: Array
    arms: Integers
    told: Array
    memory: Any


def forgetting_state(
    belief: Windowed | Discounted, horizon: int, threshold: float | Array
) -> ForgettingApart | WindowedJoint:
    """Return a belief that has seen nothing in a form that changes in place.

    >>> prior = Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0)
    >>> state = forgetting_state(Windowed(prior=prior, window=10), 50, np.inf)
    >>> state.S, state.told.size
    (array([1.]), 11)
    """
    prior, n = belief.prior, belief.arms
    room = 1 + int(min(belief.width(horizon), horizon)) if isinstance(belief, Windowed) else 1
    between = max(n, FEWEST_BETWEEN) if isinstance(prior, Correlated) else max(room, FEWEST_BETWEEN)
    shared: dict[str, Any] = {
        "mu0": prior.mean,
        "d0": prior.variance,
        "mu": prior.mean.copy(),
        "d": prior.variance.copy(),
        "w": np.sqrt(prior.variance),
        "counts": np.zeros(n),
        "sums": np.zeros(n),
        "arms": np.zeros(room, dtype=np.int64),
        "told": np.zeros(room),
        "memory": record(
            MEMORY,
            calm=bool((prior.variance <= threshold).all()),
            between=between,
            factor=belief.prior_arguments()["factor"] if isinstance(belief, Discounted) else 1.0,
        ),
    }
    if not isinstance(prior, Correlated):
        return ForgettingApart(**shared)
    S = np.empty(n * (n - 1) // 2)
    pack(prior.covariance, S)
    return WindowedJoint(S0=S, S=S.copy(), row=np.zeros(n), inverse=np.zeros(n), floor=FLOOR * prior.variance, **shared)
