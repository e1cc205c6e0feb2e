"""CSV files: columns by name, with errors that name the line."""

from __future__ import annotations

import codecs
import csv
import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from corrbandits._core.checks import Array

Column = Sequence[tuple[int, str]]
"""The entries of a column, each with the line of the file on which its row begins."""

# ASCII digits and a point: float() also takes 1_000, which no spreadsheet means
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_columns(path: str | os.PathLike[str]) -> dict[str, Column]:
    """Return the columns of a CSV file (UTF-8, commas, a header, one row per arm) by name; blank lines are skipped."""
    rows = _rows(path)
    if not rows:
        raise ValueError(f"{path}, line 1: expected a header with the names of the columns, but the file is empty.")
    (header_line, entries), *body = rows
    header = [entry.strip() for entry in entries]
    _check_header(header, f"{path}, line {header_line}")
    for line, row in body:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {line}: expected {len(header)} entries, one per column, got {len(row)}. "
                "An entry with a comma in it needs double quotes; decimals take a point."
            )
    if not body:
        raise ValueError(f"{path}, line {header_line}: expected rows below the header, one per arm, got none.")
    return {name: [(line, row[k]) for line, row in body] for k, name in enumerate(header)}


def numeric_column(columns: Mapping[str, Column], name: str, path: str | os.PathLike[str]) -> Array:
    """Return a column as finite numbers."""
    if name not in columns:
        known = ", ".join(columns)
        raise ValueError(
            f"{path}: expected a column {name!r} in the header, but its columns are {known}. Rename one or add it."
        )
    return np.array([finite_number(text, f"{path}, line {line}: column {name!r}") for line, text in columns[name]])


def finite_number(text: str, where: str) -> float:
    """Return the number that an entry says, with a point for the decimals."""
    number = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    if not math.isfinite(number):
        raise ValueError(f"{where} must hold finite numbers such as 1.5, got {text!r:.60}. Correct it.")
    return number


def places(columns: Mapping[str, Column], path: str | os.PathLike[str]) -> Array | None:
    """Return where the rows lie: latitude and longitude, x and y, or x alone; None where there are no such columns."""
    for names in (("latitude", "longitude"), ("x", "y"), ("x",)):
        if names[-1] in columns:
            return np.stack([numeric_column(columns, name, path) for name in names], axis=1)
    return None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark."""
    unreadable = f"{path}: expected a text file, but it cannot be read"
    try:
        content = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise type(error)(f"{unreadable} ({error.strerror}). Check its name and folder.") from None
    except ValueError as error:
        raise ValueError(f"{unreadable} ({error}). Check its name.") from None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: expected text in UTF-8, got the byte {content[error.start]:#04x}. "
            "Save it as UTF-8 (in a spreadsheet: CSV UTF-8)."
        ) from None


def _rows(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the line it begins on (a quoted entry may span several)."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True, skipinitialspace=True)
    rows, line = [], 1
    try:
        for row in reader:
            if row:
                rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {line}: expected entries separated by commas, got this: {error}. "
            "Close every double quote; within quotes, write it twice."
        ) from None
    return rows


def _check_header(header: list[str], where: str) -> None:
    if len(header) == 1 and re.search(r"[;\t]", header[0]):
        raise ValueError(f"{where}: expected names separated by commas, got {header[0]!r}. Save it with commas.")
    for k, name in enumerate(header):
        if not name:
            raise ValueError(f"{where}: expected a name for column {k + 1}, but it is empty. Name or remove it.")
        if name in header[:k]:
            raise ValueError(f"{where}: expected different names, but two columns are called {name!r}. Rename one.")
