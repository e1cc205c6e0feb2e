"""The problems that rules are measured on: families whose parameters are drawn from continuous laws.

A problem has a family and a number. Everything about it follows from these and from the seed: arms, mean rewards,
noise. Its arms stand in random order, so that the order of the list tells nobody anything. Rules are tuned on the
seeds of `TUNING` and reported on others, chosen when the report is made.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.draws import covariance_root
from corrbandits.belief import Belief, Correlated, Drifting, Vague, evidence
from corrbandits.environments import ChangingBandit, Environment, GaussianBandit, StudentBandit, landscapes
from corrbandits.kernels import Exponential, Matern32, Matern52, SquaredExponential, Stationary

VERSION = 2
"""Raised when a family changes: results of different versions do not compare."""

TUNING = range(1_000, 2_000)
"""Seeds that rules and defaults may be tuned on; no report uses them."""

Random = np.random.Generator


@final
@dataclass(frozen=True)
class Change:
    """How mean rewards change with time."""

    scale: float
    """After so many decisions 37 % is left of the correlation of a mean reward with itself."""

    path: Callable[[int], Array]
    """Returns the mean rewards at each of so many decisions, a row each."""


@final
@dataclass(frozen=True)
class Problem:
    """Arms whose truth is known: their mean rewards were drawn from a Gaussian law, or are those of a real field."""

    coordinates: Array | None
    means: Array
    """At the first decision, if they change."""

    mean: float
    """Of the law that mean rewards were drawn from."""

    scale: float
    """The deviation of mean rewards, the unit of regrets."""

    noise_sd: float
    prior: Callable[[float], Array]
    """The covariance of that law, lengths multiplied by the argument."""

    degrees: float = math.inf
    """Of freedom of the noise: Gaussian, or Student's t of the same variance."""

    change: Change | None = None
    """None if mean rewards stay."""

    family: str = ""
    stream: int = 0
    """The seed of the noise."""

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the law that mean rewards were drawn from."""
        return self.prior(1.0)

    def environment(self, horizon: int = 1) -> Environment:
        """Return the arms, for so many decisions."""
        variance = self.noise_sd**2
        if self.change is not None:
            return ChangingBandit(self.change.path(horizon), variance, self.coordinates)
        if math.isinf(self.degrees):
            return GaussianBandit(self.means, variance, self.coordinates)
        return StudentBandit(self.means, variance, self.coordinates, degrees=self.degrees)

    def told_everything(self) -> Belief:
        """Return the prior that mean rewards were drawn from."""
        return self.told()

    def told(self, *, mean: float = 0.0, sd: float = 1.0, length: float = 1.0, noise: float = 1.0) -> Belief:
        """Return that prior made wrong: its mean by so many deviations, the others by a factor."""
        law = Correlated(
            mean=self.mean + mean * self.scale,
            covariance=sd**2 * (self.covariance if length == 1.0 else self.prior(length)),
            noise_variance=(noise * self.noise_sd) ** 2,
        )
        return law if self.change is None else Drifting(prior=law, scale=self.change.scale)

    def told_nothing(self) -> Belief:
        """Return the belief that knows where the arms lie, and nothing else; or that they may change."""
        where: dict[str, Any] = {"coordinates": self.coordinates}
        where = {"arms": len(self.means)} if self.coordinates is None else where
        return Vague(**where, drift=None if self.change is None else True)


Make = Callable[[Random], Problem]
"""Makes a problem of a family."""

Places = Callable[[Random], Array]
"""Draws where arms lie."""

Span = tuple[float, float]


def problem(family: str, seed: int, number: int, families: Mapping[str, Make] | None = None) -> Problem:
    """Return one problem of a family; all who play it meet the same noise.

    >>> problem("rough grid", seed=1, number=0).coordinates.shape
    (100, 2)
    """
    known = FAMILIES if families is None else families
    if family not in known:
        raise ValueError(f"a family must be one of {', '.join(known)}, got {family!r:.60}.")
    entropy = np.random.SeedSequence(seed, spawn_key=(VERSION, zlib.crc32(family.encode()), number))
    noise, truth = entropy.spawn(2)
    made = known[family](np.random.default_rng(truth))
    return dataclasses.replace(made, family=family, stream=int(noise.generate_state(1, np.uint64)[0] >> np.uint64(1)))


def log_uniform(rng: Random, low: float, high: float) -> float:
    """Return a number between two, its logarithm drawn evenly."""
    return float(low * (high / low) ** rng.random())


def fitted(where: Array, means: Array, noise_sd: float) -> Problem:
    """Return a problem whose mean rewards were not drawn from any law: its prior is the one fitted to all of them."""
    fit = cache(lambda: evidence.fit(where, np.arange(len(means)), means, mean=float(means.mean())))

    def prior(stretch: float) -> Array:
        found = fit()
        kernel = found.variance.value * Exponential(found.length.value * stretch)
        return np.asarray(kernel(where) + found.noise_variance.value * np.eye(len(means)))

    return Problem(where, means, float(means.mean()), float(means.std()), noise_sd, prior)


USUAL: Span = (0.2, 5.0)
"""Variance of the noise over that of mean rewards."""


def _drawn(
    rng: Random,
    prior: Callable[[float], Array],
    where: Array,
    ratios: Span,
    units: Span = (0.01, 100.0),
    offsets: Span | None = None,
) -> Problem:
    """Return a problem of a prior in units of its own: far from 0 by so many deviations, or else somewhere near it."""
    noise, scale = math.sqrt(log_uniform(rng, *ratios)), log_uniform(rng, *units)
    mean = 100 * rng.standard_normal() if offsets is None else scale * log_uniform(rng, *offsets) * rng.choice((-1, 1))
    covariance = prior(1.0)
    means = mean + scale * (covariance_root(covariance) @ rng.standard_normal(len(where)))
    deviation = scale * float(np.sqrt(covariance.diagonal().mean()))
    return Problem(where, means, float(mean), deviation, scale * noise, lambda stretch: scale**2 * prior(stretch))


def _stationary(
    kind: type[Stationary],
    lengths: Span,
    places: Places,
    ratios: Span = USUAL,
    *,
    sites: Span = (0.0, 0.0),
    degrees: float = math.inf,
    **units: Any,
) -> Make:
    """Return a family of one kernel: lengths in units of the nearest neighbours' distance, shares of single sites."""

    def make(rng: Random) -> Problem:
        where = rng.permutation(places(rng))
        gaps = np.sqrt(np.square(where[:, None] - where).sum(axis=2)) + 1e9 * np.eye(len(where))
        length = float(np.median(gaps.min(axis=1))) * log_uniform(rng, *lengths)
        site = sites[0] + (sites[1] - sites[0]) * rng.random()

        def prior(stretch: float) -> Array:
            return np.asarray((1 - site) * kind(length * stretch)(where) + site * np.eye(len(where)))

        return dataclasses.replace(_drawn(rng, prior, where, ratios, **units), degrees=degrees)

    return make


