"""The initialisation phase of the correlated UCL algorithm, for all arms at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Correlated, GaussianBelief, Independent
from corrbandits.policies import CorrelatedUCL

PANEL = 64


def initialisation(belief: GaussianBelief, nu: float) -> list[int]:
    """Return the arms `CorrelatedUCL` takes in its initialisation phase, in order: it does not depend on the rewards.

    No arm comes twice, so there are at most N (lemma on initialisation). Where two variances are equal except for
    rounding, the policy may take the other one first.

    >>> covariance = [[3.0, 2.9, 0.0], [2.9, 3.0, 0.0], [0.0, 0.0, 1.0]]
    >>> initialisation(Correlated(covariance=covariance, noise_variance=1.0), nu=1.0)
    [0]
    """
    belief = gaussian(belief)
    thresholds = CorrelatedUCL(nu=nu).threshold(belief)
    pending = np.flatnonzero(belief.variance > thresholds)
    if not belief.independent:
        return _correlated(belief, thresholds, pending)
    return [int(k) for k in pending[np.argsort(-belief.variance[pending], kind="stable")]]


def gaussian(belief: Any) -> GaussianBelief:
    """Return the belief if it is one of those the theory speaks of, and refuse it otherwise."""
    if not isinstance(belief, (Independent, Correlated)):
        raise TypeError(
            "the theory is for Gaussian beliefs whose covariance is at hand, Independent or Correlated, got "
            f"{belief!r}."
        )
    return belief


def _correlated(belief: GaussianBelief, thresholds: Array, kept: Integers) -> list[int]:
    """Take pivots in panels, as in a blocked Cholesky factorisation; only arms that may be pending are kept up to date.

    An arm that is no longer pending never is again, because no variance grows. Such arms are dropped when there are
    many: that is a copy of the covariance.
    """
    from scipy.linalg.blas import dsyrk

    taken: list[int] = []
    if not kept.size:
        return taken
    S = belief.covariance_of(kept).T  # from here on its lower half alone counts
    variances, noise, thresholds = belief.variance[kept], belief.noise_variance[kept], thresholds[kept]
    while True:
        panel, pivots, variances = _panel(S, variances, noise, thresholds)
        taken += [int(k) for k in kept[pivots]]
        pending = np.flatnonzero(variances > thresholds)
        if not pending.size:
            return taken
        S = dsyrk(-1.0, panel, beta=1.0, c=S, lower=1, overwrite_c=1)
        if pending.size < 0.85 * kept.size:
            S = S.T[np.ix_(pending, pending)].T
            kept, variances = kept[pending], variances[pending]
            noise, thresholds = noise[pending], thresholds[pending]


def _panel(S: Array, variances: Array, noise: Array, thresholds: Array) -> tuple[Array, list[int], Array]:
    """Return up to PANEL columns, whose squares are to be subtracted from S, their pivots, and the variances left."""
    panel = np.zeros((len(S), PANEL), order="F")
    pivots: list[int] = []
    for m in range(PANEL):
        limits = np.where(variances > thresholds, variances, -np.inf)
        k = int(limits.argmax())
        if limits[k] == -np.inf:
            break
        row = np.concatenate([S[k, :k], S[k:, k]])
        total = noise[k] + variances[k]
        panel[:, m] = (row - panel[:, :m] @ panel[k, :m]) / math.sqrt(total)
        left = noise[k] * (variances[k] / total)
        variances = np.maximum(variances - panel[:, m] ** 2, 0.0)
        variances[k] = left
        pivots.append(k)
    return panel, pivots, variances
