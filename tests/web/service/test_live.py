"""Who watches a study hears of every change within a second, and goes on by itself after a break."""

import asyncio
import http.client
import json
import threading
import time

import pytest

from corrbandits import Study
from tests.support.serving import served


@pytest.fixture(autouse=True)
def closing():
    """Close what a test has watched."""
    yield
    while Watching.all:
        Watching.all.pop().close()


class Watching:
    """A stream of server-sent events."""

    all = []  # noqa: RUF012 - of the test that runs

    def __init__(self, line, path, headers=None):
        self._connection = http.client.HTTPConnection("127.0.0.1", line.port, timeout=20)
        self._connection.request("GET", f"{path}/live", headers=(line.headers | (headers or {})))
        self.answer = self._connection.getresponse()
        self.all.append(self)

    def next(self):
        """Return the next event: its number and its data."""
        found = {}
        while True:
            text = self.answer.readline().decode()
            if not text:
                raise EOFError
            if text == "\n" and "data" in found:
                return int(found["id"]), json.loads(found["data"])
            name, _, value = text.strip().partition(": ")
            found[name] = value

    def close(self):
        self.answer.close()
        self._connection.close()


def test_a_second_persons_reward_is_seen_within_a_second(line, tmp_path):
    study = line.create()
    watching = Watching(line, study)
    assert watching.answer.headers["Content-Type"].startswith("text/event-stream")
    assert watching.next() == (1, {"sequence": 1, "missed": True})
    began = time.monotonic()
    line.post(f"{study}/ask")
    assert watching.next()[0] == 2
    assert time.monotonic() - began < 1
    with Study.open(tmp_path / "studies.db", "meadow") as elsewhere:  # another process, as far as the server knows
        began = time.monotonic()
        elsewhere.tell(1, 3.0)
        assert watching.next()[0] == 3
        assert time.monotonic() - began < 1
    watching.close()


def test_what_was_missed_is_known(line):
    study = line.create()
    line.post(f"{study}/ask")
    watching = Watching(line, study, {"Last-Event-ID": "2"})
    assert watching.next() == (2, {"sequence": 2, "missed": False})
    watching.close()


def test_many_watch_but_not_too_many(tmp_path):
    with served(tmp_path / "studies.db", watchers=3) as line:
        study = line.create()
        all_ = [Watching(line, study) for _ in range(3)]
        assert [one.next()[0] for one in all_] == [1, 1, 1]
        assert Watching(line, study).answer.status == 503
        line.post(f"{study}/ask")
        assert [one.next()[0] for one in all_] == [2, 2, 2]
        assert "corrbandits_watchers 3" in line.get("/metrics").body.decode()
        all_[0].close()
        for _ in range(100):
            line.post(f"{study}/observe", {"arm": 0, "reward": 1.0})
            if line.service.live.watchers == 2:
                break
            time.sleep(0.05)
        Watching(line, study).next()


def test_who_may_not_read_may_not_watch(guarded):
    study = guarded.people["manage"].create()
    assert Watching(guarded, study).answer.status == 401
    watching = Watching(guarded.people["read"], study)
    assert watching.next()[0] == 1
    lines = [one for one in guarded.file.read_text().splitlines(keepends=True) if "who may read" not in one]
    guarded.file.write_text("".join(lines))
    guarded.people["manage"].post(f"{study}/ask")
    with pytest.raises(EOFError):
        [watching.next() for _ in range(2)]


def test_a_stream_ends_when_the_server_does(tmp_path):
    with served(tmp_path / "studies.db") as line:
        study = line.create()
        watching = Watching(line, study)
        watching.next()
        ended = threading.Event()

        def wait():
            with pytest.raises(EOFError):
                watching.next()
            ended.set()

        threading.Thread(target=wait, daemon=True).start()
        began = time.monotonic()
    assert ended.wait(5)
    assert time.monotonic() - began < 10


def test_a_study_that_was_made_anew_is_seen_although_it_has_fewer_events(line, tmp_path):
    study = line.create()
    for _ in range(3):
        line.post(f"{study}/ask")
    watching = Watching(line, study)
    assert watching.next()[0] == 4
    with Study.open(tmp_path / "studies.db", "meadow") as old:
        old.delete()
    line.create()
    assert watching.next()[0] == 1


def followers(line):
    """Return how many tasks of a server look at journals for who watches."""
    return sum("_follow" in repr(task.get_coro()) for task in asyncio.all_tasks(line.service.live._loop))


def test_many_who_begin_to_watch_at_once_leave_nobody_behind(tmp_path):
    with served(tmp_path / "studies.db") as line:
        study = line.create()
        for _ in range(3):
            together = [threading.Thread(target=Watching, args=(line, study)) for _ in range(4)]
            for one in together:
                one.start()
            for one in together:
                one.join()
            while Watching.all:
                Watching.all.pop().close()
        end = time.monotonic() + 20
        while (left := followers(line)) and time.monotonic() < end:
            time.sleep(0.1)
            line.post(f"{study}/ask")  # who has left is noticed when there is something to send
        assert left == 0


def test_one_person_takes_a_quarter_of_the_places_at_most(tmp_path):
    with served(tmp_path / "studies.db", watchers=36) as line:
        study = line.create()
        answers = [Watching(line, study).answer.status for _ in range(10)]
        assert answers == [200] * 9 + [503]
