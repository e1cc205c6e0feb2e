"""Gymnasium and Optuna themselves drive the adapters; what they get is compared with what the package does alone."""

import copy
import functools
import itertools
import json
import math
import operator
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import optuna
import pytest
from gymnasium.utils.env_checker import check_env
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState
from scipy.stats import norm

import corrbandits as cb
from corrbandits.adapters import BanditEnv, CorrelatedUCLSampler

SURFACE = cb.landscapes.two_peaks()
LINE = np.arange(8.0)
SMOOTH = 20 * cb.SquaredExponential(2.0)
TRUTH = np.array([3.0, 5.0, 4.0, 9.0, 12.0, 7.0, 1.0, 2.0])


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(before)


# the package


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)


def test_neither_library_loads_before_its_name_is_asked_for():
    done = run(
        "import sys, json, corrbandits, corrbandits.adapters as adapters\n"
        "print(json.dumps([[name in sys.modules for name in ('gymnasium', 'optuna')], dir(adapters)]))"
    )
    assert json.loads(done.stdout) == [[False, False], ["BanditEnv", "CorrelatedUCLSampler"]]


@pytest.mark.parametrize(
    ("missing", "name", "other"),
    [("gymnasium", "BanditEnv", "CorrelatedUCLSampler"), ("optuna", "CorrelatedUCLSampler", "BanditEnv")],
)
def test_a_missing_library_is_named_with_its_remedy_and_the_other_adapter_works(missing, name, other):
    hide = f"import sys; sys.modules[{missing!r}] = None\n"
    done = run(hide + f"from corrbandits.adapters import {other}; print({other}.__name__)")
    assert done.stdout.strip() == other, done.stderr
    done = run(hide + f"from corrbandits.adapters import {name}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {name} needs {missing}")
    assert f"pip install 'corrbandits[{missing}]'" in last


def test_no_other_name_is_offered():
    with pytest.raises(AttributeError, match="has no attribute 'Sampler'"):
        _ = cb.adapters.Sampler


# Gymnasium


def made(environment, horizon):
    """Return what Gymnasium's `make` makes, so that it has a specification: the checker wants one."""
    spec = gymnasium.envs.registration.EnvSpec(
        "Bandit-v0", entry_point=BanditEnv, kwargs={"environment": environment, "horizon": horizon}
    )
    return gymnasium.make(spec)


@pytest.mark.parametrize("environment", [SURFACE, cb.BernoulliBandit(means=[0.2, 0.7])])
def test_gymnasium_has_nothing_to_say_against_it(environment):
    known = set(gymnasium.registry)
    check_env(made(environment, 20).unwrapped)  # warnings are errors here
    assert set(gymnasium.registry) == known


@pytest.mark.parametrize("environment", [SURFACE, cb.BernoulliBandit(means=SURFACE.means / 100)])
def test_episode_k_is_run_k_of_a_simulation(environment):
    """The engine of `simulate` is the witness of arms, rewards and regret."""
    policy, horizon = cb.UCL(a=1.5), 60
    prior = cb.Independent(mean=environment.means.mean(), variance=9.0, noise_variance=2.0, arms=environment.arms)
    trace = cb.simulate({"UCL": (policy, prior)}, environment, horizon=horizon, runs=3, seed=7, engine="reference")
    env = BanditEnv(environment, horizon=horizon)
    for episode in range(3):
        assert env.reset(seed=7 if episode == 0 else None) == (0, {})
        belief, arms, rewards, regrets, ended = prior, [], [], [], False
        while not ended:
            arms.append(policy.choose(belief, len(arms) + 1))
            observation, reward, terminated, ended, info = env.step(arms[-1])
            belief = belief.observe(arms[-1], reward)
            rewards.append(reward)
            regrets.append(info["regret"])
            assert (observation, terminated, info["optimal"]) == (0, False, arms[-1] == environment.means.argmax())
        of_run = trace.data.sel(policy="UCL", run=episode)
        assert arms == of_run.arms.values.tolist()
        assert rewards == of_run.rewards.values.tolist()
        assert np.cumsum(regrets) == pytest.approx(trace.regret.sel(policy="UCL", run=episode).values)


def test_noise_does_not_depend_on_the_arms_before():
    bandit = cb.GaussianBandit(means=[0.0, 100.0, 5.0], noise_variance=[1.0, 4.0, 9.0])
    env = BanditEnv(bandit, horizon=4)

    def noise(arms):
        env.reset(seed=3)
        return [(env.step(arm)[1] - bandit.means[arm]) / math.sqrt(bandit.noise_variance[arm]) for arm in arms]

    assert noise([0, 1, 2, 0]) == pytest.approx(noise([2, 2, 1, 1]), abs=1e-12)
    assert noise([0, 0, 0, 0]) != pytest.approx(noise([0, 0, 0, 0])[::-1])


