import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits.experiment import ExperimentError, load
from corrbandits.experiment.priors import A_KERNEL
from corrbandits.experiment.truth import A_DRAW
from corrbandits.kernels import KERNELS
from corrbandits.policies import RULES

EXAMPLE = """\
[arms]
grid = [10, 10]                     # or: csv = "sites.csv" with columns name, x, y
[truth]
landscape = "two_peaks"             # or: means = [...], column = "yield", or draw = { kernel = "matern52", ... }
noise_variance = 10.0
[priors.smooth]
mean = 30.0                         # or: column = "prior_mean"
kernel = { name = "exponential", length = 4.0, variance = 10.0 }
[priors.flat]
variance = inf
[policies.correlated]
rule = "CorrelatedUCL"
prior = "smooth"
a = 3.284
nu = 1.0
[policies.uninformative]
rule = "UCL"
prior = "flat"
a = 3.284
[run]
horizon = 10000
runs = 100
seed = 0
"""

SITES = """\
name,x,y,yield,prior_mean,prior_variance
"meadow, low",0.0,0.0,3.5,3,1.0
ridge,0.5,2.0,7.25,5,4.0
ford,1.5,1.0,5.0,4,2.5
"""

SMALL = """\
[arms]
{arms}
[truth]
{truth}
[priors.p]
{prior}
[policies.mine]
{policy}
[run]
horizon = 50
"""

PLAIN = {
    "arms": "count = 3",
    "truth": "means = [1.0, 2.0, 3.0]\nnoise_variance = 4.0",
    "prior": "variance = 1.0",
    "policy": 'rule = "Greedy"\nprior = "p"',
}


@pytest.fixture
def read(tmp_path):
    """Return a function that loads an experiment from text, with sites.csv beside it."""
    (tmp_path / "sites.csv").write_text(SITES)

    def from_text(text):
        path = tmp_path / "experiment.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path)

    return from_text


@pytest.fixture
def small(read):
    return lambda **parts: read(SMALL.format(**{**PLAIN, **parts}))


def belief_of(experiment):
    ((_, belief),) = experiment.policies.values()
    return belief


def same(one, other):
    """Assert that two beliefs or environments are of one kind and hold the same numbers."""
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()
    for name in ("mean", "means", "variance", "covariance", "noise_variance", "coordinates", "successes", "failures"):
        np.testing.assert_array_equal(getattr(one, name, None), getattr(other, name, None), err_msg=name)
    assert getattr(one, "shape", None) == getattr(other, "shape", None)


# --- what a file says is what one builds by hand ---


def test_the_example_of_the_design_is_what_it_says(read):
    experiment = read(EXAMPLE)
    surface = cb.landscapes.two_peaks(noise_variance=10.0)
    kernel = 10.0 * cb.Exponential(length=4.0)
    smooth = cb.Correlated(mean=30.0, kernel=kernel, coordinates=surface.coordinates, noise_variance=10.0)
    flat = cb.Independent(mean=0.0, variance=np.inf, noise_variance=10.0, arms=100)

    same(experiment.environment, surface)
    assert list(experiment.policies) == ["correlated", "uninformative"]
    (first, prior), (second, other) = experiment.policies.values()
    assert (first, second) == (cb.CorrelatedUCL(a=3.284, nu=1.0), cb.UCL(a=3.284))
    same(prior, smooth)
    same(other, flat)
    assert (experiment.horizon, experiment.runs, experiment.seed) == (10_000, 100, 0)


def test_what_is_left_out_has_its_default(read):
    text = EXAMPLE.replace("runs = 100\nseed = 0\n", "").replace("noise_variance = 10.0\n", "")
    experiment = read(text.replace(text[: text.index("[truth]")], ""))  # a landscape brings its own arms
    same(experiment.environment, cb.landscapes.two_peaks())
    assert (experiment.runs, experiment.seed) == (100, 0)


