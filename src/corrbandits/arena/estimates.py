"""Means, ratios and differences of regrets, with their 95 % intervals; p-values corrected for their number.

    name       meaning
    x, y       regrets of two who played the same problems
    n          how many problems
    error      standard error of what was estimated

Problems are drawn independently, and all who play one meet the same noise: comparisons are paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array

LEVEL = 0.95


class Estimate(NamedTuple):
    """A number that was estimated, its standard error and the degrees of freedom of that."""

    value: float
    error: float
    degrees: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval; without ends where one problem says nothing of others."""
        from scipy.special import stdtrit

        if not self.degrees > 0:
            return math.nan, math.nan
        reach = float(stdtrit(self.degrees, (1 + LEVEL) / 2)) * self.error
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """How probable it is to be so far from 0 by chance; NaN where nobody can tell."""
        from scipy.special import stdtr

        if not self.degrees > 0 or math.isnan(self.error):
            return math.nan
        if self.error == 0:
            return float(self.value == 0)
        return float(2 * stdtr(self.degrees, -abs(self.value) / self.error))


NONE = Estimate(math.nan, math.nan, 0.0)


def mean(x: Array) -> Estimate:
    """Return the mean over problems.

    >>> mean(np.array([1.0, 2.0, 3.0])).value
    2.0
    """
    n = len(x)
    if not n:
        return NONE
    return Estimate(float(np.mean(x)), float(np.std(x, ddof=1)) / math.sqrt(n) if n > 1 else math.nan, n - 1.0)


def ratio(x: Array, y: Array) -> Estimate:
    """Return the mean of x over that of y, on the same problems.

    >>> ratio(np.array([2.0, 6.0]), np.array([1.0, 3.0])).value
    2.0
    """
    base = float(np.mean(y)) if len(y) else 0.0
    if base <= 0:
        return NONE
    share = float(np.mean(x)) / base
    return Estimate(share, mean(x - share * y).error / base, len(x) - 1.0)


def difference(x: Array, y: Array) -> Estimate:
    """Return by which share of y's mean x loses more, on the same problems.

    >>> difference(np.array([2.0, 6.0]), np.array([1.0, 3.0])).value
    1.0
    """
    base = float(np.mean(y)) if len(y) else 0.0
    if base <= 0:
        return NONE
    value, error, degrees = mean(x - y)
    return Estimate(value / base, error / base, degrees)


def over_families(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean over families that are weighted equally; degrees of freedom by Welch and Satterthwaite."""
    if not estimates:
        return NONE
    values, errors, degrees = np.array(estimates).T
    variances = np.square(errors)
    total = float(variances.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / float((variances**2 / degrees).sum()) if total > 0 else float(degrees.sum())
    return Estimate(float(values.mean()), math.sqrt(total) / len(values), freedom)


def mean_log(ratios: Sequence[Estimate]) -> Estimate:
    """Return the mean over families of the logarithms of ratios."""
    if any(not each.value > 0 for each in ratios):
        return NONE
    return over_families([Estimate(math.log(each.value), each.error / each.value, each.degrees) for each in ratios])


def geometric_mean(ratios: Sequence[Estimate]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios over families, and its 95 % interval.

    >>> round(geometric_mean([Estimate(2.0, 0.1, 9.0), Estimate(8.0, 0.1, 9.0)])[0], 9)
    4.0
    """
    logs = mean_log(ratios)
    low, high = logs.interval
    return math.exp(logs.value), math.exp(low), math.exp(high)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method; NaN stays, and does not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = [k for k, value in enumerate(p) if not math.isnan(value)]
    corrected, most = [math.nan] * len(p), 0.0
    for rank, k in enumerate(sorted(known, key=lambda k: p[k])):
        most = corrected[k] = min(1.0, max(most, (len(known) - rank) * p[k]))
    return corrected
