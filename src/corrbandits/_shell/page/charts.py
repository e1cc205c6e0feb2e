"""What the figures of all pages share, as plain data for plotly's script. Nothing here loads plotly."""

from __future__ import annotations

from typing import Any

import numpy as np

Chart = dict[str, Any]

FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#1a1a1a"}
AXIS: Chart = {"fixedrange": True, "zeroline": False, "automargin": True, "ticks": "outside", "ticklen": 4}


def layout() -> Chart:
    """Return how a figure is laid out, but for its axes."""
    return {
        "font": FONT,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "showlegend": False,
        "dragmode": False,
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "hoverlabel": {"bgcolor": "white", "font": {"color": "#1a1a1a"}, "align": "left"},
    }


def numbers(values: Any) -> Any:
    """Return numbers as lists, None where there is none: JSON knows no NaN.

    >>> numbers([[1.0, np.nan]])
    [[1.0, None]]
    """
    if np.ndim(values):
        return [numbers(value) for value in np.asarray(values)]
    return float(values) if np.isfinite(values) else None
