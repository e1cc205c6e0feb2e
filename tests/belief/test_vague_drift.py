"""The belief told nothing where mean rewards change, against one Gaussian of all rewards at all times, in full."""

import copy
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize, stats

from corrbandits import Vague
from corrbandits.belief import History
from corrbandits.belief.vague import budget, state
from tests.support import extended
from tests.support.contracts import BeliefContract, covariance_of
from tests.support.parts import log_prior

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [2.0, 2.0], [5.0, 0.5]])
STEPS = [
    (1.0, 0, 3.0), (1.0, 1, 4.5), (2.0, 2, 1.0), (2.5, 0, 2.0), (2.5, 0, 2.75), (7.0, 1, 5.0), (9.0, 0, 3.5),
    (9.0, 3, 0.5), (9.25, 5, 2.0), (30.0, 0, 1.0), (31.0, 1, 1.5),
]  # fmt: skip
NOW = 33.5
NINETY = stats.norm.ppf(0.95)


def many(number, arms=6, seed=3):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.choice([0.0, 1.0, 0.3, 4.0], number)).tolist()
    return [(t, int(rng.integers(arms)), float(5 + rng.standard_normal())) for t in times]


@dataclass
class Law:
    """The mixture by brute force: each arm's location and scale under each part, and the parts' weights."""

    weights: np.ndarray
    location: np.ndarray
    scale: np.ndarray
    covariance: np.ndarray
    freedom: float
    before: np.ndarray
    """Under each part, the square of an arm's scale before any reward."""

    @property
    def mean(self):
        return self.weights @ self.location

    @property
    def variance(self):
        return np.diag(self.covariances())

    def covariances(self):
        inflation = 1.0 if math.isinf(self.freedom) else self.freedom / (self.freedom - 2)
        apart = self.location - self.mean
        return np.einsum("g,gij->ij", self.weights, inflation * self.covariance + apart[:, :, None] * apart[:, None])

    def quantile(self, arm, tail):
        law = stats.norm if math.isinf(self.freedom) else stats.t(self.freedom)

        def above(x):
            return self.weights @ law.sf((x - self.location[:, arm]) / self.scale[:, arm]) - tail

        return optimize.brentq(above, -1e3, 1e3, xtol=1e-13, rtol=1e-14)


def by_hand(belief, steps, now, mean=None, awaited=()):
    """Return the law of the arms' means now: generalised least squares on the covariance of all rewards at all times.

    `mean` is None or (centre, deviation); scales are those of the parts, integrated out where these are nan. Rewards
    that are awaited come now, and shrink the variances alone.
    """
    parts, count, every = belief.parts, belief.arms, np.arange(belief.arms)
    times, arms = np.array([t for t, _, _ in steps]), np.array([k for _, k, _ in steps], dtype=int)
    y, n, found = np.array([r for _, _, r in steps]), len(steps), []
    for g in range(len(parts)):
        R = (1 - parts.sites[g]) * parts.kernel(g)(PLACES) + parts.sites[g] * np.eye(count)

        def between(t, a, u, b, R=R, g=g):
            return R[np.ix_(a, b)] * np.exp(-parts.rates[g] * np.abs(np.subtract.outer(t, u)))

        noise = parts.ratios[g] * belief.relative_variance
        here, tau = np.full(count, now), parts.scales[g]
        K, k = between(times, arms, times, arms) + np.diag(noise[arms]), between(times, arms, here, every)
        t2, a2 = np.append(times, np.full(len(awaited), now)), np.append(arms, np.array(awaited, dtype=int))
        K2, k2 = between(t2, a2, t2, a2) + np.diag(noise[a2]), between(t2, a2, here, every)
        one, one2 = np.ones(n), np.ones(n + len(awaited))
        (inverse, log_determinant), (inverse2, _) = extended.inverse(K), extended.inverse(K2)
        if not math.isnan(tau) and mean is not None:  # all is known: one Gaussian
            centre, spread = mean[0], (mean[1] / tau) ** 2
            full, across = tau**2 * (K + spread), tau**2 * (k + spread)
            full2, across2 = tau**2 * (K2 + spread), tau**2 * (k2 + spread)
            location = centre + across.T @ np.linalg.solve(full, y - centre)
            S = tau**2 * (R + spread) - across2.T @ np.linalg.solve(full2, across2)
            log_weight = stats.multivariate_normal(np.full(n, centre), full, allow_singular=False).logpdf(y)
            found.append((log_weight, location, S, tau**2))
            continue
        A = one @ inverse @ one
        beta = one @ inverse @ y / A if mean is None else mean[0]
        squares = (y - beta) @ inverse @ (y - beta)
        log_weight = -0.5 * log_determinant - (0.5 * math.log(A) if mean is None else 0.0)
        degrees = n - (mean is None)
        if math.isnan(tau):
            log_weight -= 0.5 * degrees * math.log(squares)
            tau = math.sqrt(squares / degrees)
        else:
            log_weight -= degrees * math.log(tau) + 0.5 * squares / tau**2
        rest = 1 - k2.T @ inverse2 @ one2
        S = R - k2.T @ inverse2 @ k2
        S = S + np.outer(rest, rest) / (one2 @ inverse2 @ one2) if mean is None else S
        found.append((log_weight, beta + k.T @ inverse @ (y - beta), tau**2 * S, tau**2))
    logs = np.array([one[0] for one in found]) + log_prior(belief)
    weights = np.exp(logs - logs.max())
    S = np.array([one[2] for one in found], dtype=np.float64)
    degrees = math.inf if not np.isnan(parts.scales).any() else float(n - (mean is None))
    scale = np.sqrt(np.einsum("gii->gi", S))
    location, before = (np.array([one[k] for one in found], dtype=np.float64) for k in (1, 3))
    return Law(np.array(weights / weights.sum(), dtype=np.float64), location, scale, S, degrees, before)


