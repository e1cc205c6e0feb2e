"""The Optuna sampler: its choices are the policy's."""

import functools
import itertools
import math
import operator

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import TrialState
from scipy.stats import norm

import corrbandits as cb
from corrbandits.adapters import CorrelatedUCLSampler
from corrbandits.adapters.search_space import SearchSpace
from tests.support.samplers import LINE, SMOOTH, TRUTH, ask, chosen, line_prior, line_sampler, noisy, study_of, told

POLICIES = [
    (cb.CorrelatedUCL(), line_prior()),
    (cb.CorrelatedUCL(a=2.0, nu=0.1), line_prior()),
    (cb.UCL(), cb.Independent(noise_variance=1.0, arms=8)),
    (cb.Thompson(), line_prior()),
    (cb.EpsilonGreedy(epsilon=0.5), line_prior()),
    (cb.Uniform(), line_prior()),
    (cb.KnowledgeGradient(horizon=30), line_prior()),
    (cb.GPUCB(), cb.Implicit(mean=5.0, kernel=SMOOTH, coordinates=LINE, noise_variance=2.0)),
]


@pytest.mark.parametrize(("policy", "prior"), POLICIES, ids=lambda thing: type(thing).__name__)
def test_choices_are_those_of_the_policy_played_by_hand(policy, prior):
    """The witness updates its belief one reward at a time; the sampler computes it from all trials at each choice."""
    names = list("abcdefgh")
    study = study_of(CorrelatedUCLSampler({"site": names}, prior, policy=policy, seed=4))
    belief, arms = prior, []
    for number in range(25):
        rng = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(number,)))
        arms.append(policy.choose(belief, number + 1, rng=rng))
        belief = belief.observe(arms[-1], TRUTH[arms[-1]] + noisy(number))
    study.optimize(lambda t: TRUTH[names.index(t.suggest_categorical("site", names))] + noisy(t.number), n_trials=25)
    assert chosen(study, "site") == [names[arm] for arm in arms]
    assert len(set(arms)) > 2


def test_told_nothing_it_plays_as_the_recommended_rule_by_hand():
    """The witness has its own coordinates, and updates its belief one reward at a time."""
    space = {"rate": [0.1, 0.01, 1.0], "drug": ["a", "b"]}
    where = [[x, *((0.5**0.5, 0.0) if drug == "a" else (0.0, 0.5**0.5))] for x in (0.5, 0.0, 1.0) for drug in "ab"]
    truth = {"a": 1.0, "b": 3.0}
    study = study_of(CorrelatedUCLSampler(space, n_trials=25))
    belief, policy = cb.Vague(coordinates=where), cb.Gittins(25)
    points, wanted = list(itertools.product(*space.values())), []
    for number in range(25):
        wanted.append(points[policy.choose(belief, number + 1)])
        belief = belief.observe(points.index(wanted[-1]), truth[wanted[-1][1]] + noisy(number))
        trial = ask(study, space)
        study.tell(trial, truth[trial.params["drug"]] + noisy(number))
    assert [(trial.params["rate"], trial.params["drug"]) for trial in study.trials] == wanted
    assert [drug for _, drug in wanted[-10:]].count("b") >= 8


def test_told_nothing_neither_units_nor_a_logarithmic_scale_matter():
    spaces = [[0, 1, 2, 3, 4, 5, 6, 7], [1e-3 * 10**k for k in range(8)], IntDistribution(1, 8)]
    played = []
    for of in spaces:
        study = study_of(CorrelatedUCLSampler({"x": of}, n_trials=20))
        values = of if isinstance(of, list) else list(range(1, 9))
        for number in range(20):
            trial = study.ask()
            x = trial.suggest_categorical("x", of) if isinstance(of, list) else trial.suggest_int("x", 1, 8)
            study.tell(trial, TRUTH[values.index(x)] + noisy(number))
        played.append([values.index(x) for x in chosen(study)])
    assert played[0] == played[1] == played[2]
    assert TRUTH[played[0][-5:]].min() > 8
    by_log = SearchSpace({"x": IntDistribution(1, 100, log=True)}).places().ravel()
    assert by_log[[0, 9, 99]] == pytest.approx([0.0, 0.5, 1.0])


def test_rewards_0_and_1_are_played_by_the_recommended_rule():
    space, prior = {"x": [1, 2, 3]}, cb.Beta(arms=3)
    study = study_of(CorrelatedUCLSampler(space, prior, n_trials=50))
    assert ask(study, space).params["x"] == 1 + cb.recommend(prior, 50).policy.choose(prior, 1)


