"""Studies that several use at once, that are interrupted, and whose file is not as it was."""

import itertools
import json
import os
import re
import select
import signal
import sys
import threading
import time
import warnings
from collections import Counter

import pytest

import corrbandits as cb
from corrbandits.study import Study
from corrbandits.study.journal import Journal, JournalError
from tests.support.studies import bits, events


def test_two_workers_who_see_the_same_events_choose_alike(begin):
    here = begin()
    there = begin.also(Study.open(begin.url, "meadow"))
    here.tell(here.ask(), 33.0)
    apart = begin.also(here.copy("apart"))
    assert there.ask() == apart.ask()
    assert here.ask().number == 3
    assert there.open_trials == here.open_trials


def test_threads_share_a_study_and_each_trial_is_one_threads(begin):
    study, mine = begin(), []

    def work():
        for _ in range(10):
            trial = study.ask()
            study.tell(trial, float(trial.number))
            mine.append(trial.number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(mine) == list(range(1, 41))
    assert study.history()["reward"].tolist() == [float(k) for k in range(1, 41)]


class Meanwhile:
    """A journal before whose next append something else happens."""

    def __init__(self, journal, *happens):
        self._journal, self._happens = journal, list(happens)

    def __getattr__(self, name):
        return getattr(self._journal, name)

    def append(self, *arguments, **options):
        if self._happens:
            self._happens.pop(0)()
        self._journal.append(*arguments, **options)


def test_a_choice_stands_if_only_rewards_came_while_it_was_made(begin):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.ask(3)
    study._replica.journal = Meanwhile(study._journal, lambda: other.tell(1, 99.0), lambda: other.tell(2, 98.0))
    trials = study.ask(2)
    asked = [event for event in events(study) if event["event"] == "asked"][3:]
    assert [event["seen"] for event in asked] == [4, 4]
    apart = begin("apart")
    apart.ask(3)
    assert trials == apart.ask(2)  # as if the rewards had come just afterwards
    assert [study.explain(trial).replayed for trial in trials] == [trial.arm for trial in trials]
    assert study.t == 6


@pytest.mark.parametrize("happens", ["ask", "observe", "retract"])
def test_a_choice_is_made_anew_if_more_than_rewards_came(begin, happens):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.tell(study.ask(), 31.0)
    act = {
        "ask": other.ask,
        "observe": lambda: other.observe(4, 20.0),
        "retract": lambda: other.retract(1),
    }[happens]
    study._replica.journal = Meanwhile(study._journal, act)
    trial = study.ask()
    assert "seen" not in events(study)[-1]
    assert study.explain(trial).replayed == trial.arm
    assert events(study)[-1]["trial"] == trial.number


class Breaking(Meanwhile):
    """A journal whose next append breaks off; whether it was saved, the caller cannot know."""

    def __init__(self, journal, *, saved):
        super().__init__(journal)
        self._saved = saved

    def append(self, *arguments, **options):
        if self._saved:
            self._journal.append(*arguments, **options)
        error = JournalError("the connection broke")
        error.unsure = True
        raise error


def unsure(study, call, *, saved):
    """Make a call that breaks off, and return the key that its error has."""
    whole, study._replica.journal = study._replica.journal, Breaking(study._journal, saved=saved)
    with pytest.raises(JournalError, match="broke") as caught:
        call()
    study._replica.journal = whole
    if caught.value.key is not None:
        assert f"key='{caught.value.key}'" in caught.value.__notes__[0]
    return caught.value.key


@pytest.mark.parametrize("saved", [True, False])
def test_a_call_of_which_nobody_knows_whether_it_was_saved_can_be_made_again(begin, saved):
    study = begin()
    study.ask(2)
    calls = [
        lambda **key: study.ask(2, allowed=[1, 2, 3], **key),
        lambda **key: study.observe(3, 30.5, **key),
        lambda **key: study.add_arms({"x": [9.0]}, **key),
    ]
    for call in calls:
        call(key=unsure(study, call, saved=saved))
    for call in (
        lambda: study.tell(1, 31.5),
        lambda: study.amend(1, 32.5),
        lambda: study.retract(1),
        lambda: study.cancel(2),
    ):
        assert unsure(study, call, saved=saved) is None, "needs no key to be made again"
        call()
    assert Counter(event["event"] for event in events(study)) == {
        "created": 1, "asked": 4, "observed": 1, "told": 1, "amended": 1, "retracted": 1, "cancelled": 1, "extended": 1,
    }  # fmt: skip
    assert study.belief.counts.tolist() == [0, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("saved", [True, False])
def test_an_equal_measurement_after_an_unsure_one_is_counted(begin, saved):
    """The thermometer shows 30.5 twice: the second is no retry of the first, unless its key says so."""
    study = begin()
    key = unsure(study, lambda: study.observe(3, 30.5), saved=saved)
    study.observe(3, 30.5)
    assert study.belief.counts[3] == 1 + saved
    again = study.observe(3, 30.5, key=key)
    assert again.number == (1 if saved else 2)
    assert study.belief.counts[3] == 2
    with pytest.raises(ValueError, match="Use another key"):
        study.observe(3, 30.6, key=key)


def test_an_ask_with_a_key_is_answered_as_it_was(begin):
    study = begin()
    trials = study.ask(2, allowed=[1, 2, 3], key="monday")
    study.tell(trials[0], 30.0)
    others = study.ask(2, allowed=[1, 2, 3])
    assert study.ask(2, allowed=[3, 2, 1], key="monday") == trials
    assert [trial.number for trial in others] == [3, 4]
    assert study.ask(key="tuesday") == study.ask(key="tuesday") == study.trial(5)
    before = len(events(study))
    for call in (
        lambda: study.ask(3, allowed=[1, 2, 3], key="monday"),
        lambda: study.ask(2, key="monday"),
        lambda: study.ask(key="monday"),
        lambda: study.observe(1, 30.0, key="monday"),
    ):
        with pytest.raises(ValueError, match="key"):
            call()
    study.observe(1, 3.0, key="wednesday")
    with pytest.raises(ValueError, match="which was observed"):
        study.ask(key="wednesday")
    assert len(events(study)) == before + 1


@pytest.mark.slow
@pytest.mark.parametrize("call", ["ask", "tell", "observe", "amend"])
def test_an_interrupt_at_any_line_leaves_a_study_that_goes_on(begin, call):
    """Ctrl-C, or a notebook's stop, wherever it comes: the same call with the key, and everything counts once."""
    files = ("study/replica.py", "study/ledger.py", "study/draft.py", "_core/tally.py", "study/study.py")
    acts = {
        "ask": lambda study, **key: study.ask(2, **key),
        "tell": lambda study, **_: study.tell(2, 31.0),
        "observe": lambda study, **key: study.observe(3, 32.0, **key),
        "amend": lambda study, **_: study.amend(1, 33.0),
    }

    def interrupted(study, line):
        """Do it, and raise at this line of ours; return the interrupt if it came so far."""
        left = [line]

        def trace(frame, event, _):
            if not frame.f_code.co_filename.endswith(files):
                return None
            if event == "line":
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            acts[call](study)
        except KeyboardInterrupt as came:
            return came
        finally:
            sys.settrace(None)
        return None

    late = 0
    for line in itertools.count(1):
        study = begin(f"{call} {line}")
        study.ask(2)
        study.tell(1, 30.0)
        came = interrupted(study, line)
        if came is None:
            break
        named = re.findall("key='(.*?)'", "".join(getattr(came, "__notes__", [])))
        returning = not named and call in ("ask", "observe") and len(events(study)) > 4
        late += returning
        acts[call](study, **({"key": named[0]} if named else {}))
        fresh = begin.also(Study.open(begin.url, study.name))
        assert bits(fresh.belief) == bits(study.belief)
        kinds = Counter(event["event"] for event in events(fresh))
        if returning:  # it had been done, and was about to say so: then the second call is another
            assert kinds["asked" if call == "ask" else "observed"] == {"ask": 6, "observe": 2}[call]
            continue
        assert kinds == {"created": 1, "asked": 2, "told": 1} | {
            "ask": {"asked": 4}, "tell": {"told": 2}, "observe": {"observed": 1}, "amend": {"amended": 1},
        }[call], line  # fmt: skip
        study.ask()
    assert line > 60
    assert late <= 8


def test_an_event_that_cannot_be_read_is_said_at_every_call_and_nothing_is_written_after_it(begin):
    study = begin()
    study.ask()
    journal = Journal(begin.url)
    journal.append(study._replica.study, 3, ['{"event":"from the future","at":1.0}'])
    journal.close()
    for _ in range(2):
        with pytest.raises(ValueError, match="event 3 cannot be read"):
            study.ask()
        with pytest.raises(ValueError, match="event 3 cannot be read"):
            study.tell(1, 3.0)
    assert len(events(study)) == 3


@pytest.mark.parametrize("clock", [-5.0, 1e12])
def test_a_clock_that_is_wrong_bricks_no_study(begin, monkeypatch, clock):
    study, other = begin(timeout=60.0), begin.also(Study.open(begin.url, "meadow"))
    trial, second = study.ask(2)
    study.tell(second, 29.0)
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: clock)
        for call in (
            lambda: study.tell(trial, 30.0),
            lambda: study.observe(1, 30.0),
            lambda: study.ask(2),
            lambda: study.amend(second, 30.0),
            lambda: study.add_arms({"x": [9.0]}),
            lambda: study.copy("copy", policy=cb.UCL()),
            lambda: begin("another"),
        ):
            with pytest.raises(ValueError, match=r"between the years 1970 and 9999, got .*Set the clock"):
                call()
    assert Study.list(begin.url) == ("meadow",)
    assert len(events(study)) == 4
    for each in (study, other, begin.also(Study.open(begin.url, "meadow"))):
        each.observe(1, 30.0)
    assert study.belief.counts.sum() == 4


def test_a_draft_leaves_the_ledger_as_it_is(begin):
    study = begin()
    study.ask(3)
    study.tell(2, 30.0)
    ledger = study._replica.ledger
    rows = [
        {"event": "told", "trial": 1, "reward": 31.0},
        {"event": "retracted", "trial": 1},
        {"event": "asked", "trial": 4, "arm": 0, "key": "k"},
        {"event": "cancelled", "trial": 4},
        {"event": "observed", "trial": 5, "arm": 1, "reward": 2.0},
        {"event": "extended", "arms": {"count": 1, "axes": ["x"], "coordinates": [[9.0]]}, "key": "more"},
    ]
    rows[-1]["prior"] = {"coordinates": [9.0]}
    bodies = [json.dumps(row | {"at": 1.0}) for row in rows]
    before, shown = study.snapshot().ledger, vars(ledger).copy()
    draft = ledger.draft(bodies)
    with pytest.raises(ValueError, match="event 12 cannot be read"):
        ledger.draft([*bodies, bodies[0]])
    with pytest.raises(ValueError, match="event 12 cannot be read"):
        ledger.apply([*bodies, bodies[0]])
    assert vars(ledger) == shown
    assert (ledger.trials, ledger.open, ledger.keys) == (before.trials, before.open, before.keys)
    ledger.enter(draft)
    assert [entry.status for entry in ledger.trials] == ["retracted", "told", "open", "cancelled", "told"]
    assert (list(ledger.open), ledger.arms.count, ledger.tally.counts.tolist()[1]) == (
        [3],
        7,
        1 + (ledger.trials[1].arm == 1),
    )


def test_a_file_that_is_moved_away_takes_no_rewards_with_it(begin, tmp_path):
    study = begin()
    study.ask(2)
    study.tell(1, 30.0)
    (tmp_path / "away").mkdir()
    for file in tmp_path.glob("survey.db*"):
        file.rename(tmp_path / "away" / file.name)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"the file is gone.*Nothing was saved"):
            study.tell(2, 31.0)
    assert not (tmp_path / "survey.db").exists()
    for file in (tmp_path / "away").iterdir():
        file.rename(tmp_path / file.name)
    study.tell(2, 31.0)
    assert begin.also(Study.open(begin.url, "meadow")).belief.counts.sum() == 2


