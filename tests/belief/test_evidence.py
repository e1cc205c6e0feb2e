import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Beta, Correlated, Implicit, Independent, evidence
from corrbandits.environments import landscapes
from corrbandits.kernels import (
    KERNELS,
    Exponential,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)
from corrbandits.likelihood.ascent import passes_a_power, suited
from corrbandits.likelihood.marginal import Averages, log_density, split, within
from tests.support.contracts import FIVE, GAUSSIAN_PRIORS, GRID, IMPLICIT, QUICK, at_once, histories

ALL = [Exponential, SquaredExponential, Matern32, Matern52, RationalQuadratic]
CLOUD = np.random.default_rng(7).uniform(0, 7, (12, 2))


def sample_of(points, length, variance, noise, mean, each, seed):
    """Rewards as the model has them: arms, and one reward for each."""
    rng = np.random.default_rng(seed)
    means = mean + np.linalg.cholesky(variance * Exponential(length)(points)) @ rng.standard_normal(len(points))
    arms = np.repeat(np.arange(len(points)), each)
    return arms, means[arms] + math.sqrt(noise) * rng.standard_normal(arms.size)


def reduced(arms, rewards):
    counts = np.bincount(arms)
    averages = np.bincount(arms, weights=rewards) / counts
    return counts.astype(float), averages, np.bincount(arms, weights=(rewards - averages[arms]) ** 2)


# the kernels' slopes


@pytest.mark.parametrize("family", KERNELS.values())
def test_slopes_are_derivatives_with_respect_to_log_r(family):
    kernel = family(1.0) if family is not RationalQuadratic else family(1.0, alpha=0.7)
    formulas = {
        Exponential: lambda r: mpmath.exp(-r),
        SquaredExponential: lambda r: mpmath.exp(-(r**2) / 2),
        Matern32: lambda r: (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r),
        Matern52: lambda r: (1 + mpmath.sqrt(5) * r + 5 * r**2 / 3) * mpmath.exp(-mpmath.sqrt(5) * r),
        RationalQuadratic: lambda r: (1 + r**2 / (2 * mpmath.mpf(0.7))) ** -mpmath.mpf(0.7),
    }
    for r in (1e-8, 1e-3, 0.3, 1.0, 4.0, 30.0):
        with mpmath.workdps(60):
            exact = float(mpmath.mpf(r) * mpmath.diff(formulas[family], mpmath.mpf(r)))
        assert kernel.slope(np.array([r]))[0] == pytest.approx(exact, rel=1e-12)
    assert (kernel.slope(np.array([0.0, 1e150])) == 0).all() or family is RationalQuadratic
    assert kernel.slope(np.array([0.0]))[0] == 0


def test_what_has_no_slope_here_is_refused():
    class Other(Stationary):
        def correlation(self, r):
            return np.exp(-r)

    for kernel in (Other(1.0), 3 * Other(1.0)):
        with pytest.raises(TypeError, match="Other kernel cannot be fitted"):
            split(kernel)
    for kernel in (Exponential(1.0) + Exponential(2.0), Exponential(1.0) * Exponential(2.0), sk.RBF(1.0), 3.0, None):
        with pytest.raises(TypeError, match="not of sums, products or functions, got"):
            split(kernel)


# the likelihood

MEANS = [None, 0.0, 1.3]


def dense(points, arms, rewards, kernel, noise, mean):
    """The covariance of all rewards, written out; and the mean, by generalised least squares if there is none."""
    S = kernel(points)[np.ix_(arms, arms)] + noise * np.eye(arms.size)
    if mean is None:
        w = np.linalg.solve(S, np.ones(arms.size))
        mean = w @ rewards / w.sum()
    return S, mean


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("family", ALL)
def test_the_likelihood_of_averages_and_scatter_is_that_of_all_rewards(family, mean):
    arms, rewards = sample_of(CLOUD, 2.0, 3.0, 0.5, 1.0, np.arange(1, 13), seed=0)
    counts, averages, scatter = reduced(arms, rewards)
    for length, variance, noise in [(2.0, 3.0, 0.5), (0.1, 1.0, 2.0), (9.0, 0.02, 0.3)]:
        at = Averages.of(family(1.0), CLOUD, counts, averages).at(length, variance, noise, mean)
        S, middle = dense(CLOUD, arms, rewards, variance * family(length), noise, mean)
        exact = multivariate_normal(np.full(arms.size, middle), S).logpdf(rewards)
        assert at.value + within(counts, noise, scatter)[0] == pytest.approx(exact, rel=1e-11)
        assert at.mean == pytest.approx(middle, rel=1e-10)


