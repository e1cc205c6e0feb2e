"""Many rewards in one go: the events of all of them, or none because one is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, final

from corrbandits.study import following
from corrbandits.study.codec import Data
from corrbandits.study.ledger import Ledger
from corrbandits.study.measured import When, measured_at, reads_as_time
from corrbandits.study.replica import key_of
from corrbandits.study.trial import Trial

Advanced = Callable[[int], None]
"""Told how many rows were looked at."""


@final
class BadRowError(ValueError):
    """One of many rewards cannot be taken, so none was: `row` says which, from 0, and `reason` why.

    >>> print(BadRowError(2, "a reward must be a number, got 'x'."))
    row 3: a reward must be a number, got 'x'. Nothing was recorded.
    """

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row + 1}: {reason} Nothing was recorded.")
        self.row, self.reason = row, reason


Told = tuple[Trial | int, Any] | tuple[Trial | int, Any, When]
"""A trial, its reward, and perhaps when it was measured."""

Observed = tuple[int | str, Any] | tuple[int | str, Any, str | date | None] | tuple[int | str, Any, str | None, When]
"""An arm, a reward, a key or None, and when it was measured; a date or a `datetime` may follow the reward at once."""

Row = tuple[int | str, Any, str, When]
"""An arm, a reward, a key, and when it was measured."""


def telling(ledger: Ledger, rewards: Sequence[Told], now: float, advanced: Advanced | None) -> list[Data]:
    """Return the events of rewards of trials; those that were told already need none."""
    events: list[Data] = []
    seen: set[int] = set()
    for row, (trial, reward, *when) in enumerate(rewards):
        with _blaming(row):
            number = ledger.number_of(trial)
            if number in seen:
                raise ValueError(f"each trial must be there once, but trial {number} is there before, too.")
            measured = measured_at(when[0] if when else None, now)
            events += following.telling(ledger, number, ledger.checked_reward(reward), measured)
        seen.add(number)
        if advanced is not None:
            advanced(row + 1)
    return events


def rows_of(rewards: Iterable[Observed]) -> list[Row]:
    """Return rows with all their entries, those without a key with one that no other has.

    >>> from datetime import date
    >>> arm, reward, key, at = rows_of([("elm", 12.0, date(2026, 10, 1))])[0]
    >>> len(key), at
    (16, datetime.date(2026, 10, 1))
    """
    rows = []
    for number, row in enumerate(rewards):
        with _blaming(number):
            rows.append(_full(row))
    return rows


def _full(row: Sequence[Any]) -> Row:
    if isinstance(row, str) or not 2 <= len(row) <= 4:
        raise ValueError(f"a row must be an arm, a reward, a key or None, and perhaps a time, got {row!r:.80}.")
    arm, reward, *rest = row
    if len(rest) == 1 and isinstance(rest[0], str) and reads_as_time(rest[0]):
        raise ValueError(
            f"what follows a reward is its key, but {rest[0]!r} reads as a time. For the time of a reward without a "
            f"key write ({arm!r:.40}, {reward!r:.20}, None, {rest[0]!r}); for such a key add a time or None after it."
        )
    key, at = (None, rest[0]) if len(rest) == 1 and isinstance(rest[0], date) else (*rest, None, None)[:2]
    return arm, reward, key_of(key), at


def observing(ledger: Ledger, rewards: Sequence[Row], now: float, advanced: Advanced | None) -> list[Data]:
    """Return the events of rewards that nobody had asked for; those whose keys are there already need none."""
    events: list[Data] = []
    seen: set[str] = set()
    for row, (arm, reward, key, at) in enumerate(rewards):
        with _blaming(row):
            if key in seen:
                raise ValueError(f"each key must be there once, but {key!r} is there before, too.")
            k, value = ledger.arms.index(arm), ledger.checked_reward(reward)
            for event in following.observing(ledger, k, value, key, measured_at(at, now)):
                events.append(event | {"trial": event["trial"] + len(events)})
        seen.add(key)
        if advanced is not None:
            advanced(row + 1)
    return events


@contextmanager
def _blaming(row: int) -> Iterator[None]:
    """Say which row is wrong."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise BadRowError(row, str(error)) from error
