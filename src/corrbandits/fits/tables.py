"""People from a CSV file whose columns have the usual headings, or those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from corrbandits._core.checks import Array
from corrbandits._shell.csv import CODE, Columns, places, read_columns, with_points
from corrbandits._shell.numbers import NUMBER
from corrbandits.choices import Person, from_frame

if TYPE_CHECKING:
    import pandas as pd

HEADINGS: Mapping[str, Sequence[str]] = {
    "person": ("person", "participant", "subject", "player", "user", "id"),
    "round": ("round", "block", "game", "session"),
    "trial": ("trial", "time", "step", "t"),
    "reward": ("reward", "outcome", "payoff", "points", "z"),
    "horizon": ("horizon",),
}
"""The headings that are looked for, the first that is there taken."""

ARMS = (("arm",), ("x", "y"), ("x",), ("choice",), ("option",), ("action",))
"""And those of the arm: an index from 0, or where it lies."""

OPTIONAL = ("round", "horizon")


@final
@dataclass(frozen=True)
class Headings:
    """Which columns say what; those left out are looked for by their usual names."""

    person: str | None = None
    round: str | None = None
    trial: str | None = None
    arm: tuple[str, ...] = ()
    reward: str | None = None
    horizon: str | None = None

    def found(self, columns: Columns, path: Path) -> dict[str, str | None]:
        """Return the heading of each column in a file, without the arm's; None of one that need not be there."""
        return {name: _heading(columns, name, getattr(self, name), path) for name in HEADINGS}

    def arms(self, columns: Columns, path: Path) -> list[str]:
        """Return the headings of the column or columns that say which arm was chosen."""
        for words in [self.arm] if self.arm else ARMS:
            headings = [columns.exact(word) for word in words]
            if all(headings):
                return [str(heading) for heading in headings]
        asked = ",".join(self.arm) or "arm (an index from 0), or x and y"
        raise ValueError(
            f"{path} must have a column for the arm, {asked}, got {columns.listed()}. Name it with --arm, as in "
            "--arm x,y."
        )


def read_people(path: Path, headings: Headings, *, given: int = 0, arms: Path | None = None) -> list[Person]:
    r"""Return the people of a file; what is wrong is named by its row, which is the line of the file.

    The first `given` trials of each round were shown and not chosen. `arms` is a CSV file that says where arms lie: if
    the arm is an index, its rows are the arms in their order.

    >>> import tempfile
    >>> table = "Participant;block;trial;x;points\n7;1;1;0;2,5\n7;1;2;3;4\n12;1;1;3;1\n12;1;2;3;1"
    >>> with tempfile.TemporaryDirectory() as here:
    ...     path = Path(here) / "choices.csv"
    ...     _ = path.write_text(table)
    ...     people = read_people(path, Headings())
    >>> [int(person.name) for person in people], people[0].rounds[0].rewards
    ([7, 12], array([2.5, 4. ]))
    """
    columns = read_columns(path)
    names, arm = headings.found(columns, path), headings.arms(columns, path)
    frame = _frame(columns, [*(name for name in names.values() if name), *arm], path)
    if names["round"] is None:
        names["round"] = ROUND
        frame[ROUND] = 1
    where = None if arms is None else _where(arms)
    own = arm[0] if len(arm) == 1 and arm[0] != columns.exact("x") else arm
    options: dict[str, Any] = {name: heading for name, heading in names.items() if heading}
    try:
        people = from_frame(frame, **options, arm=own, coordinates=where, given=given)
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None
    if idle := next((person for person in people if not person.choices), None):
        raise ValueError(
            f"{path}: every person must have made a choice, but all trials of person {idle.name} are given. Leave them "
            f"out, or give a smaller --given than {given}."
        )
    return people


ROUND = " round"
"""The heading of the only round where there is no such column: no file has it, as theirs are stripped."""


def _heading(columns: Columns, name: str, asked: str | None, path: Path) -> str | None:
    words = [asked] if asked is not None else HEADINGS[name]
    found = next(filter(None, map(columns.exact, words)), None)
    if found is None and (asked is not None or name not in OPTIONAL):
        raise ValueError(
            f"{path} must have a column for the {name}, {' or '.join(words)}, got {columns.listed()}. Name it with "
            f"--{name}."
        )
    return found


def _frame(columns: Columns, headings: Sequence[str], path: Path) -> pd.DataFrame:
    """Return these columns as a table of texts, or of numbers where all are, numbered by the lines of the file."""
    import pandas as pd

    lines = [line for line, _ in columns[headings[0]]]
    read = {heading: [text.strip() or None for _, text in with_points(columns, heading, path)] for heading in headings}
    return pd.DataFrame({heading: _numbers(texts) for heading, texts in read.items()}, index=lines)


def _numbers(texts: Sequence[str | None]) -> Sequence[float | int | str | None]:
    """Return texts as numbers if all of them are: person 9 comes before person 10, but person 007 is not person 7."""
    if not all(text is not None and NUMBER.fullmatch(text) and not CODE.match(text) for text in texts):
        return texts
    numbers = [float(text) for text in texts if text is not None]
    return [int(x) for x in numbers] if all(x % 1 == 0 and abs(x) < 2**53 for x in numbers) else numbers


def _where(path: Path) -> Array:
    found = places(read_columns(path), path)
    if found is None:
        raise ValueError(f"{path} must say where arms lie, in columns x and y, or x. Give them these names.")
    return found
