"""Rewards with their times: what a belief on mean rewards that change is computed from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self, final

from corrbandits._core import checks
from corrbandits.belief.history import Step

Link = tuple[Step, Any]
"""A reward, and the link before it or None."""


@final
class Timeline:
    """Rewards in the order of time, and what time it is. It never changes: one reward more makes another.

    It is a chain, the latest reward first, so that beliefs that follow from one share what was seen before.

    >>> line = Timeline().at(3.0).seen(0, 5.0).at(7.5).seen(1, 2.0)
    >>> line.now, line.number, line.steps()
    (7.5, 2, [(3.0, 0, 5.0), (7.5, 1, 2.0)])
    """

    __slots__ = ("_first", "_last", "now", "number")

    def __init__(self, now: float = 0.0, steps: Iterable[Step] = ()) -> None:
        """Of rewards in any order; those of one time are put in the order of arms, so that it is always the same."""
        ordered = sorted(steps)
        self.now, self.number = now, len(ordered)
        self._first = ordered[0][0] if ordered else math.nan
        self._last: Link | None = None
        for step in ordered:
            self._last = step, self._last

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle it as a list: a chain may be longer than what these follow."""
        return Timeline, (self.now, self.steps())

    def at(self, time: float) -> Self:
        """Return it at a later time; before the first reward at any. ValueError for an earlier one."""
        then = checks.number("time", time)
        if self.number and then < self.now:
            raise ValueError(
                f"time must not go back where mean rewards change: it is {self.now:.12g}, got {then:.12g}. Give "
                "rewards in the order of time, or all of them with their times to replay."
            )
        new = object.__new__(type(self))
        new.now, new.number, new._first, new._last = then, self.number, self._first, self._last
        return new

    def seen(self, arm: int, reward: float) -> Self:
        """Return it with one reward more, now."""
        new = object.__new__(type(self))
        new.now, new.number, new._last = self.now, self.number + 1, ((self.now, arm, reward), self._last)
        new._first = self._first if self.number else self.now
        return new

    def plus(self, steps: Iterable[Step]) -> Timeline:
        """Return it with more rewards, of any times; it is then the latest of these, or what it was if that is later.

        >>> Timeline().at(4.0).seen(0, 5.0).plus([(1.5, 1, 2.0)]).steps()
        [(1.5, 1, 2.0), (4.0, 0, 5.0)]
        """
        new = [(checks.number("time", time), arm, reward) for time, arm, reward in steps]
        then = self.now if self.number else -math.inf
        latest = max((time for time, _, _ in new), default=self.now)
        return Timeline(max(latest, then), [*self.steps(), *new])

    def merged(self, other: Timeline) -> Timeline:
        """Return the rewards of both; it is the later of their times."""
        known = [line for line in (self, other) if line.number] or [self]
        return Timeline(max(line.now for line in known), [*self.steps(), *other.steps()])

    def mirrored(self, mirror: float) -> Timeline:
        """Return it with rewards turned round: each is `mirror` less itself."""
        return Timeline(self.now, [(time, arm, mirror - reward) for time, arm, reward in self.steps()])

    def steps(self) -> list[Step]:
        """Return the rewards, each with its time and arm, in the order of time."""
        found, link = [], self._last
        while link is not None:
            step, link = link
            found.append(step)
        return found[::-1]

    def pace(self) -> float:
        """Return how many rewards there were per unit of time; 1 before there are two at different times.

        >>> Timeline(steps=[(1.0, 0, 5.0), (3.0, 0, 6.0), (5.0, 1, 2.0)]).pace()
        0.5
        """
        if self._last is None or not (apart := self._last[0][0] - self._first) > 0:
            return 1.0
        return (self.number - 1) / apart
