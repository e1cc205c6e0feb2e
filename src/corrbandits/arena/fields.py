"""Real fields as families of problems: what every place has given is taken for its mean reward."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._shell.csv import Columns, numeric_column, places, read_columns
from corrbandits.arena.problems import USUAL, Problem, Random, fitted, log_uniform

FIELD = "field "
"""How the names of these families begin."""

ENDINGS = (".csv", ".tsv", ".txt")
MISSING = ("", "NA")
MOST = 250
"""A problem has at most so many places, those nearest to one that is drawn."""


def families(directory: str | os.PathLike[str]) -> dict[str, Field]:
    """Return a family for every field in a folder: files of columns that say where places lie and what they gave.

    Of several columns of numbers the first is taken. Places without an entry are left out.
    """
    found = files_in(directory, FIELD, "fields", "meadow.csv with columns x, y and yield")
    return {name: _checked(Field(*_read(path)), path) for name, path in found.items()}


def files_in(directory: str | os.PathLike[str], prefix: str, what: str, such: str) -> dict[str, Path]:
    """Return the tables in a folder, each by what stands before the first dot of its name."""
    folder = Path(directory)
    if not folder.is_dir():
        raise ValueError(f"{what} must be a folder of CSV files, got {str(directory)!r:.80}. Name one that is there.")
    files = sorted(path for path in folder.iterdir() if path.suffix in ENDINGS and path.is_file())
    if not files:
        raise ValueError(f"{folder} must hold {what}, files such as {such}, got none.")
    found: dict[str, Path] = {}
    for path in files:
        name = f"{prefix}{path.name.split('.')[0]}"
        if name in found:
            raise ValueError(
                f"{folder} must have one file for each of the {what}, named by what stands before the first dot, got "
                f"two for {name!r:.60}. Rename {path.name!r:.60}, or move it away."
            )
        found[name] = path
    return found


@final
@dataclass(frozen=True)
class Field:
    """Where places lie and what they gave; called, it draws a problem: those nearest to some place."""

    where: Array
    values: Array

    def __call__(self, rng: Random) -> Problem:
        """Return a problem; a patch where all places gave the same is none, and the next place is tried."""
        first, n = int(rng.integers(len(self.where))), len(self.where)
        nearest = next(patch for k in range(n) if self.varies(patch := self.around((first + k) % n)))
        chosen = rng.permutation(nearest)
        noise_sd = float(self.values[chosen].std()) * log_uniform(rng, *USUAL) ** 0.5
        return fitted(self.where[chosen], self.values[chosen], noise_sd)

    @property
    def digest(self) -> str:
        """The same for the same places and numbers only."""
        content = np.column_stack([self.where, self.values]).astype("<f8")
        return hashlib.sha256(repr(content.shape).encode() + content.tobytes()).hexdigest()

    def around(self, place: int) -> Integers:
        """Return the places nearest to one."""
        return np.argsort(np.square(self.where - self.where[place]).sum(axis=1), kind="stable")[:MOST]

    def varies(self, patch: Integers) -> bool:
        """Return whether some of these places gave more than others."""
        return bool(np.ptp(self.values[patch]) > 0)


def _checked(field: Field, path: Path) -> Field:
    """Return a field that has problems."""
    if not any(field.varies(field.around(place)) for place in range(len(field.values))):
        raise ValueError(
            f"{path} must have places that gave more than others near them, but all gave the same, and no arm is "
            "better than another. Move it away, or put the column of rewards first."
        )
    return field


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
