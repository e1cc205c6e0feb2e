"""Beliefs on means that change with time: a study tells them when each reward was asked for."""

import json

import pytest

import corrbandits as cb
from corrbandits.study.arms import Arms
from corrbandits.study.choosing import deciding_belief, moment, told_belief
from corrbandits.study.events import written
from corrbandits.study.ledger import Ledger
from corrbandits.study.recipe import Recipe
from corrbandits.study.settings import Settings
from tests.support.changing import Drifting, drifted

PRIOR = cb.Independent(mean=0.0, variance=4.0, noise_variance=1.0, arms=3)
EVENTS = [
    {"event": "asked", "trial": 1, "arm": 0},
    {"event": "asked", "trial": 2, "arm": 1},
    {"event": "told", "trial": 2, "reward": 5.0},
    {"event": "observed", "trial": 3, "arm": 0, "reward": -1.0},
    {"event": "asked", "trial": 4, "arm": 2},
    {"event": "cancelled", "trial": 4},
    {"event": "told", "trial": 1, "reward": 2.0},
    {"event": "asked", "trial": 5, "arm": 2},
    {"event": "asked", "trial": 6, "arm": 1},
    {"event": "told", "trial": 6, "reward": 7.0},
    {"event": "retracted", "trial": 3},
]
STEPS = [(1, 0, 2.0), (2, 1, 5.0), (6, 1, 7.0)]  # trial, arm and reward of what counts; the next trial is the seventh


def ledger_of(prior, goal="max"):
    created = Settings(Recipe.of(PRIOR), cb.UCL(), Arms.of(None, 3), goal=goal).event() | {"at": 0.0}
    ledger = Ledger(written(created))
    ledger.apply(json.dumps(event | {"at": float(k)}) for k, event in enumerate(EVENTS))
    ledger.recipe = Recipe.of(prior)
    return ledger


def test_the_history_has_each_reward_at_its_trial():
    history = ledger_of(PRIOR).history()
    assert list(history.steps()) == STEPS
    assert history.counts.tolist() == [1, 2, 0]
    assert history.sums.tolist() == [2.0, 12.0, 0.0]


def test_a_stationary_belief_replays_counts_and_sums():
    ledger = ledger_of(PRIOR)
    expected = PRIOR.observe_all([1, 2, 0], [2.0, 12.0, 0.0])
    for belief in (told_belief(ledger), deciding_belief(ledger), moment(ledger, deciding_belief(ledger)).told):
        assert belief.mean.tobytes() == expected.mean.tobytes()
        assert belief.variance.tobytes() == expected.variance.tobytes()
    assert PRIOR.after(99) is PRIOR


@pytest.mark.parametrize("goal", ["max", "min"])
def test_a_drifting_belief_is_replayed_with_its_times(goal):
    ledger, sign = ledger_of(Drifting(drift=0.5, arms=3), goal), 1 if goal == "max" else -1
    told, deciding = told_belief(ledger), moment(ledger, deciding_belief(ledger)).belief
    for arm in range(3):
        mean, variance = drifted(STEPS, 7, arm=arm, drift=0.5)
        assert (told.mean[arm], told.variance[arm]) == pytest.approx((mean, variance), rel=1e-12)
        assert (deciding.mean[arm], deciding.variance[arm]) == pytest.approx((sign * mean, variance), rel=1e-12)


def test_every_further_choice_of_one_call_is_later():
    ledger = ledger_of(Drifting(drift=0.5, arms=3))
    first = moment(ledger, deciding_belief(ledger))
    second = first.next(2, repeat=True)
    assert (first.belief.time, second.belief.time) == (7, 8)
    assert second.belief.variance == pytest.approx(first.belief.variance + 0.5, rel=1e-12)
