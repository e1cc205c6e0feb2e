import copy
import math
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from corrbandits._core.covariances import spreads
from corrbandits._core.draws import covariance_root
from corrbandits.belief import Beta, Correlated, Independent, correlated
from corrbandits.kernels import Exponential, Matern52, SquaredExponential
from tests.support.contracts import (
    BETA_PRIORS,
    FIVE,
    GAUSSIAN_PRIORS,
    GRID,
    QUICK,
    BeliefContract,
    GaussianContract,
    assert_accurate,
    assert_close,
    at_once,
    exact_posterior,
    histories,
    same_bits,
    told,
)


@pytest.mark.parametrize("prior", GAUSSIAN_PRIORS.values(), ids=GAUSSIAN_PRIORS.keys())
class TestGaussian(GaussianContract): ...


@pytest.mark.parametrize("prior", BETA_PRIORS.values(), ids=BETA_PRIORS.keys())
class TestBeta(BeliefContract): ...


# posteriors against scikit-learn


@pytest.mark.parametrize("noise", [2.0, [0.5, 1.0, 2.0, 4.0, 8.0]], ids=["common noise", "noise per arm"])
@pytest.mark.parametrize(
    "kernel",
    [sk.ConstantKernel(10.0, "fixed") * sk.Matern(3.0, nu=0.5), 4.0 * sk.RBF(1.5), sk.RationalQuadratic(2.0, 0.7)],
    ids=["exponential", "squared exponential", "rational quadratic"],
)
def test_the_posterior_is_that_of_scikit_learn_with_its_own_kernel(kernel, noise):
    rng = np.random.default_rng(0)
    prior = Correlated(mean=30.0, kernel=kernel, coordinates=FIVE, noise_variance=noise)
    arms, rewards = rng.integers(0, 4, 40), rng.normal(30, 3, 40)  # arm 4 is never seen
    process = GaussianProcessRegressor(kernel, alpha=prior.noise_variance[arms], optimizer=None)
    mean, S = process.fit(FIVE[arms], rewards - 30).predict(FIVE, return_cov=True)
    for belief in (prior.observe(arms, rewards), told(prior, zip(arms.tolist(), rewards.tolist(), strict=True))):
        assert belief.mean == pytest.approx(mean + 30, rel=1e-9)
        assert belief.covariance == pytest.approx(S, rel=1e-9, abs=1e-10)


def test_the_posterior_is_that_of_scikit_learn_on_averages():
    rng = np.random.default_rng(1)
    prior = Correlated(mean=0.0, kernel=3 * Matern52(2.0), coordinates=GRID, noise_variance=1.5)
    counts = rng.integers(0, 20, 100)
    sums = np.where(counts, rng.normal(0, 5, 100) * counts, 0.0)
    seen = counts > 0
    process = GaussianProcessRegressor(
        3.0 * sk.Matern(2.0, nu=2.5), alpha=1.5 / counts[seen], optimizer=None, normalize_y=False
    ).fit(GRID[seen], sums[seen] / counts[seen])
    mean, S = process.predict(GRID, return_cov=True)
    belief = prior.observe_all(counts, sums)
    assert belief.mean == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert belief.covariance == pytest.approx(S, abs=1e-10)


def test_a_kernel_may_be_any_function_of_points():
    def brownian(x, y):
        return np.minimum(x, y.T)

    prior = Correlated(kernel=brownian, coordinates=[1.0, 2.0, 3.0], noise_variance=1.0)
    assert prior.covariance.tolist() == [[1, 1, 1], [1, 2, 2], [1, 2, 3]]


# accuracy against 60 digits

UNEVEN = np.maximum(900_000 * 10.0 ** (-0.1 * np.arange(100)), 1).astype(int)


@pytest.mark.parametrize(
    ("counts", "length", "mean"),
    [
        (UNEVEN, 3.0, 30.0),
        (UNEVEN[::-1] * 11, 30.0, 30.0),
        (UNEVEN * (np.arange(100) % 3 > 0), 1.0, 30.0),
        (UNEVEN, 3.0, 1e6),
    ],
    ids=["900,000 to 1", "10^7 to 11", "a third unseen", "a prior mean far off"],
)
def test_all_at_once_agrees_with_60_digits(counts, length, mean):
    rng = np.random.default_rng(0)
    prior = Correlated(mean=mean, kernel=10 * Exponential(length), coordinates=GRID, noise_variance=10.0)
    sums = np.sqrt(10 * counts) * rng.standard_normal(100)  # the true means are 0, so no digit of the mean comes free
    belief = prior.observe_all(counts, sums)
    assert_accurate(belief, *exact_posterior(prior, counts, belief.sums), 1e-12 if mean == 30 else 1e-8)
    assert np.array_equal(belief.covariance, belief.covariance.T)
    assert np.linalg.eigvalsh(belief.covariance)[0] > 0


