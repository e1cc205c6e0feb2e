"""The queue of those who ask, in a column of their study: tickets in their order, each with the time it expires at."""

from __future__ import annotations

import json
import time
from typing import Any

import sqlalchemy as sa

from corrbandits.study.journal.tables import STUDIES

LONGEST = 86_400.0
"""A ticket lasts so many seconds at most: one that seems to last longer was written by a clock that was wrong."""

_QUEUE = sa.select(STUDIES.c.queue).where(STUDIES.c.id == sa.bindparam("study"))
_CLOCK = sa.select(sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float))

Tickets = dict[str, float]


def tickets(connection: sa.Connection, study: int, *, change: bool = False) -> Tickets:
    """Return the tickets that have not expired, in their order; with `change`, until the transaction ends."""
    found = connection.execute(_QUEUE.with_for_update() if change else _QUEUE, {"study": study}).scalar()
    try:
        listed: Any = json.loads(found) if found else []
        each = {str(ticket): float(until) for ticket, until in listed}
    except (TypeError, ValueError):
        each = {}  # damaged: who still waits comes again
    now = _clock(connection) if each else 0.0
    return {ticket: until for ticket, until in each.items() if now < until < now + LONGEST}


def put(connection: sa.Connection, study: int, ticket: str, seconds: float) -> bool:
    """Put a ticket at the end, or renew it; return whether it is the first."""
    there = tickets(connection, study, change=True)
    there[ticket] = _clock(connection) + min(seconds, LONGEST / 2)
    _write(connection, study, there)
    return next(iter(there)) == ticket


def remove(connection: sa.Connection, study: int, ticket: str) -> None:
    """Take a ticket away."""
    there = tickets(connection, study, change=True)
    there.pop(ticket, None)
    _write(connection, study, there)


def _write(connection: sa.Connection, study: int, there: Tickets) -> None:
    text = json.dumps(list(there.items())) if there else ""
    connection.execute(sa.update(STUDIES).where(STUDIES.c.id == study).values(queue=text))


def _clock(connection: sa.Connection) -> float:
    """Return the time, by one clock for all: the server's, or that of the machine that has the file."""
    return time.time() if connection.dialect.name == "sqlite" else float(connection.execute(_CLOCK).scalar_one())
