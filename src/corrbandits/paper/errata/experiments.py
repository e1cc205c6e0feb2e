"""Mistakes in the numerical section and in the remark on clusters."""

from __future__ import annotations

import math

import numpy as np

from corrbandits import theory
from corrbandits._core.gaussian import upper_quantile
from corrbandits.belief import Correlated, Independent
from corrbandits.environments import GaussianBandit, landscapes
from corrbandits.paper import reproduction
from corrbandits.paper.errata.record import Erratum, require
from corrbandits.policies import UCL
from corrbandits.simulation.simulator import simulate

A = reproduction.A
HORIZON, FIRST, RUNS = 100_000, 1_000, 100


def check_initialisation() -> None:
    """Show that section 5's correlated priors have no initialisation, for any nu the paper allows."""
    surface = landscapes.two_peaks()
    for name, players in (("well", reproduction.well_informed(surface)), ("ill", reproduction.ill_informed(surface))):
        prior = players["correlated"][1]
        if not isinstance(prior, Correlated):
            raise TypeError("the correlated player of the paper must have a Correlated belief.")
        for nu in (0.1, 0.5, 1.0):
            steps = len(theory.initialisation(prior, nu))
            require(steps == 0, f"the {name}-informed correlated prior has {steps} initial steps for nu = {nu}")
        # not even if arms at the threshold were taken: one sample puts the others below it
        above = Correlated(mean=prior.mean, covariance=prior.covariance * (1 + 1e-9), noise_variance=10.0)
        steps = len(theory.initialisation(above, 1.0))
        require(steps <= 10, f"a little above the threshold there are {steps} initial steps, near the caption's 100")
    trace = simulate(reproduction.ill_informed(surface), surface, 300, runs=4, seed=15, progress=False)
    seen = trace.initialisation.max("run").sel(policy=["uninformative", "correlated"]).values.tolist()
    require(seen == [100, 0], f"initial steps in simulation, uninformative and correlated: {seen}")


def settled_count(log_t: float, a: float = A, gap: float = 1.0) -> float:
    """Return how often arm 1 of two has been taken when both limits are level, means as they are: noise variance 1.

    n solves width (1/sqrt(n) - 1/sqrt(t - n)) = gap; past t = exp(50) the best arm's limit is its mean.
    """
    from scipy.optimize import brentq

    width = float(upper_quantile(-math.log(UCL().K) - a * log_t))
    if log_t > 50:
        return (width / gap) ** 2
    t = math.exp(log_t)
    return float(brentq(lambda n: width / math.sqrt(n) - width / math.sqrt(t - n) - gap, 1e-6, t / 2))


def check_slope() -> None:
    """Measure the slope of the uninformative regret in log t against Lai and Robbins's, and where it tends."""
    environment = GaussianBandit([1.0, 0.0], 1.0)
    flat = Independent(noise_variance=1.0, arms=2)
    trace = simulate({"UCL": (UCL(a=A), flat)}, environment, HORIZON, RUNS, seed=16, progress=False)
    rise = trace.arms.values[0, :, FIRST:].sum(axis=1) / (2 * math.log(HORIZON / FIRST))  # arm 1 has gap 1
    ratio, error = float(rise.mean()), float(rise.std(ddof=1)) / math.sqrt(RUNS)
    expected = _slope(math.log(FIRST), math.log(HORIZON))
    seen = f"the slope is {ratio:.2f} +- {error:.2f} times Lai and Robbins's, expected {expected:.2f}, a = {A}"
    require(ratio > 0.9 * A > 1 + 4 * error, seen)
    require(abs(ratio - expected) < 4 * error, seen)
    decades = [_slope(k * math.log(10), (k + 1) * math.log(10)) for k in (4, 6, 8, 20, 100)]
    require(max(abs(x / A - 1) for x in decades[2:]) < 0.02, f"it tends to {decades}, not to a = {A}")


def _slope(low: float, high: float) -> float:
    return (settled_count(high) - settled_count(low)) / (2 * (high - low))


def check_clusters() -> None:
    """Count how many random E make 1 1' + eps E indefinite, and show that (1 - eps) 1 1' + eps I never is."""
    rng = np.random.default_rng(17)
    share = {}
    for m in (2, 3, 5, 10):
        upper = np.triu(rng.standard_normal((400, m, m)), 1)
        least = np.linalg.eigvalsh(1.0 + 1e-3 * (upper + upper.transpose(0, 2, 1)))[:, 0]
        share[m] = float((least < 0).mean())
    require(0.4 < share[2] < 0.6 and share[3] > 0.8, f"share of indefinite matrices by cluster size: {share}")
    require(share[5] > 0.99 and share[10] == 1.0, f"share of indefinite matrices by cluster size: {share}")
    for m in (2, 5, 50):
        for epsilon in (1e-6, 0.01, 0.5):
            covariance = landscapes.cluster_covariance([m], epsilon=epsilon)
            least_eigenvalue = float(np.linalg.eigvalsh(covariance)[0])
            require(abs(least_eigenvalue - epsilon) < 1e-10, f"the least eigenvalue is {least_eigenvalue:.3g}")


