"""One trial of a study: what callers get, and what the ledger knows of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

Status = Literal["open", "told", "retracted", "cancelled", "expired"]


@final
@dataclass(frozen=True)
class Trial:
    """An arm to try: the trial's number, the arm's index and its name.

    >>> Trial(number=17, arm=3, name="brook")
    Trial(number=17, arm=3, name='brook')
    """

    number: int
    arm: int
    name: str


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one trial."""

    arm: int
    status: Status
    asked: float | None  # when; never, if it was observed freely
    told: float | None = None
    reward: float = math.nan
    first: float = math.nan  # the reward before it was amended
    seen: int = 0  # the choice was made from the events up to this one, and those asked since
    allowed: tuple[int, ...] | None = None
    apart: int = 0  # so many trials just before it are of the same `ask`, and it had to be of another arm than these
    start: int | None = None  # where those who measure were, if that was said
    carried: bool = False  # chosen in the study that this one is a copy of
    asked_by: str | None = None  # who asked for it, if that is known
    told_by: str | None = None  # who told the reward that counts, or took it back
    measured: float | None = None  # when the reward was measured, if that was said; otherwise when it was told

    @property
    def when(self) -> float | None:
        """When the reward was measured, in seconds since 1970; None if there is none."""
        return self.told if self.measured is None else self.measured

    @property
    def kind(self) -> str:
        """Its status, or `observed` if it was told and nobody had asked for it."""
        return "observed" if self.status == "told" and self.asked is None else self.status
