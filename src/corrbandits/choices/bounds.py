"""Where the parameters that utilities are not linear in may lie, and where to begin to look for them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.parameters import PARAMETERS

NEAR = 1e-3
"""A parameter this close to an end, on its line, is at it."""

REASONS = {
    ("length", "lower"): "no arm tells of another. A model without kernel says the same with one parameter less",
    ("length", "upper"): "all arms are taken for alike. Fix it, or say with other data how far arms tell of others",
    ("noise", "lower"): "one reward is taken to tell all of an arm. Fix it at a value that is known",
    ("noise", "upper"): "rewards are taken to tell nothing. Fix it at a value that is known",
    ("lapse", "lower"): "no choice looks like a lapse. Fix it at 0",
    ("lapse", "upper"): "all choices look like lapses. See whether the arms and rewards are the right ones",
    ("prior_mean", "lower"): "the choices put no bound on that side. Fix it",
    ("prior_mean", "upper"): "the choices put no bound on that side. Fix it",
    ("prior_sd", "lower"): "what is not known draws nobody. Fix exploration at 0",
    ("prior_sd", "upper"): "the choices put no bound on that side. Fix it",
    (
        "temperature",
        "lower",
    ): "however little an arm is preferred, it is taken. Fix it, or see whether length or noise are the right ones",
    ("temperature", "upper"): "means do not matter for the choices. No other parameter of the belief can be told then",
    ("stickiness", "lower"): "no arm is taken twice in a row. Fix it there, and read it as never",
    ("stickiness", "upper"): "the last arm is always taken again. Fix it there, and read it as always",
    ("distance", "lower"): "only the farthest arms are taken. Fix it there, and read it as always",
    ("distance", "upper"): "only the nearest arms are taken. Fix it there, and read it as always",
}
"""What it means that a parameter runs to an end, and what to do."""


@final
@dataclass(frozen=True)
class Box:
    """The ends of some parameters on their lines, and points between them to begin with."""

    names: tuple[str, ...]
    low: Array
    high: Array
    starts: tuple[Array, ...]

    @staticmethod
    def of(problem: Problem) -> Box:
        """Return the box of the parameters that are climbed along."""
        spans = {name: _span(name, problem) for name in problem.outer}
        low, high, _ = zip(*spans.values(), strict=True) if spans else ((), (), ())
        corners = itertools.product(*(places for _, _, places in spans.values()))
        return Box(problem.outer, np.array(low), np.array(high), tuple(np.array(corner) for corner in corners))

    def line(self, values: dict[str, float]) -> Array:
        """Return where values lie, moved into the box."""
        places = [PARAMETERS[name].line(values[name]) for name in self.names]
        return np.clip(np.array(places, dtype=np.float64), self.low, self.high)

    def values(self, places: Array) -> dict[str, float]:
        """Return the values at a place."""
        return {name: PARAMETERS[name].value(place) for name, place in zip(self.names, places.tolist(), strict=True)}

    def ends(self, places: Array) -> dict[str, str]:
        """Return which parameters are at an end, and at which."""
        at = zip(self.names, places - self.low < NEAR, self.high - places < NEAR, strict=True)
        return {name: "lower" if low else "upper" for name, low, high in at if low or high}


def _span(name: str, problem: Problem) -> tuple[float, float, list[float]]:
    """Return the ends of a parameter on its line, and where to begin."""
    if name == "length":
        near, far = problem.viewer.reach()
        places = [near / 3, near / 2**0.5, *np.geomspace(near / 2, far, 6)]  # short lengths have narrow tops
        return math.log(near / 10), math.log(far * 10), np.log(sorted(places)).tolist()
    if name == "noise":
        return math.log(1e-3), math.log(1e2), [math.log(0.03), math.log(0.5)]
    if name == "lapse":
        return PARAMETERS[name].line(1e-6), PARAMETERS[name].line(0.95), [PARAMETERS[name].line(0.05)]
    rewards = problem.trials.rewards * problem.trials.unit
    middle, spread = float(rewards.mean()), float(np.ptp(rewards)) or 1.0
    if name == "prior_mean":
        return middle - 10 * spread, middle + 10 * spread, [middle]
    return math.log(spread * 1e-3), math.log(spread * 1e3), [math.log(spread / 4)]
