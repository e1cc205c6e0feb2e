"""What every opponent does: it is asked for an arm and told its reward, in turn."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import numpy as np

from corrbandits._core.checks import Array

FIRST = 5
"""How many arms are taken before the first fit, where a library leaves that to its user."""


class Player(ABC):
    """Somebody who is asked for an arm and told its reward, in turn."""

    def __init__(self, coordinates: Array, seed: int, first: int = 0) -> None:
        low, high = coordinates.min(axis=0), coordinates.max(axis=0)
        self.unit = (coordinates - low) / np.where(high > low, high - low, 1.0)
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.arms: list[int] = []
        self.rewards: list[float] = []
        self._start = spread(self.unit, first, seed)

    def choose(self) -> int:
        """Return the next arm to take."""
        t = len(self.arms)
        return self._start[t] if t < len(self._start) else self._decide()

    def tell(self, arm: int, reward: float) -> None:
        """Take note of a reward."""
        self.arms.append(arm)
        self.rewards.append(reward)

    @abstractmethod
    def best(self) -> int:
        """Return the arm that it would name the best one."""

    @abstractmethod
    def _decide(self) -> int:
        """Return the next arm after the first ones."""

    def largest(self, scores: Array) -> int:
        """Return the arm of the largest score, any of them if several tie."""
        order = self.rng.permutation(len(scores))
        return int(order[np.argmax(scores[order])])


def spread(unit: Array, count: int, seed: int) -> list[int]:
    """Return arms next to scrambled Sobol points, no arm twice.

    >>> spread(np.linspace(0, 1, 5)[:, None], 2, seed=0)
    [2, 3]
    """
    from scipy.stats import qmc

    with warnings.catch_warnings():  # it wants powers of 2
        warnings.simplefilter("ignore", UserWarning)
        points = qmc.Sobol(unit.shape[1], rng=np.random.default_rng(seed)).random(min(count, len(unit)))
    free, chosen = np.ones(len(unit), dtype=bool), []
    for point in points:
        distance = np.where(free, np.square(unit - point).sum(axis=1), np.inf)
        chosen.append(int(distance.argmin()))
        free[chosen[-1]] = False
    return chosen
