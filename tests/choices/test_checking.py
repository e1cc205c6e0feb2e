"""What people do, counted by hand, and beside people made up."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import choices
from corrbandits.choices import Model, Person, Round

WHERE = np.arange(5.0)
HILL = [cb.GaussianBandit([0.0, 2.0, 5.0, 2.0, 0.0], 1.0, coordinates=WHERE)] * 4
MODEL = Model(prior_mean=1.0, prior_sd=3.0, noise=0.3, exploration=0.3)


def test_behaviour_is_what_happened():
    anna = Person(
        [
            Round([0, 3, 3, 1], [1.0, 7.0, 8.0, 3.0], given=1),
            Round([4, 4], [5.0, 6.0], given=1),
            Round([2], [5.0], given=1),
        ],
        coordinates=WHERE,
        name="Anna",
    )
    ben = Person([Round([2, 0, 2], [1.0, 2.0, 3.0])], coordinates=WHERE, name="Ben")
    seen = choices.behaviour([anna, ben])
    nan = np.nan
    np.testing.assert_array_equal(seen["reward"].values, [[6.5, 8.0, 3.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(seen["distance"].values, [[1.5, 0.0, 2.0], [nan, 2.0, 2.0]])
    np.testing.assert_array_equal(seen["revisit"].values, [[0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert seen["person"].values.tolist() == ["Anna", "Ben"]


def test_people_behave_as_those_made_up_with_their_own_parameters_and_not_as_others(tmp_path):
    people = [choices.simulate(MODEL, {"temperature": 0.6}, HILL, horizon=10, seed=k, name=k) for k in range(12)]
    right = choices.fit_people(people, MODEL)
    wrong = choices.fit_people(people, Model(prior_mean=1.0, exploration=0.0, temperature=1e3))
    for fits, share in ((right, 0.75), (wrong, 0.0)):
        seen = choices.predictive_check(fits, people, HILL, copies=40, seed=9)
        observed, low, high = (seen["reward"].sel(source=name).values[3:] for name in ("observed", "low", "high"))
        inside = np.mean((low <= observed) & (observed <= high))
        assert inside >= share if share else inside < 0.3
    kept = choices.predictive_check(right, people, lambda k: HILL, copies=2, folder=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 24
    assert kept.identical(choices.predictive_check(right, people, HILL, copies=2))


def test_as_many_problems_as_rounds_are_asked_for():
    people = [choices.simulate(MODEL, {"temperature": 0.6}, HILL, horizon=4, seed=1)]
    with pytest.raises(ValueError, match="environments must be one for each round, 4, got 1"):
        choices.predictive_check(choices.fit_people(people, MODEL), people, HILL[:1])
