"""The belief that is told nothing, against brute force, known cases and its own symmetries."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from corrbandits import Correlated, Exponential, Vague
from corrbandits._core.tally import Tally
from corrbandits.belief.vague.lengths import reach
from corrbandits.belief.vague.opening import farthest, in_order
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.spread import quasi_random
from corrbandits.belief.vague.standard import Standard
from corrbandits.policies import UCL, Gittins, Greedy, HorizonUCL, Thompson
from tests.support import extended
from tests.support.parts import log_prior

PLACES = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]
ARMS, REWARDS = [0, 1, 2, 0, 1, 0], [3.0, 4.5, 1.0, 2.0, 5.0, 3.5]


@mpmath.workdps(50)
def by_brute_force(belief, arms, rewards, mean, scales):
    """Return weights, means and second moments by integrating every reward's joint density over beta and the scale.

    `mean` is None or (centre, deviation); `scales` None if they are to be integrated over 1 / s.
    """
    parts, y = belief.parts, np.array(rewards)
    every = np.arange(belief.arms)
    weights, means, squares, likely = [], [], [], np.exp(log_prior(belief))
    for part in range(len(parts)):
        R = parts.correlation(part, every, every)

        def given(s, R=R, part=part):
            """Density of the rewards, and moments of the arms, given the scale: beta is one more Gaussian."""
            noise = s**2 * parts.ratios[part]
            centre, deviation = (0.0, mpmath.mpf(1e7)) if mean is None else mean
            prior = s**2 * R + deviation**2
            K = prior[np.ix_(arms, arms)] + noise * np.eye(len(arms))
            apart = y - centre
            inverse, log_determinant = extended.inverse(K)
            density = math.exp(-0.5 * (log_determinant + apart @ inverse @ apart))
            gain = prior[:, arms] @ inverse
            location = centre + gain @ (y - centre)
            return density, location, np.diag(prior - gain @ prior[arms])

        if scales is not None:
            density, location, variance = given(scales[part])
            weights.append(likely[part] * density)
            means.append(likely[part] * density * location)
            squares.append(likely[part] * density * (variance + location**2))
            continue
        x, w = np.polynomial.legendre.leggauss(120)
        total, first, second = 0.0, 0.0, 0.0
        for node, weight in zip(3 + 6 * x, 6 * w, strict=True):  # log s from -3 to 9, where 1 / s is flat
            density, location, variance = given(math.exp(node))
            total += weight * density
            first = first + weight * density * location
            second = second + weight * density * (variance + location**2)
        weights.append(likely[part] * total)
        means.append(likely[part] * first)
        squares.append(likely[part] * second)
    total = sum(weights)
    average = sum(means) / total
    found = np.array(weights) / total, average, sum(squares) / total - average**2
    return [np.asarray(each, dtype=np.float64) for each in found]


def test_mean_and_scale_are_integrated_out_exactly():
    belief = Vague(coordinates=PLACES, parts=3).observe(ARMS, REWARDS)
    weights, mean, variance = by_brute_force(belief, ARMS, REWARDS, None, None)
    # the flat mean is a normal one of deviation 1e7 there
    np.testing.assert_allclose(belief.weights, weights, rtol=1e-5)
    np.testing.assert_allclose(belief.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(belief.variance, variance, rtol=1e-5)


def test_a_known_mean_with_unknown_scale():
    belief = Vague(coordinates=PLACES, mean=2.0, parts=3).observe(ARMS, REWARDS)
    weights, mean, variance = by_brute_force(belief, ARMS, REWARDS, (2.0, 0.0), None)
    np.testing.assert_allclose(belief.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(belief.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(belief.variance, variance, rtol=1e-6)


@pytest.mark.parametrize(
    ("mean", "said"), [((2.0, 0.0), 2.0), ((2.0, 1.5), (2 - 1.5 * 1.6448536, 2 + 1.5 * 1.6448536))]
)
def test_known_scales_are_used_in_their_units(mean, said):
    belief = Vague(coordinates=PLACES, mean=said, sd=(0.5, 3.0), noise_sd=(0.2, 2.0), parts=5).observe(ARMS, REWARDS)
    weights, average, variance = by_brute_force(belief, ARMS, REWARDS, mean, belief.parts.scales)
    np.testing.assert_allclose(belief.weights, weights, rtol=1e-6)
    np.testing.assert_allclose(belief.mean, average, rtol=1e-7)
    np.testing.assert_allclose(belief.variance, variance, rtol=1e-6)


def test_an_interval_for_the_mean_and_nothing_else():
    said = (2 - 1.5 * 1.6448536, 2 + 1.5 * 1.6448536)
    belief = Vague(coordinates=PLACES, mean=said, parts=3).observe(ARMS, REWARDS)
    _, average, variance = by_brute_force(belief, ARMS, REWARDS, (2.0, 1.5), None)
    np.testing.assert_allclose(belief.mean, average, atol=2e-3)  # the scale stands at thirteen values per part
    np.testing.assert_allclose(belief.variance, variance, rtol=2e-3)


def test_told_everything_it_is_the_correlated_belief():
    told = Vague(
        coordinates=PLACES, mean=2.0, sd=3.0, noise_sd=0.7, length=1.7, kernel="exponential", site=0.0, parts=4
    ).observe(ARMS, REWARDS)
    known = Correlated(mean=2.0, kernel=9 * Exponential(1.7), coordinates=PLACES, noise_variance=0.49)
    known = known.observe(ARMS, REWARDS)
    np.testing.assert_allclose(told.mean, known.mean, rtol=1e-8)
    np.testing.assert_allclose(told.variance, known.variance, rtol=1e-8)
    np.testing.assert_allclose(told.covariance_with(3), known.covariance_with(3), atol=1e-8)
    np.testing.assert_allclose(told.credible_limit(-6.0), known.credible_limit(-6.0), rtol=1e-8)
    np.testing.assert_allclose(told.noise_variance, 0.49)


def test_one_arm_seen_is_seen_alike_by_all_parts():
    """A reward of 2 of variance 2, half of it noise: the mean is 1, under each of several equal parts."""
    prior = Vague(
        coordinates=[0.0, 1.0], mean=0.0, sd=1.0, length=1.0, noise_sd=1.0, kernel="exponential", site=0.0, parts=3
    )
    expected = np.tile([1.0, math.exp(-1)], (3, 1))
    np.testing.assert_allclose(prior.observe(0, 2.0).part_locations, expected, rtol=1e-9)


def test_a_stated_prior_is_proper_before_any_reward():
    prior = Vague(coordinates=PLACES, mean=2.0, sd=3.0, noise_sd=1.0)
    np.testing.assert_allclose(prior.mean, 2.0)
    np.testing.assert_allclose(prior.variance, 9.0)
    assert not prior.opening
    assert Vague(coordinates=PLACES, sd=3.0, noise_sd=1.0).opening
    assert not Vague(coordinates=PLACES, sd=3.0, noise_sd=1.0).observe(0, 5.0).opening


def test_shifted_and_scaled_rewards_shift_and_scale_everything():
    prior, rewards = Vague(coordinates=PLACES), np.array(REWARDS)
    one, other = prior.observe(ARMS, rewards), prior.observe(ARMS, 1000 * rewards - 1e5)
    np.testing.assert_allclose(other.mean, 1000 * one.mean - 1e5, rtol=1e-11)
    np.testing.assert_allclose(other.variance, 1e6 * one.variance, rtol=1e-9)
    np.testing.assert_allclose(other.credible_limit(-5.0), 1000 * one.credible_limit(-5.0) - 1e5, rtol=1e-10)
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)
    a, b = (belief.sample(np.random.default_rng(3)) for belief in (one, other))
    np.testing.assert_allclose(b, 1000 * a - 1e5, rtol=1e-9)


@pytest.mark.parametrize(("unit", "level"), [(1.0, 1e8), (1e299, 0.0), (1e-299, 0.0), (1.0, -1e15)])
def test_extreme_units_lose_nothing(unit, level):
    rewards = [level + unit * r for r in REWARDS]  # exact: small halves
    belief, plain = (Vague(coordinates=PLACES).observe(ARMS, r) for r in (rewards, REWARDS))
    np.testing.assert_allclose(belief.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose((belief.mean - level) / unit, plain.mean, rtol=1e-8, atol=np.spacing(abs(level)))


@pytest.mark.filterwarnings("error")
def test_deviations_are_there_where_variances_are_no_doubles():
    prior = Vague(coordinates=PLACES, parts=6)
    usual = prior.observe(ARMS, REWARDS)
    for unit, least, most in ((2.0**-1000, 0.0, 0.0), (2.0**1000, np.finfo(float).max, np.finfo(float).max)):
        scaled = prior.observe(ARMS, unit * np.array(REWARDS))
        np.testing.assert_array_equal(scaled.deviation, unit * usual.deviation)
        np.testing.assert_array_equal(scaled.limit(1.5), unit * usual.limit(1.5))
        for squares in (scaled.variance, scaled.noise_variance, np.abs(scaled.covariance_with(0))):
            assert ((squares >= least) & (squares <= most)).all()
    assert usual.deviation == pytest.approx(np.sqrt(usual.variance), rel=1e-15)
    assert prior.deviation == pytest.approx(np.inf)


def test_the_spread_within_arms_is_rounded_once():
    rng = np.random.default_rng(5)
    rewards = (1e8 + rng.standard_normal(60)).tolist()
    tally = Tally.empty(2).plus((k % 2, 1, r) for k, r in enumerate(rewards))
    seen = Standard.of(tally, np.ones(2))
    exact = Fraction(0)
    for arm in (0, 1):
        own = [Fraction(r) for r in rewards[arm::2]]
        average = sum(own) / len(own)
        exact += sum((r - average) ** 2 for r in own)
    assert seen.within * 4.0**seen.exponent == pytest.approx(float(exact), rel=1e-15)


def test_order_merging_and_taking_back_do_not_matter():
    rng, prior = np.random.default_rng(1), Vague(coordinates=PLACES)
    arms, rewards = rng.integers(0, 4, 40), rng.standard_normal(40) * 7 + 100
    together, order = prior.observe(arms, rewards), rng.permutation(40)
    shuffled = prior.observe(arms[order], rewards[order])
    halves = prior.observe(arms[:13], rewards[:13]).merge(prior.observe(arms[13:], rewards[13:]))
    one_by_one = prior
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        one_by_one = one_by_one.observe(arm, reward)
    for other in (shuffled, halves):
        np.testing.assert_array_equal(other.mean, together.mean)
        np.testing.assert_array_equal(other.variance, together.variance)
    np.testing.assert_allclose(one_by_one.mean, together.mean, rtol=1e-10)
    np.testing.assert_allclose(one_by_one.variance, together.variance, rtol=1e-9)
    taken_back = Tally.empty(4).plus(
        [(0, 1, 5.5), *((int(a), 1, float(r)) for a, r in zip(arms, rewards, strict=True))]
    )
    np.testing.assert_array_equal(prior._conditioned(taken_back.plus([(0, -1, -5.5)])).mean, together.mean)


def test_permuted_arms_have_permuted_beliefs():
    order = [2, 0, 3, 1]
    one = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    other = Vague(coordinates=[PLACES[k] for k in order]).observe([order.index(arm) for arm in ARMS], REWARDS)
    np.testing.assert_allclose(other.mean, one.mean[order], rtol=1e-12)
    np.testing.assert_allclose(other.variance, one.variance[order], rtol=1e-11)


def test_the_opening_is_spread_out_and_ends_with_the_fourth_reward():
    belief = Vague(coordinates=[(x, y) for x in range(9) for y in range(9)])
    taken = []
    for t in range(1, 5):
        assert belief.opening
        assert np.isinf(belief.variance).all()
        assert np.isinf(belief.credible_limit(-3.0)).all()
        arm = HorizonUCL(40).choose(belief, t)
        taken.append(divmod(arm, 9))
        belief = belief.observe(arm, float(t))
    assert taken[0] == (4, 4)
    assert set(taken[1:]) <= {(0, 0), (0, 8), (8, 0), (8, 8)}
    assert len(set(taken)) == 4
    assert not belief.opening
    with pytest.raises(ValueError, match="too few rewards"):
        Vague(coordinates=PLACES).sample(np.random.default_rng(0))


def test_equal_rewards_say_nothing_of_a_scale():
    belief = Vague(coordinates=PLACES).observe([0, 1, 2, 3, 0], [5.0] * 5)
    assert belief.opening
    np.testing.assert_array_equal(belief.mean, 5.0)
    assert not belief.observe(1, 6.0).opening
    assert not Vague(coordinates=PLACES, mean=4.0).observe([0, 1, 2], [5.0] * 3).opening


def test_several_asked_at_once_in_the_opening_are_spread_out():
    belief, asked = Vague(coordinates=range(16)), []
    for _ in range(8):
        asked.append(HorizonUCL(40).choose(belief.assume(asked) if asked else belief, 1))
    gaps = np.diff(sorted(asked))
    assert len(set(asked)) == 8
    assert gaps.min() >= 1
    assert max(asked) - min(asked) >= 14


def test_what_is_awaited_shrinks_variances_alone():
    belief = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    waiting = belief.assume([3, 3, 2])
    np.testing.assert_array_equal(waiting.mean, belief.mean)
    np.testing.assert_array_equal(waiting.weights, belief.weights)
    assert (waiting.variance < belief.variance).all()
    # under one part with everything known, it is what the correlated belief makes of it
    told = {"mean": 2.0, "sd": 3.0, "noise_sd": 0.7, "length": 1.7, "kernel": "exponential", "site": 0.0, "parts": 1}
    known = Correlated(mean=2.0, kernel=9 * Exponential(1.7), coordinates=PLACES, noise_variance=0.49)
    a = Vague(coordinates=PLACES, **told).observe(ARMS, REWARDS).assume([3, 3, 2])
    np.testing.assert_allclose(a.variance, known.observe(ARMS, REWARDS).assume([3, 3, 2]).variance, rtol=1e-8)
    # one of them comes
    np.testing.assert_allclose(waiting.observe(3, 2.5).mean, belief.observe(3, 2.5).mean, rtol=1e-12)


def test_the_mean_that_is_left_out_shrinks_with_what_is_awaited():
    """A flat mean under one known part: after an awaited reward the variance is that after any reward."""
    told = {"sd": 3.0, "noise_sd": 0.7, "length": 1.7, "kernel": "exponential", "site": 0.0, "parts": 1}
    belief = Vague(coordinates=PLACES, **told).observe(ARMS, REWARDS)
    np.testing.assert_allclose(belief.assume([3]).variance, belief.observe(3, 8.0).variance, rtol=1e-9)


def test_draws_have_the_covariance_that_is_said():
    belief = Vague(coordinates=PLACES, sd=2.0, noise_sd=(0.3, 1.0), mean=(0.0, 4.0)).observe(ARMS, REWARDS)
    rng = np.random.default_rng(2)
    draws = np.array([belief.sample(rng) for _ in range(6000)])
    S = np.array([belief.covariance_with(arm) for arm in range(4)])
    np.testing.assert_allclose(S.diagonal(), belief.variance, rtol=1e-9)
    np.testing.assert_allclose(np.cov(draws.T), S, atol=0.12 * S.max())
    np.testing.assert_allclose(draws.mean(axis=0), belief.mean, atol=5 * math.sqrt(S.max() / 6000))


def test_turned_round_it_is_its_mirror_image():
    belief = Vague(coordinates=PLACES, mean=(0.0, 5.0)).observe(ARMS, REWARDS)
    image = belief.mirrored()
    np.testing.assert_allclose(image.mean, -belief.mean, rtol=1e-12)
    np.testing.assert_allclose(image.variance, belief.variance, rtol=1e-12)
    assert image.parts is belief.parts  # and their correlations are not computed again


def test_more_parts_change_little():
    """Convergence: what 48 parts say lies within a few percent of a deviation of what 1,536 say."""
    rng = np.random.default_rng(8)
    points = rng.random((25, 2))
    root = np.linalg.cholesky(Exponential(0.4)(points) + 1e-12 * np.eye(25))
    arms = rng.integers(0, 25, 50)
    rewards = (root @ rng.standard_normal(25))[arms] + 0.5 * rng.standard_normal(50)
    few, some, many = (Vague(coordinates=points, parts=n).observe(arms, rewards) for n in (48, 384, 1536))
    deviation = np.sqrt(many.variance)
    assert (np.abs(few.mean - many.mean) / deviation).max() < 0.25
    assert (np.abs(some.mean - many.mean) / deviation).max() < 0.1
    np.testing.assert_allclose(np.sqrt(some.variance), deviation, rtol=0.1)


def test_parts_follow_from_places_alone():
    assert reach(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]), "euclidean") == (5.0, 5.0)
    low, high = reach(np.array([[0.0, 0.0], [0.0, 1.0]]), "great_circle")
    assert low == pytest.approx(111.2, abs=0.1)
    assert high >= low * 0.99
    u = quasi_random(512, 4)
    assert np.abs(u.mean(axis=1) - 0.5).max() < 0.01
    parts = Parts.of(np.zeros((3, 1)), number=5, arms=3)
    assert len(parts) == 5


def test_great_circles_and_one_place():
    belief = Vague(coordinates=[[50.0, 8.0], [50.1, 8.0], [50.0, 8.3]], distance="great_circle")
    assert np.isfinite(belief.observe([0, 1, 2, 0], [1.0, 2.0, 3.0, 1.5]).mean).all()
    one = Vague(coordinates=[[1.0, 1.0]]).observe([0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert one.mean.item() == pytest.approx(3.0)


def test_independent_arms_learn_their_common_scale():
    rng = np.random.default_rng(4)
    means = 10 + 3 * rng.standard_normal(200)
    arms = np.repeat(np.arange(200), 4)
    belief = Vague(arms=200).observe(arms, means[arms] + rng.standard_normal(800))
    said = belief.learnt()
    assert said.neighbours is None
    assert said.sd.low < 3 < said.sd.high
    assert said.noise_sd.low < 1 < said.noise_sd.high
    np.testing.assert_allclose(belief.mean, means, atol=5 * 0.5)


@pytest.mark.parametrize("unit", [0.001, 0.3, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1000.1])
def test_the_opening_is_the_same_in_every_unit_of_the_coordinates(unit, shift):
    """On a grid many arms are equally far but for rounding, which differs from unit to unit."""
    first, second = ([2.5, 12.5, 22.5, 32.5, 42.5, 52.5, 62.5], [3.3, 13.2, 23.1, 33.0, 42.9, 52.8, 62.7])
    grid = np.array([(x, y) for x in first for y in second])
    tried, same = np.zeros((2, len(grid)), dtype=int)
    for _ in range(12):
        arm = farthest(grid, tried, np.arange(len(grid)))
        assert farthest(unit * grid + shift, same, np.arange(len(grid))) == arm
        tried[arm], same[arm] = 1, 1
    order, _ = in_order(unit * grid + shift, len(grid))
    assert set(order[:12].tolist()) == set(np.flatnonzero(tried).tolist())


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1e-160, 1e300, [1.0, 1.0, -2.0], np.nan])
def test_relative_noise_that_is_none_is_refused_by_its_own_name(wrong):
    with pytest.raises(ValueError, match="relative_noise"):
        Vague(arms=3, relative_noise=wrong)


@pytest.mark.parametrize("where", [[[4.0, 2.0]], [[4.0, 2.0], [4.0, 2.0]]])
def test_nothing_is_said_of_neighbours_where_there_are_none(where):
    said = Vague(coordinates=where).observe(np.arange(6) % len(where), [1.0, 9.0, 2.0, 8.0, 3.0, 8.5]).learnt()
    assert said.neighbours is said.length is None
    assert said.sd.low < said.sd.high


def test_farthest_minds_what_was_tried_by_arms_at_one_place():
    points = np.array([[0.0], [0.0], [1.0]])
    assert farthest(points, np.array([1, 0, 1]), np.arange(3)) == 1


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"mean": (3.0, 1.0)}, "90 % interval"),
        ({"mean": 1e160}, r"mean must lie between -1e\+140 and 1e\+140, got 1e\+160. Take other units"),
        ({"mean": (-1e150, 0.0)}, "mean must lie between"),
        ({"sd": -1.0}, "above 0"),
        ({"length": (0.0, 3.0)}, "above 0"),
        ({"site": 1.5}, "from 0 to 1"),
        ({"kernel": "cubic"}, "one or several of"),
        ({"parts": 0}, "parts"),
        ({"noise_sd": "much"}, "noise_sd"),
        ({"relative_noise": 0.0}, "noise"),
    ],
)
def test_what_cannot_be_is_refused(said, match):
    with pytest.raises((ValueError, TypeError), match=match):
        Vague(coordinates=PLACES, **said)


@pytest.mark.parametrize("step", [1e300, 1e-300])
@pytest.mark.filterwarnings("error")
def test_coordinates_that_no_length_follows_from_are_named(step):
    with pytest.raises(ValueError, match=r"coordinates must lie between 1e-140 and .* apart.* Take other units"):
        Vague(coordinates=step * np.arange(5))


def test_sums_alone_are_refused():
    with pytest.raises(ValueError, match="must see each reward"):
        Vague(coordinates=PLACES).observe_all([3, 0, 0, 0], [6.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("rule", [HorizonUCL(60), Gittins(60), Greedy(), UCL(), Thompson()])
def test_rules_play_it(rule):
    rng, belief = np.random.default_rng(0), Vague(coordinates=range(12))
    means = np.sin(np.arange(12) / 3) * 20 + 100
    for t in range(1, 61):
        arm = rule.choose(belief, t, rng=rng)
        belief = belief.observe(arm, means[arm] + rng.standard_normal())
    assert means[belief.mean.argmax()] > 110


def test_the_last_decision_is_greedy():
    belief = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    best = int(belief.mean.argmax())
    assert HorizonUCL(7).choose(belief, 7) == Gittins(7).choose(belief, 7) == best
    assert HorizonUCL(7).choose(belief, 70) == best


def test_the_expected_variance_of_one_more_reward_is_what_is_seen():
    """E[var after] + var[E after] = var before, by quadrature over the predictive law: a martingale."""
    told = {"sd": 3.0, "length": 1.7, "kernel": "exponential", "site": 0.0, "noise_sd": (0.3, 2.0), "parts": 6}
    belief = Vague(coordinates=PLACES, mean=2.0, **told).observe(ARMS, REWARDS)
    parts, arm = belief.parts, 3
    deviation = np.sqrt(np.square(belief.part_scales[:, arm]) + np.square(parts.scales) * parts.ratios)

    def predictive(r):
        return float(belief.weights @ stats.norm.pdf(r, belief.part_locations[:, arm], deviation))

    def expected(f):
        return integrate.quad(lambda r: predictive(r) * f(belief.observe(arm, r)), -30, 30, limit=200, epsabs=1e-9)[0]

    assert expected(lambda b: b.mean[arm]) == pytest.approx(belief.mean[arm], rel=1e-6)
    after = expected(lambda b: b.variance[arm] + b.mean[arm] ** 2)
    assert after == pytest.approx(belief.variance[arm] + belief.mean[arm] ** 2, rel=1e-6)


@pytest.mark.parametrize(
    ("said", "rewards"),
    [
        *(({"mean": (0.0, 1.0)}, [0, 0, 0, 0, 0, apart]) for apart in (1e-150, 1e-160, 1e-300)),
        ({"sd": 1.0}, [0, 0, 0, 0, 0, 1e-155]),
        ({"mean": (0.0, 1.0), "sd": 1.0, "noise_sd": 1.0}, [0, 0, 0, 0, 0, 1e-200]),
        ({"sd": 1e-10}, [0, 0, 1e150, 0, 0, 1e150]),
        ({"mean": 0.0, "sd": 1.0}, [1e200, 2e200, -1e200, 1e200, 2e200, -1e200]),
        ({"mean": 2.0, "sd": 2.0, "noise_sd": 0.3}, [1e160] * 6),
        ({"mean": (1.0, 3.0), "noise_sd": 0.3}, [1e300] * 6),
        ({"mean": 1e140}, [1e-100, 2e-100, -1e-100, 0, 0, 0]),
    ],
)
def test_rewards_and_what_was_stated_may_lie_any_number_of_powers_apart(said, rewards):
    belief = Vague(arms=3, **said).observe([0, 1, 2, 0, 1, 2], rewards)
    assert np.isfinite([belief.mean, belief.variance, belief.credible_limit(-3.0), *belief.rivals(0)]).all()
    assert 0 <= Gittins(40).choose(belief, 7) < 3
    assert belief.learnt().noise_sd.low >= 0


@pytest.mark.parametrize("number", [1, 4])
def test_equal_rewards_far_from_what_was_stated_are_weighed_as_any_others(number):
    belief = Vague(arms=2, mean=2.0, sd=2.0, noise_sd=0.3).observe([0] * number, [1e160] * number)
    assert belief.mean[0] == pytest.approx(1e160 * 4 / (4 + 0.09 / number), rel=1e-6)


def test_rewards_that_hardly_differ_are_equal_beside_what_was_stated():
    prior = Vague(arms=3, mean=(0.0, 1.0), sd=1.0, noise_sd=1.0)
    equal, nearly = (prior.observe([0, 1, 2], [0.0, 0.0, last]) for last in (0.0, 1e-250))
    np.testing.assert_allclose(nearly.mean, equal.mean, rtol=1e-12)
    np.testing.assert_allclose(nearly.deviation, equal.deviation, rtol=1e-12)


@pytest.mark.parametrize("mean", [(1,), [], np.array([[1.0, 2.0]]), (2.0, 1.0)])
def test_a_mean_that_is_neither_a_number_nor_an_interval_is_refused_in_words(mean):
    with pytest.raises(ValueError, match=r"mean must be a number, a 90 % interval"):
        Vague(arms=2, mean=mean)


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-8, 1e-12])
def test_deviations_of_precise_measurements_keep_their_digits(noise):
    """Of arms alone a deviation follows from counts; related arms are known no worse than that."""
    arms, rewards = [0, 0, 0, 1], [0.3, 0.3 + noise, 0.3 - noise, 0.7]
    alone = Vague(arms=3, mean=0.0, sd=1.0, noise_sd=noise).observe(arms, rewards)
    expected = [1 / math.sqrt(1 + 3 / noise**2), 1 / math.sqrt(1 + 1 / noise**2), 1.0]
    np.testing.assert_allclose(alone.deviation, expected, rtol=1e-7)  # rewards themselves are rounded
    told = {"coordinates": range(3), "mean": 0.0, "sd": 1.0, "length": 2.0, "kernel": "exponential", "site": 0.0}
    related = Vague(**told, noise_sd=noise).observe(arms, rewards)
    root = mpmath.mpf(-1) / 2
    with mpmath.workdps(60):
        R = mpmath.matrix(3, 3)
        for i in range(3):
            for j in range(3):
                R[i, j] = mpmath.exp(root * abs(i - j))
        M = R[:2, :2] + mpmath.diag([mpmath.mpf(noise) ** 2 / 3, mpmath.mpf(noise) ** 2])
        S = R - R[:, :2] * M**-1 * R[:2, :]
        expected = [float(mpmath.sqrt(S[i, i])) for i in range(3)]
    np.testing.assert_allclose(related.deviation, expected, rtol=1e-7)
