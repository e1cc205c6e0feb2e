"""The climb to the top of a conditional logit, also where Newton's own step is none, or rounding has turned it."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from corrbandits.choices.compiled import logit

MOST = 60


def choices_of(column, rate, seed):
    """Returns arms drawn from a softmax of rate times a column, (choices, arms)."""
    law = np.exp(rate * column - logsumexp(rate * column, axis=1, keepdims=True))
    return np.array([np.random.default_rng([seed, k]).choice(law.shape[1], p=row) for k, row in enumerate(law)])


def value_at(rate, column, chosen):
    """The log likelihood, written plainly."""
    u = rate * column
    return (u[np.arange(len(u)), chosen] - logsumexp(u, axis=1)).sum()


def climbed(columns, chosen):
    """Returns the value, the steps and the coefficients that the climb finds, from 0."""
    X = np.stack([*columns, np.zeros_like(columns[0])], axis=1)
    x = np.zeros(len(columns))
    value, steps = logit.climb(X, chosen, x, 0.0, MOST)
    return value, steps, x


def information(columns, x, chosen):
    """Minus the second derivatives, written plainly."""
    X = np.stack(columns, axis=1)
    u = np.einsum("j,ija->ia", x, X)
    law = np.exp(u - logsumexp(u, axis=1, keepdims=True))
    apart = X - np.einsum("ia,ija->ij", law, X)[..., None]
    return np.einsum("ia,ija,ika->jk", law, apart, apart)


@pytest.mark.parametrize("near", [0.0, 1e-13, 1e-9])
@pytest.mark.parametrize("scale", [1.0, -3.0, 1e6])
def test_two_columns_as_good_as_one_are_climbed_to_the_top_of_the_one(near, scale):
    """The top over both is at least that of one alone, and above it by no more than a column of chance can gain."""
    rng = np.random.default_rng(1)
    column, chance = rng.standard_normal((2, 200, 10))
    chosen = choices_of(column, 1.3, seed=2)
    found = minimize_scalar(lambda rate: -value_at(rate, column, chosen), bounds=(0, 5), method="bounded")
    value, steps, x = climbed([column, scale * (column + near * chance)], chosen)
    assert np.linalg.cond(information([column, scale * (column + near * chance)], x, chosen)) > 1e12
    assert steps < MOST
    assert -1e-6 < value + found.fun < 5.0
    assert value == pytest.approx(value_at(1.0, x[0] * column + x[1] * scale * (column + near * chance), chosen))


@pytest.mark.parametrize("height", [1.0, -1e-9, 1e9 / 3])
def test_a_column_of_no_consequence_stays_where_it_is(height):
    """One that is the same for all arms tells nothing: its coefficient has no slope and no curvature."""
    column = np.random.default_rng(3).standard_normal((100, 5))
    chosen = choices_of(column, 0.8, seed=4)
    alone, both = climbed([column], chosen), climbed([column, np.full_like(column, height)], chosen)
    assert both[0] == pytest.approx(alone[0], abs=1e-9)
    assert both[2][0] == pytest.approx(alone[2][0], abs=1e-6)
    assert both[2][1] == 0.0


def test_choices_that_are_certain_are_climbed_without_end_and_said_to_be():
    """The best arm each time: the likelihood rises to 1 as the coefficient grows, and the climb stops near it."""
    column = np.random.default_rng(5).standard_normal((50, 4))
    value, steps, x = climbed([column], column.argmax(axis=1))
    assert -1e-6 < value <= 0.0
    assert x[0] > 100
    assert steps <= MOST
