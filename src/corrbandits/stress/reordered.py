"""The arms of an environment in another order."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.environments import BernoulliBandit, ChangingBandit, Environment, GaussianBandit, reward_at


def reordered(environment: Environment, order: Integers) -> Environment:
    """Return an environment whose arm i is arm order[i] of another.

    >>> reordered(GaussianBandit([1.0, 2.0, 3.0], 1.0), np.array([2, 0, 1])).means
    array([3., 1., 2.])
    """
    match environment:
        case GaussianBandit():
            return GaussianBandit(environment.means[order], environment.noise_variance[order])
        case BernoulliBandit():
            return BernoulliBandit(environment.means[order])
        case ChangingBandit():
            return ChangingBandit(environment.path[:, order], environment.noise_variance[order])
    return _Reordered(environment, order)


@final
class _Reordered(Environment):
    """Arms of any kind in another order."""

    def __init__(self, environment: Environment, order: Integers) -> None:
        super().__init__(environment.means[order])
        self.noise_variance = environment.noise_variance[order]
        self._environment, self._order = environment, order

    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        return self._environment.noise(rng, horizon)

    @property
    def changes(self) -> bool:
        return self._environment.changes

    @property
    def horizon(self) -> int | None:
        return self._environment.horizon

    def means_at(self, t: int) -> Array:
        return self._environment.means_at(t)[self._order]

    def reward(self, arm: int, noise: float, *, t: int = 1) -> float:
        return reward_at(self._environment, int(self._order[arm]), noise, t)
