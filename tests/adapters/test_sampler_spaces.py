"""The Optuna sampler: storages, copies, search spaces, and what it refuses."""

import copy
import itertools
import json
import math
import pickle

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import corrbandits as cb
from corrbandits.adapters import CorrelatedUCLSampler
from tests.support.samplers import SMOOTH, SURFACE, TRUTH, chosen, line_sampler, run, study_of, told

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
        CorrelatedUCLSampler(space, cb.Beta(arms=2), policy=cb.CorrelatedUCL())
    for wrong in (0, 2.5):
        with pytest.raises((TypeError, ValueError), match="n_trials must be"):
            CorrelatedUCLSampler(space, n_trials=wrong)
    with pytest.raises(TypeError, match=r"the values of 'y' are .*Give a prior over the arms instead"):
        CorrelatedUCLSampler.from_kernel({"x": [1, 2], "y": [1, "b"]}, SMOOTH, noise_variance=1.0)


def test_a_reward_that_the_prior_cannot_take_is_refused():
    study = study_of(CorrelatedUCLSampler({"x": [0, 1]}, cb.Beta(arms=2), policy=cb.UCL()))
    study.add_trials([told(0, 0.5), told(0, 0.5)])  # their sum is a whole number
    with pytest.raises(ValueError, match=r"a reward must be 0 or 1, got 0\.5"):
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