def test_without_a_seed_episodes_differ_and_a_generator_may_be_set():
    env = BanditEnv(SURFACE, horizon=2)
    env.reset()
    first = env.step(0)[1]
    env.reset()
    assert env.step(0)[1] != first
    env.np_random = np.random.default_rng(5)
    env.reset()
    expected = SURFACE.means[0] + math.sqrt(10.0) * np.random.default_rng(5).standard_normal()
    assert env.step(0)[1] == pytest.approx(expected)


def test_it_goes_into_vectors():
    envs = gymnasium.vector.SyncVectorEnv([lambda: BanditEnv(SURFACE, horizon=3)] * 2)
    envs.reset(seed=11)
    seen = [envs.step(np.array([4, 4]))[1] for _ in range(3)]
    alone = BanditEnv(SURFACE, horizon=3)
    for place, seed in enumerate((11, 12)):
        alone.reset(seed=seed)
        assert [rewards[place] for rewards in seen] == [alone.step(np.array(4))[1] for _ in range(3)]


@pytest.mark.parametrize(
    ("action", "message"),
    [(-1, "at least 0, got -1"), (100, "from 0 to 99, got 100"), (1.5, "whole number, got 1.5"), (True, "whole")],
)
def test_a_bad_action_is_refused_and_takes_no_step(action, message):
    env = BanditEnv(SURFACE, horizon=1)
    env.reset(seed=0)
    with pytest.raises((TypeError, ValueError), match=message):
        env.step(action)
    assert env.step(0)[3]


def test_steps_outside_an_episode_and_bad_arguments_are_refused():
    env = BanditEnv(SURFACE, horizon=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match="Call reset"):
        env.step(0)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="after the last"):
        env.step(0)
    with pytest.raises(ValueError, match="without options, got"):
        env.reset(options={"arm": 3})
    with pytest.raises(ValueError, match="horizon must be at least 1"):
        BanditEnv(SURFACE, horizon=0)
    with pytest.raises(TypeError, match="must be an Environment"):
        BanditEnv([1.0, 2.0], horizon=5)


# Optuna


def line_sampler(**options):
    return CorrelatedUCLSampler.from_kernel({"x": range(8)}, SMOOTH, mean=5.0, noise_variance=2.0, **options)


def line_prior(sign=1.0):
    return cb.Correlated(mean=sign * 5.0, kernel=SMOOTH, coordinates=LINE, noise_variance=2.0)


def study_of(sampler, direction="maximize", **options):
    return optuna.create_study(direction=direction, sampler=sampler, **options)


def ask(study, space):
    return study.ask({name: CategoricalDistribution(list(values)) for name, values in space.items()})


def noisy(number):
    return float(np.random.default_rng(number).standard_normal())


def chosen(study, name="x"):
    return [trial.params[name] for trial in study.trials]


def told(x, value, state=TrialState.COMPLETE):
    kind = {"x": IntDistribution(0, 7)}
    return optuna.create_trial(params={"x": x}, distributions=kind, value=value, state=state)


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


STORAGES = {
    "sqlite": "storage = f'sqlite:///{path}'",
    "journal": "storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))",
}
SAMPLER = """
import optuna, corrbandits as cb, sys
from corrbandits.adapters import CorrelatedUCLSampler
optuna.logging.set_verbosity(optuna.logging.WARNING)
prior = cb.Correlated(mean=0.5, kernel=cb.Exponential(0.4), coordinates=[k / 10 for k in range(11)], noise_variance=0.2)
space = {"x": optuna.distributions.FloatDistribution(0.0, 1.0, step=0.1)}
sampler = CorrelatedUCLSampler(space, prior, policy=cb.Thompson(), seed=9)
def objective(trial):
    return (trial.suggest_float("x", 0.0, 1.0, step=0.1) - 0.3) ** 2
"""


