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

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, Drifting
from corrbandits.simulation.engines.compiled.state import MOST_WAITING, pack, record

LINE = 8
"""Numbers on a cache line."""

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
    """A drifting belief on correlated arms, all of whose covariance is read at every step.

    A row is kept as far as the diagonal, and on to the end of a cache line, LINE numbers: so a pass over all rows has
    no remainders, and numbers that are used together lie on the same lines. Arms are filled up to whole lines with 0.
    """

    S0: Array  # as S
    S: Array  # before the latest reward, and the time that passed since
    first: Integers  # where each row begins
    g: Array  # what the latest reward takes away: g g'
    inverse: Array
    along: Array  # w^2 of a row by the numbers in it
    across: Array  # and by those of its column, in lines below
    mu0: Array
    d0: Array
    mu: Array
    d: Array
    w: Array
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
    if printed:
        return DriftingPrinted(**_in_lines(prior.covariance, belief.covariance_of()), **moments)
    now, first = np.empty((2, n * (n - 1) // 2))
    pack(belief.covariance_of(), now)
    pack(prior.covariance, first)
    waiting = {"G": np.zeros((MOST_WAITING, n)), "age": np.zeros(MOST_WAITING), "h": np.zeros(n)}
    return DriftingJoint(S0=prior.covariance, A=first - now, **waiting, **moments)


def _in_lines(before: Array, now: Array) -> dict[str, Any]:
    """Return two covariances row by row, in whole lines, and room for what a pass over them needs."""
    n, lines = len(now), -(-len(now) // LINE)
    lengths = np.repeat(LINE * np.arange(1, lines + 1), LINE)
    first = np.concatenate([[0], np.cumsum(lengths)])
    room = {name: _aligned(lines * LINE) for name in ("g", "inverse", "along", "across")}
    for name, covariance in (("S0", before), ("S", now)):
        room[name] = _aligned(first[-1])
        for i in range(n):
            room[name][first[i] : first[i] + min(lengths[i], n)] = covariance[i, : lengths[i]]
    return {**room, "first": first}


def _aligned(size: int) -> Array:
    """Return zeros that begin with a cache line."""
    wide = np.zeros(size + LINE)
    start = -wide.ctypes.data // wide.itemsize % LINE
    return wide[start : start + size]


def _memory(scale: float, *, calm: bool) -> Any:
    phi, fresh = math.exp(-1 / scale), -math.expm1(-2 / scale)
    return record(MEMORY, arm=-1, calm=calm, kept=1.0, phi=phi, share=phi * phi, fresh=fresh)
