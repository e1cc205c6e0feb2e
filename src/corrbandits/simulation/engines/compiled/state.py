"""What the loops read and write: a belief in a form that changes in place, and the steps of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import config

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief, Correlated, GaussianBelief
from corrbandits.policies import by_place
from corrbandits.simulation.engines.compiled.cache import compiled

FLOOR = 1e-20
"""A variance that has fallen below this share of its first value is the rounding of a variance of 0."""

MOST_WAITING = 16
"""How many streaks may wait before they are carried into S, where rows are all that is read of it."""

STREAK = np.dtype(
    [
        ("arm", np.int64),  # or -1 if there is no streak
        ("length", np.int64),  # n
        ("tried", np.int64),  # how many w were computed singly
        ("measured", np.int64),  # 1 if x is known
        ("waiting", np.int64),  # rows in G
        ("lasting", np.int64),  # 1 if it may last
        ("surprise", np.float64),  # the sum of r - mu0_k
        ("precision", np.float64),  # c
        ("variance", np.float64),  # d0_k
        ("norm", np.float64),  # sqrt(w0_k^2 - d0_k)
    ],
    align=True,
)
PROGRESS = np.dtype([("initialisation", np.int64), ("initialising", np.int64)], align=True)


class Joint(NamedTuple):
    """A correlated belief: before the streak (S, mu0, d0, w0, x), of the streak (h), and now (mu, d, w)."""

    S: Array
    G: Array  # streaks that are not yet in S: off the diagonal the covariance is S - G'G
    mu0: Array
    d0: Array
    w0: Array
    x: Array  # sqrt(w0_i^2 - h_i^2 / d0_k)
    h: Array
    mu: Array
    d: Array
    w: Array
    inverse: Array
    work: Array
    floor: Array
    candidates: Integers
    streak: Any  # a record of STREAK


class Apart(NamedTuple):
    """A belief on independent arms; w_i = s_i."""

    mu: Array
    d: Array
    w: Array


class Ranked(NamedTuple):
    """Which of nearly equal arms is taken: that of lowest rank. Without ranks it is the lowest arm of exact equals."""

    rank: Integers
    values: Array  # to write what arms are compared by


class Steps(NamedTuple):
    """Some steps of a run: as many as there is eps. A reward is m_i + sigma_i eps or, if binary, whether eps < m_i.

    At step t the means begin at t * stride: the stride is 0 where they do not change, N where each step has its own.
    """

    means: Array
    stride: int
    deviations: Array
    binary: bool
    noise: Array
    thresholds: Array
    sums: Array
    progress: Any  # a record of PROGRESS: steps of initialisation, 1 while initialising
    eps: Array
    arms: Integers
    rewards: Array
    done: int  # how many steps there were before
    before: int  # the arm before the first step, or -1


Loop = Callable[[Steps, Array], None]
"""Goes on with a run: to be called with some steps and the rule's schedule at these."""


def state_of(belief: GaussianBelief) -> Joint | Apart:
    """Return a belief in a form that changes in place; the w of a correlated one are not yet known.

    >>> state = state_of(Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0))
    >>> state.S, state.d
    (array([1.]), array([4., 9.]))
    """
    if not isinstance(belief, Correlated):
        return Apart(belief.mean.copy(), belief.variance.copy(), np.sqrt(belief.variance))
    n = belief.arms
    S = np.empty(n * (n - 1) // 2)
    pack(belief.covariance, S)
    w0, x, h, w, inverse, work = np.zeros((6, n))
    return Joint(
        S=S,
        G=np.zeros((MOST_WAITING, n)),
        mu0=belief.mean.copy(),
        d0=belief.covariance.diagonal().copy(),
        w0=w0,
        x=x,
        h=h,
        mu=belief.mean.copy(),
        d=belief.covariance.diagonal().copy(),
        w=w,
        inverse=inverse,
        work=work,
        floor=FLOOR * belief.variance,
        candidates=np.zeros(n, dtype=np.int64),
        streak=record(STREAK, arm=-1),
    )


def stacked(states: Sequence[Joint | Apart]) -> Any:
    """Return several beliefs of one kind as one, whose arrays have a further dimension in front.

    >>> apart = Apart(np.zeros(3), np.ones(3), np.ones(3))
    >>> stacked([apart, apart]).mu.shape
    (2, 3)
    """
    kind = type(states[0])
    return kind(*(np.array([*arrays], dtype=arrays[0].dtype) for arrays in zip(*states, strict=True)))


def ranked(belief: Belief) -> Ranked:
    """Return the ranks of arms by their coordinates, then by row.

    >>> ranked(Correlated(covariance=[[4.0, 1.0], [1.0, 9.0]], noise_variance=1.0)).rank
    array([0, 1])
    """
    every = np.arange(belief.arms)
    rank = np.empty(belief.arms, dtype=np.int64)
    rank[by_place(belief.coordinates, every)] = every
    return Ranked(rank, np.zeros(belief.arms))


def unranked() -> Ranked:
    """Return that there are no ranks."""
    return Ranked(np.zeros(0, dtype=np.int64), np.zeros(0))


def record(fields: np.dtype[Any], **values: float) -> Any:
    """Return a record of zeros and the values given, which compiled code changes in place."""
    return records(1, fields, **values)[0]


def records(number: int, fields: np.dtype[Any], **values: float) -> Any:
    """Return so many of them, all alike."""
    # without compilation (NUMBA_DISABLE_JIT) Python must find the fields by name, which only np.record allows
    kind: Any = (np.record, fields) if getattr(config, "DISABLE_JIT", False) else fields
    new = np.zeros(number, dtype=kind)
    for name, value in values.items():
        new[name] = value
    return new


@compiled
def pack(covariance: Array, S: Array) -> None:
    """Write what lies below the diagonal row by row."""
    start = 0
    for i in range(1, len(covariance)):
        for j in range(i):  # a slice would bring its checks of shapes along, and seconds to compile them
            S[start + j] = covariance[i, j]
        start += i
