"""Pictures as SVG, small enough to stand in a notebook: a field, a line of arms, curves over time.

    x, y      (N,)   where arms lie, to the right and up
    values    (N,)   what colours show; NaN where nothing is known

What is written takes the colour of the text around it, so that it can be read on light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number

VIRIDIS = (
    *("440154", "482173", "433e85", "38588c", "2d708e", "25858e"),
    *("1e9b8a", "2ab07f", "52c569", "86d549", "c2df23", "fde725"),
)
STYLES = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d")
UNKNOWN = "#9994"
MOST_ARMS = 4_000  # more of them make a notebook's file large
HOLES = 4  # places of a grid per arm: with more it is no grid


def colour(share: float) -> str:
    """Return the colour of a number from 0 to 1: lighter evenly, also for the colour-blind.

    >>> colour(0.0), colour(1.0)
    ('#440154', '#fde725')
    """
    at = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    k = min(int(at), len(VIRIDIS) - 2)
    ends = ([int(stop[c : c + 2], 16) for c in (0, 2, 4)] for stop in VIRIDIS[k : k + 2])
    mixed = (round(low + (at - k) * (high - low)) for low, high in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def field(x: Array, y: Array, values: Array, words: str, best: int | None = None, width: int = 340) -> str:
    """Return a map: cells where arms lie on a grid, points elsewhere; the best has a ring. "" for very many arms."""
    if x.size > MOST_ARMS:
        return ""
    cell = _cell(x), _cell(y)
    grid = (np.ptp(x) / cell[0] + 1) * (np.ptp(y) / cell[1] + 1) <= HOLES * x.size + 1
    if not grid:  # points, with room for those at the edge
        cell = (max(float(np.ptp(x)), float(np.ptp(y))) / 20 or 1.0,) * 2
    per = min(width / (np.ptp(x) + cell[0]), 260 / (np.ptp(y) + cell[1]))
    wide, high = (per * size if grid else 9.0 for size in cell)
    left, top = x.min() - cell[0] / 2, y.max() + cell[1] / 2
    low, span = _scale(values)
    marks = []
    for across, up, value in zip((x - left) * per, (top - y) * per, values, strict=True):
        fill = UNKNOWN if math.isnan(value) else colour((value - low) / span)
        marks.append(
            f'<rect x="{across - wide / 2:.1f}" y="{up - high / 2:.1f}" width="{wide + 0.3 * grid:.1f}" '
            f'height="{high + 0.3 * grid:.1f}" rx="{0 if grid else wide / 2:.1f}" fill="{fill}"/>'
        )
    if best is not None:
        cx, cy = (x[best] - left) * per, (top - y[best]) * per
        ring = f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{max(min(wide, high) / 2.4, 5):.1f}" fill="none" stroke='
        marks.append(f'{ring}"#fff" stroke-width="4"/>{ring}"#000" stroke-width="2"/>')
    height = (np.ptp(y) + cell[1]) * per
    return _svg(width, height + 34, words, "".join(marks) + _ramp(low, span, height + 8, width))


def strip(x: Array, mean: Array, deviation: Array, words: str, width: int = 340) -> str:
    """Return arms on a line: the mean, and a band of two standard deviations."""
    order = np.argsort(x, kind="stable")
    order = order[np.isfinite(mean[order]) & np.isfinite(deviation[order])]
    if not order.size:
        return ""
    return curves(
        {"": (x[order], mean[order], (mean - 2 * deviation)[order], (mean + 2 * deviation)[order])}, words, width
    )


def curves(series: Mapping[str, tuple[Array, Array, Array, Array]], words: str, width: int = 420) -> str:
    """Return curves with bands: for each name, x, the middle, and the lower and upper end (NaN where there is none)."""
    top, left = 12.0 + 16 * sum(map(bool, series)), 56.0
    base = top + 160
    known = [part[np.isfinite(part)] for each in series.values() for part in each[1:]]
    low, high = (float(f(np.concatenate(known))) for f in (np.min, np.max))
    first, last = (float(f([f(each[0]) for each in series.values()])) for f in (np.min, np.max))
    span, reach = high - low or 1.0, last - first or 1.0

    def points(x: Array, y: Array) -> str:
        shown = np.isfinite(y)
        across = left + (x[shown] - first) / reach * (width - left - 8)
        return " ".join(f"{a:.1f},{base - (b - low) / span * 160:.1f}" for a, b in zip(across, y[shown], strict=True))

    drawn = []
    for k, (name, (x, middle, lower, upper)) in enumerate(series.items()):
        ink = STYLES[k % len(STYLES)]
        band = f"{points(x, upper)} {points(x[::-1], lower[::-1])}"
        drawn.append(f'<polygon points="{band}" fill="{ink}" opacity="0.2"/>')
        drawn.append(f'<polyline points="{points(x, middle)}" fill="none" stroke="{ink}" stroke-width="2"/>')
        drawn.append(_text(left + 6, 12 + 16 * k, name, ink=ink))
    drawn += [_text(left - 6, top + 8, number(high), "end"), _text(left - 6, base, number(low), "end")]
    drawn += [_text(left, base + 18, number(first)), _text(width - 8, base + 18, number(last), "end")]
    axis = f'<path d="M{left} {top}V{base}H{width - 8}" fill="none" stroke="currentColor" opacity="0.5"/>'
    return _svg(width, base + 26, words, axis + "".join(drawn))


def _svg(width: float, height: float, words: str, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(words)}" font-family="sans-serif" font-size="12" '
        f'style="max-width:100%;display:block">{content}</svg>'
    )


def _text(x: float, y: float, words: str, anchor: str = "start", ink: str = "currentColor") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{escape(words)}</text>'


def _ramp(low: float, span: float, top: float, width: int) -> str:
    """Return the colours, with the numbers at their ends."""
    steps = 24
    each = (width - 150) / steps
    bars = "".join(
        f'<rect x="{75 + k * each:.1f}" y="{top:.1f}" width="{each + 0.4:.1f}" height="10" '
        f'fill="{colour(k / (steps - 1))}"/>'
        for k in range(steps)
    )
    return bars + _text(69, top + 10, number(low), "end") + _text(width - 69, top + 10, number(low + span))


def _cell(values: Array) -> float:
    """Return how far neighbours are apart along one axis."""
    gaps = np.diff(np.unique(values))
    gaps = gaps[gaps > 1e-6 * (np.ptp(values) or 1.0)]
    return float(gaps.min()) if gaps.size else 1.0


def _scale(values: Array) -> tuple[float, float]:
    """Return the least value and how far the largest lies above it."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return (low, high - low) if high > low else (low - 0.5, 1.0)