def assert_is(belief, law, tolerance=1e-9):
    np.testing.assert_allclose(belief.weights, law.weights, rtol=tolerance, atol=1e-20)
    np.testing.assert_allclose(belief.part_locations, law.location, rtol=tolerance)
    within = tolerance * np.square(law.scale) + 1e-12 * law.before[:, None]  # of what a precise reward leaves little
    assert (np.abs(np.square(belief.part_scales) - np.square(law.scale)) < 2 * within).all()
    assert belief.part_freedom == law.freedom
    np.testing.assert_allclose(belief.mean, law.mean, rtol=tolerance)
    np.testing.assert_allclose(belief.variance, law.variance, rtol=tolerance)
    np.testing.assert_allclose(covariance_of(belief), law.covariances(), rtol=tolerance, atol=tolerance)
    for tail in (0.3, 1e-4):
        limits = belief.credible_limit(math.log(tail))
        np.testing.assert_allclose(limits, [law.quantile(k, tail) for k in range(belief.arms)], rtol=tolerance)


def one_by_one(belief, steps):
    for time, arm, reward in steps:
        belief = belief.after(time).observe(arm, reward)
    return belief


def in_every_way(prior, steps, now=NOW):
    """The belief after rewards at their times: replayed, one by one, and in two halves put together."""
    half = len(steps) // 2
    line = History.of(steps, prior.arms)
    yield prior.replay(line).after(now)
    yield one_by_one(prior, steps).after(now)
    yield one_by_one(prior, steps[half:]).merge(one_by_one(prior, steps[:half])).after(now)


TOLD = {
    "nothing": ({}, None),
    "a known scale": ({"drift": 12.0}, None),
    "an interval": ({"drift": (4.0, 60.0), "kernel": "matern52"}, None),
    "the mean": ({"mean": 2.0}, (2.0, 0.0)),
    "the noise": ({"noise_sd": (0.3, 1.5)}, None),
    "the noise and the mean": ({"noise_sd": 0.5, "mean": (2 - NINETY, 2 + NINETY)}, (2.0, 1.0)),
    "all but the change": ({"noise_sd": 0.5, "sd": 2.0, "mean": 2.0, "length": 1.5, "site": 0.1}, (2.0, 0.0)),
    "noises that differ": ({"relative_noise": [1.0, 2.0, 1.0, 0.5, 1.0, 3.0]}, None),
}