@pytest.mark.parametrize("order", ["at random", "in blocks, the most seen last"])
def test_twenty_thousand_updates_agree_with_60_digits(order):
    rng = np.random.default_rng(1)
    counts = np.maximum(UNEVEN // 250, 1)
    counts[0] += 20_000 - counts.sum()
    noise = rng.uniform(1, 20, 100)
    prior = Correlated(mean=30.0, kernel=10 * Exponential(3.0), coordinates=GRID, noise_variance=noise)
    arms = np.repeat(np.arange(100), counts)[::-1]
    arms = rng.permutation(arms) if order == "at random" else arms
    rewards = rng.standard_normal(20_000) * np.sqrt(noise[arms])  # of mean 0: no digit of the mean comes free
    belief = told(prior, zip(arms.tolist(), rewards.tolist(), strict=True))
    assert belief.counts.tolist() == counts.tolist()
    assert_accurate(belief, *exact_posterior(prior, counts, belief.sums), 1e-10)
    assert np.array_equal(belief.covariance, belief.covariance.T)
    assert np.linalg.eigvalsh(belief.covariance)[0] > 0
    assert_close(belief, prior.observe(arms, rewards), 1e-10)


# spread, draws, limits


@QUICK
@given(data=st.data())
def test_the_spread_is_that_of_an_explicit_correlation_matrix(data):
    prior = data.draw(st.sampled_from([GAUSSIAN_PRIORS["correlated"], GAUSSIAN_PRIORS["smooth"]]))
    belief = told(prior, data.draw(histories(prior)))
    sd = belief.variance**0.5
    by_hand = [
        math.sqrt(sum((belief.covariance[i, j] / (sd[i] * sd[j])) ** 2 for j in range(belief.arms)))
        for i in range(belief.arms)
    ]
    assert belief.spread() == pytest.approx(by_hand, rel=1e-12)


def test_the_spread_of_independent_and_of_known_arms_is_1():
    assert GAUSSIAN_PRIORS["mixed"].spread().tolist() == [1.0] * 5
    assert GAUSSIAN_PRIORS["one known"].spread().tolist() == [1.0] * 5


def test_draws_from_a_rank_one_belief_are_one_number():
    draw = Correlated(mean=[0.0, 5.0, 9.0], covariance=4 * np.ones((3, 3)), noise_variance=1.0).sample(
        np.random.default_rng(0)
    )
    assert draw - [0, 5, 9] == pytest.approx([draw[0]] * 3, rel=1e-12)
    assert draw[0] != 0


def test_draws_do_not_drop_a_small_variance_beside_a_huge_one():
    prior = Correlated(covariance=np.diag([1e300, 1.0, 0.0]), noise_variance=1.0)
    draws = np.array([prior.sample(np.random.default_rng(seed)) for seed in range(1000)])
    # a sample variance of n Gaussians has standard error sqrt(2 / n) = 0.045
    assert draws[:, :2].var(axis=0) / [1e300, 1.0] == pytest.approx([1.0, 1.0], abs=5 * 0.045)
    assert not draws[:, 2].any()


def test_limits_of_known_and_unknown_arms():
    belief = Independent(mean=[1.0, 2.0, 3.0], variance=[0.0, 4.0, np.inf], noise_variance=1.0)
    assert belief.limit(2.0).tolist() == [1.0, 6.0, np.inf]
    assert belief.limit(-np.inf).tolist() == [1.0, -np.inf, np.inf]
    assert belief.limit([9.0, 0.5, 9.0]).tolist() == [1.0, 3.0, np.inf]


class Scripted(np.random.Generator):
    """A generator whose normals are given."""

    def __init__(self, normals):
        super().__init__(np.random.PCG64(0))
        self.normals = list(normals)

    def standard_normal(self, size):
        taken, self.normals = self.normals[:size], self.normals[size:]
        return np.array(taken)


def map_of_draws(belief):
    """The matrix that a draw applies to its normals: N of the prior, one for each arm seen or awaited."""
    counts = belief.counts + np.bincount(np.array(belief.awaited, dtype=int), minlength=belief.arms)
    normals = np.eye(belief.arms + np.count_nonzero(counts))
    centred = belief._changed(mean=np.zeros(belief.arms))
    return np.array([centred.sample(Scripted(z)) for z in normals]).T


@pytest.mark.parametrize(
    ("S0", "noise", "most", "tolerance"),
    [
        (10 * Exponential(3.0)(GRID), 10.0, 10**7, 1e-9),
        (10 * Exponential(3.0)(GRID), 1e-9, 10**7, 1e-9),
        (10 * np.ones((100, 100)), 10.0, 10, 1e-9),
        (10 * np.ones((100, 100)), 10.0, 10**5, 1e-6),
        (10 * np.ones((100, 100)), 1e-9, 10**7, 1e-9),
        (10 * SquaredExponential(40.0)(GRID), 10.0, 10**5, 1e-6),
        (1e300 * Exponential(3.0)(GRID), 1e300, 10, 1e-9),
        (1e-300 * Exponential(3.0)(GRID), 1e-300, 10, 1e-9),
    ],
    ids=["well", "surest", "rank one", "sure of one", "surest of one", "smooth", "huge", "tiny"],
)
def test_draws_have_exactly_the_covariance(S0, noise, most, tolerance):
    rng = np.random.default_rng(0)
    prior = Correlated(covariance=S0, noise_variance=noise * rng.uniform(0.5, 2, 100))
    counts = np.ceil(most ** rng.uniform(0, 1, 100)).astype(int) * (np.arange(100) % 3 < 2)
    for belief in (prior.observe_all(counts, 0.0), prior.observe(4, 0.0).assume([4, 4, 7])):
        L = map_of_draws(belief)
        scale = np.sqrt(belief.variance)
        error = np.abs(L @ (L.T / scale) / scale[:, None] - belief.covariance / scale / scale[:, None])
        assert (error[np.ix_(scale > 0, scale > 0)] <= tolerance).all()


def test_draws_take_their_normals_in_order():
    prior = GAUSSIAN_PRIORS["smooth"]
    belief = prior.observe([3, 1, 3], [1.0, 2.0, 3.0]).assume([4, 1])
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    z, e = other.standard_normal(5), other.standard_normal(3)
    A, n = [1, 3, 4], np.array([2, 2, 1])
    D = prior.noise_variance[A] / n
    g = covariance_root(prior.covariance) @ z
    expected = belief.mean + g - belief.covariance[:, A] @ ((g[A] + np.sqrt(D) * e) / D)
    assert belief.sample(one) == pytest.approx(expected, rel=1e-12)
    assert one.random() == other.random()


def test_all_beliefs_of_a_prior_share_one_root(monkeypatch):
    roots = []
    monkeypatch.setattr(correlated, "covariance_root", lambda S: roots.append(S) or covariance_root(S))
    prior = Correlated(kernel=Exponential(2.0), coordinates=GRID, noise_variance=1.0)
    beliefs = [prior, prior.observe(3, 1.0), prior.observe([1, 2], [1.0, 2.0]), prior.assume([5])]
    beliefs.append(beliefs[1].merge(beliefs[2]))
    start = threading.Barrier(len(beliefs))

    def draw(belief):
        start.wait()
        belief.sample(np.random.default_rng(0))

    threads = [threading.Thread(target=draw, args=(belief,)) for belief in beliefs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(roots) == 1
    assert not prior.prior_root().flags.writeable
    assert np.array_equal(prior.prior_root(), covariance_root(prior.covariance))


@pytest.mark.parametrize("kind", [*GAUSSIAN_PRIORS, *BETA_PRIORS])
def test_copies_and_pickles_are_the_same_belief(kind):
    prior = (GAUSSIAN_PRIORS | BETA_PRIORS)[kind]
    belief = prior.observe([0] * 3, [1.0] * 3).observe(prior.arms - 1, 1.0).assume([0])
    seeds = [np.random.default_rng(1) for _ in range(3)]
    drawn = None if np.isinf(belief.variance).any() else belief.sample(seeds.pop())
    for other in (copy.deepcopy(belief), pickle.loads(pickle.dumps(belief))):
        assert same_bits(other, belief)
        assert same_bits(other.observe(0, 0.0), belief.observe(0, 0.0))
        assert same_bits(other.merge(prior), belief.merge(prior))
        assert drawn is None or other.sample(seeds.pop()).tobytes() == drawn.tobytes()
        for array in (other.mean, other.variance, other.counts):
            assert not array.flags.writeable


def test_a_root_is_not_pickled():
    prior = Correlated(kernel=Exponential(2.0), coordinates=GRID, noise_variance=1.0)
    before = len(pickle.dumps(prior))
    prior.sample(np.random.default_rng(0))
    assert len(pickle.dumps(prior)) == before


def peak(work):
    """The most memory a piece of work takes at once, what it returns included."""
    tracemalloc.start()
    kept = work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most


def test_many_arms_take_no_second_matrix():
    n = 3000
    matrix = 8 * n**2
    for scale in (1.0, 1e200):  # the second by the careful way
        prior = Correlated(covariance=scale * Exponential(9.0)(np.arange(float(n))), noise_variance=scale)
        belief = prior.observe(7, 1.0)
        assert peak(lambda belief=belief: belief.observe(8, 1.0)) <= 1.05 * matrix
        assert peak(belief.spread) <= 0.3 * matrix
        assert peak(lambda belief=belief: belief.spread_limit(2.0)) <= 0.3 * matrix


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150, 1e-300, 1e300])
def test_the_printed_limit_is_the_limit_and_the_spread(scale):
    rng = np.random.default_rng(0)
    belief = Correlated(covariance=scale * Exponential(3.0)(GRID), noise_variance=scale * rng.uniform(0.1, 9, 100))
    for arm in rng.integers(0, 100, 300).tolist():
        belief = belief.observe(arm, math.sqrt(scale) * rng.normal())
        assert belief.spread() == pytest.approx(spreads(belief.covariance), rel=1e-12)
    for width in (2.5, -1.0, 0.0, 3):
        expected = belief.mean + width * belief.spread() * np.sqrt(belief.variance)
        assert belief.spread_limit(width) == pytest.approx(expected, rel=1e-12, abs=1e-12 * math.sqrt(scale))
    for width in (np.inf, np.nan, "2"):
        with pytest.raises((ValueError, TypeError), match="width must be"):
            belief.spread_limit(width)


