"""The cases of Theorem 2 by sign, against brute force over counts and against simulation."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from corrbandits import (
    UCL,
    Correlated,
    CorrelatedUCL,
    Exponential,
    GaussianBandit,
    Independent,
    SquaredExponential,
    simulate,
    theory,
)

LINE = np.sort(np.random.default_rng(0).uniform(0, 6, 8))
BANDIT = GaussianBandit(np.sin(LINE), noise_variance=1.0)


def prior(d, variance=4.0):
    """Exponential kernel on a line: no entry of the precision off its diagonal is above 0."""
    return Correlated(mean=BANDIT.means + d, kernel=variance * Exponential(2.0), coordinates=LINE, noise_variance=1.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nu", [None, 1.0, 0.3])
def test_no_counts_bias_an_estimate_further_than_the_distance_of_its_sign(seed, nu):
    rng = np.random.default_rng(seed)
    belief = prior(rng.normal(0, 2, 8))
    signed = theory.signed_distances(BANDIT, belief, nu)
    start = np.bincount(theory.initialisation(belief, nu), minlength=8) if nu else np.zeros(8, dtype=int)
    assert signed.case == 1
    for _ in range(200):
        counts = start + rng.poisson(rng.choice([0.1, 1.0, 10.0]), 8)
        share = theory.bias(BANDIT, belief, counts) / np.sqrt(belief.observe_all(counts, np.zeros(8)).variance)
        assert share.max() <= signed.over * (1 + 1e-9)
        assert -share.min() <= signed.under * (1 + 1e-9)


@pytest.mark.parametrize(("sign", "case"), [(1, 3), (-1, 2), (0, 4)])
def test_a_prior_that_errs_in_one_direction_misleads_in_that_one_alone(sign, case):
    belief = prior(sign * prior(0.0).covariance @ np.random.default_rng(1).uniform(0.1, 0.5, 8))  # so L0 d has one sign
    signed = theory.signed_distances(BANDIT, belief)
    assert signed.case == case
    assert signed.over + signed.under == pytest.approx(theory.prior_distance(BANDIT, belief), rel=1e-9)
    rng = np.random.default_rng(2)
    for _ in range(200):
        bias = theory.bias(BANDIT, belief, rng.poisson(1.0, 8))
        assert (sign * bias >= -1e-12).all()


@pytest.mark.parametrize("sign", [1, -1, 0])
def test_the_bound_has_the_terms_of_its_case(sign):
    v = 0.3
    belief = prior(sign * prior(0.0).covariance @ np.full(8, v))
    a, c1, K = 2.0, 0.8, math.sqrt(2 * math.pi * math.e)
    bound = theory.sign_refined_bound(BANDIT, belief, UCL(a=a), 10_000, c1=c1)
    plain = theory.correlated_bound(BANDIT, belief, UCL(a=a), 10_000, c1=c1)
    with mp.workdps(30):
        luck = mpf(a) / (K * (mpf(a) - 1))
        square = sum(mpf(float(x)) * mpf(v) ** 2 for x in prior(0.0).covariance.ravel()) if sign else mpf(0)
        misled = mp.exp(2 * square / (3 * a)) + 3 * a * c1 / (2 * (3 * a * c1 - 4)) * mp.exp(c1 / (1 - c1) * square / 2)
        extra = float(mp.log10(misled + luck if sign else 2 * luck))
    suboptimal = BANDIT.gaps > 0
    assert bound.log10_extra.values[suboptimal] == pytest.approx(np.full(7, extra), rel=1e-9)
    assert (bound.eta.values[suboptimal] == plain.eta.values[suboptimal]).all()
    assert (bound.total.values[suboptimal] < plain.total.values[suboptimal]).all()


def test_the_fourth_case_is_theorem_1s_for_independent_arms():
    bandit = GaussianBandit([1.0, 0.0, 0.5], noise_variance=1.0)
    right = Independent(mean=bandit.means, variance=4.0, noise_variance=1.0)
    first = theory.uncorrelated_bound(bandit, right, UCL(a=2.0), 1_000)
    second = theory.sign_refined_bound(bandit, right, UCL(a=2.0), 1_000)
    assert second.total.values[1:] == pytest.approx(first.total.values[1:], rel=1e-12)
    assert second.case.values[1:].tolist() == first.case.values[1:].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("policy", [UCL(a=1.5), CorrelatedUCL(a=1.5, factor=False)])
def test_mean_counts_stay_below(policy):
    for sign in (1, -1):
        belief = prior(sign * prior(0.0).covariance @ np.full(8, 0.1))
        bound = theory.sign_refined_bound(BANDIT, belief, policy, 1_000)
        trace = simulate({"it": (policy, belief)}, BANDIT, 1_000, 20, seed=0, progress=False)
        suboptimal = BANDIT.gaps > 0
        assert (trace.counts.values[0].mean(axis=0)[suboptimal] <= bound.total.values[suboptimal]).all()


def test_other_priors_are_refused():
    smooth = Correlated(kernel=SquaredExponential(1.0), coordinates=LINE, noise_variance=1.0)
    with pytest.raises(ValueError, match=r"precision must have no positive entry off its diagonal.*correlated_bound"):
        theory.signed_distances(BANDIT, smooth)
    for bad in (np.ones((8, 8)), np.zeros((8, 8))):
        with pytest.raises(ValueError, match=r"for the cases by sign; do correlated_bound|no positive entry"):
            theory.signed_distances(BANDIT, Correlated(covariance=bad, noise_variance=1.0))
    with pytest.raises(ValueError, match="finite and above 0"):
        theory.signed_distances(BANDIT, Independent(variance=np.inf, noise_variance=1.0, arms=8))
    with pytest.raises(ValueError, match="c1 must lie strictly between"):
        theory.sign_refined_bound(BANDIT, prior(0.0), UCL(a=2.0), 100, c1=0.1)
