"""Several priors side by side, each live while the rewards do not speak against it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits.belief import Beta, Correlated, Elimination, Implicit, Independent, evidence
from corrbandits.kernels import Exponential
from tests.support.contracts import (
    GRID,
    QUICK,
    GaussianContract,
    assert_close,
    at_once,
    covariance_of,
    histories,
    same_bits,
)
from tests.support.survivors import correlated, three

ELIMINATIONS = {
    "three lengths": Elimination([correlated(0.3), correlated(3.0), correlated(30.0)]),
    "two kinds, two means": Elimination(
        [correlated(3.0, mean=-9.0), Independent(mean=1.0, variance=[0.0, 1.0, 2.0, 3.0, 4.0], noise_variance=10.0)],
        delta=0.5,
    ),
}
ONE = {
    "one correlated": Elimination([correlated(3.0)]),
    "one independent": Elimination([Independent(mean=1.0, variance=2.0, noise_variance=1.0, arms=5)]),
    "one arm": Elimination([Correlated(mean=2.0, covariance=[[3.0]], noise_variance=2.0)]),
}


@pytest.mark.parametrize("prior", ONE.values(), ids=ONE.keys())
class TestOneBelief(GaussianContract):
    """All of the contract: an Elimination of one belief is that belief."""


@pytest.mark.parametrize("prior", ELIMINATIONS.values(), ids=ELIMINATIONS.keys())
class TestElimination(GaussianContract):
    """The contract, but for what cannot hold of a mixture."""

    @pytest.mark.parametrize("tail", [0.3, 0.02])
    def test_draws_exceed_the_credible_limit_as_often_as_it_says(self, prior, tail):
        """At most as often: the limit is the most hopeful belief's."""
        belief = prior.observe(list(range(prior.arms)), [1.0] * prior.arms)
        limit, rng, n = belief.credible_limit(math.log(tail)), np.random.default_rng(2), 4000
        above = np.mean([belief.sample(rng) > limit for _ in range(n)], axis=0)
        assert (above <= tail + 5 * math.sqrt(tail * (1 - tail) / n)).all()

    @QUICK
    @given(data=st.data())
    def test_variance_never_grows(self, prior, data):
        """Each belief's does not; the mixture's may: a reward may set the means apart, or bring back a wider prior."""
        belief = prior
        for arm, reward in data.draw(histories(prior)):
            after = belief.observe(arm, reward)
            for one, two in zip(belief.beliefs, after.beliefs, strict=True):
                assert (two.variance <= one.variance).all()
            assert (after.variance >= 0).all()
            belief = after

    @QUICK
    @given(data=st.data())
    def test_awaited_rewards_shrink_the_covariance_and_leave_the_mean(self, prior, data):
        """Of each belief; the weights stay, since awaited rewards say nothing of them."""
        belief = at_once(prior, data.draw(histories(prior)))
        awaited = [arm for arm, _ in data.draw(histories(prior))]
        assumed = belief.assume(awaited)
        assert assumed.mean.tobytes() == belief.mean.tobytes()
        assert assumed.weights.tobytes() == belief.weights.tobytes()
        assert np.array_equal(assumed.counts, belief.counts)
        assert (assumed.variance <= belief.variance * (1 + 1e-15)).all()
        for one, two in zip(assumed.beliefs, belief.beliefs, strict=True):
            assert same_bits(one, two.assume(awaited))


def test_a_belief_is_live_while_its_evidence_is_near_the_best():
    rng, belief = np.random.default_rng(0), three()
    surface = cb.landscapes.draw(10 * Exponential(3.0), GRID, noise_variance=1.0, seed=3)
    for arm in rng.integers(0, 100, 60).tolist():
        belief = belief.observe(arm, float(surface.means[arm] + rng.standard_normal()))
        found = np.array([evidence.log_evidence(one) for one in belief.beliefs])
        behind = found - found.max()
        live = behind >= -math.log(3 / 0.05)
        assert belief.live == tuple(np.flatnonzero(live).tolist())
        weights = np.where(live, np.exp(behind), 0)
        assert belief.weights == pytest.approx(weights / weights.sum(), rel=1e-8)
    assert belief.live == (1,)
    mean, variance = belief.mean, belief.variance
    assert (mean.tobytes(), variance.tobytes()) == (
        belief.beliefs[1].mean.tobytes(),
        belief.beliefs[1].variance.tobytes(),
    )


