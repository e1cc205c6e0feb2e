"""What a server answers, as what a study returns."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.moves import Moves
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.explaining import Alternative, Explanation
from corrbandits.study.measured import When, measured_at
from corrbandits.study.trial import Trial

if TYPE_CHECKING:
    from corrbandits.study.report.inference import Best

Data = Mapping[str, Any]


@final
@dataclass(frozen=True)
class BeliefColumns:
    """What is believed of every arm, in their order: nan where nothing is known, and then the deviation is inf.

    `limit` and `chance`, the probability of each arm to be the best, are None where they cannot be said.
    """

    sequence: int
    mean: Array
    deviation: Array
    limit: Array | None
    counts: Integers
    chance: Array | None

    @staticmethod
    def of(pages: Sequence[Data]) -> BeliefColumns:
        """Return the columns of all pages."""
        first = pages[0]
        return BeliefColumns(
            sequence=first["sequence"],
            mean=column_of(pages, "mean", math.nan),
            deviation=column_of(pages, "deviation", math.inf),
            limit=None if first["limit"] is None else column_of(pages, "limit", math.nan),
            counts=column_of(pages, "counts", 0).astype(np.int64),
            chance=None if first["chance"] is None else column_of(pages, "chance", math.nan),
        )

    @property
    def variance(self) -> Array:
        """The squares of the deviations."""
        return np.square(self.deviation)


def key_of(given: str | None) -> str:
    """Return the key of a call, its own or a new one."""
    return secrets.token_hex(8) if given is None else checked_name("a key", given)


def number_of(trial: Trial | int) -> int:
    """Return the number of a trial."""
    return trial.number if isinstance(trial, Trial) else checks.integer("a trial", trial, least=1)


def reward_of(reward: Any) -> float:
    """Return a reward as a number."""
    return checks.number("a reward", reward)


def when_of(at: When) -> dict[str, float]:
    """Return when a reward was measured, as it is sent; nothing if nothing was said.

    >>> when_of("1970-01-02T00:00Z"), when_of(None)
    ({'at': 86400.0}, {})
    """
    seconds = measured_at(at, math.inf)
    return {} if seconds is None else {"at": seconds}


def when_in(given: Sequence[When]) -> list[float]:
    """Return the same of what may be the last entry of a row."""
    return [*when_of(given[0] if given else None).values()]


def columns_of(arms: Arms) -> dict[str, Any]:
    """Return arms as columns by name, as they are sent.

    >>> columns_of(Arms.of({"name": ["brook", "hill"], "x": [0.0, 3.0]}))
    {'name': ['brook', 'hill'], 'x': [0.0, 3.0]}
    """
    columns: dict[str, Any] = {} if arms.names is None else {"name": list(arms.names)}
    if arms.coordinates is not None:
        columns |= dict(zip(arms.axes, arms.coordinates.T.tolist(), strict=True))
    return columns | {key: list(values) for key, values in arms.attributes.items()}


def costs_of(moves: Moves) -> dict[str, Any]:
    """Return what moves cost, as it is sent; refuse places of their own: arms lie where their columns say, or on roads.

    >>> costs_of(Moves(per_move=3.0, per_distance=0.1))
    {'per_move': 3.0, 'per_distance': 0.1}
    """
    if not isinstance(moves, Moves):
        raise TypeError(f"moves must say what they cost, such as Moves(per_move=2.0), got {moves!r:.60}.")
    if moves.coordinates is not None or moves.distance != "euclidean":
        raise ValueError(
            f"moves on a server are between arms where their columns say, got {moves!r:.60}. Give per_move, "
            "per_distance and perhaps a graph, or create the study in its database."
        )
    roads = {} if moves.graph is None else {"graph": moves.graph}
    return {"per_move": moves.per_move, "per_distance": moves.per_distance, **roads}


def trial_of(data: Data) -> Trial:
    """Return a trial."""
    return Trial(data["trial"], data["arm"], data["name"])


def allowed_of(allowed: Any) -> Any:
    """Return the arms that are allowed, by index or name."""
    given = np.asarray(allowed)
    return np.flatnonzero(given).tolist() if given.dtype == np.bool_ else [
        arm if isinstance(arm, str) else int(arm) for arm in allowed
    ]  # fmt: skip


def alternative_of(data: Data | None, unknown: float | None) -> Alternative | None:
    """Return an arm at the moment of a choice; `unknown` is the limit of one of which nothing was known."""
    if data is None:
        return None
    deviation = math.inf if data["deviation"] is None else data["deviation"]
    limit = unknown if data["limit"] is None else data["limit"]
    return Alternative(data["arm"], data["name"], data["mean"], deviation, limit, data.get("way"))


def explanation_of(data: Data) -> Explanation:
    """Return why an arm was chosen."""
    rest = {field.name: data[field.name] for field in fields(Explanation) if field.name in data}
    unknown = None if data["rank"] is None else math.inf if data["goal"] == "max" else -math.inf
    chosen, second = (alternative_of(data[name], unknown) for name in ("chosen", "runner_up"))
    assert chosen is not None
    several = {name: tuple(data.get(name, ())) for name in ("open", "remarks")}
    return Explanation(**(rest | several | {"chosen": chosen, "runner_up": second}))


def best_of(data: Data) -> Best:
    """Return the best arm; what is not finite came as null."""
    from corrbandits.study.report.inference import Best

    unknown = {name: math.nan if "probability" in name else math.inf for name, value in data.items() if value is None}
    return Best(**(dict(data) | unknown))


def column_of(pages: Sequence[Data], name: str, unknown: float) -> Array:
    """Return a column of all pages."""
    return np.array([unknown if x is None else x for page in pages for x in page[name]], dtype=np.float64)
