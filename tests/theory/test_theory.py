"""Lemmas, estimate, initialisation, and lower bound, each against the formulas with 60 digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.optimize import brentq

from corrbandits import (
    Beta,
    Correlated,
    CorrelatedUCL,
    Exponential,
    GaussianBandit,
    Independent,
    SquaredExponential,
    theory,
)
from tests.support.contracts import GRID, QUICK
from tests.support.high_precision import (
    DIGITS,
    after,
    assert_logs_close,
    beta,
    conditional,
    distance,
    exact,
    initialise,
    quantile,
    tail,
    vector,
)

K = math.sqrt(2 * math.pi * math.e)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(DIGITS):
        yield


def random_problem(seed, arms=None, decades=1.0):
    """A bandit and a correlated prior, variances and noise over so many decades on either side of 1."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(1, 7)) if arms is None else arms
    root = rng.normal(size=(arms, arms + 1)) * 10 ** rng.uniform(-decades, decades, arms)[:, None]
    noise = 10 ** rng.uniform(-decades, decades, arms)
    bandit = GaussianBandit(rng.normal(size=arms) * 3, noise)
    prior = Correlated(mean=rng.normal(size=arms), covariance=root @ root.T, noise_variance=noise)
    return bandit, prior, rng


def tolerance(prior):
    """1e-10, or cond(S0) 1e-14 where that is larger; S0 scaled to variances of 1, as no unit can matter."""
    rho = prior.covariance / np.sqrt(np.outer(prior.variance, prior.variance))
    return max(1e-10, np.linalg.cond(rho) * 1e-14)


def parts(bandit, prior):
    d = [u - m for u, m in zip(vector(prior.mean), vector(bandit.means), strict=True)]
    return exact(prior.covariance), d, vector(prior.noise_variance)


# Lemma 1


# beyond 300 the lower bound is closer to the tail than doubles can tell
WIDTHS = np.concatenate([[0.0], np.geomspace(1e-12, 300, 3_000)])


@pytest.mark.parametrize("lemma", [theory.tail_upper, theory.tail_upper_loose, theory.tail_lower])
def test_the_tail_bounds_hold(lemma):
    smaller, larger = lemma(WIDTHS)
    # at 0 two of them are equalities, and so close by that only rounding tells
    near = WIDTHS < 1e-9
    assert (smaller[~near] <= larger[~near]).all()
    assert (smaller[near] <= larger[near] + 1e-15).all()


@pytest.mark.parametrize("w", [0.0, 1e-9, 0.3, 2.0, 40.0, 1e4, 1e6, 1e150])
def test_the_tail_bounds_are_those_of_the_print(w):
    x = mpf(w)
    upper = 2 * mp.exp(-(x**2) / 2) / (mp.sqrt(2 * mp.pi) * (x + mp.sqrt(x**2 + 8 / mp.pi)))
    lower = mp.sqrt(2 / mp.pi) * mp.exp(-(x**2) / 2) / (x + mp.sqrt(x**2 + 4))
    assert_logs_close(theory.tail_upper(w).smaller, mp.log(tail(x)) if w < 1e5 else mp.log(upper))
    assert_logs_close(theory.tail_upper(w).larger, mp.log(upper))
    assert_logs_close(theory.tail_upper_loose(w).larger, -(x**2) / 2 - mp.log(2))
    assert_logs_close(theory.tail_lower(w).smaller, mp.log(lower))


def test_no_width_is_too_large():
    for lemma in (theory.tail_upper, theory.tail_upper_loose, theory.tail_lower):
        assert lemma(1e200) == (-np.inf, -np.inf)


def test_the_quantile_is_at_most_the_root():
    log_alpha = np.concatenate([np.log(np.linspace(1e-6, 0.5, 2_000)), -np.geomspace(10, 1e12, 2_000)])
    smaller, larger = theory.quantile_upper(log_alpha)
    assert (smaller <= larger).all()


