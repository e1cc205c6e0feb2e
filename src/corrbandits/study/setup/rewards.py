"""Rewards in a CSV file.

column    meaning
trial     the number of the trial, if rewards were asked for
name      the arm; with a trial it must be that trial's
reward    the reward; where it is empty there is none yet
key       if nobody had asked for it: what it is known by, so that it counts once
at        when it was measured, if that is known; or measured, as a history has it
season    of a history: rewards of one season have a mean of their own; without it all are of one season
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from corrbandits._shell.csv import Column, Columns, finite_number, read_columns, with_points
from corrbandits._shell.texts import near
from corrbandits.study.measured import reads_as_time

DATES = ("date", "day", "time", "when", "datetime", "timestamp")
"""Headings of columns that may say when a reward was measured, but perhaps something else."""

_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


@final
@dataclass(frozen=True)
class Reward:
    """A row of a file, and the line it begins on; NaN where there is no reward yet."""

    line: int
    reward: float
    trial: int | None = None
    name: str | None = None
    key: str | None = None
    at: str | None = None


@final
@dataclass(frozen=True)
class Rewards:
    """The rows of a file that have a reward, and those that have none yet."""

    rows: list[Reward]
    awaited: list[Reward]
    timed: bool = False
    """Whether there is a column that says when they were measured."""

    dated: tuple[str, ...] = ()
    """The columns that are not read although they look like times."""


def read_rewards(path: str | os.PathLike[str], *, needs: str) -> Rewards:
    """Return the rewards of a CSV file that must have this column; errors name the line."""
    columns = read_columns(path)
    for name in (needs, "reward"):
        if columns.heading(name) is None:
            raise ValueError(
                f"{path}, line 1: expected a column {name!r}, but the columns are {', '.join(columns)}. Rename one or "
                f"add it.{' `ask` with a CSV file writes it.' if name == 'trial' else ''}"
            )
    heading = str(columns.heading("reward"))
    rewards = with_points(columns, heading, path)
    rows, awaited = [], []
    for k, (line, text) in enumerate(rewards):
        trial, where = _entry(columns, "trial", k), f"{path}, line {line}"
        known = {column: _entry(columns, column, k) for column in ("name", "key", "at")}
        if text.strip():
            number = _trial(trial, where) if needs == "trial" else None
            rows.append(Reward(line, finite_number(text, f"{where}: column {heading!r}"), number, **known))
        else:
            asked = int(trial) if needs == "trial" and trial and _WHOLE.fullmatch(trial) else None
            awaited.append(Reward(line, math.nan, asked, **known))
    return Rewards(rows, awaited, columns.heading("at") is not None, _dated(columns))


def read_history(path: str | os.PathLike[str], names: Sequence[str]) -> list[tuple[list[int], list[float]]]:
    """Return the arms, by their place among the names, and rewards of each season in a CSV file, in their order there.

    Rows without a reward are left out; errors name the line.
    """
    found, columns = read_rewards(path, needs="name"), read_columns(path)
    place = {name: k for k, name in enumerate(names)}
    heading = columns.heading("season")
    season = {} if heading is None else {line: text.strip() for line, text in columns[heading]}
    seasons: dict[str, tuple[list[int], list[float]]] = {}
    for row in found.rows:
        if row.name not in place:
            meant = "".join(f" Did you mean {one!r}?" for one in near(row.name or "", place))
            raise ValueError(
                f"{path}, line {row.line}: an arm of a history must be one of the study's, got {row.name or ''!r:.60}."
                f"{meant} Leave out rows of other places."
            )
        arms, rewards = seasons.setdefault(season.get(row.line, ""), ([], []))
        arms.append(place[row.name])
        rewards.append(row.reward)
    if not seasons:
        raise ValueError(f"{path}: a history must have a reward at least, got none.")
    return list(seasons.values())


def _dated(columns: Columns) -> tuple[str, ...]:
    """Return the columns that look like times and are not `at`: by their headings, or by every entry."""
    known = {columns.heading(name) for name in ("trial", "name", "reward", "key", "at", "season")}
    others = [heading for heading in columns if heading not in known]
    return tuple(heading for heading in others if heading.strip().casefold() in DATES or _of_times(columns[heading]))


def _of_times(column: Column) -> bool:
    filled = [text for _, text in column if text.strip()]
    return bool(filled) and all(map(reads_as_time, filled))


def _trial(text: str | None, where: str) -> int:
    if text is None or not _WHOLE.fullmatch(text):
        raise ValueError(f"{where}: a trial must be a number that ask said, such as 17, got {text or ''!r:.60}.")
    return int(text)


def _entry(columns: Columns, name: str, k: int) -> str | None:
    heading = columns.heading(name)
    return None if heading is None else columns[heading][k][1].strip() or None
