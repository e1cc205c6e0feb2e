"""What is wrong in a file is refused, with its line and the remedy."""

import tomllib

import pytest

from corrbandits.experiment import ExperimentError, load
from corrbandits.experiment.priors import A_KERNEL
from corrbandits.experiment.truth import A_DRAW
from tests.support.experiment_files import A_CSV, BERNOULLI, EXAMPLE


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
        ('landscape = "two_peaks"', "#", 3, ["recorded is needed", "Add one"]),
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
        ("variance = 10.0 }", "variance = inf }", 8, ["variance must be above 0 and finite, got inf"]),
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
        (
            {"prior": 'kind = "vage"'},
            7,
            ["kind must be one of vague, drifting, windowed, discounted, got 'vage'", "Did you mean 'vague'?"],
        ),
        ({"prior": 'kind = "vague"\nvariance = 3'}, 8, ["there is no key 'variance'", "mean, sd, length, noise_sd"]),
        ({"prior": 'kind = "vague"\nlength = 3'}, 7, ["a kernel needs arms with coordinates", "Use grid or csv"]),
        ({"prior": 'kind = "vague"\nsd = [4, 1]'}, 8, ["sd must be a number above 0, a 90 % interval"]),
        ({"prior": 'kind = "vague"\ndrift = "30d"'}, 8, ["a 90 % interval (least, most), or true if", "got '30d'"]),
        (
            {"prior": 'kind = "vague"\ndrift = 0'},
            8,
            ["drift must be the time in which rewards change, a number above 0"],
        ),
        ({"prior": 'kind = "vague"\ndrift = [true, 5]'}, 8, ["drift must not be true or false"]),
        ({"prior": 'kind = "vague"\nper_coordinate = 3'}, 8, ["per_coordinate must be true or false, without quotes"]),
        ({"prior": 'kind = "vague"\nsd = 1e300'}, 8, ["sd must lie between 1e-140 and 1e+140"]),
        ({"prior": 'kind = "vague"\nparts = 100000000'}, 8, ["parts must be at most 10,000"]),
        ({"arms": "grid = [1, 3]", "prior": 'kind = "vague"\nkernel = 3'}, 8, ["kernel must be one or several of"]),
        ({"arms": "grid = [1, 3]", "prior": 'kind = "vague"\nkernel = [[3]]'}, 8, ["kernel must be one or several of"]),
        (
            {"prior": 'kind = "vague"', "policy": 'rule = "CorrelatedUCL"\nprior = "p"'},
            9,
            ["CorrelatedUCL needs a Gaussian belief, got a Vague"],
        ),
        ({"policy": 'rule = "Satisficing"\nof = "UCL"\nprior = "p"'}, 8, ["'M' is missing", "M = 20.0"]),
        ({"policy": 'rule = "Safe"\nof = "UCL"\nprior = "p"'}, 8, ["'floor' is missing", "floor = 10.0"]),
        ({"policy": 'rule = "OnGraph"\nof = "UCL"\nprior = "p"'}, 8, ["graph = [[0, 1], [1, 2, 3.5]]"]),
        ({"prior": "mean = 3"}, 6, ['Add one; or kind = "vague", and what is not said is learnt.']),
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


A_DRIFT = 'kernel = "exponential", length = 2.0, variance = 9.0'


@pytest.mark.parametrize(
    ("truth", "phrases"),
    [
        (f"drift = {{ {A_DRIFT}, seed = 1 }}\nnoise_variance = 1.0", ["'scale' is missing", "scale = 200.0"]),
        (f"drift = {{ {A_DRIFT}, scale = 9.0 }}\nnoise_variance = 1.0", ["'seed' is missing"]),
        (f"drift = {{ {A_DRIFT}, scale = -1.0, seed = 1 }}\nnoise_variance = 1.0", ["scale must be above 0, got -1"]),
        (f"drift = {{ {A_DRIFT}, scle = 9.0, seed = 1 }}\nnoise_variance = 1.0", ["Did you mean 'scale'?"]),
        (f"drift = {{ {A_DRIFT}, scale = 9.0, seed = 1 }}", ["'noise_variance' is missing"]),
        (f"switches = {{ {A_DRIFT}, seed = 1 }}\nnoise_variance = 1.0", ["'every' is missing", "every = 300"]),
        (f"switches = {{ {A_DRIFT}, every = 3, at = [4], seed = 1 }}\nnoise_variance = 1.0", ["say either every="]),
        (f"switches = {{ {A_DRIFT}, at = [51], seed = 1 }}\nnoise_variance = 1.0", ["whole numbers from 2 to 50"]),
        (f"seasons = {{ {A_DRIFT}, seed = 1 }}\nnoise_variance = 1.0", ["'period' is missing", "period = 365"]),
        ('drift = "slow"\nnoise_variance = 1.0', ["drift must be a table, such as drift = { kernel"]),
        (
            f'drift = {{ {A_DRIFT}, scale = 9.0, seed = 1 }}\nnoise_variance = 1.0\nrewards = "bernoulli"',
            ["rewards must be gaussian where means change"],
        ),
        ('recorded = "short.csv"\nnoise_variance = 1.0', ["a column for each of the 50 decisions", "has 2"]),
        ('recorded = "none.csv"\nnoise_variance = 1.0', ["none.csv"]),
        ('recorded = "bad.csv"\nnoise_variance = 1.0', ["bad.csv, line 2: column 't2' must hold finite numbers"]),
    ],
)
def test_truths_that_change_are_refused_with_their_line(small, tmp_path, truth, phrases):
    (tmp_path / "short.csv").write_text("name,t1,t2\na,1,2\nb,1,2\nc,1,2\n")
    (tmp_path / "bad.csv").write_text("name,t1,t2\na,1,x\nb,1,2\nc,1,2\n")
    with pytest.raises(ExperimentError) as caught:
        small(arms="grid = [1, 3]", truth=truth)
    for phrase in ("experiment.toml, line ", *phrases):
        assert phrase in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("prior", "phrases"),
    [
        ('variance = 1.0\nkind = "drifting"', ["'scale' is missing", "scale = 200.0"]),
        ('variance = 1.0\nkind = "drifting"\nscale = 0.0', ["scale must be above 0"]),
        ('variance = 1.0\nkind = "drifting"\nscal = 9.0', ["there is no key 'scal'", "Did you mean 'scale'?"]),
        ('variance = inf\nkind = "drifting"\nscale = 9.0', ["prior must have finite variances"]),
        ('kind = "drifting"\nscale = 9.0', ["one of kernel, covariance, variance"]),
        ('variance = 1.0\nkind = "windowed"', ["'window' is missing", "window = 300"]),
        ('variance = 1.0\nkind = "windowed"\nwindow = 0', ["window must be at least 1"]),
        ('variance = 1.0\nkind = "discounted"\nfactor = 2.0', ["factor must be above 0 and at most 1"]),
        ('variance = 1.0\nkind = "driftin"\nscale = 9.0', ["kind must be one of vague, drifting", "'drifting'?"]),
    ],
)
def test_priors_on_means_that_change_are_refused_with_their_line(small, prior, phrases):
    with pytest.raises(ExperimentError) as caught:
        small(prior=prior)
    for phrase in ("experiment.toml, line ", *phrases):
        assert phrase in str(caught.value), caught.value
