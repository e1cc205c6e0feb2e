"""Documents that may be large: read in a thread, in the words of all others, while others go on."""

import json
import threading
import time

import pytest

from corrbandits.web.service import large
from corrbandits.web.service.shapes import Creating
from tests.support.serving import ARMS

NEW = "/api/v1/studies"
JSON = {"Content-Type": "application/json"}


def test_a_new_study_is_read_in_a_thread(line, monkeypatch):
    threads, checked = [], large.checked

    def noted(*given):
        threads.append(threading.current_thread().name)
        return checked(*given)

    monkeypatch.setattr(large, "checked", noted)
    line.create()
    assert len(threads) == 1
    assert threads[0].startswith("slow")


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (b"", 422, "the document is missing"),
        (b'{"name": ', 400, "the document must be JSON, but at character 9"),
        (b"\xff{}", 400, "must be JSON in UTF-8"),
        (b"[" * 100_000, 400, "not nested too deeply"),
        (b'{"name": "a", "name": "b"}', 400, "each name must come once, got 'name' twice"),
        (b"3", 422, "the document must be an object, got 3"),
        (json.dumps({"name": "a", "arms": ARMS, "rounds": 0}).encode(), 422, "rounds must be at least 1, got 0"),
        (json.dumps({"name": "a", "arms": ARMS, "told": {"sd": "x"}}).encode(), 422, "told.sd must be a number or a"),
    ],
)
def test_what_is_wrong_is_said_as_of_any_document(line, sent, status, words):
    said = line.request("POST", NEW, headers=JSON, body=sent)
    assert (said.status, said.headers["Content-Type"]) == (status, "application/problem+json")
    assert words in said.data["detail"]
    assert line.get(NEW).data["studies"] == []


def test_a_large_document_that_says_something_twice_is_refused(line):
    many = ",".join(["0.5"] * 400_000)
    said = line.request("POST", NEW, headers=JSON, body=f'{{"arms": {{"x": [{many}], "x": [{many}]}}}}'.encode())
    assert (said.status, "got 'x' twice" in said.data["detail"]) == (400, True)


def test_other_threads_go_on_while_it_is_parsed():
    sent = json.dumps({"name": "a", "arms": {"x": [k + 0.5 for k in range(1_000_000)]}}).encode()
    turns, ended = [], threading.Event()

    def going_on():
        while not ended.wait(0.001):
            turns.append(time.perf_counter())

    thread = threading.Thread(target=going_on)
    thread.start()
    began = time.perf_counter()
    found = large.checked(Creating, sent)
    until = time.perf_counter()
    ended.set()
    thread.join()
    assert len(found.arms["x"]) == 1_000_000
    assert sum(began < turn < until for turn in turns) >= 10
