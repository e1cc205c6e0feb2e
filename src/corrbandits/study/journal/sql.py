"""The journal in a database, SQLite or PostgreSQL.

    table                  columns                 meaning
    corrbandits_journal    version                 how the other two are to be read
    corrbandits_studies    id, name                a deleted study's id is never given again
    corrbandits_events     study, sequence, body   one JSON text each, from 1 on without a gap; never changed

When `append` returns, its events are on the disk: SQLite syncs its log at every commit, PostgreSQL is asked to. All
events of one call are saved or none is. Two writers who append at the same place cannot both succeed: the second gets
`Taken`, reads what the first appended, and tries again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from corrbandits.study.journal.connections import PATIENCE, Database, code
from corrbandits.study.journal.protocol import JournalError, Taken

VERSION = 1

_TABLES = sa.MetaData()
_VERSION = sa.Table("corrbandits_journal", _TABLES, sa.Column("version", sa.Integer, primary_key=True))
_STUDIES = sa.Table(
    "corrbandits_studies",
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sqlite_autoincrement=True,
)
_EVENTS = sa.Table(
    "corrbandits_events",
    _TABLES,
    sa.Column("study", sa.ForeignKey(_STUDIES.c.id, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
_AFTER = (
    sa.select(_EVENTS.c.body)
    .where(_EVENTS.c.study == sa.bindparam("study"), _EVENTS.c.sequence > sa.bindparam("after"))
    .order_by(_EVENTS.c.sequence)
)
_LAST = sa.select(sa.func.max(_EVENTS.c.sequence)).where(_EVENTS.c.study == sa.bindparam("study"))
_TOGETHER = 500  # rows of one statement: databases take a few thousand values
_LOCK = 0x636F7272  # of PostgreSQL's advisory locks: one process at a time makes the tables


@final
class Journal:
    """The studies of one database: a SQLite file (`sqlite:///survey.db`) or PostgreSQL (`postgresql://host/name`).

    >>> import tempfile
    >>> directory = tempfile.TemporaryDirectory()
    >>> journal = Journal(f"sqlite:///{directory.name}/survey.db", create=True)
    >>> study = journal.enrol("meadow", ['{"event": "created"}'])
    >>> journal.append(study, 2, ['{"event": "asked"}'])
    >>> journal.read(study, after=1), journal.studies()
    (['{"event": "asked"}'], {'meadow': 1})
    >>> journal.close(); directory.cleanup()
    """

    def __init__(self, url: str | os.PathLike[str] | sa.URL, *, create: bool = False) -> None:
        self._database = Database(url)
        self.url, self.place = self._database.url, self._database.place
        if not create and self._database.missing():
            raise ValueError(f"{self.place} must be a database with studies, but there is no such file. Create one.")
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def append(self, study: int, sequence: int, bodies: Sequence[str]) -> None:
        """Append events, the first at this sequence: all of them or none. Durable when it returns.

        `Taken` if another has appended there; ValueError if the study has been deleted.
        """
        rows = [{"study": study, "sequence": sequence + k, "body": body} for k, body in enumerate(bodies)]
        if not rows:
            return
        try:
            self._database.writing(lambda connection: self._insert(connection, rows))
        except IntegrityError as error:
            if code(error) in ("SQLITE_CONSTRAINT_PRIMARYKEY", "23505"):
                raise Taken(sequence) from None
            raise ValueError("the study must still be there, but it was deleted meanwhile.") from None

    def _insert(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
        """Insert events after the last one there is; refuse to leave a gap."""
        first = rows[0]["sequence"]
        last = connection.execute(_LAST, {"study": rows[0]["study"]}).scalar() or 0
        if last >= first:
            raise Taken(first)
        if 0 < last < first - 1:
            raise JournalError(
                f"{self.place}: it has {last:,} events of the study, but {first - 1:,} have been read: some were lost, "
                "perhaps because an older copy was put back. Nothing was saved. Open the study anew."
            )
        # one statement: with several, a driver logs which of them came too late
        connection.execute(sa.insert(_EVENTS), rows[0]) if len(rows) == 1 else _insert_many(connection, rows)

    def read(self, study: int, after: int) -> list[str]:
        """Return the events of a study after this sequence, in their order."""
        place = {"study": study, "after": after}
        return self._database.reading(lambda connection: list(connection.execute(_AFTER, place).scalars()))

    def enrol(self, name: str, bodies: Sequence[str]) -> int:
        """Return the number of a new study of this name, with its first events; refuse a name that there is."""
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError(f"a name must be text that a database can hold, got {name!r:.80}. Choose another.")

        def enter(connection: sa.Connection) -> int:
            study = connection.execute(sa.insert(_STUDIES).returning(_STUDIES.c.id), {"name": name}).scalar_one()
            _insert_many(
                connection, [{"study": study, "sequence": k, "body": body} for k, body in enumerate(bodies, 1)]
            )
            return int(study)

        try:
            return self._database.writing(enter)
        except IntegrityError:
            raise ValueError(
                f"a new study needs a name of its own, but there is a {name!r} in {self.place}. Open it, or choose "
                "another name."
            ) from None

    def studies(self) -> dict[str, int]:
        """Return the numbers of all studies by name, in alphabetical order."""
        every = sa.select(_STUDIES.c.name, _STUDIES.c.id)
        found = self._database.reading(lambda connection: connection.execute(every).all())
        return {str(name): int(number) for name, number in sorted(map(tuple, found))}

    def delete(self, study: int) -> None:
        """Delete a study and all its events."""
        self._database.writing(lambda connection: connection.execute(sa.delete(_STUDIES).where(_STUDIES.c.id == study)))

    def close(self) -> None:
        """Close the connections; the journal opens new ones when it is used again."""
        self._database.close()

    def _prepare(self, *, create: bool) -> None:
        """Refuse a database that is not ours or of a newer version; in an empty one, make the tables if asked to."""
        tables, version = self._database.reading(_tables_and_version)
        if version is None:
            self._refuse_foreign(tables, create=create)
            self._make_tables()
        elif version > VERSION:
            raise ValueError(
                f"{self.place} must be of version {VERSION} at most, but it is of version {version}: a newer "
                "corrbandits made it. Upgrade this one."
            )

    def _refuse_foreign(self, tables: Sequence[str], *, create: bool) -> None:
        if foreign := sorted(set(tables) - set(_TABLES.tables)):
            raise ValueError(
                f"{self.place} must be a database of corrbandits or an empty one, but it holds other tables "
                f"({', '.join(foreign[:3])}{', ...' if foreign[3:] else ''}). Name another."
            )
        if _STUDIES.name in tables:
            raise ValueError(f"{self.place} is damaged: its version is missing. Restore it from a backup.")
        if not create:
            raise ValueError(f"{self.place} must be a database with studies, but it is empty. Create a study there.")

    def _make_tables(self) -> None:
        if self._database.sqlite:
            self._keep_a_log()
        self._database.writing(_make_tables)

    def _keep_a_log(self) -> None:
        """Put SQLite into WAL mode; while others do so too it does not wait, but reports that it is busy."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._database.reading(
                    lambda connection: connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar()
                )
            except JournalError as error:
                busy = isinstance(error.__cause__, DBAPIError) and code(error.__cause__).startswith("SQLITE_BUSY")
                if not busy or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return


def _insert_many(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    for k in range(0, len(rows), _TOGETHER):
        connection.execute(sa.insert(_EVENTS).values(rows[k : k + _TOGETHER]))


def _tables_and_version(connection: sa.Connection) -> tuple[list[str], int | None]:
    tables = sa.inspect(connection).get_table_names()
    return tables, connection.execute(sa.select(_VERSION.c.version)).scalar() if _VERSION.name in tables else None


def _make_tables(connection: sa.Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    _TABLES.create_all(connection)
    if connection.execute(sa.select(_VERSION.c.version)).scalar() is None:
        connection.execute(sa.insert(_VERSION), {"version": VERSION})