def test_a_belief_may_come_back():
    low, high = (Independent(mean=m, variance=0.01, noise_variance=1.0, arms=2) for m in (0.0, 3.0))
    prior = Elimination([low, high])
    away = prior.observe(0, 6.0)
    assert away.live == (1,)
    assert away.observe([0, 0], [-3.0, -3.0]).live == (0,)


def test_the_right_prior_is_seldom_given_up():
    """At most delta of the runs, at any of their times (Ville's inequality)."""
    runs, given_up = 150, 0
    truth = correlated(1.0, 4.0, noise=1.0)
    prior = Elimination([truth, correlated(3.0, 4.0, noise=1.0), correlated(1.0, 1.0, noise=1.0)], delta=0.2)
    for seed in range(runs):
        rng, belief = np.random.default_rng(seed), prior
        means = truth.sample(rng)
        for arm in rng.integers(0, 5, 25).tolist():
            belief = belief.observe(arm, float(means[arm] + rng.standard_normal()))
            if 0 not in belief.live:
                given_up += 1
                break
    assert given_up <= 0.2 * runs + 3 * math.sqrt(0.2 * 0.8 * runs)


def test_limits_are_those_of_the_most_hopeful_live_belief():
    belief = three(delta=1e-6).observe([0, 50, 99], [1.0, 3.0, -2.0])
    live = [belief.beliefs[m] for m in belief.live]
    assert len(live) > 1
    for width in (0.0, 2.0, np.full(100, 1.5)):
        assert np.array_equal(belief.limit(width), np.max([one.limit(width) for one in live], axis=0))
    assert np.array_equal(belief.spread_limit(2.0), np.max([one.spread_limit(2.0) for one in live], axis=0))
    assert np.array_equal(belief.credible_limit(-3.0), np.max([one.credible_limit(-3.0) for one in live], axis=0))
    assert (belief.limit(0.0) >= belief.mean).all()


def test_moments_are_those_of_the_mixture():
    belief = three(delta=1e-6).observe([0, 50, 99], [1.0, 3.0, -2.0])
    w = belief.weights
    means = np.array([one.mean for one in belief.beliefs])
    mean = w @ means
    second = sum(
        wm * (one.covariance + np.outer(one.mean, one.mean)) for wm, one in zip(w, belief.beliefs, strict=True)
    )
    S = second - np.outer(mean, mean)
    assert belief.mean == pytest.approx(mean, rel=1e-12)
    assert covariance_of(belief) == pytest.approx(S, rel=1e-10, abs=1e-10)
    assert belief.spread() == pytest.approx(
        np.sqrt((S**2 / np.outer(S.diagonal(), S.diagonal())).sum(axis=1)), rel=1e-9
    )


def test_an_implicit_belief_stands_beside_others():
    settings = {"kernel": 10 * Exponential(3.0), "coordinates": GRID, "noise_variance": 1.0}
    pair = Elimination([Implicit(**settings), correlated(0.3, noise=1.0, points=GRID)])
    twin = Elimination([Correlated(**settings), correlated(0.3, noise=1.0, points=GRID)])
    one, other = (belief.observe([0, 1, 50], [1.0, 2.0, 0.0]).observe(7, 3.0) for belief in (pair, twin))
    assert one.weights == pytest.approx(other.weights, rel=1e-9)
    assert_close(one, other, 1e-9)


@pytest.mark.parametrize(
    ("beliefs", "error", "message"),
    [
        ([], ValueError, "at least one belief"),
        ([Beta(arms=5)], TypeError, "got a Beta"),
        ([ELIMINATIONS["three lengths"]], TypeError, "got an? Elimination"),
        ([Independent(noise_variance=1.0, arms=5)], ValueError, "infinite variance has no evidence"),
        (
            [correlated(3.0, noise=4.0), correlated(3.0, noise=9.0)],
            ValueError,
            r"the same noise_variance, but that of arm 0 is 4 in one and 9 in another.*noise_variance=4\)",
        ),
        ([correlated(3.0), correlated(3.0, points=GRID)], ValueError, "the same arms"),
        ([correlated(3.0).observe(0, 1.0)], ValueError, "which have seen nothing"),
        ([correlated(3.0).assume([0])], ValueError, "which have seen nothing"),
    ],
)
def test_beliefs_that_cannot_stand_side_by_side_are_refused(beliefs, error, message):
    with pytest.raises(error, match=message):
        Elimination(beliefs)


@pytest.mark.parametrize("delta", [0.0, -1.0, 1.5, math.nan])
def test_a_delta_that_is_no_probability_is_refused(delta):
    with pytest.raises(ValueError, match="delta must be above 0 and at most 1"):
        Elimination([correlated(3.0)], delta)
