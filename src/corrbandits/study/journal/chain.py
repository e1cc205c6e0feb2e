"""A digest per event, chained to the one before: 32 characters that stand for all events up to this one.

    d_0 = ""    d_k = BLAKE2b-128(d_(k-1), newline, body_k)

Two histories that differ anywhere have other digests from there on. So whoever has read k events and kept d_k can see
at the next read whether they are still the same events; and an event that was damaged does not fit the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from corrbandits._shell.numbers import counted
from corrbandits.study.journal.protocol import DamagedError, JournalError

Row = Sequence[Any]
"""An event as a database has it: sequence, body, digest; if it is damaged, of any type."""


def digest(known: str, body: str) -> str:
    """Return the digest of an event after one whose digest is known.

    >>> digest("", "created")
    '850b545a8162278a028e572a6052de5e'
    """
    return blake2b(f"{known}\n{body}".encode(errors="surrogatepass"), digest_size=16).hexdigest()


def digests(known: str, bodies: Iterable[str]) -> list[str]:
    """Return the digests of events after one whose digest is known; "" if they are the first.

    >>> digests("", ["created", "asked"]) == [digest("", "created"), digest(digest("", "created"), "asked")]
    True
    """
    chain = []
    for body in bodies:
        known = digest(known, body)
        chain.append(known)
    return chain


def seal(study: int, name: str, events: int, last: str) -> str:
    """Return what fits a study of this number and name with so many events, the last of this digest."""
    return digest(f"{study} {events} {last}", name)


def verified(rows: Sequence[Row], after: int, last: int, known: str | None, place: str) -> tuple[list[str], str]:
    """Return the bodies after a sequence, and the digest of the last event.

    `rows` are those from this sequence on, which should reach up to `last`. DamagedError if some are missing or do not
    fit together; JournalError if `known` is not the digest of the event at this sequence: others came in its place.
    """
    refuse_lost(after, last, place)
    before, bodies = "", []
    for expected, (sequence, body, said) in enumerate(rows, max(after, 1)):
        if sequence != expected or expected > last or not isinstance(body, str):
            raise damaged(expected - 1, last, place)
        if expected == after:
            refuse_other(said, known, after, place)
        elif said != digest(before, body):
            raise damaged(expected - 1, last, place)
        else:
            bodies.append(body)
        before = said
    if len(bodies) != last - after:
        raise damaged(after + len(bodies), last, place)
    return bodies, before


def refuse_lost(after: int, last: int, place: str) -> None:
    """Refuse a study that has fewer events than have been read of it."""
    if last < after:
        raise JournalError(
            f"{place}: it has {counted(last, 'event')} of the study, but {after:,} have been read: some were lost, "
            "perhaps because an older copy was put back. Nothing was saved. Open the study anew to go on from what "
            "is there."
        )


def refuse_other(found: Any, known: str | None, after: int, place: str) -> None:
    """Refuse a study whose event at a sequence is not the one that has been read."""
    if known is not None and found != known:
        raise JournalError(
            f"{place}: event {after:,} of the study or one before it is not the one that has been read: an older copy "
            "was put back, and others have gone on from there. Nothing was saved. Open the study anew to go on from "
            "what is there, and see by its history what is missing."
        )


def damaged(sound: int, last: int, place: str) -> DamagedError:
    """Return the error of a study of which only the first events are as they were saved."""
    error = DamagedError(
        f"{place} is damaged: of {counted(last, 'event')} of the study the first {sound:,} are whole. Nothing was "
        "saved. Copy the database away, see by `corrbandits study check` what is whole, and go on from a backup or "
        "an export."
    )
    error.sound = sound
    return error
