"""A database by its URL: connections, transactions, and messages that say what went wrong."""

from __future__ import annotations

import os
import re
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from corrbandits.study.journal import files
from corrbandits.study.journal.protocol import DamagedError, JournalError, NoDatabaseError

PATIENCE = 30.0
"""How many seconds a writer waits for another to finish, unless the URL says otherwise (`?timeout=5`)."""

_AMBIGUOUS = re.compile(r"(?!sqlite)\w[\w+]*://(?:[^:/]*:[^@]*@(?:[^?]*@|[^?]*\?[^=]*@)|[^:/@]*/[^?]*@)", re.DOTALL)
"""A URL with another @ behind the password's, in no value of its query; or with a / before the first."""

_NO_SLASHES = re.compile(
    r"(?:sqlite|postgres(?:ql)?)(?:\+\w+)?:(?!//)|[a-z][\w+.-]+:(?!//).*@", re.DOTALL | re.IGNORECASE
)
"""What was meant as a URL and would pass for a file's name, with a password in it."""

_LOCKED = ("SQLITE_BUSY", "55P03")

T = TypeVar("T")


@final
class Database:
    """SQLite in a file, or PostgreSQL. After a fault it opens new connections."""

    def __init__(self, url: str | os.PathLike[str] | sa.URL) -> None:
        self.url = _parsed(url)
        kind = self.url.get_backend_name()
        shown = self.url.set(drivername=kind, query={})  # a query may hold a password too
        self.place, self.sqlite = shown.render_as_string(hide_password=True), kind == "sqlite"
        self._engine = _engine(self.url)
        self._process = os.getpid()
        self._connected = False
        self._file: tuple[int, int] | None = None  # which file was opened: it may be moved away and replaced
        self._closing = weakref.finalize(self, _dispose, self._engine, self._process)

    def missing(self) -> bool:
        """Return whether there is no file of this name."""
        return self.sqlite and files.identity(self.url) is None

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with its file; nothing is asked of a server, which checks what it reads."""
        if not self.sqlite:
            return []

        def check(connection: sa.Connection) -> list[str]:
            found = connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars().all()
            foreign = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            return [str(line) for line in found if line != "ok"] + ["events of no study"] * bool(foreign)

        return self.reading(check)

    def close(self) -> None:
        """Close the connections; new ones are opened when they are needed."""
        self._connected = False
        _dispose(self._engine, self._process)

    def reading(self, work: Callable[[sa.Connection], T]) -> T:
        """Return what some work with a connection gives."""

        def read() -> T:
            with self._explaining(), self._connection() as connection:
                if not self.sqlite:  # one message to the server instead of three: begin, read, end
                    connection.execution_options(isolation_level="AUTOCOMMIT")
                return work(connection)

        return self._retried(read)

    def writing(self, work: Callable[[sa.Connection], T]) -> T:
        """Return what some work in a transaction gives, which is committed."""

        def write() -> T:
            unsure = False
            try:
                with self._explaining(), self._connection() as connection, connection.begin():
                    if self.sqlite:
                        connection.exec_driver_sql("BEGIN IMMEDIATE")
                    result = work(connection)
                    unsure = True
            except JournalError as error:
                error.unsure = unsure
                raise
            return result

        return self._retried(write)

    def _retried(self, work: Callable[[], T]) -> T:
        """Do some work; do it again if it failed with nothing saved on a connection from an earlier call.

        Such a connection may have been lost since, or be unable to write because it was opened when writing was not
        possible.
        """
        earlier = self._connected and self._process == os.getpid()
        try:
            return work()
        except JournalError as error:
            cause = error.__cause__
            if not earlier or error.unsure or (isinstance(cause, DBAPIError) and code(cause) in _LOCKED):
                raise
        return work()

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        """Yield a connection. One that was in use when the others were closed is closed when it is done."""
        self._leave_to_the_parent()
        if self.sqlite:
            self._refuse_another_file()
        pool = self._engine.pool
        try:
            with self._engine.connect() as connection:
                if self.sqlite and self._file is None:
                    self._file = files.identity(self.url)
                self._connected = True
                yield connection
        finally:
            if self._engine.pool is not pool and self._process == os.getpid():
                pool.dispose()  # nobody else would close what has just been given back to it

    def _leave_to_the_parent(self) -> None:
        """In a forked process, neither use nor close the connections of the parent."""
        if self._process != os.getpid():
            self.close()
            self._closing.detach()
            self._process = os.getpid()
            self._closing = weakref.finalize(self, _dispose, self._engine, self._process)

    def _refuse_another_file(self) -> None:
        """Refuse to go on if the file is gone or replaced: SQLite would write where nobody reads, or make a file."""
        if self._file is not None and (found := files.identity(self.url)) != self._file:
            self.close()
            self._file = found or self._file  # it may be a copy put back: the next call reads it
            what = "another file has been put in its place" if found else "the file is gone"
            raise JournalError(
                f"{self.place}: {what} since it was opened. Nothing was saved. Put it back, and do the same again."
            )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn a database's error into one that says what to do; drop connections that may be unusable after it."""
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            self.close()
            raise _kind(error)(f"{self.place}: {_explained(error)}") from error
        except (UnicodeDecodeError, OverflowError) as error:  # what no driver of ours wrote
            self.close()
            raise DamagedError(f"{self.place}: {_DAMAGED} ({error}).") from error