def test_the_lower_quantile_bound_holds_on_the_corrected_range_and_fails_on_the_rest_of_the_printed_one():
    end = 1 / math.sqrt(2 * math.pi)
    # beyond exp(-1e6) the bound is closer to the quantile than doubles can tell
    right = np.concatenate([np.log(np.linspace(1e-6, end, 5_000)), -np.geomspace(10, 1e6, 2_000)])
    smaller, larger = theory.quantile_lower(right)
    assert (smaller <= larger).all()
    # between 1/sqrt(2 pi) = 0.3989 and 0.4403 it holds by luck, beyond it is false, to the end of the printed range
    smaller, larger = theory.quantile_lower(np.log(np.linspace(0.4404, 0.5, 1_000)))
    assert (smaller > larger).all()
    smaller, larger = theory.quantile_lower(np.log(np.linspace(end, 0.4402, 1_000)))
    assert (smaller < larger).all()


@pytest.mark.parametrize("log_alpha", [-0.75, math.log(0.45), -0.919, -0.91893853, -1.0, -3.0, -50.0, -1e3, -1e8])
def test_the_quantile_bounds_are_those_of_the_print(log_alpha):
    log = mpf(log_alpha)
    x = 2 * mp.pi * mp.exp(2 * log)
    sides = theory.quantile_lower(log_alpha)
    # relative, not in logarithms: near alpha = 1/sqrt(2 pi) the left side goes through 0
    wanted = mp.sqrt(-mp.log(x * (1 - mp.log(x))))
    assert abs(mpf(float(sides.smaller)) - wanted) <= 1e-10 * wanted + 1e-15
    assert abs(mpf(float(sides.larger)) - quantile(log)) <= 1e-10 * abs(quantile(log))
    assert abs(mpf(float(theory.quantile_upper(log_alpha).larger)) - mp.sqrt(-2 * log)) <= 1e-10


@QUICK
@given(st.floats(1, 1e9), st.floats(1e-6, 1e3))
def test_the_schedule_exceeds_its_root_for_every_a(t, a):
    smaller, larger = theory.schedule_lower(t, a)
    assert smaller < larger


def test_the_schedule_exceeds_its_root_at_all_times():
    for a in (1e-3, 0.5, 1.0, 3.3, 50.0, 1e3):
        for times in (np.arange(1.0, 1e5), np.geomspace(1, 1e9, 10_000), np.geomspace(1e9, 1e308, 1_000)):
            smaller, larger = theory.schedule_lower(times, a)
            assert (smaller < larger).all()


def test_the_least_k_that_suffices():
    # only a log t matters
    times = np.exp(np.concatenate([np.linspace(0, 50, 100_001), np.geomspace(50, 700, 1_000)]))

    def margin(K):
        smaller, larger = theory.schedule_lower(times, 1.0, K)
        return float((larger - smaller).min())

    assert margin(K) > 0
    least = brentq(margin, 2.0, K, xtol=1e-7)
    assert least == pytest.approx(3.353, abs=6e-4)
    assert margin(3.36) > 0
    assert margin(3.34) < 0


# Lemma 2


@QUICK
@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-5, 0.99), st.floats(0, 5))
def test_the_difference_of_squares_for_c1_below_1(x, y, c1, more):
    c2 = 1 / (1 - c1) - 1 + more
    smaller, larger = theory.difference_of_squares(x, y, c1, c2)
    assert smaller <= larger + 1e-9 * (x * x + y * y) * (1 + abs(c1) + abs(c2))


def test_the_difference_of_squares_is_false_as_printed():
    smaller, larger = theory.difference_of_squares(1.0, 0.0, 3.0, -3.0)
    assert (smaller, larger) == (3.0, 1.0)  # (1 - 3)(1 - 3) = 4 >= 1


def test_lemma_2_refuses_what_it_does_not_speak_of():
    with pytest.raises(ValueError, match="must be at least 1, but it is 0"):
        theory.difference_of_squares(1.0, 1.0, 1.0, 5.0)
    with pytest.raises(OverflowError, match="divide both"):
        theory.difference_of_squares(1e200, 1.0, 0.5, 1.0)


# initialisation


def steps(prior, policy):
    """What the policy takes while anything is pending."""
    taken, belief = [], prior
    while policy.pending(belief).any():
        taken.append(policy.choose(belief, t=len(taken) + 1))
        belief = belief.observe(taken[-1], 0.0)
    return taken, belief


