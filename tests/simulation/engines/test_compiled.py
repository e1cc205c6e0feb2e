"""The compiled engine against the reference, state by state on the same histories, and against extended precision."""

from decimal import Decimal, localcontext

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrbandits import (
    GPUCB,
    UCB1,
    UCL,
    BayesUCB,
    BernoulliBandit,
    Blocked,
    Correlated,
    CorrelatedUCL,
    EpsilonGreedy,
    Exponential,
    GaussianBandit,
    Greedy,
    Independent,
    KnowledgeGradient,
    SquaredExponential,
    Thompson,
    Uniform,
    simulate,
)
from corrbandits.environments.landscapes import cluster_covariance, grid
from corrbandits.policies.baselines import expected_gain
from corrbandits.simulation.engines import ENGINES, Runs
from corrbandits.simulation.engines.compiled import gains, update
from corrbandits.simulation.engines.compiled.state import state_of

POLICIES = {
    "UCL": UCL(a=2.0),
    "printed": CorrelatedUCL(a=2.0, nu=0.5),
    "plain": CorrelatedUCL(a=2.0, nu=0.5, factor=False),
    "Bayes": BayesUCB(horizon=150, c=1.0),
    "GP": GPUCB(),
    "greedy": Greedy(),
    "Thompson": Thompson(),
    "gradient": KnowledgeGradient(horizon=150),
    "UCB1": UCB1(),
    "epsilon": EpsilonGreedy(0.2),
    "uniform": Uniform(),
    "blocked": Blocked(UCL(a=2.0)),
    "blocked, printed": Blocked(CorrelatedUCL(a=2.0, nu=0.5), length=4),
    "blocked draws": Blocked(Thompson(), length=3),
    "blocked gradient": Blocked(KnowledgeGradient(horizon=150)),
    "blocked at random": Blocked(EpsilonGreedy(0.2), length=5),
    "blocked averages": Blocked(UCB1()),
    "blocked twice": Blocked(Blocked(UCL(a=2.0), length=6), length=4),
}
ON_BOTH = [name for name in POLICIES if name not in ("blocked at random", "blocked averages")]
"""On correlated arms the others are loops of their own, made of parts of which each is in another loop here."""


def pairs(*kinds):
    """Every policy and kind of arms to play it on."""
    return [(name, kind) for kind in kinds for name in (ON_BOTH if kind == "correlated" else POLICIES)]


def weighed(belief):
    """What the compiled engine keeps of a correlated belief, its w included."""
    state = state_of(belief)
    update.weigh(state)
    return state


def covariance_of(state):
    S = np.empty((state.d.size, state.d.size))
    for i in range(len(S)):
        update.row(state, i, S[i])
    return S


def priors():
    where, rng = grid(4, 5), np.random.default_rng(0)
    root = rng.standard_normal((21, 21))
    return {
        "exponential": Correlated(mean=3.0, kernel=10 * Exponential(2.0), coordinates=where, noise_variance=10.0),
        "noise per arm": Correlated(
            mean=np.arange(20.0), kernel=Exponential(1.0), coordinates=where, noise_variance=rng.uniform(0.1, 9, 20)
        ),
        "odd number of arms": Correlated(covariance=root @ root.T, noise_variance=0.5),
        "clusters": Correlated(covariance=cluster_covariance([3, 4], epsilon=0.05), noise_variance=2.0),
        "one arm": Correlated(covariance=[[2.0]], noise_variance=1.0),
        "two arms": Correlated(covariance=[[2.0, 1.0], [1.0, 3.0]], noise_variance=1.0),
        "a known arm": Correlated(covariance=np.diag([1.0, 0.0, 4.0]), noise_variance=1.0),
    }