@pytest.mark.parametrize("told", TOLD)
def test_all_rewards_at_all_times_are_one_gaussian(told):
    said, mean = TOLD[told]
    prior = Vague(coordinates=PLACES, parts=5, **{"drift": True} | said)
    law = by_hand(prior, STEPS, NOW, mean)
    for belief in in_every_way(prior, STEPS):
        assert_is(belief, law)


@pytest.mark.parametrize("number", [40, 150])
def test_many_rewards_whose_rows_are_put_together(number):
    prior, steps = Vague(coordinates=PLACES, parts=6, drift=True), many(number)
    now = steps[-1][0] + 0.5
    for belief in in_every_way(prior, steps, now):
        assert_is(belief, by_hand(prior, steps, now))
    assert one_by_one(prior, steps)._mixture.factors.S is not None


@pytest.mark.parametrize("limit", ["STEPWISE", "MUCH"])
def test_arms_that_are_too_many_for_covariances(limit, monkeypatch):
    monkeypatch.setattr(budget, "STEPWISE", 0)
    if limit == "MUCH":  # not even rows of V are kept; and no part may be left out
        monkeypatch.setattr(budget, "MUCH", 0)
        monkeypatch.setattr(budget, "NEGLIGIBLE", -1.0)
    prior, steps = Vague(coordinates=PLACES, parts=5, drift=True), many(70)
    now = steps[-1][0] + 2.0
    for belief in in_every_way(prior, steps, now):
        assert_is(belief, by_hand(prior, steps, now))
        assert_is(belief.assume([1, 1, 4]), by_hand(prior, steps, now, awaited=[1, 1, 4]))


@pytest.mark.parametrize("told", TOLD)
def test_rewards_that_are_awaited_come_now(told):
    said, mean = TOLD[told]
    prior = Vague(coordinates=PLACES, parts=5, **{"drift": True} | said)
    law = by_hand(prior, STEPS, NOW, mean, awaited=[3, 0, 3])
    waiting = one_by_one(prior, STEPS).assume([3, 0, 3])
    assert_is(waiting.after(NOW), law)
    assert_is(one_by_one(prior, STEPS).after(NOW).assume([3, 0, 3]), law)
    come = waiting.after(NOW).observe(3, 1.5)
    assert come.awaited == (0, 3)
    assert_is(come, by_hand(prior, [*STEPS, (NOW, 3, 1.5)], NOW, mean, awaited=[0, 3]))


def test_what_is_forgotten_returns_to_the_common_mean():
    prior = Vague(coordinates=PLACES, parts=5, drift=12.0)
    later = one_by_one(prior, STEPS).after(1e9)
    betas = by_hand(prior, STEPS, 1e9)
    assert_is(later, betas)
    np.testing.assert_allclose(later.part_locations, later.part_locations[:, :1] + np.zeros(6), rtol=1e-12)


def test_a_change_that_takes_for_ever_is_none():
    steps = many(90)
    for said in ({}, {"mean": 2.0, "sd": 1.0, "noise_sd": 0.7}):
        never = Vague(coordinates=PLACES, drift=math.inf, **said)
        still = Vague(coordinates=PLACES, **said).observe([k for _, k, _ in steps], [r for _, _, r in steps])
        for belief in in_every_way(never, steps, 1e6):
            np.testing.assert_allclose(belief.mean, still.mean, rtol=1e-12)
            np.testing.assert_allclose(belief.variance, still.variance, rtol=1e-12)
            np.testing.assert_allclose(belief.weights, still.weights, rtol=1e-10, atol=1e-25)
            np.testing.assert_allclose(belief.credible_limit(-5.0), still.credible_limit(-5.0), rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-3, 1e140, (1e-3, 1e9)])
def test_extreme_scales_and_times(scale):
    prior = Vague(coordinates=PLACES, parts=4, drift=scale)
    for begin, step in ((1.0, 1.0), (1e9, 1e9), (-1e9, 1e-6)):
        steps = [(begin + step * k, arm, reward) for k, (_, arm, reward) in enumerate(many(80))]
        now = steps[-1][0] + step
        for belief in in_every_way(prior, steps, now):
            assert_is(belief, by_hand(prior, steps, now))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("unit", "level"), [(1.0, 1e8), (1e299, 0.0), (1e-299, 0.0), (1.0, -1e12)])
