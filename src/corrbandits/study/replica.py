"""One process's copy of a study: it reads what others append to the journal, and appends what follows from it."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Hashable
from typing import final

from corrbandits._core.tally import Tally
from corrbandits.belief import Belief
from corrbandits.study.choosing import Moment, deciding_belief, moment
from corrbandits.study.codec import Data
from corrbandits.study.journal.protocol import JournalError, JournalProtocol, Taken
from corrbandits.study.ledger import LARGE, Ledger, parsed, written
from corrbandits.study.trial import Entry, Trial

Events = list[Data]


@final
class Replica:
    """One process's copy of a study, kept up to date from its journal. Callers hold `lock` while they use it."""

    def __init__(self, journal: JournalProtocol, study: int) -> None:
        self.journal, self.study = journal, study
        self._process, self._lock = os.getpid(), threading.RLock()
        self._torn = False  # whether an event may have been applied in part: then all are read again
        self.ledger = _replayed(self.events())
        self._kept: tuple[Tally, Belief] | None = None
        self._unsettled: dict[Hashable, str] = {}  # keys of calls of which it is not known whether they were saved

    @property
    def lock(self) -> threading.RLock:
        """The lock; a new one in a forked process, where the thread that held it does not exist."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.RLock()
        return self._lock

    def events(self) -> list[str]:
        """Return all events of the study; refuse one that has been deleted."""
        events = self.journal.read(self.study, 0)
        if not events:
            raise ValueError("the study must still be there, but it was deleted meanwhile.")
        return events

    def current(self) -> Ledger:
        """Return the ledger with all that others have appended."""
        if self._torn:
            self._catch_up(self.events())
        elif bodies := self.journal.read(self.study, self.ledger.sequence):
            self._apply(bodies)
        return self.ledger

    def deciding(self) -> Belief:
        """Return what choices are made from; kept until there are new rewards."""
        kept = self.kept()
        if kept is None:
            kept = deciding_belief(self.ledger)
            self._kept = self.ledger.tally, kept
        return kept.after(self.ledger.number)

    def kept(self) -> Belief | None:
        """Return what was learnt for choices, if it has been computed since the last reward."""
        return self._kept[1] if self._kept is not None and self._kept[0] is self.ledger.tally else None

    def record(self, make: Callable[[Ledger], Events]) -> None:
        """Append the events that are due, made again for as long as others append before us; durable on return."""
        while True:
            ledger = self.current()
            events = make(ledger)
            if not events:
                return
            _refuse_overflow(ledger, events)
            at = {"at": now()}
            bodies = [written(event | at) for event in events]
            try:
                self.journal.append(self.study, ledger.sequence + 1, bodies)
            except Taken:
                continue
            self._apply(bodies)
            return

    def record_once(
        self,
        call: Hashable,
        make: Callable[[Ledger, str], Events],
        key: str | None = None,
        *,
        while_open: bool = False,
    ) -> str:
        """Record events under a key, which is returned: they are there already if it is known.

        A call of which it is not known whether it was saved, or that was interrupted before it was `settled`, keeps its
        key for when it is made again; with `while_open`, only as long as the trial it opened, if it did, is open.
        """
        own = key or self._unsettled_key(call, while_open=while_open) or secrets.token_hex(8)
        self._unsettled[call] = own
        try:
            self.record(lambda ledger: make(ledger, own))
        except Exception as error:
            if not (isinstance(error, JournalError) and error.unsure):
                self.settled(call)
            raise
        return own

    def settled(self, call: Hashable) -> None:
        """Forget the key of a call: its caller has the result."""
        self._unsettled.pop(call, None)

    def as_of(self, trial: Trial | int) -> tuple[Entry, Ledger]:
        """Return a trial that was chosen, and the ledger it was chosen from; both from one read."""
        events = self.events()
        self._catch_up(events)
        number = self.ledger.number_of(trial)
        entry = self.ledger.entry(number)
        if entry.carried:
            raise ValueError(f"trial {number} was chosen in the study that this one is a copy of. Ask that one.")
        if entry.asked is None:
            raise ValueError(f"trial {number} was observed, not asked for: it was not chosen. Name one that was.")
        return entry, _chosen_from(events, number, entry.seen)

    def _unsettled_key(self, call: Hashable, *, while_open: bool) -> str | None:
        key = self._unsettled.get(call)
        if key is None or not while_open:
            return key
        trial = self.current().keys.get(key)
        return key if trial is None or trial in self.ledger.open else None

    def _catch_up(self, events: list[str]) -> None:
        """Bring the ledger up to date from all events of the study."""
        if self._torn:
            self.ledger = _replayed(events)
            self._torn = False
        else:
            self._apply(events[self.ledger.sequence :])

    def _apply(self, bodies: list[str]) -> None:
        """Apply events; if that is interrupted or fails, the ledger is read again before it is used."""
        self._torn = True
        self.ledger.apply(bodies)
        self._torn = False


@final
class Asking:
    """One call of `ask`: a choice, which stands if nothing but rewards is appended before it.

    So a choice that takes long is not made again and again because others tell rewards meanwhile.
    """

    def __init__(self, replica: Replica, count: int, allowed: tuple[int, ...] | None, *, repeats: bool) -> None:
        self._replica, self._count, self._allowed, self._repeats = replica, count, allowed, repeats
        self._made: tuple[int, int, Events] | None = None  # moves, sequence, events

    def events(self, ledger: Ledger, key: str) -> Events:
        """Return the events that are due: trials that have expired, and those chosen; none if they are there."""
        if key in ledger.keys:
            return []
        expired = ledger.expiring(now())
        if self._made is not None and self._made[0] == ledger.moves and not expired:
            return [event | {"seen": self._made[1]} for event in self._made[2]]
        gone = [event["trial"] for event in expired]
        chosen = self._chosen(moment(ledger, self._replica.deciding(), gone, self._allowed), key)
        self._made = None if expired else (ledger.moves, ledger.sequence, chosen)
        return expired + chosen

    def _chosen(self, at: Moment, key: str) -> Events:
        events: Events = []
        common: Data = {} if self._allowed is None else {"allowed": self._allowed}
        once = not self._replica.ledger.settings.repeat
        for k in range(self._count):
            if at.candidates is not None and not at.candidates.size:
                raise ValueError(self._too_many(k, once=once))
            arm = at.choose()
            apart: Data = {"apart": k} if k and not once and not self._repeats else {}
            events.append({"event": "asked", "trial": at.trial, "arm": arm, **apart, **common})
            at = at.next(arm, repeat=self._repeats and not once)
        events[0]["key"] = key
        return events

    def _too_many(self, left: int, *, once: bool) -> str:
        if once:
            return (
                f"each arm may be tried once, and of those allowed {left} are left, but {self._count} were "
                "asked for. Ask for fewer, add arms, or stop: best says what was found."
            )
        return (
            f"trials of one ask are of different arms, of which there are {left} here, but {self._count} were asked "
            "for. Ask for fewer, or say that repeats are welcome: repeats=True, or --repeats."
        )


def _replayed(events: list[str]) -> Ledger:
    created, *rest = events
    ledger = Ledger(created)
    ledger.apply(rest)
    return ledger


def _chosen_from(events: list[str], trial: int, seen: int) -> Ledger:
    """Return the ledger from which a trial was chosen: the events seen then, and what was asked since."""
    then = _replayed(events[:seen])
    asked = (body for body in events[seen:] if parsed(body)["event"] == "asked")
    while len(then.trials) < trial - 1:
        then.apply([next(asked)])
    return then


def now() -> float:
    """Return the time, in seconds since 1970 to the millisecond."""
    return round(time.time(), 3)


def _refuse_overflow(ledger: Ledger, events: Events) -> None:
    """Refuse what would leave rewards so large that no belief could be computed any more."""
    rewards = [event for event in events if "reward" in event or event["event"] == "retracted"]
    if rewards and (ledger.large or any(abs(event.get("reward", 0.0)) > LARGE for event in rewards)):
        deciding_belief(ledger, ledger.tally.plus(change for event in rewards for change in ledger.changes(event)))