def test_the_next_choice_is_the_largest_index_computed_from_the_formulas():
    """Posterior by explicit inverses (eq. inference-corr-simplified), quantile by scipy: nothing of the package."""
    xs, values = [0, 0, 1, 2, 3, 4, 5, 7, 7], np.array([2.4, 6.9, -0.3, 1.9, 5.1, 0.9, 5.1, 4.8, 7.7])
    study = study_of(line_sampler())
    study.add_trials([told(x, value) for x, value in zip(xs, values, strict=True)])
    S0 = 20 * np.exp(-((LINE[:, None] - LINE) ** 2) / (2 * 2.0**2))
    H = np.eye(8)[xs]
    gain = S0 @ H.T @ np.linalg.inv(H @ S0 @ H.T + 2.0 * np.eye(9))
    mean, S = 5.0 + gain @ (values - 5.0), S0 - gain @ H @ S0
    variance = S.diagonal()
    assert (variance < 2.0).all()  # so that the initialisation is over
    spread = np.sqrt((S**2 / np.outer(variance, variance)).sum(axis=1))

    def index(t, factor):
        return mean + np.sqrt(variance) * factor * norm.isf(1 / (math.sqrt(2 * math.pi * math.e) * t))

    best = index(10, spread).argmax()
    assert best not in (mean.argmax(), index(10, 1.0).argmax(), index(1, spread).argmax())  # it takes all of it
    assert study.ask().suggest_int("x", 0, 7) == best


def test_a_grid_is_read_row_by_row_in_the_order_declared():
    space = {"y": [5, 1], "x": ["a", "b", "c"]}  # neither sorted by name nor by value
    study = study_of(CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=6), policy=cb.UCL()))
    trials = [ask(study, space) for _ in range(6)]  # of unknown arms the lowest comes first
    assert [(trial.params["y"], trial.params["x"]) for trial in trials] == list(itertools.product(*space.values()))


def test_the_coordinates_of_a_kernel_are_the_values():
    space = {"x": [0.0, 1.5, 4.0], "y": [10, 20]}
    points = np.array(list(itertools.product(*space.values())))
    kernel = 30 * cb.Exponential(length=(2.0, 9.0))
    by_kernel = study_of(CorrelatedUCLSampler.from_kernel(space, kernel, mean=1.0, noise_variance=3.0))
    prior = cb.Correlated(mean=1.0, kernel=kernel, coordinates=points, noise_variance=3.0)
    by_prior = study_of(CorrelatedUCLSampler(space, prior))

    def objective(trial):
        return trial.suggest_float("x", 0, 5) * trial.suggest_int("y", 0, 30) + noisy(trial.number)

    for study in (by_kernel, by_prior):
        study.optimize(objective, n_trials=15)
    assert [trial.params for trial in by_kernel.trials] == [trial.params for trial in by_prior.trials]
    assert len({tuple(trial.params.values()) for trial in by_kernel.trials}) > 3


@pytest.mark.parametrize(
    ("prior", "negated", "policy"),
    [
        (line_prior(), line_prior(-1.0), cb.CorrelatedUCL()),
        (line_prior(), line_prior(-1.0), cb.Thompson()),
        (
            cb.Independent(mean=TRUTH, variance=4.0, noise_variance=1.0),
            cb.Independent(mean=-TRUTH, variance=4.0, noise_variance=1.0),
            cb.UCL(),
        ),
        (
            cb.Implicit(mean=5.0, kernel=SMOOTH, coordinates=LINE, noise_variance=2.0),
            cb.Implicit(mean=-5.0, kernel=SMOOTH, coordinates=LINE, noise_variance=2.0),
            cb.CorrelatedUCL(),
        ),
        (
            line_prior().observe([1, 4], [6.0, 3.0]).assume([2]),
            line_prior(-1.0).observe([1, 4], [-6.0, -3.0]).assume([2]),
            cb.CorrelatedUCL(),
        ),
        (
            cb.Elimination([line_prior(), line_prior(3.0)]),
            cb.Elimination([line_prior(-1.0), line_prior(-3.0)]),
            cb.UCL(),
        ),
        (None, None, None),
        (
            cb.Vague(coordinates=LINE, mean=(0.0, 10.0)),
            cb.Vague(coordinates=LINE, mean=(-10.0, 0.0)),
            cb.HorizonUCL(30),
        ),
    ],
)
def test_minimising_is_maximising_the_negative(prior, negated, policy):
    def objective(trial, sign):
        return sign * (TRUTH[trial.suggest_int("x", 0, 7)] + noisy(trial.number))

    low = study_of(CorrelatedUCLSampler({"x": range(8)}, prior, policy=policy), "minimize")
    high = study_of(CorrelatedUCLSampler({"x": range(8)}, negated, policy=policy), "maximize")
    low.optimize(lambda trial: objective(trial, 1.0), n_trials=30)
    high.optimize(lambda trial: objective(trial, -1.0), n_trials=30)
    assert chosen(low) == chosen(high)
    assert TRUTH[chosen(low)].mean() < TRUTH.mean() - 1


