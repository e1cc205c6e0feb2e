"""What the figures and the page of a stress test show: its bands, pair grids, curves and corners.

| name      | meaning                                                                                               |
|-----------|-------------------------------------------------------------------------------------------------------|
| setting   | one prior among those tried: a kind and amount of inaccuracy, factors on the variance and the length  |
| nominal   | the value of a factor that leaves the prior as it was given                                           |
| ratio     | mean regret with the prior over that of the uninformative prior                                       |
| verdict   | whether the prior helps, hurts or makes no difference there, as `findings` has it                     |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits.stress.findings import TIE, verdict
from corrbandits.stress.names import FIXED, HELD, NOMINAL, SURVIVORS, UNINFORMATIVE, candidate_name, changes
from corrbandits.stress.settings import FACTORS, KINDS, Setting

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    from corrbandits.stress.result import StressTest

PAIRS = (("accuracy", "confidence"), ("accuracy", "length"), ("confidence", "length"))
CLOSEST = 0.13  # of an axis, between two labels


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
    def name(self) -> str:
        """The name of the grid among the figures of a page."""
        return f"{self.across}-{self.up}"

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

    @property
    def places(self) -> NDArray[np.float64]:
        """Where its values stand on an axis: themselves; an infinite one, a step beyond the others.

        >>> Curve("drift", np.array([1.0, 10.0, np.inf]), np.arange(3)).places.tolist()
        [1.0, 10.0, 100.0]
        """
        finite = self.x[np.isfinite(self.x)]
        if finite.size == self.x.size:
            return self.x
        step = finite[-1] / finite[-2] if finite.size > 1 else 10.0
        return np.append(finite, finite[-1] * step)


def bands(test: StressTest) -> xr.Dataset:
    """Return mean, low, high, ratio and verdict by candidate, setting and time, out of the rows of the CSV.

    The verdict is empty where there is nothing to compare. What the uninformative prior costs is known at every setting
    if it is known at one.
    """
    import xarray as xr

    data, shape = test.data, test.data["regret"].isel(run=0, drop=True)
    names, times, places = data["candidate"].values.tolist(), data["time"].values.tolist(), settings(data)
    found = {part: np.full(shape.shape, np.nan) for part in ("mean", "low", "high")}
    for row in test.rows:
        if row.candidate != HELD:
            at = names.index(row.candidate), places.index(Setting(*row[1:5])), times.index(row.time)
            for part, values in found.items():
                values[at] = getattr(row, part)
    flat = names.index(UNINFORMATIVE)
    for values in found.values():
        values[flat] = np.where(np.isnan(values[flat]), np.fmax.reduce(values[flat]), values[flat])
    mean, level = found["mean"], found["mean"][flat]
    found["ratio"] = mean / np.where(level > 0, level, np.nan)
    found["verdict"] = np.vectorize(_verdict, otypes=[object])(mean, level)
    return xr.Dataset({part: shape.copy(data=values) for part, values in found.items()})


def settings(data: xr.Dataset) -> list[Setting]:
    """Return the settings of a test in order."""
    columns = (data[field].values.tolist() for field in Setting._fields)
    return [Setting(*values) for values in zip(*columns, strict=True)]


def fixed_candidates(data: xr.Dataset) -> list[str]:
    """Return the candidates that hold the prior fixed and were played."""
    played = data["candidate"].values[data["regret"].notnull().any(("setting", "run", "time")).values].tolist()
    found = [name for name in FIXED if name in played]
    if not found or UNINFORMATIVE not in played:
        raise ValueError(
            f"a stress test must have played printed or plain, and uninformative, to be shown, but it played "
            f"{', '.join(played) or 'nothing'}. Run `corrbandits stress` again."
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


def ticks(curve: Curve) -> list[int]:
    """Return which values of a factor have labels that do not run into one another.

    >>> ticks(Curve("noise", np.array([0.0, 0.1, 1.0, 2.0]), np.arange(4)))
    [0, 2, 3]
    """
    places = np.log(curve.places) if curve.factor in FACTORS else curve.x
    kept = [0]
    for i in range(1, len(places)):
        if places[i] - places[kept[-1]] >= CLOSEST * (places[-1] - places[0]):
            kept.append(i)
    return kept


def corners(data: xr.Dataset) -> list[int]:
    """Return the places of the settings at which a surviving belief was played."""
    there = data["regret"].sel(candidate=data["candidate"].isin(SURVIVORS))
    return np.flatnonzero(there.notnull().any(("candidate", "run", "time")).values).tolist()


def name_of(data: xr.Dataset, candidate: str) -> str:
    """Return the name of a candidate of this test."""
    return candidate_name(candidate, data["candidate"].values.tolist())


def borders(ratio: NDArray[np.float64]) -> list[list[tuple[float, float]]]:
    """Return the edges between cells where the prior hurts and cells where it does not, as pairs of points (x, y).

    A cell is as wide and as high as 1, and its middle is at its column and row; edges leave the numbers there alone.

    >>> borders(np.array([[0.5, 1.01, 2.0]])), borders(np.array([[0.5], [np.nan], [2.0], [0.9]]))
    ([[(1.5, -0.5), (1.5, 0.5)]], [[(-0.5, 2.5), (0.5, 2.5)]])
    """
    hurts, there = ratio * (1 - TIE) > 1, np.isfinite(ratio)
    beside = np.argwhere((hurts[:, 1:] != hurts[:, :-1]) & there[:, 1:] & there[:, :-1]).tolist()
    above = np.argwhere((hurts[1:] != hurts[:-1]) & there[1:] & there[:-1]).tolist()
    upright = [[(column + 0.5, row - 0.5), (column + 0.5, row + 0.5)] for row, column in beside]
    return upright + [[(column - 0.5, row + 0.5), (column + 0.5, row + 0.5)] for row, column in above]


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
        given = [i for i, setting in enumerate(settings(data)) if changes(setting) == ["as given"]][:1]
        at, x = np.append(at, given).astype(int), np.append(x, [NOMINAL[factor]] * len(given))
    order = np.argsort(x, kind="stable")
    return Curve(factor, x[order].astype(float), at[order])


def _nominal(values: NDArray[np.float64], factor: str) -> NDArray[np.bool_]:
    return np.asarray(np.isclose(values, NOMINAL[factor]))


def _verdict(mean: float, level: float) -> str:
    return verdict(mean, level) if np.isfinite(mean) and np.isfinite(level) else ""
