"""The documents that the interface takes, checked strictly; those that it gives are in `given`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

SAID = "said"
"""The type of an error whose message is what was expected, in our words."""


def _no_text(value: Any) -> Any:
    """Refuse what only looks like a number: "3", true; 3.0 is one, for JSON knows no difference."""
    if isinstance(value, (str, bool)):
        raise PydanticCustomError(SAID, "a whole number")
    return value


Expected = Literal[
    "an index from 0 or a name",
    "a number or a list of two",
    "a time such as 2026-03-14T09:30Z, or seconds since 1970",
    "true, a number of days or a list of two",
]


def _either(expected: Expected) -> WrapValidator:
    """Say of what may be one thing or another both at once, not what each lacks."""

    def checked(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError(SAID, expected) from None

    return WrapValidator(checked)


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_no_text)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Arm = Annotated[Annotated[Whole, Field(ge=0)] | Name, _either("an index from 0 or a name")]
Range = Annotated[list[Number], Field(min_length=2, max_length=2)]
Known = Annotated[Number | Range, _either("a number or a list of two")]
At = Annotated[Number | Name, _either("a time such as 2026-03-14T09:30Z, or seconds since 1970")]
Drift = Annotated[Literal[True] | Number | Range, _either("true, a number of days or a list of two")]
Flag = Annotated[bool, Field(strict=True)]
MOST_AT_ONCE = 1_000


class Taken(BaseModel):
    """A document that is sent to us: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class Asking(Taken):
    """How many trials, among which arms, `from` which; `why` for the reason, `near` for an order to walk."""

    n: Annotated[Whole, Field(ge=1, le=MOST_AT_ONCE)] | None = None
    allowed: Annotated[list[Arm], Field(max_length=100_000)] | None = None
    repeats: Flag = False
    start: Annotated[
        Arm | None, Field(alias="from", description="where those who measure are, if moves cost something")
    ] = None
    near: Annotated[dict[str, Number], Field(description="where the walk begins, by axis")] | None = None
    why: Flag = False


class Changing(Taken):
    """What the reward `was` when it was looked at: if it is another by now, nothing is changed."""

    was: Number | None = None


class Amending(Changing):
    """Another reward; `check` to be told whether it surprises."""

    reward: Number
    check: Flag = False


class Telling(Amending):
    """A reward; `at` is when it was measured, by default now: ISO 8601, or seconds since 1970."""

    at: At | None = None


class Observing(Telling):
    """A reward that was not asked for."""

    arm: Arm


class Told(Taken):
    """What is known beforehand: numbers, or ranges that they lie in with probability 0.9."""

    mean: Known | None = None
    sd: Known | None = None
    length: Known | None = None
    noise_sd: Known | None = None
    drift: Annotated[Drift, Field(description="the time in which rewards change, in days; true if unknown")] | None = (
        None
    )


Road = tuple[
    Annotated[Whole, Field(ge=0, le=10_000_000)],
    Annotated[Whole, Field(ge=0, le=10_000_000)],
    Annotated[Number, Field(gt=0)],
]
"""Two arms, by their numbers, and how long the way between them is."""


class Going(Taken):
    """What it costs to go from arm to arm, in rewards: each move, and each unit of distance, or km on the globe."""

    per_move: Annotated[Number, Field(ge=0)] = 0.0
    per_distance: Annotated[Number, Field(ge=0)] = 0.0
    graph: (
        Annotated[list[Road], Field(min_length=1, max_length=100_000, description="roads between arms: [0, 1, 2.5]")]
        | None
    ) = None


class Creating(Taken):
    """A new study."""

    name: Name
    arms: Annotated[dict[Name, list[Any]], Field(min_length=1, max_length=1_000)]
    rounds: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    goal: Literal["max", "min"] = "max"
    repeat: Flag = True
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    seed: Annotated[Whole, Field(ge=0, le=2**63 - 1)] = 0
    unit: Annotated[str, Field(min_length=1, max_length=20)] | None = None
    told: Told | None = None
    moves: Going | None = None


class Extending(Taken):
    """More arms, with the columns of the old ones; and what the prior is to know of them, where that differs."""

    arms: Annotated[dict[Name, list[Any]], Field(min_length=1, max_length=1_000)]
    coordinates: list[Number | list[Number]] | None = None
    mean: Number | list[Number] | None = None
    noise_variance: Number | list[Number] | None = None


class Many(Taken):
    """Many rewards, all or none: each a trial, or an arm and a key; the last entry may be when it was measured."""

    tell: Annotated[list[tuple[Whole, Number] | tuple[Whole, Number, At]], Field(max_length=1_000)] = []
    observe: Annotated[
        list[tuple[Arm, Number, Name] | tuple[Arm, Number, Name, At | None]], Field(max_length=1_000)
    ] = []


class SigningIn(Taken):
    """A token."""

    token: Annotated[str, Field(min_length=1, max_length=500)]


class Measuring(Taken):
    """A trial of the study to play with."""

    study: Name
    trial: Annotated[Whole, Field(ge=1)]