def test_minimising_failures_is_maximising_successes():
    space, policy = {"x": ["a", "b", "c"]}, cb.BayesUCB(horizon=60, c=0.0)
    works = {"a": 0.2, "b": 0.5, "c": 0.8}
    failures = cb.Beta(successes=[2.0, 1.0, 1.0], failures=[1.0, 1.0, 3.0]).observe([0, 1, 1, 1], [0, 0, 1, 0])
    successes = cb.Beta(successes=[1.0, 1.0, 3.0], failures=[2.0, 1.0, 1.0]).observe([0, 1, 1, 1], [1, 1, 0, 1])
    low = study_of(CorrelatedUCLSampler(space, failures, policy=policy), "minimize")
    high = study_of(CorrelatedUCLSampler(space, successes, policy=policy))

    def success(trial):
        return float(np.random.default_rng(trial.number).random() < works[trial.suggest_categorical("x", space["x"])])

    low.optimize(lambda trial: 1 - success(trial), n_trials=60)
    high.optimize(success, n_trials=60)
    assert chosen(low) == chosen(high)
    assert chosen(low).count("c") > 30


def test_the_order_of_trials_cannot_matter():
    """Added up in floating point, the rewards of arm 0 would sum to 0 or 2 in some orders, which is below arm 1's."""
    values = [(0, 1e16), (0, 1.0), (0, -1e16), (0, 1.0), (1, 1.5), (1, 0.0), (1, 0.0), (1, 0.0)]
    prior = cb.Independent(mean=0.0, variance=[math.inf, math.inf, 0.0], noise_variance=1.0)
    naive, choices = set(), set()
    for order in itertools.islice(itertools.permutations(values), 0, None, 1999):
        naive.add(functools.reduce(operator.add, (value for x, value in order if x == 0)))
        study = study_of(CorrelatedUCLSampler({"x": range(3)}, prior, policy=cb.Greedy()))
        study.add_trials([told(x, value) for x, value in order])
        choices.add(study.ask().suggest_int("x", 0, 7))
    assert min(naive) < 1.5 <= max(naive)  # so it would matter
    assert choices == {0}


def test_running_trials_are_awaited():
    """Seven trials open at once, as the policy chooses while their rewards are awaited."""
    policy, study, space = cb.CorrelatedUCL(nu=0.2), study_of(line_sampler(policy=cb.CorrelatedUCL(nu=0.2))), range(8)
    study.add_trials([told(3, 11.0), told(6, 1.0)])
    belief, arms = line_prior().observe([3, 6], [11.0, 1.0]), []
    for k in range(7):
        arms.append(policy.choose(belief.assume(arms), 3 + k))
    trials = [study.ask() for _ in range(7)]  # all are running before any has a parameter
    assert [trial.suggest_categorical("x", list(space)) for trial in trials] == arms
    assert len(set(arms)) > 1
    study.tell(trials[2], 9.5)
    study.tell(trials[0], 3.5)
    expected = belief.observe([arms[2], arms[0]], [9.5, 3.5]).assume([arms[k] for k in (1, 3, 4, 5, 6)])
    assert ask(study, {"x": space}).params["x"] == policy.choose(expected, 10)


def test_a_choice_is_seen_before_all_its_parameters_are_suggested():
    space = {"x": [1, 2], "y": [1, 2]}
    study = study_of(CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=4), policy=cb.UCL()))
    first, second = study.ask(), study.ask()
    assert first.suggest_int("x", 1, 2) == 1
    assert (second.suggest_int("x", 1, 2), second.suggest_int("y", 1, 2)) == (1, 2)
    assert first.suggest_int("y", 1, 2) == 1


