"""The work that is timed: a surface, a prior, a rule and the noise, the same for every contestant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from corrbandits import CorrelatedUCL, Exponential, GaussianBandit, Policy, simulate
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, GaussianBelief, Independent, Vague
from corrbandits.environments import landscapes

VARIANCE, LENGTH, NOISE_VARIANCE, MEAN = 10.0, 4.0, 10.0, 30.0
A = 3.284
WIDE = 300.0
"""A value of a at which the limits are so wide that the arm changes at every decision."""

KERNEL = VARIANCE * Exponential(LENGTH)
SEED = 0


@dataclass(frozen=True)
class Problem:
    """One policy on one surface for so many decisions."""

    environment: GaussianBandit
    prior: GaussianBelief
    policy: Policy
    horizon: int

    @property
    def arms(self) -> int:
        """The number of arms."""
        return self.environment.arms

    @cached_property
    def widths(self) -> Array:
        """How many standard deviations each decision's limit lies above the mean."""
        return np.asarray(self.policy.width(np.arange(1, self.horizon + 1), self.arms))

    def eps(self, run: int = 0) -> Array:
        """Return the noise that `simulate` draws for a run."""
        stream, _ = np.random.SeedSequence(SEED, spawn_key=(run,)).spawn(2)
        return self.environment.noise(np.random.default_rng(stream), self.horizon)

    def play(self, runs: int = 1, threads: int = 1) -> Integers:
        """Return the arms that our compiled engine takes, run by run."""
        trace = simulate(
            {"ours": (self.policy, self.prior)},
            self.environment,
            self.horizon,
            runs,
            seed=SEED,
            engine="compiled",
            threads=threads,
            progress=False,
        )
        return np.asarray(trace.data["arms"].values[0])


def correlated(rows: int, columns: int, horizon: int, *, factor: bool = True, a: float = A) -> Problem:
    """Return the paper's problem on its own surface (10 x 10), or on a draw from the prior's kernel (other sizes).

    The prior's means differ a little: with equal ones a grid's symmetry makes limits tie, and rounding would decide.
    """
    if (rows, columns) == (10, 10):
        surface = landscapes.two_peaks(NOISE_VARIANCE)
    else:
        where = landscapes.grid(rows, columns)
        surface = landscapes.draw(
            KERNEL, where, noise_variance=NOISE_VARIANCE, seed=1, mean=MEAN, shape=(rows, columns)
        )
    mean = MEAN + np.random.default_rng(2).standard_normal(surface.arms)
    prior = Correlated(mean=mean, kernel=KERNEL, coordinates=surface.coordinates, noise_variance=NOISE_VARIANCE)
    return Problem(surface, prior, CorrelatedUCL(a=a, factor=factor), horizon)


def untold(rows: int, columns: int, horizon: int, policy: Policy) -> Problem:
    """Return the same problem for a rule whose belief is told no more than where the arms lie.

    >>> from corrbandits import HorizonUCL
    >>> untold(3, 3, 10, HorizonUCL(10)).arms
    9
    """
    problem = correlated(rows, columns, horizon)
    told: Any = Vague(coordinates=problem.environment.coordinates)  # no Gaussian belief: the peers do not play it
    return replace(problem, prior=told, policy=policy)


def independent(arms: int, horizon: int, policy: Policy) -> Problem:
    """Return unrelated arms of which nothing is known beforehand."""
    means = MEAN + np.sqrt(VARIANCE) * np.random.default_rng(1).standard_normal(arms)
    prior = Independent(variance=np.inf, noise_variance=NOISE_VARIANCE, arms=arms)
    return Problem(GaussianBandit(means, NOISE_VARIANCE), prior, policy, horizon)
