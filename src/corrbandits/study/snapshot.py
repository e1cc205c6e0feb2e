"""A study at one moment."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, final

from corrbandits.study.ledger import Ledger
from corrbandits.study.trial import Trial

if TYPE_CHECKING:
    import pandas as pd

    from corrbandits.belief import Belief
    from corrbandits.belief.contradiction import Contradiction
    from corrbandits.study.arms import Arms
    from corrbandits.study.report.inference import Best, NoiseCheck, Stopping
    from corrbandits.study.report.overview import Overview
    from corrbandits.study.report.surprises import Surprise
    from corrbandits.study.settings import Settings


@final
class Snapshot:
    """A study at one moment: all that is said here follows from one read of its journal, and stays as it is.

    `study.snapshot()` makes one. What a command prints, a JSON document and a page are each made of one snapshot, so
    that they cannot mix two states of a study that others are writing to.

    >>> import tempfile, corrbandits as cb
    >>> directory = tempfile.TemporaryDirectory()
    >>> prior = cb.Independent(mean=30.0, variance=9.0, noise_variance=4.0, arms=2)
    >>> with cb.Study.create(f"{directory.name}/survey.db", "meadow", prior=prior, policy=cb.UCL()) as study:
    ...     before = study.snapshot()
    ...     trial = study.ask()
    >>> len(before.trials), before.t
    (0, 1)
    >>> directory.cleanup()
    """

    def __init__(
        self, name: str, database: str, ledger: Ledger, at: float, deciding: Belief | None = None, digest: str = ""
    ) -> None:
        """Made by `Study.snapshot`; the digest stands for all events."""
        self.name, self.database, self.at, self.digest = name, database, at, digest
        self.ledger = ledger
        self._deciding = deciding

    @property
    def settings(self) -> Settings:
        """What the study was created with."""
        return self.ledger.settings

    @property
    def arms(self) -> Arms:
        """The arms: their names, where they lie, and what else is known of them."""
        return self.ledger.arms

    @property
    def prior(self) -> Belief:
        """What is believed before any reward, of the arms added later too."""
        return self.ledger.prior

    @property
    def t(self) -> int:
        """The number of the next decision: 1 + told + open + freely observed."""
        return self.ledger.time

    @cached_property
    def trials(self) -> list[Trial]:
        """All trials, of every status, in the order of their numbers."""
        return [self.ledger.trial(number) for number in range(1, len(self.ledger.trials) + 1)]

    @property
    def open_trials(self) -> list[Trial]:
        """The trials whose rewards are awaited."""
        return [self.ledger.trial(number) for number in self.ledger.open]

    def trial(self, number: int) -> Trial:
        """Return a trial by its number."""
        return self.ledger.trial(number)

    def open_trial(self, arm: int | str) -> Trial:
        """Return the one open trial of an arm; refuse an arm that has none, or several.

        >>> import tempfile, corrbandits as cb
        >>> directory = tempfile.TemporaryDirectory()
        >>> prior = cb.Independent(mean=30.0, variance=9.0, noise_variance=4.0, arms=2)
        >>> file = f"{directory.name}/survey.db"
        >>> with cb.Study.create(file, "meadow", prior=prior, policy=cb.UCL(), arms=["brook", "hill"]) as study:
        ...     trial = study.ask()
        ...     study.snapshot().open_trial("brook")
        Trial(number=1, arm=0, name='brook')
        >>> directory.cleanup()
        """
        k = self.arms.index(arm)
        found = [trial for trial, other in self.ledger.open.items() if other == k]
        if len(found) == 1:
            return self.trial(found[0])
        last = next((n for n in range(len(self.trials), 0, -1) if self.ledger.entry(n).arm == k), None)
        was = "" if last is None else f" (the last was trial {last}, {self.ledger.entry(last).kind})"
        several = f"several: {', '.join(map(str, found[:10]))}. Name the trial by its number."
        none = f"none{was}. Name the trial by its number, or observe a reward that was not asked for."
        raise ValueError(
            f"the arm must have one open trial, but {self.arms.name(k)!r} has {several if found else none}"
        )

    def reward(self, trial: Trial | int) -> float | None:
        """Return the reward of a trial that counts, if one does."""
        entry = self.ledger.entry(self.ledger.number_of(trial))
        return entry.reward if entry.status == "told" else None

    @cached_property
    def belief(self) -> Belief:
        """What has been learnt from all rewards told so far; open trials are not assumed."""
        from corrbandits.study.choosing import told_belief

        return told_belief(self.ledger, self.at)

    @property
    def deciding(self) -> Belief:
        """What choices are made from: the belief, with its sign changed if the goal is the least reward."""
        from corrbandits.study.choosing import deciding_belief

        if self._deciding is None:
            self._deciding = deciding_belief(self.ledger)
        return self._deciding.after(self.ledger.clock(self.at))

    def best(self) -> Best:
        """Return the best arm, how sure that is, and what it would cost to stop now."""
        from corrbandits.study.report.inference import best

        return best(self.deciding, self.arms, self.settings.goal, self.settings.seed)

    def noise(self) -> NoiseCheck | None:
        """Return whether rewards of the same arm vary as the stated noise says; None while that cannot be said."""
        from corrbandits.study.report.inference import noise_check

        return noise_check(self.ledger)

    def contradictions(self) -> list[Contradiction]:
        """Return what the prior states and the rewards contradict, the worst first."""
        from corrbandits.study.report.warnings import contradicted

        return contradicted(self.ledger)

    def stopping(self, loss: float | None = None) -> Stopping:
        """Return the best arm, or why none can be named, and whether stopping now costs at most so much."""
        from corrbandits.study.report.inference import stopping

        return stopping(self, loss)

    def surprises(self) -> list[Surprise]:
        """Return the rewards that lie far from what all else says, worst first: perhaps one was mistyped."""
        from corrbandits.study.report.surprises import surprises

        return surprises(self.ledger)

    def surprise(self, trial: Trial | int) -> Surprise | None:
        """Return how the reward of a trial, or the arm's, surprises, if it does and the trial's reward counts."""
        from corrbandits.study.report.surprises import surprises

        number = self.ledger.number_of(trial)
        told = self.ledger.entry(number).status == "told"
        return next(iter(surprises(self.ledger, number)), None) if told else None

    def overview(self, top: int = 10) -> Overview:
        """Return where the study stands, with so many of its best arms."""
        from corrbandits.study.report.standing import overview

        return overview(self, top)

    def show(self, top: int = 10) -> str:
        """Return where the study stands as text, with a map if its arms lie in a plane."""
        return str(self.overview(top))

    def history(self) -> pd.DataFrame:
        """Return every trial: number, arm, name, status, the reward that counts and the first told, and the times."""
        from corrbandits.study.exchange import table

        return table(self.ledger)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the history as CSV, and write it to a file if one is named."""
        from corrbandits._shell import outputs
        from corrbandits.study.exchange import spreadsheet

        text = spreadsheet(self.history())
        if path is not None:
            outputs.write_file(path, text.encode())
        return text
