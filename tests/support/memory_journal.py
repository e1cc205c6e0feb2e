"""A journal in memory: the least that a journal is, and where to begin with one of your own."""

import threading
from collections.abc import Sequence

from corrbandits.study.journal import JournalError, Taken


class MemoryJournal:
    """Studies that last as long as this object does."""

    place = "memory"

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._events: dict[int, list[str]] = {}
        self._last = 0  # the number of the newest study, deleted or not
        self._lock = threading.Lock()

    def enrol(self, name: str, bodies: Sequence[str]) -> int:
        with self._lock:
            if name in self._names:
                raise ValueError(f"a new study needs a name of its own, but there is a {name!r} in {self.place}.")
            self._last += 1
            self._names[name], self._events[self._last] = self._last, list(bodies)
            return self._last

    def studies(self) -> dict[str, int]:
        return dict(sorted(self._names.items()))

    def append(self, study: int, sequence: int, bodies: Sequence[str]) -> None:
        with self._lock:
            if study not in self._events:
                raise ValueError("the study must exist, but it was deleted.")
            last = len(self._events[study])
            if bodies and last >= sequence:
                raise Taken(sequence)
            if last < sequence - 1:
                raise JournalError(
                    f"there are {last} events of the study, but {sequence - 1} have been read. Nothing was saved."
                )
            self._events[study] += bodies

    def read(self, study: int, after: int) -> list[str]:
        with self._lock:
            return self._events.get(study, [])[after:]

    def delete(self, study: int) -> None:
        with self._lock:
            self._events.pop(study, None)
            self._names = {name: number for name, number in self._names.items() if number != study}

    def close(self) -> None:
        """Nothing is open."""
