"""One process's copy of a study: it reads what others append to the journal, and appends what follows from it."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

from corrbandits._core.tally import Tally
from corrbandits.belief import Belief, Vague
from corrbandits.study.arms import checked_name
from corrbandits.study.choosing import comparable, deciding_belief
from corrbandits.study.codec import Data
from corrbandits.study.draft import LARGE, Draft
from corrbandits.study.events import parsed, written
from corrbandits.study.journal.chain import damaged, digests, refuse_lost, refuse_other
from corrbandits.study.journal.protocol import JournalError, JournalProtocol, Taken
from corrbandits.study.ledger import Ledger
from corrbandits.study.trial import Entry, Trial

Events = list[Data]


@final
class Replica:
    """One process's copy of a study, kept up to date from its journal. Callers hold `lock` while they use it."""

    def __init__(self, journal: JournalProtocol, study: int) -> None:
        self.journal, self.study = journal, study
        self._process, self._lock = os.getpid(), threading.RLock()
        self._torn = False  # whether a draft may have been entered in part: then all events are read again
        self._taken = 0  # how many events there were when the next place turned out to be taken
        self._known = 0, ""  # how many events have been read, and the digest of the last
        events = self.events()
        self.ledger = _replayed(events)
        self._known = len(events), digests("", events)[-1]
        self._kept: tuple[Tally, Belief] | None = None

    @property
    def lock(self) -> threading.RLock:
        """The lock; a new one in a forked process, where the thread that held it does not exist."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.RLock()
        return self._lock

    @property
    def digest(self) -> str:
        """The digest of the last event that has been read: it stands for all of them."""
        return self._known[1]

    def events(self) -> list[str]:
        """Return all events of the study; refuse it if those that have been read are not among them."""
        events, (count, last) = self.journal.read(self.study, 0), self._known
        refuse_lost(count, len(events), self.journal.place)
        refuse_other(["", *digests("", events[:count])][-1], last, count, self.journal.place)
        return events

    def current(self) -> Ledger:
        """Return the ledger with all that others have appended; refuse a study that is not the one it has read."""
        if self._torn:
            self._catch_up(self.events())
        elif bodies := self.journal.read(self.study, *self._known):
            self._enter(self.ledger.draft(bodies), bodies)
        return self.ledger

    def deciding(self, at: float) -> Belief:
        """Return what choices are made from, at this time; kept until there are new rewards."""
        kept = self.kept()
        if kept is None:
            kept = deciding_belief(self.ledger)
            self._kept = self.ledger.tally, kept
        return kept.after(self.ledger.clock(at))

    def kept(self) -> Belief | None:
        """Return what was learnt for choices, if it has been computed since the last reward."""
        return self._kept[1] if self._kept is not None and self._kept[0] is self.ledger.tally else None

    def record(self, make: Callable[[Ledger], Events], by: str | None = None) -> int:
        """Append the events that are due, made again for as long as others append before us; durable on return.

        `by` is who makes them. Return how many there were.
        """
        with self.lock:
            while (count := self.attempt(make, by)) is None:
                pass
            return count

    def attempt(self, make: Callable[[Ledger], Events], by: str | None = None) -> int | None:
        """Append the events that are due, and return how many there were; None if others appended before us.

        They are drafted first: what nobody could read is not appended.
        """
        ledger = self.current()
        if 0 < ledger.sequence == self._taken:
            self._taken = 0
            raise damaged(ledger.sequence, ledger.sequence + 1, self.journal.place)  # taken by what cannot be read
        events = make(ledger)
        if not events:
            return 0
        common = {"at": now()} | ({} if by is None else {"by": by})
        bodies = [written(event | common | {"at": event.get("at", common["at"])}) for event in events]
        draft = _drafted(ledger, bodies)
        try:
            self.journal.append(self.study, ledger.sequence + 1, bodies, self._known[1])
        except Taken:
            self._taken = ledger.sequence
            return None
        self._enter(draft, bodies)
        return len(bodies)

    def delete(self) -> None:
        """Delete the study; refuse one that is not the one it has read, and read first what others have appended."""
        self.current()
        self.journal.delete(self.study, *self._known)

    def as_of(self, trial: Trial | int) -> tuple[Entry, Ledger]:
        """Return a trial that was chosen, and the ledger it was chosen from; both from one read."""
        events = self.events()
        self._catch_up(events)
        number = self.ledger.number_of(trial)
        entry = self.ledger.entry(number)
        if entry.carried:
            first = "the study" if self.ledger.copy_of is None else f"{self.ledger.copy_of!r:.200}, the study"
            raise ValueError(f"trial {number} was chosen in {first} that this one is a copy of: explain it there.")
        if entry.asked is None:
            raise ValueError(f"trial {number} was observed, not asked for: it was not chosen. Name one that was.")
        return entry, _chosen_from(events, number, entry.seen)

    def _catch_up(self, events: list[str]) -> None:
        """Bring the ledger up to date from all events of the study."""
        if self._torn:
            self.ledger = _replayed(events)
            self._known = len(events), digests("", events)[-1]
            self._torn = False
        elif news := events[self.ledger.sequence :]:
            self._enter(self.ledger.draft(news), news)

    def _enter(self, draft: Draft, bodies: list[str]) -> None:
        """Make the changes of a draft; if that is interrupted, the ledger is read again before it is used."""
        known = draft.sequence, digests(self._known[1], bodies)[-1]
        self._torn = True
        self.ledger.enter(draft)
        self._known = known
        self._torn = False


def _replayed(events: list[str]) -> Ledger:
    created, *rest = events
    ledger = Ledger(created)
    ledger.apply(rest)
    return ledger


def _chosen_from(events: list[str], trial: int, seen: int) -> Ledger:
    """Return the ledger from which a trial was chosen: the events seen then, and what the same call asked since.

    What others observed meanwhile took numbers, so these may have been lower when the choice was made.
    """
    then = _replayed(events[:seen])
    since = (event for event in map(parsed, events[seen:]) if event["event"] == "asked")
    for event in since:
        if event["trial"] >= trial:
            break
        then.apply([written(event | {"trial": then.number})])
    return then


def now() -> float:
    """Return the time, in seconds since 1970 to the millisecond."""
    return round(time.time(), 3)


def key_of(given: str | None) -> str:
    """Return the key of a call: the one it was given, or one that no other call has."""
    return secrets.token_hex(8) if given is None else checked_name("a key", given)


@contextmanager
def naming(key: str) -> Iterator[None]:
    """Name the key of a call if it ends without anybody knowing whether it was saved: then it can be made again."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, JournalError) and error.unsure:
            error.key = key
        elif isinstance(error, Exception):
            raise
        error.add_note(
            f"It is not known whether it was saved. The same with the key {key} is counted once: key={key!r} in "
            f"Python, --key {key} in the shell. Without it, it is another call."
        )
        raise


