"""What is known of games: a folder that any number of commands add to, ours and those of other libraries.

    arena.json    which problems: the version of their families, and the seed
    games.csv     a row per game, appended as soon as it was played
    fields.csv    a row per real field, with a digest of its numbers: a field that has changed is another one

    column            meaning
    family, number    which problem: `problems.problem(family, seed, number)`
    horizon           how many decisions there were
    rule, told        who played, and what it was told: everything, nothing, or what was wrong
    regret            how much less than the best arm's mean reward was earned in expectation, in all decisions
    simple_regret     how much worse than the best arm is the one named at the end
    seconds           processor time per decision; of games that a device played at once, a share of all time

Regrets are in units of `Problem.scale`, the deviation of mean rewards. A row counts once its line has ended; what a
kill has left of one is removed by whoever writes next.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from corrbandits._core import checks
from corrbandits._shell import outputs
from corrbandits._shell.appended import append, whole_lines
from corrbandits.arena.problems import TUNING, VERSION

FORMAT = "corrbandits arena 1"
DESCRIPTION, GAMES, FIELDS = "arena.json", "games.csv", "fields.csv"
FIELD_COLUMNS = ("family", "digest")


class Key(NamedTuple):
    """Which game it is."""

    family: str
    number: int
    horizon: int
    rule: str
    told: str


class Game(NamedTuple):
    """How a game ended."""

    family: str
    number: int
    horizon: int
    rule: str
    told: str
    regret: float
    simple_regret: float
    seconds: float

    @property
    def key(self) -> Key:
        """Which game it is.

        >>> Game("chain", 3, 50, "Gittins", "nothing", 12.5, 0.25, 1e-4).key.rule
        'Gittins'
        """
        return Key(self.family, self.number, self.horizon, self.rule, self.told)


@final
class Results:
    """The games in a folder, which is made if it is not there.

    `seed` None is that of the folder, or, in a new one, one that nobody chose; it is written down there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     Results(here, seed=7).add([Game("chain", 3, 50, "Gittins", "nothing", 12.5, 0.25, 1e-4)])
    ...     again = Results(here)
    ...     again.seed, [game.regret for game in again.games()]
    (7, [12.5])
    """

    def __init__(self, directory: str | os.PathLike[str], seed: int | None = None) -> None:
        self.directory = Path(directory)
        outputs.make_directory(self.directory, "games")
        self.seed = _described(self.directory, None if seed is None else reporting_seed(seed))

    def games(self) -> list[Game]:
        """Return every game once, the row that was written first."""
        found: dict[Key, Game] = {}
        for where, row in _rows(self.directory / GAMES, Game._fields):
            game = _read(row, where)
            found.setdefault(game.key, game)
        return list(found.values())

    def add(self, games: Iterable[Game]) -> None:
        """Append games; they are there after a kill or a power failure from the moment this returns."""
        _append(self.directory / GAMES, games, Game._fields)

    def see_fields(self, digests: Mapping[str, str]) -> None:
        """Write down the digests of real fields; refuse a field that was another when it was first seen.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as here:
        ...     Results(here, seed=7).see_fields({"field meadow": "ab12"})
        ...     Results(here).see_fields({"field meadow": "ab12", "field hill": "cd34"})
        """
        place = self.directory / FIELDS
        known: dict[str, str] = {}
        for where, row in _rows(place, FIELD_COLUMNS):
            if len(row) != len(FIELD_COLUMNS):
                raise ValueError(
                    f"{where}: expected {', '.join(FIELD_COLUMNS)}, got {','.join(row)!r:.80}. Remove that line."
                )
            known.setdefault(*row)
        for family, digest in digests.items():
            if known.get(family, digest) != digest:
                raise ValueError(
                    f"{self.directory} has games of {family!r:.60}, but its file has changed since: they do not "
                    "compare. Name another folder for the games, or give the file another name."
                )
        if new := [one for one in digests.items() if one[0] not in known]:
            _append(place, new, FIELD_COLUMNS)


def reporting_seed(seed: int) -> int:
    """Return a seed that a report may use; refuse those that rules were tuned on.

    >>> reporting_seed(7)
    7
    """
    if checks.integer("seed", seed, least=0) in TUNING:
        raise ValueError(
            f"the seed of a report must not be from {TUNING[0]} to {TUNING[-1]}, which rules are tuned on, got {seed}. "
            "Take another, or leave it out: one is drawn and written down."
        )
    return seed


def _drawn_seed() -> int:
    """Return a seed that nobody chose."""
    while (seed := int(np.random.SeedSequence().generate_state(1)[0])) in TUNING:
        pass
    return seed


def _described(directory: Path, seed: int | None) -> int:
    """Return the seed of a folder, which is made one of these problems; refuse one of others."""
    place = directory / DESCRIPTION
    if not place.exists():
        if (directory / GAMES).exists():
            raise ValueError(f"{directory} has {GAMES} but no {DESCRIPTION}, which says of what. Name another folder.")
        chosen = _drawn_seed() if seed is None else seed
        content = {"format": FORMAT, "problems": VERSION, "seed": chosen}
        outputs.write_file(place, (json.dumps(content, indent=2) + "\n").encode(), follow_links=False, tidy=False)
    there = _there(place)  # also what was written just now: another process may have come first
    if there["problems"] != VERSION:
        raise ValueError(
            f"{directory} has games of version {there['problems']!r:.20} of the problems, but this is {VERSION}: they "
            "do not compare. Name another folder."
        )
    if seed is not None and there["seed"] != seed:
        raise ValueError(
            f"{directory} has games of seed {there['seed']}, got {seed}. Leave the seed out, or name another folder."
        )
    return reporting_seed(there["seed"])


def _there(place: Path) -> dict[str, int]:
    try:
        there = json.loads(place.read_bytes())
    except (ValueError, RecursionError):
        there = None
    if not isinstance(there, dict) or there.get("format") != FORMAT or type(there.get("seed")) is not int:
        raise ValueError(f"{place} must be written by corrbandits ({FORMAT}), but it is not. Name another folder.")
    return {"problems": there.get("problems", 0), "seed": there["seed"]}


def _rows(place: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a file, each with where it ends; none if there is no file."""
    try:
        reader = csv.reader(io.StringIO(whole_lines(place) or _lines([columns]), newline=""))
        if (header := next(reader)) != list(columns):
            raise ValueError(f"{place} must have the columns {', '.join(columns)}, got {', '.join(header)!r:.80}.")
        yield from ((f"{place}, line {reader.line_num}", row) for row in reader)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{place}, line {line} must be text in UTF-8, got the byte 0x{error.object[error.start]:02x}. Mend or "
            "remove that line."
        ) from None


def _append(place: Path, rows: Iterable[Iterable[object]], columns: Sequence[str]) -> None:
    try:
        append(place, _lines(rows), _lines([columns]))
    except OSError as error:
        remedy = outputs.REMEDIES.get(error.errno or 0, "Name another directory.")
        raise OSError(f"{place} cannot be written: {error.strerror}. {remedy}") from error


def _read(row: list[str], where: str) -> Game:
    try:
        family, number, horizon, rule, told, *measured = row
        game = Game(family, int(number), int(horizon), rule, told, *map(float, measured))
    except (TypeError, ValueError):
        raise ValueError(
            f"{where}: expected a game, {', '.join(Game._fields)}, got {','.join(row)!r:.80}. Remove that line."
        ) from None
    if game.number < 0 or game.horizon < 1:
        raise ValueError(
            f"{where}: number must be 0 or more and horizon 1 or more, got {game.number} and {game.horizon}. Remove "
            "that line."
        )
    for name in ("regret", "simple_regret", "seconds"):
        if not 0 <= (value := getattr(game, name)) < math.inf:
            raise ValueError(f"{where}: {name} must be a finite number, 0 or more, got {value}. Remove that line.")
    return game


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
