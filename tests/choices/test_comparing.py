"""Random-effects comparison: against draws, closed forms, and brute force over who follows which model."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import beta

from corrbandits import choices
from corrbandits.choices import comparing


def test_of_two_models_the_exceedance_is_that_of_a_beta():
    found = choices.compare(np.random.default_rng(0).normal(0, 2, (12, 2)))
    a, b = 14 * found.shares
    assert found.exceedance[0] == pytest.approx(beta.sf(0.5, a, b), abs=1e-8)
    assert found.people.sum(axis=0) + 1 == pytest.approx([a, b])


def test_of_several_models_the_exceedance_is_that_of_draws():
    alpha = np.array([3.5, 2.0, 1.2, 6.0])
    draws = np.random.default_rng(1).dirichlet(alpha, 200_000)
    shares = np.bincount(draws.argmax(axis=1), minlength=4) / len(draws)
    assert comparing._exceedance(alpha) == pytest.approx(shares, abs=5 * 0.5 / np.sqrt(len(draws)))


def exact(L):
    """The evidence that shares differ, and expected shares, summed over everyone's model: Dirichlet-multinomial."""
    people, models = L.shape
    logs, shares = [], []
    for who in itertools.product(range(models), repeat=people):
        counts = np.bincount(who, minlength=models)
        weight = gammaln(models) - gammaln(people + models) + gammaln(1 + counts).sum()
        logs.append(weight + L[np.arange(people), list(who)].sum())
        shares.append((1 + counts) / (people + models))
    total = logsumexp(logs)
    return total, np.exp(np.array(logs) - total) @ np.array(shares)


def test_the_bound_lies_below_the_evidence_and_near_it():
    L = np.random.default_rng(2).normal(0, 3, (6, 3))
    alpha, g = comparing._shares(L)
    evidence, shares = exact(L)
    bound = comparing._bound(L, alpha, g)
    assert evidence - 1.0 < bound <= evidence
    assert choices.compare(L).shares == pytest.approx(shares, abs=0.06)


def test_of_people_who_tell_nothing_nothing_is_learnt():
    found = choices.compare(np.zeros((5, 4)))
    assert found.shares == pytest.approx([0.25] * 4)
    assert found.protected == pytest.approx([0.25] * 4)
    assert found.chance > 0.5


def test_many_people_of_one_model_leave_no_doubt():
    L = np.zeros((60, 3))
    L[:, 1] = 8.0
    found = choices.compare(L)
    assert found.protected[1] > 0.999
    assert found.chance < 1e-6
    order = choices.compare(L[:, ::-1])
    assert order.protected == pytest.approx(found.protected[::-1])
    assert choices.compare(L + 1e5 * np.arange(60)[:, None]).shares == pytest.approx(found.shares)


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="a row per person and a column per model"):
        choices.compare([1.0, 2.0])


def test_one_person_where_several_are_wanted_is_refused_with_what_to_do():
    alone = choices.Person([choices.Round([0, 1], [1.0, 2.0])] * 2, arms=2)
    model = choices.Model()
    for call in (
        choices.behaviour,
        lambda one: choices.fit_people(one, model),
        lambda one: choices.predict_people(one, model),
    ):
        with pytest.raises(TypeError, match=r"got one person. Put it in brackets"):
            call(alone)
