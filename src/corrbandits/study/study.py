"""Durable ask and tell: what begins, asks and ends a study; what it is told is `Telling`, what it says `Reading`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, final, overload

from corrbandits._core import checks
from corrbandits._shell.texts import composed
from corrbandits.belief import Belief
from corrbandits.moves import Moves
from corrbandits.policies import Policy
from corrbandits.study import untold
from corrbandits.study.arms import checked_name
from corrbandits.study.asking import Asking
from corrbandits.study.choosing import allowed_arms, checked, moment_of
from corrbandits.study.events import written
from corrbandits.study.explaining import Explanation, explained
from corrbandits.study.journal import JournalProtocol
from corrbandits.study.places import Where, found, journal_at, kept, refuse_another_form
from corrbandits.study.reading import File, Trials
from corrbandits.study.replica import Replica, key_of, naming, now
from corrbandits.study.settings import Goal, Settings, refuse_other_types
from corrbandits.study.snapshot import Snapshot
from corrbandits.study.telling import Telling
from corrbandits.study.trial import Trial
from corrbandits.study.turns import Turn

if TYPE_CHECKING:
    from corrbandits.study.checking import Finding


@final
class Study(Telling):
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

    def __init__(self, journal: JournalProtocol, name: str, number: int, *, owned: bool, by: str | None = None) -> None:
        """Made by `create` and `open`; an `owned` journal is closed with the study."""
        self.name, self.by = name, by
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
        unit: str | None = None,
        moves: Moves | None = None,
        by: str | None = None,
    ) -> Study:
        """Begin a study in a database (a file, `sqlite:///survey.db`, or `postgresql://user@host/name`) or a journal.

        `arms` are names, or columns by name: `name`; `x` and `y`, `x`, or `latitude` and `longitude`; and attributes.
        They are enough: without a `prior` all is learnt from the rewards (`Vague`), and without a `policy` it is the
        recommended one. `rounds` is how many rewards there will be in all, if that is known; past the last of them
        the rule goes on taking the best arm.
        `goal="min"` is for rewards that should be small, `repeat=False` for arms that can be tried once only. A trial
        that has no reward after `timeout` seconds expires at the next `ask`; its reward is still taken, once.
        `moves` is what it costs to go from arm to arm, such as `Moves(per_move=3.0, per_distance=0.1)`, in the unit of
        rewards: then `ask` weighs it (`Travelling`). `unit` is that of the rewards, which is shown; `by` is who makes
        the events of this study from here.
        """
        settings = untold.settled(
            prior=prior, policy=policy, rounds=rounds, arms=arms, seed=seed, goal=goal, repeat=repeat, timeout=timeout,
            unit=unit, moves=moves,
        )  # fmt: skip
        signature = {} if (by := _maker(by)) is None else {"by": by}
        return cls._enrolled(url, name, [written(settings.event() | {"at": now()} | signature)], by)

    @classmethod
    def open(cls, url: Where, name: str, *, by: str | None = None) -> Study:
        """Continue a study; `by`, such as a person's name, is kept with every event that is made from here."""
        by = _maker(by)
        with kept(url) as (journal, owned):
            return cls(journal, *found(journal, checks.text("the name of a study", name)), owned=owned, by=by)

    def signed(self, by: str | None) -> Study:
        """Return this study as another person uses it: the same, but what is done there was made by this one.

        >>> import tempfile, corrbandits as cb
        >>> directory = tempfile.TemporaryDirectory()
        >>> with cb.Study.create(f"{directory.name}/survey.db", "meadow", arms=["brook", "hill"], rounds=9) as study:
        ...     trial = study.signed("Anna").ask()
        ...     study.snapshot().ledger.entry(trial.number).asked_by
        'Anna'
        >>> directory.cleanup()
        """
        same = object.__new__(Study)
        same.__dict__ = self.__dict__ | {"by": _maker(by)}
        return same

    @staticmethod
    def list(url: Where) -> tuple[str, ...]:
        """Return the names of the studies in a database or a journal."""
        with journal_at(url) as journal:
            return tuple(journal.studies())

    @staticmethod
    def check(url: Where) -> Sequence[Finding]:
        """Return, for each study of a database or a journal, whether it is whole; changes nothing.

        A study is whole if every event is as it was saved and follows from those before it, and if a choice can be
        made from them. A finding without a study is about the database itself.
        """
        from corrbandits.study.checking import findings

        with journal_at(url) as journal:
            return findings(journal)

    @classmethod
    def import_(cls, url: Where, path: File, name: str | None = None) -> Study:
        """Create a study from a file that `export` wrote, under its name or another."""
        from corrbandits.study import exchange

        called, bodies = exchange.load(path)
        return cls._enrolled(url, called if name is None else name, bodies)

    @classmethod
    def _enrolled(cls, url: Where, name: str, bodies: Sequence[str], by: str | None = None) -> Study:
        name = checked_name("the name of a study", composed(checks.text("the name of a study", name)))
        checked(bodies)
        with kept(url, create=True) as (journal, owned):
            refuse_another_form(journal, name)
            return cls(journal, name, journal.enrol(name, bodies), owned=owned, by=by)

    @overload
    def ask(
        self,
        n: None = None,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trial: ...
    @overload
    def ask(
        self,
        n: int,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trials: ...
    def ask(
        self,
        n: int | None = None,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trial | Trials:
        """Return what to try next; with `n`, a list of so many trials that take each other into account.

        They are of different arms, unless `repeats` lets the rule take one again. `allowed` are the arms within reach
        today: indices, names, or true and false per arm. Where moves cost something, `start` is the arm where those who
        measure are, if it is not the one last asked for; of several trials each is chosen from where the one before
        leads. The same call with the same `key` returns the same trials; without one, every call asks for new ones.
        """
        count, own = 1 if n is None else checks.integer("n", n, least=1), key_of(key)
        repeats = checks.flag("repeats", repeats)
        with naming(own), Turn(self._replica.journal, self._replica.study) as turn:
            with self._replica.lock:
                within = None if allowed is None else allowed_arms(allowed, self._replica.current().arms)
                at = None if start is None else self._replica.ledger.arms.index(start)
                asking = Asking(self._replica, count, within, repeats=repeats, by=self.by, start=at)
            trials = None
            while trials is None:
                turn.wait()
                asking.insists = turn.queued
                trials = asking.tried(own)
        return trials if n is not None else trials[0]

    def snapshot(self, *, fresh: bool = True) -> Snapshot:
        """Return the study as it is now, from one read of its journal: everything below can be had from it.

        Unless `fresh`, it is as this object last read or wrote it, and the journal is not read.
        """
        with self._replica.lock:
            ledger = (self._replica.current() if fresh else self._replica.ledger).copy()
            return Snapshot(self.name, self.database, ledger, now(), self._replica.kept(), self._replica.digest)

    @property
    def sequence(self) -> int:
        """How many events there are: it grows with every change, whoever makes it."""
        with self._replica.lock:
            return self._replica.current().sequence

    @property
    def database(self) -> str:
        """Where the study is kept, without the password."""
        return self._journal.place

    @property
    def settings(self) -> Settings:
        """What the study was created with."""
        return self._replica.ledger.settings

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
        self,
        name: str,
        *,
        url: Where | None = None,
        prior: Belief | None = None,
        policy: Policy | None = None,
        moves: Moves | None = None,
    ) -> Study:
        """Return a copy of the study under another name, in the same database or another; they are then independent.

        With another prior of the same arms, another policy or cost of `moves`, all trials keep their numbers, rewards
        and keys, and the open ones stay open; but only the first study can explain why they were chosen. Moves cost
        what they did under another policy too; `Moves()` is for those that cost nothing any more.
        """
        from corrbandits.study import exchange

        where, ledger = self._journal if url is None else url, self.snapshot().ledger
        refuse_other_types(prior, policy)
        rule = untold.minding_still(ledger.settings.policy, policy, moves, ledger.arms)
        if prior is None and rule is None:
            return self._enrolled(where, name, self._replica.events())
        return self._enrolled(where, name, exchange.begun_anew(ledger, prior, rule, now(), copy_of=self.name))

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


def _maker(by: str | None) -> str | None:
    return None if by is None else checked_name("who makes events, by", by)
