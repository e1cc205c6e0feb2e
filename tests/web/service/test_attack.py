"""An attack on the whole: what a stranger, a reader or a careless program may send."""

import http.client
import json
import random
import socket
import threading
import time

import pytest

import corrbandits as cb
from corrbandits.web.service.tokens import new_token
from tests.support.serving import ARMS, Line, served

FREE = {"/health", "/version", "/signin", "/sw.js", "/manifest.webmanifest"}


def spoken(line, text, wait=3.0):
    """Send bytes as they are; return what comes back."""
    with socket.create_connection(("127.0.0.1", line.port), timeout=wait) as raw:
        found = b""
        try:
            raw.sendall(text)
            while part := raw.recv(65536):
                found += part
        except OSError:  # it says no more, or has hung up
            pass
        return found


def test_every_address_but_the_free_ones_needs_a_token(guarded):
    described = guarded.people["read"].get("/api/v1/openapi.json").data["paths"]
    assert len(described) > 25
    for path, operations in described.items():
        address = path.replace("{study}", "meadow").replace("{number}", "1").replace("{arm}", "0")
        for method in operations:
            answer = guarded.request(method.upper(), address)
            free = path.removeprefix("/api/v1") in FREE | {"/session"}
            assert (answer.status in (401, 429)) != free or path.endswith("version"), (method, path, answer.status)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../api/v1/studies",
        "/static/..%2fapi/v1/studies",
        "/static/%2e%2e/api/v1/studies",
        "/health/../api/v1/studies",
        "/health%2f..%2fapi%2fv1%2fstudies",
        "//api/v1/studies",
        "/api//v1/studies",
        "/./api/v1/studies",
        "/API/V1/STUDIES",
        "/api/v1/studies;/static/",
        "/signin/../api/v1/studies",
        "/api/v1/session/../studies",
        "http://127.0.0.1/api/v1/studies",
        "/api/v1/health%00/studies",
    ],
)
def test_no_way_of_writing_an_address_goes_round_the_guard(guarded, path):
    guarded.people["manage"].create("hidden meadow")
    text = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    found = spoken(guarded, text)
    assert b"hidden meadow" not in found
    assert b" 200 " not in found.partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        b"GET /api/v1/studies HTTP/1.1\r\n\r\n",
        b"GET /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
        b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 3_000_000 + b"\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_broken_requests_are_refused_and_the_server_goes_on(line, text):
    found = spoken(line, text, wait=2.0)
    assert not found or int(found[9:12]) >= 400
    assert line.get("/health").status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"reward": ' + b"9" * 5_000 + b', "arm": 0}',
        b'{"reward": 1e999, "arm": 0}',
        b'{"reward": NaN, "arm": 0}',
        b'{"reward": -Infinity, "arm": 0}',
        b'{"reward": 1, "arm": "\\ud800"}',
        b'{"reward": 1, "arm": "\\u0000"}',
        b'{"reward": 1, "arm": -1}',
        b'{"reward": 1, "arm": 99999999999999999999999}',
        b'{"reward": 1, "reward": 2, "arm": []}',
        b'\xff\xfe{"reward": 1}',
        b"null",
        b"0",
    ],
)
def test_strange_documents_are_refused(line, body):
    study = line.create()
    found = line.request("POST", f"{study}/observe", headers={"Content-Type": "application/json"}, body=body)
    assert 400 <= found.status < 500, found.body
    assert line.get(study).data["sequence"] == 1


@pytest.mark.parametrize("key", ["\u00ff" * 200, " x", "x" * 201, "a\tb", "\x7f"])
def test_strange_keys_are_refused_or_kept_as_they_are(line, key):
    study = line.create()
    found = line.post(f"{study}/observe", {"arm": 0, "reward": 1.0}, {"Idempotency-Key": key})
    assert found.status in (200, 400, 422)
    if found.status == 200:
        assert line.post(f"{study}/observe", {"arm": 0, "reward": 1.0}, {"Idempotency-Key": key}).data["trial"] == 1


