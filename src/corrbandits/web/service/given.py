"""The documents that the interface gives, for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field


class ProblemShape(BaseModel):
    """An error: what was expected, what was given, what to do."""

    type: str
    title: str
    status: int
    detail: str
    key: str | None = None


class Listed(BaseModel):
    """A study in the list of all."""

    name: str
    arms: int
    told: int
    open: int
    rounds: int | None
    goal: Literal["max", "min"]
    unit: str | None
    changed: float
    sequence: int


class Studies(BaseModel):
    """All studies."""

    studies: list[Listed]


class TrialShape(BaseModel):
    """A trial: an arm to try."""

    trial: int
    arm: int
    name: str
    coordinates: dict[str, float] | None
    why: str | None = None


class Asked(BaseModel):
    """Trials to try."""

    study: str
    trials: list[TrialShape]
    key: str
    sequence: int


class Done(BaseModel):
    """What was done to a trial, and the reward that counts."""

    study: str
    did: str
    trial: int
    arm: int
    name: str
    coordinates: dict[str, float] | None
    reward: float | None
    open: int
    sequence: int
    surprise: dict[str, Any] | None
    key: str | None = None


class Awaited(BaseModel):
    """A trial whose reward is awaited: who has it, and since when."""

    trial: int
    arm: int
    name: str
    coordinates: dict[str, float] | None
    by: str | None
    at: float | None


class MovesShape(BaseModel):
    """What moves cost; `own_places` if distances are not those between the arms' places, as on a graph."""

    per_move: float
    per_distance: float
    distance: str
    own_places: bool


class Summary(BaseModel):
    """Where a study stands."""

    study: str
    goal: Literal["max", "min"]
    unit: str | None
    rounds: int | None
    repeat: bool
    timeout: float | None
    arms: int
    axes: list[str]
    t: int
    told: int
    open: list[Awaited]
    last: list[dict[str, Any]]
    policy: Any
    prior: str
    drifts: Annotated[bool, Field(description="whether rewards say less the longer ago they were measured")]
    moves: MovesShape | None
    created: float
    created_by: str | None
    changed: float
    sequence: int


class Standing(BaseModel):
    """What takes computing: the best arm so far, what was learnt, what to look at."""

    opening: bool
    still_needed: int
    best: dict[str, Any] | None
    learnt: str | None
    warnings: list[dict[str, Any]]


class BeliefShape(BaseModel):
    """What is believed of every arm, as columns; null where nothing is known."""

    sequence: int
    t: int
    opening: bool
    offset: int
    arms: int
    mean: list[float | None]
    deviation: list[float | None]
    limit: list[float | None] | None
    counts: list[int]
    chance: list[float] | None
    leader: int | None
    next: int | None
    open: list[int]


class ArmsShape(BaseModel):
    """Arms, as columns."""

    study: str
    count: int
    offset: int
    axes: list[str]
    names: list[str]
    coordinates: list[list[float]] | None
    attributes: dict[str, list[Any]]
    ways: Annotated[list[list[float]] | None, Field(description="how far arms are apart, if not by where they lie")]


class Me(BaseModel):
    """Who makes the request, and what they may do."""

    name: str | None
    role: Literal["read", "tell", "manage"]
    signed_in: bool
    demo: str | None
