"""The compiled loops on a belief told nothing that fades with time make the decisions of the reference engine."""

import math

import numpy as np
import pytest

import corrbandits as cb

WHERE = np.random.default_rng(4).uniform(0, 5, (14, 2))  # no two arms are alike, or ties would hang on rounding
BANDIT = cb.series.drift(4 * cb.Exponential(1.5), WHERE, steps=260, scale=25.0, mean=30.0, noise_variance=1.0, seed=1)
RULES = [cb.Gittins(260), cb.Gittins(), cb.HorizonUCL(260), cb.GPUCB(scale=0.2), cb.Greedy()]
TOLD = {
    "nothing": {"drift": True},
    "an interval": {"drift": (5.0, 80.0)},
    "the scale": {"drift": 25.0},
    "that it is quick": {"drift": 0.3, "kernel": "exponential"},
    "that it takes for ever": {"drift": math.inf},
    "the mean": {"drift": True, "mean": 30.0},
    "the noise": {"drift": True, "noise_sd": (0.5, 2.0)},
    "all but the change": {"drift": True, "mean": (28.0, 32.0), "sd": 2.0, "noise_sd": 1.0},
}


def decisions(policy, belief, engine):
    return cb.simulate({"one": (policy, belief)}, BANDIT, BANDIT.horizon, 2, seed=3, engine=engine).arms


@pytest.mark.parametrize("told", TOLD)
def test_gittins_decides_as_the_reference_engine_does(told):
    belief = cb.Vague(coordinates=WHERE, parts=6, **TOLD[told])
    one, other = (decisions(cb.Gittins(260), belief, engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("policy", RULES, ids=repr)
def test_every_rule_does(policy):
    belief = cb.Vague(coordinates=WHERE, parts=6, drift=(3.0, 300.0))
    one, other = (decisions(policy, belief, engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(one, other)


def test_what_never_changes_is_the_belief_without_drift():
    never, still = (cb.Vague(coordinates=WHERE, parts=6, drift=drift) for drift in (math.inf, None))
    one, other = (decisions(cb.Gittins(260), belief, "compiled") for belief in (never, still))
    np.testing.assert_array_equal(one, other)


def test_what_fades_at_once_is_played_for_long():
    """Faded correlations are multiplied out before they underflow: at a scale of 0.3, every seventy decisions."""
    belief = cb.Vague(coordinates=WHERE, parts=4, drift=0.3)
    bandit = cb.ChangingBandit(np.tile(BANDIT.path, (3, 1)), noise_variance=1.0)
    runs = {"one": (cb.HorizonUCL(780), belief)}
    one, other = (cb.simulate(runs, bandit, 780, seed=3, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(one.arms, other.arms)