def _parsed(url: str | os.PathLike[str] | sa.URL) -> sa.URL:
    """Return the URL of a database; a plain path is that of a SQLite file."""
    if isinstance(url, sa.URL):
        return url
    text = os.fspath(url)
    example = "Name one such as sqlite:///survey.db or postgresql://user@host/survey."
    if _AMBIGUOUS.match(text):  # a part of the password would pass for the host, and be shown
        raise ValueError(
            "a database's URL must have one @, between the password and the host, and no / before the password, got "
            "another. In a user or a password, write @ as %40, / as %2F, : as %3A, ? as %3F, # as %23 and % as %25."
        )
    if _NO_SLASHES.match(text):
        raise ValueError(
            f"a database must be given as a URL with // behind its first colon, but this has none. {example}"
        )
    try:
        parsed = sa.make_url(text) if "://" in text else sa.URL.create("sqlite", database=text)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise ValueError(f"a database must be given as a URL, but this one cannot be read. {example}") from None
    if backend not in ("sqlite", "postgresql", "postgres"):
        raise ValueError(f"a study is kept in SQLite or PostgreSQL, got a URL of {backend!r:.40}. {example}")
    try:
        _patience(parsed)
    except ValueError:
        raise ValueError(f"a study's timeout must be 0 to 86400 s, but this URL has another. {example}") from None
    if backend != "sqlite":
        return parsed.set(drivername="postgresql+psycopg")
    file = "" if parsed.host or parsed.username or "\0" in text else parsed.database
    if file in (None, "", ":memory:") or set(parsed.query) - {"timeout"}:
        raise ValueError(
            f"a study is kept in a file, but this URL names none, or has options other than timeout. {example}"
        )
    return parsed


def _patience(url: sa.URL) -> float:
    """Return how many seconds to wait for another writer."""
    seconds = float(str(url.query.get("timeout", PATIENCE)))
    if not 0 <= seconds <= 86400:
        raise ValueError(seconds)
    return seconds


def _dispose(engine: sa.Engine, process: int) -> None:
    """Close the connections that this process has made; those of its parent are only forgotten."""
    engine.dispose(close=process == os.getpid())


def _engine(url: sa.URL) -> sa.Engine:
    patience, plain = _patience(url), url.difference_update_query(["timeout"])
    if url.get_backend_name() == "sqlite":
        return files.engine(plain, patience)
    ours = f"-c synchronous_commit=on -c lock_timeout={max(1, round(1000 * patience))}"
    options = {"connect_timeout": 10, "options": f"{url.query.get('options', '')} {ours}"}
    options["client_encoding"] = "utf8"  # a database in SQL_ASCII would hand out bytes
    options |= {"keepalives_idle": 30, "tcp_user_timeout": 60_000}  # so that a dead connection is noticed
    try:
        return sa.create_engine(plain, connect_args=options)
    except ImportError:  # also when there is psycopg, but not the library it needs
        raise ModuleNotFoundError(
            "a study in PostgreSQL needs psycopg, which is not installed. Install it, in a clone of the "
            "repository: pip install '.[postgres]'"
        ) from None


