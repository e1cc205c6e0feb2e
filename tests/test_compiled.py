"""The compiled engine against the reference, state by state on the same histories, and against extended precision."""

import os
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest

from corrbandits import (
    GPUCB,
    UCL,
    BayesUCB,
    Correlated,
    CorrelatedUCL,
    Exponential,
    GaussianBandit,
    Greedy,
    Independent,
    SquaredExponential,
    compiled,
    simulate,
)
from corrbandits.engines import FLOOR, thresholds
from corrbandits.landscapes import cluster_covariance, grid


class CompiledState:
    """What the compiled engine keeps of a correlated belief, fed by hand."""

    def __init__(self, belief, printed=True):
        self.S, self.d, self.mu = belief.covariance.copy(), belief.variance.copy(), belief.mean.copy()
        self.w, self.g, self.inverse = np.empty_like(self.d), np.empty_like(self.d), np.empty_like(self.d)
        self.floor, self.noise, self.printed = FLOOR * self.d, belief.noise_variance, printed

    def observe(self, arm, reward):
        compiled.begin(self.S, self.d, self.mu, self.g, arm, reward, self.noise[arm])
        if self.printed:
            compiled.finish_printed(self.S, self.d, self.g, self.inverse, self.floor, self.w)
        else:
            compiled.finish_plain(self.S, self.d, self.g, self.w)

    @property
    def covariance(self):
        lower = np.tril(self.S, -1)
        return lower + lower.T + np.diag(self.d)


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
@pytest.mark.parametrize("printed", [True, False])
def test_every_state_of_a_history_equals_the_reference(name, printed):
    belief = priors()[name]
    state, rng = CompiledState(belief, printed), np.random.default_rng(1)
    policy = CorrelatedUCL(a=1.3, factor=printed)
    for t in range(1, 120):
        arm, reward = int(rng.integers(belief.arms)), float(rng.normal(5, 4))
        state.observe(arm, reward)
        belief = belief.observe(arm, reward)
        scale = np.sqrt(np.outer(belief.variance, belief.variance))
        assert np.all(np.abs(state.covariance - belief.covariance) <= 1e-12 * scale)
        np.testing.assert_allclose(state.mu, belief.mean, rtol=1e-12, atol=1e-12)
        index = policy.index(belief, t + 1)
        np.testing.assert_allclose(state.mu + state.w * policy.width(t + 1, belief.arms), index, rtol=1e-12, atol=1e-12)


def test_independent_states_equal_the_reference():
    belief = Independent(
        mean=[1.0, 2.0, 3.0, 4.0], variance=[np.inf, 0.0, 5.0, 1e-3], noise_variance=[1.0, 2.0, 3.0, 4.0]
    )
    d, mu, w = belief.variance.copy(), belief.mean.copy(), np.sqrt(belief.variance)
    rng = np.random.default_rng(2)
    for _ in range(300):
        arm, reward = int(rng.integers(4)), float(rng.normal(5, 4))
        compiled.observe_independent(d, mu, w, arm, reward, belief.noise_variance[arm])
        belief = belief.observe(arm, reward)
        np.testing.assert_allclose(mu, belief.mean, rtol=1e-13)
        np.testing.assert_allclose(d, belief.variance, rtol=1e-13)
        np.testing.assert_allclose(w, np.sqrt(belief.variance), rtol=1e-13)


@pytest.mark.parametrize("policy", [UCL(a=1.5), CorrelatedUCL(a=1.5, nu=0.4), CorrelatedUCL(nu=1.0)])
def test_the_arm_chosen_is_the_references_on_the_same_state(policy):
    rng = np.random.default_rng(3)
    for trial in range(200):
        root = rng.standard_normal((7, 7))
        belief = Correlated(mean=rng.normal(size=7), covariance=root @ root.T, noise_variance=rng.uniform(0.5, 3, 7))
        for arm in rng.integers(0, 7, trial % 9):
            belief = belief.observe(int(arm), float(rng.normal()))
        spread = belief.spread() if isinstance(policy, CorrelatedUCL) else 1.0
        progress = np.array([0, 0, 1])
        chosen = compiled.next_arm(
            belief.mean,
            belief.variance,
            np.sqrt(belief.variance) * spread,
            policy.width(trial + 1, 7),
            thresholds(policy, belief),
            progress,
        )
        assert chosen == policy.choose(belief, trial + 1)
        assert progress[1] == policy.pending(belief).any()


@pytest.mark.parametrize(
    "policy", [UCL(a=2.0), CorrelatedUCL(a=2.0, nu=0.5), BayesUCB(horizon=150, c=1.0), GPUCB(), Greedy()]
)
@pytest.mark.parametrize("kind", ["independent", "flat", "correlated"])
def test_both_engines_give_the_same_runs_where_no_tie_hangs_on_rounding(policy, kind):
    where, rng = np.random.default_rng(4).uniform(0, 5, (12, 2)), np.random.default_rng(5)
    bandit = GaussianBandit(rng.normal(0, 2, 12), 1.0, where)
    mean = rng.normal(0, 1, 12)
    belief = {
        "independent": Independent(mean=mean, variance=4.0, noise_variance=1.0),
        "flat": Independent(noise_variance=1.0, arms=12),
        "correlated": Correlated(mean=mean, kernel=4 * Exponential(2.0), coordinates=where, noise_variance=1.0),
    }[kind]
    fast, plain = (
        simulate({"policy": (policy, belief)}, bandit, 150, 4, seed=6, engine=engine)
        for engine in ("compiled", "reference")
    )
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)


