"""Calls that are saved together give what they would have given one after the other."""

import pytest

import corrbandits as cb
from corrbandits.study.events import parsed
from corrbandits.study.gathering import Reward, Wanted, ask_each, tell_each

ARMS = {"name": [f"s{k}" for k in range(9)], "x": [float(k % 3) for k in range(9)], "y": [k / 3 for k in range(9)]}
WANTED = [Wanted(f"k{k}", f"person {k}") for k in range(5)]


def new(path, name, **more):
    return cb.Study.create(path, name, arms=ARMS, rounds=50, **more)


def plain(study):
    events = [parsed(body) for body in study._replica.events()[1:]]
    return [{name: value for name, value in event.items() if name != "at"} for event in events]


@pytest.mark.parametrize("goal", ["max", "min"])
def test_they_are_chosen_as_one_after_the_other(tmp_path, goal):
    with new(tmp_path / "a.db", "together", goal=goal) as together, new(tmp_path / "a.db", "alone", goal=goal) as alone:
        for round_ in range(3):
            wanted = [call._replace(key=f"{call.key}-{round_}") for call in WANTED]
            found = ask_each(together, wanted)
            assert found == [alone.signed(call.by).ask(key=call.key) for call in wanted]
            told = [(trial.number, 3.0 + trial.arm % 4 + round_ / 7, "teller") for trial in found]
            rewards = [Reward(*one, None if k else 1e9) for k, one in enumerate(told)]
            assert tell_each(together, rewards) == [None] * 5
            for call in rewards:
                alone.signed(call.by).tell(call.trial, call.reward, at=call.measured)
        assert plain(together) == plain(alone)
        assert [together.explain(k) for k in range(1, 16)] == [alone.explain(k) for k in range(1, 16)]
        assert all(together.explain(k).replayed == together.trial(k).arm for k in range(1, 16))


def test_all_of_them_are_saved_by_one_commit(tmp_path):
    with new(tmp_path / "a.db", "meadow") as study:
        saved, append = [], study._replica.journal.append
        study._replica.journal.append = lambda *given: saved.append(len(given[2])) or append(*given)
        trials = ask_each(study, WANTED)
        tell_each(study, [Reward(trial.number, 1.0, None) for trial in trials])
        assert saved == [5, 5]


def test_a_call_that_is_refused_is_refused_alone(tmp_path):
    with new(tmp_path / "a.db", "meadow") as study:
        first = ask_each(study, WANTED)
        again = ask_each(study, [WANTED[2], Wanted("new", None)])
        assert again[0] == first[2]
        assert again[1].number == 6
        study.observe("s1", 3.0, key="other")
        found = ask_each(study, [Wanted("other", None), Wanted("newer", None)])
        assert isinstance(found[0], ValueError)
        assert found[1].number == 8
        told = tell_each(study, [Reward(1, 5.0, None), Reward(99, 5.0, None), Reward(2, 6.0, None)])
        assert [type(one) for one in told] == [type(None), ValueError, type(None)]
        told = tell_each(study, [Reward(1, 7.0, None), Reward(2, 6.0, None), Reward(2, 6.0, None)])
        assert [one is None for one in told] == [False, True, True]
        assert (study.reward(1), study.reward(2)) == (5.0, 6.0)


def test_where_each_arm_may_be_tried_once_those_left_go_to_the_first(tmp_path):
    with new(tmp_path / "a.db", "meadow", repeat=False) as study:
        found = ask_each(study, [Wanted(f"k{k}", None) for k in range(12)])
        assert sorted(trial.arm for trial in found[:9]) == list(range(9))
        assert all(isinstance(one, ValueError) for one in found[9:])
