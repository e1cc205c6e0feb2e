"""Arms whose mean rewards change with time, along a path that is known from its first step to its last."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits.environments.base import TIE_ULPS, Environment


@final
class ChangingBandit(Environment):
    """Arms with Gaussian rewards whose means follow a path: r = m_i(t) + sigma_i eps.

    `path` (T, N) has the mean rewards at t = 1 to T, a row per decision. Past T nothing is known of them, and a longer
    simulation is refused. Regret is against the best arm of each time. `cb.series` makes such bandits: means that
    drift, switch, follow the seasons or were recorded.

    >>> bandit = ChangingBandit(path=[[0.0, 1.0], [2.0, 1.0]], noise_variance=4.0)
    >>> bandit.gaps_at(1), bandit.gaps_at(2), bandit.reward(0, noise=0.5, t=2)
    (array([1., 0.]), array([0., 1.]), 3.0)
    """

    def __init__(
        self, path: Any, noise_variance: Any, coordinates: Any = None, shape: tuple[int, ...] | None = None
    ) -> None:
        rows = checks.finite("path", path)
        if rows.ndim != 2 or not rows.size:
            raise ValueError(
                f"path must be a matrix with a row per time and a column per arm, but its shape is {rows.shape}."
            )
        self.path = frozen(np.ascontiguousarray(rows))
        super().__init__(self.path[0], coordinates, shape)
        self.noise_variance = frozen(checks.noise(noise_variance, self.arms))

    path: Array
    """The mean rewards, (T, N)."""

    @property
    def horizon(self) -> int:
        """T, how many decisions there are mean rewards for."""
        return len(self.path)

    def means_at(self, t: int) -> Array:
        """Return the mean rewards at time t, from 1 to T."""
        t = checks.integer("t", t, least=1)
        if t > self.horizon:
            raise ValueError(
                f"mean rewards are known up to time {self.horizon:,}, got t = {t:,}. Take a shorter horizon or a "
                "longer path."
            )
        row: Array = self.path[t - 1]
        return row

    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        """Return standard normal noise."""
        return rng.standard_normal(horizon)

    def reward(self, arm: int, noise: float, *, t: int = 1) -> float:
        """Return m_i(t) + sigma_i eps."""
        arm = checks.arm(arm, self.arms)
        return float(self.means_at(t)[arm] + np.sqrt(self.noise_variance[arm]) * noise)

    def losses(self, arms: Integers, first: int = 1) -> Array:
        """Return how much less than the best arm's of its time each arm's mean reward is, taken from time `first` on.

        >>> ChangingBandit([[0.0, 1.0], [2.0, 1.0]], noise_variance=4.0).losses(np.array([1, 1]))
        array([0., 1.])
        """
        times = slice(first - 1, first - 1 + len(arms))
        best, rounding = self._best
        with np.errstate(over="ignore"):
            gaps = best[times] - self.path[times][np.arange(len(arms)), arms]
        return np.where(gaps <= rounding[times], 0.0, gaps)

    @cached_property
    def _best(self) -> tuple[Array, Array]:
        """The largest mean of each time, and the gap that is only rounding, as in `gaps_of`."""
        return self.path.max(axis=1), TIE_ULPS * np.spacing(np.abs(self.path).max(axis=1))

    def __repr__(self) -> str:
        low, high = self.path.min(), self.path.max()
        return f"<ChangingBandit with {self.arms} arms, means {low:g} to {high:g} over {self.horizon:,} decisions>"
