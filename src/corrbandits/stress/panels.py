"""What the figures and the page of a stress test show: its bands, pair grids, curves and corners, out of its data.

| name      | meaning                                                                                               |
|-----------|-------------------------------------------------------------------------------------------------------|
| setting   | one prior among those tried: a kind and amount of inaccuracy, factors on the variance and the length  |
| nominal   | the value of a factor that leaves the prior as it was given                                           |
| ratio     | mean regret with the prior over that of the uninformative prior: below 1 it helps, above 1 it hurts   |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

FIXED, SURVIVORS, BASELINE = ("printed", "plain"), ("elimination", "refitting"), "uninformative"
PAIRS = (("accuracy", "confidence"), ("accuracy", "length"), ("confidence", "length"))
KINDS = ("shift", "scale", "noise", "swap")
NOMINAL = {"shift": 0.0, "scale": 1.0, "noise": 0.0, "swap": 0.0, "confidence": 1.0, "length": 1.0}
NAMES = {
    "printed": "printed index",
    "plain": "plain index",
    "elimination": "prior elimination",
    "refitting": "refitting",
    "uninformative": "uninformative prior",
}
LABELS = {
    "shift": "prior means shifted by{units}",
    "scale": "prior means' contrast times",
    "noise": "noise on prior means{units}",
    "swap": "high and low swapped (share)",
    "confidence": "prior variance times",
    "length": "prior length times",
}
WORDS = {
    "shift": "means shifted by {}",
    "scale": "contrast of means × {}",
    "noise": "noise of {} on means",
    "swap": "high and low swapped: {}",
    "confidence": "variance × {}",
    "length": "length × {}",
}
# blue to orange by way of a light grey: told apart by every kind of colour vision, and dark at both ends
COLOURS = ("#0b3c6f", "#5b8db8", "#f4f2ee", "#e39a68", "#a13c0c")
ROUNDING = 1e-9
CLOSEST = 0.13  # of an axis, between two labels
LEAST_BOUND, MOST_BOUND, MOST_DOUBLINGS = 1.5, 1e3, 4


@final
@dataclass(frozen=True)
class Grid:
    """Two factors varied together: `settings[row, column]` is the place of the one with `y[row]` and `x[column]`."""

    across: str
    up: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    settings: NDArray[np.int64]  # -1 where there is none

    def take(self, values: Any) -> NDArray[np.float64]:
        """Return numbers per setting as an array of rows and columns; NaN where there is no setting.

        >>> Grid("shift", "length", np.arange(2.0), np.arange(1.0), np.array([[1, -1]])).take([5.0, 7.0])
        array([[ 7., nan]])
        """
        return np.where(self.settings >= 0, np.asarray(values, dtype=float)[self.settings], np.nan)

    @property
    def nominal(self) -> tuple[int, int] | None:
        """Column and row of the prior as it was given."""
        column, row = np.isclose(self.x, NOMINAL[self.across]), np.isclose(self.y, NOMINAL[self.up])
        return (int(column.argmax()), int(row.argmax())) if column.any() and row.any() else None


@final
@dataclass(frozen=True)
class Curve:
    """One factor varied alone."""

    factor: str
    x: NDArray[np.float64]
    settings: NDArray[np.int64]


def bands(data: xr.Dataset) -> xr.Dataset:
    """Return `mean`, `low` and `high` (95 % t-interval) and `runs` by candidate, setting and time.

    What the uninformative prior costs is known at every setting once it is at one.
    """
    from scipy.special import stdtrit

    regret = data["regret"]
    runs = regret.notnull().sum("run")
    mean = regret.sum("run") / runs.where(runs > 0)
    more = runs.where(runs > 1)
    half = np.sqrt(((regret - mean) ** 2).sum("run") / (more - 1) / more) * stdtrit(more - 1, 0.975)
    found = data[[]].assign(mean=mean, low=mean - half, high=mean + half)
    return found.where(found["candidate"] != BASELINE, found.fillna(found.max("setting"))).assign(runs=runs)


def ratios(band: xr.Dataset) -> xr.DataArray:
    """Return mean regret over that of the uninformative prior; NaN where either is missing or the latter is zero."""
    flat = band["mean"].sel(candidate=BASELINE, drop=True)
    return band["mean"] / flat.where(flat > 0)


def fixed(data: xr.Dataset) -> list[str]:
    """Return the names of the candidates with the prior as it is that were played."""
    played = data["candidate"].values[data["regret"].notnull().any(("setting", "run", "time")).values].tolist()
    found = [name for name in FIXED if name in played]
    if not found or BASELINE not in played:
        raise ValueError(
            f"a stress test must have played printed or plain, and uninformative, to be shown, but it played "
            f"{', '.join(played) or 'nothing'}. Run `corrbandits stress` anew."
        )
    return found


def pair_grids(data: xr.Dataset) -> list[Grid]:
    """Return the grids of two factors each, where both vary."""
    grids = [_grid(data, across, up) for across, up in PAIRS]
    return [grid for grid in grids if min(grid.settings.shape) > 1]


def curves(data: xr.Dataset) -> list[Curve]:
    """Return each factor's settings with the others nominal, every kind of inaccuracy a factor of its own."""
    kinds = [kind for kind in KINDS if kind in set(data["kind"].values.tolist())]
    found = [_curve(data, factor) for factor in (*kinds, "confidence", "length")]
    return [curve for curve in found if curve.x.size > 1]


