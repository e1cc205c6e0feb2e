"""A prior whose length and variance follow the data."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits.belief import Correlated, Elimination, Refitting, evidence
from corrbandits.kernels import Exponential, RationalQuadratic
from corrbandits.likelihood.ascent import passes_a_power
from tests.support.contracts import (
    FIVE,
    GRID,
    QUICK,
    GaussianContract,
    assert_close,
    at_once,
    covariance_of,
    histories,
    same_bits,
    told,
)
from tests.support.survivors import correlated, refitting, three

REFITTINGS = {
    "exponential": Refitting(mean=30.0, kernel=10 * Exponential(3.0), coordinates=FIVE, noise_variance=10.0),
    "a length per dimension": Refitting(
        mean=[0.0, 1.0, -1.0, 2.0, 5.0],
        kernel=RationalQuadratic((2.0, 1.0), alpha=0.5),
        coordinates=FIVE,
        noise_variance=[0.5, 1.0, 2.0, 4.0, 8.0],
    ),
    "one arm": Refitting(mean=2.0, kernel=3 * Exponential(1.0), coordinates=[7.0], noise_variance=2.0),
}


@pytest.mark.parametrize("prior", REFITTINGS.values(), ids=REFITTINGS.keys())
class TestRefitting(GaussianContract):
    """The contract, but for what cannot hold where the kernel changes between rewards."""

    @QUICK
    @given(data=st.data())
    def test_one_by_one_agrees_with_all_at_once(self, prior, data):
        """To the last bit where the number of rewards passes a power of 1.3; in between, under the kernel of then."""
        history, belief = data.draw(histories(prior)), prior
        for n, (arm, reward) in enumerate(history, start=1):
            belief = belief.observe(arm, reward)
            if passes_a_power(n):
                whole = at_once(prior, history[:n])
                assert same_bits(belief, whole)
                assert belief.covariance.tobytes() == whole.covariance.tobytes()
            assert_close(belief, at_once(under(prior, belief.kernel_in_force), history[:n]), 1e-10)

    @QUICK
    @given(data=st.data())
    def test_variance_never_grows(self, prior, data):
        """But at a refit."""
        belief = prior
        for arm, reward in data.draw(histories(prior)):
            after = belief.observe(arm, reward)
            assert (after.variance <= belief.variance).all() or after.refits > belief.refits
            assert (after.variance >= 0).all()
            belief = after

    @QUICK
    @given(data=st.data())
    def test_awaited_rewards_shrink_the_covariance_and_leave_the_mean(self, prior, data):
        """Under the kernel in force: what is awaited does not change it."""
        history, awaited = data.draw(histories(prior)), data.draw(histories(prior))
        belief = at_once(prior, history)
        assumed = belief.assume([arm for arm, _ in awaited])
        assert assumed.mean.tobytes() == belief.mean.tobytes()
        assert assumed.kernel_in_force == belief.kernel_in_force
        as_if = at_once(under(prior, belief.kernel_in_force), history + awaited)
        deviation = np.sqrt(as_if.variance)
        error = np.abs(covariance_of(assumed) - covariance_of(as_if))
        assert (error <= 1e-10 * np.outer(deviation, deviation)).all()
        assert np.array_equal(assumed.counts, belief.counts)

    @QUICK
    @given(data=st.data())
    def test_rewards_may_come_while_others_are_awaited(self, prior, data):
        """At once; one by one, as without those awaited."""
        history, more = data.draw(histories(prior, 6)), data.draw(histories(prior, 6))
        awaited = [arm for arm, _ in data.draw(histories(prior, 6))]
        waiting = at_once(prior, history).assume(awaited[:2]).assume(awaited[2:])
        left = sorted((Counter(awaited) - Counter(arm for arm, _ in more)).elements())
        assert_close(at_once(waiting, more), at_once(prior, history + more).assume(left), 1e-10)
        one = told(waiting, more)
        assert_close(one, told(at_once(prior, history), more).assume(left), 1e-10)
        assert np.array_equal(one.sums, at_once(prior, history + more).sums)


def under(prior, kernel):
    """The Correlated belief with the mean, the noise and the arms of a Refitting, and this kernel."""
    points = [7.0] if prior.arms == 1 else FIVE
    return Correlated(mean=prior.mean, kernel=kernel, coordinates=points, noise_variance=prior.noise_variance)


def drawn(length, seed, n=150, variance=10.0):
    rng = np.random.default_rng(seed)
    surface = cb.landscapes.draw(variance * Exponential(length), GRID, noise_variance=1.0, seed=seed)
    arms = rng.integers(0, 100, n)
    return arms, surface.means[arms] + rng.standard_normal(n)


@pytest.mark.parametrize(("length", "variance"), [(0.2, 10.0), (2.0, 10.0), (20.0, 10.0), (2.0, 0.3), (2.0, 300.0)])
def test_it_finds_length_and_variance_from_wherever_it_starts(length, variance):
    lengths, variances = [], []
    for seed in range(8):
        belief = refitting(length, variance).observe(*drawn(2.0, seed))
        lengths.append(belief.length)
        variances.append(belief.kernel_variance)
    assert 2 / 1.6 < np.exp(np.mean(np.log(lengths))) < 2 * 1.6
    assert 10 / 1.6 < np.exp(np.mean(np.log(variances))) < 10 * 1.6


def test_a_refit_has_more_evidence_than_the_prior_and_than_its_neighbours():
    arms, rewards = drawn(2.0, 0)
    belief = refitting(0.5).observe(arms, rewards)

    def weighed(kernel):
        prior = Correlated(kernel=kernel, coordinates=GRID, noise_variance=1.0)
        return evidence.log_evidence(prior.observe(arms, rewards))

    best = weighed(belief.kernel_in_force)
    assert best > weighed(10 * Exponential(0.5))
    for factor in (0.9, 1.1):
        assert weighed(belief.kernel_variance * Exponential(factor * belief.length)) < best
        assert weighed(factor * belief.kernel_variance * Exponential(belief.length)) < best
    assert_close(
        belief,
        Correlated(kernel=belief.kernel_in_force, coordinates=GRID, noise_variance=1.0).observe(arms, rewards),
        1e-12,
    )


def test_length_and_variance_stay_within_a_factor_of_100():
    far = refitting(1.0).observe(np.arange(100), np.full(100, 1e6) + np.arange(100))
    assert 0.01 * (1 - 1e-9) <= far.length <= 100 * (1 + 1e-9)
    assert far.kernel_variance == pytest.approx(1000.0)
    still = refitting(1.0).observe(np.repeat(np.arange(100), 50), np.zeros(5000))
    assert still.kernel_variance == pytest.approx(0.1)


def test_it_refits_as_often_as_powers_are_passed():
    arms, rewards = drawn(2.0, 1, n=100)
    belief, kernels = refitting(1.0), []
    for n, (arm, reward) in enumerate(zip(arms.tolist(), rewards.tolist(), strict=True), start=1):
        after = belief.observe(arm, reward)
        assert after.refits - belief.refits == passes_a_power(n)
        if not passes_a_power(n):
            assert after.kernel_in_force == belief.kernel_in_force
        kernels.append(after.kernel_in_force)
        belief = after
    assert kernels[0] == 10 * Exponential(1.0)
    assert belief.refits == 15
    assert refitting(1.0).observe(arms[:1], rewards[:1]).refits == 0
    assert refitting(1.0).observe_all(np.zeros(100, dtype=int), 0.0).refits == 0
    assert belief.merge(refitting(1.0)).kernel_in_force == refitting(1.0).observe(arms, rewards).kernel_in_force


def test_lengths_per_dimension_are_told_apart():
    points = np.array([[x, y] for x in range(12) for y in range(12)], dtype=float)
    truth = Correlated(kernel=10 * Exponential((1.0, 8.0)), coordinates=points, noise_variance=0.1)
    rewards = truth.sample(np.random.default_rng(0))
    belief = Refitting(kernel=10 * Exponential((3.0, 3.0)), coordinates=points, noise_variance=0.1)
    across, along = belief.observe(np.arange(144), rewards).length
    assert across < 2.5 < along


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kernel": Exponential(1.0) + Exponential(2.0)}, TypeError, "not of sums, products or functions"),
        ({"kernel": lambda x, y: np.ones((len(x), len(y)))}, TypeError, "not of sums, products or functions"),
        ({"kernel": None}, TypeError, "got None"),
        ({"coordinates": [[0.0, np.nan]]}, ValueError, "coordinates must be finite"),
        ({"noise_variance": 0.0}, ValueError, "noise_variance must be above 0"),
        ({"mean": [1.0, 2.0]}, ValueError, "one number or 5"),
    ],
)
def test_bad_priors_are_refused(change, error, message):
    good = {"kernel": Exponential(1.0), "coordinates": FIVE, "noise_variance": 1.0}
    with pytest.raises(error, match=message):
        Refitting(**good | change)


def test_priors_that_differ_in_anything_do_not_merge():
    for prior, others in [
        (refitting(1.0), [refitting(2.0), refitting(1.0, 9.0), refitting(1.0, mean=1.0)]),
        (three(), [three(0.1), Elimination(three().beliefs[:2]), Elimination(three().beliefs[::-1])]),
    ]:
        twin = pickle.loads(pickle.dumps(prior))
        assert same_bits(prior.observe(1, 2.0).merge(twin), prior.observe([1], [2.0]))
        for other in [*others, correlated(1.0, noise=1.0, points=GRID)]:
            with pytest.raises(ValueError, match="started from the same prior"):
                prior.merge(other)
