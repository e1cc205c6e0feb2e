"""What the events of a study add up to: every trial and its reward, and what the next event may be.

    event       says                                      trial becomes
    created     prior, policy, arms, settings             -
    asked       trial, arm                                open (`apart`: of another arm than so many just before it)
    told        trial, reward                             told
    observed    trial, arm, reward                        told (it was never asked for)
    amended     trial, reward                             told, another reward
    retracted   trial                                     retracted
    cancelled   trial                                     cancelled
    expired     trial                                     expired; a reward is still taken
    extended    more arms                                 -

An event is a JSON object on one line, with the time `at` which it was written in seconds since 1970. Nothing here reads
the clock, a file or a random number: the same events make the same ledger, everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, final

from corrbandits._core import checks
from corrbandits._core.tally import Tally
from corrbandits.belief import Belief
from corrbandits.belief.history import History, Step
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.codec import Data
from corrbandits.study.extend import extended, placed
from corrbandits.study.recipe import Recipe
from corrbandits.study.settings import Settings
from corrbandits.study.trial import Entry, Status, Trial

LARGE = 1e150
"""A study with rewards beyond this sees to it, at every new one, that its belief can still be computed."""

UNREADABLE = (LookupError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)
"""What an event may raise that was not written by this program."""

LATEST = 253_402_300_799.0  # the end of the year 9999

Change = tuple[int, int, float]
"""What an event adds to the tally: arm, count, sum."""

_READERS = {
    name: f"_{name}"
    for name in ("asked", "told", "observed", "amended", "retracted", "cancelled", "expired", "extended")
}


@final
class Ledger:
    """The state of a study after its events."""

    def __init__(self, created: str) -> None:
        try:
            event = parsed(created)
            self.settings = Settings.from_event(event)
            self.created = _time(event)
        except UNREADABLE as error:
            raise ValueError(f"event 1 cannot be read: {error} It is {created[:80]!r}.") from error
        self.recipe, self.arms = self.settings.recipe, self.settings.arms
        self.sequence = 1
        self.trials: list[Entry] = []
        self.open: dict[int, int] = {}  # arm by trial
        self.keys: dict[str, int] = {}  # trial by the key it was asked or observed with
        self.extensions: set[str] = set()  # keys of arms that were added
        self.moves = 0  # how many events there were that a choice depends on and that are no rewards of open trials
        self.last: int | None = None
        self.large = False
        self.changed = self.created
        self._sums: tuple[Tally, list[Change]] = Tally.empty(self.arms.count), []  # and what is yet to be added to it

    def copy(self) -> Ledger:
        """Return a ledger that stays as this one is now."""
        new = object.__new__(Ledger)
        changing = {name: getattr(self, name).copy() for name in ("trials", "open", "keys", "extensions")}
        new.__dict__ = self.__dict__ | changing | {"_sums": (self.tally, [])}
        return new

    @property
    def prior(self) -> Belief:
        """What is believed before any reward, of the arms added later too."""
        return self.recipe.belief

    @property
    def tally(self) -> Tally:
        """The rewards that count: their number and sum per arm."""
        tally, news = self._sums
        if news:
            tally = tally.plus(news)
            self._sums = tally, []  # both at once, so that an interrupt cannot make one reward count twice
        return tally

    @property
    def time(self) -> int:
        """t, the number of the next decision: 1 + told + open + freely observed."""
        return 1 + int(self.tally.counts.sum()) + len(self.open)

    @property
    def number(self) -> int:
        """The number of the next trial: the time at which beliefs on changing means are asked for."""
        return len(self.trials) + 1

    def history(self, tally: Tally | None = None) -> History:
        """Return the rewards that were told, each at the number of its trial; with a tally, they add up to that."""
        seen = self.tally if tally is None else tally
        return History(seen.counts, seen.sums, self._steps)

    def _steps(self) -> Iterator[Step]:
        for trial, entry in enumerate(self.trials, start=1):
            if entry.status == "told":
                yield trial, entry.arm, entry.reward

    def apply(self, bodies: Iterable[str]) -> None:
        """Add events; refuse one that does not follow from those before it."""
        for body in bodies:
            try:
                event = parsed(body)
                self.sequence += 1
                getattr(self, _READERS[event["event"]])(event)
                self.changed = _time(event)
            except UNREADABLE as error:
                raise ValueError(f"event {self.sequence} cannot be read: {error} It is {body[:80]!r}.") from error

    def entry(self, trial: int) -> Entry:
        """Return a trial."""
        number = checks.integer("a trial", trial, least=1)
        if number > len(self.trials):
            known = f"1 to {len(self.trials):,}" if self.trials else "none yet"
            raise ValueError(f"a trial must be one of the study's ({known}), got {number:,}. Ask first.")
        return self.trials[number - 1]

    def trial(self, number: int) -> Trial:
        """Return a trial as callers get it."""
        arm = self.entry(number).arm
        return Trial(number, arm, self.arms.name(arm))

    def number_of(self, trial: Trial | int) -> int:
        """Return the number of a trial; refuse a trial of another study."""
        if not isinstance(trial, Trial):
            return checks.integer("a trial", trial, least=1)
        known = self.trial(trial.number)
        if known != trial:
            raise ValueError(f"{trial} must be of this study, but here it is {known}: it is another study's.")
        return trial.number

    def checked_reward(self, reward: Any) -> float:
        """Return a reward as a number; refuse one that the prior cannot learn from."""
        return self.recipe.kind.checked_reward(reward)

    def telling(self, trial: int, reward: float) -> list[Data]:
        """Return the event of a reward; none if it has been told already, refused if another has."""
        entry = self.entry(trial)
        if entry.status in ("open", "expired"):
            return [{"event": "told", "trial": trial, "reward": reward}]
        self._refuse_closed(trial, entry)
        if reward in (entry.first, entry.reward):
            return []
        raise ValueError(
            f"trial {trial} was told the reward {entry.reward!r} already, got {reward!r} now. If the first is "
            f"wrong, amend({trial}, {reward!r}); if this is another measurement, observe it."
        )

    def observing(self, arm: int, reward: float, key: str) -> list[Data]:
        """Return the event of a free observation; none if it has been made with this key already."""
        if key not in self.keys:
            trial = len(self.trials) + 1
            return [{"event": "observed", "trial": trial, "arm": arm, "reward": reward, "key": key}]
        trial = self.keys[key]
        entry = self.entry(trial)
        if entry.status != "told":
            raise ValueError(
                f"the key {key!r} is that of trial {trial}, which was {entry.status}. Observe it with another key."
            )
        if entry.arm != arm or reward not in (entry.first, entry.reward):
            raise ValueError(
                f"an observation with the key {key!r} is there as trial {trial}, reward {entry.reward!r} of arm "
                f"{self.arms.name(entry.arm)!r}, got {reward!r} of {self.arms.name(arm)!r} now. Use another key, "
                f"or amend({trial}, ...)."
            )
        return []

    def amending(self, trial: int, reward: float) -> list[Data]:
        """Return the event of another reward in place of a wrong one."""
        entry = self._rewarded(trial, "amended", "tell its reward")
        return [] if reward == entry.reward else [{"event": "amended", "trial": trial, "reward": reward}]

    def retracting(self, trial: int) -> list[Data]:
        """Return the event that takes an observation back."""
        status = self.entry(trial).status
        if status == "retracted":
            return []
        if status == "cancelled":
            raise ValueError(f"only a reward can be retracted, but trial {trial} was cancelled and has none.")
        self._rewarded(trial, "retracted", "cancel it")
        return [{"event": "retracted", "trial": trial}]

    def cancelling(self, trial: int) -> list[Data]:
        """Return the event that gives a trial up."""
        status = self.entry(trial).status
        if status in ("told", "retracted"):
            remedy = f" If its reward is wrong, retract({trial})." if status == "told" else ""
            raise ValueError(
                f"only a trial whose reward is awaited can be cancelled, but {trial} was {status}.{remedy}"
            )
        return [] if status == "cancelled" else [{"event": "cancelled", "trial": trial}]

    def extending(self, new: Arms, more: Mapping[str, Any], key: str) -> list[Data]:
        """Return the event of more arms, and of what the prior is to know of them; none if they came with this key."""
        if key in self.extensions:
            return []
        given = more if new.coordinates is None else {"coordinates": new.coordinates, **more}
        prior = {name: checks.numbers(name, value).tolist() for name, value in given.items()}
        arms = placed(new, extended(self.prior, prior, self.arms.count + new.count))
        self.arms.plus(arms)  # refuses what does not fit
        return [{"event": "extended", "arms": arms.data(), "prior": prior, "key": key}]

    def expiring(self, now: float) -> list[Data]:
        """Return the events of trials that have been open for too long."""
        timeout = self.settings.timeout
        if timeout is None:
            return []
        late = [trial for trial in self.open if now - (self.trials[trial - 1].asked or 0.0) > timeout]
        return [{"event": "expired", "trial": trial} for trial in late]

    def changes(self, event: Data) -> list[Change]:
        """Return what the event of a reward adds to the tally: (arm, count, sum)."""
        if event["event"] == "observed":
            return [(event["arm"], 1, event["reward"])]
        entry = self.entry(event["trial"])
        before = [(entry.arm, -1, -entry.reward)] if entry.status == "told" else []
        return before if event["event"] == "retracted" else [*before, (entry.arm, 1, event["reward"])]

    def _rewarded(self, trial: int, done: str, instead: str) -> Entry:
        entry = self.entry(trial)
        if entry.status in ("open", "expired"):
            raise ValueError(f"only a reward can be {done}, but trial {trial} has none yet: {instead}.")
        self._refuse_closed(trial, entry)
        return entry

    def _refuse_closed(self, trial: int, entry: Entry) -> None:
        if entry.status in ("cancelled", "retracted"):
            name = self.arms.name(entry.arm)
            raise ValueError(
                f"trial {trial} was {entry.status} and takes no reward. If there is one, observe({name!r}, reward)."
            )

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
        if apart > len(self.trials):
            raise ValueError(f"there are no {apart} trials before it.")
        how: Data = {"seen": seen, "allowed": within, "apart": apart, "carried": carried}
        trial = self._new(event, Entry(arm, "open", _time(event), **how))
        self.open[trial] = arm
        self.last = arm

    def _observed(self, event: Data) -> None:
        arm, reward = checks.arm(event["arm"], self.arms.count), self._reward(event)
        self._sums[1].extend(self.changes(event))
        self._new(event, Entry(arm, "told", None, _time(event), reward, reward))

    def _new(self, event: Data, entry: Entry) -> int:
        self.trials.append(entry)
        trial = len(self.trials)
        if event["trial"] != trial:
            raise ValueError(f"it must have the number {trial}.")
        if (key := event.get("key")) is not None:
            if checked_name("a key", key) in self.keys:
                raise ValueError(f"its key {key!r} is there already.")
            self.keys[key] = trial
        self.moves += 1
        return trial

    def _told(self, event: Data) -> None:
        reward, entry = self._reward(event), self._expected(event["trial"], "open", "expired")
        self._sums[1].extend(self.changes(event))
        told = replace(entry, status="told", told=_time(event), reward=reward, first=reward)
        self.trials[event["trial"] - 1] = told
        self.open.pop(event["trial"], None)

    def _amended(self, event: Data) -> None:
        reward, entry = self._reward(event), self._expected(event["trial"], "told")
        self._sums[1].extend(self.changes(event))
        self.trials[event["trial"] - 1] = replace(entry, reward=reward)

    def _retracted(self, event: Data) -> None:
        entry = self._expected(event["trial"], "told")
        self._sums[1].extend(self.changes(event))
        self._closed(event["trial"], entry, "retracted")

    def _cancelled(self, event: Data) -> None:
        self._closed(event["trial"], self._expected(event["trial"], "open", "expired"), "cancelled")

    def _expired(self, event: Data) -> None:
        self._closed(event["trial"], self._expected(event["trial"], "open"), "expired")

    def _closed(self, trial: int, entry: Entry, status: Status) -> None:
        self.trials[trial - 1] = replace(entry, status=status)
        self.open.pop(trial, None)
        self.moves += 1

    def _extended(self, event: Data) -> None:
        more = Arms.from_data(event["arms"])
        self.extensions.add(checked_name("a key", event["key"]))
        self.arms = self.arms.plus(more)
        self.recipe = Recipe.of(extended(self.prior, event["prior"], self.arms.count))
        self._sums = self.tally.widened(self.arms.count), []
        self.moves += 1

    def _expected(self, trial: Any, *statuses: Status) -> Entry:
        entry = self.entry(trial)
        if entry.status not in statuses:
            raise ValueError(f"trial {trial} must be {' or '.join(statuses)}, but it is {entry.status}.")
        return entry

    def _reward(self, event: Data) -> float:
        reward = event["reward"] = self.checked_reward(event["reward"])
        self.large = self.large or abs(reward) > LARGE
        return reward


def written(value: Any) -> str:
    """Return JSON on one line, as events are kept."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def parsed(text: str) -> Data:
    """Return what a line of JSON says; refuse anything but an object, and NaN and infinity, which are not JSON."""
    try:
        return dict(_DECODER.decode(text).items())
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"a JSON object was expected, got this: {text!r:.60} ({error}).") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # one for all: a study has many events


def _time(event: Data) -> float:
    return checks.number("at", event.get("at"), least=0, up_to=LATEST)
