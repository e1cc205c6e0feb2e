"""What a study asks of the journal that keeps it; what a journal raises.

    study      int, given by `enrol`; the number of a deleted study is never given again
    sequence   int, the place of an event in its study: from 1 on, without a gap
    body       str, one event as JSON

A journal never looks into a body and never changes one. To keep studies elsewhere than in a database, write a class
with these methods and give an instance of it to `Study.create` and `Study.open`; `contract.JournalContract` tests it.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Taken(Exception):  # noqa: N818 - not an error: another writer was first, and the caller tries again
    """Another writer has appended there."""


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

    def append(self, study: int, sequence: int, bodies: Sequence[str]) -> None:
        """Append events, the first at this sequence: all of them or none. They are durable when it returns.

        `Taken` if another has appended there; ValueError if the study has been deleted; JournalError if events before
        the sequence are missing.
        """

    def read(self, study: int, after: int) -> list[str]:
        """Return the events of a study after this sequence, in their order; none if there is no such study."""

    def delete(self, study: int) -> None:
        """Delete a study and all its events."""

    def close(self) -> None:
        """Release what the journal holds open; it opens it again when it is used again."""
