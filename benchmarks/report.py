"""What was measured, as a table, a page of the documentation and two plots; everything from one JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from corrbandits import plots

DOCS = Path(__file__).parent.parent / "docs"
HEADER = ("what", "arms", "per decision and update", "ratio to ours", "target", "met")
CORRELATED, CHANGING, PLAIN, SCALE = "as printed", "changing", "plain index", "scale"
OURS = "corrbandits"


@dataclass(frozen=True)
class Row:
    """One line of the table; `compared` is the number that the target is about, the ratio unless told."""

    section: str
    what: str
    arms: int
    seconds: float | None = None
    ratio: float | None = None
    target: str = ""
    compared: float | None = None
    met: bool | None = None
    note: str = ""


def table(data: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the table's cells, a section's heading as a row of one."""
    lines: list[tuple[str, ...]] = []
    section = ""
    for row in data["rows"]:
        if row["section"] != section:
            section = row["section"]
            lines.append((data["sections"][section],))
        lines.append(_cells(row))
    return lines


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    what = row["what"] + (f" ({row['note']})" if row["note"] else "")
    own = "" if row["compared"] is None else f": {number(row['compared'])}"
    met = "" if row["met"] is None else "yes" if row["met"] else "no"
    ratio = "" if row["ratio"] is None else number(row["ratio"])
    return what, f"{row['arms']:,}", duration(row["seconds"]), ratio, row["target"] + own, met


def number(value: float) -> str:
    """Return a number with three digits, or all of a larger one.

    >>> number(0.1234), number(12.34), number(12345.6)
    ('0.123', '12.3', '12,346')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def duration(seconds: float | None) -> str:
    """Return a duration in the unit that suits it.

    >>> duration(2.04e-6), duration(0.0153), duration(3.0)
    ('2.04 µs', '15.3 ms', '3 s')
    """
    if seconds is None:
        return ""
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    unit = next((name for name, size in units.items() if seconds >= size), "ns")
    return f"{number(seconds / units[unit])} {unit}"


def printed(data: dict[str, Any]) -> str:
    """Return the table as text, and what it was measured on."""
    lines = table(data)
    widths = [max(len(line[i]) for line in (HEADER, *lines) if len(line) > 1) for i in range(len(HEADER))]
    text = []
    for line in (HEADER, *lines):
        if len(line) == 1:
            text += ["", line[0]]
        else:
            sides = "<>>><<"
            text.append("  ".join(f"{cell:{side}{w}}" for cell, side, w in zip(line, sides, widths, strict=True)))
    return "\n".join([*(line.rstrip() for line in text), "", measured_on(data)])


def measured_on(data: dict[str, Any]) -> str:
    """Return the machine, its load and the versions."""
    on = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    return (
        f"{on['processor']}, {on['cores']} cores; load {data['load'][0]:.2f} before, {data['load'][1]:.2f} after; "
        f"Python {on['python']}, {versions}."
    )


def markdown(data: dict[str, Any]) -> str:
    """Return the table for the documentation, and what it was measured on."""
    lines = ["| " + " | ".join(HEADER) + " |", "|---|--:|--:|--:|---|---|"]
    for line in table(data):
        cells = (f"**{line[0]}**", *[""] * 5) if len(line) == 1 else line
        lines.append("| " + " | ".join(cells).rstrip() + " |")
    return "\n".join([*lines, "", measured_on(data), ""])


def summary(data: dict[str, Any]) -> str:
    """Return the first lines of the page: what a decision costs."""
    indices = {CORRELATED: "printed index", CHANGING: "printed index, no arm twice running", PLAIN: "plain index"}
    lines = []
    for row in data["rows"]:
        kind = row["section"].rsplit(" ", 1)[0]
        if kind in indices and row["what"] == OURS:
            lines.append(f"- {row['arms']:,} correlated arms, {indices[kind]}: {duration(row['seconds'])}")
        elif row["section"] == SCALE and row["target"]:
            lines.append(f"- {row['arms']:,} correlated arms, {row['what']}: {duration(row['seconds'])}")
    return "\n".join([*lines, ""])


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its figures between the marks made anew."""
    for mark, content in (("summary", summary(data)), ("table", markdown(data))):
        text = marked(text, mark, content)
    return text


def marked(text: str, mark: str, content: str) -> str:
    """Return a page with what stands between two marks made anew.

    >>> marked("<!-- speed -->old<!-- end of speed -->", "speed", "new").split()
    ['<!--', 'speed', '-->', 'new', '<!--', 'end', 'of', 'speed', '-->']
    """
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{content.strip()}\n\n{end}{rest.split(end)[1]}"


def kept(file: str) -> dict[str, Any]:
    """Return what was measured for the documentation; no rows before it was."""
    path = DOCS / file
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}
    return found


