"""A prior after estimated counts, which need not be whole: beside brute force, and where it is an older friend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrbandits import Beta, Correlated, Independent, Vague
from tests.support.contracts import FIVE, GAUSSIAN_PRIORS, IMPLICIT_PRIORS, QUICK

PRIORS = {**GAUSSIAN_PRIORS, **{f"implicit, {name}": prior for name, prior in IMPLICIT_PRIORS.items()}}
SHARES = st.lists(st.tuples(st.floats(0.001, 40), st.floats(-9, 9)), min_size=5, max_size=5)


def brute_force(mean, covariance, noise, counts, averages):
    """Mean and covariance by precisions: those of the prior, and counts over the noise."""
    prior = np.linalg.inv(covariance)
    posterior = np.linalg.inv(prior + np.diag(counts / noise))
    return posterior @ (prior @ mean + counts / noise * averages), posterior


@pytest.mark.parametrize("name", ["independent", "correlated", "smooth"])
@given(SHARES)
@QUICK
def test_it_is_what_brute_force_says(name, shares):
    prior, (counts, averages) = GAUSSIAN_PRIORS[name], np.array(shares).T
    found = prior.weighed(counts, counts * averages)
    expected = brute_force(prior.mean, prior.covariance_of(), prior.noise_variance, counts, averages)
    np.testing.assert_allclose(found.mean, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.covariance_of(), expected[1], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", PRIORS)
def test_where_counts_are_whole_it_is_observe_all(name):
    prior = PRIORS[name]
    counts = np.arange(prior.arms) % 3
    sums = 1.5 * counts
    whole, weighed = prior.observe_all(counts, sums), prior.weighed(counts.astype(float), sums)
    assert weighed.mean.tobytes() == whole.mean.tobytes()
    assert weighed.variance.tobytes() == whole.variance.tobytes()
    np.testing.assert_array_equal(weighed.counts, whole.counts)


def test_nothing_known_and_everything_known():
    prior = Independent(mean=2.0, variance=[0.0, np.inf, np.inf], noise_variance=1.0)
    found = prior.weighed([0.3, 0.3, 0.0], [9.0, 9.0, 0.0])
    np.testing.assert_allclose(found.mean, [2.0, 30.0, 2.0])
    np.testing.assert_allclose(found.variance, [0.0, 1 / 0.3, np.inf])


@pytest.mark.parametrize("share", [1e-90, 1e-12, 1e12])
def test_shares_of_every_size_leave_finite_beliefs(share):
    near_singular = Correlated(covariance=np.ones((5, 5)) + 1e-14 * np.eye(5), noise_variance=1.0)
    for prior in (near_singular, GAUSSIAN_PRIORS["smooth"], GAUSSIAN_PRIORS["uninformative"]):
        found = prior.weighed(np.full(5, share), np.full(5, 3 * share))
        assert np.isfinite(found.mean).all()
        assert (found.variance >= 0).all()


def test_what_cannot_be_weighed_is_refused_in_words():
    prior = GAUSSIAN_PRIORS["correlated"]
    for other in (prior.observe(0, 1.0), prior.assume([1])):
        with pytest.raises(ValueError, match="a prior such as Independent or Correlated that has seen"):
            other.weighed([1.0] * 5, [1.0] * 5)
    for other in (Beta(arms=5), Vague(coordinates=FIVE)):
        assert not hasattr(other, "weighed")
    with pytest.raises(ValueError, match="counts must be at least 0, and where they are 0 the sums are 0"):
        prior.weighed([0.0, 1, 1, 1, 1], [2.0, 1, 1, 1, 1])
    with pytest.raises(TypeError, match="cannot be told rewards"):
        prior.weighed([0.5] * 5, [1.0] * 5).observe(0, 1.0)
