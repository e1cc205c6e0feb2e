"""A SQLite file as journals use it: all that is saved is in this one file, and nothing of it is kept in memory.

SQLite's log mode (WAL) keeps the newest events in a second file, and a connection goes on in that one although the
first was overwritten with an older copy, and writes it over the copy when it is closed. So a file is in SQLite's plain
mode; those of an earlier corrbandits are brought to it when they are opened, unless their log is damaged: SQLite would
drop the rest of it. And before each use the pages that a connection remembers are dropped: SQLite takes them for
current if the file has as many changes as it knows of, which an older copy has again after others have gone on from
there.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from corrbandits.study.journal.log import damage
from corrbandits.study.journal.protocol import DamagedError


def engine(url: sa.URL, patience: float) -> sa.Engine:
    """Return what makes and keeps the connections to a file, which wait so many seconds for others."""
    made = sa.create_engine(url, creator=lambda: _opened(url.database or "", patience))

    @sa.event.listens_for(made, "checkout")
    def _(connection: Any, record: Any, proxy: Any) -> None:
        connection.execute("PRAGMA shrink_memory")

    return made


def identity(url: sa.URL) -> tuple[int, int] | None:
    """Return what identifies a file, whatever it is called; None if there is no such file."""
    try:
        found = Path(url.database or "").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _opened(file: str, patience: float) -> sqlite3.Connection:
    """Return a connection in plain mode. One that leaves log mode does not wait for others, so it is tried again."""
    until = time.monotonic() + patience
    while True:
        try:
            return _plain(file, patience)
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                if _read_only(file):
                    return _plain(f"{Path(file).absolute().as_uri()}?mode=ro&immutable=1", patience, uri=True)
                raise
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _plain(file: str, patience: float, *, uri: bool = False) -> sqlite3.Connection:
    # isolation level None: transactions begin where we say so, not where sqlite3 thinks they should
    connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False, uri=uri)
    try:
        if not uri:
            _refuse_damaged_log(file)
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")  # FULL would not sync the end of a commit
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_damaged_log(file: str) -> None:
    log = Path(f"{file}-wal")
    if fault := damage(log):
        raise DamagedError(
            f"{log} holds the newest events of {file}, but it is {fault}, and SQLite would drop the rest of it. "
            "Copy both files away, and go on from a backup or an export; or go on without what is lost: "
            f"sqlite3 {file} 'PRAGMA journal_mode = DELETE'"
        )


def _read_only(file: str) -> bool:
    """Return whether a file is all there is, and may not be changed: only so can it be read while in log mode."""
    path = Path(file)
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    beside = [Path(f"{file}-{name}") for name in ("wal", "journal")]
    return os.access(path, os.R_OK) and not writable and not any(log.exists() and log.stat().st_size for log in beside)