def _drafted(ledger: Ledger, bodies: list[str]) -> Draft:
    """Return what new events change; refuse those that nobody could read, or after which no choice could be made."""
    try:
        draft = ledger.draft(bodies)
    except ValueError as error:
        raise ValueError(f"nothing was saved: {error}") from error
    if draft.large and draft.changes:
        _refuse_beyond(ledger, draft)
    return draft


def _refuse_beyond(ledger: Ledger, draft: Draft) -> None:
    """Refuse rewards that are too large to compute with, alone or together with those there."""
    new = max((reward for _, count, reward in draft.changes if count > 0), key=abs, default=None)
    said = "without this reward those left" if new is None else f"a reward of {new:g}, with those there,"
    todo = "If it is right, measure all rewards in a larger unit."
    if isinstance(ledger.prior, Vague) and new is not None and abs(new) > LARGE:
        raise ValueError(
            f"nothing was saved: a reward must lie within ±{LARGE:g} where its scale is learnt from squares of "
            f"rewards, got {new:g}. {todo}"
        )
    try:
        beyond = not comparable(ledger, deciding_belief(ledger, ledger.tally.plus(draft.changes)))
    except OverflowError as error:
        raise OverflowError(f"nothing was saved: {said} cannot be computed with: {error} {todo}") from error
    if beyond:
        raise ValueError(
            f"nothing was saved: {said} cannot be computed with: arms could not be compared any more, as their limits "
            f"leave the range of doubles. {todo}"
        )
