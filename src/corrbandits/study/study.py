"""Durable ask and tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, final, overload

from corrbandits._core import checks
from corrbandits._shell.texts import near
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.study import batch, untold
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.batch import Advanced
from corrbandits.study.choosing import Explanation, allowed_arms, checked, explained, moment_of
from corrbandits.study.events import written
from corrbandits.study.extend import placed
from corrbandits.study.journal import DamagedError, Journal, JournalProtocol
from corrbandits.study.ledger import Ledger
from corrbandits.study.recipe import Recipe
from corrbandits.study.replica import Asking, Events, Replica, naming, new_key, now
from corrbandits.study.settings import Goal, Settings
from corrbandits.study.snapshot import Snapshot
from corrbandits.study.trial import Trial
from corrbandits.study.turns import Turn

if TYPE_CHECKING:
    import pandas as pd

    from corrbandits.study.checking import Finding
    from corrbandits.study.report.inference import Best, NoiseCheck
    from corrbandits.study.report.overview import Overview
    from corrbandits.study.report.surprises import Surprise

File = str | os.PathLike[str]
Where = File | JournalProtocol
"""A database by its URL, a file of SQLite, or a journal."""

Trials = list[Trial]  # within Study, `list` is its method


@final
class Study:
    """A prior, a policy and every reward so far, kept in a database: ask what to try, tell its reward.

    `Study.create` begins one and `Study.open` continues it, from any number of processes and machines at once. When a
    call returns, what it did is on the disk. A call that fails changes nothing; or, if the connection broke during it,
    the error has a key with which it can be made again, and nothing is counted twice. Each property and method reads
    the journal anew; `snapshot` is one read from which all of them can be had.

    >>> import tempfile, corrbandits as cb
    >>> directory = tempfile.TemporaryDirectory()
    >>> sites = {"name": ["brook", "hill", "wood", "ford"], "x": [0, 1, 5, 7]}
    >>> with Study.create(f"{directory.name}/survey.db", "sites", arms=sites, rounds=40) as study:     # all is learnt
    ...     study.settings.policy, study.ask()
    (Gittins(horizon=40), Trial(number=1, arm=2, name='wood'))

    With a prior and a rule of one's own:

    >>> prior = cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(2.0), coordinates=[0, 1, 5], noise_variance=4.0)
    >>> arms = ["brook", "hill", "wood"]
    >>> study = Study.create(f"{directory.name}/survey.db", "meadow", prior=prior, policy=cb.CorrelatedUCL(), arms=arms)
    >>> trial = study.ask()
    >>> trial
    Trial(number=1, arm=0, name='brook')
    >>> study.tell(trial, 31.2)
    >>> study.ask(2)                                   # two at once, which look at different arms
    [Trial(number=2, arm=2, name='wood'), Trial(number=3, arm=1, name='hill')]
    >>> len(study.trials), study.belief.mean.round(1)
    (3, array([30.9, 30.5, 30.1]))
    >>> study.close(); directory.cleanup()
    """

    def __init__(self, journal: JournalProtocol, name: str, number: int, *, owned: bool) -> None:
        """Made by `create` and `open`; an `owned` journal is closed with the study."""
        self.name = name
        self._journal, self._owned = journal, owned
        self._replica = Replica(journal, number)

    @classmethod
    def create(
        cls,
        url: Where,
        name: str,
        *,
        prior: Belief | None = None,
        policy: Policy | None = None,
        rounds: int | None = None,
        arms: Any = None,
        seed: int = 0,
        goal: Goal = "max",
        repeat: bool = True,
        timeout: float | None = None,
    ) -> Study:
        """Begin a study in a database (a file, `sqlite:///survey.db`, or `postgresql://user@host/name`) or a journal.

        `arms` are names, or columns by name: `name`; `x` and `y`, `x`, or `latitude` and `longitude`; and attributes.
        They are enough: without a `prior` all is learnt from the rewards (`Vague`), and without a `policy` it is the
        recommended one. `rounds` is how many rewards there will be in all, if that is known; past the last of them
        the rule goes on taking the best arm.
        `goal="min"` is for rewards that should be small, `repeat=False` for arms that can be tried once only. A trial
        that has no reward after `timeout` seconds expires at the next `ask`; its reward is still taken, once.
        """
        _refuse_other_types(prior, policy)
        prior = untold.prior_of(arms) if prior is None else prior
        known, rule = placed(Arms.of(arms, prior.arms), prior), untold.policy_for(prior, policy, rounds)
        begin = Settings(Recipe.of(prior), rule, known, seed, goal, repeat, timeout).event() | {"at": now()}
        return cls._enrolled(url, name, [written(begin)])

    @classmethod
    def open(cls, url: Where, name: str) -> Study:
        """Continue a study."""
        journal, owned = _journal(url)
        try:
            known = _studies(journal, name)
            if name not in known:
                few = (", ".join(islice(known, 5)) or "none") + (", ..." if len(known) > 5 else "")
                meant = "".join(f"Did you mean {one!r}? If not, create" for one in near(name, known)) or "Create"
                raise ValueError(f"{journal.place} has no study {name!r:.60}; there are: {few}. {meant} it first.")
            return cls(journal, name, known[name], owned=owned)
        except BaseException:
            if owned:
                journal.close()
            raise

    @staticmethod
    def list(url: Where) -> tuple[str, ...]:
        """Return the names of the studies in a database or a journal."""
        journal, owned = _journal(url)
        try:
            return tuple(journal.studies())
        finally:
            if owned:
                journal.close()

    @staticmethod
    def check(url: Where) -> Sequence[Finding]:
        """Return, for each study of a database or a journal, whether it is whole; changes nothing.

        A study is whole if every event is as it was saved and follows from those before it, and if a choice can be
        made from them. A finding without a study is about the database itself.
        """
        from corrbandits.study.checking import findings

        journal, owned = _journal(url)
        try:
            return findings(journal)
        finally:
            if owned:
                journal.close()

    @classmethod
    def import_(cls, url: Where, path: File, name: str | None = None) -> Study:
        """Create a study from a file that `export` wrote, under its name or another."""
        from corrbandits.study import exchange

        called, bodies = exchange.load(path)
        return cls._enrolled(url, called if name is None else name, bodies)

    @classmethod
    def _enrolled(cls, url: Where, name: str, bodies: Sequence[str]) -> Study:
        name = checked_name("the name of a study", name)
        checked(bodies)
        journal, owned = _journal(url, create=True)
        try:
            return cls(journal, name, journal.enrol(name, bodies), owned=owned)
        except BaseException:
            if owned:
                journal.close()
            raise

    @overload
    def ask(self, n: None = None, *, allowed: Any = None, repeats: bool = False, key: str | None = None) -> Trial: ...
    @overload
    def ask(self, n: int, *, allowed: Any = None, repeats: bool = False, key: str | None = None) -> Trials: ...
    def ask(
        self, n: int | None = None, *, allowed: Any = None, repeats: bool = False, key: str | None = None
    ) -> Trial | Trials:
        """Return what to try next; with `n`, a list of so many trials that take each other into account.

        They are of different arms, unless `repeats` lets the rule take one again. `allowed` are the arms within reach
        today: indices, names, or true and false per arm. The same call with the same `key` returns the same trials;
        without one, every call asks for new ones.
        """
        count, own = 1 if n is None else checks.integer("n", n, least=1), _key(key)
        repeats = checks.flag("repeats", repeats)
        with naming(own), Turn(self._replica.journal, self._replica.study) as turn:
            with self._replica.lock:
                within = None if allowed is None else allowed_arms(allowed, self._replica.current().arms)
                asking = Asking(self._replica, count, within, repeats=repeats)
            trials = None
            while trials is None:
                turn.wait()
                asking.insists = turn.queued
                trials = self._asked(asking, own, count)
        return trials if n is not None else trials[0]

    def _asked(self, asking: Asking, key: str, count: int) -> Trials | None:
        """Return the trials of a call; None if others were faster."""
        with self._replica.lock:
            if self._replica.attempt(lambda ledger: asking.events(ledger, key)) is None:
                return None
            ledger = self._replica.ledger
            return [ledger.trial(number) for number in range(ledger.keys[key], ledger.keys[key] + count)]

    def tell(self, trial: Trial | int, reward: float) -> None:
        """Tell the reward of a trial. Telling the same again changes nothing; another is refused: see `amend`."""
        value = self._replica.ledger.checked_reward(reward)
        self._record(lambda ledger: ledger.telling(ledger.number_of(trial), value))

    def observe(self, arm: int | str, reward: float, *, key: str | None = None) -> Trial:
        """Add a reward that was not asked for, of an arm given by index or name; return the trial it counts as.

        With a `key`, such as the number of a receipt, the same observation made again is not counted again. Without
        one, every call is another observation; if it is not known whether one was saved, its error has the key.
        """
        value, own = self._replica.ledger.checked_reward(reward), _key(key)
        with naming(own), self._replica.lock:
            k = self._replica.current().arms.index(arm)
            self._replica.record(lambda ledger: ledger.observing(k, value, own))
            return self._replica.ledger.trial(self._replica.ledger.keys[own])

    def tell_all(
        self, rewards: Mapping[int, float] | Iterable[tuple[Trial | int, float]], *, advanced: Advanced | None = None
    ) -> int:
        """Tell the rewards of many trials, all or none; return how many were new. The same again changes nothing.

        If one cannot be taken, `BadRowError` says which. `advanced` is told how many were looked at.
        """
        given = [*(rewards.items() if isinstance(rewards, Mapping) else rewards)]
        return self._record(lambda ledger: batch.telling(ledger, given, advanced))

    def observe_all(self, rewards: Iterable[tuple[int | str, float, str]], *, advanced: Advanced | None = None) -> int:
        """Add many rewards that were not asked for, each an arm, a reward and a key, all or none; return how many.

        Those whose keys are there already are not counted again.
        """
        given = [*rewards]
        return self._record(lambda ledger: batch.observing(ledger, given, advanced))

    def cancel(self, trial: Trial | int) -> None:
        """Give a trial up: its reward is awaited no longer."""
        self._record(lambda ledger: ledger.cancelling(ledger.number_of(trial)))

    def amend(self, trial: Trial | int, reward: float) -> None:
        """Replace a wrong reward by another. The wrong one stays in the journal."""
        value = self._replica.ledger.checked_reward(reward)
        self._record(lambda ledger: ledger.amending(ledger.number_of(trial), value))

    def retract(self, trial: Trial | int) -> None:
        """Take an observation back, as if it had never been made. It stays in the journal."""
        self._record(lambda ledger: ledger.retracting(ledger.number_of(trial)))

    def add_arms(
        self,
        arms: Any,
        *,
        coordinates: Any = None,
        mean: Any = None,
        noise_variance: Any = None,
        key: str | None = None,
    ) -> None:
        """Add arms to a study whose prior is made of a kernel; `arms` as in `create`, with the same columns.

        `coordinates` are where they lie for the prior, if that is not what their columns say. `mean` and
        `noise_variance` may be left out where all arms have the same. With a `key`, they are added once.
        """
        given = {"coordinates": coordinates, "mean": mean, "noise_variance": noise_variance}
        more = {name: value for name, value in given.items() if value is not None}
        new, own = Arms.of(arms), _key(key)
        with naming(own):
            self._record(lambda ledger: ledger.extending(new, more, own))

    def snapshot(self) -> Snapshot:
        """Return the study as it is now, from one read of its journal: everything below can be had from it."""
        with self._replica.lock:
            ledger = self._replica.current().copy()
            return Snapshot(self.name, self.database, ledger, now(), self._replica.kept())

    @property
    def database(self) -> str:
        """Where the study is kept, without the password."""
        return self._journal.place

    @property
    def settings(self) -> Settings:
        """What the study was created with."""
        return self._replica.ledger.settings

    @property
    def belief(self) -> Belief:
        """What has been learnt from all rewards told so far, by anybody; open trials are not assumed."""
        return self.snapshot().belief

    @property
    def arms(self) -> Arms:
        """The arms: their names, where they lie, and what else is known of them."""
        return self.snapshot().arms

    @property
    def t(self) -> int:
        """The number of the next decision: 1 + told + open + freely observed."""
        return self.snapshot().t

    @property
    def trials(self) -> Trials:
        """All trials, of every status, in the order of their numbers; `history` says what became of each."""
        return self.snapshot().trials

    @property
    def open_trials(self) -> Trials:
        """The trials whose rewards are awaited."""
        return self.snapshot().open_trials

    def trial(self, number: int) -> Trial:
        """Return a trial by its number."""
        return self.snapshot().trial(number)

    def reward(self, trial: Trial | int) -> float | None:
        """Return the reward of a trial that counts, if one does."""
        return self.snapshot().reward(trial)

    def best(self) -> Best:
        """Return the best arm so far, how sure that is, and what it would cost to stop now.

        `study.best().enough(loss=0.5)` is a stopping rule: whether the expected loss is at most so much.
        """
        return self.snapshot().best()

    def noise(self) -> NoiseCheck | None:
        """Return whether rewards of the same arm vary as the stated noise says; None while that cannot be said."""
        return self.snapshot().noise()

    def surprises(self) -> Sequence[Surprise]:
        """Return the arms whose rewards lie far from what all else says, worst first: perhaps one was mistyped."""
        return self.snapshot().surprises()

    def overview(self, top: int = 10) -> Overview:
        """Return where the study stands, with so many of its best arms."""
        return self.snapshot().overview(top)

    def show(self, top: int = 10) -> str:
        """Return where the study stands as text, with a map if its arms lie in a plane: `print(study.show())`."""
        return self.snapshot().show(top)

    def history(self) -> pd.DataFrame:
        """Return every trial: number, arm, name, status, the reward that counts and the first told, and the times."""
        return self.snapshot().history()

    def to_csv(self, path: File | None = None) -> str:
        """Return the history as CSV, and write it to a file if one is named."""
        return self.snapshot().to_csv(path)

    def explain(self, trial: Trial | int) -> Explanation:
        """Return why an arm was chosen, by replaying the events that the choice was made from."""
        with self._replica.lock:
            entry, then = self._replica.as_of(trial)
            number = self._replica.ledger.number_of(trial)
        return replace(explained(moment_of(entry, then), entry.arm, then.arms, then.settings.goal), trial=number)

    def export(self, path: File) -> None:
        """Write the whole study to one file, from which `Study.import_` creates it in any other database."""
        from corrbandits.study import exchange

        exchange.save(path, self.name, self._replica.events())

    def copy(
        self, name: str, *, url: Where | None = None, prior: Belief | None = None, policy: Policy | None = None
    ) -> Study:
        """Return a copy of the study under another name, in the same database or another; they are then independent.

        With another prior of the same arms, or another policy, all trials keep their numbers, rewards and keys, and
        the open ones stay open; but only the first study can explain why they were chosen.
        """
        from corrbandits.study import exchange

        where = self._journal if url is None else url
        _refuse_other_types(prior, policy)
        if prior is None and policy is None:
            return self._enrolled(where, name, self._replica.events())
        copied = exchange.begun_anew(self.snapshot().ledger, prior, policy, now(), copy_of=self.name)
        return self._enrolled(where, name, copied)

    def delete(self) -> None:
        """Delete the study with all its events, for everybody. Export it first if it may be needed again."""
        with self._replica.lock:
            self._replica.delete()

    def close(self) -> None:
        """Close the connection to the database; a later call opens it again. A journal that was given stays open."""
        if self._owned:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        ledger = self._replica.ledger
        told = int(ledger.tally.counts.sum())
        return f"<Study {self.name!r}: {ledger.arms.count} arms, {told} rewards, {len(ledger.open)} trials open>"

    def _record(self, make: Callable[[Ledger], Events]) -> int:
        with self._replica.lock:
            return self._replica.record(make)


def _journal(url: Where, *, create: bool = False) -> tuple[JournalProtocol, bool]:
    """Return a journal, and whether it was opened here."""
    return (url, False) if isinstance(url, JournalProtocol) else (Journal(url, create=create), True)


def _studies(journal: JournalProtocol, name: str) -> Mapping[str, int]:
    """Return the numbers of studies by name; that others are damaged is no matter to one that is whole."""
    try:
        return journal.studies()
    except DamagedError as error:
        if name not in (error.whole or {}):
            raise
        return error.whole or {}


def _refuse_other_types(prior: Any, policy: Any) -> None:
    if prior is not None and not isinstance(prior, Belief):
        raise TypeError(f"a study's prior is a belief such as Correlated(...), got {prior!r:.60}.")
    if policy is not None and not isinstance(policy, Policy):
        raise TypeError(f"a study's policy is a rule such as UCL(), got {policy!r:.60}.")


def _key(given: str | None) -> str:
    """Return the key of a call: the one it was given, or a new one."""
    return new_key() if given is None else checked_name("a key", given)
