"""The paper, equation by equation: sections 2 to 4 as far as inference, the two algorithms and initialisation go."""

import math
from decimal import Decimal, localcontext

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corrbandits import theory
from corrbandits.belief import Beta, Correlated, Independent
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Exponential
from corrbandits.policies import UCL, BayesUCB, CorrelatedUCL
from tests.support.contracts import GRID, QUICK, decimals, inverse

NOISE = 2.0


def random_prior(rng, arms):
    """A correlated prior with condition number of some hundreds."""
    root = rng.standard_normal((arms, arms + 2))
    return Correlated(mean=rng.normal(0, 3, arms), covariance=root @ root.T, noise_variance=NOISE)


def history(rng, arms, steps):
    return rng.integers(0, arms, steps).tolist(), rng.normal(0, 3, steps).tolist()


def play(policy, belief, steps, means, rng):
    """Let a policy play Gaussian arms; return the arms it took and the belief it ended with."""
    taken = []
    for t in range(1, steps + 1):
        arm = policy.choose(belief, t)
        taken.append(arm)
        belief = belief.observe(arm, float(rng.normal(means[arm], math.sqrt(belief.noise_variance[arm]))))
    return taken, belief


def initial_arms(policy, belief):
    """The arms of the initialisation phase: which they are does not depend on the rewards."""
    taken = []
    while policy.pending(belief).any():
        taken.append(policy.choose(belief, len(taken) + 1))
        belief = belief.observe(taken[-1], 0.0)
    return taken, belief


# section 2.2


def test_bayes_ucb_takes_the_largest_quantile_of_tail_1_over_t_log_t_to_the_c():
    rng = np.random.default_rng(0)
    belief = Beta(arms=4).observe(rng.integers(0, 4, 60), rng.integers(0, 2, 60))
    tail = 1 / (61 * math.log(1000) ** 5)
    quantiles = [stats.beta.isf(tail, a, b) for a, b in zip(belief.successes, belief.failures, strict=True)]
    policy = BayesUCB(horizon=1000, c=5.0)
    assert policy.index(belief, 61) == pytest.approx(quantiles, rel=1e-10)
    assert policy.choose(belief, 61) == int(np.argmax(quantiles))


# section 3.1


@QUICK
@given(st.floats(-50, 50), st.floats(0.01, 100), st.floats(0.01, 100), st.lists(st.floats(-50, 50), max_size=20))
def test_the_posterior_of_section_3_1_is_bayes_rule(mean, variance, noise, rewards):
    # the logarithm of prior times likelihood is a parabola: its peak and its curvature, with 50 digits
    belief = Independent(mean=mean, variance=variance, noise_variance=noise, arms=1).observe(
        [0] * len(rewards), rewards
    )
    with mpmath.workdps(50):
        curvature = 1 / mpmath.mpf(variance) + len(rewards) / mpmath.mpf(noise)
        slope_at_0 = mpmath.mpf(mean) / variance + mpmath.fsum(rewards) / noise
        assert abs(belief.variance[0] * curvature - 1) <= 1e-14
        assert abs(belief.mean[0] - slope_at_0 / curvature) <= 1e-13 * max(50, abs(mean))


def test_expectation_and_variance_of_mu_i_of_section_3_1():
    # E mu = (delta^2 mu_0 + n m) / (delta^2 + n), Var mu = n s2 / (delta^2 + n)^2, over repeated rewards
    mean_0, variance, noise, m, n, repeats = 5.0, 4.0, 6.0, 1.0, 3, 20_000
    rewards = np.random.default_rng(1).normal(m, math.sqrt(noise), (repeats, n))
    # as many arms as repeats: each is one repetition
    prior = Independent(mean=mean_0, variance=variance, noise_variance=noise, arms=repeats)
    mu = prior.observe_all(np.full(repeats, n), rewards.sum(axis=1)).mean
    d2 = noise / variance
    expected, spread = (d2 * mean_0 + n * m) / (d2 + n), n * noise / (d2 + n) ** 2
    assert abs(mu.mean() - expected) <= 4 * math.sqrt(spread / repeats)
    assert abs(mu.var() - spread) <= 4 * spread * math.sqrt(2 / repeats)
    one = Independent(mean=mean_0, variance=variance, noise_variance=noise, arms=1)
    assert theory.bias(GaussianBandit([m], noise), one, [n]) == pytest.approx([expected - m], rel=1e-12)
    assert theory.estimate_covariance(one, [n]) == pytest.approx(np.array([[spread]]), rel=1e-12)