def test_it_can_be_simulated(read):
    experiment = read(EXAMPLE.replace("horizon = 10000\nruns = 100", "horizon = 5\nruns = 2"))
    trace = cb.simulate(
        experiment.policies, experiment.environment, experiment.horizon, experiment.runs, experiment.seed
    )
    assert trace.regret.shape == (2, 2, 5)


WHERE = [[0.0, 0.0], [0.5, 2.0], [1.5, 1.0]]


@pytest.mark.parametrize(
    ("arms", "coordinates", "shape"),
    [
        ("count = 3", None, None),
        ("grid = [3, 1]", [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], (3, 1)),
        ('csv = "sites.csv"', WHERE, None),
        ('csv = "line.csv"', [[2.0], [4.0], [8.0]], None),
    ],
)
def test_each_way_to_give_arms(small, tmp_path, arms, coordinates, shape):
    (tmp_path / "line.csv").write_bytes(b"\xef\xbb\xbfx\r\n2\r\n4\r\n8\r\n")
    means = [1.0, 2.0, 3.0]
    same(small(arms=arms).environment, cb.GaussianBandit(means, 4.0, coordinates, shape))


def test_a_csv_is_sought_beside_the_experiment_or_at_a_full_path(small, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert small(arms='csv = "sites.csv"').environment.arms == 3
    (elsewhere / "other.csv").write_text(SITES)
    assert small(arms=f"csv = '{elsewhere / 'other.csv'}'").environment.arms == 3
    assert small(arms="csv = 'elsewhere/other.csv'").environment.arms == 3


@pytest.mark.parametrize(
    ("truth", "means", "noise"),
    [
        ("means = [1, 2.5, -3]\nnoise_variance = [1, 2, 3]", [1.0, 2.5, -3.0], [1.0, 2.0, 3.0]),
        ('column = "yield"\nnoise_variance = 2.0\nrewards = "gaussian"', [3.5, 7.25, 5.0], 2.0),
    ],
)
def test_each_way_to_give_the_truth(small, truth, means, noise):
    environment = small(arms='csv = "sites.csv"', truth=truth).environment
    same(environment, cb.GaussianBandit(means, noise, WHERE))


def test_a_truth_drawn_from_a_kernel(small):
    draw = 'draw = { kernel = "rational_quadratic", length = 2.0, alpha = 0.5, variance = 9.0, seed = 7, mean = 4.0 }'
    environment = small(arms="grid = [3, 4]", truth=draw + "\nnoise_variance = 1.0").environment
    kernel = 9.0 * cb.RationalQuadratic(length=2.0, alpha=0.5)
    where = cb.landscapes.grid(3, 4)
    same(environment, cb.landscapes.draw(kernel, where, noise_variance=1.0, seed=7, mean=4.0, shape=(3, 4)))


def test_rewards_0_and_1(small):
    experiment = small(
        truth='means = [0.2, 0.5, 0.9]\nrewards = "bernoulli"',
        prior="successes = [1, 2, 3]\nfailures = 2.0",
        policy='rule = "BayesUCB"\nprior = "p"\nc = 0',
    )
    same(experiment.environment, cb.BernoulliBandit([0.2, 0.5, 0.9]))
    same(belief_of(experiment), cb.Beta(successes=[1, 2, 3], failures=2.0))
    assert experiment.policies["mine"][0] == cb.BayesUCB(horizon=50, c=0)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("variance = 2.0", {"variance": 2.0}),
        ("variance = inf\nmean = 5", {"mean": 5.0, "variance": np.inf}),
        ("variance = [1, inf, 0]\nmean = [1, 2, 3]", {"mean": [1, 2, 3], "variance": [1, np.inf, 0]}),
        ('variance_column = "prior_variance"', {"variance": [1.0, 4.0, 2.5]}),
        ('variance = 1.0\ncolumn = "prior_mean"', {"mean": [3, 5, 4], "variance": 1.0}),
        ("variance = 1.0\nnoise_variance = [5, 6, 7]", {"variance": 1.0, "noise_variance": [5, 6, 7]}),
    ],
)
def test_each_way_to_give_an_independent_prior(small, prior, expected):
    belief = belief_of(small(arms='csv = "sites.csv"', prior=prior))
    same(belief, cb.Independent(**{"noise_variance": 4.0, **expected}, arms=3))


