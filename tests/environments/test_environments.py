import copy
import pickle

import numpy as np
import pytest
from scipy.stats import kstest, t

from corrbandits import (
    BernoulliBandit,
    Correlated,
    CorrelatedUCL,
    Environment,
    Exponential,
    GaussianBandit,
    StudentBandit,
    theory,
)
from corrbandits.environments import landscapes, reward_at
from corrbandits.stress.truth import reordered
from tests.support.changing import Switching


def test_gaps_are_what_is_lost_against_the_best_arm():
    bandit = GaussianBandit([1.0, 4.0, 2.5], noise_variance=[1.0, 2.0, 3.0])
    assert bandit.gaps.tolist() == [3.0, 0.0, 1.5]
    assert bandit.arms == 3
    assert bandit.coordinates is None


def test_gaussian_rewards_have_the_stated_mean_and_variance():
    bandit = GaussianBandit([1.0, -4.0], noise_variance=[4.0, 9.0])
    noise = bandit.noise(np.random.default_rng(0), 200_000)
    rewards = np.array([bandit.reward(1, eps) for eps in noise[:20_000].tolist()])
    assert abs(rewards.mean() + 4) < 4 * 3 / np.sqrt(20_000)
    # the variance of a sample variance of normal draws is 2 sigma^4 / n
    assert abs(rewards.var() - 9) < 4 * 9 * np.sqrt(2 / 20_000)
    np.testing.assert_array_equal(
        noise[:50], bandit.noise(np.random.default_rng(0), 50)
    )  # a longer horizon only appends


def test_heavy_tailed_rewards_have_the_law_of_student_with_the_stated_variance():
    bandit = StudentBandit([1.0, -4.0], noise_variance=[4.0, 9.0], degrees=5.0)
    noise = bandit.noise(np.random.default_rng(0), 50_000)
    assert kstest(noise, t(df=5.0, scale=np.sqrt(3 / 5)).cdf).pvalue > 0.01
    assert t(df=5.0, scale=np.sqrt(3 / 5)).var() == pytest.approx(1.0)
    assert bandit.reward(1, 0.5) == -2.5
    np.testing.assert_array_equal(noise[:50], bandit.noise(np.random.default_rng(0), 50))


def test_bernoulli_rewards_have_the_stated_mean():
    bandit = BernoulliBandit([0.0, 0.3, 1.0])
    noise = bandit.noise(np.random.default_rng(0), 20_000).tolist()
    means = [np.mean([bandit.reward(k, u) for u in noise]) for k in range(3)]
    assert means[0] == 0
    assert means[2] == 1
    assert abs(means[1] - 0.3) < 4 * np.sqrt(0.21 / 20_000)
    assert bandit.noise_variance.tolist() == [0.0, pytest.approx(0.21), 0.0]


def test_environments_cannot_be_changed():
    bandit = GaussianBandit([1.0, 2.0], 1.0, coordinates=[[0.0], [1.0]])
    assert bandit.gaps.tolist() == [1.0, 0.0]
    for same in (bandit, pickle.loads(pickle.dumps(bandit)), copy.deepcopy(bandit), copy.copy(bandit)):
        for array in (same.means, same.noise_variance, same.coordinates, same.gaps, same.optimal):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 9.0


def test_arms_that_differ_by_rounding_alone_are_all_optimal():
    assert 0.1 + 0.2 > 0.3
    bandit = GaussianBandit([0.3, 0.1 + 0.2, 0.1], 1.0)
    assert bandit.optimal.tolist() == [True, True, False]
    assert bandit.gaps[:2].tolist() == [0.0, 0.0]
    assert GaussianBandit([1.0, 1.0 + 1e-14], 1.0).optimal.tolist() == [False, True]  # small, but not rounding
    assert GaussianBandit([0.0, 0.0], 1.0).optimal.tolist() == [True, True]
    assert GaussianBandit([-1e9, -1e9 - 1.0], 1.0).optimal.tolist() == [True, False]


@pytest.mark.parametrize("seed", range(10))
def test_a_draw_gives_arms_in_one_place_one_mean(seed):
    where = np.repeat(landscapes.grid(5, 5), 2, axis=0)
    gaps = landscapes.draw(9 * Exponential(2.0), where, noise_variance=1.0, seed=seed, mean=3.0).gaps
    assert (gaps == 0).sum() == 2


