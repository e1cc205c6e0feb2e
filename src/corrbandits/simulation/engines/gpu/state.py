"""What kernels read and write.

    name       shape          meaning
    S          (N(N-1)/2,)    covariance of arms i and i + a, a from 1 to N/2, a by a (`place`)
    own        (OWN,)         what a thread knows of its arm: the vectors of `compiled.state.Joint`, an entry each
    at         (AT,)          whole numbers of a run that every thread knows
    of_run     (OF_RUN,)      and other numbers

In a block that plays a run each thread has one arm, and each entry of `own` is a register.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.simulation.engines.gpu.compiling import pure

MU0, D0, W0, X, H, MU, D, W, FLOOR, INVERSE, OWN = range(11)
"""Entries of `own`: before the streak, of the streak and now, as in `compiled.state.Joint`."""

KEPT_OWN = FLOOR
"""The entries before this one are kept between launches."""

ARM, LENGTH, TRIED, MEASURED, LASTING, INITIALISING, INITIALISATION, NEXT, CURSOR, COUNT, WAITING, AT = range(12)
"""Entries of `at`: of the streak, of the initialisation; which time is recorded and which normal number taken next;
how often the thread's own arm was taken; how many streaks wait (`sweep`)."""

SURPRISE, PRECISION, VARIANCE, NORM, MEAN, WEIGHT, FLOOR_K, NOISE, NOW, LEFT, REGRET, TOTAL, OF_RUN = range(13)
"""Entries of `of_run`: of the streak; its arm's mu0, w0, floor, s, mu and d; the regret; the sum of all |rewards|."""


SIZES = 16
"""Of so many numbers of arms it is kept where half a covariance stands in its matrix."""


class Problem(NamedTuple):
    """What runs play. Where they differ, a kernel is given all of it: the first fields have a dimension more."""

    n: Any  # how many arms
    means: Array
    deviations: Array
    gaps: Array
    noise: Array
    thresholds: Array
    prior: Array  # (KEPT_OWN, N)
    floor: Array
    S: Array
    rank: Integers
    root: Array  # of the prior covariance, transposed; for draws
    seen: Array  # how many rewards of each arm came before
    binary: int  # from here on: the same in all runs
    log_n: Array  # the table of `policies.gittins`
    g: Array
    key0: int
    key1: int
    first: int  # the number of the first run
    height: int  # of a grid whose arms are too many for a matrix: S has the covariance of its first arm with each
    width: int


ALIKE = Problem._fields[Problem._fields.index("binary") :]
"""What is the same in all runs."""


class Steps(NamedTuple):
    """Some steps of all runs. Where they differ, the first two have a row for each."""

    values: Array  # the rule's schedule
    doubts: Array  # of the rules that ask for Gittins indices of a mixture: `policies.horizon.doubts`
    eps: Array  # (runs, steps): noise that is given
    draws: Array  # (numbers, runs): normal numbers for the rule that are given
    times: Integers
    done: int  # how many steps there were before


class Kept(NamedTuple):
    """What is kept of each run between two launches."""

    S: Array
    own: Array
    at: Integers
    of_run: Array


class Record(NamedTuple):
    """What is recorded."""

    arms: Integers  # (steps, runs), or nothing
    rewards: Array
    regret: Array  # (times, runs), or nothing
    counts: Integers  # (N, runs)


@pure
def place(i: int, j: int, n: int) -> int:
    """Return where the covariance of two of n arms stands in S.

    Row a - 1 has the covariances of arms i and i + a (modulo n), so that threads of neighbouring arms read
    neighbouring numbers; of n / 2 there is half a row.

    >>> [place(0, j, 5) for j in range(1, 5)], place(3, 1, 4)
    ([0, 5, 8, 4], 5)
    """
    apart = j - i if j > i else j - i + n
    if 2 * apart < n:
        return (apart - 1) * n + i
    if 2 * apart > n:
        return (n - apart - 1) * n + j
    return (apart - 1) * n + min(i, j)


def halved(covariance: Array) -> Array:
    """Return S of a covariance matrix.

    >>> halved(np.array([[9.0, 1.0, 2.0], [1.0, 9.0, 3.0], [2.0, 3.0, 9.0]]))
    array([1., 3., 2.])
    """
    return np.asarray(covariance.reshape(-1)[_half(len(covariance))])


@lru_cache(SIZES)
def _half(n: int) -> Integers:
    """Return where the entries of S stand in a matrix."""
    every = np.arange(n)
    rows = [every * n + (every + apart) % n for apart in range(1, n // 2 + 1)]
    if rows and n % 2 == 0:
        rows[-1] = rows[-1][: n // 2]
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows])


def bare(*shape: int, of: Any = np.float64) -> Any:
    """Return an array of zeros for a place where nothing is needed."""
    return np.zeros(shape or (0,), dtype=of)
