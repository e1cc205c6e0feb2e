"""The best possible value against brute force, limits with a formula, an index known otherwise, and simulation."""

import json

import numpy as np
import pytest
from benchmarks import optimal
from scipy.special import ndtr

import corrbandits as cb
from corrbandits.arena.optimal import Optimum, expected_largest
from corrbandits.arena.optimal.planes import normal_laws
from corrbandits.policies.gittins import index_in_deviations
from tests.support import ROOT

TWO = np.array([[1.0, 0.3], [0.3, 2.0]])
THREE = np.array([[1.0, 0.3, -0.2], [0.3, 2.0, 0.5], [-0.2, 0.5, 1.5]])
Z = np.linspace(-8.0, 8.0, 801)
P = np.exp(-(Z**2) / 2) / np.exp(-(Z**2) / 2).sum()


def prior(covariance, mean=0.0, noise=1.0):
    return cb.Correlated(mean=mean, covariance=covariance, noise_variance=noise)


def brute(mean, covariance, noise, left):
    """Return the best value by trying every arm at every point of a fine grid of next rewards."""
    if left == 1:
        return mean.max(axis=-1)
    values = []
    for arm in range(mean.shape[-1]):
        row, seen = covariance[arm], covariance[arm, arm] + noise
        after = mean[..., None, :] + Z[:, None] * row / np.sqrt(seen)
        then = brute(after, covariance - np.outer(row, row) / seen, noise, left - 1)
        values.append(mean[..., arm] + then @ P)
    return np.max(values, axis=0)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_two_arms_as_brute_force_has_it(left):
    mean = np.array([0.2, -0.1])
    found = Optimum(prior(TWO, mean, noise=0.7), left)
    expected = brute(mean, TWO, 0.7, left)
    assert found.low - 1e-4 * left <= expected <= found.high + 1e-4 * left  # brute force is no better than its grid
    assert found.value == pytest.approx(expected, abs=1e-3)
    assert found.high - found.low < 2e-3


@pytest.mark.parametrize("left", [1, 2, 3])
def test_three_arms_as_brute_force_has_it(left):
    mean = np.array([0.2, -0.1, 0.0])
    found = Optimum(prior(THREE, mean, noise=0.7), left, nodes=49)
    expected = brute(mean, THREE, 0.7, left)
    assert found.low - 1e-4 * left <= expected <= found.high + 1e-4 * left
    assert found.value == pytest.approx(expected, abs=4e-3)


def test_an_arm_without_hope_is_no_arm():
    hopeless = np.zeros((3, 3))
    hopeless[0, 0], hopeless[1:, 1:] = 0.01, TWO
    three = Optimum(prior(hopeless, [-3.0, 0.2, 0.0]), 6, nodes=49)
    two = Optimum(prior(TWO, [0.2, 0.0]), 6)
    assert three.low <= two.high
    assert two.low <= three.high
    assert three.value == pytest.approx(two.value, abs=0.03)


def test_arms_without_noise_are_known_at_one_look():
    T = 6
    found = Optimum(prior(np.eye(2), noise=1e-9), T)
    first = np.linspace(-8, 8, 4_001)
    density = np.exp(-(first**2) / 2) / np.exp(-(first**2) / 2).sum()
    larger = first * ndtr(first) + np.exp(-(first**2) / 2) / np.sqrt(2 * np.pi)  # E max(first, second)
    stay_or_look = np.maximum((T - 1) * first, (T - 2) * larger)
    assert found.value == pytest.approx(stay_or_look @ density, abs=2e-3)


@pytest.mark.parametrize("left", [5, 30])
def test_one_arm_against_a_known_one_is_left_at_its_index(left):
    g = float(index_in_deviations(left, 0.5))  # noise variance over variance
    for above, sign in ((0.03, 1), (-0.03, -1)):
        found = Optimum(prior(np.diag([2.0, 0.0]), [(above - g) * 2**0.5, 0.0]), left, nodes=81)
        unknown, known = found.worths(np.array([[0, 0]]), np.array([[(above - g) * 2**0.5, 0.0]]))[0]
        assert np.sign(unknown - known) == sign


def test_a_finer_grid_narrows_the_bounds_on_both_sides():
    for covariance, sizes in ((TWO, (21, 41, 81)), (THREE, (9, 17, 33))):
        found = [Optimum(prior(covariance), 5, nodes) for nodes in sizes]
        lows, highs = [one.low for one in found], [one.high for one in found]
        assert lows == sorted(lows)
        assert highs == sorted(highs, reverse=True)
        assert highs[2] - lows[2] < (highs[0] - lows[0]) / 6
        assert abs(found[1].value - found[2].value) < (highs[1] - lows[1]) / 4


def test_units_and_a_common_shift_change_what_they_should():
    plain, moved = Optimum(prior(TWO, [0.1, 0.0]), 8), Optimum(prior(9 * TWO, [5.3, 5.0], noise=9.0), 8)
    assert moved.value == pytest.approx(3 * plain.value + 8 * 5.0)
    assert moved.regret == pytest.approx(3 * plain.regret)


