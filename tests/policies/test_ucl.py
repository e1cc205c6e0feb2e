import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

from corrbandits.belief import Beta, Correlated, Independent
from corrbandits.kernels import Exponential, SquaredExponential
from corrbandits.policies import (
    GPUCB,
    UCB1,
    UCL,
    BayesUCB,
    CorrelatedUCL,
    EpsilonGreedy,
    Greedy,
    KnowledgeGradient,
    Thompson,
    Uniform,
    best,
)
from tests.support.contracts import GAUSSIAN_PRIORS, GRID, QUICK

INDEX_POLICIES = [UCL(), CorrelatedUCL(), CorrelatedUCL(factor=False), BayesUCB(horizon=10**9), GPUCB(), Greedy()]
ALL_POLICIES = [*INDEX_POLICIES, UCB1(), KnowledgeGradient(horizon=10**9), Thompson(), EpsilonGreedy(), Uniform()]
name = repr


def initialise(policy, belief):
    """Follow the initialisation phase; return the belief after it and the arms taken."""
    arms = []
    while policy.pending(belief).any():
        assert len(arms) <= belief.arms
        arms.append(policy.choose(belief, len(arms) + 1))
        belief = belief.observe(arms[-1], 0.0)
    return belief, arms


# quantiles


@pytest.mark.parametrize("a", [0.5, 1.0, 3.3, 10.0, 50.0])
@pytest.mark.parametrize("t", [1, 2, 10_000, 100_000, 10**9])
@pytest.mark.parametrize("rule", [UCL, CorrelatedUCL])
def test_the_width_is_the_quantile_of_the_upper_tail(rule, a, t):
    with mpmath.workdps(40):
        z = mpmath.mpf(float(rule(a=a).width(t, 7)))
        log_survival = mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)) / 2)
        log_alpha = -mpmath.log(2 * mpmath.pi * mpmath.e) / 2 - a * mpmath.log(t)
        hazard = mpmath.npdf(z) / mpmath.exp(log_survival)  # |d log P(Z > z) / dz|
        assert abs(log_survival - log_alpha) / hazard <= 1e-13 * z


def test_the_naive_quantile_would_have_been_infinite():
    K, a, t = math.sqrt(2 * math.pi * math.e), 3.3, 100_000
    assert ndtri(1 - 1 / (K * t**a)) == np.inf
    assert UCL(a=a).width(t, 1) == pytest.approx(stats.norm.isf(1 / (K * t**a)), rel=1e-13)


def test_the_widths_of_many_times_are_those_of_each():
    t = np.array([1, 5, 1000, 10**9])
    for policy in INDEX_POLICIES:
        each = [float(policy.width(int(k), 12)) for k in t]
        assert policy.width(t, 12) == pytest.approx(each, rel=1e-15)


@pytest.mark.parametrize(("K", "t"), [(1.0, 1), (0.5, 1), (0.5, 2), (1e-310, 1), (1e-3, 999)])
def test_a_tail_of_1_or_more_is_refused(K, t):
    prior = GAUSSIAN_PRIORS["correlated"]
    for rule in (UCL, CorrelatedUCL):
        with pytest.raises(ValueError, match=r"alpha_t = 1 / \(K t\^a\) must be below 1, but K = .*Take K above 1"):
            rule(K=K, a=1.0).index(prior, t)
    assert np.isfinite(UCL(K=K, a=120.0).index(prior, 1000)).all()  # and only then: 1000^120 > 1e310


# choosing


def test_ties_go_to_the_lowest_arm():
    assert best(np.array([1.0, 3.0, 3.0, 2.0])) == 1
    assert best(np.array([np.inf, 3.0, np.inf])) == 0
    assert best(np.array([1.0, 3.0, 3.0]), np.array([0, 2])) == 2
    flat = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=4)
    for policy in INDEX_POLICIES:
        assert policy.choose(flat, 2) == 0
        assert policy.choose(flat, 2, allowed=[3, 1, 2]) == 1


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=name)
@pytest.mark.parametrize("kind", ["independent", "uninformative", "correlated"])
def test_only_allowed_arms_are_taken(policy, kind):
    belief, rng = GAUSSIAN_PRIORS[kind].observe([0, 1], [100.0, 200.0]), np.random.default_rng(0)
    for allowed in ([2], [0, 4], np.array([3, 3, 1]), (4,)):
        assert policy.choose(belief, 5, rng=rng, allowed=allowed) in np.asarray(allowed)


