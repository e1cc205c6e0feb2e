"""Studies of 0.1.0 open: events that it wrote, of every kind of belief and kernel, are read and written alike.

`tests/data/0.1.0/created.json` holds the first event of a study with each of the priors below, as 0.1.0 wrote it.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.kernels import WithDeviations
from corrbandits.study.codec import kernel_from
from corrbandits.study.events import written
from corrbandits.study.ledger import Ledger
from corrbandits.study.recipe import Recipe
from corrbandits.study.settings import Settings

RECORDED = Path(__file__).parents[1] / "data/0.1.0/created.json"
LINE = [0.0, 1.0, 2.5]
PLANE = [[0.0, 0.5], [1.0, 0.0], [2.0, 3.0]]
GLOBE = [[51.5, -0.1], [48.9, 2.4], [40.4, -3.7]]


def related(kind=cb.Correlated, **changes):
    given = {"mean": 30.0, "kernel": 10 * cb.Exponential(3.0), "coordinates": LINE, "noise_variance": 4.0}
    return kind(**(given | changes))


def of_a_kernel(kernel, coordinates=LINE):
    return related(kernel=kernel, coordinates=coordinates)


PRIORS = {
    "Independent": lambda: cb.Independent(mean=[1.0, 2.0], variance=3.0, noise_variance=4.0),
    "Independent, one of all": lambda: cb.Independent(noise_variance=0.1, arms=3),
    "Independent, mixed": lambda: cb.Independent(mean=1 / 3, variance=[0.0, np.inf, 1e-300], noise_variance=[1, 2, 3]),
    "Correlated, covariance": lambda: cb.Correlated(mean=[0.1, 0.2], covariance=[[1, 0.5], [0.5, 2]], noise_variance=1),
    "Correlated, function": lambda: related(kernel=lambda x, y: np.minimum(x, y.T)),
    "Implicit": lambda: related(cb.Implicit, noise_variance=[1.0, 2.0, 0.1]),
    "Refitting": lambda: related(cb.Refitting),
    "Elimination": lambda: cb.Elimination(
        [related(), related(cb.Implicit), cb.Independent(variance=1.0, noise_variance=4.0, arms=3)], delta=0.1
    ),
    "Beta": lambda: cb.Beta(arms=2),
    "Beta, per arm": lambda: cb.Beta(successes=[1.0, 2.5], failures=0.3),
    "Exponential, cityblock": lambda: of_a_kernel(cb.Exponential((2.0, 3.0), distance="cityblock"), PLANE),
    "Exponential, great_circle": lambda: of_a_kernel(2.5 * cb.Exponential(700.0, distance="great_circle"), GLOBE),
    "SquaredExponential": lambda: of_a_kernel(cb.SquaredExponential(0.1 + 0.2)),
    "Matern32, chordal": lambda: of_a_kernel(cb.Matern32(700.0, distance="chordal"), GLOBE),
    "Matern52": lambda: of_a_kernel(cb.Matern52((2.0, 0.5)), PLANE),
    "RationalQuadratic": lambda: of_a_kernel(3 * cb.RationalQuadratic(2.0, alpha=0.7)),
    "Sum, Product": lambda: of_a_kernel(cb.Exponential(2.0) + 0.5 * cb.Matern32(4.0) * cb.SquaredExponential(1.0)),
    "WithDeviations": lambda: of_a_kernel(WithDeviations(cb.Exponential(2.0)), [[0.0, 1.0], [1.0, 2.0], [4.0, 0.5]]),
}


def policy_for(name):
    return cb.BayesUCB(horizon=50, c=0.0) if name.startswith("Beta") else cb.CorrelatedUCL(a=3.3)


@pytest.mark.parametrize("name", PRIORS)
def test_a_study_of_0_1_0_opens_and_is_written_as_it_was(name):
    recorded, prior = json.loads(RECORDED.read_text())[name], PRIORS[name]()
    settings = Ledger(recorded).settings
    assert type(settings.prior) is type(prior)
    assert settings.prior.mean.tobytes() == prior.mean.tobytes()
    assert settings.prior.variance.tobytes() == prior.variance.tobytes()
    assert settings.policy == policy_for(name)
    at = json.loads(recorded)["at"]
    made_now = Settings(Recipe.of(prior), policy_for(name), settings.arms)
    for same in (settings, made_now):
        assert written(same.event() | {"at": at}) == recorded


def test_every_kind_of_0_1_0_is_recorded():
    kinds = re.findall(r'"(?:belief|kernel)":"(\w+)"', "".join(json.loads(RECORDED.read_text()).values()))
    beliefs = {"Independent", "Correlated", "Implicit", "Refitting", "Elimination", "Beta"}
    lengths = {"Exponential", "SquaredExponential", "Matern32", "Matern52", "RationalQuadratic"}
    assert set(kinds) == beliefs | lengths | {"Sum", "Product", "Scaled", "WithDeviations"}


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "Sum", "one": 5, "other": {"kernel": "Exponential", "length": 1.0}},
        {"kernel": "Scaled", "of": "Exponential", "variance": 1.0},
        {"kernel": "Scaled", "of": {"kernel": "lambda", "length": 1.0}, "variance": 1.0},
        {"kernel": "Exponential", "length": {"kernel": "Exponential", "length": 1.0}},
    ],
    ids=str,
)
def test_what_is_no_kernel_is_refused(kernel):
    with pytest.raises(ValueError, match=r"a kernel must|cannot be made"):
        kernel_from(kernel)
