"""CSV files as people have them: columns by name, with errors that name the line.

Entries are apart by commas, semicolons or tabs, whichever the header shows; where it is not the comma, decimals may
have one. Headings may be in capitals, and `HEADINGS` lists other words for what this package calls otherwise.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import NUMBER, counted
from corrbandits._shell.texts import cut, read_text

Column = Sequence[tuple[int, str]]
"""The entries of a column, each with the line of the file on which its row begins."""

Row = tuple[int, list[str]]

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
HEADINGS = {
    "latitude": ("lat",),
    "longitude": ("lon", "long", "lng"),
    "name": ("plot", "site", "arm"),
    "at": ("measured",),
}
"""Other headings that a column may have, if there is none of the name that it has here."""

GRID = (("col", "row"), ("column", "row"), ("easting", "northing"), ("east", "north"))
"""Other headings of x and y, if there is no x; both or none."""

TAKEN = (
    "name (or plot, site, arm), and where it lies: x and y (or col and row, easting and northing), x, or latitude and "
    "longitude (or lat and lon)"
)
"""What headings are taken, in words."""

AXES = (("latitude", "longitude"), ("x", "y"), ("x",))
"""Columns that say where the rows lie, those taken first where there are several."""

CODE = re.compile(r"\+|[+-]?0\d", re.ASCII)
"""How a name begins that looks like a number: 007."""

MOST_LISTED = 12
"""Headings, in a message."""

LONGEST_HEADING = 60
"""Characters of it."""

_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_SAID = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)  # a first line that spreadsheets write


@final
class Columns(dict[str, Column]):
    """The columns of a file by their headings, and what separates its entries."""

    def __init__(self, columns: Mapping[str, Column], separator: str = ",") -> None:
        super().__init__(columns)
        self.separator = separator

    def heading(self, name: str) -> str | None:
        """Return the heading of the column that is meant by a name: the same, in other capitals, or another word.

        >>> Columns({"Plot": [], "LON": [], "Yield": []}).heading("longitude")
        'LON'
        """
        return next(filter(None, map(self.exact, (name, *HEADINGS.get(name, ())))), None)

    def exact(self, name: str) -> str | None:
        """Return the heading that is this name, in capitals or not, with a unit after it or not; None if none is.

        >>> Columns({"Plot no.": [], "x [m]": [], "X": []}).exact("x"), Columns({"x [m]": []}).exact("x")
        ('X', 'x [m]')
        """
        fits = (heading for read in (str, _plain, _bare) for heading in self if read(heading) == read(name))
        return next(fits, None)

    def listed(self) -> str:
        """Return the headings in words, of very many the first.

        >>> Columns({"x": [], "y": []}).listed(), Columns({f"c{k}": [] for k in range(99)}).listed()[-13:]
        ('x, y', 'and 87 others')
        """
        rest = len(self) - MOST_LISTED
        first = [cut(heading, LONGEST_HEADING) for heading in [*self][:MOST_LISTED]]
        return ", ".join(first) + (f" and {counted(rest, 'other')}" if rest > 0 else "")

    def axes(self) -> dict[str, str]:
        """Return the headings of the columns that say where rows lie, by the names of their axes; none if none do.

        >>> Columns({"Row": [], "Col": [], "soil": []}).axes()
        {'x': 'Col', 'y': 'Row'}
        """
        for names in AXES:
            found = {name: self.heading(name) for name in names}
            if all(found.values()) or self.exact(names[-1]):  # of a pair, the other one will be missed
                return {name: heading or name for name, heading in found.items()}
        pairs = ([self.exact(word) for word in pair] for pair in GRID)
        return next((dict(zip(("x", "y"), map(str, pair), strict=True)) for pair in pairs if all(pair)), {})


def read_columns(path: str | os.PathLike[str]) -> Columns:
    """Return the columns of a CSV file (UTF-8, a header, one row per arm) by heading; blank rows are skipped."""
    rows, separator = _rows(path)
    if not rows:
        raise ValueError(f"{path}, line 1: expected a header with the names of the columns, but the file is empty.")
    (header_line, entries), *body = _without_blank_columns(rows)
    header = [entry.strip() for entry in entries]
    _check_header(header, f"{path}, line {header_line}")
    for line, row in body:
        if len(row) != len(header):
            comma = "; decimals take a point" if separator == "," else ""
            raise ValueError(
                f"{path}, line {line}: expected {counted(len(header), 'entry', 'entries')}, one per column, got "
                f"{len(row)}. The header has them apart by {SEPARATORS[separator]}: an entry with one in it needs "
                f"double quotes{comma}."
            )
    if not body:
        raise ValueError(f"{path}, line {header_line}: expected rows below the header, got none.")
    return Columns({name: [(line, row[k]) for line, row in body] for k, name in enumerate(header)}, separator)


def numeric_column(columns: Columns, name: str, path: str | os.PathLike[str]) -> Array:
    """Return a column as finite numbers."""
    heading = columns.heading(name)
    if heading is None:
        raise missing_column(columns, name, str(path))
    column = with_points(columns, heading, path)
    return np.array([finite_number(text, f"{path}, line {line}: column {heading!r}") for line, text in column])


def missing_column(columns: Columns, name: str, where: str) -> ValueError:
    """Return the error of a file that lacks a column: the columns it has, and all that are taken for those of arms."""
    place = name in ("latitude", "longitude", "name", "x", "y")
    taken = f" Taken are {TAKEN}." if place else ""
    found = columns.listed()
    return ValueError(f"{where}: expected a column {name!r}, but the columns are {found}. Rename one or add it.{taken}")


def number_or_text(columns: Columns, heading: str, path: str | os.PathLike[str]) -> list[float | str | None]:
    """Return a column as numbers, None where there is no entry, if all its entries are numbers; otherwise as text."""
    texts = [text.strip() for _, text in columns[heading]]
    filled = [(line, text) for line, text in columns[heading] if text.strip()]
    if not filled or any(CODE.match(text.strip()) for _, text in filled):
        return list(texts)
    try:
        found = iter(numeric_column(Columns({heading: filled}, columns.separator), heading, path).tolist())
    except ValueError:
        return list(texts)
    return [next(found) if text else None for text in texts]


def places(columns: Columns, path: str | os.PathLike[str]) -> Array | None:
    """Return where the rows lie: latitude and longitude, x and y, or x alone; None where there are no such columns."""
    axes = columns.axes()
    if not axes:
        return None
    found = {axis: numeric_column(columns, heading, path) for axis, heading in axes.items()}
    for axis, heading in axes.items():
        for (line, _), value in zip(columns[heading], found[axis].tolist(), strict=True):
            refuse_off_globe(axis, value, f"{path}, line {line}: column {heading!r}")
    return np.stack(list(found.values()), axis=1)


def refuse_off_globe(axis: str, value: float, where: str) -> None:
    """Refuse a latitude beyond the poles.

    >>> refuse_off_globe("latitude", -90.0, "this entry"), refuse_off_globe("x", 95.0, "this entry")
    (None, None)
    """
    if axis == "latitude" and abs(value) > 90:
        raise ValueError(f"{where} must hold latitudes from -90 to 90 degrees, got {value:g}. Correct it.")


def _rows(path: str | os.PathLike[str]) -> tuple[list[Row], str]:
    """Return the rows that are not blank, each with the line it begins on, and what separates their entries."""
    text, skipped = read_text(path), 0
    if said := _SAID.match(text.partition("\n")[0]):
        text, skipped = text.partition("\n")[2], 1
    begun = text.lstrip("\r\n")
    header = begun.splitlines()[0] if begun else ""
    separators = [said[1]] if said else sorted(SEPARATORS, key=lambda mark: -_unquoted(header).count(mark))
    tried = []
    for mark in [mark for mark in separators if said or mark in _unquoted(header)] or [","]:
        rows = _unwrapped(_parsed(text, mark, path, skipped))
        tried.append((rows, mark))
        if len({len(row) for _, row in rows}) == 1:
            break
    else:
        return tried[0]
    return tried[-1]


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _parsed(text: str, separator: str, path: str | os.PathLike[str], skipped: int) -> list[Row]:
    """Return the rows that are not blank; a quoted entry may span several lines."""
    quote = "'" if re.match(rf"\s*'[^'\n]*'\s*({re.escape(separator)}|\n|\r|$)", text) else '"'
    reader = csv.reader(
        io.StringIO(text, newline=""), strict=True, skipinitialspace=True, delimiter=separator, quotechar=quote
    )
    rows, line = [], 1 + skipped
    try:
        for row in reader:
            if row and (len(row) == 1 or any(entry.strip() for entry in row)):
                rows.append((line, row))
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {line}: expected entries separated by {SEPARATORS[separator]}, got this: {error}. "
            "Close every double quote; within quotes, write it twice."
        ) from None
    return rows


def _unwrapped(rows: list[Row]) -> list[Row]:
    """Return rows whose whole lines were in quotes as what is within."""
    if not rows or any(len(row) > 1 for _, row in rows) or not (inside := re.search(r"[,;\t]", rows[0][1][0])):
        return rows
    return [(line, next(csv.reader([row[0]], skipinitialspace=True, delimiter=inside[0]))) for line, row in rows]


def _without_blank_columns(rows: list[Row]) -> list[Row]:
    """Return rows without those at the end in which nothing stands, which spreadsheets leave behind."""
    width = len(rows[0][1])
    if any(len(row) != width for _, row in rows):
        return rows
    while width > 1 and not any(row[width - 1].strip() for _, row in rows):
        width -= 1
    return [(line, row[:width]) for line, row in rows]


def _check_header(header: list[str], where: str) -> None:
    known: set[str] = set()
    for k, name in enumerate(header):
        if not name:
            raise ValueError(f"{where}: expected a name for column {k + 1}, but it is empty. Name or remove it.")
        if name in known:
            raise ValueError(f"{where}: expected different names, but two columns are called {name!r}. Rename one.")
        known.add(name)


def with_points(columns: Columns, heading: str, path: str | os.PathLike[str]) -> Column:
    """Return a column with points for its decimal commas; refuse one of which nobody can tell what its commas are."""
    column, separator = columns[heading], columns.separator
    commas = [(line, text) for line, text in column if _COMMA.fullmatch(text.strip())]
    if not commas or separator == ",":
        return column
    where = f"{path}, line {commas[0][0]}: column {heading!r}"
    pointed = next((text for _, text in column if "." in text), None)
    if pointed is not None:
        raise ValueError(
            f"{where} must have its decimals after a point or after a comma, got both, {commas[0][1].strip()!r:.60} "
            f"and {pointed.strip()!r:.60}. Write all of them alike, without marks between thousands."
        )
    if separator == "\t" and all(_THOUSANDS.fullmatch(text.strip()) for _, text in commas):
        raise ValueError(
            f"{where} must have decimals that are no thousands, got {commas[0][1].strip()!r:.60}, which may be either. "
            "Write decimals with a point, and nothing between thousands."
        )
    return [(line, text.replace(",", ".")) for line, text in column]


def finite_number(text: str, where: str) -> float:
    """Return the number that an entry says, with a point for the decimals."""
    number = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    if not math.isfinite(number):
        comma = " Decimals take a point here." if _COMMA.fullmatch(text.strip()) else ""
        raise ValueError(f"{where} must hold finite numbers such as 1.5, got {text!r:.60}.{comma} Correct it.")
    return number


def _plain(heading: str) -> str:
    return re.sub(r"[\s_]+", "_", heading.strip().casefold())


def _bare(heading: str) -> str:
    """Return a heading without what people write after it: a unit in brackets, or "no."."""
    return re.sub(r"_?(\[[^]]*\]|\([^)]*\))$|_(no|nr|number)\.?$", "", _plain(heading))