def on_grid(rng: Random) -> Problem:
    """Return a problem on a grid of 49 arms, of the kind that others are made of."""
    return _stationary(Matern32, (1.0, 4.0), _grid(7))(rng)


def _grid(side: int) -> Places:
    return lambda _: landscapes.grid(side, side)


def _scattered(low: int, high: int) -> Places:
    return lambda rng: 10 * rng.random((int(log_uniform(rng, low, high + 1)), 2))


def _chain(low: int, high: int) -> Places:
    return lambda rng: np.arange(float(rng.integers(low, high + 1)))[:, None]


def _clustered(rng: Random) -> Array:
    centres = 10 * rng.random((8, 2))
    return np.concatenate([centre + 0.6 * rng.standard_normal((int(rng.integers(5, 16)), 2)) for centre in centres])


def _independent(rng: Random) -> Problem:
    """Return arms that say nothing of each other: there is no length to be wrong about."""
    return _drawn(rng, lambda _: np.eye(100), rng.permutation(landscapes.grid(10, 10)), USUAL)


def _trend(rng: Random) -> Problem:
    where = rng.permutation(landscapes.grid(10, 10))
    across, length = (where - 4.5) / 4.5, log_uniform(rng, 1.0, 4.0)
    slope = 0.5 * across @ across.T
    return _drawn(rng, lambda stretch: slope + 0.5 * Exponential(length * stretch)(where), where, USUAL)


def _paper(rng: Random) -> Problem:
    surface = landscapes.two_peaks()
    assert surface.coordinates is not None
    order = rng.permutation(surface.arms)
    return fitted(surface.coordinates[order], surface.means[order], float(np.sqrt(surface.noise_variance[0])))


FAMILIES: dict[str, Make] = {
    "rough grid": _stationary(Exponential, (1.0, 6.0), _grid(10)),
    "smooth grid": _stationary(Matern52, (1.0, 4.0), _grid(10)),
    "very smooth grid": _stationary(SquaredExponential, (0.8, 3.0), _grid(10)),
    "little noise": _stationary(Matern32, (1.0, 4.0), _grid(10), (0.02, 0.2)),
    "much noise": _stationary(Matern32, (1.0, 4.0), _grid(10), (5.0, 30.0)),
    "independent": _independent,
    "site effects": _stationary(Exponential, (1.5, 6.0), _grid(10), sites=(0.2, 0.8)),
    "scattered": _stationary(Matern32, (1.0, 6.0), _scattered(30, 150)),
    "chain": _stationary(Matern52, (1.0, 15.0), _chain(30, 150)),
    "clusters": _stationary(Exponential, (2.0, 20.0), _clustered, sites=(0.0, 0.5)),
    "trend": _trend,
    "other units": _stationary(Matern32, (1.0, 4.0), _grid(10), units=(1e-8, 1e8), offsets=(10.0, 1e5)),
    "heavy tails": _stationary(Matern32, (1.0, 4.0), _grid(10), degrees=3.0),
    "large grid": _stationary(Matern32, (1.0, 8.0), _grid(18)),
    "many arms": _stationary(Matern32, (1.0, 10.0), _scattered(300, 1_000)),
    "paper's surface": _paper,
}
"""Every family by its name."""
