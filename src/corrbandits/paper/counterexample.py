"""A problem on which Theorem 2 as printed fails."""

from __future__ import annotations

import numpy as np

from corrbandits.belief import Correlated
from corrbandits.environments import GaussianBandit

COUNTEREXAMPLE_A = 3.065  # above (4/3)(1 + delta^2 / (1 - epsilon)) = 2.74, what section 3 demands for epsilon = 0.05


def counterexample(far: int = 20, correlation: float = 0.999, gap: float = 1.0) -> tuple[GaussianBandit, Correlated]:
    """Return a problem on which Theorem 2 as printed fails, for arm 1.

    Arm 0 is best and on its own; arm 1, worse by `gap`, and `far` hopeless arms are equicorrelated, which raises
    its index though these are never taken. The prior means are right, every variance is 1. The print fails for a =
    3.065, which section 3's conditions allow with epsilon = 0.05 and so c1 = 0.95 / 1.95, and for smaller a.

    >>> environment, prior = counterexample()
    >>> environment.arms, float(prior.spread()[1].round(2))
    (22, 4.58)
    >>> from corrbandits import CorrelatedUCL, theory
    >>> policy = CorrelatedUCL(a=COUNTEREXAMPLE_A)
    >>> bound = theory.correlated_bound(environment, prior, policy, 20_000, "printed", c1=0.95 / 1.95)
    >>> round(float(bound.total[1]), 1)                   # simulation gives more than 500
    265.3
    """
    means = np.concatenate([[gap, 0.0], np.full(far, -50.0)])
    S = np.full((far + 2, far + 2), correlation)
    S[0] = S[:, 0] = 0.0
    np.fill_diagonal(S, 1.0)
    return GaussianBandit(means, 1.0), Correlated(mean=means, covariance=S, noise_variance=1.0)