@pytest.mark.parametrize("name", priors())
@pytest.mark.parametrize("streaks", [True, False])
@pytest.mark.parametrize("lazy", [True, False])
def test_every_state_of_a_history_equals_the_reference(name, streaks, lazy):
    belief = priors()[name]
    state, rng, arm = weighed(belief), np.random.default_rng(1), 0
    for _ in range(120):
        if not streaks or rng.random() < 0.3:
            arm = int(rng.integers(belief.arms))
        reward = float(rng.normal(5, 4))
        update.observe_joint(state, lazy, arm, reward, belief.noise_variance[arm])
        belief = belief.observe(arm, reward)
        scale = np.sqrt(np.outer(belief.variance, belief.variance))
        assert np.all(np.abs(covariance_of(state) - belief.covariance) <= 1e-12 * scale)
        np.testing.assert_allclose(state.mu, belief.mean, rtol=1e-12, atol=1e-12)
    if not lazy:
        update.settle(state, True)
        assert np.all(np.abs(covariance_of(state) - belief.covariance) <= 1e-12 * scale)
        np.testing.assert_allclose(state.w, np.sqrt(belief.variance) * belief.spread(), rtol=1e-12, atol=1e-12)


def test_independent_states_equal_the_reference():
    belief = Independent(
        mean=[1.0, 2.0, 3.0, 4.0], variance=[np.inf, 0.0, 5.0, 1e-3], noise_variance=[1.0, 2.0, 3.0, 4.0]
    )
    state = state_of(belief)
    rng = np.random.default_rng(2)
    for _ in range(300):
        arm, reward = int(rng.integers(4)), float(rng.normal(5, 4))
        update.observe_apart(state, arm, reward, belief.noise_variance[arm])
        belief = belief.observe(arm, reward)
        np.testing.assert_allclose(state.mu, belief.mean, rtol=1e-13)
        np.testing.assert_allclose(state.d, belief.variance, rtol=1e-13)
        np.testing.assert_allclose(state.w, np.sqrt(belief.variance), rtol=1e-13)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    arms=st.integers(1, 40),
    length=st.sampled_from([0.3, 2.0, 30.0]),
    a=st.sampled_from([0.2, 1.0, 3.3]),
    K=st.sampled_from([1.05, 4.13]),
    nu=st.sampled_from([0.01, 1.0]),
)
def test_no_arm_that_should_win_is_passed_over(seed, arms, length, a, K, nu):
    """The arms that the compiled engine chooses have the largest index, which few of them are computed for."""
    rng = np.random.default_rng(seed)
    where = rng.uniform(0, 6, (arms, 2))
    belief = Correlated(
        mean=rng.normal(0, 1, arms),
        kernel=4 * Exponential(length),
        coordinates=where,
        noise_variance=rng.uniform(0.05, 2, arms),
    )
    bandit, policy = GaussianBandit(rng.normal(0, 2, arms), 1.0), CorrelatedUCL(K=K, a=a, nu=nu)
    trace = simulate({"printed": (policy, belief)}, bandit, 150, seed=seed, engine="compiled")
    for t, (arm, reward) in enumerate(zip(trace.arms.values[0, 0], trace.rewards.values[0, 0], strict=True), start=1):
        index = np.where(policy.pending(belief), belief.variance, -np.inf)
        if not policy.pending(belief).any():
            index = policy.index(belief, t)
        assert index[arm] >= index.max() - 1e-10 * max(1.0, abs(index.max()))
        belief = belief.observe(int(arm), float(reward))


@pytest.mark.parametrize(
    ("name", "kind", "rewards"),
    [
        *((*pair, "gaussian") for pair in pairs("independent", "flat", "half known", "correlated")),
        # with a flat prior, averages of zeros and ones are often equal
        *((*pair, "bernoulli") for pair in pairs("independent", "correlated")),
    ],
)
def test_both_engines_give_the_same_runs_where_no_tie_hangs_on_rounding(name, kind, rewards):
    where, rng = np.random.default_rng(4).uniform(0, 5, (12, 2)), np.random.default_rng(5)
    gaussian = GaussianBandit(rng.normal(0, 2, 12), 1.0, where)
    bandit = gaussian if rewards == "gaussian" else BernoulliBandit(rng.uniform(0.1, 0.9, 12), where)
    mean = rng.normal(0, 1, 12)
    belief = {
        "independent": Independent(mean=mean, variance=4.0, noise_variance=1.0),
        "flat": Independent(noise_variance=1.0, arms=12),
        "half known": Independent(mean=mean, variance=[np.inf, 4.0, 0.0, 1.0] * 3, noise_variance=1.0),
        "correlated": Correlated(mean=mean, kernel=4 * Exponential(2.0), coordinates=where, noise_variance=1.0),
    }[kind]
    fast, plain = (
        simulate({"policy": (POLICIES[name], belief)}, bandit, 150, 4, seed=6, engine=engine)
        for engine in ("compiled", "reference")
    )
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)