@pytest.mark.parametrize("seed", range(12))
def test_the_initialisation_is_what_the_policy_takes(seed):
    _, prior, rng = random_problem(seed, arms=int(np.random.default_rng(seed).integers(1, 25)))
    nu = float(rng.uniform(0.05, 1))
    taken, belief = steps(prior, CorrelatedUCL(nu=nu))
    assert theory.initialisation(prior, nu) == taken
    assert len(set(taken)) == len(taken) <= prior.arms
    sides = theory.initial_variance(prior, nu)
    assert sides.smaller == pytest.approx(belief.variance, rel=1e-9)
    assert (sides.smaller <= sides.larger).all()


@pytest.mark.parametrize(("arms", "length"), [(90, 0.01), (150, 0.3), (200, 2.0)])
def test_the_initialisation_of_many_arms(arms, length):
    # more than one panel of 64, more than two; for short lengths every arm is taken
    rng = np.random.default_rng(arms)
    where, scale = rng.uniform(0, 10, (arms, 2)), rng.uniform(2.5, 4, arms)
    covariance = np.outer(scale, scale) * Exponential(length)(where, where)
    prior = Correlated(covariance=covariance, noise_variance=rng.uniform(0.5, 2, arms))
    taken, _ = steps(prior, CorrelatedUCL())
    assert len(taken) > 64
    assert theory.initialisation(prior, 1.0) == taken


def test_the_initialisation_with_ties_is_one_that_the_policy_could_take():
    prior = Correlated(kernel=40 * Exponential(3.0), coordinates=GRID, noise_variance=10.0)
    belief, taken = prior, theory.initialisation(prior, 1.0)
    for arm in taken:
        pending = CorrelatedUCL().pending(belief)
        assert pending[arm]
        assert belief.variance[arm] >= belief.variance.max() * (1 - 1e-12)
        belief = belief.observe(arm, 0.0)
    assert not CorrelatedUCL().pending(belief).any()


def test_the_initialisation_of_independent_arms():
    prior = Independent(variance=[3.0, np.inf, 1.0, 3.0, np.inf], noise_variance=1.0)
    assert theory.initialisation(prior, 1.0) == steps(prior, CorrelatedUCL())[0] == [1, 4, 0, 3]
    assert theory.initialisation(prior, 0.25) == [1, 4]
    assert theory.initialisation(Independent(variance=1e300, noise_variance=1e12, arms=1), 1e-300) == []


# the variance lemma


@pytest.mark.parametrize("seed", range(10))
def test_the_variance_lemma(seed):
    _, prior, rng = random_problem(seed)
    nu, counts = float(rng.uniform(0.1, 1)), rng.integers(0, 50, prior.arms)
    for sides in (
        theory.variance_upper(prior, counts, nu),
        theory.variance_lower(prior, counts),
        theory.estimate_variance_upper(prior, counts),
        theory.estimate_variance_lower(prior, counts),
    ):
        assert (sides.smaller <= sides.larger * (1 + 1e-12)).all()
    S, _, noise = parts(GaussianBandit(prior.mean, prior.noise_variance), prior)
    posterior = after(S, noise, counts)
    bar = posterior * mp.diag([mpf(int(n)) / s for n, s in zip(counts, noise, strict=True)]) * posterior
    taken = initialise(S, noise, mpf(nu))
    later = after(S, noise, [int(n) + (k in taken) for k, n in enumerate(counts)])
    for k in range(prior.arms):
        n, s, limit = mpf(int(counts[k])), noise[k], tolerance(prior)
        for got, wanted in (
            (theory.variance_upper(prior, counts, nu), (later[k, k], s / (mpf(nu) + n))),
            (theory.variance_lower(prior, counts), (s / (s / conditional(S)[k] + n), posterior[k, k])),
            (theory.estimate_variance_upper(prior, counts), (bar[k, k], posterior[k, k])),
            (theory.estimate_variance_lower(prior, counts), (n * posterior[k, k] ** 2 / s, bar[k, k])),
        ):
            for side, number in zip(got, wanted, strict=True):
                assert abs(mpf(float(side[k])) - number) <= limit * number


