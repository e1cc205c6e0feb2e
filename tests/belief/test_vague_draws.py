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
