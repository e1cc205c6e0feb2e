"""The nine numbers that describe a person, each on the scale on which it is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from corrbandits._core import checks

NORMAL_95 = 1.959963984540054
MOST = 700.0
"""Logarithms up to here are those of doubles."""


@final
@dataclass(frozen=True)
class Parameter:
    """A parameter: its meaning, where it may lie, and the line without ends that it is fitted on.

    >>> PARAMETERS["length"].line(1.0), PARAMETERS["length"].value(0.0)
    (0.0, 1.0)
    """

    meaning: str
    low: float = -math.inf
    high: float = math.inf

    def check(self, name: str, value: Any) -> float:
        """Return a value that a parameter may be fixed at; refuse another."""
        if self.high < math.inf:
            number = checks.number(name, value, least=self.low, up_to=self.high)
            if number == self.high:
                raise ValueError(f"{name} must be below {self.high:g}, got {number:g}.")
            return number
        return checks.number(name, value, above=self.low)

    def line(self, value: float) -> float:
        """Return where a value lies on the line: its logarithm, its log odds, or itself."""
        if self.high < math.inf:
            return math.log(value / (1 - value)) if value > 0 else -math.inf
        return math.log(value) if self.low == 0 else value

    def value(self, place: float) -> float:
        """Return the value at a place on the line."""
        if self.high < math.inf:
            return 1 / (1 + math.exp(min(-place, MOST)))
        return math.exp(min(place, MOST)) if self.low == 0 else place

    def slope(self, value: float) -> float:
        """Return by how much the value grows along the line.

        >>> PARAMETERS["length"].slope(3.0), PARAMETERS["stickiness"].slope(3.0), PARAMETERS["lapse"].slope(0.5)
        (3.0, 1.0, 0.25)
        """
        if self.high < math.inf:
            return value * (1 - value)
        return value if self.low == 0 else 1.0

    def interval(self, value: float, variance: float) -> tuple[float, float]:
        """Return the 95 % interval about a value whose variance on the line is known: of inf, all there is.

        >>> [round(end, 3) for end in PARAMETERS["length"].interval(1.0, 0.25)]
        [0.375, 2.664]
        """
        if not math.isfinite(variance):
            return self.low, self.high
        middle, half = self.line(value), NORMAL_95 * math.sqrt(variance)
        return self.value(middle - half), self.value(middle + half)


PARAMETERS = {
    "prior_mean": Parameter("the mean reward expected of an arm of which nothing is known"),
    "prior_sd": Parameter("how far mean rewards are expected to lie from it", 0.0),
    "length": Parameter("how far an arm tells of others: it multiplies the kernel's lengths", 0.0),
    "noise": Parameter("the deviation of a reward about its arm's mean, in prior deviations", 0.0),
    "exploration": Parameter("what the rule's bonus for an unknown arm is multiplied with"),
    "temperature": Parameter("how much better an arm must be to be e times as likely", 0.0),
    "stickiness": Parameter("what the arm taken last gains, as a logarithm of odds"),
    "distance": Parameter("what an arm loses for each unit of distance from the last, as a logarithm of odds"),
    "lapse": Parameter("the share of choices made at random", 0.0, 1.0),
}
"""Every parameter by its name."""
