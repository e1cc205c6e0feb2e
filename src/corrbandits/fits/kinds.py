"""Whether people are of a few kinds: a mixture of Gaussians of one shape, the number of them by BIC.

    name       shape     meaning
    X          (n, d)    a row for each person: their parameters on the lines where they are fitted
    centres    (k, d)    of the kinds
    S          (d, d)    covariance about a centre, the same in all kinds: kinds differ in where they are, and a long
                         tail of one kind is no other
    g          (n, k)    probability that a person is of a kind

The mixture is found by expectation-maximisation from several starts; the same seed gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.choices import PARAMETERS
from corrbandits.fits.outcomes import Outcome

MOST_KINDS = 4
STARTS = 10
MOST_STEPS = 500
LEAST_PEOPLE = 20
"""Of fewer people nothing is said about kinds."""

FLOOR = 1e-9
"""The smallest share of the variance of X that a kind may have in any direction."""


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """Kinds of people: `mixture` finds them."""

    weights: Array
    centres: Array
    covariance: Array
    log_likelihood: float
    bic: float
    belongs: Array
    """The probability that each person is of each kind, (people, kinds)."""

    @property
    def kinds(self) -> int:
        """How many there are."""
        return len(self.weights)


def mixture(points: Any, kinds: int, *, seed: int = 0) -> Mixture:
    """Return the mixture of so many Gaussians of one shape under which the points are most likely.

    >>> rng = np.random.default_rng(0)
    >>> two = np.concatenate([rng.normal(0.0, 1.0, (50, 1)), rng.normal(9.0, 1.0, (50, 1))])
    >>> mixture(two, 2).weights.round(2), np.sort(mixture(two, 2).centres.ravel()).round(0)
    (array([0.5, 0.5]), array([0., 9.]))
    """
    X = checks.points("points", points)
    k = checks.integer("kinds", kinds, least=1, most=len(X))
    rng = np.random.default_rng(seed)
    with one_thread():
        found = [_climbed(X, _first(X, k, rng)) for _ in range(STARTS if k > 1 else 1)]
    return max(found, key=lambda one: one.log_likelihood)


def number_of_kinds(points: Any, *, seed: int = 0) -> list[Mixture]:
    """Return the mixtures of 1 to 4 kinds, that of the smallest BIC first.

    >>> rng = np.random.default_rng(1)
    >>> [one.kinds for one in number_of_kinds(rng.normal(size=(100, 2)))][0]
    1
    """
    X = checks.points("points", points)
    found = [mixture(X, k, seed=seed) for k in range(1, min(MOST_KINDS, len(X)) + 1)]
    return sorted(found, key=lambda one: one.bic)


def places(outcomes: Sequence[Outcome], names: Sequence[str]) -> Array:
    """Return where people lie on the lines of some parameters; those whose fit is at an end of any are left out."""
    inside = [one for one in outcomes if all(math.isfinite(one.errors[name]) for name in names)]
    lines = [[PARAMETERS[name].line(one.values[name]) for name in names] for one in inside]
    return np.array(lines, dtype=np.float64).reshape(len(inside), len(names))


def _first(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Return centres to begin with: points far apart, as in k-means++, in units of the deviations of X."""
    spread = X.std(axis=0)
    Z = X / np.where(spread > 0, spread, 1.0)
    chosen = [int(rng.integers(len(X)))]
    while len(chosen) < k:
        far = np.square(Z[:, None, :] - Z[chosen]).sum(axis=2).min(axis=1)
        law = far / far.sum() if far.sum() > 0 else np.full(len(X), 1 / len(X))
        chosen.append(int(rng.choice(len(X), p=law)))
    return X[chosen]


def _climbed(X: Array, centres: Array) -> Mixture:
    """Return the mixture that expectation-maximisation reaches from these centres."""
    n, d = X.shape
    k = len(centres)
    whole = np.atleast_2d(np.cov(X.T, bias=True))
    floor = FLOOR * (np.trace(whole) / d or 1.0) * np.eye(d)
    weights, S, before = np.full(k, 1 / k), whole + floor, -math.inf
    for _ in range(MOST_STEPS):
        g, value = _expected(X, weights, centres, S)
        if value - before < 1e-9 * (1 + abs(value)):
            break
        before = value
        counts = np.maximum(g.sum(axis=0), 1e-300)
        weights, centres = counts / n, (g.T @ X) / counts[:, None]
        S = (X.T @ X - (centres * counts[:, None]).T @ centres) / n
        S = (S + S.T) / 2 + floor
    parameters = k * d + d * (d + 1) / 2 + k - 1
    return Mixture(weights, centres, S, value, parameters * math.log(n) - 2 * value, g)


def _expected(X: Array, weights: Array, centres: Array, S: Array) -> tuple[Array, float]:
    """Return g and the log likelihood."""
    L = np.linalg.cholesky(S)
    Z = (X[:, None, :] - centres) @ np.linalg.inv(L).T
    scale = np.log(L.diagonal()).sum() + X.shape[1] / 2 * math.log(2 * math.pi)
    logs = np.log(np.maximum(weights, 1e-300)) - np.square(Z).sum(axis=2) / 2 - scale
    top = logs.max(axis=1, keepdims=True)
    g = np.exp(logs - top)
    total = g.sum(axis=1, keepdims=True)
    return g / total, float((top + np.log(total)).sum())