@pytest.mark.parametrize("bandit", [GaussianBandit([1.0, 2.0], 1.0), BernoulliBandit([0.1, 0.2])])
def test_an_arm_that_is_not_there_gives_no_reward(bandit):
    for arm in (-1, 2):
        with pytest.raises(ValueError, match="an arm must be"):
            bandit.reward(arm, 0.0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: GaussianBandit([1.0, np.nan], 1.0), ValueError, "means must be finite, got nan at index 1"),
        (lambda: GaussianBandit([1.0, np.inf], 1.0), ValueError, "means must be finite"),
        (lambda: GaussianBandit([], 1.0), ValueError, "one per arm"),
        (lambda: GaussianBandit([[1.0]], 1.0), ValueError, "one per arm"),
        (lambda: GaussianBandit(["a"], 1.0), TypeError, "means must be numbers"),
        (lambda: GaussianBandit([1.0], 0.0), ValueError, "noise_variance must be above 0, got 0"),
        (lambda: GaussianBandit([1.0], -1.0), ValueError, "noise_variance must be above 0"),
        (lambda: GaussianBandit([1.0, 2.0], [1.0]), ValueError, "one number or 2"),
        (lambda: GaussianBandit([1.0, 2.0], 1.0, [[0.0]]), ValueError, "coordinates must have 2 rows"),
        (lambda: GaussianBandit([1.0, 2.0], 1.0, shape=(3, 2)), ValueError, "has 6 cells, but there are 2 arms"),
        (lambda: StudentBandit([1.0], 1.0, degrees=2.0), ValueError, "degrees must be above 2, got 2"),
        (lambda: theory.lai_robbins(StudentBandit([1.0, 2.0], 1.0), 9), TypeError, "for Gaussian rewards or rewards 0"),
        (lambda: BernoulliBandit([0.5, 1.5]), ValueError, r"must lie in \[0, 1\]"),
        (lambda: BernoulliBandit([-0.5]), ValueError, r"must lie in \[0, 1\]"),
        (lambda: GaussianBandit([1.0], 1.0, shape=5), TypeError, r"sides of a grid, such as \(10, 10\), got 5"),
        (lambda: GaussianBandit([1.0], 1.0, shape="1"), TypeError, "shape must be the sides of a grid"),
        (lambda: landscapes.grid(0, 3), ValueError, "rows must be at least 1"),
        (lambda: landscapes.grid(10**10, 10**10), ValueError, "at most 10,000,000 cells"),
        (lambda: landscapes.clusters(3, noise_variance=1.0, seed=0), TypeError, "one per cluster, such as"),
        (lambda: landscapes.clusters("ab", noise_variance=1.0, seed=0), TypeError, "one per cluster, such as"),
        (
            lambda: landscapes.draw(None, [0.0], noise_variance=1.0, seed=0),
            TypeError,
            r"kernel must be a kernel such as Exponential\(2.0\), got None",
        ),
        (lambda: landscapes.clusters([], noise_variance=1.0, seed=0), ValueError, "at least one cluster"),
        (lambda: landscapes.clusters([0], noise_variance=1.0, seed=0), ValueError, "size must be at least 1"),
        (
            lambda: landscapes.cluster_covariance([2], epsilon=1.5),
            ValueError,
            "at least 0 and at most 1",
        ),
        (
            lambda: landscapes.draw(Exponential(1.0), [0.0], noise_variance=1.0, seed=0.5),
            TypeError,
            "seed must be a whole number",
        ),
    ],
)
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_papers_surface_is_as_described():
    surface = landscapes.two_peaks()
    assert surface.shape == (10, 10)
    assert surface.noise_variance.tolist() == [10.0] * 100
    assert surface.means.mean() == pytest.approx(30, abs=1e-12)
    assert surface.means.max() == pytest.approx(60, abs=1e-12)
    cells = surface.means.reshape(10, 10)
    padded = np.pad(cells, 1, constant_values=-np.inf)
    neighbours = np.max([np.roll(padded, s, axis) for s in (1, -1) for axis in (0, 1)], axis=0)[1:-1, 1:-1]
    peaks = np.sort(cells[(cells > neighbours) & (cells > 45)])
    np.testing.assert_allclose(peaks, [52.5, 60.0])
    assert cells.argmax() > np.flatnonzero(np.isclose(cells, 52.5))[0]  # the second peak comes earlier in index order
    assert np.abs(np.diff(cells, axis=0)).max() < np.ptp(cells) / 3  # smooth: no step near the whole range