def keep(data: dict[str, Any], directory: Path, file: str, page: str, mark: str, table: str) -> None:
    """Write the data, and the page with its table made anew, into a directory, the documentation's or another."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (directory / file).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (directory / page).write_text(marked(text, mark, table), encoding="utf-8")


def save(data: dict[str, Any], directory: Path) -> None:
    """Write the data, the page and the plots into a directory, the documentation's or another."""
    (directory / "performance.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    (directory / "performance.md").write_text(page(text, data), encoding="utf-8")
    plots.save(bars(data), directory / "performance.png")
    if len(scaling(data)) > 1:
        plots.save(scale_plot(data), directory / "performance-scale.png")


def as_data(rows: list[Row], sections: dict[str, str], loads: tuple[float, float], on: dict[str, Any]) -> Any:
    """Return everything that is kept of a run."""
    return {"machine": on, "load": list(loads), "sections": sections, "rows": [asdict(row) for row in rows]}


def bars(data: dict[str, Any]) -> Figure:
    """Return time per decision as bars on a logarithmic axis, a panel for each size of the correlated problem."""
    rows = [row for row in data["rows"] if row["seconds"] and _drawn(row)]
    panels = [[row for row in rows if row["arms"] == arms] for arms in sorted({row["arms"] for row in rows})]
    heights = [len(panel) + 1 for panel in panels]
    figure = Figure(figsize=(7.0, 0.8 + 0.22 * sum(heights)), layout="constrained")
    axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False, sharex=True)[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        _bars(ax, sorted(panel, key=lambda row: (row["section"].startswith(PLAIN), row["seconds"])))
    times = [row["seconds"] * 1e6 for row in rows]
    axes[0].set_xlim(min(times) / 2, max(times) * 40)  # room for the text beside the longest bar
    figure.supxlabel("time per decision and update; in brackets the ratio to ours", fontsize=8)
    return figure


def _drawn(row: dict[str, Any]) -> bool:
    """Return whether a row has a bar: all of both indices, and ours where no arm is taken twice running."""
    ours_changing = row["section"].startswith(CHANGING) and row["what"] == OURS
    return ours_changing or row["section"].startswith((CORRELATED, PLAIN))


def _bars(ax: Axes, rows: list[dict[str, Any]]) -> None:
    colours = [plots.COLOURS[1] if row["what"].startswith(OURS) else plots.COLOURS[0] for row in rows]
    ax.barh(range(len(rows)), [row["seconds"] * 1e6 for row in rows], color=colours, height=0.7)
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
    for place, row in enumerate(rows):
        ratio = "" if row["ratio"] == 1 else f"  ({number(row['ratio'])})"
        ax.text(row["seconds"] * 1.15e6, place, f"{duration(row['seconds'])}{ratio}", va="center", fontsize=8)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: duration(value * 1e-6))
    ax.invert_yaxis()
    ax.tick_params(labelsize=8)
    ax.set_title(f"{rows[0]['arms']:,} arms", loc="left", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


def _label(row: dict[str, Any]) -> str:
    """Return the name of a bar; those of the plain index say so, unless they have an index of their own."""
    if row["section"].startswith(CHANGING):
        return f"{row['what']}, no arm twice running"
    own = row["section"].startswith(CORRELATED) or row["what"].startswith("bayesianbandits")
    return row["what"] if own else f"{row['what']}, plain index"


def _plain_numbers(axis: Axis) -> None:
    """Label an axis with 1, 10, 100 instead of powers."""
    axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    axis.set_minor_formatter(NullFormatter())


def scaling(data: dict[str, Any]) -> list[tuple[int, float]]:
    """Return the number of arms and the time per decision of each size of the implicit belief."""
    return [
        (row["arms"], row["seconds"])
        for row in data["rows"]
        if row["section"] == SCALE and row["seconds"] and row["what"].startswith("implicit")
    ]


def scale_plot(data: dict[str, Any]) -> Figure:
    """Return the cost per decision against the number of arms, with a line of slope 1."""
    arms, times = zip(*scaling(data), strict=True)
    figure = Figure(figsize=(5.0, 3.4), layout="constrained")
    ax = figure.subplots()
    line = [times[-1] * n / arms[-1] * 1e3 for n in arms]
    ax.loglog(arms, line, color=plots.COLOURS[5], linestyle=plots.DASHES[1], label="proportional to the arms")
    ax.loglog(arms, [t * 1e3 for t in times], "o-", color=plots.COLOURS[1], label="implicit belief, measured")
    _plain_numbers(ax.xaxis)
    _plain_numbers(ax.yaxis)
    ax.set(xlabel="number of arms", ylabel="milliseconds per decision and update")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
