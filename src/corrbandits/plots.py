"""Figures: one function each, a trace in, axes out. Nothing here simulates."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._shell.numbers import counted
from corrbandits._shell.outputs import write_file
from corrbandits.simulation.trace import Trace

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    Entry = tuple[Line2D, str]

# each with its own dashes, so that curves stay apart in grey; a seventh takes the first's colour and other dashes
COLOURS = ("#0b3c6f", "#c8501e", "#2f9e8f", "#8a6fb0", "#b08a00", "#6b6b6b")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 1, 1, 1)), (0, (2, 2)))
BOUND_STYLE: dict[str, Any] = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
MARKERS = "^vo"
LABELS = {
    "regret": "mean cumulative regret (reward)",
    "moves": "mean number of moves",
    "move_cost": "mean cost of moves (reward)",
    "total_cost": "mean regret and cost of moves (reward)",
}
"""What is drawn over time, and what its axis says."""

MOST_NAMES, LONGEST_NAME = 20, 60
MOST_INSIDE = 4  # more names than this would lie on the curves
MOST_DECIMALS, LARGEST_LABEL = 6, 1e9


def regret(
    trace: Trace, *, lower_bound: xr.DataArray | None = None, quantity: str = "regret", ax: Axes | None = None
) -> Axes:
    """Draw each policy's mean cumulative expected regret with its 95 % band, and a lower bound if one is given.

    `quantity` is what is drawn in place of the regret: "moves", "move_cost" or "total_cost", regret and moves together.

    >>> from corrbandits import UCL, GaussianBandit, Independent, simulate, theory
    >>> bandit = GaussianBandit(means=[0.0, 1.0], noise_variance=1.0)
    >>> trace = simulate({"UCL": (UCL(), Independent(noise_variance=1.0, arms=2))}, bandit, horizon=100, runs=10)
    >>> axes = regret(trace, lower_bound=theory.lai_robbins(bandit, 100))
    >>> [line.get_label() for line in axes.lines]
    ['UCL', 'Lai-Robbins lower bound']
    """
    ax = _new_axes() if ax is None else ax
    if quantity not in LABELS:
        raise ValueError(f"quantity must be one of {', '.join(LABELS)}, got {quantity!r:.60}.")
    entries = _draw_curves(trace, lower_bound, ax, quantity)
    if len(entries) <= MOST_INSIDE:
        _legend(ax, entries)
    else:
        _legend(ax, entries, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    return ax


def regret_with_start(trace: Trace, title: str, *, lower_bound: xr.DataArray | None, until: int) -> Figure:
    """Return a figure of the whole run and, beside it, its start up to time `until`.

    Where moves were recorded their cost is drawn with the regret, and no bound on the regret alone.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    early = slice(1, max(min(until, trace.horizon), int(trace.data["time"].values[0])))
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(7.0, 3.4), layout="constrained")
        whole, start = figure.subplots(1, 2, width_ratios=(3, 2))
        quantity, bound = ("total_cost", None) if "move_cost" in trace.data else ("regret", lower_bound)
        entries = _draw_curves(trace, bound, whole, quantity)
        early_bound = None if bound is None else bound.sel(time=early)
        _draw_curves(Trace(trace.data.sel(time=early)), early_bound, start, quantity)
        start.set_ylabel("")
        whole.set_title(literal(title), loc="left")
        start.set_title(f"the first {counted(early.stop, 'decision')}", loc="left")
        _legend(figure, entries, loc="outside lower center", ncols=4)
    return figure


