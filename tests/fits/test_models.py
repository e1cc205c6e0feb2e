"""Models by name."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import choices
from corrbandits.fits.models import MODELS, described, named, usual
from tests.support.choosers import somebody


def test_every_name_makes_a_model_of_which_a_likelihood_can_be_taken():
    anna = somebody("Anna", rounds=1)
    values = {"prior_mean": 50.0, "prior_sd": 20.0, "length": 1.0, "exploration": 1.0, "temperature": 3.0}
    for name, model in named(list(MODELS)).items():
        own = {parameter: values[parameter] for parameter in model.free}
        assert np.isfinite(choices.log_likelihood(anna, model, own)), name


def test_the_factor_and_the_horizon_make_models_that_differ():
    anna = somebody("Anna", rounds=1)
    values = {"prior_mean": 50.0, "prior_sd": 20.0, "length": 1.0, "temperature": 3.0}
    models = named(["CorrelatedUCL", "CorrelatedUCL-plain", "HorizonUCL"]).values()
    assert len({choices.log_likelihood(anna, model, values) for model in models}) == 3


def test_a_kernel_is_taken_by_all_models_that_have_one():
    models = named(["correlated", "UCL", "HorizonUCL"], kernel="matern32")
    assert models["correlated"].kernel == models["HorizonUCL"].kernel == cb.Matern32(1.0)
    assert models["UCL"].kernel is None


def test_a_setting_goes_to_every_model_that_has_the_parameter_or_to_the_one_named():
    models = named(["correlated", "independent"], settings=["length=2", "independent.noise=free", "lapse=0"])
    assert (models["correlated"].length, models["correlated"].noise) == (2.0, 0.1)
    assert models["independent"].noise == "free"
    assert all(model.lapse == 0.0 for model in models.values())


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (["corelated"], [], "got 'corelated'. Did you mean 'correlated'?"),
        (["UCL"], ["noise"], "must say what a parameter is, as in noise=0.01"),
        (["UCL"], ["nose=1"], "got 'nose'. Did you mean 'noise'?"),
        (["UCL"], ["greedy.noise=1"], "--set must be of UCL, got 'greedy'"),
        (["UCL"], ["noise=shared"], "must give a number or \"free\", got 'noise=shared'"),
        (["UCL"], ["noise=-1"], "noise must be above 0"),
        (["UCL"], ["UCL.length=1"], "length is nothing that this model depends on"),
    ],
)
def test_a_slip_is_refused_with_what_to_do(names, settings, message):
    with pytest.raises(ValueError) as refused:
        named(names, settings=settings)
    assert message in str(refused.value)


def test_without_places_no_usual_model_needs_them():
    assert all(MODELS[name].model.kernel is None for name in usual(coordinates=False))
    assert set(usual(coordinates=True)) <= MODELS.keys()


def test_the_page_says_what_of_a_model_was_fitted_and_what_was_fixed():
    """Numbers on people mean nothing without the noise and the kernel they were fitted with."""
    models = named(["correlated", "independent"], "matern32", ["prior_mean=50", "independent.noise=free"])
    words = {name: described(name, model) for name, model in models.items()}
    assert "kernel matern32; fitted length, exploration, temperature; fixed prior_mean 50, " in words["correlated"]
    assert "kernel" not in words["independent"]
    assert words["independent"].endswith("fitted noise, exploration, temperature; fixed prior_mean 50, prior_sd 1")