def test_the_limit_of_section_3_1_is_exceeded_with_probability_1_over_k_t_to_the_a():
    # mistake 4: the text has 1 - 1/(K t), the formula 1/(K t^a); the formula is what is implemented
    belief = Independent(mean=3.0, variance=4.0, noise_variance=1.0, arms=1)
    Q = UCL(K=4.0, a=1.5).index(belief, 9)[0]
    with mpmath.workdps(30):
        tail = mpmath.erfc((mpmath.mpf(float(Q)) - 3) / 2 / mpmath.sqrt(2)) / 2
        assert abs(tail * 4 * 27 - 1) <= 1e-13


def test_an_uninformative_prior_takes_each_arm_once_in_the_first_n_steps():
    prior = Independent(mean=0.0, variance=np.inf, noise_variance=NOISE, arms=20)
    assert (UCL(a=2.0).index(prior, 1) == np.inf).all()
    for policy in (UCL(a=2.0), CorrelatedUCL(a=2.0)):
        taken, belief = play(policy, prior, 20, np.arange(20.0), np.random.default_rng(0))
        assert sorted(taken) == list(range(20))
        assert belief.variance.tolist() == [NOISE] * 20  # remark on initialisation, nu = 1


def test_an_uninformative_prior_is_the_limit_of_wide_ones():
    rewards = [3.0, 4.0, 8.0]
    flat = Independent(mean=99.0, variance=np.inf, noise_variance=NOISE, arms=2).observe([0, 0, 0], rewards)
    for k in (6, 9, 12):
        wide = Independent(mean=99.0, variance=10.0**k, noise_variance=NOISE, arms=2).observe([0, 0, 0], rewards)
        # both differ by a share of delta^2 / n = 2 / (3 10^k)
        assert abs(wide.mean[0] - flat.mean[0]) <= 99 * 10.0**-k
        assert abs(wide.variance[0] - flat.variance[0]) <= 10.0**-k


# section 4.1, inference


