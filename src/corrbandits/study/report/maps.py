"""Pictures of a study: what is believed of the arms, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._shell.numbers import counted
from corrbandits._shell.texts import cut
from corrbandits.study.report.inference import leader_of
from corrbandits.study.report.lattice import Lattice, across_and_up, lattice, shrink
from corrbandits.study.report.nearest import Cells, cells
from corrbandits.study.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from corrbandits.study import Study
    from corrbandits.study.arms import Arms

MOST_BARS = 40  # more arms than this have no room for their names
LONGEST_NAME = 14
UNKNOWN, GREY = "#d0d0d0", "#606060"
BAND, LINE, MARK = "#9db8d2", "#0b3c6f", "#c8501e"
DOTS = (8.0, 45.0)  # areas of the dots of one reward and of the most, in square points
SITE = 5.0  # area of the dot of a scattered arm
FINE = 200  # cells across and up where arms are scattered
POINT, RING, STAR = 90.0, 130.0, 380.0  # areas of other marks: each has room for those before it


@final
@dataclass(frozen=True)
class _View:
    """What is drawn: NaN stands for what nobody knows."""

    arms: Arms
    mean: Array
    deviation: Array
    counts: Integers
    best: int | None
    open: Integers


def study_map(study: Study | Snapshot) -> Figure:
    """Return a figure of each arm's mean reward and of its standard deviation, as believed now.

    Cells where arms lie on a regular grid; where they are scattered, each place has the colour of the nearest arm (few
    arms are points); a line with a band where they lie on one, bars where nobody knows. Arms with rewards have a white
    dot, the larger the more; the best so far has a star, arms whose rewards are awaited a ring.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    view = _view(study if isinstance(study, Snapshot) else study.snapshot())
    places = across_and_up(view.arms)
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=_size(view.arms, places), layout="constrained")
        axes = figure.subplots(1, 2)
        if places is None:
            _bars(view, axes)
        elif places[1] is None:
            _line(view, places[0], axes)
        else:
            for ax, values, title in zip(axes, (view.mean, view.deviation), TITLES, strict=True):
                coloured = _plane(view, (places[0], places[1]), values, title, ax)
                figure.colorbar(coloured, ax=ax, label=LABELS[title], shrink=0.85)
                _marks(view, (places[0], places[1]), ax)
        figure.suptitle(cut(study.name, 80), parse_math=False, fontsize=10)
        _legend(figure, view)
    return figure


TITLES = ("mean", "standard deviation")
LABELS = {"mean": "mean reward", "standard deviation": "deviation of the mean reward"}


def _view(now: Snapshot) -> _View:
    belief, arms = now.belief, now.arms
    known = np.isfinite(belief.variance)
    mean, deviation = np.where(known, belief.mean, np.nan), np.sqrt(np.where(known, belief.variance, np.nan))
    best = leader_of(now.deciding) if known.any() and belief.counts.any() else None
    waiting = np.unique([trial.arm for trial in now.open_trials]).astype(np.int64)
    return _View(arms, mean, deviation, belief.counts, best, waiting)


def _size(arms: Arms, places: tuple[Array, Array | None] | None) -> tuple[float, float]:
    """Return the width and height in inches that suit how far arms spread across and up."""
    if places is None or places[1] is None:
        return 8.0, 3.6
    across, up = np.ptp(places[0]) * shrink(arms), np.ptp(places[1])
    ratio = float(up / across) if across > 0 else 3.0
    return 8.0, 1.3 + 2.75 * min(max(ratio, 0.25), 2.0)


def _plane(view: _View, places: tuple[Array, Array], values: Array, title: str, ax: Axes) -> Any:
    """Draw values where arms lie; return what has the colours."""
    coloured: Any
    grid = lattice(view.arms)
    if grid is not None and min(grid.x.size, grid.y.size) > 1:
        coloured = _cells(grid, values, ax)
    elif (scattered := _scattered(view.arms)) is not None:
        coloured = _cells(scattered, values, ax)
        ax.scatter(*places, s=SITE, color="black", linewidths=0, clip_on=False)
    else:
        unknown = np.isnan(values)
        x, y = places[0][~unknown], places[1][~unknown]
        ax.scatter(places[0][unknown], places[1][unknown], s=POINT, color=UNKNOWN, linewidths=0)
        coloured = ax.scatter(x, y, c=values[~unknown], s=POINT, linewidths=0, **_colours(values))
    ax.set_title(title, loc="left")
    names = view.arms.axes
    across, up = (names[1], names[0]) if names == ("latitude", "longitude") else (names[0], names[1])
    degrees = " (degrees)" if "latitude" in names else ""
    ax.set(xlabel=f"{across}{degrees}", ylabel=f"{up}{degrees}")
    ax.set_aspect(1 / shrink(view.arms))
    ax.margins(0.08)
    return coloured


def _scattered(arms: Arms) -> Cells | None:
    """Return the cells of scattered arms, if they are drawn as such."""
    found = None if lattice(arms) is not None else cells(arms, FINE, FINE)
    return found if found is not None and min(found.x.size, found.y.size) > 1 else None


def _cells(grid: Lattice | Cells, values: Array, ax: Axes) -> Any:
    """Draw values as cells, grey where nothing is known; return what has the colours."""
    from matplotlib.colors import ListedColormap

    where: dict[str, Any] = {"origin": "lower", "interpolation": "nearest"}
    where["extent"] = (*_edges(grid.x), *_edges(grid.y))
    blank = grid.picture(np.where(np.isnan(values), 0.0, np.nan))
    ax.imshow(blank, cmap=ListedColormap([UNKNOWN]), **where)
    return ax.imshow(grid.picture(values), **where, **_colours(values))


