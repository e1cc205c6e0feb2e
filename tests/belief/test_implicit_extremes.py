"""`Implicit` where kernels are nearly singular, noise is tiny, or counts and rewards are huge."""

import math
from fractions import Fraction

import numpy as np
import pytest

from corrbandits.belief import Correlated, Implicit
from corrbandits.belief.implicit import belief as implicit_module
from corrbandits.belief.implicit.factor import Factor
from corrbandits.kernels import Exponential, Matern52, SquaredExponential
from tests.support.contracts import (
    IMPLICIT,
    IMPLICIT_PRIORS,
    at_once,
    covariance_of,
    told,
)

SEVEN = np.array([[x, y] for x in range(7) for y in range(7)], dtype=float)

NEARLY_SINGULAR = {
    "long squared exponential": 10 * SquaredExponential(40.0),
    "longer squared exponential": 10 * SquaredExponential(1e4),
    "long Matern": 10 * Matern52(1e3),
    "huge": 1e300 * Exponential(1e12),
    "rank one": lambda x, y: 10 * np.ones((len(x), len(y))),
    "twins": lambda x, y: 10.0 * (x[:, None] // 2 == y // 2).all(axis=-1),
}


@pytest.mark.parametrize("noise", [10.0, 1e-9, 1e-18])
@pytest.mark.parametrize("kernel", NEARLY_SINGULAR.values(), ids=NEARLY_SINGULAR.keys())
def test_nearly_singular_covariances_stay_sane(kernel, noise):
    rng = np.random.default_rng(0)
    prior = Implicit(mean=30.0, kernel=kernel, coordinates=SEVEN, noise_variance=noise)
    counts = rng.integers(0, 10**6, 49) * rng.integers(0, 2, 49)
    history = list(zip(rng.integers(0, 49, 100).tolist(), rng.normal(30, 3, 100).tolist(), strict=True))
    for belief in (prior, told(prior, history), at_once(prior, history), prior.observe_all(counts, 31.0 * counts)):
        assert np.isfinite(belief.mean).all()
        assert (belief.variance >= 0).all()
        assert (belief.variance <= prior.variance).all()
        spread = belief.spread()
        assert (spread >= 1).all()
        assert (spread <= 7).all()
        assert np.isfinite(belief.sample(rng)).all()
        most = np.outer(np.sqrt(belief.variance), np.sqrt(belief.variance))
        assert (np.abs(covariance_of(belief)) <= most * (1 + 1e-15)).all()


def test_with_noise_that_shows_a_singular_kernel_is_as_accurate_as_the_matrix():
    settings = {"kernel": 10 * SquaredExponential(40.0), "coordinates": SEVEN, "noise_variance": 1e-3}
    history = [(arm % 49, float(arm % 5)) for arm in range(0, 300, 7)]
    one, other = at_once(Implicit(**settings), history), at_once(Correlated(**settings), history)
    assert one.mean == pytest.approx(other.mean, rel=1e-6)
    assert one.variance == pytest.approx(other.variance, rel=1e-6)


def test_an_arm_that_others_determine_halves_the_variance_unless_the_noise_is_hopeless():
    K, D = np.ones((3, 3)), np.array([1e-20, 1e-20, 1e-21])
    for scale in (1e18, 1e6, 10.0):
        factor = Factor.of(np.array([4, 5, 6]), D * scale, K)
        assert sorted(factor.arms.tolist()) == [4, 5, 6]
        assert factor.D * factor.shares() == pytest.approx(np.full(3, 1e-20 * scale / 12), rel=2e-2)
    assert Factor.of(np.array([4, 5, 6]), D / 10, K).arms.size == 1


def in_fractions(prior, counts, sums):
    """Means and variances exactly, one rank-one update for each arm; the covariance may be singular."""
    exact = np.vectorize(Fraction, otypes=[object])
    mean, S = exact(prior.mean), exact(prior.covariance)
    for arm in np.flatnonzero(counts).tolist():
        row, count = S[arm].copy(), int(counts[arm])
        gain = row / (row[arm] + Fraction(float(prior.noise_variance[arm])) / count)
        mean = mean + gain * (Fraction(float(sums[arm])) / count - mean[arm])
        S = S - np.multiply.outer(gain, row)
    return mean, S.diagonal().astype(float)


def errors(belief, mean, variance):
    """The largest error of a mean, in standard deviations, and the largest relative one of a variance."""
    exact = np.array([Fraction(m) for m in belief.mean.tolist()], dtype=object)
    return (
        np.abs((exact - mean).astype(float) / np.sqrt(variance)).max(),
        np.abs(belief.variance / variance - 1).max(),
    )


@pytest.mark.parametrize("tell", [told, at_once])
@pytest.mark.parametrize("noise", [1e-10, 1e-12, 1e-14, 1e-16])
@pytest.mark.parametrize("counts", [[100, 100, 0], [100, 10, 3]])
def test_rewards_of_two_arms_at_one_point_all_count(tell, noise, counts):
    settings = {
        "kernel": Exponential(1.0),
        "coordinates": [[0.0, 0.0], [0.0, 0.0], [1.0, 3.0]],
        "noise_variance": noise,
    }
    rewards = [0.5, 0.5 + math.sqrt(noise), 0.1]
    history = [(arm, rewards[arm]) for arm in range(3) for _ in range(counts[arm])]
    belief = tell(Implicit(**settings), history)
    of_mean, of_variance = errors(belief, *in_fractions(Correlated(**settings), belief.counts, belief.sums))
    assert of_mean <= 1e-6
    assert of_variance <= 1e-10


def test_averages_of_two_arms_at_one_point_that_differ_meet_in_the_middle():
    where = [[0.0, 0.0], [0.0, 0.0], [1.0, 3.0]]
    prior = Implicit(kernel=Exponential(1.0), coordinates=where, noise_variance=1e-12)
    belief = prior.observe_all([100, 100, 0], [0.0, 100.0, 0.0])
    assert belief.mean[:2] == pytest.approx([0.5, 0.5], abs=1e-9)
    assert belief.variance[:2] == pytest.approx([5e-15, 5e-15], rel=1e-9)


def test_four_pairs_of_arms_each_at_one_point_seen_ten_million_times():
    rng = np.random.default_rng(0)
    where, counts = np.repeat(rng.uniform(0, 3, (4, 2)), 2, axis=0), np.full(8, 10**7)
    settings = {"kernel": Exponential(1.0), "coordinates": where, "noise_variance": 1e-7}
    sums = (np.repeat(rng.normal(size=4), 2) + 1e-7 * rng.normal(size=8)) * 1e7
    exact = in_fractions(Correlated(**settings), counts, sums)
    assert max(errors(Implicit(**settings).observe_all(counts, sums), *exact)) <= 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_one_by_one_does_not_drift_where_the_kernel_is_nearly_singular(seed):
    rng = np.random.default_rng(seed)
    where, arms = rng.uniform(0, 3, (10, 1)), rng.integers(0, 10, 30)
    settings = {"kernel": SquaredExponential(3.0), "coordinates": where, "noise_variance": 1e-10}
    rewards = np.sin(where[arms, 0]) + 1e-5 * rng.normal(size=30)
    belief = told(Implicit(**settings), zip(arms.tolist(), rewards.tolist(), strict=True))
    exact = in_fractions(Correlated(**settings), belief.counts, belief.sums)
    assert max(errors(belief, *exact)) <= 1e-4


def test_among_many_arms_those_seen_do_not_drift(monkeypatch):
    monkeypatch.setattr(implicit_module, "MOST_ENTRIES", 0)  # as if the arms were too many to compute all afresh
    monkeypatch.setattr(implicit_module, "in_strips", lambda size, width: [slice(0, size)])
    rng = np.random.default_rng(2)
    where, arms = rng.uniform(0, 3, (10, 1)), rng.permutation(np.arange(30) % 10)
    settings = {"kernel": SquaredExponential(3.0), "coordinates": where, "noise_variance": 1e-10}
    prior, rewards = Implicit(**settings), np.sin(where[arms, 0])
    belief, whole = told(prior, zip(arms.tolist(), rewards.tolist(), strict=True)), prior.observe(arms, rewards)
    assert (np.abs(belief.mean - whole.mean) <= 1e-4 * np.sqrt(whole.variance)).all()
    assert belief.variance == pytest.approx(whole.variance, rel=1e-4)


def test_counts_of_ten_million_and_tiny_noise_of_one_arm():
    prior = Implicit(mean=0.0, kernel=10 * Exponential(1.0), coordinates=[0.0], noise_variance=10.0)
    belief = prior.observe_all([10**7], [3e7])
    assert belief.mean[0] == pytest.approx(3e7 / (10**7 + 1), rel=1e-15)
    assert belief.variance[0] == pytest.approx(10 / (10**7 + 1), rel=1e-14)
    sharp = Implicit(kernel=10 * Exponential(1.0), coordinates=[0.0, 1.0], noise_variance=1e-300).observe(0, 5.0)
    assert sharp.variance[0] / 1e-300 == pytest.approx(1.0)
    assert sharp.mean == pytest.approx([5.0, 5 * math.exp(-1)])


def test_a_kernel_that_knows_an_arm_leaves_it_alone():
    prior = IMPLICIT_PRIORS["one known"]  # Brownian motion from 0: its first arm has variance 0
    belief = told(prior.observe([0] * 9, [100.0] * 9), [(0, -7.0), (3, 2.0)])
    assert (belief.mean[0], belief.variance[0], belief.spread()[0]) == (0.0, 0.0, 1.0)
    assert belief.sample(np.random.default_rng(0))[0] == 0.0


@pytest.mark.parametrize("kind", ["grid", "scattered"])
def test_huge_rewards_are_averaged_or_refused(kind):
    prior = IMPLICIT_PRIORS[kind]
    belief = prior.observe(0, 1e300).observe([0, 1], [-1e300, 1e300])
    assert np.isfinite(belief.mean).all()
    for tell in (told, at_once):
        with pytest.raises(OverflowError, match="rewards of arm 1 sum to more than a double can hold"):
            tell(prior, [(1, 1.7e308), (1, 1.7e308)])
        far = Implicit(**IMPLICIT[kind] | {"mean": -1.7e308})
        with pytest.raises(OverflowError, match="further apart than a double can hold"):
            tell(far, [(0, 1.7e308)])
