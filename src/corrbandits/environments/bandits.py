"""Arms with fixed mean rewards: Gaussian rewards, rewards with heavier tails, or rewards 0 and 1."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits.environments.base import Environment


class NoisyBandit(Environment):
    """Arms whose rewards are r = m_i + sigma_i eps, the noise eps being of variance 1."""

    def __init__(
        self, means: Any, noise_variance: Any, coordinates: Any = None, shape: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(means, coordinates, shape)
        self.noise_variance = frozen(checks.noise(noise_variance, self.arms))

    def reward(self, arm: int, noise: float, *, t: int = 1) -> float:
        """Return m_i + sigma_i eps."""
        arm = checks.arm(arm, self.arms)
        return float(self.means[arm] + np.sqrt(self.noise_variance[arm]) * noise)


@final
class GaussianBandit(NoisyBandit):
    """Arms with Gaussian rewards (section 3): r = m_i + sigma_i eps.

    >>> bandit = GaussianBandit(means=[1.0, 3.0], noise_variance=4.0)
    >>> bandit.gaps, bandit.reward(1, noise=0.5)
    (array([2., 0.]), 4.0)
    """

    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        """Return standard normal noise."""
        return rng.standard_normal(horizon)


@final
class StudentBandit(NoisyBandit):
    """Arms whose rewards have heavy tails: r = m_i + sigma_i eps, eps Student's t scaled to variance 1.

    The fewer the degrees of freedom, the heavier the tails; above 2, or there is no variance.

    >>> bandit = StudentBandit(means=[1.0, 3.0], noise_variance=4.0, degrees=3.0)
    >>> bandit.reward(1, noise=0.5)
    4.0
    """

    def __init__(
        self,
        means: Any,
        noise_variance: Any,
        coordinates: Any = None,
        shape: tuple[int, ...] | None = None,
        *,
        degrees: float = 3.0,
    ) -> None:
        super().__init__(means, noise_variance, coordinates, shape)
        self.degrees = checks.number("degrees", degrees, above=2)

    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        """Return noise of Student's law, of variance 1."""
        return math.sqrt(1 - 2 / self.degrees) * rng.standard_t(self.degrees, horizon)


@final
class BernoulliBandit(Environment):
    """Arms with rewards 1 (with probability m_i) or 0 (section 2.2).

    >>> BernoulliBandit(means=[0.2, 0.7]).reward(1, noise=0.5)
    1.0
    """

    def __init__(self, means: Any, coordinates: Any = None, shape: tuple[int, ...] | None = None) -> None:
        super().__init__(means, coordinates, shape)
        if not ((self.means >= 0) & (self.means <= 1)).all():
            raise ValueError(
                f"the means of 0/1 rewards must lie in [0, 1], but they run to {np.abs(self.means).max():g}."
            )
        self.noise_variance = frozen(self.means * (1 - self.means))

    def noise(self, rng: np.random.Generator, horizon: int) -> Array:
        """Return noise uniform on [0, 1)."""
        return rng.random(horizon)

    def reward(self, arm: int, noise: float, *, t: int = 1) -> float:
        """Return 1 if the noise is below m_i, else 0."""
        return float(noise < self.means[checks.arm(arm, self.arms)])
