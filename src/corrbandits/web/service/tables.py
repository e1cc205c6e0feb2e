"""Events and trials as tables, and a whole study as a file."""

from __future__ import annotations

import csv as csv_
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from corrbandits.study import Snapshot
from corrbandits.study.events import written
from corrbandits.study.exchange import FORMULA
from corrbandits.study.journal.chain import digests
from corrbandits.study.settings import FORMAT

Data = dict[str, Any]

HISTORY = (
    "trial", "arm", "name", "status", "reward", "first_reward", "asked", "told", "measured", "asked_by",
    "told_by",
)  # fmt: skip
EVENTS = ("sequence", "at", "by", "what", "trial", "arm", "name", "reward", "measured")
TIMES = ("at", "asked", "told", "measured")


def events(found: Sequence[Data], snapshot: Snapshot, kinds: frozenset[str] | None, *, first: int = 0) -> list[Data]:
    """Return events as rows: when, by whom, what, of which trial and arm, and when it was measured if that was said."""
    entries, rows = snapshot.ledger.trials, []
    for sequence, event in enumerate(found, first + 1):
        if kinds is not None and event["event"] not in kinds:
            continue
        trial = event.get("trial")
        arm = None if trial is None else entries[trial - 1].arm
        rows.append(
            {
                "sequence": sequence,
                "at": event["at"],
                "by": event.get("by"),
                "what": event["event"],
                "trial": trial,
                "arm": arm,
                "name": None if arm is None else snapshot.arms.name(arm),
                "reward": event.get("reward"),
                "measured": event.get("measured"),
            }
        )
    return rows


def csv(rows: Sequence[Data], heads: tuple[str, ...]) -> str:
    """Return rows as CSV, times in ISO 8601; text that a spreadsheet would take for a formula has a ' before it."""
    text = io.StringIO()
    writer = csv_.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([_entry(head, row[head]) for head in heads])
    return text.getvalue()


def exported(name: str, bodies: Sequence[str]) -> bytes:
    """Return a study as `Study.export` writes it."""
    head = {"corrbandits": "study", "format": FORMAT, "name": name, "events": len(bodies)}
    head["digest"] = digests("", list(bodies))[-1]
    return ("\n".join([written(head), *bodies]) + "\n").encode()


def file_name(study: str) -> str:
    """Return what a file of a study may be called anywhere: letters, digits, - and _ only.

    >>> file_name("../north meadow")
    'north-meadow'
    """
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in study)
    return plain.strip("-_")[:60] or "study"


def _entry(head: str, value: Any) -> Any:
    if value is None:
        return ""
    if head in TIMES:
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="milliseconds")
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