@QUICK
@given(data=st.data())
def test_arms_apart_have_the_same_bits_one_by_one_and_at_once(data):
    kind = data.draw(st.sampled_from(["independent", "uninformative", "mixed", *BETA_PRIORS]))
    prior = (GAUSSIAN_PRIORS | BETA_PRIORS)[kind]
    history = data.draw(histories(prior))
    assert same_bits(told(prior, history), at_once(prior, history))


SCALES = st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 3.7, 1e9, 1e300, np.inf])


@QUICK
@given(SCALES, SCALES.filter(lambda x: 0 < x < np.inf), st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_one_arm_has_the_same_bits_one_by_one_and_at_once_at_every_scale(variance, noise, mean, reward):
    prior = Independent(mean=mean, variance=variance, noise_variance=noise, arms=1)
    assert same_bits(told(prior, [(0, reward), (0, -reward / 3)]), at_once(prior, [(0, reward), (0, -reward / 3)]))


# extremes


def test_an_arm_of_variance_0_is_known_and_stays_so():
    for prior in (
        Independent(mean=3.0, variance=0.0, noise_variance=1.0, arms=1),
        Correlated(mean=3.0, covariance=[[0.0]], noise_variance=1.0),
    ):
        belief = told(prior.observe([0] * 9, [100.0] * 9), [(0, -7.0)])
        assert (belief.mean[0], belief.variance[0]) == (3.0, 0.0)


def test_an_infinite_variance_leaves_the_average():
    belief = Independent(mean=1e9, variance=np.inf, noise_variance=6.0, arms=2).observe([0, 0, 0], [1.0, 2.0, 6.0])
    assert belief.mean.tolist() == [3.0, 1e9]
    assert belief.variance.tolist() == [2.0, np.inf]


@QUICK
@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.integers(1, 10**7), st.floats(-1e300, 1e300))
def test_no_ratio_of_variances_loses_the_posterior(variance, noise, count, average):
    prior = Independent(mean=0.0, variance=variance, noise_variance=noise, arms=1)
    belief = prior.observe_all([count], [average])
    # min(x, y) / 2 <= 1 / (1/x + 1/y) <= min(x, y) holds at every scale
    least = min(variance, noise / count)
    assert least / 2 * (1 - 1e-15) <= belief.variance[0] <= least
    assert abs(belief.mean[0]) <= abs(average / count)


