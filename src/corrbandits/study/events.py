"""Events as lines of JSON: written, and read with suspicion."""

from __future__ import annotations

import json
from typing import Any

from corrbandits._core import checks
from corrbandits.study.arms import checked_name
from corrbandits.study.codec import Data

UNREADABLE = (LookupError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)
"""What an event may raise that was not written by this program."""

LATEST = 253_402_300_799.0  # the end of the year 9999


def written(value: Any) -> str:
    """Return JSON on one line, as events are kept."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def parsed(text: str) -> Data:
    """Return what a line of JSON says; refuse anything but an object, and NaN and infinity, which are not JSON."""
    try:
        return dict(_DECODER.decode(text).items())
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"a JSON object was expected, got this: {text!r:.60} ({error}).") from None


class RepeatedError(ValueError):
    """Something is said twice."""


def refuse_repeats(text: str) -> None:
    """Refuse a line of JSON that says something twice: which of them counts, each reader decides for itself.

    >>> refuse_repeats('{"arm": 1, "reward": 2}')
    """
    json.loads(text, object_pairs_hook=each_once)


def each_once(pairs: list[tuple[str, Any]]) -> Data:
    """Return the pairs of a JSON object by name, for a parser; refuse a name that comes twice.

    >>> each_once([("arm", 1), ("reward", 2)])
    {'arm': 1, 'reward': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(name for k, (name, _) in enumerate(pairs) if name in dict(pairs[:k]))
        raise RepeatedError(f"each name must come once, got {repeated!r:.40} twice.")
    return found


def time_of(event: Data) -> float:
    """Return when an event was written, in seconds since 1970; refuse what no clock should show.

    >>> time_of({"event": "asked", "at": 12.5})
    12.5
    """
    try:
        return checks.number("at", event.get("at"), least=0, up_to=LATEST)
    except (TypeError, ValueError):
        raise ValueError(
            f"the time of an event must lie between the years 1970 and 9999, got {event.get('at')!r:.40} seconds since "
            "1970. Set the clock of the machine that writes it."
        ) from None


def measured_in(event: Data) -> float | None:
    """Return when the reward of an event was measured, if it says so: seconds since 1970.

    >>> measured_in({"event": "told", "at": 12.5, "measured": 3.0}), measured_in({"event": "told", "at": 12.5})
    (3.0, None)
    """
    said = event.get("measured")
    return None if said is None else checks.number("measured", said, least=0, up_to=LATEST)


def maker_of(event: Data) -> str | None:
    """Return who made an event, if it says so.

    >>> maker_of({"event": "told", "by": "Anna"})
    'Anna'
    """
    return None if (by := event.get("by")) is None else checked_name("who made an event", by)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # one for all: a study has many events
