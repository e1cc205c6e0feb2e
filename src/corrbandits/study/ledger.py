"""What the events of a study add up to: every trial and its reward; what may come next is in `following`.

    event       says                                      trial becomes
    created     prior, policy, arms, settings             -
    asked       trial, arm                                open (`apart`: of another arm than so many just before it;
                                                          `from`: the arm where those who measure were)
    told        trial, reward                             told
    observed    trial, arm, reward                        told (it was never asked for)
    amended     trial, reward                             told, another reward
    retracted   trial                                     retracted
    cancelled   trial                                     cancelled
    expired     trial                                     expired; a reward is still taken
    extended    more arms                                 -

An event is a JSON object on one line, with the time `at` which it was written in seconds since 1970 and, if that is
known, `by` whom; that of a reward may say when it was `measured`, if that was not when it was written. Nothing here
reads the clock, a file or a random number: the same events make the same ledger, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

from corrbandits._core import checks
from corrbandits._core.tally import Tally
from corrbandits.belief import Belief
from corrbandits.belief.history import History, Step
from corrbandits.study.draft import Change, Draft
from corrbandits.study.events import UNREADABLE, maker_of, parsed, time_of
from corrbandits.study.measured import DAY
from corrbandits.study.settings import Settings
from corrbandits.study.trial import Entry, Trial


@final
class Ledger:
    """The state of a study after its events."""

    def __init__(self, created: str) -> None:
        try:
            event = parsed(created)
            self.settings = Settings.from_event(event)
            self.created, self.created_by = time_of(event), maker_of(event)
            self.copy_of = checks.text("copy_of", event["copy_of"]) if "copy_of" in event else None
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
        """The number of the next trial."""
        return len(self.trials) + 1

    def clock(self, at: float | None = None) -> float:
        """Return the time at which beliefs are asked for: the number of the next trial, or a time in days.

        `at` is in seconds since 1970, by default that of the last event; it is never before the last measurement.
        """
        if not self.recipe.in_real_time:
            return self.number
        told = self._measured()
        last = max([self.changed if at is None else at, *(when for when, _ in told)])
        return self._days(told)(last)

    def history(self, tally: Tally | None = None) -> History:
        """Return the rewards that were told, each at its time; with a tally, they add up to that.

        It is the number of the trial or, for beliefs that go by real time, when it was measured: in days, 1 when the
        study began or at the first measurement, if that was before.
        """
        seen = self.tally if tally is None else tally
        return History(seen, self._in_days if self.recipe.in_real_time else self._steps)

    def measured_trials(self) -> list[int]:
        """Return the trials whose rewards count, in the order of `history().steps()`."""
        told = [(trial, entry) for trial, entry in enumerate(self.trials, 1) if entry.status == "told"]
        if self.recipe.in_real_time:
            told.sort(key=lambda one: one[1].when or 0.0)
        return [trial for trial, _ in told]

    def _steps(self) -> Iterator[Step]:
        for trial, entry in enumerate(self.trials, start=1):
            if entry.status == "told":
                yield trial, entry.arm, entry.reward

    def _in_days(self) -> Iterator[Step]:
        told = self._measured()
        days = self._days(told)
        for when, entry in told:
            yield days(when), entry.arm, entry.reward

    def _measured(self) -> list[tuple[float, Entry]]:
        """Return the rewards in the order in which they were measured, those of one time in that of their trials."""
        told = [(entry.when or 0.0, entry) for entry in self.trials if entry.status == "told"]
        return sorted(told, key=lambda one: one[0])

    def _days(self, told: list[tuple[float, Entry]]) -> Callable[[float], float]:
        """Return how seconds since 1970 become days, given what was measured, in its order."""
        begun = min(self.created, told[0][0]) if told else self.created
        return lambda at: 1 + (at - begun) / DAY

    def draft(self, bodies: Iterable[str]) -> Draft:
        """Return what events would change here; refuse one that does not follow from those before it."""
        return Draft(self, bodies)

    def enter(self, draft: Draft) -> None:
        """Make the changes of a draft of this ledger as it is."""
        if draft.arms.count > self.arms.count:
            self._sums = self.tally.widened(draft.arms.count), []
        self._sums[1].extend(draft.changes)
        for trial, entry in draft.trials.items():
            if trial > len(self.trials):
                self.trials.append(entry)
            else:
                self.trials[trial - 1] = entry
            if entry.status == "open":
                self.open[trial] = entry.arm
            else:
                self.open.pop(trial, None)
        self.keys |= draft.keys
        self.extensions |= draft.extensions
        self.arms, self.recipe, self.sequence = draft.arms, draft.recipe, draft.sequence
        self.moves, self.last, self.large, self.changed = draft.moves, draft.last, draft.large, draft.changed

    def apply(self, bodies: Iterable[str]) -> None:
        """Add events, all of them or none: refuse one that does not follow from those before it."""
        self.enter(self.draft(bodies))

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