def test_the_printed_lower_bound_on_the_variance_is_false():
    prior = Independent(variance=9.0, noise_variance=1.0, arms=1)
    # one sample in the initialisation phase, none after it: n = 0 as printed
    after_it = theory.initial_variance(prior, 1.0).smaller[0]
    assert after_it < theory.variance_lower(prior, [0]).smaller[0]
    assert after_it >= theory.variance_lower(prior, [1]).smaller[0] * (1 - 1e-15)


def test_the_variance_lemma_does_not_mind_the_means():
    prior = Correlated(mean=[1e200, -1e200], covariance=1e-300 * (np.eye(2) + 1), noise_variance=1e-300)
    near = Correlated(mean=0.0, covariance=np.eye(2) + 1, noise_variance=1.0)
    for lemma in (theory.variance_lower, theory.estimate_variance_upper, theory.estimate_variance_lower):
        for far, wanted in zip(lemma(prior, [3, 1]), lemma(near, [3, 1]), strict=True):
            assert far * 1e300 == pytest.approx(wanted, rel=1e-12)


def test_the_variance_lemma_where_nothing_is_believed():
    prior = Independent(variance=[np.inf, np.inf, 2.0], noise_variance=[1.0, 4.0, 1.0])
    assert theory.variance_lower(prior, [0, 2, 2]).smaller.tolist() == [np.inf, 2.0, 0.4]
    assert theory.estimate_variance_lower(prior, [0, 2, 2]).smaller == pytest.approx([0.0, 2.0, 0.32])
    assert theory.estimate_variance_upper(prior, [0, 2, 2]).smaller == pytest.approx([0.0, 2.0, 0.32])


# the estimate


@pytest.mark.parametrize("seed", range(12))
def test_the_estimate_with_sixty_digits(seed):
    bandit, prior, rng = random_problem(seed, decades=[1.0, 3.0][seed % 2])
    counts, nu, limit = rng.integers(0, 9, prior.arms), float(rng.uniform(0.1, 1)), tolerance(prior)
    S, d, noise = parts(bandit, prior)
    posterior = after(S, noise, counts)
    e = posterior * S**-1 * mp.matrix(d)
    bar = posterior * mp.diag([mpf(int(n)) / s for n, s in zip(counts, noise, strict=True)]) * posterior
    got_e, got_bar = theory.bias(bandit, prior, counts), theory.estimate_covariance(prior, counts)
    got_cond, got_delta = theory.conditional_variance(prior), theory.delta_cond(prior)
    got_beta, wanted_beta = theory.beta(bandit, prior, nu), beta(S, d, noise, mpf(nu))
    size = max(abs(x) / mp.sqrt(S[k, k]) for k, x in enumerate(d))
    for k in range(prior.arms):
        assert abs(mpf(float(got_e[k])) - e[k]) <= limit * max(abs(e[k]), size * mp.sqrt(posterior[k, k]))
        for j in range(prior.arms):
            scale = mp.sqrt(posterior[k, k] * posterior[j, j])
            assert abs(mpf(float(got_bar[k, j])) - bar[k, j]) <= limit * scale
        wanted = conditional(S)[k]
        assert abs(mpf(float(got_cond[k])) - wanted) <= limit * wanted
        assert abs(mpf(float(got_delta[k])) - noise[k] / wanted) <= limit * noise[k] / wanted
        assert abs(mpf(float(got_beta[k])) - wanted_beta[k]) <= limit * wanted_beta[k]
    once = [int(k in initialise(S, noise, mpf(nu))) for k in range(prior.arms)]
    for given_nu, number in ((None, [0] * prior.arms), (nu, once)):
        wanted = distance(S, d, noise, number)
        assert abs(mpf(theory.prior_distance(bandit, prior, given_nu)) - wanted) <= limit * wanted
    assert theory.prior_distance(bandit, prior, nu) <= theory.prior_distance(bandit, prior) * (1 + 1e-9)


