"""Nobody who asks is overtaken for ever, and nobody who tells waits for who asks."""

import json
import threading
import time

import pytest

import corrbandits as cb
from corrbandits import Study
from corrbandits.study import turns
from corrbandits.study.journal import Journal
from tests.support.skeletons import MemoryJournal
from tests.support.studies import events, related

SLOW = 0.6


@pytest.fixture(params=["file", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/survey.db" if request.param == "file" else request.getfixturevalue("postgres")


def made_slow(study, seconds=SLOW):
    """Let every choice of a study take long."""
    whole = study._replica.deciding

    def deciding(at):
        time.sleep(seconds)
        return whole(at)

    study._replica.deciding = deciding
    return study


class Throng:
    """Others who do something again and again, each with a study of their own, until the end."""

    def __init__(self, url, *acts, pause=0.05):
        self._end, self.times = threading.Event(), [[] for _ in acts]
        self._threads = [
            threading.Thread(target=self._work, args=(url, act, times, pause))
            for act, times in zip(acts, self.times, strict=True)
        ]

    def _work(self, url, act, times, pause):
        with Study.open(url, "meadow") as study:
            while not self._end.wait(pause):
                began = time.monotonic()
                act(study)
                times.append(time.monotonic() - began)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        for thread in self._threads:
            thread.join(60)


def answered(call, seconds=45):
    """Return what a call returns, if it does in time."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it does not return"
    return found[0]


def test_an_ask_that_takes_long_returns_beside_others_that_ask_all_the_time(url, monkeypatch):
    monkeypatch.setattr(turns, "SPENT", 1.0)
    with (
        Study.create(url, "meadow", prior=related(), policy=cb.UCL()) as slow,
        Throng(url, lambda study: study.ask(), lambda study: study.observe(4, 30.0)) as others,
    ):
        made_slow(slow)
        trials = [answered(lambda: slow.ask(2)) for _ in range(2)]
        asked, observed = others.times
        before = len(asked), len(observed)
        time.sleep(1.5)
        assert len(asked) > before[0], "the others go on"
    assert max(observed) < SLOW, "who observes does not wait for who asks"
    assert not slow._journal.queued(slow._replica.study), "the queue is left"
    rows = [event for event in events(slow) if event["event"] == "asked"]
    assert len({event["trial"] for event in rows}) == len(rows)
    with Study.open(url, "meadow") as again:
        for trial in (trial for each in trials for trial in each):
            explained = again.explain(trial)
            assert (explained.trial, explained.replayed) == (trial.number, trial.arm)


@pytest.mark.parametrize("repeat", [True, False])
def test_in_its_turn_a_choice_stands_although_others_observe(tmp_path, monkeypatch, repeat):
    url = tmp_path / "survey.db"
    monkeypatch.setattr(turns, "FREE", 0)  # so that it queues at once
    monkeypatch.setattr(turns, "SPENT", 0.0)
    with (
        Study.create(url, "meadow", prior=related(), policy=cb.UCL(), repeat=repeat) as study,
        Study.open(url, "meadow") as other,
    ):
        study.tell(study.ask(), 31.0)
        whole, seen = study._journal.append, []

        def append(*arguments):
            if not seen:
                arm = 4 if repeat else seen_arms(arguments)[0]  # of an arm that may be tried once, the one chosen
                seen.append(other.observe(arm, 12.0))
            whole(*arguments)

        study._replica.journal = Overtaken(study._journal, append)
        trials = study.ask(2)
        assert [trial.number for trial in trials] == [3, 4]
        asked = [event for event in events(study) if event["event"] == "asked"][1:]
        assert [event.get("seen") for event in asked] == ([3, 3] if repeat else [None, None])
        if not repeat:
            assert seen[0].arm not in [trial.arm for trial in trials]
        for each in (study, other):
            for trial in trials:
                explained = each.explain(trial)
                assert (explained.trial, explained.replayed) == (trial.number, trial.arm)


def seen_arms(arguments):
    return [json.loads(body)["arm"] for body in arguments[2]]


class Overtaken:
    """A journal whose append is another."""

    def __init__(self, journal, append):
        self._journal, self.append = journal, append
        # from Python 3.12 on, isinstance() of a protocol finds nothing by __getattr__
        self.queued, self.queue, self.leave = journal.queued, journal.queue, journal.leave

    def __getattr__(self, name):
        return getattr(self._journal, name)


def test_a_ticket_whose_holder_is_gone_is_waited_for_until_it_expires(url):
    with Study.create(url, "meadow", prior=related(), policy=cb.UCL()) as study:
        journal = Journal(url)
        journal.queue(study._replica.study, "of one that was killed", 1.0)
        began = time.monotonic()
        study.tell(study.observe(1, 30.0).number, 30.0)
        assert answered(study.ask).number == 2
        assert time.monotonic() - began > 0.8
        journal.close()


def test_a_journal_without_a_queue_will_do():
    study = Study.create(MemoryJournal(), "meadow", prior=related(), policy=cb.UCL())
    assert study.ask().number == 1