@pytest.mark.parametrize("policy", INDEX_POLICIES, ids=name)
def test_the_arm_of_largest_index_is_taken(policy):
    rng = np.random.default_rng(3)
    for t in (2, 50, 10**9):
        belief = Correlated(mean=rng.normal(0, 2, 100), kernel=Exponential(2.0), coordinates=GRID, noise_variance=1.0)
        index = policy.index(belief, t)
        assert policy.choose(belief, t) == int(np.flatnonzero(index == index.max())[0])


@pytest.mark.parametrize("policy", [p for p in ALL_POLICIES if p != Uniform()], ids=name)
def test_an_arm_of_which_nothing_is_known_comes_first(policy):
    prior = Independent(mean=[9.0, 0.0, 0.0], variance=[1.0, np.inf, np.inf], noise_variance=1.0)
    rng = np.random.default_rng(0)
    belief = prior.observe(0, 9.0)
    assert policy.choose(belief, 2, rng=rng) == 1
    assert policy.choose(belief.observe(1, 0.0), 3, rng=rng) == 2
    assert policy.choose(belief, 2, rng=rng, allowed=[0, 2]) == 2
    assert policy.choose(belief, 2, rng=rng, allowed=[0]) == 0


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=name)
def test_policies_are_frozen_values(policy):
    assert policy == dataclasses.replace(policy)
    assert hash(policy) == hash(dataclasses.replace(policy))
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.anything = 1


def test_time_may_be_a_billion():
    belief = GAUSSIAN_PRIORS["correlated"].observe([0] * 5, [50.0] * 5)
    for policy in ALL_POLICIES:
        assert 0 <= policy.choose(belief, 10**9, rng=np.random.default_rng(0)) < 5


# initialisation


@pytest.mark.parametrize(
    "prior",
    [
        Independent(mean=30.0, variance=10.0, noise_variance=10.0, arms=100),
        Correlated(mean=30.0, kernel=10 * Exponential(4.0), coordinates=GRID, noise_variance=10.0),
    ],
    ids=["independent", "correlated"],
)
def test_an_arm_at_the_threshold_is_not_initial(prior):
    # the paper's own example: sigma_0^2 = sigma_s^2 = 10, nu = 1
    assert not CorrelatedUCL(nu=1.0).pending(prior).any()


def test_an_arm_just_above_the_threshold_is_initial():
    above = Independent(mean=30.0, variance=np.nextafter(10.0, 11.0), noise_variance=10.0, arms=100)
    belief, arms = initialise(CorrelatedUCL(nu=1.0), above)
    assert arms == list(range(100))
    assert not CorrelatedUCL(nu=1.0).pending(belief).any()


def test_the_threshold_is_each_arm_s_own():
    prior = Independent(mean=0.0, variance=4.0, noise_variance=[1.0, 1.9, 2.0, 2.1, 8.0])
    assert CorrelatedUCL(nu=0.5).pending(prior).tolist() == [True, True, False, False, False]


def test_the_arm_of_largest_variance_is_taken_first():
    prior = Correlated(covariance=np.diag([2.0, 9.0, 3.0, 9.0, 0.5]), noise_variance=1.0)
    assert initialise(CorrelatedUCL(), prior)[1] == [1, 3, 2, 0]
    assert CorrelatedUCL().choose(prior, 1, allowed=[0, 2, 4]) == 2
    assert CorrelatedUCL().choose(prior, 1, allowed=[4]) == 4


def test_the_index_is_defined_during_initialisation():
    prior = Correlated(mean=[0.0, 5.0], covariance=[[100.0, 60.0], [60.0, 100.0]], noise_variance=1.0)
    policy = CorrelatedUCL(K=4.0, a=1.0)
    assert policy.pending(prior).all()
    # s = 10, rho = 0.6, sqrt(1 + 0.36), alpha_2 = 1/8
    expected = 10 * math.sqrt(1.36) * stats.norm.isf(1 / 8)
    assert policy.index(prior, 2) == pytest.approx([expected, 5 + expected], rel=1e-12)


