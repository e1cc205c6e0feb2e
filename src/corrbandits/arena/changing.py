"""Problems whose mean rewards change: families of drawn paths, and series that were recorded.

They are apart from the other families: nothing is averaged over both. Regret is against the best arm of each decision.
A problem is drawn as one of the other families, and its mean rewards then follow a path of that law at any one time:

    drift       an Ornstein-Uhlenbeck process of this scale
    switches    drawn anew after a random number of decisions, the scale on average: the same correlation in time
    seasons     a sine of random phase, whose correlation has fallen to 37 % after the scale
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.arena.fields import files_in
from corrbandits.arena.problems import Change, Make, Problem, Random, Span, fitted, log_uniform, on_grid
from corrbandits.environments import series

CHANGING, SERIES = "changing ", "series "
"""How the names of these families begin."""

VERSION = "1"
"""Raised when a family here changes; `fields.csv` of a folder of games has it."""

SCALES: Span = (10.0, 1_000.0)
"""In decisions."""

LITTLE: Span = (0.02, 0.2)
"""Variance of the noise over that of what was recorded, which has noise of its own."""

QUARTER = math.acos(math.exp(-1)) / (2 * math.pi)
"""After this share of its period 37 % is left of a sine's correlation with itself."""

Draw = Callable[..., Any]


@final
@dataclass(frozen=True)
class Changing:
    """A family: called, it draws a problem."""

    draw: Draw
    """Of `series`, given what `how` makes of a scale."""

    how: Callable[[float], dict[str, float]]
    digest: str = VERSION

    def __call__(self, rng: Random) -> Problem:
        """Return a problem, and its path for as many decisions as are asked for."""
        base, scale, seed = on_grid(rng), log_uniform(rng, *SCALES), int(rng.integers(2**62))
        law: dict[str, Any] = {"noise_variance": 1.0, "mean": base.mean, **self.how(scale)}

        def path(horizon: int) -> Array:
            made: Array = self.draw(base.covariance, steps=horizon, seed=seed, **law).path
            return made

        return dataclasses.replace(base, means=path(1)[0], change=Change(scale, path))


FAMILIES: dict[str, Make] = {
    f"{CHANGING}drift": Changing(series.drift, lambda scale: {"scale": scale}),
    f"{CHANGING}switches": Changing(series.switches, lambda scale: {"every": scale}),
    f"{CHANGING}seasons": Changing(series.seasons, lambda scale: {"period": scale / QUARTER}),
}
"""Every family by its name."""


def recorded(directory: str | os.PathLike[str]) -> dict[str, Recorded]:
    """Return a family for every series in a folder: CSV files with a row per arm and a column per time."""
    found = {}
    for name, path in files_in(
        directory, SERIES, "series", "speeds.csv with a row per arm and a column per time"
    ).items():
        bandit = series.recorded(path, noise_variance=1.0)
        found[name] = _checked(Recorded(bandit.path, bandit.coordinates), path)
    return found


@final
@dataclass(frozen=True)
class Recorded:
    """What arms gave at each time; called, it draws a problem that begins at one of the times.

    What was recorded is taken for the mean rewards, and a reward has a little noise besides. Nobody knows the right
    prior: who is told everything has one fitted to what all arms gave at first, and to how fast that changes.
    """

    path: Array
    where: Array | None

    def __call__(self, rng: Random) -> Problem:
        """Return a problem; arms are in random order."""
        u, order = rng.random(), rng.permutation(self.path.shape[1])
        rows, where = self.path[:, order], None if self.where is None else self.where[order]
        noise_sd = float(rows.std()) * math.sqrt(log_uniform(rng, *LITTLE))

        def path(horizon: int) -> Array:
            begin = int(u * (len(rows) - horizon + 1))
            return rows[begin : begin + horizon]

        first = rows[int(u * len(rows))]
        base = unrelated(first, noise_sd) if where is None else fitted(where, first, noise_sd)
        return dataclasses.replace(base, scale=float(rows.std()), change=Change(self.scale, path))

    @property
    def longest(self) -> int:
        """How many decisions there can be."""
        return len(self.path)

    @property
    def scale(self) -> float:
        """After how many steps 37 % is left of what an arm differs from the others by, from one step to the next."""
        apart = self.path - self.path.mean()
        rho = float((apart[1:] * apart[:-1]).sum() / np.square(apart).sum())
        return -1 / math.log(min(max(rho, 0.01), 1 - 1 / len(self.path)))

    @property
    def digest(self) -> str:
        """The same for the same numbers only."""
        content = self.path.astype("<f8")
        return hashlib.sha256(repr(content.shape).encode() + content.tobytes()).hexdigest()


def unrelated(means: Array, noise_sd: float) -> Problem:
    """Return a problem of arms that lie nowhere."""
    variance = float(means.var()) or 1.0
    return Problem(
        None, means, float(means.mean()), math.sqrt(variance), noise_sd, lambda _: variance * np.eye(means.size)
    )


def _checked(found: Recorded, path: Path) -> Recorded:
    if found.path.shape[1] < 2 or found.longest < 10 or not np.ptp(found.path, axis=1).any():
        raise ValueError(
            f"{path} must have two arms at least, ten times, and arms that differ, got {found.path.shape[1]} arms and "
            f"{found.longest} times. Move it away."
        )
    return found