def ticks(curve: Curve) -> list[float]:
    """Return those values of a factor whose labels do not run into one another.

    >>> ticks(Curve("noise", np.array([0.0, 0.1, 1.0, 2.0]), np.arange(4)))
    [0.0, 1.0, 2.0]
    """
    places = curve.x if curve.factor in KINDS else np.log(curve.x)
    kept = [0]
    for i in range(1, len(places)):
        if places[i] - places[kept[-1]] >= CLOSEST * (places[-1] - places[0]):
            kept.append(i)
    return [float(x) for x in curve.x[kept]]


def corners(data: xr.Dataset) -> list[int]:
    """Return the places of the settings at which a surviving belief was played."""
    there = data["regret"].sel(candidate=data["candidate"].isin(SURVIVORS))
    return np.flatnonzero(there.notnull().any(("candidate", "run", "time")).values).tolist()


def name_of(data: xr.Dataset, candidate: str) -> str:
    """Return what a candidate is called; a policy whose index is printed in one way only is just the policy."""
    return "the policy" if candidate == "plain" and "printed" not in data["candidate"].values else NAMES[candidate]


def label(data: xr.Dataset, factor: str) -> str:
    """Return the words on the axis of a factor."""
    units = data.attrs.get("units", "")
    return LABELS[factor].format(units=f" ({units})" if units else "")


def words(data: xr.Dataset, setting: int) -> list[str]:
    """Return in words how a setting's prior differs from the one given."""
    kind = str(data["kind"].values[setting])
    values = {kind: "accuracy", "confidence": "confidence", "length": "length"}
    amounts = {factor: float(data[name].values[setting]) for factor, name in values.items()}
    changed = {factor: x for factor, x in amounts.items() if not np.isclose(x, NOMINAL[factor])}
    return [WORDS[factor].format(number(x)) for factor, x in changed.items()] or ["as given"]


def number(x: float, digits: int = 3) -> str:
    """Return a number of a few digits as a person writes it, or a dash where there is none.

    >>> number(0.01), number(-12.345), number(3.1623, 2), number(1234.5), number(float("nan")), number(0.00001)
    ('0.01', '−12.3', '3.2', '1,230', '–', '1e-05')
    """
    if not np.isfinite(x):
        return "–" if np.isnan(x) else "∞"
    rounded = float(f"{x:.{digits}g}")
    size = f"{abs(rounded):,.0f}" if abs(rounded) >= 10**digits else f"{abs(rounded):,g}"
    return f"−{size}" if rounded < 0 else size