@pytest.mark.parametrize("name", POLICIES)
def test_a_belief_that_has_seen_something_goes_on_from_there(name):
    where, rng = np.random.default_rng(4).uniform(0, 5, (12, 2)), np.random.default_rng(5)
    bandit = GaussianBandit(rng.normal(0, 2, 12), 1.0, where)
    prior = Correlated(mean=rng.normal(0, 1, 12), kernel=4 * Exponential(2.0), coordinates=where, noise_variance=1.0)
    beliefs = [Independent(noise_variance=1.0, arms=12).observe([3, 7], [1.0, 2.0])]
    if name in ON_BOTH:
        beliefs.append(prior.observe([3, 3, 7], [1.0, 2.0, 0.5]))
    for belief in beliefs:
        fast, plain = (
            simulate({"a": (POLICIES[name], belief)}, bandit, 60, 2, seed=6, engine=e)
            for e in ("compiled", "reference")
        )
        np.testing.assert_array_equal(fast.arms, plain.arms)


def begun(engine, policy, belief, bandit, rng):
    """A run before its first decision."""
    return ENGINES[engine].begin(Runs(policy, belief, bandit, 150, seed=0, first=0, last=1), rng)


@pytest.mark.parametrize(("name", "kind"), pairs("flat", "correlated"))
def test_where_a_run_is_cut_into_blocks_changes_no_bit(name, kind):
    bandit = GaussianBandit(np.linspace(0, 2, 12), 1.0)
    belief = {
        "flat": Independent(noise_variance=1.0, arms=12),
        "correlated": Correlated(kernel=4 * Exponential(2.0), coordinates=grid(3, 4), noise_variance=1.0),
    }[kind]
    noise, played = np.random.default_rng(9).standard_normal(150), []
    for cuts in ([150], [1] * 150, [7, 60, 1, 82]):
        run = begun("compiled", POLICIES[name], belief, bandit, np.random.default_rng(3))
        arms, rewards, done = np.empty(150, dtype=np.int32), np.empty(150), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes(), run.initialisation))
    assert played[0] == played[1] == played[2]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_reward_that_is_not_a_number_is_refused_by_every_engine(name, engine):
    bandit, prior = GaussianBandit([0.0, 1.0], 1.0), Correlated(covariance=np.eye(2), noise_variance=1.0)
    if name not in ON_BOTH:
        prior = Independent(variance=1.0, noise_variance=1.0, arms=2)
    run = begun(engine, POLICIES[name], prior, bandit, np.random.default_rng(0))
    noise = np.array([0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match="a reward must be finite"):
        run.advance(noise, np.empty(3, dtype=np.int32), np.empty(3))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from([-3.0, 0.0, 0.5, 2.0]) | st.floats(-50, 50), st.sampled_from([0.0, 1.0]) | st.floats(-5, 5)
        ),
        min_size=1,
        max_size=9,
    )
)
def test_the_gain_along_the_envelope_is_that_of_the_sorted_lines(lines):
    means, slopes = np.array(lines).T.copy()
    expected = expected_gain(means, slopes)
    assert gains.gain_of_lines(means, slopes / 2, 2.0) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("c", [0.0, 1e-9, 0.3, 1.0, 5.0, 12.0, 30.0, 37.0])
def test_the_expected_excess_keeps_its_digits_in_the_tail(c):
    with mp.workdps(50):
        exact = mp.npdf(c) - mp.mpf(c) * mp.erfc(mp.mpf(c) / mp.sqrt(2)) / 2
        assert abs(mp.mpf(float(gains.expected_excess(c))) / exact - 1) < 1e-9
    assert gains.expected_excess(1e300) == 0.0


