"""Roads between arms in a CSV file.

column    meaning
from      an arm, by its name
to        another
length    how long the road between them is; 1 for all if there is no third column. It leads both ways
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from corrbandits._core.graphs import LARGEST, Edges, cut_off, edges_of
from corrbandits._shell.csv import Columns, missing_column, numeric_column, read_columns
from corrbandits._shell.texts import by_name, composed, near

Ends = tuple[int, int]


def read_roads(path: str | os.PathLike[str], names: Sequence[str]) -> Edges:
    """Return the roads of a CSV file between arms of these names, by their places; errors name the line."""
    columns = read_columns(path)
    starts, ends = (_ends(columns, name, path) for name in ("from", "to"))
    place = by_name(names)
    roads: dict[Ends, tuple[int, float]] = {}
    for (line, start), (_, end), length in zip(starts, ends, _lengths(columns, path), strict=True):
        where = f"{path}, line {line}"
        low, high = sorted((_arm(place, start, where), _arm(place, end, where)))
        if low == high:
            raise ValueError(f"{where}: a road must lead to another arm, got {start!r:.60} to itself.")
        if not 0 < length <= LARGEST:
            raise ValueError(f"{where}: a road must have a length above 0, up to {LARGEST:g}, got {length:g}.")
        before, said = roads.setdefault((low, high), (line, length))
        if said != length:
            raise ValueError(
                f"{where}: a road must have one length, but between {start!r:.60} and {end!r:.60} it is {length:g} "
                f"here and {said:g} in line {before}. It leads both ways: keep one of the two lines."
            )
    return _connected({ends: length for ends, (_, length) in roads.items()}, names, str(path))


def _ends(columns: Columns, name: str, path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """Return the names in a column, each with its line."""
    heading = columns.heading(name)
    if heading is None:
        raise missing_column(columns, name, str(path))
    return [(line, text.strip()) for line, text in columns[heading]]


def _lengths(columns: Columns, path: str | os.PathLike[str]) -> list[float]:
    """Return the lengths; all are 1 if there are two columns, and a third of another name is none to pass over."""
    if columns.heading("length") is None and len(columns) == 2:
        return [1.0] * len(next(iter(columns.values())))
    return [float(length) for length in numeric_column(columns, "length", path)]


def _arm(place: dict[str, int], name: str, where: str) -> int:
    found = place.get(name, place.get(composed(name)))
    if found is None:
        meant = "".join(f" Did you mean {one!r}?" for one in near(name, place))
        raise ValueError(f"{where}: a road must lead from arm to arm of the study, got {name!r:.60}.{meant}")
    return found


def _connected(roads: dict[Ends, float], names: Sequence[str], path: str) -> Edges:
    """Return roads that lead from every arm to every other; refuse those that do not."""
    edges = edges_of([(*ends, length) for ends, length in roads.items()])
    lost = cut_off(edges, len(names))
    if lost is not None:
        raise ValueError(f"{path}: no road leads from {names[0]!r:.60} to {names[lost]!r:.60}. Add the roads between.")
    return edges