@pytest.mark.parametrize(
    "arms",
    [
        {"name": ["a", "a"]},
        {"name": ["a"], "x": [1.0, 2.0]},
        {"name": ["a", "b"], "x": ["one", "two"], "y": [1, 2]},
        {"name": [None, {}]},
        {"x": [1e308, -1e308], "y": [0, 0]},
        {"name": ["a\u202eb", "c"]},
        {"name": []},
        {"name": ["a"], "note": [[1, 2]]},
        {"name": ["a"], "note": [float("nan")]},
    ],
)
def test_strange_arms_are_refused(line, arms):
    found = line.post("/api/v1/studies", {"name": "meadow", "arms": arms})
    assert found.status in (400, 422), found.body
    assert line.get("/api/v1/studies").data["studies"] == []


def test_who_only_reads_cannot_keep_others_from_working(tmp_path):
    read, tell = (new_token(tmp_path / "tokens", role, role) for role in ("read", "manage"))
    with served(tmp_path / "studies.db", tokens=tmp_path / "tokens", rate=50.0, burst=200) as line:
        reader, worker = (Line(line.port, headers={"Authorization": f"Bearer {secret}"}) for secret in (read, tell))
        study = worker.create()
        for k in range(12):
            worker.post(f"{study}/observe", {"arm": k, "reward": 20.0 + k})
        ending, answers = threading.Event(), []

        def look(k):
            while not ending.is_set():
                answers.append(
                    reader.get(f"{study}/belief?at={random.Random(k).randint(6, 13)}&digits={k % 17 + 1}").status
                )

        threads = [threading.Thread(target=look, args=(k,)) for k in range(12)]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        for _ in range(5):
            trial = worker.post(f"{study}/ask").data["trials"][0]["trial"]
            assert worker.post(f"{study}/trials/{trial}/tell", {"reward": 21.0}).status == 200
        took = time.monotonic() - began
        ending.set()
        for thread in threads:
            thread.join()
    assert took < 20
    assert set(answers) <= {200, 429}
    assert len(answers) >= 12


def test_connections_that_say_nothing_do_no_harm(line):
    idle = [socket.create_connection(("127.0.0.1", line.port)) for _ in range(150)]
    for one in idle[:75]:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: local")
    assert line.get("/health").status == 200
    for one in idle:
        one.close()


def test_headers_cannot_be_put_into_answers(guarded):
    for wanted in ("/s/%0d%0aSet-Cookie:%20x=1/", "/s/a%0aLocation:%20https:%2f%2fevil.example/", "//evil.example/"):
        found = guarded.get(wanted, {"Accept": "text/html"})
        assert "x=1" not in (found.headers["Set-Cookie"] or "")
        place = found.headers["Location"] or "/"
        assert place.startswith("/signin?next=") or place == "/"
        assert "\n" not in place


def test_the_sign_in_page_leads_nowhere_else(guarded):
    page = guarded.get("/signin?next=https://evil.example/", {"Accept": "text/html"}).body.decode()
    assert "evil.example" not in page


@pytest.mark.slow
def test_a_database_that_goes_away_and_comes_back(postgres, server):
    with served(postgres) as line:
        client = cb.Client.create(line.url, "meadow", arms=ARMS, rounds=1_000, by="Anna")
        told, ending, errors = {}, threading.Event(), []

        def work():
            while not ending.is_set():
                try:
                    trial = client.ask()
                    client.tell(trial, float(trial.number))
                    told[trial.number] = float(trial.number)
                except Exception as error:
                    errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(1.0)
        server.stop()
        away = line.get("/health")
        assert away.status == 503
        assert "hunter2" not in away.body.decode()
        assert away.headers["Retry-After"]
        time.sleep(1.0)
        server.start()
        before = len(told)
        for _ in range(200):
            if len(told) > before + 3:
                break
            time.sleep(0.1)
        ending.set()
        thread.join(90)
        assert not errors
        assert len(told) > before + 3
        found = json.loads(line.get("/api/v1/studies/meadow/history").body)["trials"]
        assert {one["trial"]: one["reward"] for one in found if one["status"] == "told"} == told
        client.close()


def test_what_is_answered_is_closed_when_asked(line):
    connection = http.client.HTTPConnection("127.0.0.1", line.port)
    connection.request("GET", "/health", headers={"Connection": "close"})
    answer = connection.getresponse()
    answer.read()
    assert answer.will_close
    connection.close()