@pytest.mark.parametrize("seed", range(5))
def test_the_three_forms_of_inference_are_one(seed):
    """eq. correlated-inference step by step, eq. inference-corr-simplified at once, eq. sherman-morrison as coded."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, 5)
    arms, rewards = history(rng, 5, 30)
    belief = prior
    for arm, reward in zip(arms, rewards, strict=True):
        belief = belief.observe(arm, reward)  # eq. sherman-morrison
    at_once = prior.observe(arms, rewards)

    with localcontext(prec=50):
        noise, L0 = Decimal(NOISE), inverse(decimals(prior.covariance))
        L, mu = L0, decimals(prior.mean)
        for arm, reward in zip(arms, rewards, strict=True):
            q = L @ mu
            q[arm] += Decimal(reward) / noise
            L = L.copy()
            L[arm, arm] += 1 / noise
            mu = inverse(L) @ q
        S = inverse(L)

        n = [arms.count(k) for k in range(5)]
        P_inverse = np.diag([k / noise for k in n])
        sums = np.array([sum(Decimal(r) for a, r in zip(arms, rewards, strict=True) if a == k) for k in range(5)])
        averages = np.array([s / max(k, 1) for s, k in zip(sums, n, strict=True)])
        S_simplified = inverse(L0 + P_inverse)
        mu_simplified = S_simplified @ (P_inverse @ averages + L0 @ decimals(prior.mean))
        assert max(abs(S - S_simplified).ravel()) < Decimal("1e-40")
        assert max(abs(mu - mu_simplified)) < Decimal("1e-40")

    for one in (belief, at_once):
        assert one.covariance == pytest.approx(S.astype(float), rel=1e-11, abs=1e-12)
        assert one.mean == pytest.approx(mu.astype(float), rel=1e-11, abs=1e-12)


def test_bias_and_covariance_of_the_estimate_for_counts_fixed_beforehand():
    # section 4.2: e = S L0 (mu_0 - m), Cov = S P^-1 S; mistake 8: also S - S L0 S <= S
    rng = np.random.default_rng(3)
    prior, m, n, repeats = random_prior(rng, 4), rng.normal(0, 3, 4), np.array([5, 1, 0, 2]), 4000
    draws = rng.standard_normal((repeats, 4)) * np.sqrt(NOISE * n) + n * m
    estimates = np.array([prior.observe_all(n, sums).mean for sums in draws])
    S, L0 = prior.observe_all(n, n * m).covariance, np.linalg.inv(prior.covariance)
    bias, covariance = S @ L0 @ (prior.mean - m), S @ np.diag(n / NOISE) @ S
    variances = covariance.diagonal()
    assert (np.abs(estimates.mean(axis=0) - m - bias) <= 5 * np.sqrt(variances / repeats)).all()
    error = np.sqrt((np.outer(variances, variances) + covariance**2) / repeats)
    assert (np.abs(np.cov(estimates.T) - covariance) <= 5 * error).all()
    assert (variances <= S.diagonal()).all()


# section 4.1, the index


@pytest.mark.parametrize("seed", range(3))
def test_the_printed_index(seed):
    rng = np.random.default_rng(seed)
    belief = random_prior(rng, 6).observe(*history(rng, 6, 10))
    K, a, t = 4.2, 1.7, 11
    rho = belief.covariance / np.sqrt(np.outer(belief.variance, belief.variance))
    with mpmath.workdps(30):
        z = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 / (K * mpmath.mpf(t) ** a))
    expected = [
        belief.mean[i] + math.sqrt(belief.variance[i]) * math.sqrt(sum(rho[i, j] ** 2 for j in range(6))) * float(z)
        for i in range(6)
    ]
    assert CorrelatedUCL(K=K, a=a).index(belief, t) == pytest.approx(expected, rel=1e-12)
    # the identity of THEORY: s_i^2 sum_j rho_ij^2 = sum_j S_ij^2 / S_jj
    assert belief.variance * belief.spread() ** 2 == pytest.approx((belief.covariance**2) @ (1 / belief.variance))


def test_for_uncorrelated_priors_correlated_ucl_reduces_to_ucl():
    rng = np.random.default_rng(0)
    mean = rng.normal(0, 2, 10)
    diagonal = Correlated(mean=mean, covariance=NOISE * np.eye(10), noise_variance=NOISE)
    independent = Independent(mean=mean, variance=NOISE, noise_variance=NOISE)
    m = rng.normal(0, 2, 10)
    one, last = play(CorrelatedUCL(a=2.0, nu=1.0), diagonal, 500, m, np.random.default_rng(5))
    other, _ = play(UCL(a=2.0), independent, 500, m, np.random.default_rng(5))
    assert one == other
    assert last.spread().tolist() == [1.0] * 10


# section 4.1, initialisation


@QUICK
@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.floats(0.01, 1))
def test_the_initialisation_lemma(arms, seed, nu):
    """It ends in at most N steps, takes no arm twice, and leaves no variance above sigma_s^2 / nu."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((arms, arms)) * 10 ** rng.uniform(-1, 2, (arms, 1))
    prior = Correlated(covariance=root @ root.T, noise_variance=NOISE)
    taken, belief = initial_arms(CorrelatedUCL(nu=nu), prior)
    assert len(taken) == len(set(taken))
    assert belief.variance.max() <= NOISE / nu
    assert (belief.variance[taken] <= NOISE).all()
    assert theory.initialisation(prior, nu) == taken
    sides = theory.initial_variance(prior, nu)
    assert sides.smaller == pytest.approx(belief.variance, rel=1e-9)
    assert (sides.larger == NOISE / nu).all()


def test_the_remark_on_initialisation_with_its_sign_corrected():
    # mistake 5: s_i^2(t) = s_i^2 [s2 + s_k^2 (1 - rho^2)] / (s2 + s_k^2), where the print subtracts
    rng = np.random.default_rng(2)
    prior = random_prior(rng, 6)
    v = prior.variance
    rho2 = prior.covariance**2 / np.outer(v, v)
    for k in range(6):
        after = prior.observe(k, 1.0).variance
        others = np.arange(6) != k
        right = v * (NOISE + v[k] * (1 - rho2[:, k])) / (NOISE + v[k])
        printed = (NOISE * v - v * v[k] * (1 - rho2[:, k])) / (NOISE + v[k])
        assert after == pytest.approx(right, rel=1e-12)
        assert (np.abs(after - printed)[others] > 0.01 * after[others]).all()


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("sizes", [[10], [3, 4, 5], [1, 1, 20, 2]])
def test_clusters_need_as_many_samples_as_there_are_clusters(sizes, epsilon):
    # mistake 17: (1 - eps) 11' + eps I in place of the print's 11' + eps E, which is indefinite
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    same = cluster[:, None] == cluster
    S = 50.0 * ((1 - epsilon) * same + epsilon * np.eye(cluster.size))
    prior = Correlated(covariance=S, noise_variance=NOISE)
    assert np.linalg.eigvalsh(S)[-1] == pytest.approx(50 * (max(sizes) * (1 - epsilon) + epsilon))
    # one sample leaves s^2 = 50 (2 + 50 (1 - rho^2)) / 52 in its cluster: 2.9 at most, below 2 / nu
    taken, belief = initial_arms(CorrelatedUCL(nu=0.5), prior)
    assert sorted(cluster[taken].tolist()) == list(range(len(sizes)))
    assert belief.variance.max() <= 50 * (2 + 50 * (1 - (1 - epsilon) ** 2)) / 52 * (1 + 1e-9)