def test_a_million_arms():
    prior = Independent(mean=0.0, variance=np.inf, noise_variance=1.0, arms=1_000_000)
    belief = prior.observe(999_999, 5.0).observe(np.arange(0, 1_000_000, 2), np.ones(500_000))
    assert belief.mean[[0, 1, 999_999]].tolist() == [1.0, 0.0, 5.0]
    assert belief.variance[[0, 1, 999_999]].tolist() == [1.0, np.inf, 1.0]
    assert belief.assume([1]).variance[1] == 1.0


def test_ten_million_rewards_of_one_arm():
    prior = Independent(mean=0.0, variance=10.0, noise_variance=10.0, arms=1)
    belief = prior.observe_all([10**7], [3e7])
    # delta^2 = 1: mu = n rbar / (1 + n), s^2 = 10 / (1 + n)
    assert belief.mean[0] == pytest.approx(3e7 / (10**7 + 1), rel=1e-15)
    assert belief.variance[0] == pytest.approx(10 / (10**7 + 1), rel=1e-15)


@pytest.mark.parametrize("kind", ["independent", "correlated"])
def test_huge_rewards_are_averaged(kind):
    belief = GAUSSIAN_PRIORS[kind].observe(0, 1e300).observe([0, 1], [-1e300, 1e300])
    assert np.isfinite(belief.mean).all()
    assert belief.sums.tolist() == [0.0, 1e300, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", ["independent", "correlated"])
@pytest.mark.parametrize("tell", [told, at_once], ids=["one by one", "at once"])
def test_a_sum_beyond_doubles_is_refused_and_names_the_arm(kind, tell):
    with pytest.raises(OverflowError, match="rewards of arm 1 sum to more than a double can hold"):
        tell(GAUSSIAN_PRIORS[kind], [(1, 1.7e308), (1, 1.7e308)])


@pytest.mark.parametrize("tell", [told, at_once], ids=["one by one", "at once"])
def test_a_mean_beyond_doubles_is_refused(tell):
    prior = Correlated(mean=-1.7e308, covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
    with pytest.raises(OverflowError, match="further apart than a double can hold"):
        tell(prior, [(0, 1.7e308)])


NEARLY_SINGULAR = {
    "long squared exponential": 10 * SquaredExponential(40.0)(GRID),
    "longer squared exponential": 10 * SquaredExponential(1e4)(GRID),
    "long Matern": 10 * Matern52(1e3)(GRID),
    "rank one": 10 * np.ones((100, 100)),
    "huge rank one": 1e300 * np.ones((100, 100)),
    "twins": 10 * np.kron(np.eye(50), np.ones((2, 2))),
}


@pytest.mark.parametrize("noise", [10.0, 1e-9, 1e-18])
@pytest.mark.parametrize("S", NEARLY_SINGULAR.values(), ids=NEARLY_SINGULAR.keys())
def test_nearly_singular_covariances_stay_sane(S, noise):
    rng = np.random.default_rng(0)
    prior = Correlated(mean=30.0, covariance=S, noise_variance=noise)
    counts = rng.integers(0, 10**6, 100) * rng.integers(0, 2, 100)
    history = list(zip(rng.integers(0, 100, 120).tolist(), rng.normal(30, 3, 120).tolist(), strict=True))
    for belief in (prior, told(prior, history), at_once(prior, history), prior.observe_all(counts, 31.0 * counts)):
        assert np.isfinite(belief.mean).all()
        assert np.isfinite(belief.covariance).all()
        assert (belief.variance >= 0).all()
        assert (belief.variance <= prior.variance).all()
        assert np.array_equal(belief.covariance, belief.covariance.T)
        spread = belief.spread()
        assert (spread >= 1).all()
        assert (spread <= 10).all()
        assert np.isfinite(belief.sample(rng)).all()


@pytest.mark.parametrize("counts", [[1, 0, 0, 0], [3, 1, 0, 2], [1000, 1000, 1000, 1000]])
def test_a_rank_one_prior_pools_all_rewards(counts):
    # with S0 = v 11' the arms share one mean reward: its precision is 1/v + n/s2, n the number of all rewards
    prior = Correlated(mean=2.0, covariance=5 * np.ones((4, 4)), noise_variance=3.0)
    sums = np.array(counts) * [7.0, 8.0, 9.0, 10.0]
    precision = 1 / 5 + sum(counts) / 3
    history = [(k, s / c) for k, (c, s) in enumerate(zip(counts, sums.tolist(), strict=True)) for _ in range(c)]
    for belief in (prior.observe_all(counts, sums), told(prior, history)):
        assert belief.covariance == pytest.approx(np.full((4, 4), 1 / precision), rel=1e-9)
        assert belief.mean == pytest.approx([(2 / 5 + sums.sum() / 3) / precision] * 4, rel=1e-9)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint64"])
def test_arms_and_counts_may_be_integers_of_any_size(kind):
    prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=300)
    arms, counts = np.array([2, 100], dtype=kind), np.bincount([2, 100], minlength=300).astype(kind)
    belief = prior.observe(arms[0], 4.0).observe(arms[1:], [6.0])
    assert belief.mean[[2, 100]].tolist() == [2.0, 3.0]
    assert same_bits(belief, prior.observe_all(counts, np.where(counts, [4.0] * 100 + [6.0] * 200, 0.0)))


def test_a_covariance_is_symmetrised_when_it_is_symmetric_to_rounding():
    prior = Correlated(covariance=[[1.0, 0.5], [np.nextafter(0.5, 1), 1.0]], noise_variance=1.0)
    assert prior.covariance[0, 1] == prior.covariance[1, 0]


def test_a_belief_does_not_follow_the_array_it_came_from():
    S, mean, variance = np.eye(2), np.zeros(2), np.ones(2)
    correlated = Correlated(mean=mean, covariance=S, noise_variance=1.0)
    independent = Independent(mean=mean, variance=variance, noise_variance=1.0)
    for array in (S, mean, variance):
        array += 7
    assert correlated.covariance.tolist() == [[1, 0], [0, 1]]
    assert correlated.mean.tolist() == independent.mean.tolist() == [0, 0]
    assert independent.variance.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        correlated.covariance[0, 0] = 2


def test_beta_counts_successes_and_failures():
    belief = Beta(successes=2.0, failures=3.0, arms=2).observe_all([10**7, 0], [4 * 10**6, 0])
    assert belief.successes.tolist() == [4_000_002.0, 2.0]
    assert belief.failures.tolist() == [6_000_003.0, 3.0]
    # mean a / (a + b), variance a b / ((a + b)^2 (a + b + 1))
    assert belief.mean[1] == 2 / 5
    assert belief.variance[1] == pytest.approx(6 / 150, rel=1e-15)


@pytest.mark.parametrize("kind", [*GAUSSIAN_PRIORS, *BETA_PRIORS])
def test_only_beliefs_over_one_prior_merge(kind):
    prior = (GAUSSIAN_PRIORS | BETA_PRIORS)[kind]
    for other in [*GAUSSIAN_PRIORS.values(), *BETA_PRIORS.values()]:
        if other is not prior:
            with pytest.raises(ValueError, match="started from the same prior"):
                prior.merge(other)


@pytest.mark.parametrize("change", [{"mean": 31.0}, {"noise_variance": 11.0}, {"kernel": 10 * Exponential(2.9)}])
def test_priors_that_differ_in_anything_do_not_merge(change):
    settings = {"mean": 30.0, "kernel": 10 * Exponential(3.0), "coordinates": FIVE, "noise_variance": 10.0}
    prior, equal = Correlated(**settings), Correlated(**settings)
    assert same_bits(prior.observe(1, 2.0).merge(equal), prior.observe([1], [2.0]))
    with pytest.raises(ValueError, match="started from the same prior"):
        prior.merge(Correlated(**settings | change))


def test_a_beta_belief_awaits_rewards_too():
    belief = Beta(successes=[3.0, 1.0], failures=[1.0, 1.0])
    waiting = belief.assume([0, 0])
    # a Beta of mean 3/4 and total 4 + 2: variance p (1 - p) / (total + 1)
    assert waiting.mean.tobytes() == belief.mean.tobytes()
    assert waiting.variance[0] == pytest.approx(0.75 * 0.25 / 7)
    assert waiting.variance[1] == belief.variance[1]
    assert waiting.observe(0, 1).observe(0, 0).variance[0] == belief.observe([0, 0], [1, 0]).variance[0]
    assert (waiting.credible_limit(-3.0)[0]) < belief.credible_limit(-3.0)[0]
