"""The true surfaces: their mean rewards at all times, and their arms in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.environments import BernoulliBandit, ChangingBandit, Environment, GaussianBandit, reward_at


def true_means(surface: Environment, horizon: int) -> Array:
    """Return the mean rewards of a surface as rows: one if they stay, one for each time up to the horizon if not.

    >>> true_means(ChangingBandit([[0.0, 1.0], [2.0, 1.0], [3.0, 3.0]], 1.0), horizon=2)
    array([[0., 1.],
           [2., 1.]])
    """
    if not surface.changes:
        return surface.means[None]
    if isinstance(surface, ChangingBandit):
        return surface.path[:horizon]
    return np.array([surface.means_at(t) for t in range(1, horizon + 1)])


def ranks(means: Array) -> Integers:
    """Return the places of arms sorted by their means, at the first time and then at each later one; equals share one.

    >>> ranks(np.array([[2.0, 1.0, 1.0, 2.0], [5.0, 4.0, 3.0, 5.0]]))
    array([2, 1, 0, 2])
    """
    return np.unique(means.T, axis=0, return_inverse=True)[1].reshape(-1)


def spread_of(surfaces: Sequence[Environment], horizon: int) -> float:
    """Return the standard deviation of the true means of all times, in the mean over surfaces, in three digits."""
    spread = float(np.mean([true_means(surface, horizon).std() for surface in surfaces]))
    return float(f"{spread:.3g}") if spread > 0 else 1.0


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
