"""The paper's two algorithms, and the limits they are compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.belief import Belief
from corrbandits.policies.base import LARGEST, CrediblePolicy, LimitPolicy, gaussian


@dataclass(frozen=True)
class _PrintedSchedule(CrediblePolicy):
    """alpha_t = 1 / (K t^a), the formula of section 3.1 (its text says 1 / Kt)."""

    K: float = math.sqrt(2 * math.pi * math.e)
    a: float = 1.0

    def __post_init__(self) -> None:
        checks.set_field(self, "K", checks.number("K", self.K, above=0))
        checks.set_field(self, "a", checks.number("a", self.a, above=0))

    def log_tail(self, t: Any) -> Any:
        """Return -log K - a log t; refused where alpha_t would be 1 or more."""
        # of a number, a number, with the bits it has among many
        tail = -(math.log(self.K) + self.a * (float(np.log(float(t))) if type(t) is int else np.log(t)))
        if tail >= 0 if type(tail) is float else np.any(tail >= 0):
            raise ValueError(
                f"alpha_t = 1 / (K t^a) must be below 1, but K = {self.K:g} makes its logarithm {np.max(tail):g} at "
                f"t = {np.min(t):g}. Take K above 1; the paper's is sqrt(2 pi e) = 4.13."
            )
        return tail


@final
@dataclass(frozen=True)
class UCL(_PrintedSchedule):
    """The upper credible limit algorithm (section 3.1): Q_i(t) = mu_i + s_i Phi^-1(1 - 1 / (K t^a)).

    On a `Correlated` belief it is the plain index without initialisation. Theorem 1 asks for a > (4/3)(1 + delta^2
    / (1 - epsilon)).

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 1.0], variance=[9.0, 1.0], noise_variance=1.0)
    >>> UCL(a=1.0).index(prior, t=1).round(3), UCL(a=1.0).choose(prior, t=1)
    (array([2.1, 1.7]), 0)
    """


@final
@dataclass(frozen=True)
class CorrelatedUCL(_PrintedSchedule):
    """The correlated UCL algorithm (section 4.1): Q_i(t) = mu_i + s_i sqrt(sum_j rho_ij^2) Phi^-1(1 - 1 / (K t^a)).

    It begins with an initialisation phase: while some variance is above (not at) sigma_s^2 / nu, the arm of largest
    variance is taken. `factor=False` drops sqrt(sum_j rho_ij^2), which is not needed for a valid limit but guards
    against over-confident priors.

    >>> from corrbandits.belief import Correlated
    >>> prior = Correlated(mean=[0.0, 1.0], covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=1.0)
    >>> CorrelatedUCL(a=1.0).index(prior, t=1).round(3)
    array([0.816, 1.816])
    """

    nu: float = 1.0
    factor: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "nu", checks.number("nu", self.nu, above=0, up_to=1))
        checks.flag("factor", self.factor)

    def threshold(self, belief: Belief) -> Array:
        """Return sigma_s^2 / nu, or the largest double where that is beyond it: an unknown arm is above any threshold.

        >>> from corrbandits import Independent
        >>> CorrelatedUCL(nu=1e-10).threshold(Independent(noise_variance=[2.0, 1e300], arms=2))
        array([2.00000000e+010, 1.79769313e+308])
        """
        noise = gaussian(self, belief).noise_variance
        if self.nu == 1:  # the usual case, asked for at every step
            return noise
        with np.errstate(over="ignore"):
            return np.minimum(noise / self.nu, LARGEST)

    def index(self, belief: Belief, t: int) -> Array:
        """Return Q_i(t), also during initialisation."""
        t = checks.integer("t", t, least=1)
        width = self.width(t, belief.arms)
        return gaussian(self, belief).spread_limit(width) if self.factor else belief.limit(width)


@final
@dataclass(frozen=True)
class BayesUCB(CrediblePolicy):
    """Bayes-UCB (section 2.2): the limit of tail probability alpha_t = 1 / (t (log T)^c), T the horizon.

    The guarantee for 0/1 rewards needs c >= 5; c = 0 often does better in practice. With c = 0 the level at t = 1
    is 0, so every limit is the bottom of its support and the tie goes to arm 0.

    >>> from corrbandits.belief import Beta
    >>> BayesUCB(horizon=1000, c=0.0).index(Beta(arms=2).observe([0, 1, 1], [1, 1, 0]), t=4).round(4)
    array([0.866 , 0.6736])
    """

    horizon: int
    c: float = 5.0

    def __post_init__(self) -> None:
        if checks.integer("horizon", self.horizon, least=1) < 3:
            raise ValueError(f"BayesUCB needs a horizon of at least 3, so that log T is above 1, got {self.horizon}.")
        checks.set_field(self, "c", checks.number("c", self.c, least=0))

    def log_tail(self, t: Any) -> Any:
        """Return -log t - c log log T."""
        return -(np.log(t) + self.c * math.log(math.log(self.horizon)))


@final
@dataclass(frozen=True)
class GPUCB(LimitPolicy):
    """GP-UCB for finitely many arms: Q_i(t) = mu_i + s_i sqrt(scale beta_t), beta_t = 2 log(N t^2 pi^2 / (6 delta)).

    scale = 1 is the theory's; 0.2 is its authors' choice in practice.

    >>> from corrbandits.belief import Independent
    >>> GPUCB(delta=0.1).index(Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=4), t=1).round(3)
    array([2.894, 2.894, 2.894, 2.894])
    """

    delta: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.set_field(self, "delta", checks.number("delta", self.delta, above=0, up_to=1))
        checks.set_field(self, "scale", checks.number("scale", self.scale, above=0))

    def width(self, t: Any, arms: int) -> Any:
        """Return sqrt(scale beta_t)."""
        beta = 2 * (math.log(arms * math.pi**2 / (6 * self.delta)) + 2 * np.log(t))
        return np.sqrt(self.scale * beta)


@final
@dataclass(frozen=True)
class Greedy(LimitPolicy):
    """The arm of largest posterior mean.

    >>> from corrbandits.belief import Independent
    >>> Greedy().choose(Independent(mean=[0.0, 2.0], variance=1.0, noise_variance=1.0), t=1)
    1
    """

    def width(self, t: Any, arms: int) -> Any:
        """Return 0."""
        return 0.0 * np.asarray(t)
