"""The problems of the audit: random ones, and some like the counterexample to Theorem 2 as printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, GaussianBelief, Independent
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Exponential
from corrbandits.paper.counterexample import COUNTEREXAMPLE_A, counterexample
from corrbandits.policies import UCL, CorrelatedUCL

LEAST_K = math.sqrt(2 * math.pi * math.e)

Player = tuple[UCL | CorrelatedUCL, GaussianBelief]


@final
@dataclass(frozen=True)
class Problem:
    """One problem: what is true, how long it lasts, the policies with their priors, and the arms to watch."""

    name: str
    environment: GaussianBandit
    horizon: int
    players: dict[str, Player]
    watched: tuple[int, ...]
    seed: int


def random_problem(seed: int, number: int) -> Problem:
    """Return a problem of 2 to 30 arms: good and bad priors, correlated and not, horizons of 100 to 3,000."""
    source = np.random.SeedSequence(seed, spawn_key=(0, number))
    rng = np.random.default_rng(source)
    arms, horizon = int(rng.integers(2, 31)), int(np.exp(rng.uniform(math.log(100), math.log(3_000))))
    noise = float(np.exp(rng.uniform(-2, 2)))
    S = noise * float(np.exp(rng.uniform(-1.5, 3))) * _correlations(rng, arms)
    # the truth: a draw from the prior's covariance, or unrelated to it
    scale, root = math.sqrt(noise) * float(np.exp(rng.uniform(-0.5, 2.5))), np.linalg.cholesky(S)
    means = root @ rng.standard_normal(arms) if rng.random() < 0.5 else rng.normal(0, scale, arms)
    # the prior's mean: right, nearly, off by as much as it admits, or by far more; or the same for every arm
    off = rng.choice([0.0, 0.1, 0.5, 1.0, 3.0, math.nan])
    wrong = root @ rng.standard_normal(arms) if rng.random() < 0.5 else rng.normal(0, math.sqrt(S[0, 0]), arms)
    mean = np.full(arms, means.mean()) if math.isnan(off) else means + off * wrong
    environment = GaussianBandit(means, noise)
    watched = tuple(np.flatnonzero(environment.gaps > 0).tolist())
    return Problem(f"random {number}", environment, horizon, _players(rng, mean, S, noise), watched, _seed(source))


def counterexample_problem(seed: int, number: int) -> Problem:
    """Return a problem like the counterexample to Theorem 2 as printed: sizes, correlation, gap and horizon vary."""
    source = np.random.SeedSequence(seed, spawn_key=(1, number))
    rng = np.random.default_rng(source)
    environment, prior = counterexample(
        int(rng.integers(18, 26)), float(rng.uniform(0.9985, 0.9995)), float(rng.uniform(0.85, 1.15))
    )
    players: dict[str, Player] = {
        "printed index": (CorrelatedUCL(a=COUNTEREXAMPLE_A), prior),
        "plain index": (CorrelatedUCL(a=COUNTEREXAMPLE_A, factor=False), prior),
    }
    horizon = int(rng.integers(12_000, 20_001))
    return Problem(f"counterexample {number}", environment, horizon, players, (1,), _seed(source))


def _players(rng: np.random.Generator, mean: Array, S: Array, noise: float) -> dict[str, Player]:
    """Return the four policies with a admissible for each theorem: UCL alone, and three on the correlated prior."""
    K, room = LEAST_K * float(rng.choice([1.0, 1.0, 3.0])), float(np.exp(rng.uniform(-4, 1)))
    variance = math.inf if rng.random() < 0.15 else float(S[0, 0])
    alone = Independent(mean=mean, variance=variance, noise_variance=noise)
    joint = Correlated(mean=mean, covariance=S, noise_variance=noise)
    a, nu = 4 / 3 * (1 + room), float(rng.choice([1.0, 1.0, 0.3]))
    return {
        "UCL": (UCL(K=K, a=4 / 3 * (1 + noise / variance) * (1 + room)), alone),
        "printed index": (CorrelatedUCL(K=K, a=a, nu=nu), joint),
        "plain index": (CorrelatedUCL(K=K, a=a, nu=nu, factor=False), joint),
        "UCL on a correlated belief": (UCL(K=K, a=a), joint),
    }


def _correlations(rng: np.random.Generator, arms: int) -> Array:
    """Return correlations of one of four kinds: none, equal, by distance, or random."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(arms)
    if kind == 1:
        rho = float(rng.choice([0.3, 0.9, 0.99]))
        return np.asarray(rho + (1 - rho) * np.eye(arms))
    if kind == 2:
        where = rng.uniform(0, 10, (arms, 2))
        return np.asarray(Exponential(float(np.exp(rng.uniform(-1, 3))))(where, where))
    root = rng.standard_normal((arms, arms + 3))
    S = root @ root.T
    return np.asarray(S / np.sqrt(np.outer(S.diagonal(), S.diagonal())))


def _seed(source: np.random.SeedSequence) -> int:
    return int(source.spawn(1)[0].generate_state(1)[0])
