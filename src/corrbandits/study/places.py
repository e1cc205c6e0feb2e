"""Where studies are kept: a database or a journal, and the studies in it by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

from corrbandits._shell.texts import near
from corrbandits.study.journal import DamagedError, Journal, JournalProtocol

Where = str | os.PathLike[str] | JournalProtocol
"""A database by its URL, a file of SQLite, or a journal."""


@contextmanager
def kept(url: Where, *, create: bool = False) -> Iterator[tuple[JournalProtocol, bool]]:
    """Give a journal, and whether it was opened here; after an error one that was is closed."""
    owned = not isinstance(url, JournalProtocol)
    journal = url if isinstance(url, JournalProtocol) else Journal(url, create=create)
    try:
        yield journal, owned
    except BaseException:
        if owned:
            journal.close()
        raise


@contextmanager
def journal_at(url: Where) -> Iterator[JournalProtocol]:
    """Give a journal for a while; one that was opened here is closed."""
    with kept(url) as (journal, owned):
        yield journal
        if owned:
            journal.close()


def number_of(journal: JournalProtocol, name: str) -> int:
    """Return the number of a study; refuse a name that is not there, with one that may have been meant."""
    known = _studies(journal, name)
    if name not in known:
        few = (", ".join(islice(known, 5)) or "none") + (", ..." if len(known) > 5 else "")
        meant = "".join(f"Did you mean {one!r}? If not, create" for one in near(name, known)) or "Create"
        raise ValueError(f"{journal.place} has no study {name!r:.60}; there are: {few}. {meant} it first.")
    return known[name]


def _studies(journal: JournalProtocol, name: str) -> Mapping[str, int]:
    """Return the numbers of studies by name; that others are damaged is no matter to one that is whole."""
    try:
        return journal.studies()
    except DamagedError as error:
        if name not in (error.whole or {}):
            raise
        return error.whole or {}
