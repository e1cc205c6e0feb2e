"""New studies: from a document, and a look at a table of arms before one is made."""

from __future__ import annotations

import codecs
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from corrbandits._shell.csv import Columns, finite_number, read_columns, refuse_off_globe, with_points
from corrbandits.belief import Vague
from corrbandits.moves import Moves
from corrbandits.policies import recommend
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.setup import PRIOR, Sheet, read_sheet
from corrbandits.study.untold import minding, way_in_words
from corrbandits.web.service.shapes import Creating, Told

MOST_PROBLEMS = 50
Data = dict[str, Any]


@final
@dataclass(frozen=True)
class Making:
    """What `Study.create` is given, and remarks on what was chosen."""

    arguments: Data
    remarks: tuple[str, ...]


def made_of(creating: Creating) -> Making:
    """Return what a study is to be made of; what was not told is learnt."""
    arms = Arms.of(creating.arms)
    prior = _prior(arms, creating.told)
    found = recommend(prior, creating.rounds)
    given = creating.model_dump(include={"arms", "goal", "repeat", "timeout", "seed", "unit"})
    moves = None if creating.moves is None else Moves(**creating.moves.model_dump())
    rule = found.policy if moves is None else minding(found.policy, moves, arms)
    remarks = f"The rule was chosen: {found.reason}.", *way_in_words(rule)
    return Making(given | {"prior": prior, "policy": rule}, remarks)


def _prior(arms: Arms, told: Told | None) -> Vague:
    said: Data = {} if told is None else told.model_dump(exclude_none=True)
    known: Data = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    if arms.coordinates is None:
        if "length" in known:
            raise ValueError("length says how far correlation reaches, but the arms lie nowhere. Leave it out.")
        return Vague(arms=arms.count, **known)
    distance: Any = "great_circle" if "latitude" in arms.axes else "euclidean"
    return Vague(coordinates=arms.coordinates, distance=distance, **known)


def previewed(body: bytes) -> Data:
    """Return how a table of arms is understood, and what is wrong with it: row, column and what."""
    if not body.strip():
        raise ValueError("the file is empty: expected a header and a row for each arm. Look whether it was saved.")
    text, remarks = _decoded(body)
    with tempfile.TemporaryDirectory(prefix="corrbandits-") as folder:
        file = Path(folder) / "table.csv"
        file.write_text(text, encoding="utf-8", newline="")
        try:
            sheet = read_sheet(file)
            Arms.of(sheet.arms)  # whatever a study would refuse, such as more arms than it takes
        except ValueError as error:
            return _wrong(_problems(file, error), remarks)
    return _understood(sheet, remarks)


def _understood(sheet: Sheet, remarks: list[str]) -> Data:
    """Return all rows: a study is made of what is shown."""
    return {
        "columns": {name: _plain(values) for name, values in sheet.arms.items()},
        "rows": sheet.count,
        "arms": sheet.count,
        "axes": list(sheet.axes),
        "names": list(sheet.arms["name"]),
        "problems": [],
        "remarks": [*remarks, *sheet.remarks, *_left_out(sheet)],
    }


def _left_out(sheet: Sheet) -> list[str]:
    """Return which columns no study is made of here."""
    found = [name for name in PRIOR if getattr(sheet, name) is not None]
    return [f"Left out: {', '.join(found)}. Say below what you know of all sites."] if found else []


def _wrong(problems: list[Data], remarks: list[str]) -> Data:
    empty: Data = {"columns": {}, "rows": 0, "arms": 0, "axes": [], "names": []}
    return empty | {"problems": problems, "remarks": remarks}


def _problems(file: Path, error: ValueError) -> list[Data]:
    """Return all that is wrong with a table; what the first error says, if nothing more can be found out."""
    try:
        columns = read_columns(file)
    except ValueError:
        return [_problem(file, error)]
    found = [*_bad_names(columns), *_bad_numbers(columns, file)]
    return found[:MOST_PROBLEMS] or [_problem(file, error)]


def _bad_names(columns: Columns) -> list[Data]:
    heading, found = columns.heading("name"), []
    lines: dict[str, int] = {}
    for line, text in columns[heading] if heading is not None else ():
        try:
            name = checked_name("a name", text)
        except ValueError as error:
            found.append({"row": line, "column": heading, "what": str(error)})
            continue
        if name in lines:
            what = f"{name!r:.60} is on line {lines[name]} too: arms must have different names. Rename one."
            found.append({"row": line, "column": heading, "what": what})
        lines.setdefault(name, line)
    return found


def _bad_numbers(columns: Columns, file: Path) -> list[Data]:
    found = []
    for axis, heading in columns.axes().items():
        if heading not in columns:
            continue
        try:
            column = with_points(columns, heading, file)
        except ValueError as error:
            found.append(_problem(file, error))
            continue
        for line, text in column:
            try:
                refuse_off_globe(axis, finite_number(text, "this entry"), "this entry")
            except ValueError as error:
                found.append({"row": line, "column": heading, "what": str(error)})
    return found


def _problem(file: Path, error: ValueError) -> Data:
    """Return what an error says of a table, and of which row and column."""
    said = str(error).replace(f"{file}, ", "").replace(f"{file}: ", "").replace(str(file), "the table")
    line, column = re.match(r"line (\d+): ", said), re.search(r"column '([^']*)'", said)
    said = said if line is None else said[line.end() :]
    return {
        "row": None if line is None else int(line[1]),
        "column": None if column is None else column[1],
        "what": said[:1].upper() + said[1:],
    }


def _decoded(body: bytes) -> tuple[str, list[str]]:
    """Return the text of a table: UTF-8, UTF-16 with its mark, or what spreadsheets on Windows write."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace"), []
    try:
        return body.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        if body[:2] == b"PK" or b"\0" in body:
            raise ValueError(
                "expected a table as text, got a spreadsheet or another program's file. Save the sheet as CSV."
            ) from None
        return body.decode("cp1252", "replace"), ["Read as Windows' letters: look whether names are right."]


def _plain(values: Any) -> list[Any]:
    return [value.item() if hasattr(value, "item") else value for value in values]