@pytest.mark.parametrize("kind", STORAGES)
def test_a_reopened_study_goes_on_as_one_that_never_stopped(kind, tmp_path):
    """Two processes, one after the other; the first leaves a trial open. In memory, the same in one go."""
    opened = f"{SAMPLER}path = {str(tmp_path / 'study')!r}; {STORAGES[kind]}\n"
    first = run(
        opened + "study = optuna.create_study(storage=storage, study_name='s', sampler=sampler)\n"
        "study.optimize(objective, n_trials=6)\nobjective(study.ask())"
    )
    assert first.returncode == 0, first.stderr
    second = run(
        opened + "study = optuna.load_study(storage=storage, study_name='s', sampler=sampler)\n"
        "study.optimize(objective, n_trials=6)\nprint([trial.params['x'] for trial in study.trials])"
    )
    assert second.returncode == 0, second.stderr
    names = {}
    exec(SAMPLER, names)
    study = optuna.create_study(sampler=names["sampler"])
    study.optimize(names["objective"], n_trials=6)
    names["objective"](study.ask())
    study.optimize(names["objective"], n_trials=6)
    assert json.loads(second.stdout) == chosen(study)
    assert len(set(chosen(study))) > 4


def test_a_copy_goes_on_alike():
    studies = [study_of(sampler(line_sampler(policy=cb.Thompson()))) for sampler in (copy.deepcopy, _pickled)]
    for study in studies:
        study.optimize(lambda trial: TRUTH[trial.suggest_int("x", 0, 7)], n_trials=10)
        study.sampler = _pickled(study.sampler)
        study.optimize(lambda trial: TRUTH[trial.suggest_int("x", 0, 7)], n_trials=10)
    assert chosen(studies[0]) == chosen(studies[1])


def _pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def test_distributions_are_search_spaces():
    space = {
        "f": FloatDistribution(0.1, 0.5, step=0.1),
        "i": IntDistribution(-4, 5, step=3),
        "c": CategoricalDistribution([True, None]),
    }
    study = study_of(CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=40)))
    points = [tuple(study.ask(space).params.values()) for _ in range(40)]
    assert points == list(itertools.product([0.1, 0.2, 0.3, 0.4, 0.5], [-4, -1, 2, 5], [True, None]))


def test_a_step_that_was_rounded_is_the_same_arm():
    space = {"x": FloatDistribution(0.0, 0.5, step=0.1)}
    study = study_of(CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=6)))
    for value in (0.0, 0.1, 0.1 + 0.2):  # 0.30000000000000004
        study.enqueue_trial({"x": value})
        study.tell(study.ask(space), 1.0)
    assert [study.ask(space).params["x"] for _ in range(3)] == [0.2, 0.4, 0.5]


def test_a_value_has_the_type_of_its_suggestion():
    space = {"a": np.arange(2), "b": [2.0, 4.0], "c": np.linspace(0, 1, 2)}
    study = study_of(CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=8)))
    trial = study.ask()
    values = [trial.suggest_float("a", 0, 1), trial.suggest_int("b", 2, 4), trial.suggest_categorical("c", [0.0, 1.0])]
    assert [type(value) for value in values] == [float, int, float]


def test_another_sampler_chooses_what_is_not_in_the_search_space():
    class Fixed(optuna.samplers.RandomSampler):
        heard = ()

        def sample_independent(self, study, trial, param_name, param_distribution):
            return {"rate": 0.25}[param_name]

        def before_trial(self, study, trial):
            self.heard += ("before",)

        def after_trial(self, study, trial, state, values):
            self.heard += ("after",)

        def reseed_rng(self):
            self.heard += ("reseed",)

    plain, both = study_of(line_sampler()), study_of(line_sampler(independent_sampler=Fixed()))
    plain.optimize(lambda trial: TRUTH[trial.suggest_int("x", 0, 7)], n_trials=12)
    both.optimize(lambda t: t.suggest_float("rate", 0, 1) + TRUTH[t.suggest_int("x", 0, 7)] - 0.25, n_trials=12)
    assert chosen(plain) == chosen(both)
    assert set(chosen(both, "rate")) == {0.25}
    both.sampler.reseed_rng()
    assert both.sampler._others.heard == ("before", "after") * 12 + ("reseed",)


def test_what_is_not_in_the_search_space_is_refused_without_another_sampler():
    with pytest.raises(ValueError, match=r"'z' is none of the search space's, \['x'\].*independent_sampler="):
        study_of(line_sampler()).ask().suggest_float("z", 0, 1)


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=line_sampler())
    with pytest.raises(ValueError, match=r"one objective, but the study has 2.*weighted sum"):
        study.ask().suggest_int("x", 0, 7)


