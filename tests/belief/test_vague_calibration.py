"""Simulation-based calibration: truths drawn from a proper belief lie in its posterior as they should.

A truth is drawn from the prior, rewards from the truth, and the truth is compared with the posterior. Over many such
draws the probability that the posterior puts below the truth is uniform, whichever arms were tried (Talts and others,
2018). The draws here are made from the words of the prior alone: laws of mean, deviation, length and noise.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import chi2, kstest

from corrbandits import Vague
from corrbandits.kernels import KERNELS

PLACES = np.array([(x, y) for x in range(4) for y in range(3)], dtype=np.float64)
PRIOR = Vague(coordinates=PLACES, mean=(20.0, 40.0), sd=(2.0, 8.0), length=(0.5, 4.0), noise_sd=(0.5, 5.0), parts=8)
PROBLEMS, DRAWN, DRAWS = 1_200, 400, 63


def truth(rng):
    """Return mean rewards, and the deviation of the noise: a part, all equally likely, and what is drawn given it."""
    part = rng.integers(len(PRIOR.parts))
    R = KERNELS[PRIOR.parts.kernels[part]](PRIOR.parts.lengths[part])(PLACES)
    site, sd = PRIOR.parts.sites[part], PRIOR.parts.scales[part]
    root = np.linalg.cholesky((1 - site) * R + site * np.eye(len(PLACES)))
    mean = rng.normal(30.0, 10.0 / 1.6448536269514722)
    return mean + sd * root @ rng.standard_normal(len(PLACES)), sd * math.sqrt(PRIOR.parts.ratios[part])


@cache
def ranks():
    """Return the posterior probability below an arm's truth; the rank of the largest mean, and of the leader's loss."""
    below, largest, loss = [], [], []
    for seed in range(PROBLEMS):
        rng = np.random.default_rng([11, seed])
        means, noise = truth(rng)
        arms = rng.integers(0, len(PLACES), rng.integers(1, 9))
        belief = PRIOR.observe(arms, means[arms] + noise * rng.standard_normal(arms.size))
        again = np.full(rng.integers(1, 7), belief.mean.argmax())
        belief = belief.observe(again, means[again] + noise * rng.standard_normal(again.size))
        arm = rng.integers(len(PLACES))
        below.append((belief, arm, means[arm]))
        if seed >= DRAWN:
            continue
        drawn, leader = belief.draws(rng, DRAWS), belief.mean.argmax()
        largest.append(np.count_nonzero(drawn.max(axis=0) < means.max()))
        loss.append(np.count_nonzero(drawn.max(axis=0) - drawn[leader] < means.max() - means[leader] - 1e-9))
    return below, np.array(largest), np.array(loss)


def scores(scale):
    """Return normal scores of the truths, were the belief's deviations multiplied by a factor."""
    at = [belief.chances(belief.mean[arm] + (mean - belief.mean[arm]) / scale)[arm] for belief, arm, mean in ranks()[0]]
    return -ndtri(np.array(at))


def surprise(z):
    """Return the chance of normal scores whose squares sum to something as far from their number."""
    total = np.square(z).sum()
    return 2 * min(chi2.sf(total, z.size), chi2.cdf(total, z.size))


def test_truths_lie_in_the_posterior_as_they_should():
    z = scores(1.0)
    assert kstest(z, "norm").pvalue > 1e-3
    assert surprise(z) > 1e-3


@pytest.mark.parametrize("scale", [0.85, 1.15])
def test_a_belief_whose_scale_is_wrong_by_15_percent_fails(scale):
    assert surprise(scores(scale)) < 1e-3


def test_the_largest_mean_lies_among_those_drawn_as_it_should():
    found = np.bincount(ranks()[1] // 8, minlength=8)
    expected = DRAWN / 8
    assert chi2.sf((np.square(found - expected) / expected).sum(), 7) > 1e-3


def test_the_loss_of_stopping_lies_among_those_drawn_as_it_should():
    """A loss of 0 ties with draws of 0, so that only the larger ranks are uniform."""
    rank = ranks()[2]
    for share in (0.75, 0.9):
        above = np.count_nonzero(rank >= share * (DRAWS + 1))
        assert above == pytest.approx((1 - share) * DRAWN, abs=3.3 * math.sqrt(DRAWN * share * (1 - share)))