def test_the_likelihood_agrees_with_60_digits():
    arms, rewards = sample_of(FIVE, 2.0, 3.0, 0.5, 1.0, [1, 2, 3, 1, 4], seed=3)
    counts, averages, scatter = reduced(arms, rewards)
    length, variance, noise, mean = 2.5, 4.0, 0.25, 0.75
    at = Averages.of(Exponential(1.0), FIVE, counts, averages).at(length, variance, noise, mean)
    with mpmath.workdps(60):
        S = mpmath.matrix(arms.size)
        for i, a in enumerate(arms):
            for j, b in enumerate(arms):
                d = mpmath.sqrt(sum(mpmath.mpf(float(x)) ** 2 for x in FIVE[a] - FIVE[b]))
                S[i, j] = variance * mpmath.exp(-d / mpmath.mpf(length)) + (noise if i == j else 0)
        r = mpmath.matrix([mpmath.mpf(float(x)) - mpmath.mpf(mean) for x in rewards])
        quadratic = (r.T * mpmath.lu_solve(S, r))[0]
        exact = float(-(quadratic + mpmath.log(mpmath.det(S)) + arms.size * mpmath.log(2 * mpmath.pi)) / 2)
    assert at.value + within(counts, noise, scatter)[0] == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("length", [1.7, (0.8, 3.0)], ids=["one length", "one per dimension"])
@pytest.mark.parametrize(
    ("family", "distance"), [(Exponential, "cityblock"), *((family, "euclidean") for family in ALL)]
)
def test_gradients_are_those_of_the_value(family, length, distance):
    arms, rewards = sample_of(CLOUD, 2.0, 3.0, 0.5, 1.0, np.arange(1, 13), seed=1)
    counts, averages, scatter = reduced(arms, rewards)
    data, size = Averages.of(family(length, distance=distance), CLOUD, counts, averages), np.size(length)
    noises = np.linspace(0.4, 0.9, 12)

    def value(x, mean):
        noise = math.exp(x[size + 1]) * noises
        return data.at(np.exp(x[:size]), math.exp(x[size]), noise, mean).value + within(counts, noise, scatter)[0]

    x = np.array([*np.log(np.atleast_1d(length)), math.log(2.0), 0.1])
    for mean in (None, 0.4):
        noise = math.exp(0.1) * noises
        at = data.at(length, 2.0, noise, mean)
        direct = variance_of(family(length, distance=distance), CLOUD, counts, noise)
        if mean is not None:
            assert at.value == pytest.approx(multivariate_normal(np.full(12, mean), direct).logpdf(averages), rel=1e-11)
        found = [*at.by_length, at.by_variance, at.by_noise + within(counts, noise, scatter)[1]]
        step = 1e-5
        for i, slope_found in enumerate(found):
            up, down = x.copy(), x.copy()
            up[i] += step
            down[i] -= step
            assert slope_found == pytest.approx((value(up, mean) - value(down, mean)) / (2 * step), rel=1e-6, abs=1e-6)
    by_mean = (value(x, 0.4 + 1e-5) - value(x, 0.4 - 1e-5)) / 2e-5
    assert data.at(length, 2.0, noise, 0.4).by_mean == pytest.approx(by_mean, rel=1e-6)
    assert data.at(length, 2.0, noise).by_mean == 0


def variance_of(kernel, points, counts, noise):
    return 2.0 * kernel(points) + np.diag(noise / counts)