def test_the_distance_has_no_unit_and_no_limit():
    rho = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.5], [0.2, 0.5, 1.0]])
    for unit in (1e-150, 1.0, 1e150):
        bandit = GaussianBandit(np.array([0.0, 1.0, 2.0]) * unit, noise_variance=unit**2)
        prior = Correlated(covariance=9 * rho * unit**2, noise_variance=unit**2)
        S, d, noise = exact(9 * rho), vector([0.0, -1.0, -2.0]), vector([1.0] * 3)
        assert theory.prior_distance(bandit, prior) == pytest.approx(float(distance(S, d, noise, [0] * 3)), rel=1e-12)
        assert theory.prior_distance(bandit, prior, 1.0) == pytest.approx(
            float(distance(S, d, noise, [1] * 3)), rel=1e-12
        )
    far = GaussianBandit([0.0, 1e200], noise_variance=1e-12)
    prior = Independent(variance=1e-12, noise_variance=1e-12, arms=2)
    assert theory.prior_distance(far, prior) == pytest.approx(1e206)
    assert theory.beta(far, prior, 1.0) == pytest.approx(math.sqrt(2e-12) * 1e212)


def test_the_distance_without_correlation():
    bandit = GaussianBandit([1.0, 2.0, 5.0], noise_variance=1.0)
    prior = Independent(mean=0.0, variance=[4.0, np.inf, 0.5], noise_variance=1.0)
    # nothing is believed of arm 1; after its sample arm 0 keeps d^2 / (4 (4 + 1)); arm 2 is not taken
    assert theory.prior_distance(bandit, prior) == pytest.approx(math.sqrt(1 / 4 + 25 / 0.5))
    assert theory.prior_distance(bandit, prior, 1.0) == pytest.approx(math.sqrt(1 / (4 * 5) + 25 / 0.5))
    assert theory.bias(bandit, prior, [2, 3, 0]) == pytest.approx([-1 / 9, 0.0, -5.0])


def test_the_estimate_by_simulation():
    bandit, prior, rng = random_problem(3, arms=4)
    counts, runs = np.array([3, 0, 1, 7]), 20_000
    noise = rng.normal(size=(runs, 4)) * np.sqrt(counts * prior.noise_variance)
    sums = counts * bandit.means + noise
    # the posterior mean is linear in the sums: its columns are found from four unit vectors
    base = prior.observe_all(counts, np.zeros(4)).mean
    unit = np.array([prior.observe_all(counts, np.eye(4)[k] * (counts[k] > 0)).mean - base for k in range(4)])
    errors = base + sums @ unit - bandit.means
    S = theory.estimate_covariance(prior, counts)
    assert (np.abs(errors.mean(axis=0) - theory.bias(bandit, prior, counts)) <= 5 * np.sqrt(S.diagonal() / runs)).all()
    limit = 5 * np.sqrt((np.outer(S.diagonal(), S.diagonal()) + S**2) / runs)
    assert (np.abs(np.cov(errors.T) - S) <= limit).all()


def test_the_bias_of_a_singular_prior():
    # all arms are one: its mean goes to the average of the seen ones, d = 0 there being certain but for the noise
    bandit = GaussianBandit([1.0, 1.0, 1.0], noise_variance=1e-20)
    prior = Correlated(mean=3.0, covariance=np.ones((3, 3)), noise_variance=1e-20)
    assert theory.bias(bandit, prior, [1, 2, 0]) == pytest.approx([2e-20 / 3] * 3, abs=1e-15)
    assert theory.bias(bandit, prior, [0, 0, 0]).tolist() == [2.0] * 3


def test_a_singular_prior_that_is_sure_and_wrong_is_infinitely_far():
    bandit = GaussianBandit([1.0, 2.0, 3.0], noise_variance=1.0)
    for covariance, left in ((np.ones((3, 3)), [0.0] * 3), (np.diag([0.0, 1.0, 2.0]), [0.0, 1.0, 2.0])):
        wrong = Correlated(covariance=covariance, noise_variance=1.0)
        right = Correlated(mean=bandit.means, covariance=covariance, noise_variance=1.0)
        assert theory.prior_distance(bandit, wrong, 1.0) == np.inf
        assert theory.prior_distance(bandit, right, 1.0) == 0
        assert theory.conditional_variance(wrong).tolist() == left
        assert theory.delta_cond(wrong)[0] == np.inf
        assert theory.beta(bandit, wrong, 1.0).tolist() == [np.inf] * 3
        assert theory.beta(bandit, right, 1.0).tolist() == [0.0] * 3


