"""What a file says is what one builds by hand."""

import subprocess
import sys

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.kernels import KERNELS
from corrbandits.policies import RULES
from tests.support.experiment_files import EXAMPLE, SITES


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
        ('rule = "Gittins"', cb.Gittins(horizon=50)),
        ('rule = "Gittins"\nhorizon = 70', cb.Gittins(horizon=70)),
        ('rule = "HorizonUCL"', cb.HorizonUCL(horizon=50)),
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


@pytest.mark.parametrize(
    ("arms", "prior", "expected"),
    [
        ('csv = "sites.csv"', "", {"coordinates": WHERE}),
        (
            'csv = "sites.csv"',
            "mean = 4\nsd = [0.5, 5]\nlength = [1, 2]\nnoise_sd = 1.5\nsite = 0.2\nkernel = 'matern32'\nparts = 8\n"
            "relative_noise = [1, 2, 3]\ndistance = 'cityblock'",
            {
                "coordinates": WHERE,
                "mean": 4.0,
                "sd": (0.5, 5.0),
                "length": (1.0, 2.0),
                "noise_sd": 1.5,
                "site": 0.2,
                "kernel": "matern32",
                "parts": 8,
                "relative_noise": [1, 2, 3],
                "distance": "cityblock",
            },
        ),
        ('csv = "globe.csv"', "", {"coordinates": [[50, 7], [51, 8], [52, 9]], "distance": "great_circle"}),
        ("count = 3", "", {"arms": 3}),
        ("count = 3", "drift = true", {"arms": 3, "drift": True}),
        ("count = 3", "drift = false", {"arms": 3}),
        ("count = 3", "drift = [5, 5000]", {"arms": 3, "drift": (5.0, 5000.0)}),
        ('csv = "sites.csv"', "per_coordinate = true", {"coordinates": WHERE, "per_coordinate": True}),
    ],
)
def test_a_prior_that_is_told_what_is_known(small, tmp_path, arms, prior, expected):
    (tmp_path / "globe.csv").write_text("latitude,longitude\n50,7\n51,8\n52,9\n")
    belief = belief_of(small(arms=arms, prior=f'kind = "vague"\n{prior}'))
    told, by_hand = belief.prior_arguments(), cb.Vague(**expected).prior_arguments()
    assert type(belief) is cb.Vague
    assert told.keys() == by_hand.keys()
    for name, value in told.items():
        np.testing.assert_array_equal(value, by_hand[name], err_msg=name)


def test_without_a_rule_the_recommended_one_plays(small):
    experiment = small(arms="grid = [1, 3]", prior='kind = "vague"', policy='prior = "p"')
    policy, belief = experiment.policies["mine"]
    assert policy == cb.recommend(belief, 50).policy == cb.Gittins(horizon=50)
    zeros = small(truth='means = [0.2, 0.5, 0.9]\nrewards = "bernoulli"', prior="successes = 1", policy='prior = "p"')
    assert type(zeros.policies["mine"][0]) is cb.BayesUCB


def test_policies_may_share_a_prior(read):
    experiment = read(EXAMPLE.replace('prior = "smooth"', 'prior = "flat"'))
    assert experiment.policies["correlated"][1] is experiment.policies["uninformative"][1]


def test_every_rule_and_kernel_can_be_named():
    assert {rule.__name__ for rule in RULES.values()} == set(RULES)
    assert {kind.__name__.lower() for kind in KERNELS.values()} == {name.replace("_", "") for name in KERNELS}


def test_importing_it_is_light():
    code = "import sys, corrbandits.experiment; print([m for m in ('scipy', 'xarray', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


KERNEL = 'kernel = "exponential", length = 2.0, variance = 9.0'


