"""How much rewards can tell of the mean rewards, in nats: the information gain of a Gaussian prior.

name      meaning
S0, D     prior covariance; noise variances
n         how often each arm is taken, whole numbers or not
F(n)      log det(I + diag(n / D) S0) / 2, the information that the rewards give
s_i^2     posterior variance of arm i, given n: dF/dn_i = s_i^2 / (2 D_i)
gamma_T   the largest F of T decisions
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Belief, GaussianBelief

ROUNDS = 200
CLOSE = 0.002

CERTAIN = 1e6
"""Where a prior variance is so many times that of what is seen, the posterior variance follows from the latter."""


def information_gain(belief: Belief, counts: Any) -> float:
    """Return how much rewards tell of all mean rewards if each arm is taken so often: log det(I + diag(n / D) S0) / 2.

    It depends on the counts alone, not on the rewards. It is also the sum of log(1 + s^2 / D) / 2 over the decisions in
    any order, s the deviation of the chosen arm before its reward.

    >>> from corrbandits import Correlated
    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    >>> round(information_gain(prior, [1, 0]), 4), round(information_gain(prior, [1, 1]), 4)
    (0.3466, 0.6609)
    """
    S0, D = proper(belief)
    n = checks.per_arm("counts", counts, belief.arms)
    if not (n >= 0).all():
        raise ValueError(f"counts must be 0 or more, got {n.min():g}.")
    return _gain(S0, D, n)[0]


def most_information(belief: Belief, horizon: int) -> float:
    """Return a bound from above on gamma_T, the most that any T decisions can tell.

    F is concave in n, so that F(n) + sum_i (n'_i - n_i) dF/dn_i bounds F(n') for any n and n'. The largest of these
    over all n' of T decisions is F(n) + max_i T dF/dn_i - sum_i n_i dF/dn_i. It is computed for fractions of decisions
    that are better and better spread over the arms. The least is kept, or T log(1 + max_i S0_ii / D_i) / 2 if less.

    >>> from corrbandits import Correlated
    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    >>> round(most_information(prior, 2), 4), round(most_information(prior, 1_000), 2)
    (0.6609, 6.07)
    """
    S0, D = proper(belief)
    T = checks.integer("horizon", horizon, least=1)
    n, least = np.full(len(D), T / len(D)), T * float(np.log1p((S0.diagonal() / D).max())) / 2
    for _ in range(ROUNDS):
        gain, slopes = _gain(S0, D, n)
        used = float(n @ slopes)
        least = min(least, gain + T * float(slopes.max()) - used)
        if used <= 0 or least - gain <= CLOSE * gain:
            break
        n = n * slopes * (T / used)  # more where it tells more; the sum remains
    return least


def proper(belief: Belief) -> tuple[Array, Array]:
    """Return covariance and noise variances of a belief that is one known Gaussian law; refuse another."""
    if not isinstance(belief, GaussianBelief) or not belief.fixed_prior:
        raise TypeError(
            "information gain is that of a belief that knows mean, covariance and noise, such as Correlated or "
            f"Independent, got a {type(belief).__name__}."
        )
    if not np.isfinite(belief.variance).all():
        raise ValueError("the prior must be proper, but some variance is infinite; give finite ones.")
    return belief.covariance_of(), belief.noise_variance


def _gain(S0: Array, D: Array, n: Array) -> tuple[float, Array]:
    """Return F(n) and its slopes."""
    from scipy.linalg import cholesky, solve_triangular

    weight = np.sqrt(n / D)
    across = weight[:, None] * S0
    with one_thread():
        L = cholesky(np.eye(len(n)) + across * weight, lower=True, check_finite=False)
        half = solve_triangular(L, across, lower=True, check_finite=False)
        slopes = np.maximum(S0.diagonal() - np.square(half).sum(axis=0), 0.0) / (2 * D)
        known = weight * across.diagonal() > CERTAIN  # there that difference loses its digits
        if known.any():
            left = np.square(solve_triangular(L, np.eye(len(n))[:, known], lower=True, check_finite=False)).sum(axis=0)
            slopes[known] = (1 - left) / (2 * n[known])
    return float(np.log(L.diagonal()).sum()), slopes
