"""The studies that are served: one journal, and each study opened once for each kind of use.

Threads that share a `Study` take turns. So a study has three here, for reading, telling and asking: a choice among many
arms holds up neither who tells nor who looks.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar, final

from corrbandits.study import Snapshot, Study, Trial
from corrbandits.study.codec import Data
from corrbandits.study.events import parsed
from corrbandits.study.gathering import Reward, Wanted
from corrbandits.study.journal import DamagedError, Journal, JournalError
from corrbandits.study.ledger import Ledger
from corrbandits.study.places import meant
from corrbandits.web.service.gather import Gather
from corrbandits.web.service.problems import Problem

T = TypeVar("T")

_serials = itertools.count()

MOST_OPEN = 100
"""So many studies are kept open; of more, those not used for longest are opened anew when they are."""


@final
class Desk:
    """One study as it is served."""

    def __init__(self, journal: Journal, name: str, number: int) -> None:
        self.name, self.number, self.serial = name, number, next(_serials)
        self._journal = journal
        self._lock = threading.Lock()
        self.asking = asyncio.Lock()  # one thread at a time waits for a choice of this study
        self.asks: Gather[Wanted, tuple[Trial, Snapshot]] | None = None
        self.tells: Gather[Reward, Snapshot] | None = None
        self._bodies: list[str] = []

    @cached_property
    def reader(self) -> Study:
        """For who looks."""
        return Study.open(self._journal, self.name)

    @cached_property
    def teller(self) -> Study:
        """For rewards."""
        return Study.open(self._journal, self.name)

    @cached_property
    def asker(self) -> Study:
        """For choices."""
        return Study.open(self._journal, self.name)

    def snapshot(self) -> Snapshot:
        """Return the study as it is now."""
        return self.reader.snapshot()

    def sequence(self) -> int:
        """Return how many events there are now."""
        return self.reader.sequence

    def bodies(self, upto: int) -> list[str]:
        """Return the first so many events, or as many as there are; those that were read are kept."""
        with self._lock:
            if upto > len(self._bodies):
                self._bodies += self._journal.read(self.number, len(self._bodies))
            return self._bodies[:upto]

    def ledger(self, sequence: int) -> Ledger:
        """Return what the first so many events add up to."""
        created, *rest = self.bodies(sequence)
        ledger = Ledger(created)
        ledger.apply(rest)
        return ledger

    def ledgers(self, sequences: Iterable[int]) -> Iterator[Ledger]:
        """Yield, for some numbers of events in their order, what so many add up to: each is to be used at once."""
        ledger = None
        for upto in sequences:
            bodies = self.bodies(upto)
            if ledger is None:
                ledger = Ledger(bodies[0])
            ledger.apply(bodies[ledger.sequence :])
            yield ledger

    def events(self, sequence: int, first: int = 0) -> list[Data]:
        """Return the first so many events as data, without so many at the beginning."""
        return [parsed(body) for body in self.bodies(sequence)[first:]]


@final
class Shelf:
    """All studies of one database."""

    def __init__(self, database: str) -> None:
        self.journal = Journal(database, create=True)
        self._desks: OrderedDict[str, Desk] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """Where studies are kept, as the people who run the server are told."""
        return self.journal.place

    def names(self) -> list[str]:
        """Return the names of all studies that are whole."""
        return list(self._known())

    def open_desk(self, name: str) -> Desk | None:
        """Return a study that is open already."""
        with self._lock:
            if (found := self._desks.get(name)) is not None:
                self._desks.move_to_end(name)
            return found

    def desk(self, name: str) -> Desk:
        """Return a study; 404 if there is none of this name."""
        if (found := self.open_desk(name)) is not None:
            return found
        known = self._known()
        if (there := meant(name, known)) is None:
            raise Problem(404, f"there is no study {name!r:.60}. GET /api/v1/studies lists those there are.")
        with self._lock:
            desk = self._desks.setdefault(there, Desk(self.journal, there, known[there]))
            while len(self._desks) > MOST_OPEN:
                self._desks.popitem(last=False)
        return desk

    def use(self, name: str, work: Callable[[Desk], T]) -> T:
        """Return what some work with a study gives; one that was deleted, or made anew, is opened anew."""
        desk = self.desk(name)
        try:
            return work(desk)
        except (ValueError, JournalError) as error:
            lost = isinstance(error, JournalError) and not error.unsure
            if not lost and self._known().get(desk.name) == desk.number:
                raise
            self.forget(desk.name)
            if isinstance(error, JournalError):
                raise
        return work(self.desk(name))

    def forget(self, name: str) -> None:
        """Open a study anew when it is next used."""
        with self._lock:
            self._desks.pop(name, None)

    def close(self) -> None:
        """Close the connections."""
        self.journal.close()

    def _known(self) -> dict[str, int]:
        try:
            return self.journal.studies()
        except DamagedError as error:
            return dict(error.whole or {})
