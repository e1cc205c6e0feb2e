"""The interactive figures of a stress test's page, as plain data for plotly's script. Nothing here loads plotly."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits.plots import COLOURS
from corrbandits.stress import panels

if TYPE_CHECKING:
    import xarray as xr

Chart = dict[str, Any]

LINES = {"printed": (COLOURS[0], "solid"), "plain": (COLOURS[1], "dash"), "uninformative": (COLOURS[5], "dot")}
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#1a1a1a"}
AXIS: Chart = {"fixedrange": True, "zeroline": False, "automargin": True, "ticks": "outside", "ticklen": 4}


def charts(data: xr.Dataset) -> Chart:
    """Return every figure the page can show: `maps` by candidate, time and name, `curves` by time and name.

    `said` has a sentence for each choice of candidate and time, `layouts` how the figure of each name is laid out,
    and `bound` up to which ratio the colours tell apart.
    """
    band, grids, curves, names = panels.bands(data), panels.pair_grids(data), panels.curves(data), panels.fixed(data)
    ratio, times = panels.ratios(band), data["time"].values.tolist()
    last = ratio.isel(time=-1)  # as in the figures for print
    most = panels.bound([grid.take(last.sel(candidate=name)) for grid in grids for name in names])
    maps: Chart = {}
    said: Chart = {}
    for name in names:
        at = {str(t): (band.sel(candidate=name, time=t), ratio.sel(candidate=name, time=t)) for t in times}
        maps[name] = {t: {key(grid): _map(data, grid, *here, most) for grid in grids} for t, here in at.items()}
        said[name] = {t: _said(grids, panels.name_of(data, name), t, here[1]) for t, here in at.items()}
    lines = {str(t): {curve.factor: _curve(data, curve, band.sel(time=t)) for curve in curves} for t in times}
    layouts = {key(grid): _map_layout(data, grid) for grid in grids} | {
        curve.factor: _curve_layout(data, curve) for curve in curves
    }
    return {"maps": maps, "curves": lines, "said": said, "layouts": layouts, "bound": most}


def key(grid: panels.Grid) -> str:
    """Return a grid's name on the page."""
    return f"{grid.across}-{grid.up}"


def _map(data: xr.Dataset, grid: panels.Grid, band: xr.Dataset, ratio: xr.DataArray, most: float) -> list[Chart]:
    """Return the traces of a heat map: the cells, the line of ratio 1, and the prior as given."""
    values, limit = grid.take(ratio), float(np.log(most))
    logs = np.log(np.clip(values, 1e-300, None))
    cells = {
        "type": "heatmap",
        "z": _numbers(logs),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": [[i / (len(panels.COLOURS) - 1), colour] for i, colour in enumerate(panels.COLOURS)],
        "showscale": False,
        "text": [[panels.number(value, 2) for value in row] for row in values],
        "texttemplate": "%{text}",
        "hovertext": [[_hover(data, i, band, ratio) for i in row] for row in grid.settings.tolist()],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
    }
    line = {
        "type": "contour",
        "z": _numbers(np.clip(logs, -limit, limit)),
        "autocontour": False,
        "contours": {"coloring": "none", "start": 0, "end": 0, "size": 1},
        "line": {"color": "black", "width": 2, "smoothing": 0},
        "showscale": False,
        "hoverinfo": "skip",
    }
    return [cells, line] if panels.crosses(logs) else [cells]


def _hover(data: xr.Dataset, setting: int, band: xr.Dataset, ratio: xr.DataArray) -> str:
    """Return what a cell says: the setting, the regret with its band, and how it compares."""
    if setting < 0 or not np.isfinite(band["mean"].values[setting]):
        return "not played"
    mean, low, high = (panels.number(float(band[name].values[setting]), 4) for name in ("mean", "low", "high"))
    times = float(ratio.values[setting])
    verdict = "makes no difference" if np.isclose(times, 1) else "helps" if times < 1 else "hurts"
    units = escape(str(data.attrs.get("units", "")))
    lines = [
        f"<b>{', '.join(panels.words(data, setting))}</b>",
        f"regret {mean} {units} ({low} to {high})",
        f"{panels.number(times)} times the uninformative prior's: it {verdict}",
    ]
    return "<br>".join(lines)