def test_gradients_agree_with_60_digits():
    counts, averages = np.array([3.0, 1.0, 2.0]), np.array([1.0, -0.5, 2.0])
    points = FIVE[:3]
    at = Averages.of(Matern52(1.0), points, counts, averages).at(1.5, 2.0, 0.3, 0.25)

    def exact(log_length, log_variance, log_noise, mean):
        S = mpmath.matrix(3)
        for i in range(3):
            for j in range(3):
                d = mpmath.sqrt(sum(mpmath.mpf(float(x)) ** 2 for x in points[i] - points[j]))
                s = mpmath.sqrt(5) * d / mpmath.exp(log_length)
                S[i, j] = mpmath.exp(log_variance) * (1 + s + s**2 / 3) * mpmath.exp(-s)
            S[i, i] += mpmath.exp(log_noise) / mpmath.mpf(float(counts[i]))
        r = mpmath.matrix([mpmath.mpf(float(x)) - mean for x in averages])
        return -((r.T * mpmath.lu_solve(S, r))[0] + mpmath.log(mpmath.det(S)) + 3 * mpmath.log(2 * mpmath.pi)) / 2

    with mpmath.workdps(60):
        where = [mpmath.log(mpmath.mpf(1.5)), mpmath.log(2), mpmath.log(mpmath.mpf(0.3)), mpmath.mpf(0.25)]
        gradient = [float(mpmath.diff(exact, where, n=tuple(int(i == k) for i in range(4)))) for k in range(4)]
        assert at.value == pytest.approx(float(exact(*where)), rel=1e-14)
    assert [*at.by_length, at.by_variance, at.by_noise, at.by_mean] == pytest.approx(gradient, rel=1e-12)


def test_a_likelihood_no_double_can_hold_is_minus_infinity():
    twins = np.array([[0.0], [0.0], [1.0]])
    data = Averages.of(SquaredExponential(1.0), twins, [1, 1, 1], np.array([0.0, 1.0, 2.0]))
    assert data.at(1.0, 1.0, 1e-30).value == -math.inf  # singular, and nothing is added to its diagonal
    assert math.isfinite(data.at(1.0, 1.0, 1e-3).value)
    huge = Averages.of(Exponential(1.0), twins, [1, 1, 1], np.array([0.0, 1e200, 2.0]))
    assert huge.at(1.0, 1.0, 1.0, 0.0).value == -math.inf
    assert suited(huge, 1.0, np.ones(3), np.zeros(3)) is None


# evidence


def finite_priors():
    plain = {name: p for name, p in GAUSSIAN_PRIORS.items() if np.isfinite(p.variance).all() and p.arms == 5}
    return {**plain, "implicit": Implicit(**IMPLICIT["scattered"])}


@QUICK
@given(data=st.data())
@pytest.mark.parametrize("name", finite_priors())
def test_evidence_differs_as_predictions_do(name, data):
    """Sums of log predictive densities, reward by reward, differ between two priors as their evidences do."""
    prior = finite_priors()[name]
    other = Correlated(mean=1.0, kernel=2 * Matern32(1.5), coordinates=FIVE, noise_variance=prior.noise_variance)
    history = data.draw(histories(prior))

    def foretold(belief):
        total = 0.0
        for arm, reward in history:
            variance = belief.variance[arm] + belief.noise_variance[arm]
            total -= ((reward - belief.mean[arm]) ** 2 / variance + math.log(2 * math.pi * variance)) / 2
            belief = belief.observe(arm, reward)
        return total

    one, two = foretold(prior), foretold(other)
    difference = evidence.log_evidence(at_once(prior, history)) - evidence.log_evidence(at_once(other, history))
    assert difference == pytest.approx(one - two, rel=1e-9, abs=1e-9 * (1 + abs(one) + abs(two)))


@pytest.mark.parametrize("name", finite_priors())
def test_evidence_is_the_density_of_the_averages(name):
    prior = finite_priors()[name]
    belief = prior.observe([0, 0, 2, 4], [1.0, 2.0, 3.0, -1.0])
    seen, counts = [0, 2, 4], np.array([2, 1, 1])
    K = np.array([prior.covariance_with(arm) for arm in range(5)])[np.ix_(seen, seen)]
    exact = multivariate_normal(prior.mean[seen], K + np.diag(prior.noise_variance[seen] / counts))
    assert evidence.log_evidence(belief) == pytest.approx(exact.logpdf([1.5, 3.0, -1.0]), rel=1e-12)
    assert evidence.log_evidence(belief.assume([1, 3])) == evidence.log_evidence(belief)
    assert evidence.log_evidence(prior) == 0


