"""Durable ask and tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, final, overload

from corrbandits._core import checks
from corrbandits._shell import outputs
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.study import exchange
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.choosing import Explanation, allowed_arms, deciding_belief, explained, moment, told_belief
from corrbandits.study.codec import written
from corrbandits.study.extend import placed
from corrbandits.study.journal import Journal
from corrbandits.study.ledger import Ledger
from corrbandits.study.replica import Asking, Events, Follower, now
from corrbandits.study.report import inference
from corrbandits.study.report.inference import Best, NoiseCheck, Surprise
from corrbandits.study.report.overview import Overview, overview
from corrbandits.study.settings import Goal, Settings

if TYPE_CHECKING:
    import pandas as pd
    from sqlalchemy import URL

Place = str | os.PathLike[str]


@final
@dataclass(frozen=True)
class Trial:
    """An arm to try: the trial's number, the arm's index and its name.

    >>> Trial(number=17, arm=3, name="brook")
    Trial(number=17, arm=3, name='brook')
    """

    number: int
    arm: int
    name: str


Trials = list[Trial]  # within Study, `list` is its method
Surprises = list[Surprise]


@final
class Study:
    """A prior, a policy and every reward so far, kept in a database: ask what to try, tell what came.

    `Study.create` begins one, `Study.open` goes on with it, from any number of processes and machines at once. What a
    call has returned from is on the disk. A call that fails changes nothing, or, if the connection broke just then, can
    be made again without harm: nothing is counted twice.

    >>> import tempfile, corrbandits as cb
    >>> directory = tempfile.TemporaryDirectory()
    >>> prior = cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(2.0), coordinates=[0, 1, 5], noise_variance=4.0)
    >>> arms = ["brook", "hill", "wood"]
    >>> study = Study.create(f"{directory.name}/survey.db", "meadow", prior=prior, policy=cb.CorrelatedUCL(), arms=arms)
    >>> trial = study.ask()
    >>> trial
    Trial(number=1, arm=0, name='brook')
    >>> study.tell(trial, 31.2)
    >>> study.ask(2)                                   # two at once, which look at different arms
    [Trial(number=2, arm=2, name='wood'), Trial(number=3, arm=1, name='hill')]
    >>> study.belief.mean.round(1)
    array([30.9, 30.5, 30.1])
    >>> study.close(); directory.cleanup()
    """

    def __init__(self, journal: Journal, name: str, number: int) -> None:
        """Made by `create` and `open`."""
        self.name = name
        self._journal, self._follower = journal, Follower(journal, number)

    @classmethod
    def create(
        cls,
        url: Place,
        name: str,
        *,
        prior: Belief,
        policy: Policy,
        arms: Any = None,
        seed: int = 0,
        goal: Goal = "max",
        repeat: bool = True,
        timeout: float | None = None,
    ) -> Study:
        """Begin a study in a database: a file, `sqlite:///survey.db`, or `postgresql://user@host/name`.

        `arms` are names, or columns by name: `name`; `x` and `y`, `x`, or `latitude` and `longitude`; and attributes.
        `goal="min"` is for rewards that should be small, `repeat=False` for arms that can be tried once only. A trial
        whose reward is not there after `timeout` seconds expires at the next `ask`; its reward is still taken, once.
        """
        _refuse_other_types(prior, policy)
        settings = Settings(prior, policy, placed(Arms.of(arms, prior.arms), prior), seed, goal, repeat, timeout)
        begin = settings.event() | {"at": now()}
        ledger = Ledger(written(begin))
        moment(ledger, deciding_belief(ledger)).choose()  # a policy that does not fit the prior is refused here
        return cls._enrolled(url, name, [written(begin)])

    @classmethod
    def open(cls, url: Place, name: str) -> Study:
        """Go on with a study."""
        journal = Journal(url)
        try:
            known = journal.studies()
            if name not in known:
                few = (", ".join(islice(known, 5)) or "none") + (", ..." if len(known) > 5 else "")
                raise ValueError(f"{journal.place} has no study {name!r:.60}; there are: {few}. Create it first.")
            return cls(journal, name, known[name])
        except BaseException:
            journal.close()
            raise

    @staticmethod
    def list(url: Place) -> tuple[str, ...]:
        """Return the names of the studies in a database."""
        journal = Journal(url)
        try:
            return tuple(journal.studies())
        finally:
            journal.close()

    @classmethod
    def import_(cls, url: Place, path: Place, name: str | None = None) -> Study:
        """Take in a study from a file that `export` wrote, under its name or another."""
        called, bodies = exchange.load(path)
        return cls._enrolled(url, called if name is None else name, bodies)

    @classmethod
    def _enrolled(cls, url: Place | URL, name: str, bodies: Sequence[str]) -> Study:
        name = checked_name("the name of a study", name)
        journal = Journal(url, create=True)
        try:
            return cls(journal, name, journal.enrol(name, bodies))
        except BaseException:
            journal.close()
            raise

    @overload
    def ask(self, n: None = None, *, allowed: Any = None) -> Trial: ...
    @overload
    def ask(self, n: int, *, allowed: Any = None) -> Trials: ...
    def ask(self, n: int | None = None, *, allowed: Any = None) -> Trial | Trials:
        """Return what to try next; with `n`, a list of so many trials that take each other into account.

        `allowed` are the arms within reach today: indices, names, or true and false per arm.
        """
        count = 1 if n is None else checks.integer("n", n, least=1)
        with self._follower.lock:
            within = None if allowed is None else allowed_arms(allowed, self._follower.current().arms)
            asking = Asking(self._follower, count, within)
            call = ("ask", count, within)
            key = self._follower.record_once(call, asking.events, while_open=True)
            first = self._follower.ledger.keys[key]
            trials = [self._trial(number) for number in range(first, first + count)]
            self._follower.settled(call)
        return trials if n is not None else trials[0]

    def tell(self, trial: Trial | int, reward: float) -> None:
        """Tell the reward of a trial. Telling the same again changes nothing; another is refused: see `amend`."""
        value = self._reward(reward)
        self._record(lambda ledger: ledger.telling(self._of(trial), value))

    def observe(self, arm: int | str, reward: float, *, key: str | None = None) -> Trial:
        """Add a reward that nobody asked for, of an arm given by index or name; return the trial it counts as.

        With a `key`, such as the number of a receipt, the same observation made again is not counted again.
        """
        value, own = self._reward(reward), None if key is None else checked_name("a key", key)
        with self._current() as ledger:
            k = ledger.arms.index(arm)
            call = ("observe", k, value)
            known = self._follower.record_once(call, lambda ledger, key: ledger.observing(k, value, key), own)
            trial = self._trial(self._follower.ledger.keys[known])
            self._follower.settled(call)
            return trial

    def cancel(self, trial: Trial | int) -> None:
        """Give a trial up: its reward is awaited no longer."""
        self._record(lambda ledger: ledger.cancelling(self._of(trial)))

    def amend(self, trial: Trial | int, reward: float) -> None:
        """Put another reward in place of a wrong one. The wrong one stays in the journal."""
        value = self._reward(reward)
        self._record(lambda ledger: ledger.amending(self._of(trial), value))

    def retract(self, trial: Trial | int) -> None:
        """Take an observation back, as if it had never been made. It stays in the journal."""
        self._record(lambda ledger: ledger.retracting(self._of(trial)))

    def add_arms(self, arms: Any, *, coordinates: Any = None, mean: Any = None, noise_variance: Any = None) -> None:
        """Add arms to a study whose prior is made of a kernel; `arms` as in `create`, with the same columns.

        `coordinates` are where they lie for the prior, if that is not what their columns say. `mean` and
        `noise_variance` may be left out where all arms have the same.
        """
        given = {"coordinates": coordinates, "mean": mean, "noise_variance": noise_variance}
        more = {name: value for name, value in given.items() if value is not None}
        new = Arms.of(arms)
        with self._follower.lock:
            call = ("add_arms", new.count, new.names, repr(more))
            self._follower.record_once(call, lambda ledger, key: ledger.extending(new, more, key))
            self._follower.settled(call)

    @property
    def belief(self) -> Belief:
        """What has been learnt from all rewards told so far, by anybody; open trials are not assumed."""
        with self._current() as ledger:
            return told_belief(ledger)

    @property
    def database(self) -> str:
        """Where the study is kept, without the password."""
        return self._journal.place

    def trial(self, number: int) -> Trial:
        """Return a trial by its number."""
        with self._current():
            return self._trial(number)

    @property
    def open_trials(self) -> Trials:
        """The trials whose rewards are awaited."""
        with self._current() as ledger:
            return [self._trial(number) for number in ledger.open]

    @property
    def trials(self) -> int:
        """How many trials there are, of every status."""
        with self._current() as ledger:
            return len(ledger.trials)

    @property
    def settings(self) -> Settings:
        """What the study was created with."""
        return self._follower.ledger.settings

    @property
    def arms(self) -> Arms:
        """The arms: their names, where they lie, and what else is known of them."""
        with self._current() as ledger:
            return ledger.arms

    @property
    def t(self) -> int:
        """The number of the next decision: 1 + told + open + freely observed."""
        with self._current() as ledger:
            return ledger.time

    def reward(self, trial: Trial | int) -> float | None:
        """Return the reward of a trial that counts, if one does."""
        with self._current() as ledger:
            entry = ledger.entry(self._of(trial))
            return entry.reward if entry.status == "told" else None

    def best(self) -> Best:
        """Return the best arm so far, how sure that is, and what it would cost to stop now.

        `study.best().enough(loss=0.5)` is a stopping rule: whether the expected loss is at most so much.
        """
        with self._current() as ledger:
            settings = ledger.settings
            return inference.best(self._follower.deciding(), ledger.arms, settings.goal, settings.seed)

    def noise(self) -> NoiseCheck | None:
        """Return whether rewards of the same arm vary as the stated noise says; None while that cannot be said."""
        with self._current() as ledger:
            return inference.noise_check(ledger)

    def overview(self, top: int = 10) -> Overview:
        """Return where the study stands, with so many of its best arms."""
        with self._current() as ledger:
            return overview(self.name, self.database, ledger, self._follower.deciding(), now(), top)

    def show(self, top: int = 10) -> str:
        """Return where the study stands in words, with a map if its arms lie on a grid: `print(study.show())`."""
        return str(self.overview(top))

    def surprises(self) -> Surprises:
        """Return the arms whose rewards lie far from what all else says, worst first: perhaps one was mistyped."""
        with self._current() as ledger:
            return inference.surprises(told_belief(ledger), ledger.arms)

    def explain(self, trial: Trial | int) -> Explanation:
        """Return why an arm was chosen, by replaying the events that the choice was made from."""
        with self._current() as ledger:
            number = self._of(trial)
            entry = ledger.entry(number)
            if entry.carried:
                raise ValueError(f"trial {number} was chosen in the study that this one is a copy of. Ask that one.")
            if entry.asked is None:
                raise ValueError(f"trial {number} was observed, not asked for: nobody chose it. Name one that was.")
            then = self._follower.as_of(number)
        at = moment(then, deciding_belief(then), allowed=entry.allowed)
        return explained(at, entry.arm, then.arms, then.settings.goal)

    def history(self) -> pd.DataFrame:
        """Return every trial: number, arm, name, status, the reward that counts and the first told, and the times."""
        with self._current() as ledger:
            return exchange.table(ledger)

    def to_csv(self, path: Place | None = None) -> str:
        """Return the history as CSV, and write it to a file if one is named."""
        text = exchange.spreadsheet(self.history())
        if path is not None:
            outputs.write_file(path, text.encode())
        return text

    def export(self, path: Place) -> None:
        """Write the whole study to one file, which `Study.import_` takes into any other database."""
        exchange.save(path, self.name, self._events())

    def copy(
        self, name: str, *, url: Place | None = None, prior: Belief | None = None, policy: Policy | None = None
    ) -> Study:
        """Return a copy of the study under another name, in the same database or another; they go separate ways.

        With another prior of the same arms, or another policy, all trials keep their numbers, rewards and keys, and
        the open ones stay open; but why they were chosen, only the first study can explain.
        """
        where = self._journal.url if url is None else url
        _refuse_other_types(prior, policy)
        if prior is None and policy is None:
            return self._enrolled(where, name, self._events())
        with self._current() as ledger:
            return self._enrolled(where, name, exchange.begun_anew(ledger, prior, policy, now()))

    def delete(self) -> None:
        """Delete the study with all its events, for everybody. Export it first if it may be missed."""
        self._journal.delete(self._follower.study)

    def close(self) -> None:
        """Close the connection to the database; a later call opens it again."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        ledger = self._follower.ledger
        told = int(ledger.tally.counts.sum())
        return f"<Study {self.name!r}: {ledger.arms.count} arms, {told} rewards, {len(ledger.open)} trials open>"

    def _record(self, make: Callable[[Ledger], Events]) -> None:
        with self._follower.lock:
            self._follower.record(make)

    @contextmanager
    def _current(self) -> Iterator[Ledger]:
        """Yield the ledger with all that others have appended, for this thread alone."""
        with self._follower.lock:
            yield self._follower.current()

    def _events(self) -> Sequence[str]:
        return self._follower.events()

    def _reward(self, reward: Any) -> float:
        return self._follower.ledger.prior.checked_reward(reward)

    def _of(self, trial: Any) -> int:
        """Return the number of a trial; refuse a trial of another study."""
        if not isinstance(trial, Trial):
            return checks.integer("a trial", trial, least=1)
        known = self._trial(trial.number)
        if known != trial:
            raise ValueError(f"{trial} must be of study {self.name!r}, but there it is {known}: it is another study's.")
        return trial.number

    def _trial(self, number: int) -> Trial:
        arm = self._follower.ledger.entry(number).arm
        return Trial(number, arm, self._follower.ledger.arms.name(arm))


def _refuse_other_types(prior: Any, policy: Any) -> None:
    if prior is not None and not isinstance(prior, Belief):
        raise TypeError(f"a study's prior is a belief such as Correlated(...), got {prior!r:.60}.")
    if policy is not None and not isinstance(policy, Policy):
        raise TypeError(f"a study's policy is a rule such as UCL(), got {policy!r:.60}.")
