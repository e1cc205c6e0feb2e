"""Roads between arms in a CSV file.

column    meaning
from      an arm, by its name
to        another
length    how long the road between them is; 1 for all if there is no such column. It leads both ways
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from corrbandits._core.graphs import Edge, Edges, cut_off, edges_of
from corrbandits._shell.csv import missing_column, numeric_column, read_columns
from corrbandits._shell.texts import near


def read_roads(path: str | os.PathLike[str], names: Sequence[str]) -> Edges:
    """Return the roads of a CSV file between arms of these names, by their places; errors name the line."""
    columns = read_columns(path)
    place, ends = {name: k for k, name in enumerate(names)}, []
    for name in ("from", "to"):
        heading = columns.heading(name)
        if heading is None:
            raise missing_column(columns, name, str(path))
        ends.append([(f"{path}, line {line}", text.strip()) for line, text in columns[heading]])
    known = columns.heading("length") is not None
    lengths = numeric_column(columns, "length", path).tolist() if known else [1.0] * len(ends[0])
    roads = []
    for (where, start), (_, end), length in zip(*ends, lengths, strict=True):
        roads.append((_arm(place, start, where), _arm(place, end, where), length))
        if start == end or length <= 0:
            raise ValueError(
                f"{where}: a road must lead to another arm and have a length above 0, got {start} to {end}."
            )
    return _connected(roads, names, str(path))


def _arm(place: dict[str, int], name: str, where: str) -> int:
    if name not in place:
        meant = "".join(f" Did you mean {one!r}?" for one in near(name, place))
        raise ValueError(f"{where}: a road must lead from arm to arm of the study, got {name!r:.60}.{meant}")
    return place[name]


def _connected(roads: list[Edge], names: Sequence[str], path: str) -> Edges:
    """Return roads that lead from every arm to every other; refuse those that do not."""
    edges = edges_of(roads)
    lost = cut_off(edges, len(names))
    if lost is not None:
        raise ValueError(f"{path}: no road leads from {names[0]!r:.60} to {names[lost]!r:.60}. Add the roads between.")
    return edges
