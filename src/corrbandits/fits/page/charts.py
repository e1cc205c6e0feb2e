"""The interactive figures of a comparison's page, as plain data for plotly's script. Nothing here loads plotly."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits._shell.page.charts import AXIS, Chart, layout, numbers
from corrbandits.fits.figures import LEAST, in_view, logarithmic
from corrbandits.fits.outcomes import Outcome
from corrbandits.fits.standings import Standings
from corrbandits.plots import COLOURS

ROW, AROUND = 56, 80  # pixels: the height of a row, and of what is above and below all rows
SYMBOLS = {-1: "triangle-left", 0: "circle", 1: "triangle-right"}
"""Of points that lie farther left than they are drawn, where they lie, or farther right."""


def chart_data(found: Standings) -> Chart:
    """Return every figure the page can show: `models`, and `parameters` by model and parameter."""
    return {
        "models": _models(found),
        "parameters": {
            model: {name: _spread(each, name) for name in each[0].free} for model, each in found.outcomes.items()
        },
    }


def described(one: Outcome, name: str | None = None) -> str:
    """Return in a few lines what was found of a person."""
    which = one.free if name is None else (name,)
    values = (f"{each} {number(one.values[each])} ± {number(one.errors[each], 2)}" for each in which)
    head = f"<b>{escape(one.person)}</b>, {escape(one.model)}"
    return "<br>".join([head, f"explained {one.share_explained:.0%}", *values])


def _models(found: Standings) -> Chart:
    traces = []
    for place, each in enumerate(found.outcomes.values()):
        shares = np.array([one.share_explained for one in each])
        colour = COLOURS[place % len(COLOURS)]
        words = [described(one) for one in each]
        beyond = -(shares < LEAST).astype(np.int64)
        traces.append(_points(np.maximum(shares, LEAST), place + _apart(len(each)), colour, words, beyond))
        middle = max(float(np.median(shares)), LEAST)
        bar = {"type": "scatter", "mode": "lines", "x": [middle] * 2, "y": [place - 0.35, place + 0.35]}
        traces.append({**bar, "line": {"color": "black", "width": 3}, "hoverinfo": "skip"})
    x_axis = {**AXIS, "title": {"text": "share explained"}, "tickformat": ".0%", "gridcolor": "#dddddd"}
    y_axis = {**AXIS, "range": [len(found.rows) - 0.5, -0.5], "tickvals": list(range(len(found.rows)))}
    y_axis |= {"ticktext": [escape(row.model) for row in found.rows], "showgrid": False}
    line = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1}}
    look = {**layout(), "xaxis": x_axis, "yaxis": y_axis, "shapes": [line]}
    return {"traces": traces, "layout": {**look, "height": AROUND + ROW * len(found.rows)}}


def _spread(each: list[Outcome], name: str) -> Chart:
    """Return a point for each person on the axis of one parameter, grey where their fit runs to an end."""
    values, sure, beyond = in_view(each, name)
    colours = [COLOURS[0] if known else "#9a9a9a" for known in sure.tolist()]
    points = _points(values, _apart(len(each)), colours, [described(one, name) for one in each], beyond)
    x_axis = {**AXIS, "type": "log" if logarithmic(name) else "linear", "gridcolor": "#dddddd", "title": {"text": name}}
    y_axis = {**AXIS, "range": [-0.6, 0.6], "showticklabels": False, "ticks": "", "showgrid": False}
    return {"traces": [points], "layout": {**layout(), "xaxis": x_axis, "yaxis": y_axis, "height": 170}}


def _points(x: Array, y: Array, colour: str | list[str], words: list[str], beyond: NDArray[np.int64]) -> Chart:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(y),
        "marker": {"color": colour, "size": 7, "opacity": 0.75, "symbol": [SYMBOLS[side] for side in beyond.tolist()]},
        "hovertext": words,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _apart(people: int) -> Array:
    """Return how far points lie from their line, so that few cover each other."""
    return np.asarray(0.5 * ((np.arange(people) * 0.618034) % 1.0 - 0.5))
