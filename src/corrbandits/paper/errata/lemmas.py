"""Mistakes in the lemmas: the inequalities, the difference of squares, initialisation and the variances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corrbandits import theory
from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, GaussianBelief, Independent
from corrbandits.paper.errata.record import Erratum, require
from corrbandits.policies import UCL, CorrelatedUCL

LEAST_K = math.sqrt(2 * math.pi * math.e)


def check_quantile() -> None:
    """Find where the second inequality of Lemma 1 (ii) begins to fail, and that it holds below."""
    from scipy.optimize import brentq

    def margin(alpha: Any) -> Any:
        sides = theory.quantile_lower(np.log(alpha))
        return sides.larger - sides.smaller

    end = brentq(margin, 0.4, 0.499, xtol=1e-12)
    require(0.4403 < end < 0.4404, f"the inequality changes sides at alpha = {end:.6f}, not at 0.4403")
    above = float(margin(np.linspace(end + 1e-6, 0.5, 1_000)).max())
    require(above < 0, f"it holds by {above:.3g} somewhere in ({end:.4f}, 0.5]")
    safe = 1 / math.sqrt(2 * math.pi)
    below = np.concatenate([np.geomspace(1e-300, safe, 5_000), np.linspace(safe, end - 1e-6, 1_000)])
    least = float(margin(below).min())
    require(least > 0, f"it fails by {-least:.3g} somewhere below {end:.4f}")


def least_constant() -> float:
    """Return the least K for which Phi^-1(1 - 1/(K t^a)) >= sqrt((3a/2) log t) for all t >= 1 and a > 0.

    With u = a log t this says K >= exp(-u) / P(z >= sqrt(3u/2)) for every u >= 0.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_ndtr

    found = minimize_scalar(lambda u: u + log_ndtr(-math.sqrt(1.5 * u)), bounds=(0.0, 50.0), method="bounded")
    return math.exp(-float(found.fun))


def check_schedule() -> None:
    """Find the least K of the third inequality of Lemma 1 (ii), that it suffices, and that smaller ones fail."""
    K = least_constant()
    require(3.352 < K < 3.354, f"the least K is {K:.5f}, not 3.353")
    t = np.unique(np.geomspace(1, 10**9, 2_000).round())
    for a in (0.05, 0.5, 1.0, 1.5, 3.284, 20.0):
        for enough in (K * (1 + 1e-9), LEAST_K, 100.0):
            sides = theory.schedule_lower(t, a, enough)
            require((sides.larger > sides.smaller).all(), f"it fails for a = {a}, K = {enough:.4f}")
    for a, K in ((1.1, 1.5), (1.1, 2.5), (1.5, 3.0), (1.5, 3.3)):
        sides = theory.schedule_lower(t, a, K)
        worst = float((sides.larger - sides.smaller).min())
        require(worst < -1e-3, f"it does not fail for a = {a}, K = {K}: least margin {worst:.3g}")


def check_squares() -> None:
    """Show that Lemma 2 fails for c1 = 3, c2 = -3, for every c1 > 1, and holds for c1 < 1."""
    x, y, c1, c2 = 1.0, 0.0, 3.0, -3.0
    require((1 - c1) * (1 + c2) >= 1 and (x - y) ** 2 < c1 * x**2 - c2 * y**2, "c1 = 3, c2 = -3 is no counterexample")
    rng = np.random.default_rng(3)
    _check_equality(rng.exponential(1.0, 500) + 0.01)
    for u, v in rng.exponential(1.0, (500, 2)) + 0.01:
        for sign in (1, -1):  # 1 - c1 = sign u, and (1 - c1)(1 + c2) = 1 + v
            c1, c2 = 1 - sign * u, sign * (1 + v) / u - 1
            least = np.linalg.eigvalsh([[1 - c1, -1.0], [-1.0, 1 + c2]])[0]
            require(least * sign > 0, f"the form has an eigenvalue {least:.3g} for c1 = {c1:.3g}, c2 = {c2:.3g}")
        points = rng.normal(0, 10, (2, 50))
        sides = theory.difference_of_squares(points[0], points[1], 1 - u, (1 + v) / u - 1)
        slack = float((sides.larger - sides.smaller).min())
        require(slack >= -1e-9, f"it fails by {-slack:.3g} for c1 = {1 - u:.3g}")


def _check_equality(distances: Array) -> None:
    """Show that where (1 - c1)(1 + c2) = 1 one eigenvalue of the form is 0, and the other has the sign of 1 - c1."""
    for u in distances.tolist():
        for sign in (1, -1):
            low, high = np.linalg.eigvalsh([[sign * u, -1.0], [-1.0, sign / u]])
            zero, other = (low, high) if sign > 0 else (high, low)
            require(
                abs(zero) < 1e-12 * abs(other) and other * sign > 0,
                f"the eigenvalues are {low:.3g} and {high:.3g} for 1 - c1 = {sign * u:.3g} at equality",
            )


