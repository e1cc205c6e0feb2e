"""What commands of `corrbandits study` print, each from one snapshot: sentences, tables, or one JSON document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from corrbandits._shell import terminal
from corrbandits._shell.numbers import counted, exact
from corrbandits.cli.study.parsing import quoted

if TYPE_CHECKING:
    from corrbandits.study import Snapshot, Trial

ROOM_FOR_TIMES, ROOM_FOR_ALL = 80, 100


def say(*sentences: str) -> None:
    """Print sentences, each on lines of its own."""
    terminal.say(sentences)


def document(data: Any) -> None:
    """Print one JSON document."""
    from corrbandits.study.report.data import text

    typer.echo(text(data))


def say_created(snapshot: Snapshot, remarks: Sequence[str] = (), *, as_json: bool) -> None:
    """Say what there is now, and where."""
    from corrbandits.study.report import data
    from corrbandits.study.report.sentences import policy_in_words

    made = data.created(snapshot, remarks)
    if as_json:
        document(made)
        return
    say(f"{made['study']}: {counted(made['arms'], 'arm')}, {counted(made['trials'], 'trial')}, in {made['database']}")
    say(f"prior   {made['prior']}", f"policy  {policy_in_words(snapshot.settings.policy)}", *remarks)
    say(f"Next: corrbandits study ask {quoted(snapshot.name)}")


def say_done(snapshot: Snapshot, did: str, number: int, *, already: bool = False, as_json: bool) -> None:
    """Say what was done to a trial, or had been already, the reward that counts, and what to look at."""
    if as_json:
        from corrbandits.study.report import data

        document(data.done(snapshot, did, number) | {"already": already})
        return
    trial, reward = snapshot.trial(number), snapshot.reward(number)
    value = "" if reward is None else f": {exact(reward)}{_measured(snapshot, number)}"
    what = "was there already" if already else did
    say(f"trial {number} ({trial.name}) {what}{value}; {len(snapshot.open_trials):,} open")
    if reward is not None and not snapshot.settings.repeat:
        for again in (other.number for other in snapshot.open_trials if other.arm == trial.arm):
            cancel = f"corrbandits study cancel {quoted(snapshot.name)} {again}"
            say(f"Trial {again} of the same arm is open, and no arm is to be tried twice. Cancel it: {cancel}")
    surprise = snapshot.surprise(number)
    if surprise is not None:
        from corrbandits.study.report.sentences import amend_in_words, surprise_in_words
        from corrbandits.study.report.warnings import doubts, unexplained

        for one in (alone := unexplained(snapshot.ledger, [surprise])):
            say(surprise_in_words(one), amend_in_words(one, snapshot.name))
        if not alone:
            say(*doubts(snapshot.ledger, snapshot.name))


def _measured(snapshot: Snapshot, number: int) -> str:
    """Return when a reward was measured, where that counts or was said."""
    from corrbandits.study.measured import moment_in_words

    entry = snapshot.ledger.entry(number)
    if entry.when is None or (entry.measured is None and not snapshot.ledger.recipe.in_real_time):
        return ""
    return f", measured {moment_in_words(entry.when, snapshot.at)}"


def trials_table(snapshot: Snapshot, trials: Sequence[Trial]) -> None:
    """Print trials and where their arms lie."""
    arms = snapshot.arms
    rows = []
    for trial in trials:
        where = () if arms.coordinates is None else arms.coordinates[trial.arm].tolist()
        rows.append((str(trial.number), trial.name, *(f"{x:.10g}" for x in where)))
    terminal.show([terminal.table(("trial", "arm", *arms.axes), rows, left=2)], terminal.console())


def studies_table(studies: Sequence[dict[str, Any]]) -> None:
    """Print studies: how large they are, what is awaited, and when they began and changed last."""
    rows = []
    for one in studies:
        if one["error"] is not None:
            rows.append((one["study"], *("?",) * 4, "", "cannot be read: see check"))
            continue
        counts = (f"{one[key]:,}" for key in ("arms", "trials", "rewards", "open"))
        rows.append((one["study"], *counts, *(one[key][:16].replace("T", " ") for key in ("created", "changed"))))
    heads = ("study", "arms", "trials", "rewards", "open", "created (UTC)", "changed (UTC)")
    terminal.show([terminal.table(heads, rows)], terminal.console())


def history_table(trials: Sequence[dict[str, Any]], last: int, *, timed: bool) -> None:
    """Print the last trials, and how many there are; narrow terminals show few times or none.

    When rewards were measured is shown where time counts (`timed`), or where it is not when they were told.
    """
    shown, out = trials[-last:], terminal.console()
    amended = any(row["first_reward"] != row["reward"] for row in shown if row["status"] in ("told", "observed"))
    times = _times(out.width, measured=timed or any(map(_told_later, shown)))
    rows = []
    for row in shown:
        rewards = (_cell(row[key]) for key in (("reward", "first_reward") if amended else ("reward",)))
        moments = ((row[key] or "")[:16].replace("T", " ") for key in times)
        rows.append((str(row["trial"]), row["name"], row["status"], *rewards, *moments))
    rewards_said = ("reward", "first told") if amended else ("reward",)
    heads = ("trial", "arm", "status", *rewards_said, *(f"{key} (UTC)" for key in times))
    made = terminal.table(heads, rows, left=3)
    made.columns[0].no_wrap = made.columns[2].no_wrap = True
    terminal.show([made], out)
    if len(shown) < len(trials):
        say(f"the last {len(shown):,} of {len(trials):,} trials; --csv FILE or --json gives all")


def _times(width: int, *, measured: bool) -> tuple[str, ...]:
    """Return which times a table has room for: of two, when rewards were measured goes before when they were told."""
    if not measured:
        return ("asked", "told") if width >= ROOM_FOR_TIMES else ()
    if width >= ROOM_FOR_ALL:
        return ("asked", "told", "measured")
    return ("asked", "measured") if width >= ROOM_FOR_TIMES else ("measured",)


def _told_later(row: dict[str, Any]) -> bool:
    """Return whether a reward was told more than a minute after it was measured."""
    if row["told"] is None or row["measured"] is None:
        return False
    told, measured = (datetime.fromisoformat(row[key]) for key in ("told", "measured"))
    return abs(told - measured) > timedelta(minutes=1)


def _cell(value: Any) -> str:
    return "" if value is None or math.isnan(value) else exact(value)
