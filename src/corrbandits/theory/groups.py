"""Bounds in a table that a person can read: arms of like gap together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corrbandits._core.checks import Array

if TYPE_CHECKING:
    import xarray as xr

MOST_GROUPS = 5


class Group(NamedTuple):
    """Arms of like gap and the same case. Of each bound and count, the largest among them."""

    arms: int
    gaps: tuple[float, float]
    case: int
    eta: str
    extra: str
    total: str
    lai_robbins: float
    simulated: float


def grouped(bound: xr.Dataset, lai_robbins: Array, simulated: Array | None = None) -> list[Group]:
    """Return the suboptimal arms of a bound in at most five groups by gap, split further by case."""
    gaps, case = bound["gap"].values, bound["case"].values
    suboptimal = np.flatnonzero(gaps > 0)
    ordered = suboptimal[np.argsort(gaps[suboptimal], kind="stable")]
    groups = []
    for part in np.array_split(ordered, min(MOST_GROUPS, ordered.size) or 1):
        for number in np.unique(case[part]):
            arms = part[case[part] == number]
            groups.append(_group(bound, arms, int(number), lai_robbins, simulated))
    return groups


def said(log10: float, horizon: int) -> str:
    """Return a bound as a person reads it: a number, or that it is vacuous and how far.

    >>> said(2.5, horizon=10_000), said(4.1e6, horizon=10_000)
    ('316', 'vacuous (log10 = 4.1e+06)')
    """
    return f"{10**log10:,.0f}" if log10 < math.log10(horizon) else f"vacuous (log10 = {log10:.3g})"


def _group(bound: xr.Dataset, arms: Array, case: int, lai_robbins: Array, simulated: Array | None) -> Group:
    horizon = bound.attrs["horizon"]
    eta, extra, total = (
        said(float(bound[name].values[arms].max()), horizon) for name in ("log10_eta", "log10_extra", "log10_total")
    )
    gaps = bound["gap"].values[arms]
    seen = math.nan if simulated is None else float(simulated[arms].max())
    return Group(
        arms.size, (float(gaps.min()), float(gaps.max())), case, eta, extra, total, float(lai_robbins[arms].max()), seen
    )
