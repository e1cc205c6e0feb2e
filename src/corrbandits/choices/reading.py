"""People from a long table: one row per trial, columns by name, what is wrong named by its row."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.choices.people import Person, Round

if TYPE_CHECKING:
    import pandas as pd

MOST_ARMS = 20_000
"""How many arms there may be if nobody says how many there are: a number that was mistyped would make far more."""


def read_csv(path: str | PathLike[str] | IO[str], **columns: Any) -> list[Person]:
    r"""Return the people in a CSV file; the options are those of `from_frame`, and rows are numbered as its lines.

    >>> import io
    >>> table = io.StringIO("id,round,trial,arm,reward\n7,1,1,0,50\n7,1,2,1,lots")
    >>> read_csv(table, person="id")
    Traceback (most recent call last):
    ValueError: row 3: reward must be a finite number, got 'lots'. Mend it, or leave the round out.
    """
    import pandas as pd

    return from_frame(pd.read_csv(path).rename(index=lambda row: row + 2), **columns)


def from_frame(
    frame: pd.DataFrame,
    *,
    person: str = "person",
    round: str = "round",  # noqa: A002  as the column is called
    trial: str = "trial",
    arm: str | Sequence[str] = "arm",
    reward: str = "reward",
    horizon: str | None = None,
    coordinates: Any = None,
    arms: int = 0,
    given: int = 0,
) -> list[Person]:
    """Return the people in a long table, in the order of their names.

    `arm` is a column of indices from 0 or, if it is several, those of the arm's coordinates: then the arms are the rows
    of `coordinates` or, by default, the full grid of all values that occur. Trials are sorted by their numbers, which
    must be whole, without gaps and none twice; the first `given` of each round were shown and not chosen. `horizon`
    is a column too; without one, the choices that there are.

    >>> import pandas as pd
    >>> places = {"x": [0, 1, 1], "y": [0, 0, 1]}
    >>> table = pd.DataFrame({"person": 1, "round": 1, "trial": [0, 1, 2], **places, "reward": 5.0})
    >>> (anna,) = from_frame(table, arm=["x", "y"], given=1)
    >>> anna.coordinates.tolist(), anna.rounds[0].arms.tolist()
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 2, 3])
    """
    places = [arm] if isinstance(arm, str) else [*arm]
    wanted = [person, round, trial, *places, reward, *([] if horizon is None else [horizon])]
    table = _checked(frame, wanted)
    numbers = {name: _numbers(table[name], name) for name in dict.fromkeys(wanted[2:])}
    where = None if coordinates is None else checks.points("coordinates", coordinates)
    if isinstance(arm, str):
        which = _whole(numbers[arm], arm, table.index)
        arms = arms if arms or where is not None else _counted(which, arm, table.index)
        most = arms or len(where if where is not None else ())
        _refuse(
            which >= most,
            table.index,
            f"{arm} must be an index from 0 to {most - 1}, but it is larger: the first has index 0",
        )
    else:
        where = _grid(numbers, places) if where is None else where
        which = _found(np.stack([numbers[name] for name in places], axis=1), where, places, table.index)
    known = None if horizon is None else _whole(numbers[horizon], horizon, table.index)
    times = _whole(numbers[trial], trial, table.index)
    trials = _Trials(table.index, table[round], times, which, numbers[reward], known, given)
    everybody = table.groupby(person, sort=True).indices.items()
    return [Person(trials.rounds_of(own, name, trial), where, arms, name) for name, own in everybody]


@final
@dataclass(frozen=True, eq=False)
class _Trials:
    """The columns of a table, and the numbers of its rows."""

    rows: Any
    rounds: pd.Series
    times: Integers
    arms: Integers
    rewards: Array
    horizons: Integers | None
    given: int

    def rounds_of(self, own: Integers, person: Any, trial: str) -> list[Round]:
        """Return the rounds of the person whose rows these are, in their order."""
        rounds = self.rounds.iloc[own]
        parts = rounds.groupby(rounds, sort=True).indices.items()
        return [self._round(own[part], trial, f"round {which} of person {person}") for which, part in parts]

    def _round(self, at: Integers, name: str, which: str) -> Round:
        """Return the round that these rows are of."""
        at = at[np.argsort(self.times[at], kind="stable")]
        rows, step = self.rows[at], np.diff(self.times[at], prepend=self.times[at][0] - 1)
        _refuse(step == 0, rows, f"{name} is there twice in {which}. Number its trials one after the other")
        _refuse(step > 1, rows, f"{name} skips one in {which}. Add the trial that is missing, or leave the round out")
        choices = len(at) - self.given
        _refuse([choices < 0], rows, f"its round has {len(at)} trials, but {self.given} are given in each")
        horizon = choices
        if self.horizons is not None:
            horizon = int(self.horizons[at[0]])
            _refuse(self.horizons[at] != horizon, rows, "the horizon must be one number in a round, but it changes")
            _refuse([horizon < choices], rows, f"the horizon must be at least the {choices} choices, got {horizon}")
        return Round(self.arms[at], self.rewards[at], given=self.given, horizon=horizon)


def _checked(frame: pd.DataFrame, wanted: list[str]) -> pd.DataFrame:
    """Return a table that has all columns, and whose rows say whose they are."""
    if missing := [name for name in wanted if name not in frame.columns]:
        raise ValueError(
            f"the table must have a column {missing[0]!r}, got {', '.join(map(str, frame.columns))}. Say which column "
            "is meant, such as person='id'."
        )
    if not len(frame):
        raise ValueError("the table must have a row for each trial, but it has none.")
    for name in wanted[:2]:
        _refuse(frame[name].isna().to_numpy(), frame.index, f"{name} must say whose row it is, but it is empty")
    return frame


def _numbers(column: pd.Series, name: str) -> Array:
    """Return a column of numbers; the first that is none is named by its row."""
    import pandas as pd

    values: Array = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"row {column.index[place]}: {name} must be a finite number, got {_shown(column.iloc[place])}. Mend it, or "
            "leave the round out."
        )
    return values


def _shown(value: Any) -> str:
    """Return an entry of a table as text; nothing of how it is stored.

    >>> _shown(np.float64(np.inf)), _shown("lots")
    ('inf', "'lots'")
    """
    return repr(value.item() if isinstance(value, np.generic) else value)


def _whole(values: Array, name: str, rows: Any) -> Integers:
    _refuse(
        (values % 1 != 0) | (values < 0) | (values > 2**53),
        rows,
        f"{name} must be a whole number from 0, but it is not",
    )
    return values.astype(np.int64)


def _refuse(bad: Any, rows: Any, what: str) -> None:
    if np.any(bad):
        raise ValueError(f"row {rows[int(np.flatnonzero(bad)[0])]}: {what}.")


def _counted(which: Integers, arm: str, rows: Any) -> int:
    """Return how many arms there are if nobody says so: up to the largest index. If nobody takes the first, say it."""
    _refuse(which >= MOST_ARMS, rows, f"{arm} must be an index below {MOST_ARMS:,}. Mend it, or say how many arms")
    if which.min() > 0:
        warnings.warn(
            f"nobody takes {arm} 0, but arms are counted from 0. If yours are counted from {which.min()}, take "
            f"{which.min()} from each.",
            stacklevel=3,
        )
    return int(which.max()) + 1


def _grid(numbers: dict[str, Array], places: list[str]) -> Array:
    """Return the full grid of all values that occur, the last coordinate fastest. If it has gaps, say it."""
    values = {name: np.unique(numbers[name]) for name in places}
    size = math.prod(each.size for each in values.values())
    if size > MOST_ARMS:
        raise ValueError(
            f"{', '.join(places)} have so many values that their grid has {size:,} arms. Say where arms lie: "
            "coordinates=... or --arms."
        )
    for name, each in values.items():
        if (place := _gap(each)) is not None:
            warnings.warn(
                f"nobody takes an arm with {name} between {each[place]:g} and {each[place + 1]:g}: it is left out of "
                "the grid. If there is one, say where arms lie: coordinates=... or --arms.",
                stacklevel=3,
            )
    return np.stack([axis.ravel() for axis in np.meshgrid(*values.values(), indexing="ij")], axis=1)


def _gap(values: Array) -> int | None:
    """Return where a value is missing between others that are evenly spaced; None if none is.

    >>> _gap(np.array([0.0, 2.0, 4.0, 8.0])), _gap(np.array([0.0, 0.3, 1.0]))
    (2, None)
    """
    step = np.diff(values)
    ratio = step / step.min(initial=math.inf)
    even = np.allclose(ratio, ratio.round(), rtol=0, atol=1e-6)
    return int(ratio.argmax()) if even and ratio.max(initial=1.0) > 1.5 else None


def _found(points: Array, where: Array, places: list[str], rows: Any) -> Integers:
    """Return which row of `where` each point is."""
    if where.shape[1] != len(places):
        raise ValueError(
            f"coordinates must have {len(places)} columns, one for each of {places}, got {where.shape[1]}."
        )
    index = {tuple(point): place for place, point in enumerate(where.tolist())}
    found = np.array([index.get(tuple(point), -1) for point in points.tolist()], dtype=np.int64)
    _refuse(found < 0, rows, f"{', '.join(places)} must be those of an arm, but no arm lies there")
    return found
