"""A family of surfaces in [stress] stands in for the one of [truth]."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.experiment import ExperimentError
from corrbandits.experiment import load as load_experiment
from corrbandits.stress.experiment import load

FILE = """\
[arms]
csv = "sites.csv"
[truth]
noise_variance = 2.25
[priors.mine]
mean = 4.0
kernel = { name = "exponential", length = 1.0, variance = 4.0 }
[policies.mine]
rule = "CorrelatedUCL"
prior = "mine"
[run]
horizon = 30
[stress]
truth_columns = ["one", "two"]
"""
COLUMNS = 'truth_columns = ["one", "two"]'
DRAWS = 'truth_draws = { kernel = "matern52", length = 2.0, variance = 9.0, seed = 5, count = 3, mean = 1.0 }'


@pytest.fixture
def path(tmp_path):
    (tmp_path / "sites.csv").write_text("x,y,one,two\n0,0,1,0.25\n1,0,0,0.5\n0,1,0.5,1\n")

    def of(text):
        (tmp_path / "my.toml").write_text(text)
        return tmp_path / "my.toml"

    return of


def test_with_a_family_the_truth_needs_its_noise_alone(path):
    family = load(path(FILE))["truth"]
    assert [surface.means.tolist() for surface in family] == [[1, 0, 0.5], [0.25, 0.5, 1]]
    assert [surface.noise_variance.tolist() for surface in family] == [[2.25] * 3] * 2
    drawn = load(path(FILE.replace(COLUMNS, DRAWS)))["truth"]
    where = [[0, 0], [1, 0], [0, 1]]
    for k, surface in enumerate(drawn):
        expected = cb.landscapes.draw(9.0 * cb.Matern52(2.0), where, noise_variance=1.0, seed=5 + k, mean=1.0)
        np.testing.assert_array_equal(surface.means, expected.means)
    assert load(path(FILE))["noise_variance"].tolist() == [2.25] * 3  # the prior's


def test_a_family_is_the_same_whatever_surface_stands_beside_it(path):
    alone, beside = load(path(FILE)), load(path(FILE.replace("[truth]", '[truth]\ncolumn = "two"')))
    for one, other in zip(alone["truth"], beside["truth"], strict=True):
        np.testing.assert_array_equal(one.means, other.means)
        np.testing.assert_array_equal(one.noise_variance, other.noise_variance)


def test_a_family_of_rewards_0_and_1(path):
    text = FILE.replace("noise_variance = 2.25", 'rewards = "bernoulli"').replace("mean = 4.0", "noise_variance = 0.25")
    family = load(path(text))["truth"]
    assert [type(surface) for surface in family] == [cb.BernoulliBandit] * 2
    assert [surface.means.tolist() for surface in family] == [[1, 0, 0.5], [0.25, 0.5, 1]]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("[truth]\nnoise_variance = 2.25\n", "", 1, ["'truth' is missing", 'column = "yield"']),
        ("noise_variance = 2.25", "", 3, ["'noise_variance' is missing", "noise_variance = 10.0"]),
        ("noise_variance = 2.25", "noise_variance = -1", 4, ["noise_variance must be above 0"]),
        (COLUMNS, "", 3, ["recorded is needed", 'column = "yield"']),
        ("[truth]", '[truth]\nrewards = "bernoulli"', 5, ["must not be given with bernoulli rewards"]),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(path, old, new, line, words):
    assert old in FILE
    with pytest.raises(ExperimentError) as caught:
        load(path(FILE.replace(old, new)))
    message = str(caught.value)
    assert f"line {line}:" in message
    for word in words:
        assert word in message


def test_the_other_commands_still_need_a_surface(path):
    with pytest.raises(ExperimentError, match=r"truth_columns in \[stress\] is used by `corrbandits stress` only"):
        load_experiment(path(FILE))
    with pytest.raises(ExperimentError, match='such as: landscape = "two_peaks"'):
        load_experiment(path("[arms]\ngrid = [2, 2]\n[truth]\n" + FILE[FILE.index("[priors") : FILE.index("[stress")]))