@pytest.mark.parametrize("nu", [1.0, 1e-3, 1e-320])
@pytest.mark.parametrize(
    "S",
    [
        1e300 * np.eye(30),
        1e300 * np.ones((30, 30)),
        1e300 * Exponential(3.0)(GRID[:30]),
        1e300 * SquaredExponential(50.0)(GRID[:30]),
        np.diag(10.0 ** np.linspace(-300, 300, 30)),
    ],
    ids=["independent", "rank one", "exponential", "nearly singular", "uneven"],
)
def test_initialisation_ends_whatever_the_variances(S, nu):
    prior = Correlated(covariance=S, noise_variance=1.0)
    belief, arms = initialise(CorrelatedUCL(nu=nu), prior)
    assert len(arms) == len(set(arms)) <= 30
    assert np.isfinite(belief.mean).all()
    assert (belief.variance * nu <= 1).all()


@QUICK
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.floats(1e-3, 1), st.booleans())
def test_initialisation_takes_no_arm_twice(arms, seed, nu, singular):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((arms, 1 if singular else arms)) * 10 ** rng.uniform(-1, 3, (arms, 1))
    prior = Correlated(
        mean=rng.normal(0, 9, arms), covariance=root @ root.T, noise_variance=10 ** rng.uniform(-3, 2, arms)
    )
    belief, taken = initialise(CorrelatedUCL(nu=nu), prior)
    assert len(taken) == len(set(taken))
    assert (belief.variance <= prior.noise_variance / nu).all()


# the two indices


@QUICK
@given(
    st.lists(st.tuples(st.floats(-10, 10), st.floats(0.01, 100), st.floats(0.01, 100)), min_size=1, max_size=6),
    st.floats(0.05, 1),
    st.floats(0.5, 5),
)
def test_on_a_diagonal_covariance_correlated_ucl_is_ucl_after_initialisation(arms, nu, a):
    mean, variance, noise = np.array(arms).T
    correlated = Correlated(mean=mean, covariance=np.diag(variance), noise_variance=noise)
    independent = Independent(mean=mean, variance=variance, noise_variance=noise)
    rng, printed = np.random.default_rng(0), CorrelatedUCL(a=a, nu=nu)
    initial = 0
    for t in range(1, 40):
        index = UCL(a=a).index(independent, t)
        assert printed.index(correlated, t) == pytest.approx(index, rel=1e-9, abs=1e-9)
        first_two = np.sort(index)[-2:]
        # a tie to rounding may fall to either arm
        assume(len(arms) == 1 or abs(first_two[1] - first_two[0]) > 1e-8)
        initialising = printed.pending(correlated).any()
        initial += initialising
        arm = printed.choose(correlated, t)
        assert initialising or arm == UCL(a=a).choose(independent, t)
        reward = float(rng.normal())
        correlated, independent = correlated.observe(arm, reward), independent.observe(arm, reward)
    assert initial <= len(arms)


def test_ucl_on_a_correlated_belief_is_the_plain_index_without_initialisation():
    prior = Correlated(mean=[1.0, 0.0], covariance=[[100.0, 90.0], [90.0, 100.0]], noise_variance=1.0)
    policy = UCL(K=2.0, a=2.0)
    assert not policy.pending(prior).any()
    expected = 10 * stats.norm.isf(1 / (2 * 9))  # alpha_3 = 1 / (2 3^2)
    assert policy.index(prior, 3) == pytest.approx([1 + expected, expected], rel=1e-12)
    assert policy.choose(prior, 3) == 0


def test_without_the_factor_the_index_is_plain_and_the_initialisation_stays():
    belief = GAUSSIAN_PRIORS["correlated"].observe([0, 3], [20.0, 50.0])
    plain, printed = CorrelatedUCL(a=2.0, factor=False), CorrelatedUCL(a=2.0)
    assert np.array_equal(plain.index(belief, 7), UCL(a=2.0).index(belief, 7))
    z = stats.norm.isf(1 / (math.sqrt(2 * math.pi * math.e) * 49))
    widening = (belief.spread() - 1) * np.sqrt(belief.variance) * z
    assert printed.index(belief, 7) - plain.index(belief, 7) == pytest.approx(widening, rel=1e-9)
    wide = Correlated(covariance=[[9.0, 0.0], [0.0, 4.0]], noise_variance=1.0)
    assert plain.pending(wide).all()


