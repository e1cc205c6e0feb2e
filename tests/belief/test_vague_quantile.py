"""Quantiles of a mixture, against its probabilities and draws."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from corrbandits import Vague
from corrbandits.belief.vague import quantile as module
from corrbandits.belief.vague.quantile import quantile

PLACES = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]
ARMS, REWARDS = [0, 1, 2, 0, 1, 0], [3.0, 4.5, 1.0, 2.0, 5.0, 3.5]


def test_quantiles_are_those_of_the_mixture():
    belief = Vague(coordinates=PLACES).observe(ARMS, REWARDS)
    for tail in (0.5, 0.05, 1e-3, 1e-7):
        limit = belief.credible_limit(math.log(tail))
        above = [belief.chances(limit[arm])[arm] for arm in range(4)]
        np.testing.assert_allclose(above, tail, rtol=1e-8)
    draws = np.array([belief.sample(np.random.default_rng(k)) for k in range(4000)])
    limit = belief.credible_limit(math.log(0.1))
    np.testing.assert_allclose((draws > limit).mean(axis=0), 0.1, atol=4 * math.sqrt(0.09 / 4000))


def test_the_quantile_of_two_far_parts():
    p, location, scale = np.array([0.3, 0.7]), np.array([[0.0], [100.0]]), np.array([[1.0], [2.0]])
    got = quantile(p, location, scale, math.inf, math.log(0.35)).item()
    assert 0.3 * stats.norm.sf(got) + 0.7 * stats.norm.sf((got - 100) / 2) == pytest.approx(0.35, rel=1e-10)
    t = quantile(p, location, scale, 3.0, math.log(0.01)).item()
    assert 0.3 * stats.t(3).sf(t) + 0.7 * stats.t(3).sf((t - 100) / 2) == pytest.approx(0.01, rel=1e-10)


@pytest.mark.parametrize("freedom", [3.0, 40.0, math.inf])
@pytest.mark.parametrize("tail", [0.9, 0.1, 1e-6])
def test_quantiles_are_where_a_root_finder_finds_them(freedom, tail):
    rng = np.random.default_rng(3)
    p, location, scale = rng.dirichlet(np.ones(12)), rng.normal(0, 3, (12, 20)), np.exp(rng.normal(0, 2, (12, 20)))
    law = stats.norm if math.isinf(freedom) else stats.t(freedom)
    for arm, got in enumerate(quantile(p, location, scale, freedom, math.log(tail))):

        def apart(x, arm=arm):
            return p @ law.sf((x - location[:, arm]) / scale[:, arm]) / tail - 1

        assert got == pytest.approx(optimize.brentq(apart, -1e6, 1e6, xtol=1e-14, rtol=1e-14), rel=1e-11, abs=1e-11)


def test_what_parts_are_sure_of_is_a_jump():
    """Of an arm that some parts are sure of, the probability jumps past the tail there."""
    p = np.array([0.36, 0.17, 0.12, 0.08, 0.27])
    location, scale = np.array([-0.36, 1.59, 1.43, 2.38, -0.2]), np.array([6.36, 0.48, 0.0, 1.86, 2.96])

    def above(x):
        return p @ np.where(scale > 0, stats.t(10).sf((x - location) / np.where(scale > 0, scale, 1)), x < location)

    for share in (0.02, 0.3, 0.7, 0.98):
        tail = share * above(1.43 - 1e-9) + (1 - share) * above(1.43)
        got = quantile(p, location[:, None], scale[:, None], 10.0, math.log(tail))
        assert got.item() == pytest.approx(1.43, rel=1e-10)


def test_probabilities_of_the_t_are_asked_for_few_times(monkeypatch):
    rng, asked, exactly = np.random.default_rng(5), [], module._above

    def counted(y, freedom):
        asked.append(y.size)
        return exactly(y, freedom)

    monkeypatch.setattr(module, "_above", counted)
    places = rng.random((40, 2))
    arms = rng.integers(0, 40, 120)
    belief = Vague(coordinates=places).observe(arms, np.sin(4 * places[arms, 0]) + 0.5 * rng.standard_normal(120))
    belief.credible_limit(math.log(0.01))
    assert 0 < len(asked) <= 4
