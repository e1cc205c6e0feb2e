"""When a reward was measured: what callers may say of it."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Any

from corrbandits._core import checks

AHEAD = 60.0
"""Seconds that a time may lie in the future: clocks differ."""

DAY = 86_400.0

MINUTE = 60.0

EXPECTED = "a time such as 2026-03-14, 2026-03-14T09:30 (local time) or 2026-03-14T09:30+01:00"

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

When = str | float | date | None
"""ISO 8601, a date or a time, local where no zone is said; seconds since 1970; or nothing, for now."""


def measured_at(at: When, now: float) -> float | None:
    """Return when a reward was measured, in seconds since 1970; None if nothing was said, refused if it cannot be.

    >>> measured_at("1970-01-02T00:00Z", now=1e9), measured_at(None, now=1e9)
    (86400.0, None)
    """
    if at is None:
        return None
    seconds = _seconds(at)
    if seconds < 0:
        raise ValueError(f"a reward must have been measured in 1970 or later, got {at!s:.60}.")
    if seconds > now + AHEAD:
        here = datetime.fromtimestamp(now).astimezone().isoformat(" ", "seconds")
        raise ValueError(f"a reward cannot have been measured in the future: it is {here}, got {at!s:.60}.")
    return round(seconds, 3)


def refuse_another_time(trial: int, known: float | None, measured: float | None) -> None:
    """Refuse a reward that is there already, but measured at another time.

    >>> refuse_another_time(3, 86400.0, None)
    """
    if measured is None or measured == known:
        return
    first, second = (datetime.fromtimestamp(at).astimezone().isoformat(" ") for at in (known or 0.0, measured))
    raise ValueError(
        f"the reward of trial {trial} was measured at {first}, got {second} now. If the first is wrong, retract it and "
        "observe it at the right time."
    )


def moment_in_words(at: float, now: float) -> str:
    """Return a time, given in seconds since 1970, as people here write it; `now` if it is within a minute of that.

    >>> moment_in_words(1e9, now=1e9 + 20.0)
    'now'
    """
    if abs(at - now) < MINUTE:
        return "now"
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "minutes")


def reads_as_time(text: str) -> bool:
    """Return whether a text says a time or a date, such that it can hardly be anything else.

    >>> reads_as_time("2026-03-14"), reads_as_time("20260314")
    (True, False)
    """
    if not _DATE.match(text.strip()):
        return False
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _refuse_skipped(at: datetime, seconds: float) -> None:
    """Refuse a local time that clocks have jumped over; a day without its first hour begins all the same."""
    if at.tzinfo is None and at.time() != time(0) and datetime.fromtimestamp(seconds) != at.replace(fold=0):
        zone = at.astimezone().isoformat()[-6:]
        raise ValueError(
            f"there was no {at.isoformat(' ', 'minutes')} here: clocks went forward. Say what it is from UTC, such as "
            f"{at.isoformat('T', 'minutes')}{zone}."
        )


def _seconds(at: Any) -> float:
    """Return a time in seconds since 1970."""
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at.strip())
        except ValueError as error:
            why = f": {error}" if _DATE.match(at.strip()) else ""
            raise ValueError(f"when a reward was measured must be {EXPECTED}, got {at!r:.60}{why}.") from None
    if isinstance(at, date) and not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day)
    if isinstance(at, datetime):
        try:
            seconds = at.timestamp()
        except (OverflowError, OSError, ValueError):
            raise ValueError(f"when a reward was measured must be {EXPECTED}, got {at!s:.60}.") from None
        _refuse_skipped(at, seconds)
        return seconds
    try:
        return checks.number("at", at)
    except (TypeError, ValueError):
        raise TypeError(f"when a reward was measured must be {EXPECTED}, got {at!r:.60}.") from None