def _marks(view: _View, places: tuple[Array, Array], ax: Axes) -> None:
    """Mark the arms that have rewards, those that are awaited, and the best."""
    x, y = places
    seen = np.flatnonzero(view.counts)
    hollow: dict[str, Any] = {"facecolors": "none", "edgecolors": MARK, "zorder": 5, "clip_on": False}
    dots: dict[str, Any] = {"color": "white", "edgecolors": "black", "linewidths": 0.6, "zorder": 5, "clip_on": False}
    ax.scatter(x[seen], y[seen], s=_areas(view.counts[seen]), **dots)
    ax.scatter(x[view.open], y[view.open], s=RING, linewidths=1.3, **hollow)
    if view.best is not None:
        ax.scatter(x[[view.best]], y[[view.best]], s=STAR, marker="*", linewidths=1.3, **hollow)


def _line(view: _View, x: Array, axes: Sequence[Axes]) -> None:
    """Draw arms on a line: the mean with a band of two standard deviations, and the standard deviation."""
    order = np.argsort(x, kind="stable")
    left, right = axes
    low, high = view.mean - 2 * view.deviation, view.mean + 2 * view.deviation
    left.fill_between(x[order], low[order], high[order], color=BAND, linewidth=0)
    for ax, values, title in zip(axes, (view.mean, view.deviation), TITLES, strict=True):
        few: dict[str, Any] = {"marker": ".", "markersize": 3} if x.size <= 200 else {}
        ax.plot(x[order], values[order], color=LINE, linewidth=1.3, **few)
        ax.set(xlabel=view.arms.axes[0], ylabel="reward")
        ax.set_title(title if ax is right else f"{title} and two standard deviations", loc="left")
        _finish(view, x, values, ax)


def _bars(view: _View, axes: Sequence[Axes]) -> None:
    """Draw arms of which nobody knows where they lie, one beside the other."""
    left, right = axes
    x = np.arange(view.arms.count, dtype=float)
    for ax, values, title in zip(axes, (view.mean, view.deviation), TITLES, strict=True):
        if x.size <= MOST_BARS:
            ax.bar(x, np.nan_to_num(values), color=BAND)
            names = [cut(view.arms.name(k), LONGEST_NAME) for k in range(x.size)]
            turned = x.size > 6 or max(map(len, names)) > 8
            angle: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
            ax.set_xticks(x, names, parse_math=False, **angle)
        else:
            ax.plot(x, values, ".", markersize=3, color=LINE)
            ax.set_xlabel("arm")
        ax.set_ylabel("reward")
        ax.set_title(title if ax is right else f"{title} and two standard deviations", loc="left")
        _finish(view, x, values, ax)
    known = ~np.isnan(view.mean)
    thin = 1.2 if x.size <= MOST_BARS else 0.4
    error: dict[str, Any] = {"fmt": "none", "ecolor": LINE, "elinewidth": thin, "capsize": 2 if thin > 1 else 0}
    left.errorbar(x[known], view.mean[known], yerr=2 * view.deviation[known], **error)


def _finish(view: _View, x: Array, values: Array, ax: Axes) -> None:
    """Mark arms on a line or on bars; a question mark stands at those of which nothing is known."""
    y = np.nan_to_num(values)
    _marks(view, (x, y), ax)
    for arm in np.flatnonzero(np.isnan(values))[:200].tolist():
        ax.annotate("?", (x[arm], y[arm]), ha="center", va="bottom", color=GREY)
    ax.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, view: _View) -> None:
    """Say what the marks mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    flat = len(view.arms.axes) < 2
    unknown: Any = Line2D([], [], marker="$?$", color=GREY, linestyle="none") if flat else Patch(color=UNKNOWN)
    entries: list[tuple[Any, str]] = []
    dot: dict[str, Any] = {"marker": "o", "color": "white", "markeredgecolor": "black", "linestyle": "none"}
    if _scattered(view.arms) is not None:
        site: dict[str, Any] = {"marker": "o", "color": "black", "linestyle": "none", "markeredgewidth": 0}
        entries.append((Line2D([], [], markersize=math.sqrt(SITE), **site), "an arm; around it, its colour"))
    seen = view.counts[view.counts > 0]
    for count in np.unique([seen.min(), seen.max()]).tolist() if seen.size else []:
        size = math.sqrt(float(_areas(np.array([count, seen.max()]))[0]))
        entries.append((Line2D([], [], markersize=size, markeredgewidth=0.6, **dot), counted(count, "reward")))
    if view.open.size:
        ring: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": MARK, "linestyle": "none"}
        entries.append((Line2D([], [], markersize=8, **ring), "open"))
    if view.best is not None:
        star: dict[str, Any] = {"marker": "*", "markerfacecolor": "none", "markeredgecolor": MARK, "linestyle": "none"}
        entries.append((Line2D([], [], markersize=11, **star), f"best so far: {cut(view.arms.name(view.best), 40)}"))
    if np.isnan(view.mean).any():
        entries.append((unknown, "nothing is known"))
    if entries:
        handles, labels = zip(*entries, strict=True)
        numbers = [str(k) for k in range(len(labels))]  # replaced below: a name that begins with _ is not shown
        legend = figure.legend(handles, numbers, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
        for text, label in zip(legend.get_texts(), labels, strict=True):
            text.set(parse_math=False, text=label)


def _areas(counts: Integers) -> Array:
    """Return the area of each dot, from that of one reward to that of the most."""
    most = max(float(counts.max(initial=1)), 2.0)
    return np.asarray(DOTS[0] + (DOTS[1] - DOTS[0]) * (counts - 1) / (most - 1))


def _colours(values: Array) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def _edges(centres: Array) -> tuple[float, float]:
    half = float(centres[-1] - centres[0]) / (2 * (centres.size - 1))
    return float(centres[0]) - half, float(centres[-1]) + half