def code(error: DBAPIError) -> str:
    """Return SQLite's name of the error, or PostgreSQL's code of five characters; empty if it has none."""
    return getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or ""


_DAMAGED = (
    "the database is damaged. Copy it away, see by `corrbandits study check` what is whole, and go on from a backup or "
    "an export"
)
_TABLES = "its tables are not as they should be. Restore it from a backup or an export"
_ENCODING = (
    "the encoding of the database cannot hold this text. Let who runs the server make one that can: createdb "
    "--encoding=UTF8 --template=template0; or use ASCII characters alone"
)
_KEPT = (
    "another process has kept it locked for too long, or an earlier corrbandits has it open. Try again when it is done"
)
_MESSAGES = {
    "SQLITE_BUSY": _KEPT,
    "SQLITE_LOCKED": _KEPT,
    "SQLITE_PROTOCOL": _KEPT,
    "SQLITE_FULL": "the disk is full. Make room, and do the same again",
    "SQLITE_READONLY": "it is not writable. Make the file and its folder writable, and do the same again",
    "SQLITE_CANTOPEN": "it cannot be opened. Check that its folder exists and that you may write in it",
    "SQLITE_PERM": "it cannot be opened. Check that its folder exists and that you may write in it",
    "SQLITE_NOTADB": "this file is not a SQLite database. Name another; or if it was one, it is damaged, and is to be "
    "restored from a backup or an export",
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_IOERR": "the disk could not be read or written. Check it, and do the same again",
    "SQLITE_NOMEM": "there is not enough memory. Make room, and do the same again",
    "SQLITE_INTERRUPT": "it was interrupted. Do the same again",
    "SQLITE_ERROR": _TABLES,
    "42P01": _TABLES,
    "42703": _TABLES,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
    "22021": _ENCODING,
    "22P05": _ENCODING,
    "55P03": "another session has kept it locked for too long. Try again when it is done",
    "53100": "the server's disk is full. Make room there, and do the same again",
    "25006": "the server accepts no writes now. Do the same again when it does",
    "42501": "you are not allowed to read or write there. Ask who runs the database; if its tables are of an earlier "
    "version, it is for their owner to save something first, which renews them",
}
"""What happened and what to do, by SQLite's name of the error or PostgreSQL's code."""


_TURNED_AWAY = ("authentication failed", "does not exist", "no pg_hba.conf entry", "permission denied for database")


def _message(error: DBAPIError) -> str | None:
    found = code(error)
    for name, message in _MESSAGES.items():
        if found == name or (found.startswith(f"{name}_") and name.startswith("SQLITE")):
            return message
    return _DAMAGED if isinstance(error.orig, sqlite3.Error) else None  # a file has nothing else to fail by


def _kind(error: DBAPIError) -> type[Exception]:
    """Return what to raise: bad input, damage, or a database that cannot be reached or written."""
    message = _message(error)
    if code(error) == "SQLITE_NOTADB":
        return NoDatabaseError
    if message == _ENCODING or _turned_away(error):
        return ValueError
    return DamagedError if message in (_DAMAGED, _TABLES) else JournalError


def _explained(error: DBAPIError) -> str:
    """Return what happened and what to do."""
    if (message := _message(error)) is not None:
        return f"{message} ({_first_line(error)})."
    if _turned_away(error):
        return (
            f"the server refuses the connection. Check user, password and database in the URL ({_first_line(error)})."
        )
    lost = "the database cannot be reached. Check that it runs and that the URL is right, and do the same again"
    return f"{lost} ({_first_line(error)})."


def _turned_away(error: DBAPIError) -> bool:
    """Return whether a server refused the user or has no such database, as far as its message tells."""
    said = str(error.orig)
    return "FATAL" in said and any(message in said for message in _TURNED_AWAY)


def _first_line(error: DBAPIError) -> str:
    return (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
