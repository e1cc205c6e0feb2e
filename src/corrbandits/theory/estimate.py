"""The posterior mean as an estimate: its bias and covariance for given counts, and how far the prior is from the truth.

    name                    meaning                                                          paper
    L0                      precision of the prior, the inverse of its covariance            Lambda_0
    d                       how much the prior means exceed the true ones                    mu_0 - m
    conditional_variance    variance of an arm given the mean rewards of all the others      sigma_{i-cond}^2
    delta_cond              noise variance over it                                           delta_{i-cond}^2
    bias                    expected posterior mean minus truth                              e(t)
    estimate_covariance     covariance of the posterior mean                                 Sigma bar(t)
    beta                    the print's measure of a prior's distance from the truth         beta_i
    prior_distance          ours: the norm of L0 d in the covariance after initialisation    -

Where the prior covariance is singular to rounding, L0 does not exist. `beta`, which is made of its entries, is then
infinite unless d = 0: it needs an invertible prior. The distance does not: any v with S0 v = d takes the place of L0 d,
and if there is none, because the prior is sure of what is not so, it is infinite. The conditional variance is 0 of an
arm that others determine, or help to determine.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.gaussian import condition, posterior_mean
from corrbandits.belief import GaussianBelief, Independent
from corrbandits.environments import Environment, GaussianBandit
from corrbandits.theory.initial import gaussian, initialisation
from corrbandits.theory.precision import Precision, precision


def conditional_variance(belief: GaussianBelief) -> Array:
    """Return the variance of each arm's mean reward given all the others', 1 / diag(L0); 0 where they determine it.

    >>> from corrbandits import Correlated
    >>> conditional_variance(Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=1.0)).round(4)
    array([0.64, 0.64])
    """
    if gaussian(belief).independent:
        return np.array(belief.variance)
    found = precision(belief, np.zeros(belief.arms), diagonal=True)
    return np.zeros(belief.arms) if found is None else np.asarray(1 / found.diagonal)


def delta_cond(belief: GaussianBelief) -> Array:
    """Return the noise variance over the conditional variance, delta_cond_i^2; infinite where that is 0.

    >>> from corrbandits import Correlated
    >>> delta_cond(Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=0.64)).round(4)
    array([1., 1.])
    """
    variance = conditional_variance(belief)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(belief.noise_variance / variance)


def beta(environment: Environment, belief: GaussianBelief, nu: float) -> Array:
    """Return beta_i, the print's measure of how far the prior is from the truth.

    It adds up absolute values where `prior_distance` takes a norm, and is hopelessly large. The prior must be
    invertible: if it is not, and its means are wrong, beta is infinite.

    >>> from corrbandits import Correlated
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> beta(bandit, Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=1.0), nu=1.0).round(4)
    array([4.002, 4.002])
    """
    d = difference(environment, belief)
    return beta_from(belief, nu, d, precision(belief, d, absolute_sums=True))


def beta_from(belief: GaussianBelief, nu: float, d: Array, found: Precision | None) -> Array:
    """Return beta_i from a precision that has been found."""
    nu = checks.number("nu", nu, above=0, up_to=1)
    if found is None:
        return np.full(belief.arms, np.inf if d.any() else 0.0)
    with np.errstate(over="ignore", divide="ignore"):  # in logarithms: noise and distance may be of any size
        log_total = np.logaddexp.reduce(
            np.log(found.absolute_sums[d != 0]) + np.log(np.abs(d[d != 0])), initial=-np.inf
        )
        log_noise = np.log(belief.noise_variance)
        log_one_more = np.logaddexp(0.0, log_noise + np.log(found.diagonal))  # log(1 + delta_cond^2)
        return np.asarray(np.exp((log_noise + log_one_more - math.log(nu)) / 2 + log_total))


def bias(environment: Environment, belief: GaussianBelief, counts: Any) -> Array:
    """Return e(t) = E[mu(t)] - m after these counts: (L0 + P^-1)^-1 L0 (mu_0 - m).

    It is computed as the posterior mean of d when every average is 0, which needs no inverse of the prior covariance.

    >>> from corrbandits import Correlated
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> bias(bandit, Correlated(covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0), counts=[1, 0])
    array([-0.5,  0.4])
    """
    d = difference(environment, belief)
    scale = np.abs(d).max() or 1.0  # the bias is linear in d, which may be of any size
    return np.asarray(scale * _bias(belief, d / scale, whole_counts(counts, belief)))


def _bias(belief: GaussianBelief, d: Array, counts: Array) -> Array:
    if not belief.independent:
        return posterior_mean(d, belief.covariance_of(), belief.noise_variance, counts, np.zeros(belief.arms))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        kept = 1 / (1 + counts * (belief.variance / belief.noise_variance))
    return np.asarray(np.where(counts > 0, d * kept, d))


def estimate_covariance(belief: GaussianBelief, counts: Any) -> Array:
    """Return Cov(mu(t)) = S P^-1 S after these counts.

    >>> from corrbandits import Correlated
    >>> estimate_covariance(Correlated(covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0), counts=[1, 0])
    array([[0.25, 0.2 ],
           [0.2 , 0.16]])
    """
    half = estimate_root(belief, whole_counts(counts, belief))
    return np.asarray(half @ half.T)


def estimate_root(belief: GaussianBelief, counts: Array) -> Array:
    """Return S P^(-1/2), whose product with its transpose is the covariance of the estimate."""
    return np.asarray(covariance_after(belief, counts) * np.sqrt(counts / belief.noise_variance))


def prior_distance(environment: Environment, belief: GaussianBelief, nu: float | None = None) -> float:
    """Return b = sqrt((L0 d)' S (L0 d)), S the covariance after `CorrelatedUCL`'s initialisation with this nu.

    Without nu there is no initialisation, and b = sqrt(d' L0 d). b is 0 for a prior whose means are right. The prior
    need not be invertible: L0 is then the pseudo-inverse, and b is infinite only if d lies outside the range of the
    covariance, that is if the prior is sure of a combination of mean rewards, and wrong.

    >>> from corrbandits import Correlated
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> prior_distance(bandit, Correlated(mean=0.0, covariance=[[1.0, 0.0], [0.0, 1.0]], noise_variance=1.0))
    1.0
    >>> twins = Correlated(mean=[3.0, 2.0], covariance=[[4.0, 4.0], [4.0, 4.0]], noise_variance=1.0)
    >>> level = GaussianBandit([1.0, 1.0], noise_variance=1.0)    # the prior is sure that the first is better by 1
    >>> round(prior_distance(bandit, twins), 12), prior_distance(level, twins)
    (1.0, inf)
    """
    d = difference(environment, belief)
    return distance_from(belief, nu, d, precision(belief, d) if d.any() else None)


def distance_from(belief: GaussianBelief, nu: float | None, d: Array, found: Precision | None) -> float:
    """Return b from a precision that has been found."""
    if nu is not None:
        checks.number("nu", nu, above=0, up_to=1)
    if not d.any():
        return 0.0
    if found is None:
        return math.inf
    counts = np.zeros(belief.arms)
    if nu is not None:
        counts[initialisation(belief, nu)] = 1
    scale, size = float(np.abs(d).max()), float(np.abs(found.times_d).max())  # their product may exceed a double
    if not 0 < size < math.inf:
        return size
    left, deviation = _bias(belief, d / scale, counts), np.sqrt(belief.variance)
    left = np.divide(left, deviation, out=np.zeros(belief.arms), where=deviation > 0)
    square = float((found.times_d / size) @ left)
    return math.sqrt(max(square, 0.0)) * math.sqrt(scale) * math.sqrt(size)


def variance_after(belief: GaussianBelief, counts: Array) -> Array:
    """Return the posterior variances after these counts, whatever the rewards."""
    if not belief.independent:
        return np.asarray(covariance_after(belief, counts).diagonal())
    prior = Independent(variance=belief.variance, noise_variance=belief.noise_variance)
    return prior.observe_all(counts.astype(np.int64), np.zeros(belief.arms)).variance


def covariance_after(belief: GaussianBelief, counts: Array) -> Array:
    """Return the posterior covariance after these counts; 0 for an arm of which nothing is known even then."""
    if belief.independent:
        return np.diag(np.where(counts > 0, variance_after(belief, counts), 0.0))
    nothing = np.zeros(belief.arms)
    return condition(nothing, belief.covariance_of(), belief.noise_variance, counts.astype(np.int64), nothing)[1]


def difference(environment: Environment, belief: GaussianBelief) -> Array:
    """Return d = mu_0 - m; 0 where nothing is believed of an arm. Refuse a belief that does not fit the environment."""
    if not isinstance(environment, GaussianBandit):
        raise TypeError(f"the theory is for Gaussian rewards, that is a GaussianBandit, got {environment!r}.")
    if gaussian(belief).arms != environment.arms:
        raise ValueError(f"the belief has {belief.arms} arms, but the environment has {environment.arms}.")
    if not np.array_equal(belief.noise_variance, environment.noise_variance):
        arm = int(np.flatnonzero(belief.noise_variance != environment.noise_variance)[0])
        believed, true = belief.noise_variance[arm], environment.noise_variance[arm]
        raise ValueError(
            "the theory is for a known noise variance, the same in belief and environment, but for arm "
            f"{arm} the belief has {believed:g} and the environment {true:g}."
        )
    with np.errstate(over="ignore"):
        d = np.where(np.isinf(belief.variance), 0.0, belief.mean - environment.means)
        if not (np.isfinite(d).all() and np.isfinite(environment.gaps).all()):
            raise OverflowError("means lie further apart than a double can hold; measure them in a larger unit.")
    return d


def whole_counts(counts: Any, belief: GaussianBelief) -> Array:
    """Return numbers of rewards per arm, as doubles."""
    return checks.counts(counts, gaussian(belief).arms).astype(np.float64)
