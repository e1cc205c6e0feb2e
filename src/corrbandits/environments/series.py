"""Mean rewards that change with time: drift, switches, seasons, and what was recorded.

    name      shape    meaning
    K         (N, N)   covariance of the arms' mean rewards at any one time: a kernel and coordinates, or a matrix
    phi       ()       autocorrelation from one step to the next, exp(-1 / scale)
    path      (T, N)   the mean rewards at t = 1 to T

Each function draws one path, exactly, from a seed or a generator.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.covariances import refuse_indefinite
from corrbandits._core.draws import covariance_root
from corrbandits._core.single_thread import one_thread
from corrbandits._shell.csv import Columns, numeric_column, places, read_columns
from corrbandits._shell.numbers import NUMBER
from corrbandits.belief import Implicit
from corrbandits.environments.changing import ChangingBandit
from corrbandits.environments.landscapes import MOST_DENSE


def drift(
    covariance: Any,
    coordinates: Any = None,
    *,
    steps: int,
    scale: float,
    noise_variance: Any,
    seed: int | np.random.Generator,
    mean: Any = 0.0,
    shape: tuple[int, ...] | None = None,
) -> ChangingBandit:
    """Return arms whose mean rewards drift: an Ornstein-Uhlenbeck process about `mean`, correlated over arms.

    At any one time the means are a draw of the covariance, a kernel (with coordinates) or a matrix. From one step to
    the next their correlation is exp(-1 / scale), so that after `scale` steps 37 % of a deviation from `mean` is
    left. With scale = inf nothing changes.

    >>> from corrbandits import Exponential, landscapes
    >>> bandit = drift(Exponential(2.0), landscapes.grid(3, 3), steps=1000, scale=50.0, noise_variance=1.0, seed=1)
    >>> bandit.arms, bandit.horizon
    (9, 1000)
    """
    steps, scale = checks.integer("steps", steps, least=1), checks.positive("scale", scale)
    rng = _generator(seed)
    path = _surfaces(covariance, coordinates, steps, rng)
    path[1:] *= math.sqrt(-math.expm1(-2 / scale))
    phi = math.exp(-1 / scale)
    for before, now in pairwise(path):
        now += phi * before
    return _bandit(path, mean, noise_variance, coordinates, shape)


def switches(
    covariance: Any,
    coordinates: Any = None,
    *,
    steps: int,
    every: float | None = None,
    at: Any = None,
    noise_variance: Any,
    seed: int | np.random.Generator,
    mean: Any = 0.0,
    shape: tuple[int, ...] | None = None,
) -> ChangingBandit:
    """Return arms whose mean rewards are drawn anew from time to time, and stay as they are in between.

    `every` is the mean number of steps between two switches, which come at any step with the same probability; `at`
    are the times of the switches instead, the first steps with new means.

    >>> import numpy as np
    >>> switches(np.eye(2), steps=6, at=[4], noise_variance=1.0, seed=0).path.round(2).tolist()
    [[0.13, -0.13], [0.13, -0.13], [0.13, -0.13], [0.64, 0.1], [0.64, 0.1], [0.64, 0.1]]
    """
    steps, rng = checks.integer("steps", steps, least=1), _generator(seed)
    times = _switch_times(steps, every, at, rng)
    surfaces = _surfaces(covariance, coordinates, 1 + len(times), rng)
    path = surfaces[np.searchsorted(times, np.arange(1, steps + 1), side="right")]
    return _bandit(path, mean, noise_variance, coordinates, shape)


def seasons(
    covariance: Any,
    coordinates: Any = None,
    *,
    steps: int,
    period: float,
    noise_variance: Any,
    seed: int | np.random.Generator,
    mean: Any = 0.0,
    shape: tuple[int, ...] | None = None,
) -> ChangingBandit:
    """Return arms whose mean rewards rise and fall with a period: A_i cos(2 pi t / period) + B_i sin(2 pi t / period).

    A and B are two draws of the covariance, so that the means have it at any one time; neighbours have their summer at
    about the same time, if the kernel says that they are alike.

    >>> import numpy as np
    >>> bandit = seasons(np.eye(2), steps=24, period=12, noise_variance=1.0, seed=0)
    >>> bool(np.allclose(bandit.path[:12], bandit.path[12:]))
    True
    """
    steps, period = checks.integer("steps", steps, least=1), checks.number("period", period, above=0)
    rise, fall = _surfaces(covariance, coordinates, 2, _generator(seed))
    angle = 2 * np.pi * (np.arange(1, steps + 1) / period)[:, None]
    return _bandit(np.cos(angle) * rise + np.sin(angle) * fall, mean, noise_variance, coordinates, shape)


def recorded(
    series: Any, *, noise_variance: Any, coordinates: Any = None, shape: tuple[int, ...] | None = None
) -> ChangingBandit:
    """Return arms whose mean rewards were recorded: a table with a row per arm and a column per time.

    The table is an array, a data frame of pandas, or the name of a CSV file with a header. In a frame or a file the
    columns `name`, and x and y, x alone, or latitude and longitude, say which arm it is and where it lies; all others
    are times, in their order.

    >>> recorded([[3.0, 4.0, 5.0], [4.0, 4.0, 4.0]], noise_variance=1.0).path.tolist()
    [[3.0, 4.0], [4.0, 4.0], [5.0, 4.0]]
    """
    if not isinstance(series, (str, os.PathLike)) and not hasattr(series, "columns"):
        table = checks.finite("series", series)
        if table.ndim != 2:
            raise ValueError(f"series must have a row per arm and a column per time, but its shape is {table.shape}.")
        return ChangingBandit(table.T, noise_variance, coordinates, shape)
    if isinstance(series, (str, os.PathLike)):
        columns, called = read_columns(series), os.fspath(series)
    else:
        columns, called = _columns_of(series), "series"
    where = places(columns, called) if coordinates is None else coordinates
    return ChangingBandit(_times_in(columns, called), noise_variance, where, shape)


def _columns_of(frame: Any) -> Columns:
    """Return a data frame as a file would have it; the row below the header is line 2."""
    entries = {str(name): [str(entry) for entry in frame[name].tolist()] for name in frame.columns}
    return Columns({name: [*enumerate(texts, 2)] for name, texts in entries.items()})


def _times_in(columns: Columns, path: str) -> Array:
    """Return the columns that are times as the rows of a matrix."""
    others = {columns.heading("name"), *columns.axes().values()}
    times = [heading for heading in columns if heading not in others]
    if not times:
        raise ValueError(
            f"{path}, line 1: expected a column for each time, but the columns are {', '.join(columns)}. Add what was "
            "recorded, one column per time."
        )
    for heading in times:
        if columns.heading("name") is None and not any(NUMBER.fullmatch(text.strip()) for _, text in columns[heading]):
            raise ValueError(
                f"{path}, line 1: expected a time in each column but `name` and where an arm lies, got {heading!r:.60} "
                f"with {columns[heading][0][1]!r:.40} in it. If it says which arm a row is, call it name."
            )
    return np.array([numeric_column(columns, heading, path) for heading in times])


def _switch_times(steps: int, every: Any, at: Any, rng: np.random.Generator) -> Array:
    """Return the first times of new means, in their order."""
    if (every is None) == (at is None):
        raise TypeError("say either every=..., the mean number of steps between switches, or at=[...], their times.")
    if at is None:
        rate = 1 / checks.number("every", every, least=1)
        return np.asarray(2 + np.flatnonzero(rng.random(steps - 1) < rate))
    times = np.unique(checks.finite("at", at))
    if times.size and ((times % 1).any() or times[0] < 2 or times[-1] > steps):
        raise ValueError(f"at must be whole numbers from 2 to {steps}, the first steps with new means, got {at!r:.60}.")
    return times


def _surfaces(covariance: Any, coordinates: Any, number: int, rng: np.random.Generator) -> Array:
    """Return so many independent draws of mean 0, a row each."""
    if callable(covariance) == (coordinates is None):
        raise TypeError(
            "give a kernel such as Exponential(2.0) and coordinates, or a covariance matrix without coordinates; got "
            f"{covariance!r:.60}."
        )
    if coordinates is None:
        matrix = checks.finite("covariance", covariance)
    else:
        where = checks.points("coordinates", coordinates)
        if len(where) > MOST_DENSE:
            prior = Implicit(kernel=covariance, coordinates=where, noise_variance=1.0)
            return np.array([prior.sample(rng) for _ in range(number)])
        matrix = checks.finite("the kernel's covariance", covariance(where, where))
    root = covariance_root(refuse_indefinite(matrix))
    with one_thread():
        return np.asarray(rng.standard_normal((number, len(root))) @ root.T)


def _bandit(path: Array, mean: Any, noise_variance: Any, coordinates: Any, shape: Any) -> ChangingBandit:
    return ChangingBandit(path + checks.per_arm("mean", mean, path.shape[1]), noise_variance, coordinates, shape)


def _generator(seed: Any) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(checks.integer("seed", seed, least=0))
