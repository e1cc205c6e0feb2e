"""The table [stress] of an experiment file."""

import re

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.experiment import ExperimentError
from corrbandits.experiment import load as load_experiment
from corrbandits.stress import experiment as stress_settings
from tests.support.stress_cases import FILE


@pytest.fixture
def read(tmp_path):
    def from_text(text, policy=None):
        (tmp_path / "my.toml").write_text(text)
        return stress_settings.load(tmp_path / "my.toml", policy)

    (tmp_path / "sites.csv").write_text("x,y,one,two,what\n0,0,1,2,a\n0,1,3,4,b\n1,0,5,5.5,c\n")
    return from_text


def test_a_file_says_what_the_function_takes(read):
    found = stress.run(**read(FILE))
    by_hand = stress.run(
        cb.CorrelatedUCL(a=1.5),
        cb.GaussianBandit([0, 1, 2, 3, 4, 5, 4, 3, 2], 1.0, cb.landscapes.grid(3, 3), (3, 3)),
        30,
        mean=2.0,
        kernel=1.0 * cb.Exponential(2.0),
        kinds=["shift", "swap"],
        accuracy=[-1.0, 1.0],
        confidence=[0.1, 1.0],
        length=[0.5, 2.0],
        times=[10, 30],
        runs=3,
        seed=3,
    )
    assert found.to_csv() == by_hand.to_csv()
    assert found.data["time"].values.tolist() == [10, 30]


def test_the_table_may_be_left_out_and_does_not_disturb_the_others(read, tmp_path):
    arguments = read(FILE.split("[stress]")[0])
    assert arguments["policy"] == cb.CorrelatedUCL(a=1.5)
    assert "kinds" not in arguments
    read(FILE)
    assert load_experiment(tmp_path / "my.toml").horizon == 30


def test_a_family_of_draws_and_one_of_columns(read):
    draws = 'truth_draws = { kernel = "matern52", length = 2.0, variance = 9.0, seed = 5, count = 3, mean = 1.0 }'
    family = read(f"{FILE}{draws}\n")["truth"]
    for k, surface in enumerate(family):
        drawn = cb.landscapes.draw(
            9.0 * cb.Matern52(2.0), cb.landscapes.grid(3, 3), noise_variance=1.0, seed=5 + k, mean=1
        )
        np.testing.assert_array_equal(surface.means, drawn.means)
        assert surface.noise_variance.tolist() == [1.0] * 9
    assert len(family) == 3
    sites = FILE.replace("grid = [3, 3]", 'csv = "sites.csv"').replace(
        "means = [0, 1, 2, 3, 4, 5, 4, 3, 2]", 'column = "one"'
    )
    one, two = read(f'{sites}truth_columns = ["one", "two"]\n')["truth"]
    assert (one.means.tolist(), two.means.tolist()) == ([1, 3, 5], [2, 4, 5.5])


def test_the_prior_and_the_policy_may_be_named(read):
    other = '[priors.other]\nmean = 1.0\ncovariance = [[2, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0], ' \
        + ", ".join(str([2 * (i == j) for j in range(9)]) for i in range(2, 9)) + "]\n"  # fmt: skip
    found = read(FILE.replace("[priors.flat]", other + "[priors.flat]") + 'prior = "other"\n')
    assert "kernel" not in found
    np.testing.assert_array_equal(found["covariance"], 2 * np.eye(9))
    with pytest.raises(ExperimentError, match="--policy must be one of one, two"):
        read(FILE, "three")
    with pytest.raises(ExperimentError, match=r"line 13: .*prior must be one with a kernel"):
        read(FILE, "one")
    assert read(FILE + 'prior = "smooth"\n', "one")["policy"] == cb.UCL(a=1.5)


def test_a_prior_that_is_told_little_cannot_be_made_wrong_and_is_not_taken_for_the_one_to_test(read):
    little = FILE.replace("variance = inf", 'kind = "vague"\nkernel = "matern52"').replace("a = 1.5", "", 1)
    little = little.replace('rule = "UCL"', 'rule = "HorizonUCL"')
    assert read(little)["policy"] == cb.CorrelatedUCL(a=1.5)
    with pytest.raises(ExperimentError, match=r"line 14: .*prior must be one with a kernel"):
        read(little, "one")
    assert read(little + 'prior = "smooth"\n', "one")["policy"] == cb.HorizonUCL(30)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("kinds =", "kind =", 24, "Did you mean 'kinds'"),
        ('["shift", "swap"]', '["tilt"]', 24, "kinds must be some of"),
        ('["shift", "swap"]', '"shift"', 24, "kinds must be a list"),
        ("[-1.0, 1.0]", "1.0", 25, "accuracy must be a list"),
        ("[-1.0, 1.0]", "{ noise = [1.0] }", 25, "accuracy must be of the kinds"),
        ("[0.1, 1.0]", "[0.0]", 26, "confidence must be factors above 0"),
        ("[0.1, 1.0]", '["a"]', 26, "confidence must be numbers"),
        ("[0.5, 2.0]", "[-2.0]", 27, "length must be factors above 0"),
        ("confidence = [0.1, 1.0]\nlength = [0.5, 2.0]", "confidence = [1.0]\nlength = [1.0]", 23, "at least two of"),
        ("[10, 30]", "[10, 31]", 28, "at most the horizon of"),
        ("[10, 30]", "[0]", 28, "horizons must be at least 1"),
        ("[10, 30]", "30", 28, "horizons must be a list"),
        ("horizons = [10, 30]", "survivors = 1", 28, "true or false"),
        ("horizons = [10, 30]", 'policy = "tow"', 28, "Did you mean 'two'"),
        ("horizons = [10, 30]", 'prior = "flat"', 28, "prior must be one with a kernel"),
        ("horizons = [10, 30]", 'truth_columns = ["one"]', 28, "must go with csv"),
        ("horizons = [10, 30]", "truth_columns = []", 28, "truth_columns must be a list"),
        ("horizons = [10, 30]", "truth_draws = 3", 28, "truth_draws must be a table"),
        (
            "horizons = [10, 30]",
            'truth_draws = { kernel = "matern52", length = 2.0, variance = 1.0 }',
            28,
            "'seed' is miss",
        ),
        (
            "horizons = [10, 30]",
            'truth_draws = { kernel = "matern52", length = 2.0, variance = 1.0, seed = 1, count = 0 }',
            28,
            "count must be at least 1",
        ),
        ("horizons = [10, 30]", 'truth_draws = { kernel = "x" }\ntruth_columns = ["one"]', 29, "only one of"),
        ('prior = "flat"', 'prior = "smooth"', 23, "policy must say which one is tested, since 2"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(read, old, new, line, said):
    assert FILE.count(old) == 1
    with pytest.raises(ExperimentError, match=f"line {line}: .*{re.escape(said)}"):
        read(FILE.replace(old, new))


def test_without_a_prior_to_make_wrong_it_is_said_that_one_is_needed(read):
    text = re.sub(r"\[priors\.smooth\].*?\n\n?(?=\[)", '[priors.smooth]\nkind = "vague"\n', FILE, flags=re.DOTALL)
    rule = '[policies.two]\nrule = "Gittins"\nprior = "smooth"\n'
    text = re.sub(r"\[policies\.two\].*?(?=\[run\])", rule, text, flags=re.DOTALL)
    with pytest.raises(ExperimentError, match=r"which a stress test makes wrong, but none is: .* Add such a prior"):
        read(text)
