"""What a belief is told, and the parts that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits._shell.numbers import counted
from corrbandits.belief.vague.drift import drift_in, drift_in_words
from corrbandits.belief.vague.known import FARTHEST, Known, known, said, said_each
from corrbandits.belief.vague.lent import fields_in, log_likelihoods
from corrbandits.belief.vague.parts import Parts, names_of
from corrbandits.belief.vague.seasons import Seasons, seasons_in, turned
from corrbandits.kernels import Distance

MOST_PARTS = 10_000

WORDS = {"mean": "mean", "sd": "deviation", "length": "length", "noise_sd": "noise", "site": "site share"}
"""What may be known as a number or an interval, and what it is called in a sentence."""


@final
@dataclass(frozen=True, eq=False)
class Prior:
    """What was told, in the form in which it is stored, and what follows from it."""

    given: dict[str, Any]
    parts: Parts
    level: Known | None
    relative_variance: Array

    @staticmethod
    def of(
        *,
        relative_noise: Any,
        kernel: Any,
        distance: Distance,
        parts: int,
        coordinates: Any = None,
        arms: int | None = None,
        per_coordinate: bool = False,
        history: Any = None,
        fields: Any = None,
        drift: Any = None,
        **quantities: Any,
    ) -> Prior:
        """Return what `Vague` was told; refuse what makes no sense. The quantities are those of `WORDS`."""
        points, number = _where(coordinates, arms)
        names, count = names_of(kernel), checks.integer("parts", parts, least=1, most=MOST_PARTS)
        length, site = quantities["length"], quantities["site"]
        _refuse_without_places(points, (length, site, kernel, fields, per_coordinate or None))
        if per_coordinate and distance in ("great_circle", "chordal"):
            raise ValueError(
                "distance must be euclidean or cityblock where each coordinate has a length of its own, got "
                f"{distance}."
            )
        past, lent = seasons_in(history, number), fields_in(fields, 0 if points is None else points.shape[1])
        change = drift_in(drift)
        if past and change is not None:
            raise ValueError(
                "history must be left out with drift: its seasons have no times. Observe its rewards at their times "
                "instead, or leave drift out."
            )
        made = Parts.of(
            points,
            number=count,
            arms=number,
            kernels=names,
            length=length,
            sd=quantities["sd"],
            noise_sd=quantities["noise_sd"],
            site=site,
            distance=distance,
            each=per_coordinate,
            seasons=bool(past),
            drift=change,
        )
        level = known("mean", quantities["mean"], positive=False)
        relative = _relative(relative_noise, number)
        if lent:
            made = replace(made, log_prior=made.log_prior + log_likelihoods(made, lent))
        if past:
            made = replace(made, past=Seasons.of(made, past, relative))
        given: dict[str, Any] = {
            name: said_each(name, quantities[name])
            if name == "length" and per_coordinate
            else said(name, quantities[name])
            for name in WORDS
        }
        given |= {"kernel": None if kernel is None else names, "distance": distance, "parts": count}
        more = {"per_coordinate": per_coordinate, "history": past, "fields": lent, "drift": change}
        given |= {name: value for name, value in more.items() if value}
        return Prior(given, made, level, frozen(relative))

    def arguments(self) -> dict[str, Any]:
        """Return what `Vague` is called with to make the prior again."""
        points = self.parts.points
        where: dict[str, Any] = {"arms": self.parts.arms} if points is None else {"coordinates": points}
        return {**where, **self.given, "relative_noise": np.sqrt(self.relative_variance)}

    def mirrored(self) -> Prior:
        """Return the prior of rewards turned round, -r."""
        mean = self.given["mean"]
        image = None if mean is None else (-mean[1], -mean[0]) if isinstance(mean, tuple) else -mean
        past = {key: turned(self.given[key]) for key in ("history", "fields") if key in self.given}
        if past:
            return Prior.of(**self.arguments() | {"mean": image} | past)
        return replace(self, given=self.given | {"mean": image}, level=known("mean", image, positive=False))

    def same_as(self, other: Prior) -> bool:
        """Return whether the same was told."""
        mine, yours = self.arguments(), other.arguments()
        return mine.keys() == yours.keys() and all(_same(mine[key], yours[key]) for key in mine)

    def in_words(self, unit: str = "") -> str:
        """Return what was told, and that the rest is learnt."""
        each = "per_coordinate" in self.given
        told = [
            f"{words} {_in_words(self.given[name], each=each and name == 'length')}"
            for name, words in WORDS.items()
            if self.given[name] is not None
        ]
        if self.parts.past is not None:
            number, rewards = len(self.given["history"]), self.parts.past.rewards
            told.append(f"{counted(rewards, 'reward')} of {counted(number, 'earlier season')}")
        if "fields" in self.given:
            number = len(self.given["fields"])
            told.append(counted(number, "other field"))
        if "drift" in self.given:
            told.append(drift_in_words(self.given["drift"], unit))
        apart = ", a length for each coordinate" if each and self.given["length"] is None else ""
        return f"told {', '.join(told) or 'nothing'}; {'the rest' if told else 'all'} is learnt{apart}"


def _where(coordinates: Any, arms: int | None) -> tuple[Array | None, int]:
    """Return where the arms lie, if anywhere, and how many there are."""
    if (coordinates is None) == (arms is None):
        raise TypeError("give either coordinates=..., or arms=... if arms lie nowhere, not both or neither.")
    if coordinates is None:
        return None, checks.integer("arms", arms, least=1)
    points = frozen(checks.points("coordinates", coordinates))
    return points, len(points)


def _refuse_without_places(points: Array | None, by_place: tuple[Any, ...]) -> None:
    if points is None and any(value is not None for value in by_place):
        raise TypeError(
            "length, site, kernel, fields and per_coordinate say how arms relate by their coordinates: give "
            "coordinates=... too."
        )


def _relative(said: Any, arms: int) -> Array:
    """Return noise variances up to a common factor, from deviations up to one."""
    deviations = checks.per_arm("relative_noise", said, arms)
    wrong = ~((deviations >= 1 / FARTHEST) & (deviations <= FARTHEST))
    if wrong.any():
        raise ValueError(
            f"relative_noise, deviations up to a common factor, must lie between {1 / FARTHEST:g} and {FARTHEST:g}, "
            f"got {deviations[wrong][0]:g} for arm {int(wrong.argmax())}."
        )
    return np.square(deviations)


def _same(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return np.array_equal(one, other) if arrays else bool(one == other)


def _in_words(value: float | tuple[Any, ...] | None, *, each: bool = False) -> str:
    if each and isinstance(value, tuple):
        return " x ".join(_in_words(one) for one in value)
    if value is None:
        return "?"
    return f"{value[0]:g} to {value[1]:g}" if isinstance(value, tuple) else f"{value:g}"