@pytest.mark.slow
def test_a_million_updates_with_uneven_counts_agree_with_extended_precision():
    prior = Correlated(mean=30.0, kernel=10 * Exponential(3.0), coordinates=grid(10, 10), noise_variance=10.0)
    rng = np.random.default_rng(7)
    shares = np.exp(-np.arange(100) / 6.0)
    arms = rng.permutation(np.repeat(np.arange(100), np.maximum(1, (shares / shares.sum() * 1e6).astype(int))))
    arms = np.concatenate([arms, np.zeros(10**6 - arms.size, dtype=int)])
    assert np.bincount(arms).min() == 1
    rewards = rng.normal(30, 10, arms.size)
    state = weighed(prior)
    replay(state, prior.noise_variance, arms, rewards)

    with localcontext(prec=40):
        totals = np.array([sum(map(Decimal, rewards[arms == k].tolist())) for k in range(100)])
        mean, covariance = one_shot(prior, np.bincount(arms), totals)
    deviation = np.sqrt(covariance.diagonal())
    assert np.all(np.abs(covariance_of(state) - covariance) <= 1e-8 * np.outer(deviation, deviation))
    assert np.all(np.abs(state.mu - mean) <= 1e-8 * np.maximum(np.abs(mean), deviation))
    assert np.linalg.eigvalsh(covariance_of(state) / np.outer(deviation, deviation)).min() > 0


def replay(state, noise, arms, rewards):
    from numba import njit

    observe = update.observe_joint

    @njit
    def loop(state, noise, arms, rewards):
        for t in range(arms.size):
            observe(state, True, arms[t], rewards[t], noise[arms[t]])

    loop(state, noise, arms, rewards)


def one_shot(prior, counts, totals):
    """Eq. inference-corr-simplified as printed, with the inverse of the prior covariance, in decimals."""
    noise = decimals(prior.noise_variance)
    before = inverse(decimals(prior.covariance))
    covariance = inverse(before + np.diag(decimals(counts) / noise))
    mean = covariance @ (totals / noise + before @ decimals(prior.mean))
    return mean.astype(float), covariance.astype(float)


def decimals(array):
    """Return numbers as decimals, each exactly the double it was."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, dtype=float))


def inverse(matrix):
    """Return the inverse of a positive definite matrix of decimals, by Gauss-Jordan elimination in place."""
    matrix = matrix.copy()
    for k in range(len(matrix)):
        pivot, column = matrix[k, k], matrix[:, k].copy()
        column[k] = Decimal(0)
        matrix[:, k] = Decimal(0)
        matrix[k, k] = Decimal(1)
        matrix[k] /= pivot
        matrix -= np.outer(column, matrix[k])
    return matrix


@pytest.mark.parametrize("noise", [1.0, 1e-10])
def test_a_singular_prior_leaves_nothing_broken(noise):
    where = grid(6, 6)
    for prior in (
        Correlated(mean=0.0, kernel=4 * SquaredExponential(30.0), coordinates=where, noise_variance=noise),
        Correlated(mean=0.0, covariance=np.ones((36, 36)), noise_variance=noise),
    ):
        state, rng = weighed(prior), np.random.default_rng(8)
        for _ in range(5_000):
            arm = int(rng.integers(36))
            update.observe_joint(state, False, arm, float(rng.normal(0, np.sqrt(noise))), prior.noise_variance[arm])
            assert np.abs(state.mu).max() < 10
            assert (state.d >= 0).all()
        update.settle(state, True)
        # sqrt(N) s_i is the most that s_i sqrt(sum rho^2) can be; 1e-6 covers variances that are all rounding
        assert np.all(state.w <= 6 * np.sqrt(state.d) * (1 + 1e-9) + 1e-6)


@pytest.mark.parametrize(("variance", "engine"), [(1e130, "compiled"), (1e300, "auto")])
def test_a_prior_far_wider_than_the_noise_still_ends_its_initialisation(variance, engine):
    bandit = GaussianBandit(np.arange(9.0), 1.0)
    prior = Correlated(covariance=variance * np.eye(9), noise_variance=1.0)
    trace = simulate({"wide": (CorrelatedUCL(), prior)}, bandit, 30, engine=engine)
    assert trace.initialisation.item() == 9
    assert sorted(trace.arms.values[0, 0, :9]) == list(range(9))