@pytest.mark.parametrize(("covariance", "nodes"), [(TWO, 81), (THREE, 33)])
def test_the_rule_that_follows_its_worths_earns_the_value(covariance, nodes):
    T, runs, rng = 8, 6_000, np.random.default_rng(3)
    best = Optimum(prior(covariance), T, nodes)
    truth = rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=runs)
    counts, sums, earned = np.zeros_like(truth, dtype=int), np.zeros_like(truth), np.zeros(runs)
    for _ in range(T):  # the posterior from counts and sums, another way than in `excess`
        precision = np.linalg.inv(covariance) + counts[:, :, None] * np.eye(len(covariance))
        means = np.linalg.solve(precision, sums[:, :, None])[:, :, 0]
        arm = best.worths(counts, means).argmax(axis=1)
        row = np.arange(runs)
        earned += means[row, arm]
        sums[row, arm] += truth[row, arm] + rng.standard_normal(runs)
        counts[row, arm] += 1
    assert abs(earned.mean() - best.value) < 4 * earned.std() / runs**0.5 + (best.high - best.low) / 2


@pytest.mark.parametrize("rule", [cb.UCL(a=1.0), cb.Greedy()], ids=lambda rule: type(rule).__name__)
def test_what_decisions_fall_short_of_adds_up_to_the_simulated_regret(rule):
    T, runs = 10, 1_000
    belief = prior(TWO)
    best = Optimum(belief, T, nodes=81)
    truth = belief.draws(np.random.default_rng(5), runs).T
    arms, rewards = optimal.played(rule, belief, truth, T)
    short = best.excess(arms, rewards)
    assert (short >= 0).all()
    regret = T * truth.max(axis=1) - np.take_along_axis(truth, arms, axis=1).sum(axis=1)
    difference = regret - short.sum(axis=1)
    assert abs(difference.mean() - best.regret) < 4 * difference.std() / runs**0.5
    assert short.sum(axis=1).std() < regret.std() / 3


def test_a_finer_grid_changes_what_decisions_fall_short_of_by_less_than_the_bounds_are_apart():
    belief = prior(0.1 * np.eye(2) + 0.9)
    arms, rewards = optimal.played(cb.Gittins(20), belief, belief.draws(np.random.default_rng(6), 100).T, 20)
    coarse, fine = (Optimum(belief, 20, nodes) for nodes in (41, 81))
    changed = fine.excess(arms, rewards).sum(axis=1).mean() - coarse.excess(arms, rewards).sum(axis=1).mean()
    assert abs(changed) < (coarse.high - coarse.low) / 3


def test_the_expectation_of_the_largest():
    draws = np.random.default_rng(0).multivariate_normal([0.3, 0.0, -0.2], THREE, size=400_000)
    for mean, covariance, sample in (([0.3, 0.0], TWO, None), ([0.3, 0.0, -0.2], THREE, draws)):
        found = expected_largest(np.array(mean), covariance)
        if sample is None:
            spread = np.sqrt(TWO[0, 0] + TWO[1, 1] - 2 * TWO[0, 1])
            z = 0.3 / spread
            assert found == pytest.approx(0.3 * ndtr(z) + spread * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), rel=1e-12)
        else:
            assert abs(found - sample.max(axis=1).mean()) < 4 * sample.max(axis=1).std() / len(sample) ** 0.5


def test_points_for_a_normal_law_enclose_means_of_convex_functions():
    (ends, p), (means, q) = normal_laws(28)
    for shift in (-1.3, 0.0, 0.4):
        exact = np.exp(-(shift**2) / 2) / np.sqrt(2 * np.pi) - shift * ndtr(-shift)
        assert q @ np.maximum(means - shift, 0) <= exact + 1e-12
        assert p @ np.maximum(ends - shift, 0) + 7e-7 >= exact
    assert [p.sum(), q.sum()] == pytest.approx([1.0, 1.0])


def test_what_it_cannot_know_is_refused():
    with pytest.raises(ValueError, match="2 or 3 arms, got 4"):
        Optimum(prior(np.eye(4)), 3)
    with pytest.raises(ValueError, match="arms must differ"):
        Optimum(prior(np.ones((2, 2))), 3)
    with pytest.raises(ValueError, match="must be proper"):
        Optimum(cb.Independent(noise_variance=1.0, arms=2), 3)
    with pytest.raises(ValueError, match=r"horizon must be at most 200 for 2 arms, .* got 1,000"):
        Optimum(prior(np.eye(2)), 1_000)
    with pytest.raises(ValueError, match="horizon must be at most 30 for 3 arms"):
        Optimum(prior(np.eye(3)), 31)


def test_the_page_shows_what_was_measured():
    data = json.loads((ROOT / "docs" / "optimal.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "optimal.md").read_text(encoding="utf-8")
    assert optimal.page(page, data) == page
    assert {(row["arms"], row["horizon"]) for row in data["rows"]} == {(2, 100), (3, 30)}
    for row in data["rows"]:
        assert row["least"] < row["regret"] < row["most"]
        assert row["excess"]["Gittins"][0] < row["excess"]["Thompson"][0]
