"""What every environment offers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen

TIE_ULPS = 8
"""Means this many units in the last place of the largest apart are the same: a draw rounds equal ones by a few."""


class Environment(ABC):
    """Arms with mean rewards, fixed unless `means_at` is defined, perhaps somewhere in space.

    `means` (N,) are the mean rewards m_i; `noise_variance` (N,) the variances of a reward; `coordinates` (N, d)
    where the arms lie, or None; `shape` the rows and columns of a grid in which the arms are read row by row, or
    None. Copies and pickles are read-only too.

    A subclass must define `noise` and `reward`. One whose mean rewards change with time also defines `means_at`, and
    its `reward` takes the time as `t`; `means` are then those at t = 1.
    """

    means: Array
    noise_variance: Array

    def __init__(self, means: Any, coordinates: Any = None, shape: tuple[int, ...] | None = None) -> None:
        self.means = checks.finite("means", means)
        if self.means.ndim != 1 or not self.means.size:
            raise ValueError(f"means must be a list of numbers, one per arm, but its shape is {self.means.shape}.")
        frozen(self.means)
        self.coordinates = None if coordinates is None else frozen(checks.points("coordinates", coordinates))
        if self.coordinates is not None and len(self.coordinates) != self.arms:
            raise ValueError(f"coordinates must have {self.arms} rows, one per arm, got {len(self.coordinates)}.")
        self.shape = None if shape is None else _grid_shape(shape, self.arms)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():  # an array forgets in a pickle that it is read-only
            if isinstance(value, np.ndarray):
                frozen(value)
        self.__dict__.update(state)

    @property
    def arms(self) -> int:
        """The number of arms, N."""
        return self.means.size

    @cached_property
    def gaps(self) -> Array:
        """Delta_i: how much less than the best arm's each arm's mean reward is; 0 where only rounding differs."""
        return frozen(gaps_of(self.means))

    @cached_property
    def optimal(self) -> npt.NDArray[np.bool_]:
        """Which arms are best: those whose gap is 0; several, if they tie."""
        return frozen(self.gaps == 0)

    @property
    def horizon(self) -> int | None:
        """How many decisions there are mean rewards for; None if for any number."""
        return None

    @abstractmethod
    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        """Return the noise of each time step, drawn before any arm is chosen."""

    @abstractmethod
    def reward(self, arm: int, noise: float, *, t: int = 1) -> float:
        """Return the reward of an arm that is chosen at time t, when the noise is this.

        Where mean rewards do not change, t is not passed: a subclass need not take it.
        """

    def means_at(self, t: int) -> Array:
        """Return the mean rewards at time t, the number of the decision, from 1 on."""
        return self.means

    @property
    def changes(self) -> bool:
        """Whether mean rewards change with time: whether the class defines `means_at`."""
        return type(self).means_at is not Environment.means_at

    def gaps_at(self, t: int) -> Array:
        """Return how much less than the best arm's at time t each arm's mean reward at that time is."""
        return gaps_of(self.means_at(t)) if self.changes else self.gaps

    def losses(self, arms: Integers, first: int = 1) -> Array:
        """Return how much less than the best arm's of its time each arm's mean reward is, taken from time `first` on.

        >>> from corrbandits import GaussianBandit
        >>> GaussianBandit([0.0, 2.0, 3.0], noise_variance=1.0).losses(np.array([1, 2, 0]))
        array([1., 0., 3.])
        """
        if not self.changes:
            return np.asarray(self.gaps[arms])
        return np.array([self.gaps_at(t)[arm] for t, arm in enumerate(arms.tolist(), start=first)])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self.arms} arms, means {self.means.min():g} to {self.means.max():g}>"


def reward_at(environment: Environment, arm: int, noise: float, t: int) -> float:
    """Return the reward of an arm at time t; an environment that does not change is not told the time."""
    return environment.reward(arm, noise, t=t) if environment.changes else environment.reward(arm, noise)


def gaps_of(means: Array) -> Array:
    """Return how far each mean is below the largest; less than a few units in the last place is taken for rounding.

    >>> gaps_of(np.array([0.3, 0.1 + 0.2, 0.1]))   # 0.1 + 0.2 is above 0.3 by one unit in the last place
    array([0. , 0. , 0.2])
    """
    with np.errstate(over="ignore"):
        gaps = means.max() - means
    return np.where(gaps <= TIE_ULPS * np.spacing(np.abs(means).max()), 0.0, gaps)


def _grid_shape(shape: Any, arms: int) -> tuple[int, ...]:
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise TypeError(f"shape must be the sides of a grid, such as (10, 10), got {shape!r:.60}.")
    sides = tuple(checks.integer("shape", n, least=1) for n in shape)
    if (cells := math.prod(sides)) != arms:
        raise ValueError(f"a grid of shape {sides} has {cells} cells, but there are {arms} arms.")
    return sides