def test_an_older_copy_put_back_is_noticed_and_stays_whole(begin, tmp_path):
    study = begin()
    study.ask(2)
    study.close()
    older = (tmp_path / "survey.db").read_bytes()
    study.tell(1, 30.0)
    study.close()
    (tmp_path / "survey.db").unlink()
    (tmp_path / "survey.db").write_bytes(older)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"another file|some were lost"):
            study.tell(2, 31.0)
    again = begin.also(Study.open(begin.url, "meadow"))
    again.tell(1, 30.0)
    assert again.history()["status"].tolist() == ["told", "open"]


def test_a_forked_process_does_not_wait_for_a_thread_that_is_not_there(begin):
    study = begin()
    held, done = threading.Event(), threading.Event()

    def hold():
        with study._replica.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is the point
        child = os.fork()
    if child == 0:
        os.write(writing, str(study.ask().number).encode())
        os._exit(0)
    os.close(writing)
    try:
        assert select.select([reading], [], [], 20)[0], "the child hangs"
        assert os.read(reading, 10) == b"1"
    finally:
        done.set()
        thread.join()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)


def test_a_deleted_study_is_neither_exported_nor_copied(begin, tmp_path):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.ask()
    other.delete()
    for call in (lambda: study.export(tmp_path / "gone.jsonl"), lambda: study.copy("b"), lambda: study.explain(1)):
        with pytest.raises(ValueError, match="deleted meanwhile"):
            call()
    assert not (tmp_path / "gone.jsonl").exists()
    assert Study.list(begin.url) == ()
