"""Figures of a report: who lost how much over all families, family by family, and when told wrongly."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell import ratios
from corrbandits._shell.numbers import number
from corrbandits._shell.texts import cut
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, OF_CHANGE, WRONG, Contestant
from corrbandits.arena.sentences import middle
from corrbandits.arena.standings import ALL, FIELDS, TOGETHER, Standing
from corrbandits.plots import COLOURS, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT: Any = {"font.size": 9, "axes.titlesize": 9, "axes.labelsize": 8.5, "xtick.labelsize": 8, "ytick.labelsize": 8}
LOOKS = {NOTHING: (COLOURS[1], "o"), EVERYTHING: (COLOURS[0], "s")}
OFFSETS = {NOTHING: 0.15, EVERYTHING: -0.15}
MARKERS = "osD^v"
LONGEST_NAME = 40  # characters: more have no room
UNTIL = 8.0
"""Ratios beyond this are drawn at the edge, with their number."""

LEAST = 0.4
TICKS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
EXPLAINED = "regret ÷ that of the best rule told the right prior"


def name_of(one: Contestant) -> str:
    """Return a contestant in a few words.

    >>> name_of(DEFAULT)
    'Gittins, told nothing'
    """
    return f"{one.rule}, told {one.told}"


def ranked(rows: Sequence[Standing], told: Sequence[str], horizon: int, group: str = ALL) -> list[Contestant]:
    """Return those who were told one of these, who lost least first: at this horizon, those who did not play it last.

    Where nobody told everything has played there is no ratio, and it is the difference from the default that counts.

    >>> row = Standing(50, ALL, "A", "nothing", 1, 1, *[2.0] * 10, "chain", *[1.0] * 7)
    >>> [one.rule for one in ranked([row, row._replace(rule="B", ratio=1.0)], ["nothing"], horizon=50)]
    ['B', 'A']
    """
    together = [row for row in rows if row.family == group and row.told in told]
    here = [row for row in together if row.horizon == horizon]
    others = [row for row in together if row.horizon != horizon]
    ordered = [*sorted(here, key=_loss), *sorted(others, key=_loss)]
    return list(dict.fromkeys(row.contestant for row in ordered))


def group_of(rows: Sequence[Standing]) -> str:
    """Return over which families figures are drawn: all that do not change or, if none was played, others."""
    return next((group for group in TOGETHER if any(row.family == group for row in rows)), FIELDS)


def rules(rows: Sequence[Standing], horizon: int, group: str) -> list[str]:
    """Return all rules, who loses least first: told nothing, and those that only play told everything by that.

    >>> row = Standing(50, ALL, "A", "nothing", 1, 1, *[2.0] * 10, "chain", *[1.0] * 7)
    >>> rules([row, row._replace(rule="B", told="everything", ratio=1.0)], 50, ALL)
    ['B', 'A']
    """
    least: dict[str, tuple[float, float]] = {}
    for one in ranked(rows, (EVERYTHING,), horizon, group) + ranked(rows, (NOTHING,), horizon, group):
        here = [row for row in rows if (row.family, row.contestant) == (group, one)]
        least[one.rule] = _loss(min(here, key=lambda row: row.horizon != horizon))
    return sorted(least, key=lambda rule: least[rule])


def with_ratios(rows: Iterable[Standing], told: Container[str]) -> list[Standing]:
    """Return those rows of who was told one of these that have a ratio."""
    return [row for row in rows if row.told in told and np.isfinite(row.ratio)]


def leaderboard(rows: Sequence[Standing]) -> Figure | None:
    """Return the ratio of every rule, told nothing and told everything, with its interval, a panel per horizon.

    None if there are no ratios of anybody told so.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    if not with_ratios(rows, LOOKS):
        return None
    horizons, group = sorted({row.horizon for row in rows}), group_of(rows)
    names = rules(rows, middle(horizons), group)
    with mpl.rc_context(FONT):
        figure = Figure(figsize=(1.7 + 2.4 * len(horizons), 1.3 + 0.3 * len(names)), layout="constrained")
        axes = _row(figure, len(horizons))
        for ax, horizon in zip(axes, horizons, strict=True):
            here = [row for row in rows if (row.horizon, row.family) == (horizon, group) and row.told in LOOKS]
            for row in here:
                _point(ax, row, names.index(row.rule) + OFFSETS[row.told], *LOOKS[row.told])
            _rows(ax, names, bold=names.index(DEFAULT.rule) if DEFAULT.rule in names else -1)
            ax.set_title(f"{horizon:,} decisions", loc="left", fontweight="bold")
        _scale(axes)
        figure.supxlabel(EXPLAINED, fontsize=8.5)
        _key(figure, {f"told {told}": look for told, look in LOOKS.items()})
    return figure