def test_units_of_rewards_do_not_matter(unit, level):
    prior = Vague(coordinates=PLACES, parts=5, drift=True)
    plain = [(t, k, round(8 * r) / 8) for t, k, r in many(80)]  # exact in these units
    scaled = [(t, k, level + unit * r) for t, k, r in plain]
    for one, other in zip(in_every_way(prior, plain, 200.0), in_every_way(prior, scaled, 200.0), strict=True):
        np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)
        np.testing.assert_allclose((other.mean - level) / unit, one.mean, rtol=1e-9, atol=np.spacing(abs(level)))
        np.testing.assert_allclose(other.deviation / unit, one.deviation, rtol=1e-9)


@pytest.mark.parametrize("noise", [0.1, 1e-3, 1e-6])
def test_little_noise_loses_no_digits(noise):
    prior = Vague(coordinates=PLACES, sd=1.0, mean=0.0, noise_sd=noise, length=2.0, drift=(10.0, 50.0), parts=4)
    steps = [(2.0 * t, arm, math.sin(t / 9 + arm)) for t, (_, arm, _) in enumerate(many(100))]
    law = by_hand(prior, steps, 201.0, (0.0, 0.0))
    for belief in in_every_way(prior, steps, 201.0):
        np.testing.assert_allclose(belief.part_locations, law.location, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(belief.part_scales, law.scale, rtol=1e-9)
        np.testing.assert_allclose(belief.weights, law.weights, atol=1e-9)


def test_one_arm():
    prior = Vague(coordinates=[[2.0]], parts=4, drift=8.0)
    belief = one_by_one(prior, [(t, 0, r) for t, _, r in STEPS]).after(NOW)
    assert belief.variance.shape == (1,)
    assert 0 < belief.variance[0] < math.inf
    nowhere = one_by_one(Vague(arms=1, parts=4, drift=8.0), [(t, 0, r) for t, _, r in STEPS]).after(NOW)
    np.testing.assert_allclose(nowhere.mean, belief.mean, rtol=1e-9)


def test_beliefs_that_part_ways_do_not_disturb_each_other():
    common = one_by_one(Vague(coordinates=PLACES, parts=4, drift=True), many(30))
    now = common.time
    one, other = common.after(now + 1).observe(0, 9.0), common.after(now + 5).observe(0, -9.0)
    assert_is(common, by_hand(common, many(30), now))
    assert_is(one, by_hand(common, [*many(30), (now + 1, 0, 9.0)], now + 1))
    assert_is(other, by_hand(common, [*many(30), (now + 5, 0, -9.0)], now + 5))


def test_copies_pickles_and_mirror_images_of_long_histories():
    steps = [(float(t), t % 6, float(t % 7)) for t in range(1, 3_001)]
    prior = Vague(coordinates=PLACES, parts=2, drift=20.0)
    belief = prior.replay(History.of(steps, 6)).assume([2])
    for same in (copy.deepcopy(belief), pickle.loads(pickle.dumps(belief))):
        np.testing.assert_array_equal(same.after(3_005).mean, belief.after(3_005).mean)
    image = belief.mirrored()
    np.testing.assert_allclose(image.mean, -belief.mean, rtol=1e-9)
    np.testing.assert_allclose(image.variance, belief.variance, rtol=1e-9)
    assert image.awaited == (2,)


def test_the_opening_is_as_without_change():
    still, moving = Vague(coordinates=PLACES), Vague(coordinates=PLACES, drift=True)
    for t, reward in enumerate([1.0, 3.0, 2.0], 1):
        moving = moving.after(t)
        assert moving.opening
        arm = moving.least_known(np.arange(6))
        assert arm == still.least_known(np.arange(6))
        still, moving = still.observe(arm, reward), moving.observe(arm, reward)
    assert moving.still_needed == 1
    assert not moving.observe(0, 2.5).opening
    equal = one_by_one(Vague(coordinates=PLACES, drift=True), [(t, t % 6, 4.0) for t in range(1, 200)])
    assert equal.opening
    assert not equal.after(200).observe(1, 4.5).opening


def test_time_does_not_go_back():
    prior = Vague(coordinates=PLACES, drift=30.0)
    assert prior.after(5).after(2).time == 2.0  # nothing was seen yet
    belief = prior.after(5).observe(0, 1.0)
    with pytest.raises(ValueError, match=r"time must not go back .* it is 5, got 4\.5"):
        belief.after(4.5)
    for wrong in (math.nan, math.inf, "noon"):
        with pytest.raises((TypeError, ValueError), match="time"):
            belief.after(wrong)
    assert Vague(coordinates=PLACES).after(4.5).time is None


@pytest.mark.parametrize("wrong", [0.0, -3.0, (5.0, 2.0), (1.0, 2.0, 3.0), math.nan, 1e200, "soon"])
def test_what_is_no_scale_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="drift"):
        Vague(coordinates=PLACES, drift=wrong)


