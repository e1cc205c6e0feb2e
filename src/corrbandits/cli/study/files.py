"""Trials and rewards in CSV files: what `ask --csv` writes, and what `tell --from` and `observe --from` read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corrbandits._shell.numbers import LARGEST
from corrbandits.cli.study.printing import document, say

if TYPE_CHECKING:
    from corrbandits.study import Snapshot, Study, Trial
    from corrbandits.study.batch import Advanced
    from corrbandits.study.report.surprises import Surprise
    from corrbandits.study.setup import Rewards

MOST_WARNINGS = 3


def write_trials(path: Path, snapshot: Snapshot, trials: Sequence[Trial]) -> None:
    """Write trials, where their arms lie, and an empty column for their rewards."""
    import pandas as pd

    from corrbandits._shell import outputs
    from corrbandits.study.exchange import spreadsheet

    arms, chosen = snapshot.arms, [trial.arm for trial in trials]
    columns: dict[str, Any] = {"trial": [trial.number for trial in trials], "name": [trial.name for trial in trials]}
    if arms.coordinates is not None:
        where = arms.coordinates[chosen].T.tolist()
        columns |= {axis: as_written(column) for axis, column in zip(arms.axes, where, strict=True)}
    outputs.write_file(path, spreadsheet(pd.DataFrame(columns | {"reward": ""})).encode())


def as_written(column: list[float]) -> list[int] | list[float]:
    """Return numbers as a spreadsheet has them: without a point if all of them are whole.

    >>> as_written([300.0, 0.0]), as_written([1.5, 2.0])
    ([300, 0], [1.5, 2.0])
    """
    return [int(x) for x in column] if all(x % 1 == 0 and abs(x) < LARGEST for x in column) else column


def tell_from(study: Study, path: Path, at: str | None, *, as_json: bool) -> None:
    """Tell the rewards of a file, all or none; where it does not say when they were measured, it was then."""
    from corrbandits.study.setup import read_rewards

    found, now = read_rewards(path, needs="trial"), study.snapshot()
    for row in sorted([*found.rows, *found.awaited], key=lambda row: row.line):
        if row.trial is None or row.name is None or not 1 <= row.trial <= len(now.trials):
            continue  # an unknown trial is refused below
        name = now.trial(row.trial).name
        if row.name.removeprefix("'") != name and row.name != name:  # a ' stands before what is no formula
            raise ValueError(
                f"{path}, line {row.line}: trial {row.trial} is of {name!r}, but the row says {row.name!r:.60}. "
                "Correct one of them. Nothing was recorded."
            )
    _refuse_unread_times(now, path, found, at)
    rewards = [(row.trial or 0, row.reward, row.at or at) for row in found.rows]
    new = _recorded(study, path, found, lambda advanced: study.tell_all(rewards, advanced=advanced))
    _say_recorded(study.snapshot(), "told", path, found, new, as_json=as_json)


def observe_from(study: Study, path: Path, key: str | None, at: str | None, *, as_json: bool) -> None:
    """Add the rewards of a file, all or none; a row without a key is known by the file and its line."""
    from corrbandits.study.setup import read_rewards

    found, file = read_rewards(path, needs="name"), path.name if key is None else key
    _refuse_unread_times(study.snapshot(), path, found, at)
    found = replace(found, rows=[replace(row, key=row.key or f"{file}:{row.line}") for row in found.rows])
    rewards = [(row.name or "", row.reward, row.key or "", row.at or at) for row in found.rows]
    new = _recorded(study, path, found, lambda advanced: study.observe_all(rewards, advanced=advanced))
    _say_recorded(study.snapshot(), "observed", path, found, new, as_json=as_json)


def _refuse_unread_times(snapshot: Snapshot, path: Path, found: Rewards, at: str | None) -> None:
    """Refuse rewards that would count as measured now, where that matters and a column may say when they were."""
    if found.timed or at is not None or not found.dated or not snapshot.ledger.recipe.in_real_time:
        return
    raise ValueError(
        f"{path}: when rewards were measured must be in a column `at` or `measured`, got {found.dated[0]!r:.60}. "
        "Rename it; or if it is another time, say --at TIME for all rewards. Nothing was recorded."
    )


def _recorded(study: Study, path: Path, found: Rewards, record: Callable[[Advanced], int]) -> int:
    """Record rewards with a progress bar; name the line of one that is refused."""
    from corrbandits._shell import progress
    from corrbandits.study.batch import BadRowError
    from corrbandits.study.refusal import RefusedError

    try:
        with progress.bar(len(found.rows), label="checking rewards") as advanced:
            return record(advanced)
    except BadRowError as error:
        cause, nothing = error.__cause__, "Nothing was recorded."
        reason = f"{error.reason} {nothing}"
        if isinstance(cause, RefusedError):
            reason = cause.for_shell(study.name, nothing)
        raise ValueError(f"{path}, line {found.rows[error.row].line}: {reason}") from error


def _say_recorded(snapshot: Snapshot, did: str, path: Path, found: Rewards, new: int, *, as_json: bool) -> None:
    """Say how many rewards were new, were there already, or are yet to come, when they were measured, and surprises."""
    already, without, waiting = len(found.rows) - new, len(found.awaited), len(snapshot.open_trials)
    surprises = snapshot.surprises() if new else []
    lines = _lines(snapshot, path, found)
    times = sorted(when for trial in lines if (when := snapshot.ledger.entry(trial).when) is not None)
    if as_json:
        from corrbandits.study.report.data import iso

        counts = {"recorded": new, "already": already, "without_reward": without, "open": waiting}
        rest = {"surprises": [{"arm": one.arm, "name": one.name, "z": one.z, "trial": one.trial} for one in surprises]}
        measured = {"measured": [iso(when) for when in times[:1] + times[-1:]]}
        document({"study": snapshot.name, "did": did, "file": str(path), **counts, **measured, **rest})
        return
    say(f"{path}: {did} {new:,}, there already {already:,}, without a reward yet {without:,}; {waiting:,} open")
    if times and (found.timed or snapshot.ledger.recipe.in_real_time):
        _say_measured(snapshot, times)
    _say_surprises(snapshot, surprises, lines)


def _say_measured(snapshot: Snapshot, times: Sequence[float]) -> None:
    from corrbandits.study.measured import moment_in_words

    first, last = (moment_in_words(when, snapshot.at) for when in (times[0], times[-1]))
    say(f"Measured {first if first == last else f'from {first} to {last}'}.")


def _say_surprises(snapshot: Snapshot, surprises: Sequence[Surprise], lines: Mapping[int, str]) -> None:
    if surprises:
        from corrbandits.study.report.sentences import amend_in_words, surprise_in_words
        from corrbandits.study.report.warnings import doubts, unexplained

        alone = unexplained(snapshot.ledger, surprises)
        if len(alone) < len(surprises):
            say(*doubts(snapshot.ledger, snapshot.name))
        for one in alone[:MOST_WARNINGS]:
            say(surprise_in_words(one), amend_in_words(one, snapshot.name, lines.get(one.trial, "")))


def _lines(snapshot: Snapshot, path: Path, found: Rewards) -> dict[int, str]:
    """Return where each trial stands in a file, in words."""
    keys = snapshot.ledger.keys
    trials = ((row.trial or keys[row.key or ""], row.line) for row in found.rows)
    return {trial: f" (line {line} of {path})" for trial, line in trials}