def test_draws_have_the_kernels_covariance():
    kernel, where = 4 * Exponential(1.5), [[0.0], [1.0], [3.0]]
    means = np.array([landscapes.draw(kernel, where, mean=2.0, noise_variance=1.0, seed=s).means for s in range(4_000)])
    expected = 4 * np.exp(-np.abs(np.subtract.outer([0, 1, 3], [0, 1, 3])) / 1.5)
    # entries of a sample covariance of n normal draws deviate by about sqrt((S_ii S_jj + S_ij^2) / n) <= 4 sqrt(2 / n)
    assert np.abs(np.cov(means.T) - expected).max() < 4 * 4 * np.sqrt(2 / 4_000)
    assert np.abs(means.mean(axis=0) - 2).max() < 4 * 2 / np.sqrt(4_000)
    np.testing.assert_array_equal(means[7], landscapes.draw(kernel, where, mean=2.0, noise_variance=1.0, seed=7).means)


def test_clusters_need_as_many_initial_samples_as_there_are_clusters():
    sizes = [7, 2, 5]
    bandit = landscapes.clusters(sizes, noise_variance=1.0, seed=0, variance=20.0, epsilon=0.01)
    prior = Correlated(covariance=landscapes.cluster_covariance(sizes, variance=20.0), noise_variance=1.0)
    policy, seen = CorrelatedUCL(nu=0.5), []
    while policy.pending(prior).any():
        arm = policy.choose(prior, len(seen) + 1)
        seen.append(bandit.coordinates[arm, 0])
        prior = prior.observe(arm, 0.0)
    assert sorted(seen) == [0.0, 1.0, 2.0]


def test_the_printed_cluster_covariance_is_indefinite_and_ours_is_not():
    rng, m, epsilon = np.random.default_rng(0), 6, 0.01
    smallest = []
    for _ in range(50):
        E = rng.normal(size=(m, m))
        E = E + E.T
        np.fill_diagonal(E, 0)
        smallest.append(np.linalg.eigvalsh(np.ones((m, m)) + epsilon * E)[0])
    assert max(smallest) < 0
    assert np.linalg.eigvalsh(landscapes.cluster_covariance([m], epsilon=epsilon))[0] == pytest.approx(epsilon)


def test_a_csv_file_of_ones_own(tmp_path):
    path = tmp_path / "sites.csv"
    path.write_text("name,x,y,yield\nA,0,1,3.5\nB,2,5,4.5\n")
    bandit = landscapes.read_csv(path, reward="yield", noise_variance=2.0)
    assert bandit.means.tolist() == [3.5, 4.5]
    assert bandit.coordinates.tolist() == [[0.0, 1.0], [2.0, 5.0]]
    path.write_text("yield\n1\n2\n")
    assert landscapes.read_csv(path, reward="yield", noise_variance=2.0).coordinates is None
    with pytest.raises(ValueError, match="expected a column 'crop'"):
        landscapes.read_csv(path, reward="crop", noise_variance=2.0)


# --- mean rewards that change with time ------------------------------------------------------------------------------


def test_a_changing_environment_has_gaps_of_its_time():
    switching = Switching([0.0, 2.0, 1.0], [5.0, 2.0, 6.0], at=10)
    assert switching.changes
    assert switching.gaps.tolist() == switching.gaps_at(9).tolist() == [2.0, 0.0, 1.0]
    assert switching.gaps_at(10).tolist() == [1.0, 4.0, 0.0]
    assert [reward_at(switching, 0, 0.5, t) for t in (1, 9, 10)] == [0.5, 0.5, 5.5]


def test_a_stationary_environment_is_the_same_at_all_times():
    bandit = GaussianBandit([0.0, 2.0], 4.0)
    assert not bandit.changes
    assert bandit.means_at(10) is bandit.means
    assert bandit.gaps_at(10) is bandit.gaps
    assert reward_at(bandit, 0, 0.5, 10) == bandit.reward(0, 0.5, t=10) == bandit.reward(0, 0.5) == 1.0


def test_an_environment_that_knows_no_time_is_not_told_it():
    class Plain(Environment):
        noise_variance = np.ones(2)

        def noise(self, rng, horizon):
            return rng.standard_normal(horizon)

        def reward(self, arm, noise):
            return float(self.means[arm] + noise)

    assert reward_at(Plain([1.0, 2.0]), 1, 0.5, t=7) == 2.5


def test_reordered_arms_change_as_the_arms_do():
    turned = reordered(Switching([0.0, 2.0, 1.0], [5.0, 2.0, 6.0], at=10), np.array([2, 0, 1]))
    assert turned.changes
    assert turned.gaps_at(10).tolist() == [0.0, 1.0, 4.0]
    assert reward_at(turned, 0, 0.5, 10) == 6.5


def test_the_lower_bound_is_refused_where_means_change():
    with pytest.raises(ValueError, match="for mean rewards that do not change with time, got <Switching"):
        theory.lai_robbins(Switching([0.0, 2.0], [2.0, 0.0], at=10), 100)