def wrongly(rows: Sequence[Standing]) -> Figure | None:
    """Return the ratio of rules that were told wrongly, by what was wrong; None if there are none."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    horizons, group = sorted({row.horizon for row in with_ratios(rows, WRONG)}), group_of(rows)
    if not horizons:
        return None
    kinds, names = [EVERYTHING, *WRONG], list(dict.fromkeys(row.rule for row in rows if row.told in WRONG))
    looks = {rule: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, rule in enumerate(names)}
    with mpl.rc_context(FONT):
        figure = Figure(figsize=(1.4 + 2.4 * len(horizons), 1.5 + 0.33 * len(kinds)), layout="constrained")
        axes = _row(figure, len(horizons))
        for ax, horizon in zip(axes, horizons, strict=True):
            found = {row.contestant: row for row in rows if row.horizon == horizon and row.family == group}
            for k, (rule, look) in enumerate(looks.items()):
                for place, told in enumerate(kinds):
                    if (row := found.get(Contestant(rule, told))) is not None:
                        _point(ax, row, place + 0.17 * (k - (len(looks) - 1) / 2), *look)
            if DEFAULT in found:
                ax.axvline(found[DEFAULT].ratio, color="#555555", linewidth=1.0, linestyle=(0, (4, 2)))
            _rows(ax, ["the right prior", *WRONG])
            ax.set_title(f"{horizon:,} decisions", loc="left", fontweight="bold")
        _scale(axes)
        figure.supxlabel(f"{EXPLAINED}; dashed: {name_of(DEFAULT)}", fontsize=8.5)
        _key(figure, looks)
    return figure


def families(rows: Sequence[Standing]) -> Figure | None:
    """Return heat maps of the ratio, contestants against families, a map per horizon; None if there are no ratios."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    told = NOTHING, EVERYTHING, *OF_CHANGE
    horizons = sorted({row.horizon for row in with_ratios(rows, told)})
    if not horizons:
        return None
    maps = [heat_map(rows, horizon, told) for horizon in horizons]
    most = ratios.colour_limit([np.clip(values, 1 / UNTIL, UNTIL) for _, _, values in maps])
    heights = [len(who) for who, _, _ in maps]
    with mpl.rc_context(FONT):
        width = 2.6 + 0.44 * max(len(names) for _, names, _ in maps)
        figure = Figure(figsize=(width, 0.19 * sum(heights) + 0.35 * len(maps) + 1.3), layout="constrained")
        axes = figure.subplots(len(maps), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, (who, names, values), horizon in zip(axes, maps, horizons, strict=True):
            _draw_map(ax, who, names, values, most)
            ax.set_title(f"{horizon:,} decisions", loc="left", fontweight="bold")
            ax.tick_params(labelbottom=ax is axes[-1])
        figure.supxlabel(EXPLAINED, fontsize=8.5)
    return figure


def heat_map(rows: Sequence[Standing], horizon: int, told: Sequence[str]) -> tuple[list[Contestant], list[str], Array]:
    """Return who, which families, and the ratios (contestant, family); NaN where one did not play."""
    here = {row.contestant for row in rows if row.horizon == horizon}
    who = [
        one for one in dict.fromkeys(o for group in TOGETHER for o in ranked(rows, told, horizon, group)) if one in here
    ]
    names = list(dict.fromkeys(row.family for row in rows if row.family not in TOGETHER))
    found = {(row.contestant, row.family): row.ratio for row in rows if row.horizon == horizon}
    return who, names, np.array([[found.get((one, name), np.nan) for name in names] for one in who])


def _loss(row: Standing) -> tuple[float, float]:
    """Return what contestants are ranked by; those without a ratio come last."""
    return float(np.nan_to_num(row.ratio, nan=np.inf)), float(np.nan_to_num(row.difference, nan=np.inf))


def _label(name: str) -> str:
    return literal(cut(name, LONGEST_NAME))


def _row(figure: Figure, panels: int) -> Any:
    return figure.subplots(1, panels, squeeze=False, sharey=True)[0]


def _point(ax: Axes, row: Standing, place: float, colour: str, marker: str) -> None:
    """Draw a ratio with its interval; one beyond the edge, as its number there."""
    if row.ratio > UNTIL:
        ax.text(UNTIL, place, f"{number(row.ratio, 2)} →", ha="right", va="center", fontsize=7, color=colour)
        return
    if not np.isnan(row.ratio_low):
        ax.plot([row.ratio_low, min(row.ratio_high, UNTIL)], [place, place], color=colour, linewidth=1.3)
    ax.plot([row.ratio], [place], color=colour, marker=marker, markersize=4.5, linestyle="none")


def _rows(ax: Axes, names: Sequence[str], bold: int = -1) -> None:
    """Label the rows, the first on top."""
    ax.set_yticks(range(len(names)), [_label(name) for name in names])
    for k, label in enumerate(ax.get_yticklabels()):
        label.set_fontweight("bold" if k == bold else "normal")
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.grid(axis="y", color="#eeeeee", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(length=2)
    ax.spines[["top", "right"]].set_visible(False)


def _scale(axes: Any) -> None:
    """Give the ratio the same logarithmic axis in all panels."""
    from matplotlib.ticker import NullFormatter

    drawn = np.array([x for ax in axes for line in ax.lines for x in line.get_xdata()])
    low = 0.95 * float(drawn.min(initial=0.9, where=np.isfinite(drawn)))
    for ax in axes:
        ax.set_xscale("log")
        ax.set_xlim(max(LEAST, low), UNTIL)
        shown = [tick for tick in TICKS if tick >= max(LEAST, low)]
        ax.set_xticks(shown, [number(tick) for tick in shown])
        ax.xaxis.set_minor_formatter(NullFormatter())


def _key(figure: Figure, looks: Mapping[str, tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=colour, marker=marker, markersize=4.5) for colour, marker in looks.values()]
    figure.legend(marks, list(looks), loc="outside upper center", ncols=4, frameon=False, fontsize=8)


def _draw_map(ax: Axes, who: Sequence[Contestant], names: Sequence[str], values: Array, most: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patheffects import withStroke

    colours = LinearSegmentedColormap.from_list("less to more", list(ratios.COLOURS))
    limit = np.log(most)
    ax.set_facecolor("#d9d9d9")  # what was not played
    logs = np.ma.masked_invalid(np.log(np.clip(values, 1 / most, most)))
    ax.imshow(logs, cmap=colours, vmin=-limit, vmax=limit, aspect="auto")
    rim = [withStroke(linewidth=1.4, foreground="white")]
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ax.text(column, row, number(value, 2), ha="center", va="center", fontsize=6.5, path_effects=rim)
    ax.set_yticks(range(len(who)), [_label(name_of(one)) for one in who])
    for one, label in zip(who, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if one == DEFAULT else "normal")
    ax.set_xticks(range(len(names)), [_label(name) for name in names], rotation=40, ha="right", rotation_mode="anchor")
    ax.tick_params(length=2)
