"""What events would change in a ledger. It stays as it is until they are entered, so that events can be checked first.

event       needs                                     changes
asked       the next number, arms that there are      a new trial, open
told        an open or expired trial                  its reward
observed    the next number, an arm                   a new trial, told
amended     a trial that was told                     its reward, not the one first told
retracted   a trial that was told                     its status
cancelled   an open or expired trial                  its status
expired     an open trial                             its status
extended    arms that fit the prior                   the arms and the prior
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

from corrbandits._core import checks
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.codec import Data
from corrbandits.study.events import UNREADABLE, maker_of, measured_in, parsed, time_of
from corrbandits.study.extend import extended
from corrbandits.study.recipe import Recipe
from corrbandits.study.trial import Entry, Status

if TYPE_CHECKING:
    from corrbandits.study.ledger import Ledger

LARGE = 1e150
"""A study with rewards beyond this sees to it, at every new one, that a choice can still be made."""

Change = tuple[int, int, float]
"""What an event adds to the tally: arm, count, sum."""

_READERS = {
    name: f"_{name}"
    for name in ("asked", "told", "observed", "amended", "retracted", "cancelled", "expired", "extended")
}

KINDS = ("created", *_READERS)
"""What events there are."""


@final
class Draft:
    """Events that follow from a ledger and those before them, and what they change; made by `Ledger.draft`."""

    def __init__(self, ledger: Ledger, bodies: Iterable[str]) -> None:
        """Read the events; ValueError for the first that does not follow."""
        self._ledger = ledger
        self.sequence, self.changed = ledger.sequence, ledger.changed
        self.arms, self.recipe = ledger.arms, ledger.recipe
        self.trials: dict[int, Entry] = {}  # those that are new or not as they were
        self.count = len(ledger.trials)
        self.keys: dict[str, int] = {}
        self.extensions: set[str] = set()
        self.moves, self.last, self.large = ledger.moves, ledger.last, ledger.large
        self.changes: list[Change] = []
        self._by: str | None = None  # who made the event that is being read
        for body in bodies:
            self._read(body)

    def _read(self, body: str) -> None:
        self.sequence += 1
        try:
            event = parsed(body)
            if (kind := event.get("event")) not in _READERS:
                raise ValueError(f"an event after the first must be one of {', '.join(_READERS)}, got {kind!r:.40}.")
            self._by = maker_of(event)
            getattr(self, _READERS[kind])(event)
            self.changed = time_of(event)
        except UNREADABLE as error:
            raise ValueError(f"event {self.sequence} cannot be read: {error} It is {body[:80]!r}.") from error

    def _entry(self, trial: Any) -> Entry:
        return self.trials.get(checks.integer("a trial", trial, least=1)) or self._ledger.entry(trial)

    def _expected(self, trial: Any, *statuses: Status) -> Entry:
        entry = self._entry(trial)
        if entry.status not in statuses:
            raise ValueError(f"trial {trial} must be {' or '.join(statuses)}, but it is {entry.status}.")
        return entry

    def _reward(self, event: Data) -> float:
        reward = self.recipe.kind.checked_reward(event["reward"])
        self.large = self.large or abs(reward) > LARGE
        return reward

    def _asked(self, event: Data) -> None:
        arm = checks.arm(event["arm"], self.arms.count)
        seen = checks.integer("seen", event.get("seen", self.sequence - 1), least=1)
        if seen >= self.sequence:
            raise ValueError(f"it cannot have seen event {seen}.")
        within = None
        if (allowed := event.get("allowed")) is not None:
            within = tuple(checks.arm_array(allowed, self.arms.count).tolist())
            if not within:
                raise ValueError("some arm must have been allowed.")
        carried, apart = bool(event.get("carried", False)), checks.integer("apart", event.get("apart", 0), least=0)
        if apart > self.count:
            raise ValueError(f"there are no {apart} trials before it.")
        start = None if event.get("from") is None else checks.arm(event["from"], self.arms.count)
        how: Data = {"seen": seen, "allowed": within, "apart": apart, "start": start, "carried": carried}
        self._new(event, Entry(arm, "open", time_of(event), **how, asked_by=self._by))
        self.last = arm

    def _observed(self, event: Data) -> None:
        arm, reward = checks.arm(event["arm"], self.arms.count), self._reward(event)
        self.changes.append((arm, 1, reward))
        how: Data = {"told_by": self._by, "measured": measured_in(event)}
        self._new(event, Entry(arm, "told", None, time_of(event), reward, reward, **how))

    def _new(self, event: Data, entry: Entry) -> None:
        self.count += 1
        if event["trial"] != self.count:
            raise ValueError(f"it must have the number {self.count}.")
        if (key := event.get("key")) is not None:
            if checked_name("a key", key) in self._ledger.keys or key in self.keys:
                raise ValueError(f"its key {key!r} is there already.")
            self.keys[key] = self.count
        self.trials[self.count] = entry
        self.moves += 1

    def _told(self, event: Data) -> None:
        reward, entry = self._reward(event), self._expected(event["trial"], "open", "expired")
        self.changes.append((entry.arm, 1, reward))
        how: Data = {"told": time_of(event), "told_by": self._by, "measured": measured_in(event)}
        self.trials[event["trial"]] = replace(entry, status="told", reward=reward, first=reward, **how)

    def _amended(self, event: Data) -> None:
        reward, entry = self._reward(event), self._expected(event["trial"], "told")
        self.changes += [(entry.arm, -1, -entry.reward), (entry.arm, 1, reward)]
        self.trials[event["trial"]] = replace(entry, reward=reward, told_by=self._by)

    def _retracted(self, event: Data) -> None:
        entry = self._expected(event["trial"], "told")
        self.changes.append((entry.arm, -1, -entry.reward))
        self._closed(event["trial"], entry, "retracted")

    def _cancelled(self, event: Data) -> None:
        self._closed(event["trial"], self._expected(event["trial"], "open", "expired"), "cancelled")

    def _expired(self, event: Data) -> None:
        self._closed(event["trial"], self._expected(event["trial"], "open"), "expired")

    def _closed(self, trial: int, entry: Entry, status: Status) -> None:
        self.trials[trial] = replace(entry, status=status)
        self.moves += 1

    def _extended(self, event: Data) -> None:
        more = Arms.from_data(event["arms"])
        self.extensions.add(checked_name("a key", event["key"]))
        self.arms = self.arms.plus(more)
        self.recipe = Recipe.of(extended(self.recipe.belief, event["prior"], self.arms.count))
        self.moves += 1