def _map_layout(data: xr.Dataset, grid: panels.Grid) -> Chart:
    sides = {"xaxis": (grid.across, grid.x, 3), "yaxis": (grid.up, grid.y, 2)}
    axes = {
        side: {
            **AXIS,
            "title": {"text": escape(panels.label(data, factor))},
            "tickvals": list(range(len(values))),
            "ticktext": [panels.number(value, digits) for value in values],
            "showgrid": False,
        }
        for side, (factor, values, digits) in sides.items()
    }
    return {**_layout(), **axes, "plot_bgcolor": "#d9d9d9", "height": 340, "shapes": _given(grid)}


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
    for name in (*panels.fixed(data), panels.BASELINE):
        here = band.sel(candidate=name).isel(setting=curve.settings)
        colour, dash = LINES[name]
        edge = {"type": "scatter", "mode": "lines", "x": curve.x.tolist(), "line": {"width": 0}, "hoverinfo": "skip"}
        fill = {"fill": "tonexty", "fillcolor": f"{colour}40"}
        traces += [{**edge, "y": _numbers(here["high"])}, {**edge, "y": _numbers(here["low"]), **fill}]
        mean, low, high = ([panels.number(v, 4) for v in here[part].values] for part in ("mean", "low", "high"))
        text = [f"{panels.name_of(data, name)}: {m} ({a} to {b})" for m, a, b in zip(mean, low, high, strict=True)]
        style = {"mode": "lines+markers", "line": {"color": colour, "dash": dash, "width": 2}, "marker": {"size": 6}}
        shown = {"hovertext": text, "hovertemplate": "%{hovertext}<extra></extra>"}
        traces.append({"type": "scatter", "x": curve.x.tolist(), "y": _numbers(here["mean"]), **style, **shown})
    return traces


def _curve_layout(data: xr.Dataset, curve: panels.Curve) -> Chart:
    units = str(data.attrs.get("units", ""))
    log = {} if curve.factor in panels.KINDS else {"type": "log"}
    ticks = {"tickvals": panels.ticks(curve), "ticktext": [panels.number(x, 3) for x in panels.ticks(curve)]}
    x = {**AXIS, "title": {"text": escape(panels.label(data, curve.factor))}, **ticks, **log, "gridcolor": "#eeeeee"}
    y = {**AXIS, "title": {"text": escape(f"mean regret ({units})" if units else "mean regret")}, "rangemode": "tozero"}
    y |= {"gridcolor": "#dddddd", "separatethousands": True, "exponentformat": "none"}
    return {**_layout(), "xaxis": x, "yaxis": y, "height": 300, "hovermode": "closest"}


def _layout() -> Chart:
    return {
        "font": FONT,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "showlegend": False,
        "dragmode": False,
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "hoverlabel": {"bgcolor": "white", "font": {"color": "#1a1a1a"}, "align": "left"},
    }


def _said(grids: list[panels.Grid], name: str, time: str, ratio: xr.DataArray) -> str:
    """Return in a sentence what the maps of one choice show."""
    settings = np.unique(np.concatenate([grid.settings.ravel() for grid in grids] or [np.zeros(0, dtype=int)]))
    values = ratio.values[settings[settings >= 0]]
    values = values[np.isfinite(values)]
    if not values.size:
        return f"{name.capitalize()}, after {int(time):,} decisions: nothing to compare."
    return (
        f"{name.capitalize()}, after {int(time):,} decisions: it helps at {(values < 1 - panels.ROUNDING).sum()} of "
        f"{values.size} settings; its regret is {panels.number(values.min(), 2)} to {panels.number(values.max(), 2)} "
        "times that of the uninformative prior."
    )


def _numbers(values: Any) -> Any:
    """Return numbers as lists, None where there is none: JSON knows no NaN.

    >>> _numbers([[1.0, np.nan]])
    [[1.0, None]]
    """
    if np.ndim(values):
        return [_numbers(value) for value in np.asarray(values)]
    return float(values) if np.isfinite(values) else None