def test_a_correlated_prior_shortens_initialisation_the_more_the_longer_its_length():
    lengths = []
    for length in (0.01, 1.0, 5.0, 50.0, 1e6):
        prior = Correlated(kernel=10 * Exponential(length), coordinates=GRID, noise_variance=NOISE)
        lengths.append(len(initial_arms(CorrelatedUCL(nu=1.0), prior)[0]))
    assert lengths[0] == 100  # as good as uncorrelated: the bound N is met
    assert lengths[-1] == 1  # as good as one arm
    assert lengths == sorted(lengths, reverse=True)


def test_the_paper_s_own_example_has_no_initialisation():
    # mistake 15: sigma_i^2(0) = sigma_s^2 = 10 and nu = 1 sit exactly on the threshold
    prior = Correlated(mean=30.0, kernel=10 * Exponential(4.0), coordinates=GRID, noise_variance=10.0)
    assert initial_arms(CorrelatedUCL(nu=1.0), prior)[0] == []


def test_correlation_plays_a_role_only_for_short_horizons():
    prior = Correlated(kernel=10 * Exponential(5.0), coordinates=GRID, noise_variance=10.0)
    n = np.array([0, 1, 10, 1000, 10**6])
    spreads = [float(prior.observe_all(np.full(100, k), 0.0).spread().max()) for k in n]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > 5
    # S = (L0 + n/s2 I)^-1 is diagonal up to O(1/n)
    assert spreads[-1] - 1 < 1e-6


# section 4.2, the lemma on variances


@QUICK
@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.floats(0.1, 1))
def test_the_bounds_on_variances(arms, seed, nu):
    """(i) s_i^2 <= s2 / (nu + n_i), n_i since initialisation; s_i^2 >= s2 / (delta_cond^2 + N_i), N_i all samples.

    (ii) N_i s_i^4 / s2 <= Var(mu_i) <= s_i^2, which is tighter than the print's factor (mistakes 7 and 8).
    """
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, arms)
    initial, belief = initial_arms(CorrelatedUCL(nu=nu), prior)
    later, rewards = history(rng, arms, 25)
    belief = belief.observe(later, rewards)
    n = np.bincount(later, minlength=arms)
    N = n + np.bincount(np.array(initial, dtype=int), minlength=arms)
    conditional = 1 / np.linalg.inv(prior.covariance).diagonal()  # the variance of an arm given all the others
    slack = 1 + 1e-9
    assert (belief.variance <= NOISE / (nu + n) * slack).all()
    assert (belief.variance * slack >= NOISE / (NOISE / conditional + N)).all()
    estimate = (belief.covariance @ np.diag(N / NOISE) @ belief.covariance).diagonal()
    assert (estimate <= belief.variance * slack).all()
    assert (estimate * slack >= N * belief.variance**2 / NOISE).all()


def test_the_printed_lower_bound_on_the_variance_is_false():
    # mistake 7: two arms, arm 0 sampled once in initialisation and never after: n_0 = 0
    prior = Correlated(covariance=np.diag([10.0, 1.0]), noise_variance=1.0)
    initial, belief = initial_arms(CorrelatedUCL(), prior)
    assert initial == [0]
    # delta_cond^2 = 1/10, so the print has s_0^2 >= 1 / 0.1 = 10, but s_0^2 = 10 / 11
    assert belief.variance[0] == pytest.approx(10 / 11)
    assert belief.variance[0] >= 1 / (1 / 10 + 1) * (1 - 1e-12)
