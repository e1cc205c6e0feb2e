"""The tables of a journal in a database, how they are made, and how those of an earlier version become these.

    table                  columns                         meaning
    corrbandits_journal    version                         how the other two are to be read
    corrbandits_studies    id, name, events, seal, queue   a deleted study's id is never given again; the seal fits
                                                           id, name, the number of events and the last one's digest;
                                                           the queue is of those who ask: tickets, until when
    corrbandits_events     study, sequence, body, digest   one JSON text each, from 1 on without a gap; never changed

Version 1 had neither seals nor digests. It is read as it is, and becomes version 2 when something is first saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from corrbandits.study.journal.chain import digests, seal
from corrbandits.study.journal.protocol import DamagedError

VERSION = 2

TABLES = sa.MetaData()
JOURNAL = sa.Table("corrbandits_journal", TABLES, sa.Column("version", sa.Integer, primary_key=True))
STUDIES = sa.Table(
    "corrbandits_studies",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("events", sa.Integer, nullable=False, server_default="0"),
    sa.Column("seal", sa.Text, nullable=False, server_default=""),
    sa.Column("queue", sa.Text, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)
EVENTS = sa.Table(
    "corrbandits_events",
    TABLES,
    sa.Column("study", sa.ForeignKey(STUDIES.c.id, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),  # so that a program of version 1 that is still running saves nothing
    sqlite_with_rowid=False,
)
_TOGETHER = 500  # rows of one statement: databases take a few thousand values
_LOCK = 0x636F7272  # of PostgreSQL's advisory locks: one process at a time makes or changes the tables
_OLD = "corrbandits_events_1"


def tables_and_version(connection: sa.Connection) -> tuple[list[str], Any, int]:
    """Return the names of all tables, the version of the journal if it is one, and how many pages SQLite uses."""
    used = 0
    if connection.dialect.name == "sqlite":  # before the tables: others may be making them
        used, free = (connection.exec_driver_sql(f"PRAGMA {of}_count").scalar_one() for of in ("page", "freelist"))
        used -= free
    tables = sa.inspect(connection).get_table_names()
    return tables, version_of(connection) if JOURNAL.name in tables else None, used


def version_of(connection: sa.Connection) -> Any:
    """Return the version of a journal; None if it is missing."""
    return connection.execute(sa.select(JOURNAL.c.version)).scalar()


def make_tables(connection: sa.Connection) -> None:
    """Make the tables that are not there."""
    _lock(connection)
    TABLES.create_all(connection)
    if version_of(connection) is None:
        connection.execute(sa.insert(JOURNAL), {"version": VERSION})


def insert_events(connection: sa.Connection, study: int, sequence: int, bodies: Sequence[str], known: str) -> str:
    """Insert events, the first at this sequence, after one whose digest is known; return the last one's digest."""
    chain = digests(known, bodies)
    rows = [
        {"study": study, "sequence": sequence + k, "body": body, "digest": said}
        for k, (body, said) in enumerate(zip(bodies, chain, strict=True))
    ]
    if len(rows) == 1:  # one statement: with several, a driver logs which of them came too late
        connection.execute(sa.insert(EVENTS), rows[0])
    else:
        for k in range(0, len(rows), _TOGETHER):
            connection.execute(sa.insert(EVENTS).values(rows[k : k + _TOGETHER]))
    return chain[-1] if chain else known


def seal_study(connection: sa.Connection, study: int, name: str, events: int, last: str) -> None:
    """Note how many events a study has now."""
    now = {"events": events, "seal": seal(study, name, events, last)}
    connection.execute(sa.update(STUDIES).where(STUDIES.c.id == study).values(now))


def renew(connection: sa.Connection, place: str) -> None:
    """Bring tables of version 1 to version 2, within the transaction; nothing if another has."""
    _lock(connection)
    if version_of(connection) != 1:
        return
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"LOCK TABLE {STUDIES.name}, {EVENTS.name} IN ACCESS EXCLUSIVE MODE")
    found = {study: plain_events(connection, study, place) for study in connection.execute(_STUDIES_1).scalars()}
    if connection.execute(sa.select(sa.func.count()).select_from(EVENTS)).scalar() != sum(map(len, found.values())):
        raise DamagedError(f"{place} is damaged: it has events of no study. Go on from a backup or an export.")
    connection.exec_driver_sql(f"ALTER TABLE {STUDIES.name} ADD COLUMN events INTEGER DEFAULT 0 NOT NULL")
    for column in ("seal", "queue"):
        connection.exec_driver_sql(f"ALTER TABLE {STUDIES.name} ADD COLUMN {column} TEXT DEFAULT '' NOT NULL")
    (_add_digests_anew if connection.dialect.name == "sqlite" else _add_digests)(connection, found)
    for study, name in connection.execute(sa.select(STUDIES.c.id, STUDIES.c.name)).all():
        seal_study(connection, study, name, len(found[study]), digests("", found[study])[-1])
    connection.execute(sa.update(JOURNAL).values(version=VERSION))


_STUDIES_1 = sa.select(STUDIES.c.id)
_EVENTS_1 = (
    sa.select(EVENTS.c.sequence, EVENTS.c.body)
    .where(EVENTS.c.study == sa.bindparam("study"))
    .order_by(EVENTS.c.sequence)
)


def plain_events(connection: sa.Connection, study: int, place: str) -> list[str]:
    """Return all events of a study in tables of version 1; refuse a gap."""
    rows = connection.execute(_EVENTS_1, {"study": study}).all()
    if [sequence for sequence, _ in rows] != list(range(1, len(rows) + 1)) or not all(
        isinstance(body, str) for _, body in rows
    ):
        raise DamagedError(f"{place} is damaged: events of a study are missing. Go on from a backup or an export.")
    return [body for _, body in rows]


def _add_digests(connection: sa.Connection, found: dict[int, list[str]]) -> None:
    connection.exec_driver_sql(f"ALTER TABLE {EVENTS.name} ADD COLUMN digest TEXT")
    where = EVENTS.c.study == sa.bindparam("s"), EVENTS.c.sequence == sa.bindparam("k")
    change = sa.update(EVENTS).where(*where).values(digest=sa.bindparam("d"))
    for study, bodies in found.items():
        rows = [{"s": study, "k": k, "d": said} for k, said in enumerate(digests("", bodies), 1)]
        connection.execute(change, rows)
    connection.exec_driver_sql(f"ALTER TABLE {EVENTS.name} ALTER COLUMN digest SET NOT NULL")


def _add_digests_anew(connection: sa.Connection, found: dict[int, list[str]]) -> None:
    """SQLite adds no column that must be filled: the table is made anew."""
    connection.exec_driver_sql(f"ALTER TABLE {EVENTS.name} RENAME TO {_OLD}")
    EVENTS.create(connection)
    for study, bodies in found.items():
        insert_events(connection, study, 1, bodies, "")
    connection.exec_driver_sql(f"DROP TABLE {_OLD}")


def _lock(connection: sa.Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