def test_evidence_stays_sane_where_the_covariance_is_singular():
    residual, D = np.array([1.0, 1.0, 1.1]), np.full(3, 1e-20)
    value = log_density(residual, np.ones((3, 3)), D)  # the third average is 1e9 deviations off
    assert math.isfinite(value)
    assert value < -1e15
    chain = log_density(np.ones(3), np.ones((3, 3)), D)
    exact = multivariate_normal.logpdf(1.0, 0, 1) + 2 * multivariate_normal.logpdf(0.0, 0, 2e-20)
    assert chain == pytest.approx(exact, rel=0.02)
    assert log_density(np.array([1e200]), np.eye(1), np.ones(1)) == -math.inf
    assert log_density(np.array([1e200, 0.0]), np.ones((2, 2)), np.full(2, 1e-20)) == -math.inf
    many = Correlated(kernel=SquaredExponential(40.0), coordinates=GRID, noise_variance=1e-12)
    assert math.isfinite(evidence.log_evidence(many.observe_all(np.full(100, 10**6), np.full(100, 10.0**6))))


def test_evidence_of_what_foretells_nothing_is_refused():
    with pytest.raises(ValueError, match="infinite variance has no evidence"):
        evidence.log_evidence(Independent(noise_variance=1.0, arms=2).observe(0, 1.0))
    with pytest.raises(TypeError, match="got a Beta"):
        evidence.log_evidence(Beta(arms=2))


# fitting, beside scikit-learn


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Exponential, lambda length: sk.Matern(length, (1e-3, 1e3), nu=0.5)),
        (Matern32, lambda length: sk.Matern(length, (1e-3, 1e3), nu=1.5)),
        (Matern52, lambda length: sk.Matern(length, (1e-3, 1e3), nu=2.5)),
        (SquaredExponential, lambda length: sk.RBF(length, (1e-3, 1e3))),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_fit_is_that_of_scikit_learn(ours, theirs, seed):
    points = np.random.default_rng(seed).uniform(0, 10, (50, 2))
    arms, rewards = sample_of(points, 2.5, 4.0, 0.5, 0.0, 3, seed)
    rewards = (rewards - rewards.mean()) / rewards.std()
    kernel = sk.ConstantKernel(1.0, (1e-5, 1e5)) * theirs(1.0) + sk.WhiteKernel(0.1, (1e-8, 1e2))
    regressor = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=2, random_state=0)
    with one_thread():
        regressor.fit(points[arms], rewards)
    found = evidence.fit(points, arms, rewards, kernel=ours, mean=0.0)
    k1, k2 = regressor.kernel_.k1, regressor.kernel_.k2
    assert found.log_evidence >= regressor.log_marginal_likelihood_value_ - 1e-9
    assert found.log_evidence == pytest.approx(regressor.log_marginal_likelihood_value_, abs=1e-6)
    fitted = [found.variance.value, found.length.value, found.noise_variance.value]
    assert fitted == pytest.approx([k1.k1.constant_value, k1.k2.length_scale, k2.noise_level], rel=1e-3)
    logs = np.log([2.0, 1.3, 0.4])
    counts, averages, scatter = reduced(arms, rewards)
    value = Averages.of(ours(1.0), points, counts, averages).at(1.3, 2.0, 0.4, 0.0).value
    value += within(counts, 0.4, scatter)[0]
    assert value == pytest.approx(regressor.log_marginal_likelihood(logs), rel=1e-9)


def test_the_mean_is_the_best_there_is():
    arms, rewards = sample_of(CLOUD, 2.0, 3.0, 0.5, 20.0, 4, seed=2)
    best = evidence.fit(CLOUD, arms, rewards)
    for shift in (-0.5, 0.5):
        assert evidence.fit(CLOUD, arms, rewards, mean=best.mean.value + shift).log_evidence < best.log_evidence
    same = evidence.fit(CLOUD, arms, rewards, mean=best.mean.value, noise_variance=best.noise_variance.value)
    assert same.log_evidence == pytest.approx(best.log_evidence, abs=1e-8)
    assert same.length.value == pytest.approx(best.length.value, rel=1e-3)
    assert same.mean.low == same.mean.value == same.mean.high
    assert same.noise_variance.low == pytest.approx(best.noise_variance.value, rel=1e-12)


