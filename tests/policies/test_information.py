"""Information-directed sampling against two arms in closed form."""

import numpy as np
import pytest
from scipy.stats import norm

import corrbandits as cb
from corrbandits.policies.information import cost_and_information, ratios


def in_closed_form(mean, S):
    """Return cost and information where the first or the second of some Gaussian arms is the best.

    D, the first less the second, is N(d, s^2), and the first is best if D > 0: then E m_i is greater by
    cov(m_i, D) / s phi(d / s) / Phi(d / s).
    """
    d, s = mean[0] - mean[1], np.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1])
    p, density = norm.cdf(d / s), norm.pdf(d / s)
    highest = mean[0] * p + mean[1] * (1 - p) + s * density
    return highest - mean, np.square((S[:, 0] - S[:, 1]) / s * density) / (p * (1 - p))


NEAR = [[1.0, 0.0], [0.3, 0.8], [2.0, -2.0]]
SURE = [[0.05, 0.0], [0.0, 1.0], [2.0, -2.0]]  # of the first arm nearly all is known


@pytest.mark.parametrize(
    ("mean", "root", "taken"), [([1.0, 0.6], NEAR, 0), ([0.3, 0.0], SURE, 1), ([0.0, 1.0], NEAR, 1)]
)
def test_cost_and_information_are_those_of_two_gaussian_arms(mean, root, taken):
    """The third arm tells which of the others is best, and is never so itself."""
    means, A = np.array([*mean, -40.0]), np.array(root)
    expected = in_closed_form(means, A @ A.T)
    even = norm.ppf((np.arange(1000) + 0.5) / 1000)  # equally likely, in place of a million draws
    drawn = means[:, None] + A @ np.stack(np.meshgrid(even, even)).reshape(2, -1)
    for got, exact in zip(cost_and_information(drawn), expected, strict=True):
        np.testing.assert_allclose(got, exact, rtol=0.02)
    assert ratios(*expected).argmin() == taken
    belief = cb.Correlated(mean=means, covariance=A @ A.T + 1e-9 * np.eye(3), noise_variance=1.0)
    assert [cb.InformationDirected(1000).choose(belief, 1, rng=np.random.default_rng(k)) for k in range(3)] == [
        taken
    ] * 3


def test_beliefs_of_every_kind_and_arms_out_of_reach():
    rng, rule = np.random.default_rng(2), cb.InformationDirected()
    vague = cb.Vague(coordinates=range(6)).observe([0, 2, 4, 5, 1], [1.0, 3.0, 2.0, 1.5, 2.5])
    for belief in (vague, cb.Beta(arms=6), cb.Independent(variance=1.0, noise_variance=1.0, arms=6)):
        assert rule.choose(belief, 1, rng=rng, allowed=[4]) == 4
        assert rule.choose(belief, 1, rng=rng, allowed=[1, 3]) in (1, 3)
    opening = cb.Vague(coordinates=range(5))
    assert rule.choose(opening, 1, rng=rng) == 2  # the middle: nothing can be drawn yet
    sure = cb.Independent(mean=[0.0, 2.0, 1.0], variance=0.0, noise_variance=1.0)
    assert rule.choose(sure, 1, rng=rng) == 1
    unknown = cb.Independent(mean=[0.0, 0.0], variance=[np.inf, 1.0], noise_variance=1.0)
    assert rule.choose(unknown, 1, rng=rng) == 0
    assert rule.choose(unknown, 1, rng=rng, allowed=[1]) == 1
    with pytest.raises(TypeError, match="draws at random"):
        rule.choose(sure, 1)
    with pytest.raises(ValueError, match="draws"):
        cb.InformationDirected(draws=1)
