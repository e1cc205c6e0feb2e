"""Trace the walks of architecture.md while the program runs, and draw each as a figure beside the page.

    python docs/architecture.py

A walk's steps are the functions that begin the numbered lines of its section. The arrows are calls: from a step to
the next step that runs within it. Rows are the layers of `.importlinter`, the top one first.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "counts"))
import house  # noqa: E402 - found through the path above
from tell import function_of  # noqa: E402 - likewise

PAGE = HERE / "architecture.md"
Work = Callable[[], Any]
EXPERIMENT = """
[arms]
grid = [3, 3]
[truth]
draw = { kernel = "exponential", length = 2.0, variance = 9.0, seed = 1 }
noise_variance = 1.0
[priors.smooth]
kernel = { name = "exponential", length = 2.0, variance = 9.0 }
[policies.correlated]
rule = "CorrelatedUCL"
prior = "smooth"
[run]
horizon = 20
runs = 3
[stress]
accuracy = { shift = [0.0, 1.0] }
confidence = [0.5, 1.0]
length = [1.0]
survivors = false
"""


def tell(folder: Path) -> Work:
    """Return one tell and the next ask of a study in SQLite."""
    import corrbandits as cb

    prior = cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(2.0), coordinates=range(5), noise_variance=4.0)
    study = cb.Study.create(folder / "survey.db", "meadow", prior=prior, policy=cb.UCL())
    first, second = study.ask(2)
    study.tell(first, 31.0)
    return lambda: (study.tell(second, 32.0), study.ask(), study.close())


def experiment(folder: Path) -> Work:
    """Return the command that plays an experiment file and draws its figure."""
    return _command("simulate", folder)


def stress(folder: Path) -> Work:
    """Return the command that stresses the prior of an experiment file and writes its page."""
    return _command("stress", folder)


def _command(name: str, folder: Path) -> Work:
    from corrbandits.cli.entry import main

    (folder / "small.toml").write_text(EXPERIMENT, encoding="utf-8")

    def program() -> None:
        before, sys.argv = sys.argv, ["corrbandits", name, str(folder / "small.toml"), "--out", str(folder)]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                main()
        finally:
            sys.argv = before

    return program


WALKS = {"tell": tell, "experiment": experiment, "stress": stress}


@dataclass
class Walk:
    """What ran: the steps in the order of their first calls, each with the step it was called in; and the modules."""

    parents: dict[str, str | None] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)


def walked(name: str) -> Walk:
    """Return what runs in a walk."""
    wanted, found, running = set(steps(section(name))), Walk(), dict[FrameType, str]()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (called := function_of(frame)) is None:
            return
        module = called[0].removeprefix("corrbandits.")
        function = f"{module}.{called[1]}"
        if module not in found.modules:
            found.modules.append(module)
        if function in wanted and function not in found.parents:
            found.parents[function] = next((running[outer] for outer in _stack(frame) if outer in running), None)
            running[frame] = function

    with tempfile.TemporaryDirectory() as folder:
        work = WALKS[name](Path(folder))
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # None ends it; the stub does not say so
    return found


def _stack(frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames that a frame was called in, the nearest first; then those of the main thread, which waits."""
    main_thread = sys._current_frames().get(threading.main_thread().ident or 0)
    for top in (frame.f_back, main_thread):
        outer = top
        while outer is not None:
            yield outer
            outer = outer.f_back


def section(name: str) -> str:
    """Return the text of the page on a walk: from the heading above its figure to the next heading."""
    for text in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if f"(architecture-{name}.png)" in text:
            return text
    raise ValueError(f"architecture.md must have a section with the figure architecture-{name}.png.")


def steps(text: str) -> list[str]:
    """Return the functions that begin the numbered lines of a section."""
    return re.findall(r"^\d+\. `([\w.]+)`", text, re.MULTILINE)


def modules_of(walk: Walk) -> str:
    """Return which modules run in a walk, as text of the page."""
    names = ", ".join(f"`{module}`" for module in walk.modules)
    return f"{len(walk.modules)} modules run, in this order: {names}.\n"


Place = tuple[int, int]
"""A row and a column of a figure."""


def rows(names: dict[str, str | None]) -> dict[str, int]:
    """Return the row of each step: below the step that calls it, in the band of its layer."""
    order = [entry for layer in house.layers() for entry in layer]
    depth: dict[str, int] = {}
    for name, parent in names.items():
        same = parent is not None and _entry(parent) == _entry(name)
        depth[name] = depth[str(parent)] + 1 if same else 0
    bands = sorted({(order.index(_entry(name)), depth[name]) for name in names})
    return {name: bands.index((order.index(_entry(name)), depth[name])) for name in names}


def columns(names: dict[str, str | None]) -> dict[str, int]:
    """Return the column of each step: a caller is above its first call, each further one begins a new column."""
    taken, found = 0, {}
    for name, parent in names.items():
        first = parent is not None and not any(other == parent for other in _before(names, name))
        found[name] = found[str(parent)] if first else taken
        taken += not first
    return found