def test_a_million_updates_with_uneven_counts_agree_with_extended_precision():
    prior = Correlated(mean=30.0, kernel=10 * Exponential(3.0), coordinates=grid(10, 10), noise_variance=10.0)
    rng = np.random.default_rng(7)
    shares = np.exp(-np.arange(100) / 6.0)
    arms = rng.permutation(np.repeat(np.arange(100), np.maximum(1, (shares / shares.sum() * 1e6).astype(int))))
    arms = np.concatenate([arms, np.zeros(10**6 - arms.size, dtype=int)])
    assert np.bincount(arms).min() == 1
    rewards = rng.normal(30, 10, arms.size)
    state = CompiledState(prior, printed=False)
    replay(state, arms, rewards)

    counts, totals = np.bincount(arms), [mp.fsum(map(mp.mpf, rewards[arms == k].tolist())) for k in range(100)]
    mean, covariance = one_shot(prior, counts, totals)
    deviation = np.sqrt(covariance.diagonal())
    assert np.all(np.abs(state.covariance - covariance) <= 1e-8 * np.outer(deviation, deviation))
    assert np.all(np.abs(state.mu - mean) <= 1e-8 * np.maximum(np.abs(mean), deviation))
    assert np.linalg.eigvalsh(state.covariance / np.outer(deviation, deviation)).min() > 0


def replay(state, arms, rewards):
    from numba import njit

    begin, finish = compiled.begin, compiled.finish_plain

    @njit
    def loop(S, d, mu, g, w, noise, arms, rewards):
        for t in range(arms.size):
            begin(S, d, mu, g, arms[t], rewards[t], noise[arms[t]])
            finish(S, d, g, w)

    loop(state.S, state.d, state.mu, state.g, state.w, state.noise, arms, rewards)


def one_shot(prior, counts, totals):
    """Eq. inference-corr-simplified as printed, with the inverse of the prior covariance, in 40 digits."""
    with mp.workdps(40):
        precision0 = mp.matrix(prior.covariance.tolist()) ** -1
        precision = precision0.copy()
        for k, n in enumerate(counts.tolist()):
            precision[k, k] += mp.mpf(n) / mp.mpf(float(prior.noise_variance[k]))
        covariance = precision**-1
        data = mp.matrix([totals[k] / mp.mpf(float(prior.noise_variance[k])) for k in range(len(totals))])
        mean = covariance * (data + precision0 * mp.matrix(prior.mean.tolist()))
        return np.array(mean.tolist(), dtype=float).ravel(), np.array(covariance.tolist(), dtype=float)


@pytest.mark.parametrize("noise", [1.0, 1e-10])
def test_a_singular_prior_leaves_nothing_broken(noise):
    where = grid(6, 6)
    for prior in (
        Correlated(mean=0.0, kernel=4 * SquaredExponential(30.0), coordinates=where, noise_variance=noise),
        Correlated(mean=0.0, covariance=np.ones((36, 36)), noise_variance=noise),
    ):
        state, rng = CompiledState(prior), np.random.default_rng(8)
        for _ in range(5_000):
            state.observe(int(rng.integers(36)), float(rng.normal(0, np.sqrt(noise))))
            assert np.abs(state.mu).max() < 10
            assert (state.d >= 0).all()
            # sqrt(N) s_i is the most that s_i sqrt(sum rho^2) can be; 1e-6 covers variances that are all rounding
            assert np.all(state.w <= 6 * np.sqrt(state.d) * (1 + 1e-9) + 1e-6)


@pytest.mark.parametrize(("variance", "engine"), [(1e130, "compiled"), (1e300, "auto")])
def test_a_prior_far_wider_than_the_noise_still_ends_its_initialisation(variance, engine):
    bandit = GaussianBandit(np.arange(9.0), 1.0)
    prior = Correlated(covariance=variance * np.eye(9), noise_variance=1.0)
    trace = simulate({"wide": (CorrelatedUCL(), prior)}, bandit, 30, engine=engine)
    assert trace.initialisation.item() == 9
    assert sorted(trace.arms.values[0, 0, :9]) == list(range(9))


def test_code_just_compiled_and_code_from_the_cache_give_the_same_bits(tmp_path):
    """On the paper's ill-informed prior, whose symmetry makes ties that any other rounding would break otherwise."""
    code = (
        "import hashlib, corrbandits as cb\n"
        "from corrbandits import paper\n"
        "surface = cb.landscapes.two_peaks()\n"
        "trace = cb.simulate(paper.ill_informed(surface), surface, 100, 20)\n"
        "print(hashlib.sha256(trace.arms.values.tobytes() + trace.rewards.values.tobytes()).hexdigest())"
    )
    cold, warm = (
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
        for _ in range(2)
    )
    assert cold == warm
