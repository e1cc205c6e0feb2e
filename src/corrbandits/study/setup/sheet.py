"""The arms of a study from a CSV file.

column                       meaning
name                         what an arm is called; needed
x, y | x | latitude,         where it lies; needed with a kernel
longitude
prior_mean, prior_sd         what is thought of its mean reward beforehand: this, give or take that
prior_successes,             the same of rewards 0 and 1: so many of each are taken for seen
prior_failures
any other                    an attribute, kept with the arm: a number if all its entries are, otherwise text

Other words that headings may have for these are in `_shell.csv.HEADINGS`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, final

from corrbandits._core.checks import Array
from corrbandits._shell.csv import (
    MOST_LISTED,
    SEPARATORS,
    Columns,
    missing_column,
    number_or_text,
    numeric_column,
    places,
    read_columns,
)
from corrbandits._shell.numbers import counted
from corrbandits.study.arms import checked_name

PRIOR = ("prior_mean", "prior_sd", "prior_successes", "prior_failures")


@final
@dataclass(frozen=True)
class Sheet:
    """The arms of a file: their columns for `Study.create`, what it says of the prior, and what was understood."""

    arms: dict[str, Any]
    count: int
    axes: tuple[str, ...]
    places: Array | None
    prior_mean: Array | None
    prior_sd: Array | None
    prior_successes: Array | None
    prior_failures: Array | None
    remarks: tuple[str, ...] = ()


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Return the arms of a CSV file; errors name the line."""
    columns = read_columns(path)
    called, names = _names(columns, path)
    axes, where = columns.axes(), places(columns, path)
    priors = {name: columns.heading(name) for name in PRIOR}
    given: dict[str, Any] = {
        name: None if heading is None else numeric_column(columns, heading, path) for name, heading in priors.items()
    }
    sd = given["prior_sd"]
    if sd is not None and (sd < 0).any():
        line, text = columns[str(priors["prior_sd"])][int(sd.argmin())]
        raise ValueError(f"{path}, line {line}: column 'prior_sd' must be at least 0, got {text!r:.60}. Correct it.")
    arms: dict[str, Any] = {"name": names}
    if where is not None:
        arms |= dict(zip(axes, where.T, strict=True))
    taken = {"name": called, **axes, **{name: heading for name, heading in priors.items() if heading}}
    others = {name: number_or_text(columns, name, path) for name in columns if name not in taken.values()}
    remarks = (*_remarks(taken, columns.separator), *_nowhere(others, where), *_at_one_place(names, where))
    return Sheet(arms | others, len(names), tuple(axes), where, **given, remarks=remarks)


def _remarks(taken: dict[str, str], separator: str) -> tuple[str, ...]:
    """Return what was understood of a file that is not written as ours are."""
    renamed = [
        f"{heading} as {name}" for name, heading in taken.items() if heading.casefold().replace(" ", "_") != name
    ]
    apart = [f"separated by {SEPARATORS[separator]}"] if separator != "," else []
    return (f"Read from the file: {'; '.join(apart + renamed)}.",) if apart or renamed else ()


def _nowhere(others: dict[str, Any], where: Array | None) -> tuple[str, ...]:
    """Return that arms lie nowhere, where columns of numbers might have been meant to say it."""
    numbers = [name for name, entries in others.items() if not isinstance(entries[0], str)]
    if where is not None or not numbers:
        return ()
    return (
        f"No column says where arms lie, so none tells of another: {', '.join(numbers[:MOST_LISTED])} "
        f"{'is' if len(numbers) == 1 else 'are'} only kept with the arms. If they lie there, call the columns x and y.",
    )


def _at_one_place(names: list[str], where: Array | None) -> tuple[str, ...]:
    """Return which arms lie at one place: a kernel hardly tells them apart."""
    found: dict[tuple[float, ...], list[str]] = {}
    for name, place in zip(names, [] if where is None else where.tolist(), strict=where is not None):
        found.setdefault(tuple(place), []).append(name)
    together = [" and ".join(arms[:2]) for arms in found.values() if len(arms) > 1]
    if not together:
        return ()
    others = f", and so do arms of {counted(len(together) - 1, 'other place')}" if len(together) > 1 else ""
    return (f"{together[0]} lie at one place{others}: one tells nearly all of the other. Is that meant?",)


def _names(columns: Columns, path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Return the heading of the names, and the names."""
    heading = columns.heading("name")
    if heading is None:
        raise missing_column(columns, "name", f"{path}, line 1")
    lines: dict[str, int] = {}
    for line, text in columns[heading]:
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
    return heading, list(lines)
