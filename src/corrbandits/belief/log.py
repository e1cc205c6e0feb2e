"""Rewards with their times, in a form that beliefs can share."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import final

from corrbandits._core import checks
from corrbandits.belief.history import Step

Told = tuple[int, int, float]
"""An arm, how many rewards it gave, and what they sum to."""

Entry = tuple[float, int, int, float]
"""A time, and what was told then."""


@final
class Log:
    """What was told, and when, in the order of time. A log never changes; `plus` returns a longer one.

    Logs that came of each other share one list, of which each sees its first `size` entries: to add one costs the same
    however many there are.

    >>> one = Log().plus(1.0, [(0, 1, 5.0)])
    >>> two, other = one.plus(2.0, [(1, 1, 7.0)]), one.plus(3.0, [(1, 1, 8.0)])
    >>> len(one), two[1], other[1]
    (1, (2.0, 1, 1, 7.0), (3.0, 1, 1, 8.0))
    """

    __slots__ = ("_entries", "_lock", "_size", "number")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        self._size, self._lock = len(self._entries), threading.Lock()
        self.number = sum(count for _, _, count, _ in self._entries)

    number: int
    """How many rewards were told."""

    @staticmethod
    def of(steps: Iterable[Step]) -> Log:
        """Return the log of single rewards, which are in any order.

        >>> list(Log.of([(4.0, 0, 5.0), (1.5, 1, 2.0)]))
        [(1.5, 1, 1, 2.0), (4.0, 0, 1, 5.0)]
        """
        return Log(sorted((checks.number("time", time), arm, 1, reward) for time, arm, reward in steps))

    def __reduce__(self) -> tuple[type[Log], tuple[list[Entry]]]:
        """Copy and pickle what this log sees."""
        return Log, (list(self),)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> Entry:
        return self._entries[place]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries[: self._size])

    def plus(self, time: float, told: Iterable[Told]) -> Log:
        """Return the log with more, told at a time that is not before its last."""
        more = [(time, *one) for one in told]
        longer = object.__new__(Log)
        with self._lock:
            own = len(self._entries) == self._size  # otherwise another log has gone on from here
            longer._entries = self._entries if own else self._entries[: self._size]
            longer._lock = self._lock if own else threading.Lock()
            longer._entries.extend(more)
        longer._size, longer.number = self._size + len(more), self.number + sum(count for _, _, count, _ in more)
        return longer

    def latest(self, otherwise: float) -> float:
        """Return the time of the last entry, or another if there is none."""
        return self[self._size - 1][0] if self._size else otherwise

    def pace(self) -> float:
        """Return how many rewards there are per unit of time; 1 before there are two at different times.

        >>> Log([(1.0, 0, 1, 5.0), (3.0, 0, 1, 6.0), (5.0, 1, 1, 2.0)]).pace()
        0.5
        """
        apart = self[self._size - 1][0] - self[0][0] if self._size else 0.0
        return (self.number - 1) / apart if apart > 0 else 1.0

    def merged(self, other: Log) -> Log:
        """Return the log of both, in the order of time."""
        return Log(heapq.merge(self, other, key=itemgetter(0)))

    def mirrored(self, mirror: float) -> Log:
        """Return the log of the rewards turned round: each is `mirror` less itself.

        >>> Log([(1.0, 0, 2, 0.5)]).mirrored(1.0)[0]
        (1.0, 0, 2, 1.5)
        """
        return Log((time, arm, count, mirror * count - total) for time, arm, count, total in self)

    def by_time(self) -> Iterator[tuple[float, list[Told]]]:
        """Yield each time with all that was told then."""
        for time, entries in groupby(self, key=itemgetter(0)):
            yield time, [(arm, count, total) for _, arm, count, total in entries]