def test_log_evidence_of_a_fit_is_the_density_of_all_rewards_in_their_own_units():
    arms, rewards = sample_of(CLOUD, 2.0, 300.0, 50.0, 400.0, 3, seed=2)
    found = evidence.fit(CLOUD, arms, rewards)
    S, mean = dense(CLOUD, arms, rewards, found.kernel, found.noise_variance.value, None)
    assert found.mean.value == pytest.approx(mean, rel=1e-9)
    assert found.log_evidence == pytest.approx(multivariate_normal(np.full(36, mean), S).logpdf(rewards), rel=1e-9)
    prior = found.prior(GRID)
    assert prior.covariance == pytest.approx(found.kernel(GRID), rel=1e-12)
    assert prior.mean[3] == found.mean.value
    assert prior.noise_variance[0] == found.noise_variance.value
    other = found.prior(GRID, noise_variance=2.25)
    np.testing.assert_array_equal(other.covariance, prior.covariance)
    assert set(other.noise_variance.tolist()) == {2.25}


def test_units_of_rewards_and_of_points_do_not_matter():
    arms, rewards = sample_of(GRID, 2.0, 3.0, 0.5, 1.0, 2, seed=4)
    one, other = evidence.fit(GRID, arms, rewards), evidence.fit(1e3 * GRID, arms, 1e150 * (rewards + 7))
    assert other.length.value == pytest.approx(1e3 * one.length.value, rel=1e-4)
    assert other.variance.value == pytest.approx(1e300 * one.variance.value, rel=1e-4)
    assert other.mean.value == pytest.approx(1e150 * (one.mean.value + 7), rel=1e-4)
    assert other.log_evidence == pytest.approx(one.log_evidence - 200 * 150 * math.log(10), rel=1e-9)


def test_arms_at_one_place_are_one_arm():
    arms, rewards = sample_of(CLOUD, 2.0, 3.0, 0.5, 1.0, 4, seed=6)
    twice = arms + 12 * (np.arange(arms.size) % 2)
    one, other = evidence.fit(CLOUD, arms, rewards), evidence.fit(np.concatenate([CLOUD, CLOUD]), twice, rewards)
    assert other.arms == 12
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-9)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    truth = {"mean": 5.0, "variance": 4.0, "length": 1.5, "noise_variance": 1.0}
    hits = dict.fromkeys(truth, 0)
    runs = 40
    for seed in range(runs):
        arms, rewards = sample_of(GRID, 1.5, 4.0, 1.0, 5.0, 2, seed)
        found = evidence.fit(GRID, arms, rewards)
        for name, value in truth.items():
            interval = getattr(found, name)
            assert interval.low <= interval.value <= interval.high
            hits[name] += interval.low <= value <= interval.high
    # 95 % of 40 is 38; below 33 lies less than one in a thousand of binomials
    assert all(hit >= 32 for hit in hits.values()), hits


def test_parameters_that_run_away_say_so():
    rng = np.random.default_rng(1)
    arms = np.repeat(np.arange(100), 3)
    flat = evidence.fit(GRID, arms, rng.normal(0, 1, 300))
    assert any("sd runs to 0" in words for words in flat.at_bound)
    assert (flat.variance.low, flat.variance.high) == (flat.length.low, flat.length.high) == (0, math.inf)
    assert flat.noise_variance.value == pytest.approx(1.0, rel=0.25)
    assert "note: sd runs to 0" in repr(flat)
    heights = rng.normal(0, 3, 100)
    rough = evidence.fit(GRID, arms, heights[arms] + rng.normal(0, 1, 300))
    assert any("no correlation shows" in words for words in rough.at_bound)
    assert (rough.length.low, rough.length.high) == (0, math.inf)
    assert rough.variance.low < heights.var() < rough.variance.high
    slope_only = evidence.fit(GRID, arms, GRID[arms, 0] + rng.normal(0, 0.1, 300), kernel=SquaredExponential)
    assert any("length is beyond the extent" in words or "runs to infinity" in words for words in slope_only.at_bound)


