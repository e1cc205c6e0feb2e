"""What can be read of a study that a server keeps."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corrbandits.study.arms import Arms
from corrbandits.study.exchange import COLUMNS, history_frame
from corrbandits.study.trial import Trial
from corrbandits.web.answers import BeliefColumns, best_of, explanation_of, number_of, trial_of
from corrbandits.web.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from corrbandits.study.explaining import Explanation
    from corrbandits.study.report.inference import Best

PAGE = 10_000
Trials = list[Trial]  # within a client, `list` is its method
_Rows = list[dict[str, Any]]


class Looking(ABC):
    """The questions that a server answers of a study."""

    _transport: Transport
    _path: str

    def best(self) -> Best:
        """Return the best arm so far, how sure that is, and what it would cost to stop now."""
        found = self._transport.get(f"{self._path}/best")
        if found["best"] is None:
            raise ValueError(found["reason"])
        return best_of(found["best"])

    def explain(self, trial: Trial | int) -> Explanation:
        """Return why an arm was chosen."""
        return explanation_of(self._transport.get(f"{self._path}/explain/{number_of(trial)}"))

    def history(self) -> pd.DataFrame:
        """Return every trial: number, arm, name, status, the reward that counts and the first told, and the times."""
        return history_frame(
            [tuple(row.get(name) for name in COLUMNS)
             for row in self._history()]
        )  # fmt: skip

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the history as CSV, and write it to a file if one is named."""
        from corrbandits.study.exchange import spreadsheet

        text = spreadsheet(self.history())
        if path is not None:
            from corrbandits._shell import outputs

            outputs.write_file(path, text.encode())
        return text

    @property
    def belief(self) -> BeliefColumns:
        """What has been learnt of every arm from all rewards told so far."""
        return BeliefColumns.of(self._pages("belief"))

    @cached_property
    def arms(self) -> Arms:
        """The arms: their names, where they lie, and what else is known of them."""
        pages = self._pages("arms")
        columns: dict[str, Any] = {"name": [name for page in pages for name in page["names"]]}
        for k, axis in enumerate(pages[0]["axes"]):
            columns[axis] = [x for page in pages for x in page["coordinates"][k]]
        for name in pages[0]["attributes"]:
            columns[name] = [value for page in pages for value in page["attributes"][name]]
        return Arms.of(columns)

    @property
    def t(self) -> int:
        """The number of the next decision: 1 + told + open + freely observed."""
        return int(self._transport.get(self._path)["t"])

    @property
    def trials(self) -> Trials:
        """All trials, of every status, in the order of their numbers."""
        return [trial_of(row) for row in self._history()]

    @property
    def open_trials(self) -> Trials:
        """The trials whose rewards are awaited."""
        return [trial_of(one) for one in self._transport.get(self._path)["open"]]

    def reward(self, trial: Trial | int) -> float | None:
        """Return the reward of a trial that counts, if one does."""
        found = self._transport.get(f"{self._path}/history", offset=number_of(trial) - 1, limit=1)["trials"]
        if not found:
            raise ValueError(f"a trial must be one of the study's, got {number_of(trial):,}. Ask first.")
        reward: float | None = found[0]["reward"]
        return reward

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole study to one file, from which `Study.import_` creates it in any database."""
        Path(path).write_bytes(self._transport.text(f"{self._path}/export"))

    def _history(self) -> Sequence[dict[str, Any]]:
        rows: _Rows = []
        while True:
            page = self._transport.get(f"{self._path}/history", offset=len(rows), limit=PAGE)
            rows += page["trials"]
            if len(rows) >= page["count"] or not page["trials"]:
                return rows

    def _pages(self, what: str) -> Sequence[dict[str, Any]]:
        """Return all pages of columns, of one moment."""
        first = self._transport.get(f"{self._path}/{what}", limit=PAGE)
        count, at = first["count" if what == "arms" else "arms"], first.get("sequence")
        rest = range(PAGE, count, PAGE)
        return [first, *(self._transport.get(f"{self._path}/{what}", offset=k, limit=PAGE, at=at) for k in rest)]
