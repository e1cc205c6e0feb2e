"""The arms of a study from a CSV file.

column                       meaning
name                         what an arm is called; needed
x, y | x | latitude,         where it lies; needed with a kernel
longitude
prior_mean, prior_sd         what is thought of its mean reward beforehand: this, give or take that
prior_successes,             the same of rewards 0 and 1: so many of each are taken for seen
prior_failures
any other                    an attribute, kept with the arm: a number if all its entries are, otherwise text
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from corrbandits._core.checks import Array
from corrbandits._shell.csv import NUMBER, Column, numeric_column, places, read_columns
from corrbandits.study.arms import AXES, checked_name

PRIOR = ("prior_mean", "prior_sd", "prior_successes", "prior_failures")
_CODE = re.compile(r"\+|[+-]?0\d", re.ASCII)  # 007 is a name, not a number


@final
@dataclass(frozen=True)
class Sheet:
    """The arms of a file: their columns for `Study.create`, and what it says of the prior."""

    arms: dict[str, Any]
    count: int
    axes: tuple[str, ...]
    places: Array | None
    prior_mean: Array | None
    prior_sd: Array | None
    prior_successes: Array | None
    prior_failures: Array | None


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Return the arms of a CSV file; errors name the line."""
    columns = read_columns(path)
    names = _names(columns, path)
    where = places(columns, path)
    axes: tuple[str, ...] = next((axes for axes in AXES if set(axes) <= set(columns)), ())
    mean, sd, successes, failures = (numeric_column(columns, name, path) if name in columns else None for name in PRIOR)
    if sd is not None and (sd < 0).any():
        line, text = columns["prior_sd"][int(sd.argmin())]
        raise ValueError(f"{path}, line {line}: column 'prior_sd' must be at least 0, got {text!r:.60}. Correct it.")
    arms: dict[str, Any] = {"name": names}
    if where is not None:
        arms |= dict(zip(axes, where.T, strict=True))
    others = [name for name in columns if name not in ("name", *axes, *PRIOR)]
    arms |= {name: _attribute(columns[name]) for name in others}
    return Sheet(arms, len(names), axes, where, mean, sd, successes, failures)


def _names(columns: Mapping[str, Column], path: str | os.PathLike[str]) -> list[str]:
    if "name" not in columns:
        raise ValueError(
            f"{path}, line 1: expected a column 'name', but the columns are {', '.join(columns)}. Rename one or add it."
        )
    lines: dict[str, int] = {}
    for line, text in columns["name"]:
        try:
            name = checked_name("a name", text)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        if name in lines:
            raise ValueError(
                f"{path}, line {line}: arms must have different names, but {name!r} is on line {lines[name]} too. "
                "Rename one."
            )
        lines[name] = line
    return list(lines)


def _attribute(column: Column) -> list[Any]:
    """Return numbers, with None where there is no entry, if all entries are numbers; otherwise text."""
    texts = [text.strip() for _, text in column]
    if all(not text or (NUMBER.fullmatch(text) and not _CODE.match(text)) for text in texts) and any(texts):
        return [float(text) if text else None for text in texts]
    return texts
