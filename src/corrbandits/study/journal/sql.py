"""The journal in a database, SQLite or PostgreSQL.

When `append` returns, its events are on the disk: SQLite syncs its file at every commit, PostgreSQL is asked to sync
its log. All events of one call are saved or none is. Two writers who append at the same place cannot both succeed: the
second gets `Taken`, reads what the first appended, and tries again. What is read is checked against its digests, and
the number of events against the study's seal; see `tables` and `chain`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from corrbandits._shell.numbers import counted
from corrbandits.study.journal import queue, tables
from corrbandits.study.journal.chain import damaged, digests, refuse_lost, refuse_other, seal, verified
from corrbandits.study.journal.connections import Database
from corrbandits.study.journal.errors import code
from corrbandits.study.journal.protocol import DamagedError, Taken
from corrbandits.study.journal.tables import EVENTS, STUDIES, VERSION

T = TypeVar("T")

_DELETED = "the study must still be there, but it was deleted meanwhile."
_IS_IT = STUDIES.c.id == sa.bindparam("study")
# the study's own row first, so that all is from one moment: -1, name, seal, number of events
_FROM = sa.union_all(
    sa.select(sa.literal_column("-1").label("place"), STUDIES.c.name, STUDIES.c.seal, STUDIES.c.events).where(_IS_IT),
    sa.select(EVENTS.c.sequence, EVENTS.c.body, EVENTS.c.digest, sa.literal_column("0")).where(
        EVENTS.c.study == sa.bindparam("study"), EVENTS.c.sequence >= sa.bindparam("after")
    ),
).order_by("place")
_LAST = EVENTS.c.digest.label("last")
_BEFORE = (EVENTS.c.study == STUDIES.c.id) & (EVENTS.c.sequence == sa.bindparam("before"))
_HEAD = (
    sa.select(STUDIES.c.name, STUDIES.c.events, STUDIES.c.seal, _LAST)
    .select_from(STUDIES.outerjoin(EVENTS, _BEFORE))
    .where(_IS_IT)
    .with_for_update(of=STUDIES)
)
# all studies, and those that have events but no row of their own; without reading all events
_ALL = f"""
WITH RECURSIVE numbered(study) AS (
    SELECT min(study) FROM {EVENTS.name}
    UNION ALL
    SELECT (SELECT min(e.study) FROM {EVENTS.name} e WHERE e.study > numbered.study)
    FROM numbered WHERE numbered.study IS NOT NULL
)
SELECT s.id AS id, s.name AS name, s.events AS events, s.seal AS seal, e.digest AS last
FROM {STUDIES.name} s LEFT JOIN {EVENTS.name} e ON e.study = s.id AND e.sequence = s.events
UNION ALL
SELECT study, NULL, NULL, NULL, NULL FROM numbered
WHERE study IS NOT NULL AND study NOT IN (SELECT id FROM {STUDIES.name})
"""


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
            self._version = self._prepared(create=create)
        except BaseException:
            self.close()
            raise

    def append(self, study: int, sequence: int, bodies: Sequence[str], known: str | None = None) -> None:
        """Append events, the first at this sequence: all of them or none. Durable when it returns.

        `Taken` if another has appended there; ValueError if the study has been deleted; JournalError if events before
        the sequence are missing, or if the one just before it is not the one whose digest is known.
        """
        if not bodies:
            return
        try:
            self._writing(lambda connection: self._append(connection, study, sequence, bodies, known))
        except IntegrityError as error:
            if code(error) in ("SQLITE_CONSTRAINT_PRIMARYKEY", "23505"):
                raise Taken(sequence) from None
            raise ValueError(_DELETED) from None

    def _append(
        self, connection: sa.Connection, study: int, sequence: int, bodies: Sequence[str], known: str | None
    ) -> None:
        before = sequence - 1
        head = connection.execute(_HEAD, {"study": study, "before": before}).first()
        if head is None:
            raise ValueError(_DELETED)
        if head.events > before:
            raise Taken(sequence)
        refuse_lost(before, head.events, self.place)
        last = "" if not before else head.last
        refuse_other(last, known, before, self.place)
        if head.seal != seal(study, head.name, before, last):
            raise damaged(before - 1, before, self.place)
        last = tables.insert_events(connection, study, sequence, bodies, last)
        tables.seal_study(connection, study, head.name, before + len(bodies), last)

    def read(self, study: int, after: int, known: str | None = None) -> list[str]:
        """Return the events of a study after this sequence, in their order.

        ValueError if the study has been deleted; JournalError if there are fewer events than that, or if the one at
        this sequence is not the one whose digest is known.
        """
        return self._database.reading(lambda connection: self._read(connection, study, after, known))

    def _read(self, connection: sa.Connection, study: int, after: int, known: str | None) -> list[str]:
        if self._version == 1 and tables.version_of(connection) == 1:
            return self._read_plain(connection, study, after, known)
        rows = list(connection.execute(_FROM, {"study": study, "after": after}))
        if not rows:
            raise ValueError(_DELETED)
        place, name, sealed, count = rows.pop(0)
        if place != -1 or not isinstance(count, int) or not isinstance(name, str):
            raise damaged(0, len(rows), self.place)
        bodies, last = verified([row[:3] for row in rows], after, count, known, self.place)
        if sealed != seal(study, name, count, last):
            raise damaged(count, count, self.place)
        return bodies

    def _read_plain(self, connection: sa.Connection, study: int, after: int, known: str | None) -> list[str]:
        """Read tables without digests: these are computed."""
        bodies = tables.plain_events(connection, study, self.place)
        if not bodies:
            raise ValueError(_DELETED)
        refuse_lost(after, len(bodies), self.place)
        refuse_other(["", *digests("", bodies[:after])][-1], known, after, self.place)
        return bodies[after:]

    def enrol(self, name: str, bodies: Sequence[str]) -> int:
        """Return the number of a new study of this name, with its first events; refuse a name that there is."""
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError(f"a name must be text that a database can hold, got {name!r:.80}. Choose another.")

        def enter(connection: sa.Connection) -> int:
            study = int(connection.execute(sa.insert(STUDIES).returning(STUDIES.c.id), {"name": name}).scalar_one())
            last = tables.insert_events(connection, study, 1, bodies, "")
            tables.seal_study(connection, study, name, len(bodies), last)
            return study

        try:
            return self._writing(enter)
        except IntegrityError:
            raise ValueError(
                f"a new study needs a name of its own, but there is a {name!r} in {self.place}. Open it, or choose "
                "another name."
            ) from None

    def studies(self) -> dict[str, int]:
        """Return the numbers of all studies by name, in alphabetical order; DamagedError if some are not whole."""
        return self._database.reading(self._studies)

    def _studies(self, connection: sa.Connection) -> dict[str, int]:
        if self._version == 1 and tables.version_of(connection) == 1:
            found = connection.execute(sa.select(STUDIES.c.name, STUDIES.c.id)).all()
            return {str(name): int(number) for name, number in sorted(map(tuple, found))}
        rows = connection.exec_driver_sql(_ALL).all()
        whole = {row.name: row.id for row in rows if _fits(row)}
        known = {name: whole[name] for name in sorted(whole)}
        if len(whole) < len(rows):
            error = DamagedError(
                f"{self.place} is damaged: of {counted(len(rows), 'study', 'studies')} {len(whole):,} are whole"
                f"{': ' if whole else ''}{', '.join(list(known)[:5])}. Nothing was saved. Copy the database away, see "
                "by `corrbandits study check` what is whole, and go on from a backup or an export."
            )
            error.whole = known
            raise error
        return known

    def delete(self, study: int, after: int = 0, known: str | None = None) -> None:
        """Delete a study and all its events; JournalError if the event at this sequence is not the one known."""
        self._writing(lambda connection: self._delete(connection, study, after, known))

    def _delete(self, connection: sa.Connection, study: int, after: int, known: str | None) -> None:
        head = connection.execute(_HEAD, {"study": study, "before": after}).first()
        if head is not None and known is not None:
            refuse_lost(after, head.events, self.place)
            refuse_other(head.last or "", known, after, self.place)
        connection.execute(sa.delete(STUDIES).where(STUDIES.c.id == study))

    def queued(self, study: int) -> bool:
        """Return whether somebody queues to ask."""
        return self._version == VERSION and bool(self._database.reading(lambda at: queue.tickets(at, study)))

    def queue(self, study: int, ticket: str, seconds: float) -> bool:
        """Put a ticket at the end of the queue, or renew it, for so many seconds; return whether it is the first."""
        return self._writing(lambda connection: queue.put(connection, study, ticket, seconds))

    def leave(self, study: int, ticket: str) -> None:
        """Take a ticket away."""
        self._writing(lambda connection: queue.remove(connection, study, ticket))

    def close(self) -> None:
        """Close the connections; the journal opens new ones when it is used again."""
        self._database.close()

    def faults(self) -> list[str]:
        """Return what the database itself finds wrong with its file, in its own words; none if it is whole."""
        return self._database.faults()

    def _writing(self, work: Callable[[sa.Connection], T]) -> T:
        """Return what some work in a transaction gives; tables of version 1 are renewed in the same."""
        if self._version == VERSION:
            return self._database.writing(work)

        def renewed(connection: sa.Connection) -> T:
            tables.renew(connection, self.place)
            return work(connection)

        result = self._database.writing(renewed)
        self._version = VERSION
        return result

    def _prepared(self, *, create: bool) -> int:
        """Return the version; refuse a database that is not ours, or newer; in an empty one make the tables."""
        there, version, pages = self._database.reading(tables.tables_and_version)
        if version is None:
            if {STUDIES.name, EVENTS.name} & set(there) or (not there and pages > 1):
                raise DamagedError(f"{self.place} is damaged: its version is missing. Restore it from a backup.")
            self._refuse_foreign(there, create=create)
            self._database.writing(tables.make_tables)
            return VERSION
        if not isinstance(version, int) or version < 1:
            raise DamagedError(f"{self.place} is damaged: its version is {version!r:.20}. Restore it from a backup.")
        if version > VERSION:
            raise ValueError(
                f"{self.place} must be of version {VERSION} at most, but it is of version {version}: a newer "
                "corrbandits made it. Upgrade this one."
            )
        return version

    def _refuse_foreign(self, there: Sequence[str], *, create: bool) -> None:
        if foreign := sorted(set(there) - set(tables.TABLES.tables)):
            raise ValueError(
                f"{self.place} must be a database of corrbandits or an empty one, but it holds other tables "
                f"({', '.join(foreign[:3])}{', ...' if foreign[3:] else ''}). Name another."
            )
        if not create:
            raise ValueError(f"{self.place} must be a database with studies, but it is empty. Create a study there.")


def _fits(row: Any) -> bool:
    """Return whether a study's row is as it was sealed."""
    return isinstance(row.name, str) and row.seal == seal(row.id, row.name, row.events, row.last or "")
