"""Sums of Gaussian tails, beside 60 digits and beside sums term by term."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from corrbandits.theory.tails import sum_of_tails
from tests.support.high_precision import (
    DIGITS,
    assert_logs_close,
    quantile,
    tail,
)

K = math.sqrt(2 * math.pi * math.e)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize(
    ("K", "a", "b", "horizon"),
    [
        (K, 2.0, 0.0, 1),
        (K, 1.5, 1.3, 7),
        (K, 3.3, 6.0, 200),
        (1e6, 0.5, 3.0, 40),
        (2.0, 1.0, 0.1, 300),
        (K, 1e3, 60.0, 50),
    ],
)
def test_the_sum_of_tails_with_sixty_digits(K, a, b, horizon):
    total = mpf(0)
    for t in range(1, horizon + 1):
        total += min(mpf(1), 2 * tail(quantile(-mp.log(mpf(K)) - mpf(a) * mp.log(t)) - mpf(b)))
    assert_logs_close(math.log(sum_of_tails(K, a, b, horizon)), mp.log(total))


def term(t, K, a, b):
    """The summand, by other means: isf and sf, which hold down to 1e-300."""
    from scipy.stats import norm

    return np.minimum(1.0, 2 * norm.sf(norm.isf(1 / (K * t**a)) - b))


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.0), (1.0, 2.0), (1.5, 4.0), (3.3, 0.5), (3.3, 8.0), (30.0, 25.0)])
def test_the_sum_of_tails_to_a_million(a, b):
    times = np.arange(1.0, 1e6 + 1)
    values = term(times, K, a, b)
    for horizon in (4_000, 4_200, 50_000, 10**6):
        assert sum_of_tails(K, a, b, horizon) == pytest.approx(math.fsum(values[:horizon]), rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.0), (1.0, 3.0), (1.5, 6.0), (3.3, 10.0), (30.0, 35.0)])
def test_the_sum_of_tails_to_a_thousand_million(a, b):
    """Each term beyond a million is the integral over t - 1/2 to t + 1/2, but for a / t^2; in log t by trapezia."""
    first, last = 10**6, 10**9
    u = np.linspace(math.log(first + 0.5), math.log(last + 0.5), 400_001)
    integral = np.trapezoid(term(np.exp(u), K, a, b) * np.exp(u), u)
    assert sum_of_tails(K, a, b, last) == pytest.approx(sum_of_tails(K, a, b, first) + integral, rel=1e-10)


def test_the_sum_of_tails_for_no_b_is_the_zeta_function():
    # 2 / K times sum of t^-a, which Hurwitz gives to any horizon
    for a in (1.2, 2.0, 7.5):
        for horizon in (10**5, 10**9, 2**63 - 1):
            wanted = 2 / mpf(K) * (mp.zeta(a) - mp.zeta(a, horizon + 1))
            assert sum_of_tails(K, a, 0.0, horizon) == pytest.approx(float(wanted), rel=1e-12)


def test_the_sum_of_tails_far_from_the_truth_is_the_horizon():
    for b in (1e3, 1e6, 1e200, math.inf):
        assert sum_of_tails(K, 2.0, b, 10**9) == 10**9
    assert sum_of_tails(1e300, 1e3, 0.0, 10**9) == pytest.approx(2e-300, rel=1e-12)