def test_a_random_point_is_chosen_once_not_parameter_by_parameter():
    """If each parameter took the trial's one random number anew, all points would lie on a diagonal."""
    space = {"x": range(4), "y": range(4)}
    prior = cb.Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=16)
    study = study_of(CorrelatedUCLSampler(space, prior, policy=cb.Uniform(), seed=1))
    study.optimize(lambda trial: trial.suggest_int("x", 0, 3) + trial.suggest_int("y", 0, 3), n_trials=200)
    assert len({(trial.params["x"], trial.params["y"]) for trial in study.trials}) == 16


def test_threads_share_the_work_without_repeating_it():
    names = [f"site {k}" for k in range(40)]
    study = study_of(CorrelatedUCLSampler({"site": names}, cb.Independent(noise_variance=1.0, arms=40)))
    study.optimize(lambda trial: float(len(trial.suggest_categorical("site", names))), n_trials=40, n_jobs=2)
    assert sorted(chosen(study, "site")) == sorted(names)


@pytest.mark.parametrize("state", [TrialState.FAIL, TrialState.PRUNED])
def test_trials_without_a_value_are_ignored(state):
    with_others, without = study_of(line_sampler()), study_of(line_sampler())
    for study in (with_others, without):
        study.add_trials([told(0, 3.0), told(4, 12.0)])
    next_one = ask(without, {"x": range(8)}).params["x"]
    with_others.add_trials([told(next_one, None, state) for _ in range(3)])
    assert ask(with_others, {"x": range(8)}).params["x"] == next_one


def test_trials_that_wait_are_not_yet_awaited():
    study = study_of(CorrelatedUCLSampler({"x": range(8)}, cb.Independent(noise_variance=1.0, arms=8)))
    trial = study.ask()
    study.enqueue_trial({"x": 0})
    assert trial.suggest_int("x", 0, 7) == 0


def test_an_enqueued_trial_counts_like_any_other():
    study = study_of(CorrelatedUCLSampler({"x": range(8)}, cb.Independent(noise_variance=1.0, arms=8)))
    study.enqueue_trial({"x": 0})
    first, second = study.ask(), study.ask()  # the first has not suggested yet, but it will be 0
    assert second.suggest_int("x", 0, 7) == 1
    assert first.suggest_int("x", 0, 7) == 0
    study.tell(first, 4.0)
    assert study.ask().suggest_int("x", 0, 7) == 2


def test_an_enqueued_part_is_completed_with_the_best_of_the_rest():
    space = {"x": [0, 1], "y": [0, 1, 2]}
    prior = cb.Independent(mean=[9.0, 0.0, 0.0, 1.0, 0.0, 3.0], variance=1.0, noise_variance=1.0)
    study = study_of(CorrelatedUCLSampler(space, prior))
    study.enqueue_trial({"x": 1})
    assert ask(study, space).params == {"x": 1, "y": 2}
    assert ask(study, space).params == {"x": 0, "y": 0}


def test_what_cannot_be_learnt_from_is_ignored_with_a_warning():
    plain, study = study_of(line_sampler()), study_of(line_sampler())
    for each in (plain, study):
        each.add_trials([told(0, 3.0), told(4, 12.0)])
    expected = ask(plain, {"x": range(8)}).params["x"]
    study.add_trial(told(expected, math.inf))
    with pytest.warns(UserWarning, match="ignores trial 2: its value is inf; tell a finite one"):
        assert ask(study, {"x": range(8)}).params["x"] == expected

    study = study_of(line_sampler())
    study.enqueue_trial({"x": 0.5})
    study.tell(study.ask({"x": FloatDistribution(0, 7)}), 99.0)
    with pytest.warns(UserWarning, match=r"ignores trial 0: its parameters \{'x': 0.5\} are no point"):
        assert study.ask().suggest_float("x", 0, 7) == 0.0


def test_a_value_that_is_no_number_fails_the_trial_and_is_tried_again():
    study = study_of(line_sampler())
    study.optimize(lambda trial: math.nan * trial.suggest_int("x", 0, 7), n_trials=2)
    assert [trial.state for trial in study.trials] == [TrialState.FAIL] * 2
    assert chosen(study) == [0, 0]


def test_brackets_of_a_pruner_hide_no_trial():
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9, reduction_factor=3)
    plain, bracketed = study_of(line_sampler()), study_of(line_sampler(), pruner=pruner)

    def objective(trial):
        value = TRUTH[trial.suggest_int("x", 0, 7)] + noisy(trial.number)
        trial.report(value, step=1)
        trial.should_prune()  # this is what makes the brackets
        return value

    for study in (plain, bracketed):
        study.optimize(objective, n_trials=20)
    assert chosen(plain) == chosen(bracketed)