def test_a_prior_of_a_covariance(small):
    matrix = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]
    belief = belief_of(small(prior=f"mean = 1.0\ncovariance = {matrix}"))
    same(belief, cb.Correlated(mean=1.0, covariance=matrix, noise_variance=4.0))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ('name = "exponential", distance = "cityblock"', cb.Exponential(2.0, "cityblock")),
        ('name = "exponential", distance = "great_circle"', cb.Exponential(2.0, "great_circle")),
        ('name = "squared_exponential"', cb.SquaredExponential(2.0)),
        ('name = "matern32", distance = "chordal"', cb.Matern32(2.0, "chordal")),
        ('name = "matern52"', cb.Matern52(2.0)),
        ('name = "rational_quadratic", alpha = 0.7', cb.RationalQuadratic(2.0, alpha=0.7)),
    ],
)
def test_each_kernel(small, kernel, expected):
    belief = belief_of(small(arms='csv = "sites.csv"', prior=f"kernel = {{ {kernel}, length = 2.0, variance = 3.0 }}"))
    same(belief, cb.Correlated(kernel=3.0 * expected, coordinates=WHERE, noise_variance=4.0))


def test_a_kernel_in_a_table_of_its_own_with_one_length_per_dimension(small):
    text = 'column = "prior_mean"\n[priors.p.kernel]\nname = "matern52"\nlength = [1, 2.5]\nvariance = 3'
    belief = belief_of(small(arms='csv = "sites.csv"', prior=text))
    kernel = 3.0 * cb.Matern52((1.0, 2.5))
    same(belief, cb.Correlated(mean=[3, 5, 4], kernel=kernel, coordinates=WHERE, noise_variance=4.0))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ('rule = "UCL"\nK = 5\na = 2.0', cb.UCL(K=5, a=2.0)),
        ('rule = "CorrelatedUCL"\nnu = 0.5\nfactor = false', cb.CorrelatedUCL(nu=0.5, factor=False)),
        ('rule = "BayesUCB"', cb.BayesUCB(horizon=50)),
        ('rule = "BayesUCB"\nhorizon = 70\nc = 1.5', cb.BayesUCB(horizon=70, c=1.5)),
        ('rule = "GPUCB"\ndelta = 0.2\nscale = 0.2', cb.GPUCB(delta=0.2, scale=0.2)),
        ('rule = "Thompson"', cb.Thompson()),
        ('rule = "KnowledgeGradient"', cb.KnowledgeGradient(horizon=50)),
        ('rule = "UCB1"\nscale = 3', cb.UCB1(scale=3)),
        ('rule = "EpsilonGreedy"\nepsilon = 0.05', cb.EpsilonGreedy(epsilon=0.05)),
        ('rule = "Greedy"', cb.Greedy()),
        ('rule = "Uniform"', cb.Uniform()),
    ],
)
def test_each_rule(small, policy, expected):
    assert small(policy=policy + '\nprior = "p"').policies["mine"][0] == expected


def test_policies_may_share_a_prior(read):
    experiment = read(EXAMPLE.replace('prior = "smooth"', 'prior = "flat"'))
    assert experiment.policies["correlated"][1] is experiment.policies["uninformative"][1]


# --- what is wrong is refused, with its line and the remedy ---


def refused(call, line, *phrases):
    with pytest.raises(ExperimentError) as caught:
        call()
    message = str(caught.value)
    assert f"experiment.toml, line {line}: " in message, message
    for phrase in phrases:
        assert phrase in message, message


