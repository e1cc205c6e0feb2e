"""What can be read of a study, each from a read of its own."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corrbandits.belief import Belief
from corrbandits.study.arms import Arms
from corrbandits.study.snapshot import Snapshot
from corrbandits.study.trial import Trial

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from corrbandits.study.report.inference import Best, NoiseCheck
    from corrbandits.study.report.overview import Overview
    from corrbandits.study.report.surprises import Surprise

File = str | os.PathLike[str]
Trials = list[Trial]  # within a study, `list` is its method


class Reading(ABC):
    """The questions that a snapshot answers, each asked of a new one."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return the study as it is now, from one read of its journal: everything below can be had from it."""

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
        """Return the rewards that lie far from what all else says, worst first: perhaps one was mistyped."""
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

    def plot(self) -> Figure:
        """Return a figure of each arm's mean reward and of its standard deviation, as believed now."""
        from corrbandits.study.report.maps import study_map

        return study_map(self.snapshot())

    def _repr_html_(self) -> str:
        """Return what a notebook shows: where the study stands, a map, and the best arms."""
        from corrbandits.study.report.notebook import study

        return study(self.snapshot())