def singular_priors():
    """Covariances that are singular, with the reason."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 3)) * 10 ** rng.uniform(-2, 2, (6, 1))
    block = np.zeros((5, 5))
    block[:2, :2], block[2:, 2:] = 4.0, [[2.0, 1.0, 0.5], [1.0, 2.0, 0.3], [0.5, 0.3, 1.0]]
    return {
        "one shared mean": 3 * np.ones((4, 4)),
        "rank 3 of 6": root @ root.T,
        "twins and others": block,
        "one arm known": np.diag([0.0, 1.0, 2.0]),
    }


@pytest.mark.parametrize("name", singular_priors())
@pytest.mark.parametrize("nu", [None, 1.0, 0.3])
def test_the_distance_of_a_singular_prior_is_that_of_the_pseudo_inverse(name, nu):
    S = singular_priors()[name]
    arms, v = len(S), np.random.default_rng(1).standard_normal(len(S))
    d = S @ v  # in the range, so that L0^+ d is known: (L0^+ d)' S(t) (L0^+ d) = v' S(t) v
    bandit = GaussianBandit(np.arange(arms), noise_variance=1.0)
    prior = Correlated(mean=bandit.means + d, covariance=S, noise_variance=1.0)
    after = S
    for arm in theory.initialisation(prior, nu) if nu else []:
        after = after - np.outer(after[arm], after[arm]) / (1 + after[arm, arm])
    assert theory.prior_distance(bandit, prior, nu) == pytest.approx(math.sqrt(v @ after @ v), rel=1e-9)
    off = np.linalg.svd(S)[0][:, -1]  # what the prior is sure of
    wrong = Correlated(mean=bandit.means + d + 1e-3 * np.abs(d).max() * off, covariance=S, noise_variance=1.0)
    assert theory.prior_distance(bandit, wrong, nu) == np.inf


@pytest.mark.parametrize("name", singular_priors())
def test_conditional_variances_of_a_singular_prior(name):
    S = singular_priors()[name]
    found = theory.conditional_variance(Correlated(covariance=S, noise_variance=1.0))
    for i in range(len(S)):
        others = np.delete(np.arange(len(S)), i)
        left = S[i, i] - S[i, others] @ np.linalg.pinv(S[np.ix_(others, others)], rcond=1e-12) @ S[others, i]
        assert found[i] == pytest.approx(left, rel=1e-8, abs=1e-9 * S[i, i])


def test_a_smooth_prior_singular_to_rounding_and_a_difference_that_is_smooth_too():
    where = np.linspace(0, 5, 30)
    S = 4 * SquaredExponential(5.0)(where)
    v = np.zeros(30)
    v[[3, 15, 27]] = 1.0, -2.0, 0.5
    bandit = GaussianBandit(np.sin(where), noise_variance=1.0)
    prior = Correlated(mean=bandit.means + S @ v, covariance=S, noise_variance=1.0)
    assert theory.prior_distance(bandit, prior) == pytest.approx(math.sqrt(v @ S @ v), rel=1e-3)
    rough = Correlated(mean=bandit.means + (-1.0) ** np.arange(30), covariance=S, noise_variance=1.0)
    assert theory.prior_distance(bandit, rough) == np.inf


# the lower bound


def test_the_lower_bound_on_counts():
    bandit = GaussianBandit([5.0, 3.0, 4.5, 5.0], noise_variance=[1.0, 2.0, 3.0, 4.0])
    counts = theory.lai_robbins_counts(bandit, 1_000)
    assert counts == pytest.approx([np.nan, math.log(1_000), 24 * math.log(1_000), np.nan], nan_ok=True)
    assert float(theory.lai_robbins(bandit, 1_000)[-1]) == pytest.approx(np.nansum(counts * bandit.gaps), rel=1e-12)
    assert theory.lai_robbins_counts(bandit, 1)[1] == 0


def test_the_lower_bound_of_extremes():
    tiny, huge = GaussianBandit([1e-200, 0.0], 1e12), GaussianBandit([1e200, 0.0], 1e-12)
    assert theory.lai_robbins_counts(tiny, 10)[1] == np.inf
    assert theory.lai_robbins_counts(huge, 10)[1] == 0
    assert float(theory.lai_robbins(tiny, 10)[-1]) == pytest.approx(2e212 * math.log(10))
    vanishing = GaussianBandit([1e-305, 0.0], 1e12)
    assert theory.lai_robbins(vanishing, 3).values.tolist() == [0.0, np.inf, np.inf]
    assert theory.lai_robbins_counts(vanishing, 1)[1] == 0


# bad input


BANDIT = GaussianBandit([1.0, 0.0], noise_variance=1.0)
PRIOR = Independent(variance=1.0, noise_variance=1.0, arms=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: theory.tail_upper(-1.0), ValueError, "w must be at least 0, got -1"),
        (lambda: theory.tail_lower(math.nan), ValueError, "w must be finite"),
        (lambda: theory.quantile_upper(0.0), ValueError, "log_alpha must be below 0"),
        (lambda: theory.quantile_lower(-0.3), ValueError, "alpha is below 0.65"),
        (lambda: theory.schedule_lower(0, 1.0), ValueError, "t must be at least 1, got 0"),
        (lambda: theory.schedule_lower(2, 0.0), ValueError, "a must be above 0"),
        (lambda: theory.schedule_lower(2, 1.0, K=1.0), ValueError, "K must be above 1"),
        (lambda: theory.initialisation(PRIOR, 0.0), ValueError, "nu must be above 0"),
        (lambda: theory.initialisation(PRIOR, 1.5), ValueError, "at most 1, got 1.5"),
        (lambda: theory.initialisation(Beta(arms=2), 1.0), TypeError, "is for Gaussian beliefs.*got <Beta"),
        (lambda: theory.variance_lower(PRIOR, [1, -1]), ValueError, "counts must be 2 whole numbers"),
        (lambda: theory.variance_lower(PRIOR, [1.5, 1]), ValueError, "counts must be 2 whole numbers"),
        (lambda: theory.estimate_covariance(PRIOR, [1]), ValueError, "counts must be 2 whole numbers"),
        (lambda: theory.bias(BANDIT, PRIOR, [math.nan, 1]), ValueError, "counts must be 2 whole numbers"),
        (lambda: theory.beta(BANDIT, PRIOR, -1.0), ValueError, "nu must be above 0"),
        (lambda: theory.prior_distance(BANDIT, PRIOR, math.nan), ValueError, "nu must be above 0"),
        (lambda: theory.prior_distance(BANDIT, Beta(arms=2)), TypeError, "for Gaussian beliefs.*got <Beta"),
        (lambda: theory.conditional_variance(Beta(arms=2)), TypeError, "for Gaussian beliefs.*got <Beta"),
        (lambda: theory.lai_robbins_counts(BANDIT, 0), ValueError, "horizon must be at least 1"),
        (lambda: theory.prior_distance("bandit", PRIOR), TypeError, "a GaussianBandit, got 'bandit'"),
    ],
)
def test_nonsense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_lower_bound_at_times_of_ones_own():
    bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    times = theory.spread_times(10**18)
    assert times[[0, -1]].tolist() == [1, 10**18]
    bound = theory.lai_robbins(bandit, 10**18, times=times)
    assert float(bound[-1]) == pytest.approx(2 * 18 * math.log(10), rel=1e-14)
    with pytest.raises(ValueError, match="horizon must be at most 100,000,000"):
        theory.lai_robbins(bandit, 10**18)
    for call in (theory.lai_robbins, theory.lai_robbins_counts):
        with pytest.raises(TypeError, match="the lower bound is of an environment"):
            call([1.0, 2.0], 3)


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_the_centralised_bound_is_the_cost_of_arms_worse_than_the_last_good_one(players):
    """Against the sum written out, and against the bound of one player for one."""
    means, variance = [0.2, 1.0, 0.7, 0.5], 0.3
    bandit = GaussianBandit(means, variance)
    last = sorted(means, reverse=True)[players - 1]
    slope = sum(2 * variance / (last - mean) for mean in means if mean < last)
    bound = theory.centralised(bandit, 1_000, players, collisions=True)
    assert float(bound[-1]) == pytest.approx(slope * math.log(1_000), rel=1e-12)
    free = theory.centralised(bandit, 1_000, players)
    np.testing.assert_array_equal(free.values, theory.lai_robbins(bandit, 1_000).values)
    with pytest.raises(ValueError, match="5 players cannot avoid each other on 4 arms"):
        theory.centralised(bandit, 1_000, 5, collisions=True)