@pytest.mark.parametrize(
    ("old", "new", "line", "phrases"),
    [
        # syntax
        ("a = 3.284\nnu", "a = = 3\nnu", 14, ["expected TOML", "Invalid value (column 5)", "text takes double quotes"]),
        ("[run]", "[run", 20, ["expected TOML"]),
        ("seed = 0", "runs = 5", 23, ["expected TOML", "each key once"]),
        ('"UCL"', "UCL", 17, ["expected TOML", "text takes double quotes"]),
        # unknown keys and tables
        (
            "[arms]",
            "[arm]",
            1,
            ["there is no table 'arm'", "Did you mean 'arms'?", "arms, truth, priors, policies, run"],
        ),
        ("[run]", "[extra.b]\n[run]", 20, ["there is no table 'extra'", "The tables here are arms, truth"]),
        ("grid", "gird", 2, ["in [arms], there is no key 'gird'", "Did you mean 'grid'?", "are grid, csv, count"]),
        ("landscape", "landscap", 4, ["in [truth]", "Did you mean 'landscape'?", "means, column, draw"]),
        ("mean = 30", "men = 30", 7, ["in [priors.smooth]", "Did you mean 'mean'?", "kernel, covariance"]),
        ("length", "lenght", 8, ["in [priors.smooth.kernel]", "Did you mean 'length'?", "name, variance, length"]),
        ("length = 4.0", "length = 4.0, alpha = 2.0", 8, ["there is no key 'alpha'", "length, distance"]),
        (
            "nu = 1.0",
            "Nu = 1.0",
            15,
            ["in [policies.correlated]", "Did you mean 'nu'?", "rule, prior, K, a, nu, factor"],
        ),
        ('"flat"\na', '"flat"\nnu', 19, ["there is no key 'nu'", "rule, prior, K, a."]),
        ("horizon", "horizont", 21, ["in [run]", "Did you mean 'horizon'?", "horizon, runs, seed"]),
        # missing ones
        ("[run]\nhorizon = 10000\nruns = 100\nseed = 0", "", 1, ["'run' is missing", "[run] with horizon = 1000"]),
        ("horizon = 10000", "", 20, ["in [run], 'horizon' is missing", "horizon = 1000"]),
        ('landscape = "two_peaks"', "#", 3, ["one of landscape, means, column, draw is needed", "Add one"]),
        ("grid = [10, 10]", "#", 1, ["one of grid, csv, count is needed"]),
        ("variance = inf", "mean = 0", 9, ["one of kernel, covariance, variance, variance_column", "is needed"]),
        ('rule = "UCL"', "", 16, ["in [policies.uninformative], 'rule' is missing", 'rule = "UCL"']),
        ('rule = "UCL"', 'rul = "UCL"', 17, ["'rule' is missing. Is 'rul' a misspelling of it?"]),
        ('prior = "flat"', "", 16, ["'prior' is missing", 'prior = "smooth"']),
        ('name = "exponential", ', "", 8, ["'name' is missing", 'name = "exponential"']),
        ("length = 4.0, ", "", 8, ["in [priors.smooth.kernel], 'length' is missing"]),
        (", variance = 10.0", "", 8, ["in [priors.smooth.kernel], 'variance' is missing", "variance = 10.0"]),
        # tables in the wrong place
        ("[policies.correlated]", "[policies]\nx = 1\n[policies.c]", 12, ["x must be a table", "[policies.mine]"]),
        ("[priors.flat]", '[priors.""]', 9, ["a table with a name is needed", "[priors.flat]"]),
        ("[run]", "[[run]]", 20, ["run must be a table", "[run] with horizon = 1000"]),
        ('{ name = "exponential", length = 4.0, variance = 10.0 }', "3", 8, ["kernel must be a table", "{ name ="]),
        # wrong types and values
        ("[10, 10]", "[10]", 2, ["grid must be [rows, columns]", "got [10]"]),
        ("[10, 10]", "10", 2, ["grid must be [rows, columns]"]),
        ("[10, 10]", "[10, 10.0]", 2, ["grid must be a whole number"]),
        ("[10, 10]", "[0, 10]", 2, ["grid must be at least 1, got 0"]),
        ("[10, 10]", "[99999, 99999]", 2, ["grid must give at most 10,000,000 arms, got 9,999,800,001"]),
        ("[10, 10]", "[5, 20]", 4, ["landscape must go with [arms] grid = [10, 10]", "Leave [arms] out"]),
        ('"two_peaks"', '"three_peaks"', 4, ["landscape must be one of two_peaks", "Did you mean 'two_peaks'?"]),
        ('"two_peaks"', "[1]", 4, ["landscape must be one of two_peaks, got [1]"]),
        ("noise_variance = 10.0", "noise_variance = 0", 5, ["in [truth], noise_variance must be above 0, got 0"]),
        ("noise_variance = 10.0", "noise_variance = [1, 2]", 5, ["must be one number or 100, one per arm"]),
        ("noise_variance = 10.0", "noise_variance = nan", 5, ["must be finite, got nan"]),
        ("noise_variance = 10.0", "noise_variance = '10'", 5, ["must be numbers, got '10' (str)"]),
        ("noise_variance = 10.0", "noise_variance = true", 5, ["noise_variance must not be true or false"]),
        ("noise_variance = 10.0", 'rewards = "bernouli"', 5, ["must be one of gaussian, bernoulli", "'bernoulli'?"]),
        ("noise_variance = 10.0", 'rewards = "bernoulli"', 5, ["must lie in [0, 1], but they run to 60"]),
        ("mean = 30.0", "mean = [1, 2]", 7, ["mean must be one number or 100, one per arm, but its shape is (2,)"]),
        ("mean = 30.0", "mean = [[true]]", 7, ["mean must not be true or false"]),
        ("mean = 30.0", "mean = 1979-05-27", 7, ["mean must be numbers"]),
        (
            '"exponential"',
            '"exponentail"',
            8,
            ["name must be one of exponential, squared", "Did you mean 'exponential'?"],
        ),
        ('"exponential"', '"matern52", distance = "cityblock"', 8, ["is not a covariance", "Use Exponential"]),
        ("length = 4.0", 'length = 4.0, distance = "far"', 8, ["distance must be euclidean, cityblock"]),
        ("length = 4.0", "length = -4.0", 8, ["length must be one number above 0"]),
        ("length = 4.0", "length = [1, 2, 3]", 8, ["length has 3 entries but the points have 2 coordinates"]),
        ("length = 4.0", "length = 1e-310", 8, ["in [priors.smooth]"]),
        ("variance = 10.0 }", "variance = inf }", 8, ["variance must be above 0, got inf"]),
        (
            "variance = inf",
            "variance = -1",
            10,
            ["variance must be at least 0 (inf for an arm of which nothing is known)"],
        ),
        ("variance = inf", "successes = 1", 10, ['must go with rewards = "bernoulli" in [truth]']),
        (
            "variance = inf",
            'column = "prior_mean"\nvariance = 1',
            10,
            ['column must go with csv = "sites.csv" in [arms]'],
        ),
        ("variance = inf", "variance_column = 3", 10, ["variance_column must be text, got 3 (int)"]),
        (
            "variance = inf",
            "covariance = [[1, 0], [0, 1]]",
            10,
            ["covariance must be 100 rows of 100 numbers", "shape is (2, 2)"],
        ),
        ('"CorrelatedUCL"', '"correlateducl"', 12, ["rule must be one of UCL, Corr", "Did you mean 'CorrelatedUCL'?"]),
        ('"CorrelatedUCL"', "7", 12, ["rule must be one of UCL", "got 7"]),
        ('"smooth"', '"smoth"', 13, ["prior must be one of smooth, flat, got 'smoth'", "Did you mean 'smooth'?"]),
        ("a = 3.284\nnu", "a = 0\nnu", 14, ["in [policies.correlated], a must be above 0, got 0"]),
        ("a = 3.284\nnu", "a = [1]\nnu", 14, ["a must be one number"]),
        ("nu = 1.0", "nu = 2", 15, ["nu must be above 0 and at most 1, got 2"]),
        ("nu = 1.0", "nu = true", 15, ["nu must not be true or false"]),
        ("nu = 1.0", 'factor = "false"', 15, ["factor must be true or false, without quotes, got 'false'"]),
        ("nu = 1.0", "K = 0.5", 15, ["must be below 1, but K = 0.5", "Take K above 1"]),
        ("horizon = 10000", "horizon = 0", 21, ["in [run], horizon must be at least 1, got 0"]),
        ("horizon = 10000", "horizon = 1e4", 21, ["horizon must be a whole number, got 10000.0 (float)"]),
        ("runs = 100", 'runs = "100"', 22, ["runs must be a whole number"]),
        ("seed = 0", "seed = -1", 23, ["seed must be at least 0, got -1"]),
        # two ways at once
        ("[10, 10]", "[10, 10]\ncount = 100", 3, ["only one of grid, csv, count can be given, got grid and count"]),
        (
            "[truth]",
            "[truth]\nmeans = [1]",
            5,
            ["only one of landscape, means, column, draw", "got means and landscape"],
        ),
        ("mean = 30.0", 'mean = 30.0\ncolumn = "m"', 8, ["only one of mean, column can be given", "Remove the others"]),
        ("variance = inf", "covariance = [[1]]\nvariance = inf", 11, ["only one of kernel, covariance, variance"]),
    ],
)
def test_what_is_wrong_is_refused_with_its_line_and_the_remedy(read, old, new, line, phrases):
    assert EXAMPLE.count(old) >= 1
    refused(lambda: read(EXAMPLE.replace(old, new, 1)), line, *phrases)


