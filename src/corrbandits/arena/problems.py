"""The problems that rules are measured on: families whose parameters are drawn from continuous laws.

A problem has a family and a number. Everything about it follows from these and from the seed: arms, mean rewards,
noise. Rules are tuned on the seeds of `TUNING` and reported on others, chosen when the report is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.draws import covariance_root
from corrbandits.belief import Belief, Correlated, Vague
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Exponential, Matern32, Matern52, SquaredExponential, Stationary

VERSION = 1
"""Raised when a family changes: results of different versions do not compare."""

TUNING = range(1_000, 2_000)
"""Seeds that rules and defaults may be tuned on; no report uses them."""

Random = np.random.Generator


@final
@dataclass(frozen=True)
class Problem:
    """Arms whose truth is known: their mean rewards were drawn from a Gaussian law, or from something near it."""

    family: str
    coordinates: Array
    means: Array
    mean: float
    """Of the law that mean rewards were drawn from."""

    covariance: Array
    noise_sd: float

    def environment(self) -> GaussianBandit:
        """Return the arms."""
        return GaussianBandit(self.means, self.noise_sd**2, self.coordinates)

    def told_everything(self) -> Belief:
        """Return the prior that mean rewards were drawn from."""
        return Correlated(mean=self.mean, covariance=self.covariance, noise_variance=self.noise_sd**2)

    def told_nothing(self) -> Belief:
        """Return the belief that knows where the arms lie, and nothing else."""
        return Vague(coordinates=self.coordinates)


Draw = Callable[[Random], tuple[Array, Array, float]]
"""Returns coordinates, a covariance of variance about 1, and the deviation of the noise."""


def _grid(side: int) -> Array:
    return np.array([(x, y) for x in range(side) for y in range(side)], dtype=np.float64)


def _log_uniform(rng: Random, low: float, high: float) -> float:
    return float(low * (high / low) ** rng.random())


def _stationary(
    kind: type[Stationary],
    lengths: tuple[float, float],
    ratios: tuple[float, float],
    places: Callable[[Random], Array],
    *,
    sites: tuple[float, float] = (0.0, 0.0),
) -> Draw:
    """Return a family of one kernel: lengths in units of the nearest neighbours' distance, noise variance ratios."""

    def draw(rng: Random) -> tuple[Array, Array, float]:
        where = places(rng)
        gaps = np.sqrt(np.square(where[:, None] - where).sum(axis=2)) + 1e9 * np.eye(len(where))
        step = float(np.median(gaps.min(axis=1)))
        site = sites[0] + (sites[1] - sites[0]) * rng.random()
        K = kind(step * _log_uniform(rng, *lengths))(where)
        return where, (1 - site) * K + site * np.eye(len(where)), math.sqrt(_log_uniform(rng, *ratios))

    return draw


def _scattered(low: int, high: int) -> Callable[[Random], Array]:
    return lambda rng: 10 * rng.random((int(rng.integers(low, high + 1)), 2))


def _chain(low: int, high: int) -> Callable[[Random], Array]:
    return lambda rng: np.arange(float(rng.integers(low, high + 1)))[:, None]


def _clustered(rng: Random) -> Array:
    centres = 10 * rng.random((8, 2))
    return np.concatenate([centre + 0.6 * rng.standard_normal((int(rng.integers(5, 16)), 2)) for centre in centres])


def _independent(rng: Random) -> tuple[Array, Array, float]:
    where = _grid(10)
    return where, np.eye(100), math.sqrt(_log_uniform(rng, 0.2, 5.0))


def _trend(rng: Random) -> tuple[Array, Array, float]:
    where = _grid(10)
    across = (where - 4.5) / 4.5
    K = 0.5 * across @ across.T + 0.5 * Exponential(_log_uniform(rng, 1.0, 4.0))(where)
    return where, K, math.sqrt(_log_uniform(rng, 0.2, 5.0))


_USUAL = (0.2, 5.0)
FAMILIES: dict[str, Draw] = {
    "rough grid": _stationary(Exponential, (1.0, 6.0), _USUAL, lambda _: _grid(10)),
    "smooth grid": _stationary(Matern52, (1.0, 4.0), _USUAL, lambda _: _grid(10)),
    "very smooth grid": _stationary(SquaredExponential, (0.8, 3.0), _USUAL, lambda _: _grid(10)),
    "little noise": _stationary(Matern32, (1.0, 4.0), (0.02, 0.2), lambda _: _grid(10)),
    "much noise": _stationary(Matern32, (1.0, 4.0), (5.0, 30.0), lambda _: _grid(10)),
    "independent": _independent,
    "site effects": _stationary(Exponential, (1.5, 6.0), _USUAL, lambda _: _grid(10), sites=(0.2, 0.8)),
    "scattered": _stationary(Matern32, (1.0, 6.0), _USUAL, _scattered(30, 150)),
    "chain": _stationary(Matern52, (1.0, 15.0), _USUAL, _chain(30, 150)),
    "clusters": _stationary(Exponential, (2.0, 20.0), _USUAL, _clustered, sites=(0.0, 0.5)),
    "trend": _trend,
    "large grid": _stationary(Matern32, (1.0, 8.0), _USUAL, lambda _: _grid(18)),
}
"""Every family by its name."""


def problem(family: str, seed: int, number: int) -> Problem:
    """Return one problem of a family.

    >>> problem("rough grid", seed=1, number=0).coordinates.shape
    (100, 2)
    """
    key = list(FAMILIES).index(family)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(VERSION, key, number)))
    where, covariance, noise = FAMILIES[family](rng)
    scale, mean = _log_uniform(rng, 0.01, 100.0), 100 * rng.standard_normal()
    means = mean + scale * (covariance_root(covariance) @ rng.standard_normal(len(where)))
    return Problem(family, where, means, mean, scale**2 * covariance, scale * noise)