def test_seasons_and_sums_have_no_times():
    with pytest.raises(ValueError, match="history must be left out with drift"):
        Vague(coordinates=PLACES, history=[([0, 1], [1.0, 2.0])], drift=5.0)
    with pytest.raises(ValueError, match="must see each reward"):
        Vague(coordinates=PLACES, drift=5.0).observe_all([2, 0, 0, 0, 0, 0], [3.0, 0, 0, 0, 0, 0])


def test_what_would_take_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(budget, "STEPWISE", 0)
    monkeypatch.setattr(budget, "MOST_AT_ONCE", 9)
    belief = one_by_one(Vague(coordinates=PLACES, parts=4, drift=True), STEPS[:9])
    with pytest.raises(MemoryError, match=r"at most 9 rewards of 6 arms that change .* parts=8"):
        belief.merge(one_by_one(Vague(coordinates=PLACES, parts=4, drift=True), STEPS[9:]))


def test_nothing_is_told_of_it_and_nothing_changes():
    """Without drift no bit is another: beliefs go by counts, sums and squares, whatever time it is."""
    belief = Vague(coordinates=PLACES).observe([0, 1, 2, 3, 0], [1.0, 2.0, 3.0, 2.5, 1.5])
    assert belief.after(1e9) is belief
    for off in (None, False):
        same = Vague(coordinates=PLACES, drift=off).observe([0, 1, 2, 3, 0], [1.0, 2.0, 3.0, 2.5, 1.5])
        np.testing.assert_array_equal(same.mean, belief.mean)
        assert "drift" not in same.prior_arguments()


def test_the_first_rewards_are_few_enough_to_be_taken_at_once():
    assert state.FEW < state.FIRST


PROPER = {"mean": 2.0, "sd": 1.0, "noise_sd": 0.7, "length": 2.0, "site": 0.0, "kernel": "exponential"}


@pytest.mark.parametrize("prior", [Vague(coordinates=PLACES[:5], drift=9.0, parts=1, **PROPER).after(4.0)])
class TestContract(BeliefContract):
    """Rewards of one time are in no order; a prior that is proper from the beginning does what all beliefs do."""

    test_counts_and_sums_are_all_that_matters = None  # they are not: see the refusal of sums above
    test_draws_have_the_mean_and_the_covariance = None  # that test is for beliefs without covariances

    def test_nothing_seen_changes_nothing(self, prior):
        for same in (prior.observe([], []), prior.merge(prior), prior.after(9.0)):
            np.testing.assert_array_equal(same.mean, prior.mean)
            np.testing.assert_array_equal(same.variance, prior.variance)

    def test_draws_have_the_covariance(self, prior):
        belief = prior.observe([0, 1, 2], [1.0, 2.0, 4.0]).after(6.0).observe(4, 1.0).after(7.0)
        draws = belief.draws(np.random.default_rng(1), 20_000)
        exact, error = covariance_of(belief), 5 / math.sqrt(20_000)
        np.testing.assert_allclose(draws.mean(axis=1), belief.mean, atol=error)
        np.testing.assert_allclose(np.cov(draws), exact, atol=2 * error)
