"""A study's trials as a table, and its events as a file that another database takes in."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corrbandits._shell import outputs
from corrbandits._shell.texts import read_text
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.study.choosing import checked
from corrbandits.study.codec import MOST_MEMORY, Data, memory_of
from corrbandits.study.events import parsed, refuse_repeats, written
from corrbandits.study.journal.chain import digests
from corrbandits.study.ledger import Ledger
from corrbandits.study.recipe import Recipe
from corrbandits.study.settings import FORMAT
from corrbandits.study.trial import Entry

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("trial", "arm", "name", "status", "reward", "first_reward", "asked", "told", "measured")
TIMES = ("asked", "told", "measured")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes text that begins with one of these for a formula."""


def table(ledger: Ledger) -> pd.DataFrame:
    """Return one row per trial: what was asked or observed, and its reward."""
    rows = [
        (number, entry.arm, ledger.arms.name(entry.arm), entry.kind, *_rewards(entry),
         entry.asked, entry.told, entry.when)
        for number, entry in enumerate(ledger.trials, 1)
    ]  # fmt: skip
    return history_frame(rows)


def history_frame(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return trials as a table, from rows with the entries of `COLUMNS`; times are seconds since 1970."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for when in TIMES:
        milliseconds = (frame[when].astype("float64") * 1000).round()
        frame[when] = pd.to_datetime(milliseconds, unit="ms", utc=True).astype("datetime64[ms, UTC]")
    return frame.astype({"trial": "int64", "arm": "int64", "reward": "float64", "first_reward": "float64"})


def spreadsheet(frame: pd.DataFrame) -> str:
    """Return a table as CSV; text that a spreadsheet would take for a formula has a ' before it."""
    safe = frame.copy()
    for name in safe.columns:
        if not (_numeric(safe[name].dtype) or "datetime" in str(safe[name].dtype)):
            safe[name] = [_harmless(value) for value in safe[name]]
    text = io.StringIO()
    safe.to_csv(text, index=False, lineterminator="\n")
    return text.getvalue()


def save(path: str | os.PathLike[str], name: str, bodies: Iterable[str]) -> None:
    """Write a study as JSON lines: what it is, then its events. What could not be taken in again is not written."""
    events = list(bodies)
    checked(events)
    head = {"corrbandits": "study", "format": FORMAT, "name": name, "events": len(events)}
    head["digest"] = digests("", events)[-1]
    outputs.write_file(path, ("\n".join([written(head), *events]) + "\n").encode())


def load(path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Return the name and the events of a study in a file; refuse one that is not whole, or not a study."""
    lines = read_text(path).splitlines()
    try:
        head = parsed(lines[0]) if lines else {}
    except ValueError:
        head = {}
    if head.get("corrbandits") != "study" or not isinstance(head.get("name"), str):
        raise ValueError(f"{path}: expected a study that export wrote, but this is another file. Name one of those.")
    if head.get("format") != FORMAT:
        raise ValueError(f"{path}: expected format {FORMAT}, got {head.get('format')!r:.20}. Upgrade corrbandits.")
    bodies = lines[1:]
    if head.get("events") == len(bodies) == 0:
        raise ValueError(f"{path}: expected a study with one event at least, got none. Name another file.")
    if len(bodies) != head.get("events"):
        more = isinstance(head.get("events"), int) and len(bodies) > head["events"]
        why = "it has more lines than it should" if more else "the file was cut"
        raise ValueError(
            f"{path}: expected {head.get('events')!r:.20} events, got {len(bodies)}: {why}. Export it again."
        )
    if "digest" in head and digests("", bodies)[-1] != head["digest"]:  # exports of 0.1.0 have none
        raise ValueError(
            f"{path}: expected events that fit the digest {head['digest']!r:.40}, but they were changed since it was "
            "written. Name another copy, or export it again."
        )
    _refuse_a_trap(path, bodies)
    _refuse_what_is_said_twice(path, bodies)
    return head["name"], bodies


def _refuse_a_trap(path: str | os.PathLike[str], bodies: list[str]) -> None:
    """Refuse a file whose prior would take far more memory than the file itself."""
    prior, *extended = (parsed(body) for body in bodies if body is bodies[0] or '"extended"' in body)
    more = sum(len(where) for event in extended if isinstance(where := _within(event, "coordinates"), list))
    if (memory := memory_of(prior.get("prior"), more)) > MOST_MEMORY:
        raise ValueError(
            f"{path}: a prior must take at most {MOST_MEMORY / 1e9:g} GB of memory, but this one would take "
            f"{memory / 1e9:,.3g} GB. If that is meant, create the study anew, with an Implicit prior for many arms."
        )


def _refuse_what_is_said_twice(path: str | os.PathLike[str], bodies: list[str]) -> None:
    for number, body in enumerate(bodies, 1):
        try:
            refuse_repeats(body)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: event {number} cannot be read: {error} It is {body[:80]!r}.") from None


def _within(event: Data, name: str) -> Any:
    prior = event.get("prior")
    return prior.get(name) if isinstance(prior, dict) else None


def begun_anew(ledger: Ledger, prior: Belief | None, policy: Policy | None, at: float, *, copy_of: str) -> list[str]:
    """Return the events of a copy of a study with another prior or policy, and with all trials as they stand."""
    before = ledger.settings
    recipe = ledger.recipe if prior is None else Recipe.of(prior)
    settings = replace(before, recipe=recipe, policy=policy or before.policy, arms=ledger.arms)
    keys = {trial: key for key, trial in ledger.keys.items()}
    events = [settings.event() | {"copy_of": copy_of, "at": at}]
    for trial, entry in enumerate(ledger.trials, 1):
        key = {"key": keys[trial]} if trial in keys else {}
        events += _carried(trial, entry, key)
    return [written(event) for event in events]


def _carried(trial: int, entry: Entry, key: Data) -> list[Data]:
    """Return the events that leave a trial as it stands."""
    asked, told, when = entry.asked, entry.told, {} if entry.measured is None else {"measured": entry.measured}
    asker, teller = ({} if by is None else {"by": by} for by in (entry.asked_by, entry.told_by))
    if asked is None:
        first = {"event": "observed", "trial": trial, "arm": entry.arm, "reward": entry.first, "at": told, **key}
        first |= teller | when
    else:
        first = {"event": "asked", "trial": trial, "arm": entry.arm, "carried": True, "at": asked, **key, **asker}
    events: list[Data] = [first]
    if asked is not None and told is not None:
        events.append({"event": "told", "trial": trial, "reward": entry.first, "at": told, **teller, **when})
    if told is not None and entry.reward != entry.first:
        events.append({"event": "amended", "trial": trial, "reward": entry.reward, "at": told, **teller})
    if entry.status not in ("open", "told"):
        events.append({"event": entry.status, "trial": trial, "at": asked if told is None else told})
    return events


def _rewards(entry: Any) -> tuple[float, float]:
    """Return the reward that counts, if one does, and the one first told."""
    return (entry.reward if entry.status == "told" else math.nan), entry.first


def _numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "iufb"


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
