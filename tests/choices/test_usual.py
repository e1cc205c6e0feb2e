"""The benchmark's usual way to fit people: the same likelihood, and no lower point than ours."""

import json

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
    positive = {"prior_sd": 100 * people.KNOWN["exploration"], **people.KNOWN}
    del positive["exploration"]
    assert -choices.log_likelihood(person, people.STUDY, positive) == pytest.approx(expected, rel=1e-10)


def test_both_find_the_same_top_and_are_measured(person):
    least = people.usual(person, generations=15)
    ours = -choices.fit(person, people.STUDY).log_likelihood
    assert ours - 1e-6 <= least < ours + 1.0


def test_what_was_measured_goes_into_the_page(person, tmp_path):
    data = people.measured([person], 1, generations=1)
    assert [row["seconds"] > 0 for row in data["rows"]] == [True] * 5
    assert data["rows"][3]["what"].startswith("1 people by 4 models, each round left out: 12 fits")
    assert data["rows"][3]["met"]
    assert "Anna the usual way" in data["rows"][4]["what"]
    people.save(data, tmp_path)
    assert people.table(data) in (tmp_path / people.PAGE).read_text(encoding="utf-8")
    assert json.loads((tmp_path / people.DATA).read_text(encoding="utf-8")) == data


def test_the_page_shows_what_was_measured_last():
    page, place = (people.DOCS / name for name in (people.PAGE, people.DATA))
    data = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {"rows": []}
    text = page.read_text(encoding="utf-8")
    assert people.marked(text, people.MARK, people.table(data)) == text
