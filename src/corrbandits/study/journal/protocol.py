"""What a study asks of the journal that keeps it; what a journal raises.

    study      int, given by `enrol`; the number of a deleted study is never given again
    sequence   int, the place of an event in its study: from 1 on, without a gap
    body       str, one event as JSON
    digest     str, stands for an event and all before it: `chain.digests("", bodies)`

A journal never looks into a body and never changes one. To keep studies elsewhere than in a database, write a class
with these methods and give an instance of it to `Study.create` and `Study.open`; `contract.JournalContract` tests it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable


class JournalError(OSError):
    """The journal could not be reached, read or written: what happened, whether anything was saved, what to do.

    `unsure` is true if the connection broke while something was being saved: whether it was saved is not known. Then
    `key` is the key of a call of `ask`, `observe` or `add_arms`: the same call with this key is counted once.

    >>> JournalError("the server closed the connection").unsure
    False
    """

    unsure = False
    key: str | None = None


class NoDatabaseError(JournalError, ValueError):
    """What was named is no database: another file, or one that was a database and is damaged from its beginning.

    >>> isinstance(NoDatabaseError("this file is not a SQLite database"), ValueError)
    True
    """


class DamagedError(JournalError):
    """What a journal holds is not what was saved there: what is whole, and how to go on.

    `sound` is how many events of the study that was read are whole, if that is known; `whole` are the numbers by name
    of studies that are as they should be, if some are not.

    >>> isinstance(DamagedError("event 7 is not what was saved"), JournalError)
    True
    """

    sound: int | None = None
    whole: Mapping[str, int] | None = None


class Taken(Exception):  # noqa: N818 - not an error: another writer was first, and the caller tries again
    """Another writer has appended there."""


@runtime_checkable
class QueueProtocol(Protocol):
    """What a journal may offer besides, so that of those who ask nobody is overtaken for ever: tickets that expire."""

    def queued(self, study: int) -> bool:
        """Return whether a ticket is there that has not expired."""

    def queue(self, study: int, ticket: str, seconds: float) -> bool:
        """Put a ticket at the end of the queue, or renew it, for so many seconds; return whether it is the first."""

    def leave(self, study: int, ticket: str) -> None:
        """Take a ticket away, if it is there."""


@runtime_checkable
class JournalProtocol(Protocol):
    """Where studies are kept: append events at (study, sequence), read those after a sequence.

    Any number of threads use a journal at once, and any number of journals the same place.
    """

    @property
    def place(self) -> str:
        """Where the studies are kept, as people are told; without a password."""

    def enrol(self, name: str, bodies: Sequence[str]) -> int:
        """Return the number of a new study of this name, with its first events; ValueError if the name is in use."""

    def studies(self) -> dict[str, int]:
        """Return the numbers of all studies by name, in alphabetical order."""

    def append(self, study: int, sequence: int, bodies: Sequence[str], known: str | None = None) -> None:
        """Append events, the first at this sequence: all of them or none. They are durable when it returns.

        `Taken` if another has appended there; ValueError if the study has been deleted; JournalError if events before
        the sequence are missing, or if the digest of the one just before it is not the one that is known.
        """

    def read(self, study: int, after: int, known: str | None = None) -> list[str]:
        """Return the events of a study after this sequence, in their order.

        ValueError if the study has been deleted; JournalError if there are fewer events than that, or if the digest of
        the event at this sequence is not the one that is known: whoever has read it then learns that it is gone.
        """

    def delete(self, study: int, after: int = 0, known: str | None = None) -> None:
        """Delete a study and all its events; nothing if it has been deleted.

        JournalError if there are fewer events than `after`, or if the digest of the event at this sequence is not the
        one that is known.
        """

    def close(self) -> None:
        """Release what the journal holds open; it opens it again when it is used again."""