def check_sign() -> None:
    """Compare both signs of the remark's formula with the covariance after one reward."""
    rng = np.random.default_rng(5)
    printed, ours = 0.0, 0.0
    for arms in rng.integers(2, 12, 50):
        prior = random_prior(rng, int(arms))
        k, i = rng.choice(arms, 2, replace=False)
        noise, v, w = prior.noise_variance[k], prior.variance[i], prior.variance[k]
        rest = w * (1 - prior.covariance[i, k] ** 2 / (v * w))
        after = prior.observe(int(k), 0.0).variance[i]
        ours = max(ours, abs(v * (noise + rest) / (noise + w) / after - 1))
        printed = max(printed, abs(v * (noise - rest) / (noise + w) / after - 1))
    require(ours < 1e-12, f"the corrected formula is off by a share of {ours:.3g}")
    require(printed > 0.5, f"the printed formula is off by a share of {printed:.3g} at most")


def check_threshold() -> None:
    """Show that variances after initialisation lie below sigma_s^2 / nu, and not below nu."""
    rng = np.random.default_rng(6)
    above = 0.0
    for nu in (0.3, 0.7, 1.0):
        for arms in (2, 5, 15):
            prior = random_prior(rng, arms, noise=10.0, scale=30.0)
            sides = theory.initial_variance(prior, nu)
            require((sides.smaller <= sides.larger).all(), f"a variance is above sigma_s^2 / nu for nu = {nu}")
            above = max(above, float(sides.smaller.max()) / nu)
    require(above > 1.5, f"no variance after initialisation is above nu: the largest share of it is {above:.3g}")


def check_lower_variance() -> None:
    """Show that the lower bound on the variance needs all samples, those of initialisation included."""
    rng = np.random.default_rng(7)
    share = math.inf
    for arms in (1, 2, 5, 15):
        prior = random_prior(rng, arms, scale=20.0)
        taken = np.bincount(theory.initialisation(prior, 1.0), minlength=arms)
        for after in (np.zeros(arms, dtype=np.int64), rng.integers(0, 5, arms)):
            right = theory.variance_lower(prior, taken + after)
            require((right.smaller <= right.larger * (1 + 1e-9)).all(), f"it fails with all samples of {arms} arms")
            wrong = prior.noise_variance / (theory.delta_cond(prior) + after)
            share = min(share, float((right.larger / wrong).min()))
    require(share < 0.5, f"with the samples after initialisation it holds: variance over bound is {share:.3g} or more")


def check_estimate_variance() -> None:
    """Show that S P^-1 S = S - S L0 S, so Var(mu_i) <= s_i^2, and that the printed bound is up to N times that."""
    rng = np.random.default_rng(8)
    for arms in (2, 5, 20):
        prior = random_prior(rng, arms)
        counts = rng.integers(0, 6, arms)
        S = prior.observe_all(counts, np.zeros(arms)).covariance
        identity = S - S @ np.linalg.solve(prior.covariance, S)
        error = float(np.abs(theory.estimate_covariance(prior, counts) - identity).max() / S.max())
        require(error < 1e-9, f"S P^-1 S and S - S L0 S differ by {error:.3g} of the largest entry")
        sides = theory.estimate_variance_upper(prior, counts)
        require((sides.smaller <= sides.larger * (1 + 1e-9)).all(), "some Var(mu_i) is above s_i^2")
    tight = Correlated(covariance=0.999 + 0.001 * np.eye(20), noise_variance=1.0)
    loose = float((tight.spread() ** 2).max())
    require(loose > 19, f"sum_j rho_ij^2 is {loose:.3g} for 20 arms correlated at 0.999, not near 20")


def random_prior(rng: np.random.Generator, arms: int, noise: float = 1.0, scale: float = 1.0) -> Correlated:
    """Return a correlated prior with variances of some `scale`."""
    root: Array = rng.standard_normal((arms, arms + 2))
    return Correlated(mean=rng.normal(0, 3, arms), covariance=scale / arms * (root @ root.T), noise_variance=noise)


def check_reduces() -> None:
    """Show on which uncorrelated priors the correlated UCL takes arms that the UCL leaves out, and on which not."""
    far = Independent(mean=[0.0, -1_000.0], variance=10.0, noise_variance=1.0)
    near = Independent(mean=[0.0, -1_000.0], variance=1.0, noise_variance=1.0)
    index = np.abs(CorrelatedUCL(a=2.0).index(far, 7) - UCL(a=2.0).index(far, 7)).max()
    require(index < 1e-9, f"the two indices differ by {index:.3g}")
    require(theory.initialisation(near, 1.0) == [], "a variance of sigma_s^2 / nu is initialised")
    belief = far.observe(0, 0.0)
    chosen = UCL(a=2.0).choose(belief, 2), CorrelatedUCL(a=2.0).choose(belief, 2)
    require(chosen == (0, 1), f"both take the arms {chosen} at t = 2, not 0 and 1")
    for nu, variance in ((1.0, 1.0), (1.0, math.inf), (0.4, 2.5), (0.4, math.inf)):
        prior = Independent(mean=[0.0, 0.5, -1.0, 3.0, 1.0], variance=variance, noise_variance=1.0)
        one, other = (_taken(policy, prior, 300) for policy in (UCL(a=2.0), CorrelatedUCL(a=2.0, nu=nu)))
        require(one == other, f"the two algorithms take other arms for variance {variance} and nu = {nu}")