def _before(names: dict[str, str | None], name: str) -> list[str | None]:
    known = list(names)
    return [names[other] for other in known[: known.index(name)]]


def _entry(name: str) -> str:
    """Return the folder or module at the top of the package that a function is in."""
    return name.split(".")[0]


WIDE, HIGH, BESIDE, BELOW, LEFT = 1.5, 0.52, 0.2, 0.26, 1.2
"""Inches: a box, the space beside and below it, and the room for the names of the layers."""

INK, LINE, BAND = "#1f2933", "#52606d", ("#f3f5f7", "#e6eaee")


def draw(walk: Walk, path: Path) -> None:
    """Draw a walk: steps as boxes in the bands of their layers, calls as arrows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    row, column = rows(walk.parents), columns(walk.parents)
    width = LEFT + (max(column.values()) + 1) * (WIDE + BESIDE)
    height = (max(row.values()) + 1) * (HIGH + BELOW)
    figure = plt.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    _draw_bands(axes, row, width)
    corners = {name: (LEFT + column[name] * (WIDE + BESIDE), row[name] * (HIGH + BELOW) + BELOW / 2) for name in row}
    for number, (name, parent) in enumerate(walk.parents.items(), 1):
        if parent is not None:
            _draw_arrow(axes, corners[parent], corners[name])
        _draw_box(axes, corners[name], number, name)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _draw_bands(axes: Any, row: dict[str, int], width: float) -> None:
    entries = {number: _entry(name) for name, number in row.items()}
    for k, entry in enumerate(dict.fromkeys(entries[number] for number in sorted(entries))):
        mine = [number for number in entries if entries[number] == entry]
        top, bottom = min(mine) * (HIGH + BELOW), (max(mine) + 1) * (HIGH + BELOW)
        axes.axhspan(top, bottom, color=BAND[k % 2], lw=0)
        axes.text(0.08, (top + bottom) / 2, entry, color=INK, fontsize=11, va="center", weight="bold")


def _draw_arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a call: straight down to the first step within, else along the caller's row and down to the box."""
    style = {"arrowstyle": "-|>,head_width=0.18,head_length=0.35", "color": LINE, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
    if start[0] == end[0]:
        middle = start[0] + WIDE / 2
        axes.annotate("", (middle, end[1]), (middle, start[1] + HIGH), arrowprops=style)
        return
    turn = end[0] + WIDE / 2
    axes.plot([start[0] + WIDE, turn], [start[1] + HIGH / 2] * 2, color=LINE, lw=1.1, solid_capstyle="butt")
    axes.annotate("", (turn, end[1]), (turn, start[1] + HIGH / 2), arrowprops=style)


def _draw_box(axes: Any, corner: tuple[float, float], number: int, name: str) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch

    x, y = corner
    axes.add_patch(FancyBboxPatch((x, y), WIDE, HIGH, "round,pad=0,rounding_size=0.06", fc="white", ec=LINE, lw=0.9))
    axes.add_patch(Circle((x, y), 0.11, fc=INK, ec="white", lw=0.8, zorder=3))
    axes.text(x, y, str(number), color="white", fontsize=7.5, ha="center", va="center_baseline", zorder=4)
    module, function = _shown(name)
    axes.text(x + WIDE / 2, y + 0.16, module, color=LINE, fontsize=8.5, ha="center", va="center")
    axes.text(x + WIDE / 2, y + 0.355, function, color=INK, fontsize=9.8, ha="center", va="center", weight="bold")


def _shown(name: str) -> tuple[str, str]:
    """Return a step's module within its layer, and its function, with the class if it has one."""
    parts = name.split(".")
    own = next((k for k, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    return ".".join(parts[1:own]) or parts[0], ".".join(parts[own:])


def seen(name: str) -> Walk:
    """Return what runs in a walk in a process of its own: what runs depends on what is loaded and done already."""
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
    return Walk(**json.loads(done.stdout))


def with_modules(text: str, name: str, walk: Walk) -> str:
    """Return the page with the modules that run in a walk between their marks."""
    begin, end = f"<!-- modules of {name} -->\n", f"<!-- end of modules of {name} -->\n"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{modules_of(walk)}\n{end}{rest.split(end)[1]}"


def main() -> None:
    """Draw every walk, and write its modules into the page; of one that is named, print what runs."""
    if sys.argv[1:]:
        sys.stdout.write(json.dumps(asdict(walked(sys.argv[1]))))
        return
    for name in WALKS:
        walk = seen(name)
        draw(walk, HERE / f"architecture-{name}.png")
        PAGE.write_text(with_modules(PAGE.read_text(encoding="utf-8"), name, walk), encoding="utf-8")


if __name__ == "__main__":
    main()
