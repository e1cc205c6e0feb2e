"""Many rewards in one go: the same as one by one, all or none, and none twice."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.study import BadRowError
from tests.support.studies import bits, events


def without_times(study):
    return [{key: value for key, value in event.items() if key not in ("at", "key")} for event in events(study)]


def test_rewards_at_once_are_rewards_one_by_one(begin):
    at_once, one_by_one = begin("at once"), begin("one by one")
    trials = at_once.ask(4)
    one_by_one.ask(4)
    rewards = {trial.number: 30.0 + trial.arm for trial in trials}
    free = [("2", 31.5, "a"), (5, 28.0, "b")]
    assert at_once.tell_all(rewards) == 4
    assert at_once.observe_all(free) == 2
    for trial, reward in rewards.items():
        one_by_one.tell(trial, reward)
    for arm, reward, key in free:
        one_by_one.observe(arm, reward, key=key)
    assert without_times(at_once) == without_times(one_by_one)
    assert bits(at_once.belief) == bits(one_by_one.belief)


def test_the_same_again_changes_nothing_and_what_is_new_is_added(begin):
    study = begin()
    first, second, third = study.ask(3)
    assert study.tell_all([(first, 31.0), (2, 32.0)]) == 2
    assert study.tell_all([(1, 31.0), (second, 32.0), (third, 33.0)]) == 1
    assert study.observe_all([(0, 1.0, "nb-1")]) == 1
    assert study.observe_all([(0, 1.0, "nb-1"), (1, 2.0, "nb-2")]) == 1
    assert study.tell_all({}) == study.observe_all([]) == 0
    assert study.belief.counts.sum() == 5


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (2, [(1, 31.0), (2, 32.0), (9, 1.0)]),
        (1, [(1, 31.0), (1, 31.0)]),
        (1, [(1, 31.0), (2, float("nan"))]),
        (0, [(4, 99.0), (1, 31.0)]),
        (0, [(0, 1.0)]),
        (1, [(1, 31.0), (2, "x")]),
    ],
)
def test_one_wrong_reward_is_named_and_none_is_told(begin, row, told):
    study = begin()
    study.ask(3)
    study.observe(0, 30.0)
    before = events(study)
    with pytest.raises(BadRowError, match=rf"^row {row + 1}: .* Nothing was recorded\.$") as wrong:
        study.tell_all(told)
    assert wrong.value.row == row
    assert events(study) == before


@pytest.mark.parametrize(
    ("row", "observed"),
    [
        (1, [(0, 30.0, "k2"), ("nowhere", 1.0, "k3")]),
        (1, [(0, 30.0, "k2"), (1, 1.0, "k2")]),
        (1, [(0, 30.0, "k2"), (1, 31.0, "k1")]),
        (0, [(0, float("inf"), "k2")]),
        (0, [(0, 30.0, "")]),
    ],
)
def test_one_wrong_observation_is_named_and_none_is_added(begin, row, observed):
    study = begin()
    study.observe(0, 30.0, key="k1")
    before = events(study)
    with pytest.raises(BadRowError) as wrong:
        study.observe_all(observed)
    assert wrong.value.row == row
    assert events(study) == before


def test_rewards_too_large_together_are_refused_together(begin):
    study = begin()
    with pytest.raises((ValueError, ArithmeticError)):
        study.observe_all([(0, 1.7e308, "a"), (0, 1.7e308, "b")])
    assert len(events(study)) == 1


def test_what_is_looked_at_is_told(begin):
    study, seen = begin(), []
    study.observe_all([(k % 6, 30.0, f"k{k}") for k in range(5)], advanced=seen.append)
    assert seen == [1, 2, 3, 4, 5]


def test_the_one_open_trial_of_an_arm(begin):
    study = begin(arms=list("abcdef"), prior=cb.Independent(variance=4.0, noise_variance=1.0, arms=6), policy=cb.UCL())
    with pytest.raises(ValueError, match=r"'a' has none\. Name the trial"):
        study.snapshot().open_trial("a")
    study.ask(allowed=["a"])
    assert study.snapshot().open_trial("a") == study.snapshot().open_trial(0) == study.trial(1)
    study.ask(allowed=["a"])
    with pytest.raises(ValueError, match=r"'a' has several: 1, 2\."):
        study.snapshot().open_trial("a")
    study.tell(1, 3.0)
    study.cancel(2)
    with pytest.raises(ValueError, match=r"'a' has none \(the last was trial 2, cancelled\)"):
        study.snapshot().open_trial("a")


def test_a_batch_survives_a_race(begin):
    study = begin()
    other = begin.also(cb.Study.open(begin.url, "meadow"))
    study.ask(2)

    def others_come_first(row):
        if row == 1 and len(other.trials) == 2:
            other.observe(3, 27.0)

    assert study.observe_all([(0, 30.0, "a"), (1, 31.0, "b")], advanced=others_come_first) == 2
    assert [trial.arm for trial in study.trials[2:]] == [3, 0, 1]
    assert np.array_equal(study.belief.counts, [1, 1, 0, 1, 0, 0])
