"""Stochastic UCL: its law against the formula with 700 digits, its draws against its law, and the extremes."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import corrbandits as cb
from corrbandits.policies import IndexPolicy

PRIOR = cb.Independent(variance=1.0, noise_variance=1.0, arms=5)


class Given(IndexPolicy):
    """Has these indices, whatever is believed."""

    def __init__(self, *values):
        self.values = np.array(values)

    def index(self, belief, t):
        return self.values


def law(values, t, temperature=None):
    prior = cb.Independent(variance=1.0, noise_variance=1.0, arms=len(values))
    return cb.Softmax(Given(*values), temperature).log_probabilities(prior, t)


def printed(values, t, temperature):
    """log P_i = Q_i / v - log sum_j exp(Q_j / v), v given or the smallest gap over 2 log t."""
    with mp.workdps(700):  # a probability may differ from 1 by the smallest double
        Q = [mp.mpf(value) for value in values]
        gap = min(abs(a - b) for k, a in enumerate(Q) for b in Q[:k] if a != b)
        v = mp.mpf(temperature) if temperature is not None else gap / (2 * mp.log(t))
        total = mp.log(mp.fsum(mp.exp(q / v - max(Q) / v) for q in Q)) + max(Q) / v
        return [q / v - total for q in Q]


@pytest.mark.parametrize("temperature", [None, 1e-3, 0.7, 1e6])
@pytest.mark.parametrize("t", [2, 17, 10**9])
@pytest.mark.parametrize(
    "values",
    [(0.3, -1.0, 2.5, 2.25), (1e-7, 0.0, 3e-8, 3e-8), (1e300, -1e300, 9e299, 0.0), (-40.0, -41.0, -40.5, -700.0)],
)
def test_the_law_is_the_printed_one(values, t, temperature):
    found = law(values, t, temperature)
    with np.errstate(over="ignore"):
        for mine, exact in zip(found, printed(values, t, temperature), strict=True):
            expected = float(exact)
            assert mine == pytest.approx(expected, rel=1e-12, abs=1e-300) or (mine == -np.inf and expected < -1e300)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(
    values=st.lists(st.floats(-1e308, 1e308) | st.sampled_from([0.0, 1.0, np.inf, -np.inf]), min_size=1, max_size=6),
    t=st.sampled_from([1, 2, 10**9]),
    temperature=st.none() | st.sampled_from([0.0, 5e-324, 1.0, 1e308]),
)
def test_whatever_the_indices_probabilities_sum_to_one_and_grow_with_them(values, t, temperature):
    found = law(values, t, temperature)
    assert np.exp(found).sum() == pytest.approx(1.0, rel=1e-12)
    if temperature != 0:
        rising = found[np.argsort(values)]
        assert (rising[1:] >= rising[:-1]).all()
        for value in values:
            assert np.unique(found[np.array(values) == value]).size == 1  # ties are ties


def test_extremes_are_limits():
    np.testing.assert_array_equal(np.exp(law((1.0, 5.0, -2.0, 7.0), t=1)), [0.25] * 4)  # v_1 is infinite
    np.testing.assert_array_equal(np.exp(law((np.inf, 5.0, np.inf, -np.inf), t=9)), [0.5, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(np.exp(law((2.0, 2.0), t=9)), [0.5, 0.5])  # no gap
    np.testing.assert_array_equal(np.exp(law((-np.inf, -np.inf), t=9)), [0.5, 0.5])
    np.testing.assert_array_equal(np.exp(law((-np.inf, 1.0, 3.0), t=1)), [0.0, 0.5, 0.5])
    np.testing.assert_array_equal(np.exp(law((4.0,), t=9)), [1.0])
    np.testing.assert_array_equal(np.exp(law((3.0, 1.0, 3.0), t=9, temperature=0.0)), [1.0, 0.0, 0.0])  # as the rule
    assert law((0.0, -1e6), t=2, temperature=1.0)[1] == -1e6  # exp underflows, its logarithm does not


@pytest.mark.parametrize(("temperature", "t"), [(0.4, 6), (None, 2)])
def test_arms_are_taken_as_often_as_the_law_says(temperature, t):
    rule, rng = Given(0.2, 0.5, 0.8, 1.1, 1.4), np.random.default_rng(1)  # the smallest gap is that between neighbours
    policy = cb.Softmax(rule, temperature=temperature)
    expected = np.exp(policy.log_probabilities(PRIOR, t))
    taken = np.bincount([policy.choose(PRIOR, t, rng=rng) for _ in range(4000)], minlength=5)
    assert expected.min() > 1e-3
    assert chisquare(taken, 4000 * expected / expected.sum()).pvalue > 1e-3


def test_among_allowed_arms_the_law_is_that_of_these():
    policy, rng = cb.Softmax(Given(0.0, 50.0, 1.0, 40.0, 0.5), temperature=1.0), np.random.default_rng(2)
    taken = np.bincount([policy.choose(PRIOR, 3, rng=rng, allowed=[0, 2, 4]) for _ in range(3000)], minlength=5)
    expected = np.exp(law((0.0, 1.0, 0.5), 3, 1.0))
    assert taken[[1, 3]].tolist() == [0, 0]
    assert chisquare(taken[[0, 2, 4]], 3000 * expected).pvalue > 1e-3


def test_what_the_rule_tries_first_is_certain():
    belief = cb.Independent(variance=[1.0, np.inf, np.inf], noise_variance=1.0)
    policy = cb.Softmax(cb.UCL(), temperature=1.0)
    assert np.exp(policy.log_probabilities(belief, 1)).tolist() == [0.0, 1.0, 0.0]
    assert policy.choose(belief, 1, rng=np.random.default_rng(0)) == 1


@settings(deadline=None, max_examples=50, derandomize=True)
@given(values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=6), t=st.integers(2, 10**9))
def test_cooling_minds_neither_the_unit_nor_the_zero_of_rewards(values, t):
    here, there = law(np.array(values, dtype=float), t), law(2.0**40 * np.array(values, dtype=float) + 2.0**45, t)
    np.testing.assert_allclose(there, here, rtol=1e-12)


def test_it_needs_a_generator_and_a_temperature_that_is_one():
    with pytest.raises(TypeError, match="Softmax draws at random: pass rng"):
        cb.Softmax(cb.UCL()).choose(PRIOR, 1)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="temperature must be at least 0"):
            cb.Softmax(cb.UCL(), temperature=wrong)
    with pytest.raises(ValueError, match="an index must be a number for every arm, got nan for arm 1"):
        law((0.0, np.nan), t=3)


@pytest.mark.slow
def test_cooling_keeps_regret_logarithmic():
    """As much again in each decade of time, and not the constant share that a fixed temperature loses."""
    bandit, flat = cb.GaussianBandit([0.0, 0.5, 1.0], 1.0), cb.Independent(noise_variance=1.0, arms=3)
    players = {"cooling": (cb.Softmax(cb.UCL()), flat), "fixed": (cb.Softmax(cb.UCL(), temperature=0.5), flat)}
    trace = cb.simulate(players, bandit, 3_000, 20, seed=1, record="summary", times=[30, 300, 3_000])
    early, late = trace.regret.diff("time").mean("run").transpose("time", "policy").values
    assert late[0] < 2 * early[0]
    assert late[1] > 5 * early[1]
