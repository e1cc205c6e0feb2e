"""Where studies are kept: a database or a journal, and the studies in it by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

from corrbandits._shell.texts import composed, near
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


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return which of the names that there are this is; one in another normal form, made before they were composed.

    >>> meant("pr\u00e9", ["hill", "pre\u0301"]) == "pre\u0301"
    True
    """
    names = list(known)
    return name if name in names else next((one for one in names if composed(one) == composed(name)), None)


def refuse_another_form(journal: JournalProtocol, name: str) -> None:
    """Refuse the name of a new study that one of old has in another normal form."""
    try:
        known: Mapping[str, int] = journal.studies()
    except DamagedError as error:
        known = error.whole or {}
    if (there := meant(name, known)) is not None and there != name:
        raise ValueError(f"a new study needs a name of its own, but there is a {there!r} in {journal.place}.")


def found(journal: JournalProtocol, name: str) -> tuple[str, int]:
    """Return the name of a study and its number; refuse a name that is not there, with one that may have been meant."""
    known = _studies(journal, name)
    if (there := meant(name, known)) is None:
        few = (", ".join(islice(known, 5)) or "none") + (", ..." if len(known) > 5 else "")
        other = "".join(f"Did you mean {one!r}? If not, create" for one in near(name, known)) or "Create"
        raise ValueError(f"{journal.place} has no study {name!r:.60}; there are: {few}. {other} it first.")
    return there, known[there]


def _studies(journal: JournalProtocol, name: str) -> Mapping[str, int]:
    """Return the numbers of studies by name; that others are damaged is no matter to one that is whole."""
    try:
        return journal.studies()
    except DamagedError as error:
        if meant(name, error.whole or {}) is None:
            raise
        return error.whole or {}
