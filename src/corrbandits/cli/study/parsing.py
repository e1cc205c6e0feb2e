"""What the texts of a command line say: numbers, times, names; and where studies are kept."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corrbandits._shell.numbers import NUMBER

if TYPE_CHECKING:
    from corrbandits.moves import Moves
    from corrbandits.policies import Policy
    from corrbandits.study import Study

LONGEST_STEM = 60
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}

_ARGUMENT = re.compile(
    "`(rounds|noise_sd|prior_mean|prior_sd|successes|failures|kernel|length|per_axis|distance|alpha|policy|set|learn|drift|move_cost)`"
)

_TWO = re.compile(rf"\s*(?P<low>{NUMBER.pattern})\s*(?:[,;:/-]|to|–|…)\s*(?P<high>{NUMBER.pattern})\s*", re.ASCII)
"""Two numbers that are apart by what others write between the ends of a range."""

_PLAIN = "decimals take a point, and thousands nothing"


def database(db: str | None, *, create: bool = False) -> str:
    """Return where studies are kept; make the directory of the default file if one is to be created there."""
    if db is not None:
        return db
    from platformdirs import user_data_path

    directory = user_data_path("corrbandits", appauthor=False)
    if create:
        from corrbandits.study.journal import JournalError

        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(
                f"{directory}, where studies are kept, cannot be made: {error.strerror}. Name a database by --db."
            ) from error
    return str(directory / "studies.db")


@contextmanager
def opened(db: str | None, name: str) -> Iterator[Study]:
    """Yield a study of a database; where it refuses a call and names another, the command for that is named."""
    from corrbandits.study import Study
    from corrbandits.study.refusal import RefusedError

    with Study.open(database(db), name) as study:
        try:
            yield study
        except RefusedError as refused:
            raise ValueError(refused.for_shell(name)) from refused


def number(what: str, text: str) -> float:
    """Return the number that a text says, with a point for the decimals."""
    if not NUMBER.fullmatch(text.strip()) or not math.isfinite(float(text)):
        comma = f" {_PLAIN.capitalize()}." if "," in text else ""
        raise ValueError(f"{what} must be a finite number such as -1.5, got {text!r:.60}.{comma}")
    return float(text)


def number_or_none(what: str, text: str | None) -> float | None:
    """Return the number that an option says, if it was given."""
    return None if text is None else number(what, text)


def number_or_range(what: str, text: str | None) -> float | tuple[float, float] | None:
    """Return the number that an option says, or the two ends of a range.

    >>> number_or_range("--length", "100..400"), number_or_range("--length", "3")
    ((100.0, 400.0), 3.0)
    """
    if text is None:
        return None
    low, *more = text.split("..")
    if not more:
        _refuse_another_range(what, text)
        return number(what, text)
    if len(more) > 1 or not low.strip() or not more[0].strip():
        raise ValueError(f"the range of {what} must have two ends, such as 100..400, got {text!r:.60}.")
    ends = number(f"the lower end of {what}", low), number(f"the upper end of {what}", more[0])
    if not ends[0] < ends[1]:
        raise ValueError(
            f"the range of {what} must go from the lower end to the upper, such as 100..400, got {text!r:.60}."
        )
    return ends


def _refuse_another_range(what: str, text: str) -> None:
    """Refuse two numbers that are apart by something else than two dots; say how a range is written."""
    if found := _TWO.fullmatch(text):
        comma = f"; {_PLAIN}" if "," in text else ""
        raise ValueError(
            f"{what} must be a number or a range such as 100..400, got {text!r:.60}. For a range write "
            f"{found['low']}..{found['high']}{comma}."
        )


def trial_number(text: str) -> int:
    """Return the number of a trial that a text says."""
    if re.fullmatch(r"\d{1,18}", text, re.ASCII):
        return int(text)
    raise ValueError(
        f"a trial must be a number that ask said, such as 17, got {text!r:.60}. The open trial of an arm is told "
        "by `tell STUDY --arm ARM REWARD`; `observe STUDY ARM REWARD` is for a reward that was not asked for."
    )


def seconds(text: str, what: str = "--timeout", such: str = "36h") -> float:
    """Return how many seconds a length of time has: 90s, 30min, 36h, 14d or 6w.

    >>> seconds("36h"), seconds("0.5d")
    (129600.0, 43200.0)
    """
    found = re.fullmatch(r"([\d.]+) ?(s|min|h|d|w)", text.strip(), re.ASCII)
    if found is None or not NUMBER.fullmatch(found[1]) or float(found[1]) == 0:
        raise ValueError(f"{what} must be a number above 0 and s, min, h, d or w, such as {such}, got {text!r:.60}.")
    return float(found[1]) * UNITS[found[2]]


def days(what: str, text: str | None) -> bool | float | tuple[float, float] | None:
    """Return the time in which rewards change, in days: a length, a range, True if it is not known, False if never.

    >>> days("--drift", "6w"), days("--drift", "12h..30d"), days("--drift", "unknown"), days("--drift", "none")
    (42.0, (0.5, 30.0), True, False)
    """
    if text is None or text.strip().lower() == "unknown":
        return None if text is None else True
    if text.strip().lower() == "none":
        return False
    low, dots, high = text.partition("..")
    if dots and not (low.strip() and high.strip()):
        raise ValueError(f"the range of {what} must have two ends, such as 10d..60d, got {text!r:.60}.")
    _refuse_bare(what, text, [low, high] if dots else [low])
    ends = [seconds(part, what, "30d, 10d..60d or unknown") / UNITS["d"] for part in ([low, high] if dots else [low])]
    if dots and not ends[0] < ends[1]:
        raise ValueError(
            f"the range of {what} must go from the shorter time to the longer, such as 10d..60d, got {text!r:.60}."
        )
    return (ends[0], ends[1]) if dots else ends[0]


def _refuse_bare(what: str, text: str, parts: Sequence[str]) -> None:
    """Refuse lengths of time without a unit; say how they are written."""
    bare = [part for part in parts if NUMBER.fullmatch(part.strip())]
    if bare:
        unit = next((found[0] for part in parts if (found := re.search(r"[a-z]+$", part.strip()))), "d")
        meant = "..".join(f"{part.strip()}{unit if part in bare else ''}" for part in parts)
        raise ValueError(f"{what} must have a unit: s, min, h, d or w, got {text!r:.60}. Write {meant}.")


def moves_said(per_move: str | None, per_distance: str | None, before: Policy | None = None) -> Moves | None:
    """Return what moves cost, if that was said; what was not said of it costs what it did before.

    >>> moves_said("2", None), moves_said(None, None)
    (Moves(per_move=2), None)
    """
    from corrbandits.moves import Moves
    from corrbandits.policies import Travelling

    given: dict[str, Any] = {
        "per_move": number_or_none("--move-cost", per_move),
        "per_distance": number_or_none("--move-cost-per", per_distance),
    }
    said = {name: value for name, value in given.items() if value is not None}
    return replace(before.moves if isinstance(before, Travelling) else Moves(), **said) if said else None


def along(roads: Path, moves: Moves | None, names: Sequence[str]) -> Moves:
    """Return what moves cost along the roads of a CSV file between arms of these names."""
    from corrbandits.study import setup

    if moves is None or not moves.per_distance:
        raise ValueError("--roads says how long ways are, got no cost of length. Add --move-cost-per, or leave it out.")
    return replace(moves, graph=setup.read_roads(roads, names))


def parameters(texts: Sequence[str]) -> dict[str, float | bool]:
    """Return the values of a rule's parameters by name.

    >>> parameters(["a=3.3", "factor=false"])
    {'a': 3.3, 'factor': False}
    """
    found: dict[str, float | bool] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or name in found:
            raise ValueError(f"--set must be name=value, each name once, such as a=3.3, got {text!r:.60}.")
        if value.lower() in ("true", "false"):
            found[name] = value.lower() == "true"
        elif NUMBER.fullmatch(value) and math.isfinite(float(value)):
            found[name] = float(value)
        else:
            raise ValueError(f"--set {name} must be a finite number, or true or false, got {value!r:.60}.")
    return found


def option_names(text: str) -> str:
    """Return a message of `study.setup` with its arguments as they are called here.

    >>> option_names("`noise_sd` must be above 0")
    '--noise-sd must be above 0'
    """
    return _ARGUMENT.sub(lambda found: "--" + found[1].replace("_", "-"), text)


@contextmanager
def naming_options() -> Iterator[None]:
    """Name the options in messages of `study.setup`."""
    try:
        yield
    except ValueError as error:
        if str(error) == option_names(str(error)):
            raise
        raise ValueError(option_names(str(error))) from error


def refuse_place(path: Path, *, replace: bool) -> None:
    """Refuse a file that could not be written, before anything is done; and to overwrite one, unless that was said."""
    if path.is_dir():
        raise ValueError(f"{path} must be a file or not be there, but it is a folder. Name a file in it.")
    if path.exists() and not replace:
        raise ValueError(f"{path} exists and stays as it is. Name another file, or say --replace.")
    if not path.parent.is_dir():
        raise ValueError(f"{path} must lie in a folder that there is, got {path.parent}. Make it, or name another.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{path} must be a file that may be written, but it may not. Name another.")


def quoted(name: str) -> str:
    """Return a name as one would type it."""
    return f"-- {shlex.quote(name)}" if name.startswith("-") else shlex.quote(name)


def harmless(name: str) -> str:
    """Return a name that a file may have anywhere: letters, digits, - _ and points, none of these at the beginning.

    >>> harmless("../../etc/my meadow"), harmless("..")
    ('etc-my-meadow', 'study')
    """
    kept = "".join(character if character.isalnum() or character in "-_." else "-" for character in name)
    return kept.strip("-_.")[:LONGEST_STEM] or "study"
