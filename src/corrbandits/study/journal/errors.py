"""Errors of databases: what happened, what to do, and what to raise."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

from corrbandits.study.journal.protocol import DamagedError, JournalError, NoDatabaseError


def code(error: DBAPIError) -> str:
    """Return SQLite's name of the error, or PostgreSQL's code of five characters; empty if it has none."""
    return getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or ""


DAMAGED = (
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
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_IOERR": "the disk could not be read or written. Check it, and do the same again",
    "SQLITE_NOMEM": "there is not enough memory. Make room, and do the same again",
    "SQLITE_INTERRUPT": "it was interrupted. Do the same again",
    "SQLITE_ERROR": _TABLES,
    "42P01": _TABLES,
    "42703": _TABLES,
    "XX001": DAMAGED,
    "XX002": DAMAGED,
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
    return DAMAGED if isinstance(error.orig, sqlite3.Error) else None  # a file has nothing else to fail by


def kind(error: DBAPIError) -> type[Exception]:
    """Return what to raise: bad input, damage, or a database that cannot be reached or written."""
    message = _message(error)
    if code(error) == "SQLITE_NOTADB":
        return NoDatabaseError
    if message == _ENCODING or _turned_away(error):
        return ValueError
    return DamagedError if message in (DAMAGED, _TABLES) else JournalError


def explained(error: DBAPIError) -> str:
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