def test_its_text_is_plain():
    surface = landscapes.draw(9 * Exponential(2.0), GRID, noise_variance=1.0, seed=0)
    text = repr(evidence.fit(GRID, np.arange(100), surface.means, noise_variance=0.1))
    assert "Exponential kernel fitted to 100 rewards of 100 arms" in text
    assert "noise sd        0.3162 (0.3162 to 0.3162)" in text


def test_a_kernel_keeps_its_distance_and_its_alpha():
    globe = np.array([[lat, lon] for lat in range(40, 50) for lon in range(0, 10)], dtype=float)
    arms, rewards = np.arange(100), np.sin(globe[:, 0]) + np.cos(globe[:, 1])
    found = evidence.fit(globe, arms, rewards, kernel=Exponential(1.0, distance="great_circle"), noise_variance=0.1)
    assert found.family.distance == "great_circle"
    assert 10 < found.length.value < 1e5
    rational = evidence.fit(GRID, arms, rewards, kernel=lambda length: RationalQuadratic(length, alpha=0.5))
    assert rational.family.alpha == 0.5


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"arms": [0, 1, 1, 0]}, ValueError, "at least 3 arms at different points are needed.*got those of 2"),
        ({"rewards": [2.0] * 4}, ValueError, "all rewards are 2"),
        ({"rewards": [0.0] * 4}, ValueError, "all rewards are 0"),
        ({"rewards": [1.0, 2.0, np.nan, 4.0]}, ValueError, "rewards must be finite"),
        ({"points": [[0.0, np.inf]] * 5}, ValueError, "points must be finite"),
        ({"rewards": [1.0, 2.0]}, ValueError, r"got 4 arms and \(2,\) rewards"),
        ({"rewards": 1.0}, ValueError, "one arm per reward"),
        ({"arms": [0, 1, 2, 9]}, ValueError, "indices from 0 to 4, got 9"),
        ({"arms": [0.5, 1, 2, 3]}, TypeError, "arms must be whole numbers"),
        ({"points": np.zeros((5, 2))}, ValueError, "got those of 1"),
        ({"kernel": Exponential((1.0, 2.0))}, ValueError, "one length is fitted, but the kernel has 2"),
        ({"kernel": lambda length: sk.RBF(length)}, TypeError, "not of sums, products or functions"),
        ({"kernel": "exponential"}, TypeError, "not of sums, products or functions"),
        ({"noise_variance": 0.0}, ValueError, "noise_variance must be above 0"),
        ({"mean": np.nan}, ValueError, "mean must be finite"),
        ({"arms": [0, 1, 2, 2], "rewards": [1.0, 2.0, 3.0, 3.0]}, ValueError, "same reward every time"),
        ({"rewards": [1e200, -1e200, 5e199, 0.0]}, OverflowError, "measure them in a larger unit"),
    ],
)
def test_bad_data_are_refused(change, error, message):
    good = {"points": FIVE, "arms": [0, 1, 2, 2], "rewards": [1.0, 2.0, 3.0, 4.0]}
    assert evidence.fit(**good).rewards == 4
    with pytest.raises(error, match=message):
        evidence.fit(**good | change)


def test_powers_of_1_3_are_passed_some_27_times_in_a_thousand():
    passed = [n for n in range(1, 1001) if passes_a_power(n)]
    exact = sorted({math.ceil(1.3**k) for k in range(1, 40)})
    assert passed == [n for n in exact if n <= 1000]
    assert len(passed) == 24


@pytest.mark.parametrize("offset", [36.0, 300.0, 5000.0])
def test_a_given_mean_far_from_the_rewards_does_not_hide_the_maximum(offset):
    """The noise is what neighbours say, wherever the surface lies: it must not collapse when the mean is far off."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 40))
    surface = np.linalg.cholesky(np.exp(-np.abs(x[:, None] - x) / 3) + 1e-12 * np.eye(40)) @ rng.standard_normal(40)
    rewards = surface + 0.5 * rng.standard_normal(40)
    near = evidence.fit(x[:, None], np.arange(40), rewards)
    far = evidence.fit(x[:, None], np.arange(40), rewards + offset, mean=0.0)
    assert far.noise_variance.value == pytest.approx(near.noise_variance.value, rel=0.25)
    assert far.log_evidence > near.log_evidence - 12
    assert far.variance.value / far.length.value == pytest.approx(near.variance.value / near.length.value, rel=0.5)
