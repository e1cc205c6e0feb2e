"""The interactive figures of a stress test's page, as plain data for plotly's script. Nothing here loads plotly."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._shell import ratios
from corrbandits._shell.numbers import counted, number
from corrbandits._shell.page.charts import AXIS, Chart, layout, numbers
from corrbandits.plots import COLOURS
from corrbandits.stress import panels
from corrbandits.stress.findings import HELPS, HURTS
from corrbandits.stress.names import UNINFORMATIVE, amount, axis_label, changes
from corrbandits.stress.settings import FACTORS, Setting

if TYPE_CHECKING:
    import xarray as xr

    from corrbandits.stress.result import StressTest

LINES = {"printed": (COLOURS[0], "solid"), "plain": (COLOURS[1], "dash"), "uninformative": (COLOURS[5], "dot")}


def chart_data(test: StressTest) -> Chart:
    """Return every figure the page can show: `maps` by candidate, time and name, `curves` by time and name.

    `said` has a sentence for each choice of candidate and time, `layouts` how the figure of each name is laid out,
    and `limit` is the ratio at which colours are darkest.
    """
    data, band = test.data, panels.bands(test)
    grids, curves, names = panels.pair_grids(data), panels.curves(data), panels.fixed_candidates(data)
    times, last = (
        data["time"].values.tolist(),
        band["ratio"].isel(time=-1),
    )  # the horizon's, as in the figures for print
    most = ratios.colour_limit([grid.take(last.sel(candidate=name)) for grid in grids for name in names])
    maps: Chart = {}
    said: Chart = {}
    for name in names:
        at = {str(t): band.sel(candidate=name, time=t) for t in times}
        maps[name] = {t: {grid.name: _map(data, grid, here, most) for grid in grids} for t, here in at.items()}
        said[name] = {t: _said(grids, panels.name_of(data, name), t, here) for t, here in at.items()}
    lines = {str(t): {curve.factor: _curve(data, curve, band.sel(time=t)) for curve in curves} for t in times}
    layouts = {grid.name: _map_layout(data, grid) for grid in grids} | {
        curve.factor: _curve_layout(data, curve) for curve in curves
    }
    return {"maps": maps, "curves": lines, "said": said, "layouts": layouts, "limit": most}


def _map(data: xr.Dataset, grid: panels.Grid, band: xr.Dataset, most: float) -> list[Chart]:
    """Return the traces of a heat map: the cells, and the line around those where the prior hurts."""
    values, limit, settings = grid.take(band["ratio"]), float(np.log(most)), panels.settings(data)
    logs, units = np.log(np.clip(values, 1e-300, None)), str(data.attrs.get("units", ""))
    cells = {
        "type": "heatmap",
        "z": numbers(logs),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": [[i / (len(ratios.COLOURS) - 1), colour] for i, colour in enumerate(ratios.COLOURS)],
        "showscale": False,
        "text": [[ratios.ratio_text(value) for value in row] for row in values],
        "texttemplate": "%{text}",
        "hovertext": [
            [_hover(settings[i], band.isel(setting=i), units) if i >= 0 else "not played" for i in row]
            for row in grid.settings.tolist()
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
    }
    ends: list[Any] = [point for edge in panels.borders(values) for point in (*edge, (None, None))]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in ends],
        "y": [y for _, y in ends],
        "line": {"color": "black", "width": 2},
        "hoverinfo": "skip",
    }
    return [cells, line]


def _hover(setting: Setting, band: xr.Dataset, units: str) -> str:
    """Return what a cell says: the setting, the regret with its band, and the verdict."""
    if not band["verdict"].item():
        return "not played"
    mean, low, high = (number(band[part].item(), 4) for part in ("mean", "low", "high"))
    lines = [
        f"<b>{', '.join(changes(setting))}</b>",
        f"regret {mean} {escape(units)} ({low} to {high})",
        f"{number(band['ratio'].item(), 4)} times the uninformative prior's: it {band['verdict'].item()}",
    ]
    return "<br>".join(lines)


def _map_layout(data: xr.Dataset, grid: panels.Grid) -> Chart:
    sides = {"xaxis": (grid.across, grid.x, 3), "yaxis": (grid.up, grid.y, 2)}
    axes = {
        side: {
            **AXIS,
            "title": {"text": escape(axis_label(factor, data.attrs))},
            "tickvals": list(range(len(values))),
            "ticktext": [amount(value, digits) for value in values],
            "range": [-0.5, len(values) - 0.5],
            "showgrid": False,
        }
        for side, (factor, values, digits) in sides.items()
    }
    return {**layout(), **axes, "plot_bgcolor": "#d9d9d9", "height": 340, "shapes": _given(grid)}


def _given(grid: panels.Grid) -> list[Chart]:
    """Return a dotted frame around the prior as it was given."""
    if grid.nominal is None:
        return []
    x, y = grid.nominal
    corners = {"x0": x - 0.46, "x1": x + 0.46, "y0": y - 0.46, "y1": y + 0.46}
    return [{"type": "rect", **corners, "line": {"color": "black", "width": 1.5, "dash": "dot"}}]


def _curve(data: xr.Dataset, curve: panels.Curve, band: xr.Dataset) -> list[Chart]:
    """Return the traces of one factor: for every candidate the edges of its band, filled between, and its mean."""
    traces: list[Chart] = []
    for name in (*panels.fixed_candidates(data), UNINFORMATIVE):
        here = band.sel(candidate=name).isel(setting=curve.settings)
        colour, dash = LINES[name]
        line = {"type": "scatter", "x": curve.places.tolist()}
        edge = {**line, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        fill = {"fill": "tonexty", "fillcolor": f"{colour}40"}
        traces += [{**edge, "y": numbers(here["high"])}, {**edge, "y": numbers(here["low"]), **fill}]
        mean, low, high = ([number(v, 4) for v in here[part].values] for part in ("mean", "low", "high"))
        text = [f"{panels.name_of(data, name)}: {m} ({a} to {b})" for m, a, b in zip(mean, low, high, strict=True)]
        style = {"mode": "lines+markers", "line": {"color": colour, "dash": dash, "width": 2}, "marker": {"size": 6}}
        shown = {"hovertext": text, "hovertemplate": "%{hovertext}<extra></extra>"}
        traces.append({**line, "y": numbers(here["mean"]), **style, **shown})
    return traces


def _curve_layout(data: xr.Dataset, curve: panels.Curve) -> Chart:
    units = str(data.attrs.get("units", ""))
    log, shown = {"type": "log"} if curve.factor in FACTORS else {}, panels.ticks(curve)
    ticks = {"tickvals": curve.places[shown].tolist(), "ticktext": [amount(x, 3) for x in curve.x[shown]]}
    x = {
        **AXIS,
        "title": {"text": escape(axis_label(curve.factor, data.attrs))},
        **ticks,
        **log,
        "gridcolor": "#eeeeee",
    }
    y = {**AXIS, "title": {"text": escape(f"mean regret ({units})" if units else "mean regret")}, "rangemode": "tozero"}
    y |= {"gridcolor": "#dddddd", "separatethousands": True, "exponentformat": "none"}
    return {**layout(), "xaxis": x, "yaxis": y, "height": 300, "hovermode": "closest"}


def _said(grids: list[panels.Grid], name: str, time: str, band: xr.Dataset) -> str:
    """Return in a sentence what the maps of one choice show."""
    settings = np.unique(np.concatenate([grid.settings.ravel() for grid in grids] or [np.zeros(0, dtype=int)]))
    here = band.isel(setting=settings[settings >= 0])
    verdicts, found = here["verdict"].values.tolist(), here["ratio"].values[np.isfinite(here["ratio"].values)]
    begin = f"{name.capitalize()}, after {counted(int(time), 'decision')}"
    if not found.size:
        return f"{begin}: nothing to compare."
    counts = " and ".join(f"{what} at {verdicts.count(what)}" for what in (HELPS, HURTS))
    return (
        f"{begin}: it {counts} of {counted(sum(map(bool, verdicts)), 'setting')}; its regret is "
        f"{ratios.ratio_text(found.min())} to {ratios.ratio_text(found.max())} times that of the uninformative prior."
    )
