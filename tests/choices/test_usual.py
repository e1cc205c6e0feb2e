"""The benchmark's usual way to fit people: the same likelihood, and no lower point than ours."""

import numpy as np
import pytest
from benchmarks import people

import corrbandits as cb
from corrbandits import choices
from tests.choices import plain

HILLS = [
    cb.landscapes.draw(400 * cb.SquaredExponential(1.5), plain.GRID, mean=50.0, noise_variance=1.0, seed=k)
    for k in range(3)
]


@pytest.fixture(scope="module")
def person():
    return choices.simulate(people.MODEL, people.KNOWN, HILLS, horizon=12, seed=1, name="Anna")


def test_it_has_the_same_likelihood(person):
    squares = np.square(person.coordinates[:, None] - person.coordinates).sum(axis=2)
    expected = -choices.log_likelihood(person, people.MODEL, people.KNOWN)
    assert people.plain(person, squares, *people.KNOWN.values()) == pytest.approx(expected, rel=1e-10)


def test_both_find_the_same_top_and_are_measured(person):
    least = people.usual(person, generations=15)
    ours = -choices.fit(person, people.MODEL).log_likelihood
    assert ours - 1e-6 <= least < ours + 1.0
    assert "Anna: " in people.beside(person, generations=1)
    assert [name for name, _, _ in people.costs(person)] == ["likelihood, 36 choices", "with all derivatives", "fit"]
