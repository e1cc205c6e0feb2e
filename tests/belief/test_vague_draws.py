"""Draws of some arms are draws of all, of which only these are looked at."""

import numpy as np
import pytest

from corrbandits.belief import Vague

RNG = np.random.default_rng(5)
PLACES = RNG.uniform(0, 10, (60, 2))


@pytest.mark.parametrize("rewards", [8, 90], ids=["few", "more than arms"])
@pytest.mark.parametrize("told", [{}, {"noise_sd": 1.0, "mean": 0.0}], ids=["untold", "told"])
def test_some_arms_are_drawn_as_among_all(rewards, told):
    arms, some = RNG.integers(0, 60, rewards), np.array([2, 17, 30, 59])
    belief = Vague(coordinates=PLACES, **told).observe(arms, np.sin(PLACES[arms, 0]) + RNG.standard_normal(rewards))
    few = belief.draws(np.random.default_rng(1), 150_000, some)
    every = belief.draws(np.random.default_rng(2), 150_000)[some]
    assert few.shape == (4, 150_000)
    error = belief.deviation[some] / np.sqrt(150_000)
    assert (np.abs(few.mean(axis=1) - belief.mean[some]) < 6 * error).all()
    np.testing.assert_allclose(np.corrcoef(few), np.corrcoef(every), atol=0.03)
    levels = np.linspace(0.05, 0.95, 7)
    spread = belief.deviation[some][:, None]
    np.testing.assert_allclose(
        np.quantile(few, levels, axis=1).T / spread, np.quantile(every, levels, axis=1).T / spread, atol=0.04
    )


def test_all_arms_by_name_are_all_arms():
    belief = Vague(coordinates=PLACES).observe([1, 5, 9, 40, 50], [1.0, 2.0, 0.0, 3.0, 1.5])
    one, other = (belief.draws(np.random.default_rng(0), 50, arms) for arms in (None, np.arange(60)))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("drift", [None, 20.0])
def test_arms_that_lie_nowhere_are_drawn_with_the_covariance_that_is_told(drift):
    rewards = [3.0, 5.0, 4.0, 9.0, 8.0, 2.5, 6.0, 5.5]
    belief = Vague(arms=7, mean=(0.0, 10.0), sd=2.0, noise_sd=1.0, drift=drift)
    for t, (arm, reward) in enumerate(zip([0, 1, 0, 2, 2, 0, 3, 1], rewards, strict=True), start=1):
        belief = belief.after(t).observe(arm, reward)
    belief = belief.after(12).assume([4, 4, 1])
    drawn = belief.draws(np.random.default_rng(3), 400_000)
    told = np.array([belief.covariance_with(arm) for arm in range(7)])
    scale = np.sqrt(np.outer(belief.variance, belief.variance))
    np.testing.assert_allclose(np.cov(drawn) / scale, told / scale, atol=0.012)
    np.testing.assert_allclose(drawn.mean(axis=1), belief.mean, atol=6 * belief.deviation.max() / 600)
    some = np.array([0, 4, 6])
    few = np.cov(belief.draws(np.random.default_rng(4), 400_000, some))
    np.testing.assert_allclose(
        few / scale[np.ix_(some, some)], told[np.ix_(some, some)] / scale[np.ix_(some, some)], atol=0.012
    )


def test_ten_thousand_arms_that_lie_nowhere_are_drawn_in_no_time_and_memory():
    belief = Vague(arms=10_000).observe(range(50), np.random.default_rng(1).standard_normal(50))
    assert belief.draws(np.random.default_rng(0), 20).shape == (10_000, 20)  # a root would have 800 MB for each part
