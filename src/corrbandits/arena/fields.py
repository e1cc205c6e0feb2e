"""Real fields as families of problems: what every place has given is taken for its mean reward."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.csv import Columns, numeric_column, places, read_columns
from corrbandits.arena.problems import USUAL, Make, Problem, Random, fitted, log_uniform

FIELD = "field "
"""How the names of these families begin."""

ENDINGS = (".csv", ".tsv", ".txt")
MISSING = ("", "NA")
MOST = 250
"""A problem has at most so many places, those nearest to one that is drawn."""


def families(directory: str | os.PathLike[str]) -> dict[str, Make]:
    """Return a family for every field in a folder: files of columns that say where places lie and what they gave.

    Of several columns of numbers the first is taken. Places without an entry are left out.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise ValueError(f"fields must be a folder of CSV files, got {str(directory)!r:.80}. Name one that is there.")
    files = sorted(path for path in folder.iterdir() if path.suffix in ENDINGS and path.is_file())
    if not files:
        raise ValueError(f"{folder} must hold fields, files such as meadow.csv with columns x, y and yield, got none.")
    return {f"{FIELD}{path.name.split('.')[0]}": _family(*_read(path)) for path in files}


def _read(path: Path) -> tuple[Array, Array]:
    """Return where the places lie, and what they gave."""
    columns = read_columns(path)
    axes, name = set(columns.axes().values()), columns.heading("name")
    heading = next((heading for heading in columns if heading not in axes and heading != name), None)
    if not axes or heading is None:
        raise ValueError(
            f"{path} must have columns that say where places lie, such as x and y or row and col, and one of numbers, "
            f"got {', '.join(columns)!r:.80}."
        )
    filled = [k for k, (_, text) in enumerate(columns[heading]) if text.strip() not in MISSING]
    kept = Columns({name: [column[k] for k in filled] for name, column in columns.items()}, columns.separator)
    where = places(kept, path)
    assert where is not None
    return where, numeric_column(kept, heading, path)


def _family(where: Array, values: Array) -> Make:
    def make(rng: Random) -> Problem:
        centre = where[rng.integers(len(where))]
        nearest = np.argsort(np.square(where - centre).sum(axis=1), kind="stable")[:MOST]
        chosen = rng.permutation(nearest)
        noise_sd = float(values[chosen].std()) * log_uniform(rng, *USUAL) ** 0.5
        return fitted(where[chosen], values[chosen], noise_sd)

    return make