def _taken(policy: UCL | CorrelatedUCL, belief: GaussianBelief, steps: int) -> list[int]:
    """Return the arms that a rule takes on one sequence of noise; arm i's mean reward is i / 4."""
    taken: list[int] = []
    for t, noise in enumerate(np.random.default_rng(20).standard_normal(steps).tolist(), 1):
        taken.append(policy.choose(belief, t))
        belief = belief.observe(taken[-1], taken[-1] / 4 + noise)
    return taken


RECORDS = (
    Erratum(
        1,
        "Lemma 1 (ii), second inequality",
        "Phi^-1(1 - alpha) > sqrt(-log(2 pi alpha^2 (1 - log(2 pi alpha^2)))) for every alpha in [0, 0.5].",
        "It fails on (0.4403, 0.5]. It holds for 0 < alpha <= 1/sqrt(2 pi) = 0.3989, which is all the theorems use.",
        "The root of the difference of both sides, found by bisection, and the sign on either side of it.",
        check_quantile,
    ),
    Erratum(
        2,
        "Lemma 1 (ii), third inequality, and its use in both theorems",
        "Stated for K = sqrt(2 pi e) and a > 1, then used for any K > 0.",
        "K must be at least sup over u >= 0 of exp(-u) / P(z >= sqrt(3u/2)) = 3.353; sqrt(2 pi e) = 4.133 suffices. "
        "With such a K it is true for every a > 0.",
        "That supremum, maximised numerically; the inequality on a grid of t and a at that K and above; its failure "
        "for K = 1.5, 2.5, 3 and 3.3.",
        check_schedule,
    ),
    Erratum(
        3,
        "Lemma 2 (difference of squares)",
        "(x - y)^2 >= c1 x^2 - c2 y^2 whenever (1 - c1)(1 + c2) >= 1.",
        "c1 < 1 is needed too: both factors may be negative. For c1 > 1 the form is negative definite, and negative "
        "semidefinite where (1 - c1)(1 + c2) = 1.",
        "c1 = 3, c2 = -3, x = 1, y = 0 gives 1 >= 3; the eigenvalues of the form for random c1 below and above 1, and "
        "at equality, where one of them is 0.",
        check_squares,
    ),
    Erratum(
        5,
        "section 4.1, remark on correlation structure and initialisation, formula for the variance",
        "s_i^2(t) = [s2 s_i^2 - s_i^2 s_k^2 (1 - rho^2)] / (s2 + s_k^2), k the arm taken, right side at t - 1.",
        "s_i^2(t) = s_i^2 [s2 + s_k^2 (1 - rho^2)] / (s2 + s_k^2): the sign is plus.",
        "The covariance after one reward, on random priors: the corrected formula agrees to rounding, the printed one "
        "can be negative.",
        check_sign,
    ),
    Erratum(
        6,
        "proof of the variance lemma, first statement",
        "After initialisation every variance is at most nu.",
        "At most sigma_s^2 / nu, as the initialisation lemma says; the lemma's upper bound needs this and follows.",
        "Variances after initialisation on random priors with sigma_s^2 = 10.",
        check_threshold,
    ),
    Erratum(
        7,
        "variance lemma (i), lower bound",
        "s_i^2 >= sigma_s^2 / (delta_cond_i^2 + n_i), n_i counting the samples after initialisation.",
        "With N_i, all samples of the arm. The proof of Theorem 2 is mended by using N_i there as well: its case "
        "n_i* = 0 needs that the arm was not sampled in the initialisation either.",
        "Random priors of large variance: right after initialisation the variance is less than half the printed "
        "bound; the bound with N_i holds.",
        check_lower_variance,
    ),
    Erratum(
        8,
        "variance lemma (ii), upper bound, and the factor of the correlated UCL's index",
        "Var(mu_i(t)) <= s_i^2 sum_j rho_ij^2, whence the factor sqrt(sum_j rho_ij^2) in the index.",
        "True but loose: S P^-1 S = S - S L0 S, so Var(mu_i(t)) <= s_i^2 always. The factor, up to sqrt(N), is not "
        "needed for validity.",
        "The identity on random priors and counts; 20 arms correlated at 0.999, where the sum is above 19.",
        check_estimate_variance,
    ),
    Erratum(
        20,
        "section 4.1, after the definition of the index",
        "For uncorrelated priors the correlated UCL algorithm reduces to the UCL algorithm.",
        "Its index does. The algorithm does if sigma_0^2 <= sigma_s^2 / nu, where it has no initialisation, or if "
        "sigma_0^2 = inf, where the UCL algorithm takes every arm once first too. In between it takes every arm "
        "once, which the UCL algorithm need not.",
        "Two arms with variance 10, noise 1 and prior means 0 and -1000: equal indices, but only one algorithm takes "
        "the second arm. Five arms, 300 steps on the same noise: the same arms for variances of 1, 1/nu and inf.",
        check_reduces,
    ),
)
