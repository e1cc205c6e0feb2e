"""Figures of a stress test: where a prior helps and where it hurts, by two factors and by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._shell import ratios
from corrbandits._shell.numbers import counted, number
from corrbandits.plots import COLOURS, DASHES, literal
from corrbandits.stress import panels
from corrbandits.stress.findings import HELPS, HURTS
from corrbandits.stress.names import FIXED, NOMINAL, SURVIVORS, UNINFORMATIVE, amount, axis_label, changes
from corrbandits.stress.settings import FACTORS

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from corrbandits.stress.result import StressTest

FONT: Any = {"font.size": 9, "axes.titlesize": 9, "axes.labelsize": 8.5, "xtick.labelsize": 7, "ytick.labelsize": 7.5}
LOOKS: dict[str, dict[str, Any]] = {
    "printed": {"color": COLOURS[0], "linestyle": DASHES[0], "marker": "o"},
    "plain": {"color": COLOURS[1], "linestyle": DASHES[1], "marker": "s"},
    "elimination": {"color": COLOURS[2], "linestyle": DASHES[2], "marker": "^"},
    "refitting": {"color": COLOURS[3], "linestyle": DASHES[3], "marker": "D"},
    "uninformative": {"color": COLOURS[5], "linestyle": DASHES[5], "marker": ""},
}
LEAST_WIDTH = 6.5  # inches, for the words above and below the panels
MOST_NUMBERED = 7  # columns: a number in a narrower cell could not be read
LOG_FROM = 8.0  # times the least regret that the greatest must be for a logarithmic axis


def grids(test: StressTest) -> Figure:
    """Return heat maps of regret at the horizon over that of the uninformative prior, a row per candidate."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    data, shown, candidates = test.data, panels.pair_grids(test.data), panels.fixed_candidates(test.data)
    if not shown:
        raise ValueError("heat maps need two factors that vary, each over two values or more; add values to [stress].")
    ratio = panels.bands(test)["ratio"].isel(time=-1)
    cells = [[grid.take(ratio.sel(candidate=name)) for grid in shown] for name in candidates]
    most = ratios.colour_limit([values for row in cells for values in row])
    with mpl.rc_context(FONT):
        figure = Figure(
            figsize=(max(LEAST_WIDTH, 2.35 * len(shown)), 2.1 * len(candidates) + 1.1), layout="constrained"
        )
        axes = figure.subplots(len(candidates), len(shown), squeeze=False)
        for row, name, of_row in zip(axes, candidates, cells, strict=True):
            for ax, grid, values in zip(row, shown, of_row, strict=True):
                _draw_grid(ax, grid, values, most)
                ax.set_ylabel(literal(axis_label(grid.up, data.attrs)))
            row[0].set_title(panels.name_of(data, name), loc="left", fontweight="bold")
        for ax, grid in zip(axes[-1], shown, strict=True):
            ax.set_xlabel(literal(axis_label(grid.across, data.attrs)))
        _key(figure)
        _colour_bar(figure, axes, most, int(data["time"].values[-1]))
    return figure


