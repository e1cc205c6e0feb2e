"""The cases of Theorem 2 by sign, which the remark on it leaves out: an error in one direction costs one event.

    name     meaning                                                              paper
    v        L0 d; the bias after any counts is e(t) = S(t) v                     -
    under    ||v-||_S(t_init), v- the negative part of v                          -
    over     ||v+||_S(t_init), v+ the positive part                               -

If no entry of L0 off its diagonal is positive, L0 + P^-1 is an M-matrix for all counts, and no entry of its inverse
S(t) is negative. Then e_i(t) <= (S(t) v+)_i <= s_i(t) over, and e_i(t) >= -s_i(t) under, by Cauchy and Schwarz: event
(i*), the best arm's, needs a standard normal variable beyond z_t - under, event (i) one beyond z_t - over.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import GaussianBelief
from corrbandits.environments import Environment
from corrbandits.policies import UCL, CorrelatedUCL
from corrbandits.theory.bounds import as_dataset, checked_c1, theorem_2
from corrbandits.theory.estimate import covariance_after, difference, variance_after
from corrbandits.theory.initial import initialisation

if TYPE_CHECKING:
    import xarray as xr

ROUNDING = 1e-10  # of a correlation, and of the largest v_i: what counts as 0


class Signed(NamedTuple):
    """How far, in posterior deviations, a prior can mislead downwards and upwards.

    >>> Signed(0.0, 2.0).case
    3
    """

    under: float
    over: float

    @property
    def case(self) -> int:
        """The case, numbered as in Theorem 1: 1 both, 2 downwards only, 3 upwards only, 4 neither."""
        return 1 + (not self.over) + 2 * (not self.under)


def signed_distances(environment: Environment, belief: GaussianBelief, nu: float | None = None) -> Signed:
    """Return `prior_distance` by sign; refuse a prior whose precision has positive entries off its diagonal.

    Independent arms, and the exponential kernel on a line, have none.

    >>> from corrbandits import Correlated, Exponential, GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0, 0.0], noise_variance=1.0)
    >>> high = Correlated(mean=[3.0, 2.0, 2.0], kernel=Exponential(2.0), coordinates=range(3), noise_variance=1.0)
    >>> signed_distances(bandit, high).under         # too high everywhere: no arm is ever underestimated for it
    0.0
    """
    d = difference(environment, belief)
    v = _precision(belief) @ d
    v[np.abs(v) * np.sqrt(belief.variance) <= ROUNDING * np.abs(d / np.sqrt(belief.variance)).max()] = 0.0
    counts = np.zeros(belief.arms)
    if nu is not None:
        counts[initialisation(belief, nu)] = 1
    S = np.diag(variance_after(belief, counts)) if belief.independent else covariance_after(belief, counts)
    under, over = (math.sqrt(max(float(part @ S @ part), 0.0)) for part in (np.minimum(v, 0.0), np.maximum(v, 0.0)))
    return Signed(under, over)


def sign_refined_bound(
    environment: Environment,
    belief: GaussianBelief,
    policy: UCL | CorrelatedUCL,
    horizon: int,
    c1: float | None = None,
) -> xr.Dataset:
    """Return the corrected Theorem 2 with four cases, as Theorem 1 has them; see `signed_distances` for the priors.

    An event that the prior does not help along costs a / (K (a - 1)). The result is never more than the corrected one.

    >>> from corrbandits import Correlated, Exponential, GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0, 0.0], noise_variance=1.0)
    >>> right = Correlated(mean=bandit.means, kernel=Exponential(2.0), coordinates=range(3), noise_variance=1.0)
    >>> sign_refined_bound(bandit, right, UCL(a=2.0), horizon=1_000).case.values
    array([nan,  4.,  4.])
    """
    theorem = theorem_2(environment, belief, policy, horizon, "corrected")
    c1 = checked_c1(theorem, policy, c1)
    signed = signed_distances(environment, belief, policy.nu if isinstance(policy, CorrelatedUCL) else None)
    numbers = theorem.numbers(policy.a, c1)
    log_extra = np.logaddexp(_log_event(signed.under, policy, c1), _log_event(signed.over, policy, c1))
    numbers = numbers._replace(
        log_extra=np.minimum(numbers.log_extra, log_extra), case=np.full(belief.arms, float(signed.case))
    )
    attrs = {"theorem": "2, corrected, by sign", "c1": c1, "a": policy.a, "K": policy.K, **signed._asdict()}
    return as_dataset(environment, theorem, numbers, attrs)


def _log_event(b: float, policy: UCL | CorrelatedUCL, c1: float) -> float:
    """Return log of what one event costs: exp(2 b^2 / 3a) + 3 a c1 / (2 (3 a c1 - 4)) exp(c2 b^2 / 2), or luck."""
    a = policy.a
    if not b:
        return math.log(a / (a - 1)) - math.log(policy.K)
    coefficient = math.log(3 * a * c1 / (2 * (3 * a * c1 - 4)))
    return float(np.logaddexp(2 * b * b / (3 * a), coefficient + c1 / (1 - c1) * b * b / 2))


def _precision(belief: GaussianBelief) -> Array:
    """Return L0, rounding removed; refuse one that is not an M-matrix."""
    deviation = np.sqrt(belief.variance)
    if not (np.isfinite(deviation).all() and (deviation > 0).all()):
        raise ValueError("prior variances must be finite and above 0 for the cases by sign; do correlated_bound(...).")
    try:
        L0 = np.linalg.inv(belief.covariance_of() / deviation / deviation[:, None])
    except np.linalg.LinAlgError:
        raise ValueError("the prior must be invertible for the cases by sign; do correlated_bound(...).") from None
    scale = np.sqrt(np.abs(np.outer(L0.diagonal(), L0.diagonal())))
    off = np.where(np.eye(belief.arms, dtype=bool), 0.0, L0)
    if not (off <= ROUNDING * scale).all():
        raise ValueError(
            "the prior's precision must have no positive entry off its diagonal for the cases by sign, got "
            f"{(off / scale).max():.3g}; do correlated_bound(...)."
        )
    return np.asarray(L0 / deviation / deviation[:, None])
