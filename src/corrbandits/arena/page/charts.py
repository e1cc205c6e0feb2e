"""The interactive figures of a report's page, as plain data for plotly's script. Nothing here loads plotly."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from corrbandits._shell import ratios
from corrbandits._shell.numbers import counted, number
from corrbandits._shell.page.charts import AXIS, Chart, layout, numbers
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, WRONG
from corrbandits.arena.figures import LOOKS, OFFSETS, TICKS, UNTIL, group_of, heat_map, name_of, rules
from corrbandits.arena.standings import Standing

TOLD = {"nothing": (NOTHING,), "everything": (EVERYTHING,), "wrongly": tuple(WRONG)}
"""The groups of contestants that one can choose, and what they were told."""

ROW, AROUND = 30, 110  # pixels: the height of a row, and of what is above and below all rows


def chart_data(rows: Sequence[Standing]) -> Chart:
    """Return every figure the page can show: `leaderboard` by horizon, `families` by what was told and horizon."""
    horizons = sorted({row.horizon for row in rows})
    return {
        "leaderboard": {str(t): _leaderboard([row for row in rows if row.horizon == t], t) for t in horizons},
        "families": {
            group: {str(t): _families([row for row in rows if row.horizon == t], t, told) for t in horizons}
            for group, told in TOLD.items()
        },
    }


def described(row: Standing) -> str:
    """Return in a few lines what a family, or all of them, say of a contestant."""
    lines = [
        f"<b>{escape(name_of(row.contestant))}</b>",
        f"{escape(row.family)}, {counted(row.games, 'game')}",
        f"ratio {with_interval(row.ratio, row.ratio_low, row.ratio_high)}",
        f"regret {with_interval(row.regret, row.regret_low, row.regret_high)} deviations",
        f"simple regret {with_interval(row.simple, row.simple_low, row.simple_high)}",
    ]
    return "<br>".join(lines if row.contestant == DEFAULT else [*lines, f"than the default: {compared(row)}"])


def with_interval(value: float, low: float, high: float) -> str:
    """Return a number with its interval, if there is one.

    >>> with_interval(1.234, 1.1, 1.4), with_interval(1.234, float("nan"), float("nan"))
    ('1.23 (1.1 to 1.4)', '1.23')
    """
    return number(value) if np.isnan(low) else f"{number(value)} ({number(low)} to {number(high)})"


def compared(row: Standing) -> str:
    """Return by how much more or less a contestant lost than the default, in percent, and how sure that is."""
    if np.isnan(row.difference):
        return number(np.nan)
    low, high = max(row.difference_low, -1.0), row.difference_high  # nobody loses less than nothing
    interval = "" if np.isnan(high) else f" ({_percent(low)} to {_percent(high)})"
    p = "" if np.isnan(row.p) else f", p {'< 0.001' if row.p < 1e-3 else f'= {row.p:.3f}'}"
    return f"{_percent(row.difference)} %{interval}{p}"


def _percent(share: float) -> str:
    return f"{100 * share:+,.0f}"


def _leaderboard(rows: Sequence[Standing], horizon: int) -> Chart:
    group = group_of(rows)
    names = rules(rows, horizon, group)
    traces = []
    for told, (colour, _) in LOOKS.items():
        here = [row for row in rows if (row.family, row.told) == (group, told)]
        x, low, high = (np.array([getattr(row, part) for row in here]) for part in _PARTS)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": numbers(np.minimum(x, UNTIL)),
                "y": [names.index(row.rule) + OFFSETS[told] for row in here],
                "error_x": {"array": _reach(high - x), "arrayminus": _reach(x - low), "thickness": 1.5, "width": 0},
                "marker": {"color": colour, "size": 9, "symbol": "circle" if told == NOTHING else "square"},
                "hovertext": [described(row) for row in here],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )
    x_axis = {**AXIS, "type": "log", "range": [np.log10(0.6), np.log10(1.05 * UNTIL)], "gridcolor": "#dddddd"}
    x_axis |= {"tickvals": TICKS, "ticktext": [number(t) for t in TICKS], "title": {"text": "ratio"}}
    y_axis = {**AXIS, "range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names)))}
    y_axis |= {"ticktext": [escape(name) for name in names], "gridcolor": "#eeeeee"}
    line = {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1}}
    height = AROUND + ROW * len(names)
    return {
        "traces": traces,
        "layout": {**layout(), "xaxis": x_axis, "yaxis": y_axis, "height": height, "shapes": [line]},
    }


_PARTS = ("ratio", "ratio_low", "ratio_high")


def _reach(values: np.ndarray) -> list[float]:
    return [float(value) if np.isfinite(value) else 0.0 for value in values]


def _families(rows: Sequence[Standing], horizon: int, told: Sequence[str]) -> Chart:
    who, names, values = heat_map(rows, horizon, told)
    found = {(row.contestant, row.family): row for row in rows}
    clipped = np.clip(values, 1 / UNTIL, UNTIL)
    limit = float(np.log(ratios.colour_limit([clipped])))
    cells = {
        "type": "heatmap",
        "x": [escape(name) for name in names],
        "y": [escape(one.rule if one.told in LOOKS else name_of(one)) for one in who],
        "z": numbers(np.log(clipped)),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": [[i / (len(ratios.COLOURS) - 1), colour] for i, colour in enumerate(ratios.COLOURS)],
        "showscale": False,
        "text": [[number(value, 2) if np.isfinite(value) else "" for value in row] for row in values],
        "texttemplate": "%{text}",
        "hovertext": [
            [described(found[one, name]) if (one, name) in found else "not played" for name in names] for one in who
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
    }
    x_axis = {**AXIS, "tickangle": -40}
    y_axis = {**AXIS, "autorange": "reversed"}
    height = AROUND + 60 + ROW * len(who)
    return {"traces": [cells], "layout": {**layout(), "xaxis": x_axis, "yaxis": y_axis, "height": height}}