# the others


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (3.0, 5.0), (0.5, 0.5), (2.0, 40.0), (60.0, 20.0)])
@pytest.mark.parametrize(("t", "c"), [(2, 0.0), (100, 0.0), (100, 5.0), (10**6, 5.0)])
def test_bayes_ucb_on_a_beta_belief_is_the_beta_quantile(a, b, t, c):
    limit = BayesUCB(horizon=10**6, c=c).index(Beta(successes=a, failures=b, arms=1), t)[0]
    with mpmath.workdps(50):
        tail = 1 / (t * mpmath.log(10**6) ** c)

        def survival(x):
            return mpmath.betainc(a, b, mpmath.mpf(float(x)), 1, regularized=True)

        # the doubles on either side of the limit, and a few ulps for rounding, enclose the quantile
        ulps = 8 * np.spacing(limit)
        assert survival(limit - ulps) >= tail >= survival(min(limit + ulps, 1.0))


def test_bayes_ucb_on_a_gaussian_belief_is_the_gaussian_quantile():
    belief = GAUSSIAN_PRIORS["independent"].observe(2, 9.0)
    tail = 1 / (50 * math.log(1000) ** 5)
    expected = stats.norm.isf(tail, belief.mean, np.sqrt(belief.variance))
    assert BayesUCB(horizon=1000).index(belief, 50) == pytest.approx(expected, rel=1e-12)


def test_bayes_ucb_of_level_0_takes_the_lowest_arm():
    assert BayesUCB(horizon=1000, c=0.0).choose(GAUSSIAN_PRIORS["independent"], 1) == 0
    assert BayesUCB(horizon=1000, c=0.0).index(Beta(arms=2), 1).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("t", [1, 10, 10**9])
def test_gp_ucb_has_the_finite_arm_beta(t):
    belief = GAUSSIAN_PRIORS["smooth"].observe(0, 3.0)
    beta = 2 * mpmath.log(5 * mpmath.mpf(t) ** 2 * mpmath.pi**2 / (6 * mpmath.mpf("0.05")))
    for scale in (1.0, 0.2):
        expected = belief.mean + np.sqrt(belief.variance) * float(mpmath.sqrt(scale * beta))
        assert GPUCB(delta=0.05, scale=scale).index(belief, t) == pytest.approx(expected, rel=1e-13)


def test_greedy_takes_the_largest_mean():
    belief = Independent(mean=[1.0, 3.0, 2.0], variance=[100.0, 0.01, 1.0], noise_variance=1.0)
    assert Greedy().choose(belief, 1) == 1
    assert Greedy().index(belief, 10**9).tolist() == [1.0, 3.0, 2.0]


def test_a_known_arm_is_judged_by_its_mean():
    belief = Independent(mean=[1.0, 0.0], variance=[0.0, 1.0], noise_variance=1.0)
    for policy in INDEX_POLICIES:
        assert policy.index(belief, 3)[0] == 1.0


def test_allowed_arms_may_be_given_as_true_and_false():
    prior = Independent(mean=[3.0, 2.0, 1.0], variance=1.0, noise_variance=1.0)
    assert UCL().choose(prior, 1, allowed=[False, True, True]) == 1
    assert UCL().choose(prior, 1, allowed=np.array([False, False, True])) == 2


def test_pending_arms_out_of_reach_do_not_stop_the_rule():
    belief = Independent(mean=[0.0, 1.0, 5.0], variance=[np.inf, 1.0, 1.0], noise_variance=1.0)
    assert UCL().choose(belief, 2, allowed=[1, 2]) == 2


def test_numbers_of_any_kind_make_equal_policies():
    assert UCL(a=np.array(2.0)) == UCL(a=np.float32(2)) == UCL(a=2)
    assert len({UCL(a=np.array(2.0)), UCL(a=2), CorrelatedUCL(nu=np.array(1.0)), CorrelatedUCL(nu=1)}) == 2


@pytest.mark.parametrize("rule", [UCL, CorrelatedUCL])
def test_the_width_at_one_time_has_the_bits_it_has_among_many(rule):
    t, policy = np.arange(1, 20_001), rule(a=3.284)
    assert [policy.width(k, 7) for k in t.tolist()] == policy.width(t, 7).tolist()


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_the_printed_index_is_the_limit_widened_by_the_spread(scale):
    prior = Correlated(mean=scale, covariance=scale * Exponential(3.0)(GRID), noise_variance=scale)
    belief, policy = prior.observe(3, 2 * scale).observe(50, -scale), CorrelatedUCL(a=2.0)
    expected = belief.limit(policy.width(9, 100) * belief.spread())
    assert policy.index(belief, 9) == pytest.approx(expected, rel=1e-12)
