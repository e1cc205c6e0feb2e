"""A database by its URL: connections and transactions; what goes wrong is explained by `errors`."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from corrbandits.study.journal import files
from corrbandits.study.journal.errors import DAMAGED, code, explained, kind
from corrbandits.study.journal.protocol import DamagedError, JournalError

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
            raise kind(error)(f"{self.place}: {explained(error)}") from error
        except (UnicodeDecodeError, OverflowError) as error:  # what no driver of ours wrote
            self.close()
            raise DamagedError(f"{self.place}: {DAMAGED} ({error}).") from error


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
