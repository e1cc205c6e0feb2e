"""Real people, where their data lie beside the checkout (or in the folder that CORRBANDITS_DATA names)."""

import os
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import choices
from tests.support import ROOT

FOLDER = Path(os.environ.get("CORRBANDITS_DATA", ROOT.parent / "shared" / "data")) / "humans"
GRID = FOLDER / "wu2018_exp2_2d.csv"


@pytest.fixture(scope="module")
def people():
    if not GRID.exists():
        pytest.skip(f"the choices of people are not there: {GRID.name}")
    return choices.read_csv(GRID, person="id", arm=["x", "y"], reward="z", horizon="horizon", given=1)


def test_the_people_of_experiment_2_are_read(people):
    assert len(people) == 80
    assert {person.arms for person in people} == {121}
    assert {person.choices for person in people} == {240}
    assert {each.horizon for person in people for each in person.rounds} == {20, 40}


def test_people_generalise_and_less_than_would_be_right(people):
    """Of the first people, as the study found of nearly all: the kernel helps; lengths lie below the true ones."""
    kernel, unit = cb.SquaredExponential(1.0), {"prior_mean": 50.0, "prior_sd": 100.0}
    few = people[:5]
    correlated = choices.fit_people(few, choices.Model(kernel=kernel, noise=0.01, **unit))
    independent = choices.fit_people(few, choices.Model(noise="free", **unit))
    better = [one.aic < other.aic for one, other in zip(correlated, independent, strict=True)]
    assert sum(better) >= 4
    assert np.median([each.values["length"] for each in correlated]) < 2.0
