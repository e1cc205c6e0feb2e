"""A map of what is believed, in the characters of a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits._shell.texts import printable
from corrbandits.study.arms import Arms
from corrbandits.study.report.lattice import Lattice, across_and_up
from corrbandits.study.report.nearest import cells, terminal_lattice

if TYPE_CHECKING:
    from rich.text import Text

SHADES = "·░▒▓█"
COLOURS = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
BEST, OPEN, UNKNOWN = "*", "o", "?"
MOST_ROWS = 40
WIDEST_LABEL = 12
SCATTERED_COLUMNS, SCATTERED_ROWS = 32, 24
NEAREST = "scattered arms: each place has the shade of the arm nearest to it"


@final
@dataclass(frozen=True)
class TerminalMap:
    """Means on a grid; NaN is an arm of which nothing is known. `best`, called `name`, and `open` are arms."""

    lattice: Lattice
    means: Array
    best: int | None
    open: tuple[int, ...]
    note: str = ""  # what a character stands for, if it is not an arm
    name: str = ""

    def lines(self, width: int, *, colour: bool) -> list[Text]:
        """Return the map, north up, its axes and a legend, no line wider than this."""
        from rich.text import Text

        labels = self._labels()
        margin = max(map(len, labels)) + 2 if any(labels) else 0
        wide, across, up = self._scale(width - margin)
        cells, exists, marks = self._merged(across, up)
        levels = COLOURS if colour else SHADES
        level = _levels(cells, len(levels))
        lines = []
        for r in range(len(cells) - 1, -1, -1):
            label = labels[1] if r == len(cells) - 1 else labels[0] if r == 0 else ""
            line = Text(label.rjust(margin - 2) + "  " if margin else "", no_wrap=True)
            for c in range(cells.shape[1]):
                known = exists[r, c] and not math.isnan(cells[r, c])
                blank = levels[level[r, c]] if known else UNKNOWN if exists[r, c] else " "
                _add_cell(line, blank, marks.get((r, c), ""), wide, colour=colour and known)
            lines.append(line)
        legend = self._legend(levels, across, up, colour=colour)
        return [*lines, self._below(margin, wide * cells.shape[1]), *legend, *([Text(self.note)] if self.note else [])]

    def _scale(self, room: int) -> tuple[int, int, int]:
        """Return how many characters wide a cell is, and how many columns and rows of arms it stands for."""
        columns, rows = self.lattice.x.size, self.lattice.y.size
        wide = 2 if 2 * columns <= room else 1  # a terminal's characters are twice as high as wide
        return wide, math.ceil(columns * wide / max(room, 1)), math.ceil(rows / MOST_ROWS)

    def _merged(self, across: int, up: int) -> tuple[Array, np.ndarray, dict[tuple[int, int], str]]:
        """Return the average of the known arms of each cell, whether it has any arm, and the marks by cell."""
        row, column = self.lattice.row // up, self.lattice.column // across
        shape = (math.ceil(self.lattice.y.size / up), math.ceil(self.lattice.x.size / across))
        place, cells = row * shape[1] + column, shape[0] * shape[1]
        known = ~np.isnan(self.means)
        counts = np.bincount(place[known], minlength=cells)
        sums = np.bincount(place[known], weights=self.means[known], minlength=cells)
        average = np.divide(sums, counts, out=np.full(cells, np.nan), where=counts > 0)
        marks: dict[tuple[int, int], str] = {}
        for arms, mark in (((self.best,) if self.best is not None else (), BEST), (self.open, OPEN)):
            for arm in arms:
                at = int(row[arm]), int(column[arm])
                marks[at] = marks.get(at, "") + ("" if mark in marks.get(at, "") else mark)
        exists = np.bincount(place, minlength=cells).reshape(shape) > 0
        return average.reshape(shape), exists, marks

    def _labels(self) -> tuple[str, str]:
        """Return what the lowest and the highest row are labelled with; nothing if there is but one."""
        y = self.lattice.y
        return (_short(y[0]), _short(y[-1])) if y.size > 1 else ("", "")

    def _below(self, margin: int, length: int) -> Text:
        from rich.text import Text

        left, right = _short(self.lattice.x[0]), _short(self.lattice.x[-1])
        gap = length - len(left) - len(right)
        return Text(" " * margin + (f"{left}{' ' * gap}{right}" if gap > 0 else f"{left} to {right}"), no_wrap=True)

    def _legend(self, levels: Sequence[str], across: int, up: int, *, colour: bool) -> list[Text]:
        from rich.text import Text

        known = self.means[~np.isnan(self.means)]
        line = Text()
        if known.size:
            low, high = float(known.min()), float(known.max())
            if across * up > 1:
                merged = self._merged(across, up)[0]
                low, high = float(np.nanmin(merged)), float(np.nanmax(merged))
            for level in levels:
                _add_cell(line, level, "", 2, colour=colour)
            line.append(
                f"  mean from {number(low, 4)} to {number(high, 4)}"
                if high > low
                else f"  every mean is {number(low, 4)}"
            )
        called = f" ({printable(self.name)})" if self.name else ""
        marks = [f"{BEST} the best so far{called}"] if self.best is not None else []
        marks += [f"{OPEN} a trial is open"] if self.open else []
        marks += [f"{UNKNOWN} nothing is known"] if known.size < self.means.size else []
        line.append(("; " if known.size and marks else "") + ", ".join(marks))
        merged_note = [Text(f"each character is the average of {across} x {up} arms")] if across * up > 1 else []
        return [line, *merged_note]


def scattered_map(arms: Arms, means: Array, best: int | None, waiting: Sequence[int]) -> TerminalMap | None:
    """Return a map of scattered arms, each character that of the nearest; None where arms are few or on a line."""
    found, places = cells(arms, SCATTERED_COLUMNS, SCATTERED_ROWS), across_and_up(arms)
    if found is None or places is None or places[1] is None:
        return None
    grid, nearest = terminal_lattice(found)
    number = np.full(found.arm.shape, -1)
    number[grid.row, grid.column] = np.arange(nearest.size)
    of_arm = number[found.places(places[0], places[1])]
    open_cells = tuple(sorted({int(of_arm[arm]) for arm in waiting}))
    if best is None:
        return TerminalMap(grid, means[nearest], None, open_cells, NEAREST)
    return TerminalMap(grid, means[nearest], int(of_arm[best]), open_cells, NEAREST, arms.name(best))


def _levels(cells: Array, count: int) -> np.ndarray:
    """Return the level of each cell, from 0, in equal steps from the least value to the largest."""
    known = cells[~np.isnan(cells)]
    low, span = (float(known.min()), float(np.ptp(known))) if known.size else (0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        share = (cells - low) / span if span > 0 else np.full(cells.shape, 0.5)
    return np.clip(np.nan_to_num(share * count), 0, count - 1).astype(np.int64)


def _add_cell(line: Text, level: str, marks: str, wide: int, *, colour: bool) -> None:
    if not colour:
        line.append((marks + level * wide)[:wide])
        return
    ink = "black" if COLOURS.index(level) > 5 else "white"
    line.append((marks + "  ")[:wide], style=f"bold {ink} on {level}")


def _short(value: float) -> str:
    return f"{value:.6g}"[:WIDEST_LABEL]
