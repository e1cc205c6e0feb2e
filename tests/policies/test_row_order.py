"""Permuting the rows permutes the choices: of nearly equal arms the same one is taken, wherever it stands."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies.base import best, first_of_equals

GRID = np.array([(x, y) for x in range(5) for y in range(5)], dtype=float)
HILL = 10.0 - np.square(GRID - 2.0).sum(axis=1)  # as symmetric as the grid
RULES = [cb.Gittins(30), cb.HorizonUCL(30), cb.Gittins()]


def vague(places):
    return cb.Vague(coordinates=places, parts=12)


def correlated(places):
    return cb.Correlated(mean=5.0, kernel=9 * cb.Exponential(2.0), coordinates=places, noise_variance=0.5)


def implicit(places):
    return cb.Implicit(mean=5.0, kernel=9 * cb.Exponential(2.0), coordinates=places, noise_variance=0.5)


def played(rule, prior, order, engine, noise_variance):
    """Return the places taken in a run whose arms stand in this order."""
    means = HILL[order]
    environment = cb.GaussianBandit(means=means, noise_variance=noise_variance, coordinates=GRID[order])
    trace = cb.simulate({"rule": (rule, prior(GRID[order]))}, environment, horizon=30, seed=4, engine=engine)
    return GRID[order][trace.arms.values.ravel()].tolist()


@pytest.mark.parametrize("noise_variance", [1e-40, 2.0], ids=["symmetric", "noisy"])
@pytest.mark.parametrize("prior", [vague, correlated])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_same_places_on_the_same_noise_in_both_engines(rule, prior, noise_variance):
    """Without noise rewards are as symmetric as the grid, so that nearly every choice is among equals."""
    rng = np.random.default_rng(7)
    first = played(rule, prior, np.arange(25), "reference", noise_variance)
    for k in range(4):
        order = rng.permutation(25)
        assert played(rule, prior, order, "compiled", noise_variance) == first
        if k < 2:
            assert played(rule, prior, order, "reference", noise_variance) == first


@pytest.mark.parametrize("prior", [vague, correlated, implicit])
def test_several_asked_at_once(prior):
    """What is awaited shrinks variances alone, so that the arms asked for are equals to the last."""
    rng, taken = np.random.default_rng(3), []
    for order in (np.arange(25), rng.permutation(25), rng.permutation(25)):
        seen, asked = [0, 4, 12, 20, 24], []  # the corners and the middle
        belief = prior(GRID[order]).observe(np.argsort(order)[seen], HILL[seen])
        for t in range(1, 9):
            left = np.setdiff1d(np.arange(25), asked)
            asked.append(cb.Gittins(100).choose(belief.assume(asked) if asked else belief, t, allowed=left))
        taken.append(GRID[order][asked].tolist())
    assert taken[0] == taken[1] == taken[2]


def test_equals_go_to_what_is_least_known_then_by_coordinates_then_as_they_are_given():
    places = [[1.0, 1.0], [1.0, 0.0], [0.0, 5.0], [0.0, 5.0], [9.0, 9.0]]
    belief = cb.Correlated(covariance=np.diag([1.0, 1.0, 1.0, 1.0, 2.0]), noise_variance=1.0)
    located = cb.Correlated(kernel=cb.Exponential(1.0), coordinates=places, noise_variance=1.0)
    index = np.array([5.0, 5.0, 5.0, 5.0, 5.0 - 1e-12])
    assert first_of_equals(index, belief) == 4  # its variance is the largest
    assert first_of_equals(index, located) == 2
    assert first_of_equals(index, located, np.array([3, 2, 0])) == 3
    assert first_of_equals(index, located, np.array([0, 1])) == 1
    assert first_of_equals(index - np.array([0, 0, 1e-6, 1e-6, 9.0]), located) == 1  # no near-tie
    assert first_of_equals(1e12 + np.array([0.0, 1e-4, 0.0, 0.0, -1.0]), located) == 2  # the last place of a double


def test_the_papers_rules_take_the_lowest_arm_as_before():
    belief = cb.Correlated(kernel=cb.Exponential(1e-3), coordinates=[3.0, 2.0, 1.0], noise_variance=1.0)
    for rule in (cb.UCL(), cb.CorrelatedUCL(), cb.Greedy(), cb.GPUCB(), cb.KnowledgeGradient(10)):
        assert rule.choose(belief, 1, allowed=[2, 1, 0]) == rule.choose(belief, 1) == 0
    assert cb.Gittins(10).choose(belief, 1) == cb.HorizonUCL(10).choose(belief, 1) == 2
    assert best(np.array([1.0, 1.0])) == 0


def test_arms_that_lie_nowhere_are_taken_by_name_in_a_study(tmp_path):
    names = [f"plot {k}" for k in range(6)]
    for prior in ({"arms": 6}, {"coordinates": [[0.0, 0.0]] * 6}):
        asked = []
        for order in ([0, 1, 2, 3, 4, 5], [4, 2, 5, 0, 3, 1]):
            arms = [names[k] for k in order]
            name, belief = f"{order} {sorted(prior)}", cb.Vague(**prior)
            url = f"sqlite:///{tmp_path}/studies.db"
            with cb.Study.create(url, name, arms=arms, prior=belief, policy=cb.Gittins(20)) as study:
                said = []
                for t in range(12):
                    trial = study.ask()
                    said.append(trial.name)
                    study.tell(trial, float(t % 3))
                said += [trial.name for trial in study.ask(n=4)]
            asked.append(said)
        assert asked[0] == asked[1]


def test_a_study_asks_for_the_same_places_whatever_the_order_of_rows(tmp_path):
    asked = []
    for order in (np.arange(25), np.random.default_rng(5).permutation(25)):
        columns = {"name": [f"{x:g}-{y:g}" for x, y in GRID[order]], "x": GRID[order, 0], "y": GRID[order, 1]}
        url, prior = f"sqlite:///{tmp_path}/{order[0]}.db", vague(GRID[order])
        with cb.Study.create(url, "field", arms=columns, prior=prior, policy=cb.Gittins(25)) as study:
            said = []
            for _ in range(15):
                trial = study.ask()
                said.append(trial.name)
                study.tell(trial, float(HILL[order][trial.arm]))
            said += [trial.name for trial in study.ask(n=5)]
            assert study.explain(20).replayed == study.trials[-1].arm
        asked.append(said)
    assert asked[0] == asked[1]
