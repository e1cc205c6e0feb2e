"""Fits as an xarray.DataTree: the shapes that ArviZ knows, and ArviZ itself."""

import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from corrbandits import choices
from tests.choices import populations
from tests.choices.populations import MODEL


def shortened(one):
    """Return a round without its last five trials."""
    return replace(one, arms=one.arms[:-5], rewards=one.rewards[:-5], horizon=0)


@pytest.fixture(scope="module")
def az():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of its own future
        import arviz
    return arviz


@pytest.fixture(scope="module")
def people():
    return populations.people(4, rounds=3, horizon=10)


@pytest.fixture(scope="module")
def found(people):
    return choices.fit_population(people, MODEL)


def test_arviz_summarises_compares_and_draws_a_population(az, people, found):
    data = az.convert_to_inference_data(az.from_datatree(choices.to_datatree(found, people, draws=250, seed=1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its dependencies
        table = az.summary(data, var_names=["temperature", "median_temperature"])
        score = az.loo(data, var_name="choice")
        with mpl.rc_context({"backend": "agg"}):
            az.plot_forest(data, var_names=["exploration"], combined=True)
    assert list(table.index) == [*(f"temperature[{k}]" for k in range(4)), "median_temperature"]
    assert table["r_hat"].max() < 1.05
    middle = [one.values["temperature"] * np.exp(one.covariance[1, 1] / 2) for one in found.people]  # of a log-normal
    assert table["mean"].to_numpy()[:4] == pytest.approx(middle, rel=0.05)
    assert score.n_data_points == 4 * 30
    assert score.elpd_loo < sum(one.log_likelihood for one in found.people)
    assert score.elpd_loo > -4 * 30 * np.log(4)


def test_the_likelihood_of_estimates_is_that_of_the_fits(people):
    fits = choices.fit_people(people, MODEL)
    tree = choices.to_datatree(fits, people)
    each = tree["log_likelihood"]["choice"]
    assert each.dims == ("observation",)
    assert each.groupby("person").sum().values == pytest.approx([one.log_likelihood for one in fits])
    alone = choices.log_likelihood(people[1].only([2]), MODEL, fits[1].values)
    assert float(each[(each.person == "1") & (each["round"] == 2)].sum()) == pytest.approx(alone)
    assert tree["estimates"]["value"].sel(person="2", parameter="temperature") == fits[2].values["temperature"]
    assert tree["estimates"]["error"].sel(person="2", parameter="temperature") == fits[2].errors["temperature"]
    assert (tree["observed_data"]["arm"][1, 2].values == people[1].rounds[2].arms[1:]).all()
    assert (tree["constant_data"]["reward"][1, 2].values == people[1].rounds[2].rewards[1:]).all()
    assert tree["constant_data"]["given_arm"][1, 2, 0] == people[1].rounds[2].arms[0]
    assert "posterior" not in tree.children


def test_draws_are_the_likelihood_of_their_own_parameters(people, found):
    tree = choices.to_datatree(found, people, draws=2, seed=3)
    own = {name: float(tree["posterior"][name][3, 1, 2]) for name in MODEL.free}
    expected = choices.log_likelihood(people[2], MODEL, own)
    each = tree["log_likelihood"]["choice"][3, 1]
    assert float(each[each.person == "2"].sum()) == pytest.approx(expected)
    again = choices.to_datatree(found, people, draws=2, seed=3)
    assert again.identical(tree)


def test_rounds_of_unequal_length_are_filled_up(people):
    short = replace(people[1], rounds=[choices.Round([0, 1], [1.0, 2.0], given=1, horizon=9)])
    tree = choices.to_datatree(choices.fit_people([people[0], short], MODEL), [people[0], short])
    assert tree["observed_data"]["arm"][1].values.ravel().tolist() == [1] + [-1] * 29
    assert dict(tree["log_likelihood"].sizes) == {"observation": 31}
    assert tree["constant_data"]["horizon"][1].values.tolist() == [9, 0, 0]


def test_arviz_compares_people_whose_rounds_differ_in_length(az, people):
    """As in experiments with short and long horizons: nothing that it sums up is missing."""
    ragged = [replace(one, rounds=[one.rounds[0], shortened(one.rounds[1])]) for one in people]
    tree = choices.to_datatree(choices.fit_population(ragged, MODEL), ragged, draws=25, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its dependencies, and of few draws
        score = az.loo(az.from_datatree(tree), var_name="choice")
    assert score.n_data_points == sum(one.choices for one in ragged) == 4 * 15
    assert -4 * 15 * np.log(4) < score.elpd_loo < 0


def test_others_than_those_fitted_are_refused(people):
    with pytest.raises(ValueError, match="their names differ"):
        choices.to_datatree(choices.fit_people(people[:2], MODEL), people[1:3])