def bounds(
    curves: Mapping[str, Mapping[str, xr.DataArray]],
    *,
    trace: Trace | None = None,
    lower_bound: xr.DataArray | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw bounds on the regret by policy and theorem over the regret itself, on logarithmic axes.

    Where a bound is vacuous it is left out; the legend names those that are so throughout.

    >>> from corrbandits import UCL, GaussianBandit, Independent, simulate
    >>> from corrbandits.theory import bounds_for, regret_curve
    >>> bandit, policy = GaussianBandit(means=[0.0, 1.0], noise_variance=1.0), UCL(a=2.0)
    >>> prior = Independent(noise_variance=1.0, arms=2)
    >>> trace = simulate({"UCL": (policy, prior)}, bandit, horizon=1_000, runs=10)
    >>> found = bounds_for(bandit, policy, prior)
    >>> curves = {"UCL": {name: regret_curve(bandit, policy, prior, f, 1_000) for name, f in found.items()}}
    >>> [line.get_label() for line in bounds(curves, trace=trace).lines]
    ['UCL', 'UCL, Theorem 1', 'UCL, Theorem 2', 'UCL, Theorem 2, summed']
    """
    ax = _new_axes() if ax is None else ax
    entries = [] if trace is None else _draw_curves(trace, None, ax)
    if lower_bound is not None:
        entries += _draw_lower_bound(lower_bound.where(lower_bound > 0), ax)
    of_theorems: list[Entry] = []
    names = list(curves) if trace is None else trace.data["policy"].values.tolist()
    for policy, by_theorem in curves.items():
        colour = COLOURS[names.index(policy) % len(COLOURS)]
        for marker, (theorem, curve) in zip(MARKERS, by_theorem.items(), strict=False):
            of_theorems.append(_draw_bound(f"{policy}, {theorem}", curve, colour, marker, ax))
    ax.set(xscale="log", xlabel="time $t$ (decisions)", ylabel="mean cumulative regret (reward)")
    if any(np.nanmax(np.asarray(line.get_ydata(), dtype=float), initial=0.0) > 0 for line in ax.lines):
        ax.set_yscale("log")
    ax.set_autoscaley_on(True)
    ax.autoscale_view(scalex=False)
    ax.set_xlim(1, None)
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if 1 <= x < LARGEST_LABEL else f"{x:g}")
    _legend(ax, entries + _as_fit(of_theorems), fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def bounds_figure(
    curves: Mapping[str, Mapping[str, xr.DataArray]],
    lower_bound: xr.DataArray,
    trace: Trace | None,
    title: str = "",
) -> Figure:
    """Return a figure of bounds over the regret they bound."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(7.0, 3.6), layout="constrained")
        ax = bounds(curves, trace=trace, lower_bound=lower_bound, ax=figure.subplots())
        ax.set_title(literal(title), loc="left")
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG or PDF, by the ending; what was there before is replaced once the new one is whole."""
    write_file(path, drawn(figure, Path(path).suffix))


def drawn(figure: Figure, ending: str) -> bytes:
    """Return a figure as the content of a .png or .pdf file; the same figure gives the same bytes."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)  # in a name: it is drawn as a box
        dates = {"CreationDate": None} if ending == ".pdf" else {}
        figure.savefig(file, format=ending.removeprefix("."), dpi=200, metadata=dates)
    return file.getvalue()


def _draw_curves(trace: Trace, lower_bound: xr.DataArray | None, ax: Axes, quantity: str = "regret") -> list[Entry]:
    """Draw the regret of each policy and a lower bound; return the lines with their names, for a legend."""
    band = trace.band(quantity)
    time = band["time"].values
    entries: list[Entry] = []
    for i, policy in enumerate(trace.data["policy"].values.tolist()):
        of_policy = band.sel(policy=policy)
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[(i + i // len(COLOURS)) % len(DASHES)]
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6, "label": literal(policy)}
        entries += [(line, policy) for line in ax.plot(time, of_policy["mean"], **style)]
        ax.fill_between(time, of_policy["low"], of_policy["high"], color=colour, alpha=0.25, linewidth=0)
    entries = _as_fit(entries)
    if lower_bound is not None:
        entries += _draw_lower_bound(lower_bound, ax)
    ax.set(xlabel="time $t$ (decisions)", ylabel=LABELS[quantity], ylim=(0, None))
    ax.set_xlim(0, time[-1])
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(_tick_formatter(axis))
    return entries


def _tick_formatter(axis: Axis) -> Callable[[float, Any], str]:
    return lambda x, _: tick_label(x, axis.get_majorticklocs())


def _draw_bound(name: str, curve: xr.DataArray, colour: str, marker: str, ax: Axes) -> Entry:
    """Draw a bound where it says something; where it never does, only its name says so."""
    says = np.flatnonzero(curve.notnull().values)
    if not says.size:
        name, marker = f"{name}: vacuous (regret)", ""
    marked = says[::-1][::5].tolist()  # the last point always: a bound may say something there alone
    style: dict[str, Any] = {"color": colour, "linewidth": 0.9 if marker else 0.0, "marker": marker, "clip_on": False}
    (line,) = ax.plot(curve["time"], curve, markersize=3.5, markevery=marked, label=literal(name), **style)
    return line, name


def _draw_lower_bound(lower_bound: xr.DataArray, ax: Axes) -> list[Entry]:
    name = lower_bound.attrs["long_name"]
    return [(line, name) for line in ax.plot(lower_bound["time"], lower_bound, label=name, **BOUND_STYLE)]


def tick_label(x: float, places: Any) -> str:
    """Return the label of a tick among others, with as many decimals as their step has.

    >>> [tick_label(x, [0, 500, 1_000]) for x in (500, 1_000)], tick_label(0.5, [0, 0.25, 0.5])
    (['500', '1,000'], '0.50')
    """
    step = float(np.diff(places).min()) if len(places) > 1 else 1.0
    decimals = next((d for d in range(MOST_DECIMALS + 1) if abs(round(step, d) - step) <= 1e-6 * step), None)
    if decimals is None or abs(x) >= LARGEST_LABEL:
        return f"{x:g}"
    return f"{x + 0.0:,.{decimals}f}"


def _as_fit(entries: list[Entry]) -> list[Entry]:
    """Return the first entries of a legend, and how many more there are."""
    from matplotlib.lines import Line2D

    if len(entries) <= MOST_NAMES:
        return entries
    return [*entries[:MOST_NAMES], (Line2D([], [], linestyle="none"), f"and {len(entries) - MOST_NAMES} more")]


def _legend(place: Axes | Figure, entries: list[Entry], **options: Any) -> None:
    """Draw a legend with every name as it is written."""
    # the names are put in afterwards: one that begins with _ would not be shown
    lines, numbers = [line for line, _ in entries], [str(i) for i in range(len(entries))]
    legend = place.legend(lines, numbers, frameon=False, **options)
    for text, (_, name) in zip(legend.get_texts(), entries, strict=True):
        text.set_text(literal(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."))


def literal(name: str) -> str:
    r"""Return a text so that matplotlib takes no dollar sign in it for the beginning of a formula.

    >>> print(literal("yield ($)"))
    yield (\$)
    """
    return name.replace("$", r"\$")


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5, 3.6), layout="constrained")[1]