def curves(test: StressTest) -> Figure:
    """Return regret at the horizon against each factor alone, and at the corners beside the beliefs that survive."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    data, shown, corners = test.data, panels.curves(test.data), panels.corners(test.data)
    band = panels.bands(test).isel(time=-1)
    rows, columns = -(-len(shown) // 3), min(len(shown), 3)
    with mpl.rc_context(FONT):
        height = 2.0 * rows + (2.3 if corners else 0.0) + 0.5
        figure = Figure(figsize=(max(LEAST_WIDTH, 2.35 * columns), height), layout="constrained")
        places = figure.add_gridspec(rows + bool(corners), columns)
        axes: list[Axes] = []
        for i, curve in enumerate(shown):
            axes.append(figure.add_subplot(places[divmod(i, 3)], sharey=axes[0] if axes else None))
            _draw_curve(axes[-1], data, curve, band)
            axes[-1].set_xlabel(literal(axis_label(curve.factor, data.attrs)))
        if corners:
            axes.append(figure.add_subplot(places[rows, :], sharey=axes[0]))
            _draw_corners(axes[-1], data, band, corners)
        for i, ax in enumerate(axes):
            _finish(ax, band, labelled=i % 3 == 0 or i == len(shown), units=str(data.attrs.get("units", "")))
        _legend(figure, axes)
    return figure


def _draw_grid(ax: Axes, grid: panels.Grid, values: NDArray[np.float64], most: float) -> None:
    """Draw cells coloured by the logarithm of the ratio, a line around those that hurt, and the prior as given."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    with np.errstate(divide="ignore"):
        logs = np.log(np.clip(values, 1e-300, None))
    limit = np.log(most)
    ax.set_facecolor("#d9d9d9")  # what was not played
    ax.imshow(np.ma.masked_invalid(logs), cmap=_colours(), vmin=-limit, vmax=limit, origin="lower", aspect="auto")
    ax.add_collection(LineCollection(panels.borders(values), colors="black", linewidths=1.6, capstyle="projecting"))
    if values.shape[1] <= MOST_NUMBERED:
        for (row, column), value in np.ndenumerate(values):
            _write_number(ax, column, row, ratios.ratio_text(value))
    if grid.nominal is not None:
        column, row = grid.nominal
        ax.add_patch(Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, **_GIVEN))
    step = -(-grid.x.size // MOST_NUMBERED)
    ax.set_xticks(range(0, grid.x.size, step), [amount(x, 3) for x in grid.x[::step]])
    ax.set_yticks(range(grid.y.size), [number(y, 2) for y in grid.y])
    ax.tick_params(length=2)


def _write_number(ax: Axes, column: int, row: int, text: str) -> None:
    """Write a number into its cell, above all else and with a white rim, readable on every colour and line."""
    from matplotlib.patheffects import withStroke

    rim = [withStroke(linewidth=1.6, foreground="white")]
    ax.text(column, row, text, ha="center", va="center", fontsize=6.5, color="#111111", path_effects=rim, zorder=5)


_GIVEN: dict[str, Any] = {"edgecolor": "black", "linewidth": 1.1, "linestyle": (0, (1.5, 1))}


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("helps to hurts", list(ratios.COLOURS))


def _colour_bar(figure: Figure, axes: Any, most: float, horizon: int) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    limit = np.log(most)
    scale = ScalarMappable(Normalize(-limit, limit), _colours())
    bar = figure.colorbar(scale, ax=axes, orientation="horizontal", fraction=0.04, aspect=50, pad=0.02)
    ticks = ratios.ratio_ticks(most)
    bar.set_ticks([np.log(value) for value, _ in ticks], labels=[text for _, text in ticks])
    bar.ax.minorticks_off()
    middle = f"regret after {counted(horizon, 'decision')} ÷ that of the uninformative prior"
    bar.set_label(f"← prior {HELPS}      {middle}      prior {HURTS} →")


def _key(figure: Figure) -> None:
    """Say above the panels what their line and frame mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks = [Line2D([], [], color="black", linewidth=1.6), Patch(fill=False, **_GIVEN)]
    words = ["on its orange side the prior hurts", "the prior as given"]
    figure.legend(marks, words, loc="outside upper right", ncols=2, frameon=False, fontsize=8)


def _draw_curve(ax: Axes, data: xr.Dataset, curve: panels.Curve, band: xr.Dataset) -> None:
    """Draw every candidate's mean regret against one factor, with its band."""
    here = band.isel(setting=curve.settings)
    for name in (*panels.fixed_candidates(data), UNINFORMATIVE):
        look, of_name = LOOKS[name], here.sel(candidate=name)
        ax.plot(curve.places, of_name["mean"], linewidth=1.5, markersize=3, label=panels.name_of(data, name), **look)
        ax.fill_between(curve.places, of_name["low"], of_name["high"], color=look["color"], alpha=0.25, linewidth=0)
    ax.axvline(NOMINAL[curve.factor], color="#999999", linewidth=0.7, zorder=0)
    if curve.factor in FACTORS:
        ax.set_xscale("log")
    shown = panels.ticks(curve)
    ax.set_xticks(curve.places[shown], [amount(x, 2 if curve.factor in FACTORS else 3) for x in curve.x[shown]])
    ax.set_xticks([], minor=True)


def _draw_corners(ax: Axes, data: xr.Dataset, band: xr.Dataset, corners: list[int]) -> None:
    """Draw points with intervals, side by side at every corner: what each belief costs there."""
    settings = panels.settings(data)
    names = [name for name in (*FIXED, *SURVIVORS) if name in data["candidate"].values]
    for i, name in enumerate(names):
        of_name = band.sel(candidate=name).isel(setting=corners)
        places = np.arange(len(corners)) + 0.13 * (i - (len(names) - 1) / 2)
        around = np.stack([of_name["mean"] - of_name["low"], of_name["high"] - of_name["mean"]])
        look = {"color": LOOKS[name]["color"], "marker": LOOKS[name]["marker"]}
        ax.errorbar(
            places, of_name["mean"], around, linestyle="none", markersize=5, label=panels.name_of(data, name), **look
        )
    level, ends = band.sel(candidate=UNINFORMATIVE).isel(setting=[corners[0]] * 2), (-0.5, len(corners) - 0.5)
    ax.plot(ends, level["mean"], linewidth=1.5, **LOOKS[UNINFORMATIVE])
    ax.fill_between(ends, level["low"], level["high"], color=LOOKS[UNINFORMATIVE]["color"], alpha=0.25, linewidth=0)
    for edge in range(1, len(corners)):
        ax.axvline(edge - 0.5, color="#cccccc", linewidth=0.7)
    ax.set_xticks(range(len(corners)), ["\n".join(changes(settings[corner])) for corner in corners])
    ax.set_xlim(*ends)
    ax.tick_params(axis="x", length=0)
    ax.set_title("at the corners", loc="left", fontweight="bold")


def _finish(ax: Axes, band: xr.Dataset, *, labelled: bool, units: str) -> None:
    """Give every panel the same kind of vertical axis: logarithmic where regrets are far apart."""
    from matplotlib.ticker import LogLocator, NullFormatter

    means = band["mean"].values[np.isfinite(band["mean"].values)]
    if means.min() > 0 and means.max() > LOG_FROM * means.min():
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.set_ylim(0, None)
    ax.yaxis.set_major_formatter(lambda y, _: number(y))
    ax.spines[["top", "right"]].set_visible(False)
    if labelled:
        ax.set_ylabel(literal(f"mean regret ({units})") if units else "mean regret")
    else:
        ax.tick_params(labelleft=False)


def _legend(figure: Figure, axes: list[Axes]) -> None:
    """Name every candidate once, above the panels."""
    shown = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in reversed(axes)]
    entries = {text: mark for panel in shown for mark, text in panel}  # a curve's mark in place of a corner's
    figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=5, frameon=False, fontsize=8)
