"""A drifting belief in a form that changes in place.

name       shape          meaning
S0, d0     (N, N), (N,)   covariance and variances of the prior, about whose mean mu0 the means drift
A          (N(N-1)/2,)    what is known, below the diagonal: the covariance is S0 - kept A - sum_p age_p G_p' G_p,
                          less what the streak has made known
G, age     (W, N), (W,)   rows that wait to be taken into A, and what time has left of each
phi        ()             exp(-1 / scale): what a step leaves of a deviation, and phi^2 of what is known
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, Drifting
from corrbandits.simulation.engines.compiled.state import MOST_WAITING, pack, record

MEMORY = np.dtype(
    [
        ("begun", np.int64),  # 1 once there was a decision
        ("calm", np.int64),  # 1 if no variance can be above its threshold
        ("waiting", np.int64),  # rows in G
        ("arm", np.int64),  # of the streak, or -1
        ("a", np.float64),  # the arm's row is a h + b S0_k now
        ("b", np.float64),
        ("hh", np.float64),  # what the streak has made known: hh h h' + hu (h S0_k' + S0_k h') + uu S0_k S0_k'
        ("hu", np.float64),
        ("uu", np.float64),
        ("kept", np.float64),
        ("phi", np.float64),
        ("share", np.float64),  # phi^2
        ("fresh", np.float64),  # 1 - phi^2
    ],
    align=True,
)


class DriftingJoint(NamedTuple):
    """A drifting belief on correlated arms, of which rows are read."""

    S0: Array
    A: Array
    G: Array
    age: Array
    h: Array  # the row of the streak's arm when the streak began
    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
    memory: Any  # a record of MEMORY


class DriftingPrinted(NamedTuple):
    """A drifting belief on correlated arms, all of whose covariance is read at every step."""

    S0: Array  # below the diagonal, as S
    S: Array  # before the latest reward, and the time that passed since
    g: Array  # what that reward takes away: g g'
    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
    inverse: Array
    memory: Any


class DriftingApart(NamedTuple):
    """A drifting belief on independent arms; w_i = s_i."""

    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
    memory: Any


def drifting_state(
    belief: Drifting, threshold: float | Array, *, printed: bool
) -> DriftingJoint | DriftingPrinted | DriftingApart:
    """Return a belief of known scale in a form that changes in place; arms above the threshold must be tried first.

    >>> prior = Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0)
    >>> state = drifting_state(Drifting(prior=prior, scale=3.0).observe(0, 2.0), np.inf, printed=False)
    >>> state.d, state.A.round(6)
    (array([0.8, 8.8]), array([0.8]))
    """
    prior, n = belief.prior, belief.arms
    moments: dict[str, Any] = {
        "mu0": prior.mean,
        "d0": prior.variance,
        "mu": belief.mean.copy(),
        "d": belief.variance.copy(),
        "w": np.sqrt(belief.variance),
        "memory": _memory(float(belief.scales[0]), calm=bool((prior.variance <= threshold).all())),
    }
    if not isinstance(prior, Correlated):
        return DriftingApart(**moments)
    now, first = np.empty((2, n * (n - 1) // 2))
    pack(belief.covariance_of(), now)
    pack(prior.covariance, first)
    if printed:
        return DriftingPrinted(S0=first, S=now, g=np.zeros(n), inverse=np.zeros(n), **moments)
    waiting = {"G": np.zeros((MOST_WAITING, n)), "age": np.zeros(MOST_WAITING), "h": np.zeros(n)}
    return DriftingJoint(S0=prior.covariance, A=first - now, **waiting, **moments)


def _memory(scale: float, *, calm: bool) -> Any:
    phi, fresh = math.exp(-1 / scale), -math.expm1(-2 / scale)
    return record(MEMORY, arm=-1, calm=calm, kept=1.0, phi=phi, share=phi * phi, fresh=fresh)