def check_one_sample_per_cluster() -> None:
    """Compare the length of the initialisation with the number of clusters on both sides of the corrected condition."""
    sizes = [4, 6, 8]
    for nu in (0.5, 1.0):
        for variance in (3.0, 10.0, 100.0):
            needed = (1 - 1 / (nu * variance)) * (1 + 1 / variance)  # of (1 - epsilon)^2, with sigma_s^2 = 1
            limit = 1 - math.sqrt(needed)
            for epsilon in (0.9 * limit, 1.1 * limit):
                prior = Correlated(
                    covariance=landscapes.cluster_covariance(sizes, variance=variance, epsilon=epsilon),
                    noise_variance=1.0,
                )
                steps, within = len(theory.initialisation(prior, nu)), epsilon < limit
                require(
                    (steps == len(sizes)) == within,
                    f"{steps} steps for {len(sizes)} clusters, variance {variance}, nu {nu}, epsilon {epsilon:.3g}",
                )
    _check_where_nothing_is_needed()


def _check_where_nothing_is_needed() -> None:
    """Count the steps where the variance is up to the threshold, and where every cluster has one arm."""
    for nu in (0.5, 1.0):
        for epsilon in (0.01, 0.5, 0.99):
            below = landscapes.cluster_covariance([4, 6, 8], variance=1 / nu, epsilon=epsilon)
            alone = landscapes.cluster_covariance([1, 1, 1], variance=10.0, epsilon=epsilon)
            steps = [
                len(theory.initialisation(Correlated(covariance=S, noise_variance=1.0), nu)) for S in (below, alone)
            ]
            require(steps == [0, 3], f"{steps} steps at the threshold and for clusters of one, epsilon {epsilon}")


RECORDS = (
    Erratum(
        15,
        "section 5 and the caption of Figure 2",
        "With sigma_i^2(0) = sigma_s^2 = 10 and nu = 1 the ill-informed correlated prior shows an initialisation phase "
        "that ends near t = 100. Neither a nor the surface is given.",
        "The initialisation set is empty, for every nu <= 1: the inequality is strict. Taking arms at the threshold "
        "would not help, since one sample puts all others below it. a and the surface here are reconstructions.",
        "The initialisation of both figures' correlated priors, computed and simulated: 0 steps; with variances a "
        "billionth above the threshold, 1 step.",
        check_initialisation,
    ),
    Erratum(
        16,
        "section 5, comparison with the Lai-Robbins bound",
        "Asymptotically the algorithms match the Lai-Robbins regret rate for any prior.",
        "They are order-optimal: the slope in log t tends to a times the Lai-Robbins rate. It tends there from above, "
        "slowly, as the best arm's own limit comes down to its mean like z_t/sqrt(t).",
        "Two arms with gap 1 and noise 1, a = 3.284, 100 runs to t = 10^5: the slope from 10^3 on is about 4.3 times "
        "Lai and Robbins's, within 4 standard errors of what two level limits give; that expression comes within 2 % "
        "of a by t = 10^8.",
        check_slope,
    ),
    Erratum(
        17,
        "section 4.1, remark on correlation structure and initialisation: clusters",
        "A cluster's covariance is sigma_0^2 (1 1' + eps E), E any symmetric matrix with a zero diagonal.",
        "That is indefinite for nearly every E: on vectors orthogonal to 1 it is eps E, which must have no negative "
        "eigenvalue there. sigma_0^2 ((1 - eps) 1 1' + eps I), that is E = I - 1 1', always is a covariance.",
        "400 random E each: about half of them for 2 arms, nine tenths for 3 and practically all for 5 or more give a "
        "negative eigenvalue; the least eigenvalue of the corrected form is eps.",
        check_clusters,
    ),
    Erratum(
        19,
        "section 4.1, remark on correlation structure and initialisation: number of observations",
        "The initialisation needs as many observations as there are clusters, since one sample lowers the largest "
        "eigenvalue, which bounds the variances.",
        "Where sigma_0^2 is above sigma_s^2/nu and a cluster has two arms or more, only if (1 - eps)^2 >= (1 - "
        "sigma_s^2/(nu sigma_0^2))(1 + sigma_s^2/sigma_0^2): for nu = 1 and large sigma_0^2 eps must be below about "
        "(sigma_s^2/sigma_0^2)^2 / 2. With a smaller sigma_0^2 there is no initialisation, and a cluster of one arm "
        "takes one observation whatever eps is.",
        "Three clusters, eps a tenth below and above that limit, for several variances and nu: the length of the "
        "initialisation. Variances up to the threshold, where it is 0; clusters of one arm, where it is their number.",
        check_one_sample_per_cluster,
    ),
)