@pytest.mark.parametrize(
    "suggest",
    [
        lambda trial: trial.suggest_categorical("x", [*range(8), 8]),
        lambda trial: trial.suggest_categorical("x", list(range(7))),
        lambda trial: trial.suggest_int("x", 0, 6),
        lambda trial: trial.suggest_int("x", 0, 8, step=2),
        lambda trial: trial.suggest_float("x", 0.5, 9.0),
    ],
)
def test_other_values_than_were_declared_are_refused(suggest):
    with pytest.raises(ValueError, match=r"'x' was declared with the values \[0, 1, .*but it is suggested among"):
        suggest(study_of(line_sampler()).ask())


def test_text_is_no_number():
    study = study_of(CorrelatedUCLSampler({"x": ["1", "2"]}, cb.Independent(noise_variance=1.0, arms=2)))
    with pytest.raises(ValueError, match="'x' was declared with the values"):
        study.ask().suggest_float("x", 0, 2)
    with pytest.raises(ValueError, match="'x' was declared with the values"):
        study.ask().suggest_categorical("x", [1, 2])


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "search_space must be a dictionary"),
        (["x"], "search_space must be a dictionary"),
        ({"x": "ab"}, "the values of 'x' must be a list"),
        ({"x": 3}, "the values of 'x' must be a list"),
        ({"x": []}, "'x' needs at least one value"),
        ({"x": [1, 1.0]}, "must differ from each other"),
        ({"x": [0.3, 0.1 + 0.2]}, "must differ from each other"),
        ({"x": [1, math.nan]}, "must be text, a number, a bool or None, got nan"),
        ({"x": [(1, 2)]}, r"must be text, a number, a bool or None, got \(1, 2\)"),
        ({"x": FloatDistribution(0, 1)}, "finitely many values, got FloatDistribution.*Give it a step"),
        ({3: [1, 2]}, "a parameter's name must be text, got 3"),
        ({"x": [1, 2, 3]}, "the prior has 2 arms, but the search space has 3 points"),
    ],
)
def test_a_bad_search_space_is_refused(space, message):
    with pytest.raises((TypeError, ValueError), match=message):
        CorrelatedUCLSampler(space, cb.Independent(noise_variance=1.0, arms=2))


def test_bad_arguments_are_refused():
    space, prior = {"x": [1, 2]}, cb.Independent(noise_variance=1.0, arms=2)
    with pytest.raises(TypeError, match="prior must be a belief"):
        CorrelatedUCLSampler(space, [1.0, 2.0])
    with pytest.raises(TypeError, match="policy must be a policy"):
        CorrelatedUCLSampler(space, prior, policy="UCL")
    with pytest.raises(TypeError, match="seed must be a whole number"):
        CorrelatedUCLSampler(space, prior, seed=None)
    with pytest.raises(TypeError, match="CorrelatedUCL needs a Gaussian belief, got a Beta"):
        CorrelatedUCLSampler(space, cb.Beta(arms=2))
    with pytest.raises(TypeError, match=r"the values of 'y' are .*Give a prior over the arms instead"):
        CorrelatedUCLSampler.from_kernel({"x": [1, 2], "y": [1, "b"]}, SMOOTH, noise_variance=1.0)


def test_a_reward_that_the_prior_cannot_take_is_refused():
    study = study_of(CorrelatedUCLSampler({"x": [0, 1]}, cb.Beta(arms=2), policy=cb.UCL()))
    study.add_trials([told(0, 0.5), told(0, 0.5)])  # their sum is a whole number
    with pytest.raises(ValueError, match=r"rewards 0 or 1, got 0\.5"):
        study.ask().suggest_int("x", 0, 1)


def test_it_finds_the_peak_where_a_random_search_does_not():
    """100 noisy trials of 100 sites; the margin is several times what seeds make of it."""
    space = {"row": range(10), "column": range(10)}

    def played(sampler, seed):
        noise = SURFACE.noise(np.random.default_rng(seed), 100)
        study = study_of(sampler)

        def arm(trial):
            return 10 * trial.suggest_int("row", 0, 9) + trial.suggest_int("column", 0, 9)

        study.optimize(lambda trial: SURFACE.reward(arm(trial), noise[trial.number]), n_trials=100)
        return np.array([10 * trial.params["row"] + trial.params["column"] for trial in study.trials])

    for seed in range(5):
        ours = played(
            CorrelatedUCLSampler.from_kernel(
                space, 100 * cb.SquaredExponential(2.0), mean=30.0, noise_variance=SURFACE.noise_variance
            ),
            seed,
        )
        random = played(optuna.samplers.RandomSampler(seed=seed), seed)
        assert np.bincount(ours).argmax() == SURFACE.means.argmax()
        assert SURFACE.means[ours].mean() > SURFACE.means[random].mean() + 10