A_CSV = 'csv = "sites.csv"'
BERNOULLI = 'means = [0.2, 0.5, 0.9]\nrewards = "bernoulli"'


@pytest.mark.parametrize(
    ("parts", "line", "phrases"),
    [
        ({"arms": "count = 0"}, 2, ["count must be at least 1"]),
        ({"arms": "count = 99999999"}, 2, ["count must give at most 10,000,000 arms"]),
        ({"arms": 'csv = "none.csv"'}, 2, ["none.csv: expected a text file", "No such file", "Check its name"]),
        ({"arms": 'csv = "."'}, 2, ["expected a text file, but it cannot be read"]),
        ({"arms": 'csv = "a\\u0000b"'}, 2, ["expected a text file, but it cannot be read"]),
        ({"arms": "csv = 3"}, 2, ["csv must be text, got 3 (int)"]),
        ({"arms": 'csv = "broken.csv"'}, 2, ["broken.csv, line 3: column 'y' must hold finite numbers", "got 'two'"]),
        ({"arms": 'csv = "placeless.csv"'}, 2, ["placeless.csv: expected a column 'x'", "columns are a, y"]),
        ({"truth": "means = [1, 2]\nnoise_variance = 1"}, 4, ["means must be 3 numbers, one per arm", "got 2"]),
        ({"truth": "means = 1.0\nnoise_variance = 1"}, 4, ["means must be 3 numbers", "an array of shape ()"]),
        ({"truth": "means = [1, 2, inf]\nnoise_variance = 1"}, 4, ["means must be finite, got inf at index 2"]),
        ({"truth": "means = [1, 2, 3]"}, 3, ["'noise_variance' is missing", "noise_variance = 10.0"]),
        ({"truth": 'landscape = "two_peaks"'}, 4, ["landscape must go with [arms] grid = [10, 10]"]),
        ({"truth": 'column = "yield"\nnoise_variance = 1'}, 4, ['column must go with csv = "sites.csv" in [arms]']),
        (
            {"arms": A_CSV, "truth": 'noise_variance = 1\ncolumn = "yeild"'},
            5,
            ["sites.csv: expected a column 'yeild'", "name, x, y, yield"],
        ),
        ({"arms": A_CSV, "truth": 'column = "name"\nnoise_variance = 1'}, 4, ["sites.csv, line 2: column 'name' must"]),
        ({"truth": f"noise_variance = 1\n{A_DRAW}"}, 5, ["a kernel needs arms with coordinates", "Use grid or csv"]),
        ({"prior": A_KERNEL}, 7, ["a kernel needs arms with coordinates", "Use grid or csv in [arms]"]),
        ({"prior": "covariance = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]"}, 7, ["no negative eigenvalue", "-1"]),
        ({"prior": "covariance = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]"}, 7, ["covariance must be symmetric"]),
        ({"prior": "covariance = [[1, 0], [1]]"}, 7, ["covariance must be numbers"]),
        ({"prior": "variance = [1, 2]"}, 7, ["variance must be one number or 3, one per arm"]),
        (
            {"truth": BERNOULLI + "\nnoise_variance = 1"},
            6,
            ["noise_variance must not be given with bernoulli", "Remove it"],
        ),
        ({"truth": BERNOULLI.replace("0.9", "1.9")}, 4, ["must lie in [0, 1]"]),
        (
            {"truth": BERNOULLI, "prior": "failures = 1\nmean = 1"},
            8,
            ["mean must not be given with failures", "only successes and failures"],
        ),
        ({"truth": BERNOULLI, "prior": "failures = [1, 2]"}, 7, ["failures must be one number or 3"]),
        ({"truth": BERNOULLI, "prior": "successes = 0"}, 7, ["must be above 0; 1 and 1 is the uniform prior"]),
        (
            {"truth": BERNOULLI, "prior": "successes = 1", "policy": 'prior = "p"\na = 2\nrule = "CorrelatedUCL"'},
            11,
            ["CorrelatedUCL needs a Gaussian belief, got a Beta"],
        ),
        (
            {"policy": 'rule = "KnowledgeGradient"\nprior = "p"\nhorizon = 9'},
            11,
            ["a horizon of 9, but t = 50 is past it"],
        ),
        (
            {"policy": 'rule = "BayesUCB"\nprior = "p"\nhorizon = 2'},
            11,
            ["needs a horizon of at least 3", "got 2"],
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(small, tmp_path, parts, line, phrases):
    (tmp_path / "broken.csv").write_text("x,y\n1,1\n2,two\n3,3\n")
    (tmp_path / "placeless.csv").write_text("a,y\n1,1\n")
    refused(lambda: small(**parts), line, *phrases)


@pytest.mark.parametrize(
    ("change", "phrases"),
    [
        ((", seed = 1", ""), ["in [truth.draw], 'seed' is missing", "seed = 1"]),
        (("seed = 1", "seed = -1"), ["in [truth.draw], seed must be at least 0"]),
        (
            ("seed = 1", "seed = 1, sede = 2"),
            ["Did you mean 'seed'?", "kernel, variance, length, distance, seed, mean"],
        ),
        (("seed = 1", "seed = 1, mean = [1]"), ["mean must be one number or 6"]),
        (("matern52", "matern"), ["kernel must be one of exponential", "Did you mean 'matern"]),
    ],
)
def test_a_draw_that_is_wrong_is_refused(small, change, phrases):
    draw = A_DRAW.replace(*change)
    refused(lambda: small(arms="grid = [2, 3]", truth=f"noise_variance = 1\n{draw}"), 5, *phrases)


def test_a_key_of_a_kernel_in_a_table_of_its_own_is_refused_at_its_own_line(small):
    text = '[priors.p.kernel]\nname = "matern52"\nvariance = 3\nlength = 0'
    refused(
        lambda: small(arms="grid = [1, 3]", prior=text), 10, "in [priors.p.kernel], length must be one number above 0"
    )


def test_a_file_that_cannot_be_read_is_refused_in_words(tmp_path):
    with pytest.raises(ExperimentError, match=r"none\.toml: expected a text file, but .*No such file.*Check its name"):
        load(tmp_path / "none.toml")
    with pytest.raises(ExperimentError, match="expected a text file"):
        load(tmp_path)


def test_the_error_is_a_value_error():
    assert issubclass(ExperimentError, ValueError)


@pytest.mark.parametrize("example", [A_DRAW, A_KERNEL])
def test_the_examples_in_messages_are_toml(example):
    assert tomllib.loads(example)


# --- nothing but an ExperimentError ever comes out of a wrong file ---

RICH = f"""\
[arms]
csv = "sites.csv"
[truth]
column = "yield"
noise_variance = [1.0, 2.0, 3.0]
[priors.a]
column = "prior_mean"
kernel = {{ name = "rational_quadratic", length = [1.0, 2.0], variance = 2.0, distance = "euclidean", alpha = 2.0 }}
noise_variance = 3.0
[priors.b]
mean = [1.0, 2.0, 3.0]
variance_column = "prior_variance"
[priors.c]
covariance = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]
{
    "".join(
        f'''
[policies.{name}]
rule = "{name}"
prior = "{prior}"'''
        for name, prior in zip(RULES, "abcabcabca", strict=True)
    )
}
[run]
horizon = 20
runs = 3
seed = 1
"""
DRAWN = f"""\
[arms]
grid = [2, 3]
[truth]
{A_DRAW}
noise_variance = 1.0
{EXAMPLE[EXAMPLE.index("[priors.smooth]") :]}"""
COINS = SMALL.format(**{**PLAIN, "truth": BERNOULLI, "prior": "successes = 1.0\nfailures = [1.0, 2.0, 1.5]"})
VALID = [EXAMPLE, RICH, DRAWN, COINS]

ODD = ["true", "-1", "0", "1e308", "nan", "-inf", "9" * 30, '""', '"UCL"', "[]", "[1, [2]]", '["a"]', "{}", "{ x = 1 }"]
ODD += ["1979-05-27", "07:32:00", '"\\u0000"', "[[1.0, 2.0], [2.0, 1.0]]", "1e-320", "[true]", '"sites.csv"']


def only_refused(read, text):
    """Return whether the text is refused; assert that the refusal names a line that it has."""
    try:
        read(text)
    except ExperimentError as error:
        message = str(error)
    else:
        return False
    found = re.search(r"experiment\.toml, line (\d+): \S", message)
    assert found, message
    assert 1 <= int(found[1]) <= text.count("\n") + 1
    return True


@pytest.mark.parametrize("text", VALID)
def test_a_line_left_out_or_misspelt_or_of_another_type_is_refused_or_harmless(read, text):
    assert not only_refused(read, text)
    rows = text.splitlines(keepends=True)
    for k, row in enumerate(rows):
        only_refused(read, "".join(rows[:k] + rows[k + 1 :]))
        if row.strip():
            misspelt = re.sub(r"(\w)(\w|(?=\W))", r"\2\1x", row, count=1)
            assert only_refused(read, "".join([*rows[:k], misspelt, *rows[k + 1 :]])), misspelt


@pytest.mark.parametrize("text", VALID)
def test_no_odd_value_does_more_than_be_refused(read, text):
    for found in re.finditer(r"(?<== )(\"[^\"\n]*\"|[\w.]+|\[[^{}\n]*\](?=[\s,])|\{[^{}\n]*\})", text):
        for odd in ODD:
            only_refused(read, text[: found.start()] + odd + text[found.end() :])


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_change_of_characters_does_more_than_be_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "changed"
    folder.mkdir(exist_ok=True)
    (folder / "sites.csv").write_text(SITES)
    text = data.draw(st.sampled_from(VALID))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        until = at + data.draw(st.integers(0, 5))
        text = text[:at] + data.draw(st.text(alphabet='[]{}="\n#., -0a1e', max_size=3)) + text[until:]

    def read(changed):
        (folder / "experiment.toml").write_bytes(changed.encode())
        return load(folder / "experiment.toml")

    only_refused(read, text)


def test_every_rule_and_kernel_can_be_named():
    assert {rule.__name__ for rule in RULES.values()} == set(RULES)
    assert len(KERNELS) == 5


def test_importing_it_is_light():
    code = "import sys, corrbandits.experiment; print([m for m in ('scipy', 'xarray', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
