"""Problems whose mean rewards are drawn from the prior that the rules know, and what the Bayesian bound says of them.

Regrets are in decisions: in units of what one loses on average if the arm of largest prior mean is always taken. So a
bound that is no less than the horizon says nothing, as with counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from corrbandits import theory
from corrbandits._core.checks import Array
from corrbandits.belief import Belief, Correlated
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Exponential
from corrbandits.policies import RULES, Policy
from corrbandits.simulation.simulator import simulate

LIMITS = ("Gittins", "HorizonUCL", "UCL", "GPUCB", "BayesUCB", "Greedy")
"""The rules whose index is the mean and so many deviations."""


class Drawn(NamedTuple):
    """A prior that mean rewards are drawn from, and how many decisions there are."""

    prior: Correlated
    horizon: int


class Lost(NamedTuple):
    """What a rule loses on average over draws, its error, and the bound, in decisions."""

    rule: str
    mean: float
    error: float
    limit: float


def drawn_problem(seed: int, number: int) -> Drawn:
    """Return a prior on 2 to 30 arms at random places, correlated by distance, and a horizon of 100 to 3,000."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, number)))
    places = rng.uniform(0, 10, (int(rng.integers(2, 31)), 2))
    kernel = float(np.exp(rng.uniform(-1.5, 3))) * Exponential(float(np.exp(rng.uniform(-1, 3))))
    horizon = int(np.exp(rng.uniform(math.log(100), math.log(3_000))))
    return Drawn(Correlated(mean=0.0, kernel=kernel, coordinates=places, noise_variance=1.0), horizon)


def compare_drawn(problem: Drawn, runs: int, seed: int) -> Iterator[Lost]:
    """Yield what each rule loses beside its bound; each run has mean rewards of its own, the same for all rules."""
    prior, horizon = problem
    players: dict[str, tuple[Policy, Belief]] = {name: (_made(name, horizon), prior) for name in LIMITS}
    regrets = _regrets(players, prior, horizon, runs, seed)
    for (name, (policy, _)), lost in zip(players.items(), regrets.T, strict=True):
        bound = theory.bayes_bound(prior, policy, horizon)
        unit = bound.learning_nothing / horizon
        error = float(lost.std(ddof=1)) / math.sqrt(runs)
        yield Lost(name, float(lost.mean()) / unit, error / unit, bound.total / unit)


def _made(name: str, horizon: int) -> Policy:
    """Return a rule with its usual parameters; one that knows the horizon is told it."""
    rule = RULES[name]
    made: Policy = rule(horizon=horizon) if any(field.name == "horizon" for field in fields(rule)) else rule()
    return made


def _regrets(players: dict[str, tuple[Policy, Belief]], prior: Correlated, horizon: int, runs: int, seed: int) -> Array:
    """Return the regret of each run and player."""
    means = prior.draws(np.random.default_rng(seed), runs).T
    bandits = [GaussianBandit(one, prior.noise_variance) for one in means]
    traces = (simulate(players, bandit, horizon, 1, seed + k, progress=False) for k, bandit in enumerate(bandits))
    return np.array([trace.regret.values[:, 0, -1] for trace in traces])