@pytest.mark.parametrize(
    ("truth", "make", "how"),
    [
        ("drift = {{ {}, scale = 20.0, seed = 7, mean = 4.0 }}", cb.series.drift, {"scale": 20.0, "mean": 4.0}),
        ("drift = {{ {}, scale = inf, seed = 7 }}", cb.series.drift, {"scale": np.inf}),
        ("switches = {{ {}, every = 9, seed = 7 }}", cb.series.switches, {"every": 9}),
        ("switches = {{ {}, at = [5, 30], seed = 7 }}", cb.series.switches, {"at": [5, 30]}),
        ("seasons = {{ {}, period = 12, seed = 7 }}", cb.series.seasons, {"period": 12}),
    ],
)
def test_a_truth_that_changes_for_as_long_as_the_run(small, truth, make, how):
    environment = small(arms="grid = [3, 4]", truth=truth.format(KERNEL) + "\nnoise_variance = 1.0").environment
    given = {"steps": 50, "noise_variance": 1.0, "seed": 7, "shape": (3, 4)}
    by_hand = make(9.0 * cb.Exponential(2.0), cb.landscapes.grid(3, 4), **given, **how)
    same(environment, by_hand)
    assert environment.path.tobytes() == by_hand.path.tobytes()


def test_a_truth_that_was_recorded(small, tmp_path):
    path = np.random.default_rng(0).normal(size=(50, 3)).round(2)
    lines = ["name," + ",".join(f"t{t}" for t in range(50))]
    lines += [f"arm{k}," + ",".join(map(str, path[:, k])) for k in range(3)]
    (tmp_path / "speeds.csv").write_text("\n".join(lines))
    environment = small(truth='recorded = "speeds.csv"\nnoise_variance = 2.0').environment
    assert environment.path.tolist() == path.tolist()


def test_a_record_brings_its_own_arms(read, tmp_path):
    path = np.random.default_rng(0).normal(size=(50, 3)).round(2)
    lines = ["name,x,y," + ",".join(f"t{t}" for t in range(50))]
    lines += [f"arm{k},{k},{2 * k}," + ",".join(map(str, path[:, k])) for k in range(3)]
    (tmp_path / "speeds.csv").write_text("\n".join(lines))
    text = (
        '[truth]\nrecorded = "speeds.csv"\nnoise_variance = 2.0\n[priors.p]\n'
        'kernel = { name = "exponential", length = 2.0, variance = 9.0 }\n'
        '[policies.a]\nrule = "UCL"\nprior = "p"\n[run]\nhorizon = 50\n'
    )
    experiment = read(text)
    assert experiment.environment.path.tolist() == path.tolist()
    assert experiment.environment.coordinates.tolist() == [[0, 0], [1, 2], [2, 4]]
    same(experiment.environment, read(f'[arms]\ncsv = "speeds.csv"\n{text}').environment)
    with pytest.raises(cb.experiment.ExperimentError, match=r"line 2: in \[truth\], .*none.csv"):
        read(text.replace("speeds.csv", "none.csv"))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ('kind = "drifting"\nscale = 20.0', lambda prior: cb.Drifting(prior=prior, scale=20.0)),
        ('kind = "drifting"\nscale = inf', lambda prior: cb.Drifting(prior=prior, scale=np.inf)),
        (
            'kind = "drifting"\nscale = [10, 1000]\nparts = 5',
            lambda prior: cb.Drifting(prior=prior, scale=(10.0, 1000.0), parts=5),
        ),
        ('kind = "windowed"\nwindow = 30', lambda prior: cb.Windowed(prior=prior, window=30)),
        ('kind = "windowed"\nwindow = [2.0, 0.5]', lambda prior: cb.Windowed(prior=prior, window=(2.0, 0.5))),
        ('kind = "discounted"\nfactor = 0.9', lambda prior: cb.Discounted(prior=prior, factor=0.9)),
    ],
)
def test_priors_on_means_that_change(small, change, expected):
    prior = f'mean = 1.0\nkernel = {{ name = "exponential", length = 2.0, variance = 9.0 }}\n{change}'
    experiment = small(arms="grid = [1, 3]", prior=prior)
    within = {"kernel": 9.0 * cb.Exponential(2.0), "coordinates": cb.landscapes.grid(1, 3), "noise_variance": 4.0}
    by_hand, found = expected(cb.Correlated(mean=1.0, **within)), belief_of(experiment)
    same(found, by_hand)
    same(found.prior, by_hand.prior)
    assert found.in_words() == by_hand.in_words()
    trace = cb.simulate(experiment.policies, experiment.environment, experiment.horizon)
    assert trace.counts.sum() == 50
