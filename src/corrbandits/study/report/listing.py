"""The studies of a database at one glance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from corrbandits.study.journal.protocol import DamagedError
from corrbandits.study.ledger import Ledger
from corrbandits.study.places import Where
from corrbandits.study.study import Study

_COLUMNS: dict[str, Callable[[Ledger], Any]] = {
    "arms": lambda ledger: ledger.arms.count,
    "trials": lambda ledger: len(ledger.trials),
    "rewards": lambda ledger: int(ledger.tally.counts.sum()),
    "open": lambda ledger: len(ledger.open),
    "created": lambda ledger: _moment(ledger.created),
    "changed": lambda ledger: _moment(ledger.changed),
}


def listing(url: Where) -> list[dict[str, Any]]:
    """Return each study's size, how many rewards it has and awaits, and when it began and changed last.

    Times are text in ISO 8601. A study that cannot be read has an `error`, which says why, and None for the rest.
    """
    return [_row(url, name) for name in Study.list(url)]


def _row(url: Where, name: str) -> dict[str, Any]:
    try:
        with Study.open(url, name) as study:
            ledger = study.snapshot().ledger
    except (ValueError, DamagedError) as error:
        return {"study": name, **dict.fromkeys(_COLUMNS), "error": str(error)}
    return {"study": name, **{key: column(ledger) for key, column in _COLUMNS.items()}, "error": None}


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
