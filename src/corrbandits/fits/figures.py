"""Figures of a comparison: how well models explain each person, and what parameters people have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits._shell.texts import cut
from corrbandits.choices import PARAMETERS
from corrbandits.fits.outcomes import Outcome
from corrbandits.fits.sentences import percent
from corrbandits.fits.standings import FORESEEN, Standings
from corrbandits.plots import COLOURS, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT: Any = {"font.size": 9, "axes.titlesize": 9, "axes.labelsize": 8.5, "xtick.labelsize": 8, "ytick.labelsize": 8}
LONGEST_NAME = 40  # characters: more have no room
MOST_BINS = 24
LEAST = -0.5
"""Shares explained below this are drawn here."""

ACROSS = 3
"""Panels in a row."""


def models(found: Standings) -> Figure:
    """Return a figure of all models: the share explained of each person, and the shares of people who follow them."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(FONT):
        figure = Figure(figsize=(7.0, 1.2 + 0.45 * len(found.rows)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for place, (row, each) in enumerate(zip(found.rows, found.outcomes.values(), strict=True)):
            _strip(left, np.array([one.share_explained for one in each]), place, COLOURS[place % len(COLOURS)])
            right.barh(place, row.share, height=0.5, color=COLOURS[place % len(COLOURS)])
            right.text(
                row.share + 0.02, place, f"{percent(row.share)}, {_short(row.protected)}", va="center", fontsize=8
            )
        left.axvline(0.0, color="black", linewidth=0.8)
        left.set_yticks(range(len(found.rows)), [literal(cut(row.model, LONGEST_NAME)) for row in found.rows])
        left.set_ylim(len(found.rows) - 0.5, -0.5)
        what = "rounds left out" if found.by == FORESEEN else "choices fitted"
        left.set_xlabel(f"share explained of {what}; bar: median")
        right.set(xlim=(0, 1.5), xlabel="people who follow it, protected p")
        right.set_xticks([0, 0.5, 1.0], ["0 %", "50 %", "100 %"])
        _tidy(left)
        _tidy(right)
    return figure


def parameters(found: Standings, name: str | None = None) -> Figure:
    """Return histograms of the free parameters of a model over people: of the best model if none is named."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    each = found.outcomes[name or found.best.model]
    free = each[0].free
    rows = max(1, -(-len(free) // ACROSS))
    with mpl.rc_context(FONT):
        figure = Figure(figsize=(7.0, 0.5 + 2.0 * rows), layout="constrained")
        axes = figure.subplots(rows, min(ACROSS, max(1, len(free))), squeeze=False).ravel()
        for ax, one in zip(axes, free, strict=False):
            histogram(ax, each, one, COLOURS[0])
        for ax in axes[len(free) :]:
            ax.set_axis_off()
        figure.suptitle(literal(cut(each[0].model, LONGEST_NAME)), fontsize=9, fontweight="bold", x=0.01, ha="left")
        figure.supylabel("people", fontsize=8.5)
    return figure


def histogram(ax: Axes, each: list[Outcome], name: str, colour: str) -> None:
    """Draw how a parameter is spread over people, those whose fit runs to an end in grey, and its median."""
    from matplotlib.ticker import MaxNLocator

    values, sure, beyond = in_view(each, name)
    edges = _edges(values, logarithmic(name))
    if logarithmic(name):
        _number_logarithms(ax)
    ax.hist([values[sure], values[~sure]], edges.tolist(), stacked=True, color=[colour, "#b5b5b5"])
    middle = float(np.median([one.values[name] for one in each]))
    if edges[0] <= middle <= edges[-1]:
        ax.axvline(middle, color="black", linewidth=1.0, linestyle=(0, (4, 2)))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    ax.set_title(f"{name}: median {number(middle)}", loc="left")
    _count_farther(ax, beyond)
    _tidy(ax)


def _count_farther(ax: Axes, beyond: NDArray[np.int64]) -> None:
    """Write, above the bars, how many people lie farther out on each side than they are drawn."""
    for side, x, words in ((-1, 0.0, "← {} farther"), (1, 1.0, "{} farther →")):
        if count := int((beyond == side).sum()):
            ax.margins(y=0.2)
            text = ax.text(x, 0.98, words.format(count), fontsize=7, color="#444444", transform=ax.transAxes, va="top")
            text.set_horizontalalignment("left" if side < 0 else "right")


def logarithmic(name: str) -> bool:
    """Return whether a parameter is drawn on a logarithmic axis: one that is positive, and no share.

    >>> logarithmic("length"), logarithmic("prior_mean"), logarithmic("lapse")
    (True, False, False)
    """
    return PARAMETERS[name].low == 0 and PARAMETERS[name].high > 1


def _edges(values: Array, logarithms: bool) -> Array:
    """Return the ends of bins: more of them for more people, but not too many to see."""
    bins = int(np.clip(2 * values.size**0.5, 6, MOST_BINS)) + 1
    if logarithms:
        return np.geomspace(values.min() / 1.05, values.max() * 1.05, bins)
    room = 0.02 * (float(np.ptp(values)) or 1.0)
    return np.linspace(values.min() - room, values.max() + room, bins)


def _number_logarithms(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=7))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x)))
    ax.xaxis.set_minor_locator(NullLocator())


def in_view(each: list[Outcome], name: str) -> tuple[Array, NDArray[np.bool_], NDArray[np.int64]]:
    """Return the values of a parameter, which of them are no end of where it may lie, and which were moved.

    Values far beyond the others, as those at an end often are, are moved to the edge of the picture: -1 stands for the
    left one, 1 for the right, 0 for what is where it is.
    """
    values = np.array([one.values[name] for one in each])
    sure = np.array([bool(np.isfinite(one.errors[name])) for one in each])
    line = np.array([PARAMETERS[name].line(v) for v in values.tolist()])
    kept = line[sure] if sure.any() else line
    low, high = np.quantile(kept, [0.25, 0.75])
    room = 3 * (high - low) or 1.0
    inside = np.clip(line, max(kept.min(), low - room), min(kept.max(), high + room))
    moved = np.sign(line - inside).astype(np.int64)
    return np.array([PARAMETERS[name].value(place) for place in inside.tolist()]), sure, moved


def _strip(ax: Axes, values: Array, place: int, colour: str) -> None:
    """Draw a point for each person, apart by their order, and their median; a triangle for who lies farther left."""
    apart = 0.3 * ((np.arange(values.size) * 0.618034) % 1.0 - 0.5)  # the golden ratio spreads any number evenly
    for part, mark in ((values >= LEAST, "."), (values < LEAST, "<")):
        x = np.maximum(values[part], LEAST)
        ax.plot(x, place + apart[part], mark, color=colour, markersize=3.5, alpha=0.7)
    middle = max(float(np.median(values)), LEAST)
    ax.plot([middle, middle], [place - 0.32, place + 0.32], color="black", linewidth=1.8)


def _short(p: float) -> str:
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.2f}"


def _tidy(ax: Axes) -> None:
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(length=2)
    ax.spines[["top", "right"]].set_visible(False)
