"""Rewards in a CSV file.

column    meaning
trial     the number of the trial, if rewards were asked for
name      the arm; with a trial it must be that trial's
reward    the reward; where it is empty there is none yet
key       if nobody had asked for it: what it is known by, so that it counts once
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import final

from corrbandits._shell.csv import Columns, finite_number, read_columns, with_points

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


@final
@dataclass(frozen=True)
class Rewards:
    """The rows of a file that have a reward, and those that have none yet."""

    rows: list[Reward]
    awaited: list[Reward]


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
        known = {column: _entry(columns, column, k) for column in ("name", "key")}
        if text.strip():
            number = _trial(trial, where) if needs == "trial" else None
            rows.append(Reward(line, finite_number(text, f"{where}: column {heading!r}"), number, **known))
        else:
            asked = int(trial) if needs == "trial" and trial and _WHOLE.fullmatch(trial) else None
            awaited.append(Reward(line, math.nan, asked, **known))
    return Rewards(rows, awaited)


def _trial(text: str | None, where: str) -> int:
    if text is None or not _WHOLE.fullmatch(text):
        raise ValueError(f"{where}: a trial must be a number that ask said, such as 17, got {text or ''!r:.60}.")
    return int(text)


def _entry(columns: Columns, name: str, k: int) -> str | None:
    heading = columns.heading(name)
    return None if heading is None else columns[heading][k][1].strip() or None