def crosses(logs: NDArray[np.float64]) -> bool:
    """Say whether ratios, of which these are the logarithms, lie on both sides of 1, more than rounding away from it.

    >>> crosses(np.array([[-0.5, 0.3, np.nan]])), crosses(np.array([[-0.5, 1e-16]])), crosses(np.array([[np.nan]]))
    (True, False, False)
    """
    there = logs[np.isfinite(logs)]
    return bool((there < -ROUNDING).any() and (there > ROUNDING).any())


def bound(ratio: Sequence[Any]) -> float:
    """Return up to which ratio colours are to tell apart, the same way up and down.

    >>> bound([np.array([[0.25, 1.0], [np.nan, 2.0]])]), bound([np.array([[1.1, 0.0]])]), bound([np.array([1e9])])
    (4.0, 1.5, 1000.0)
    """
    every = np.concatenate([np.ravel(values) for values in ratio])
    every = every[np.isfinite(every) & (every > 0)]
    return float(np.clip(np.exp(np.abs(np.log(every)).max(initial=0.0)), LEAST_BOUND, MOST_BOUND))


def ratio_ticks(most: float) -> list[tuple[float, str]]:
    """Return ratios to write beside the colours, with how they are written.

    >>> [text for _, text in ratio_ticks(5.0)], [text for _, text in ratio_ticks(300.0)]
    (['1/4', '1/2', '1', '2', '4'], ['1/100', '1/10', '1', '10', '100'])
    """
    step = 2 if most < 2 ** (MOST_DOUBLINGS + 1) else 10
    powers = range(1, int(np.log(most * (1 + 1e-12)) / np.log(step)) + 1)
    up = [(float(step**n), f"{step**n:,}") for n in powers]
    down = [(1 / value, f"1/{text}") for value, text in reversed(up)]
    return [*down, (1.0, "1"), *up] if up else [(1 / most, number(1 / most, 2)), (1.0, "1"), (most, number(most, 2))]


def _grid(data: xr.Dataset, across: str, up: str) -> Grid:
    kind = str(data.attrs["default_kind"])
    named = {"accuracy": kind, "confidence": "confidence", "length": "length"}
    (third,) = set(named) - {across, up}
    at = np.flatnonzero((data["kind"].values == kind) & _nominal(data[third].values, named[third]))
    x, columns = np.unique(data[across].values[at], return_inverse=True)
    y, rows = np.unique(data[up].values[at], return_inverse=True)
    settings = np.full((y.size, x.size), -1)
    settings[rows, columns] = at
    wide, high = (settings >= 0).sum(axis=0) > 1, (settings >= 0).sum(axis=1) > 1  # the rest is a curve's alone
    return Grid(named[across], named[up], x[wide], y[high], settings[np.ix_(high, wide)])


def _curve(data: xr.Dataset, factor: str) -> Curve:
    kind = factor if factor in set(data["kind"].values.tolist()) else str(data.attrs["default_kind"])
    values = {kind: data["accuracy"].values, "confidence": data["confidence"].values, "length": data["length"].values}
    others = [_nominal(of, name) for name, of in values.items() if name != factor]
    at = np.flatnonzero(np.all([data["kind"].values == kind, *others], axis=0))
    x = values[factor][at]
    if not _nominal(x, factor).any():  # the prior as given is listed once, under the default kind
        given = [i for i in range(data.sizes["setting"]) if words(data, i) == ["as given"]][:1]
        at, x = np.append(at, given).astype(int), np.append(x, [NOMINAL[factor]] * len(given))
    order = np.argsort(x, kind="stable")
    return Curve(factor, x[order].astype(float), at[order])


def _nominal(values: NDArray[np.float64], factor: str) -> NDArray[np.bool_]:
    return np.asarray(np.isclose(values, NOMINAL[factor]))
