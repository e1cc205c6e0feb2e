"""A study to play with: a field of which the server knows the truth."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits._core.draws import covariance_root
from corrbandits.kernels import Matern52
from corrbandits.study import Study
from corrbandits.study.journal import Journal

ROWS, COLUMNS = 8, 12
STUDY = "demo field"
SEED = 20
LEVEL, DEVIATION, NOISE, LENGTH = 34.0, 7.0, 2.5, 90.0
"""Decitonnes of grain a hectare: their mean and deviation over the field, those of one measurement; and metres."""


@final
class Demo:
    """A field of 96 plots, 30 m apart, whose yields were drawn from a kernel; and what is measured there."""

    def __init__(self, journal: Journal) -> None:
        self.study, self.noise = STUDY, NOISE
        arms = plots()
        self.truth = _truth(np.column_stack([arms["x"], arms["y"]]))
        if STUDY not in journal.studies():
            Study.create(journal, STUDY, arms=arms, rounds=40, unit="dt/ha", by="demo")

    def measured(self, trial: int, arm: int) -> float:
        """Return what is measured at a trial: the same if it is measured again."""
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(1, trial)))
        return round(float(self.truth[arm] + self.noise * rng.standard_normal()), 1)


def plots() -> dict[str, list[Any]]:
    """Return the plots: a letter for the row, a number for the column.

    >>> plots()["name"][:2], plots()["x"][:2]
    (['A1', 'A2'], [0.0, 30.0])
    """
    places = [(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    return {
        "name": [f"{'ABCDEFGH'[row]}{column + 1}" for row, column in places],
        "x": [30.0 * column for _, column in places],
        "y": [30.0 * row for row, _ in places],
    }


def _truth(points: Any) -> Any:
    """Return a surface: what neighbours share, and a little of each plot's own."""
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(0,)))
    covariance = np.asarray((DEVIATION**2 * Matern52(LENGTH))(points, points)) + 1.0 * np.eye(len(points))
    return LEVEL + covariance_root(covariance) @ rng.standard_normal(len(points))
