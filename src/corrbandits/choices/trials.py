"""All trials of a person one after the other, as the compiled loops take them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.choices.model import Model
from corrbandits.choices.people import Person


@final
@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of a person under a model: what was taken and shown, which of it was chosen, and after what.

    name       shape    meaning
    arms       (T,)     arm of each trial, of all rounds
    rewards    (T,)     reward of each, over `unit`
    starts     (R+1,)   where each round begins
    chosen     (n,)     which trials were chosen
    last       (n,)     the arm of the trial before each of them; -1 if there is none
    widths     (T,)     how many deviations the bonus is
    cooling    (n,)     1, or log t
    """

    arms: Integers
    rewards: Array
    starts: Integers
    chosen: Integers
    last: Integers
    widths: Array
    cooling: Array
    unit: float

    @staticmethod
    def of(person: Person, model: Model) -> Trials:
        """Return the trials of a person."""
        sizes = [each.arms.size for each in person.rounds]
        starts = np.cumsum([0, *sizes]).astype(np.int64)
        arms = np.concatenate([each.arms for each in person.rounds] or [np.empty(0, np.int64)])
        rewards = np.concatenate([each.rewards for each in person.rounds] or [np.empty(0)])
        chosen: list[int] = []
        last: list[int] = []
        times: list[int] = []
        widths = np.zeros(arms.size)
        for start, each in zip(starts.tolist(), person.rounds, strict=False):
            first, end = start + each.given, start + each.arms.size
            chosen += range(first, end)
            last += [int(arms[t - 1]) if t > start else -1 for t in range(first, end)]
            times += range(1, each.choices + 1)
            if model.compiled and each.choices:
                widths[first:end] = model.widths(each.horizon, person.arms)[: each.choices]
        unit = unit_of(rewards)
        return Trials(
            arms,
            rewards / unit,
            starts,
            np.array(chosen, np.int64),
            np.array(last, np.int64),
            widths,
            np.log(np.array(times, np.float64)) if model.cooling else np.ones(len(times)),
            unit,
        )


SMALLEST = 1e-300
"""One over it, and over a thousandth of it, are doubles."""


def unit_of(rewards: Array) -> float:
    """Return a power of two near the largest reward, so that no product of two overflows; 1 if all are 0.

    Refuse rewards so small that one over them is no double.

    >>> unit_of(np.array([0.0, -100.0])), unit_of(np.zeros(2))
    (64.0, 1.0)
    """
    largest = float(np.abs(rewards).max(initial=0.0))
    if 0 < largest < SMALLEST:
        raise ValueError(f"rewards must be larger than {SMALLEST:g}, or 0, got {largest:g}. Give them in another unit.")
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
