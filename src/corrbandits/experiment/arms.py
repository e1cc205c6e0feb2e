"""The table [arms]: how many arms there are and where they lie."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import final

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.csv import Columns, numeric_column, places, read_columns
from corrbandits._shell.toml import Table
from corrbandits.environments import landscapes

LANDSCAPES = {"two_peaks": landscapes.two_peaks}


@final
@dataclass(frozen=True)
class Arms:
    """How many arms there are, where they lie, and the columns of their CSV file."""

    count: int
    places: Array | None = None
    shape: tuple[int, ...] | None = None
    csv: Path | None = None
    columns: Columns = dataclasses.field(default_factory=lambda: Columns({}))

    def column(self, table: Table, key: str) -> Array:
        """Return the column of the CSV file that a key names, as numbers."""
        with table.blame(key):
            name = checks.text(key, table.values[key])
            return self.named(key, name)

    def named(self, key: str, name: str) -> Array:
        """Return the column of a name; refuse it, on behalf of a key, where there is no CSV file."""
        if self.csv is None:
            raise ValueError(f'{key} must go with csv = "sites.csv" in [arms], got no file. Name one there.')
        return numeric_column(self.columns, name, self.csv)

    def coordinates(self) -> Array:
        """Return where the arms lie; refuse arms that lie nowhere."""
        if self.places is None:
            raise ValueError("a kernel needs arms with coordinates, but these have none. Use grid or csv in [arms].")
        return self.places


def arms_in(top: Table, truth: Table) -> Arms:
    """Return the arms of an experiment file; a landscape and a record bring their own."""
    if "arms" not in top.values and "recorded" in truth.values:
        with truth.blame("recorded"):
            return _arms_of_csv(truth.file.parent / checks.text("recorded", truth.values["recorded"]))
    if "arms" in top.values or "landscape" not in truth.values:
        return _listed_arms(top.table("arms", "[arms] with grid = [10, 10]"))
    surface = truth.choice("landscape", LANDSCAPES)()
    return Arms(surface.arms, surface.coordinates, surface.shape)


def _listed_arms(table: Table) -> Arms:
    table.refuse_other_keys(("grid", "csv", "count"))
    way = table.one_of(("grid", "csv", "count"))
    value = table.values[way]
    with table.blame(way):
        if way == "csv":
            return _arms_of_csv(table.file.parent / checks.text("csv", value))
        if way == "grid" and not (isinstance(value, list) and len(value) == 2):
            raise ValueError(f"grid must be [rows, columns], such as [10, 10], got {value!r:.60}.")
        sides = [checks.integer(way, side, least=1) for side in (value if way == "grid" else [value])]
        if (count := math.prod(sides)) > landscapes.MOST_ARMS:
            raise ValueError(f"{way} must give at most {landscapes.MOST_ARMS:,} arms, got {count:,}.")
        return Arms(count) if way == "count" else Arms(count, landscapes.grid(*sides), tuple(sides))


def _arms_of_csv(path: Path) -> Arms:
    columns = read_columns(path)
    return Arms(len(next(iter(columns.values()))), places(columns, path), csv=path, columns=columns)
