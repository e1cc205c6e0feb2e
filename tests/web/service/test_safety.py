"""Who is let in, and what is kept from whom: one test for each promise."""

import http.client
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from corrbandits import Client, Study
from corrbandits.web.service import running
from corrbandits.web.service.guard import LARGE, SMALL
from corrbandits.web.service.options import Options
from corrbandits.web.service.tokens import Tokens, new_token
from tests.support.serving import ARMS, Line, served

PAGE = {"Corrbandits-Page": "1"}


def cookie_of(line, token):
    """Sign in, and return the cookie as a browser sends it."""
    answer = line.post("/api/v1/session", {"token": token}, PAGE | {"Origin": line.url})
    assert answer.status == 204
    return answer.headers["Set-Cookie"], answer.headers["Set-Cookie"].partition(";")[0]


def test_a_table_is_not_even_read_from_who_may_not_send_one(guarded):
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=10) as line:
        token = f"Authorization: Bearer {guarded.secrets['tell']}\r\n"
        head = f"POST /api/v1/studies HTTP/1.1\r\nHost: 127.0.0.1:{guarded.port}\r\n{token}"
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{{".encode())
        assert b" 403 " in line.recv(100), "it is refused before the rest has come"


def test_who_sends_half_a_request_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE", 0.5)
    whole, half = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /health HTTP/1.1\r\nHost: 127"
    with served(tmp_path / "studies.db") as line:
        for first, then in ((b"", b""), (b"", half), (whole, half)):
            with socket.create_connection(("127.0.0.1", line.port), timeout=10) as other:
                if first:
                    other.sendall(first)
                    assert other.recv(10_000)
                other.sendall(then)
                while other.recv(10_000):
                    pass  # the rest of an answer, and then the end


def test_a_token_file_that_comes_back_lets_people_in_again(tmp_path):
    file = tmp_path / "tokens"
    token = new_token(file, "Anna", "tell")
    tokens = Tokens(file)
    file.rename(tmp_path / "elsewhere")
    assert tokens.person(token) is None
    (tmp_path / "elsewhere").rename(file)
    assert tokens.person(token).name == "Anna"


def test_a_line_that_is_no_token_leaves_the_tokens_as_they_were(tmp_path, caplog):
    file = tmp_path / "tokens"
    token = new_token(file, "Anna", "tell")
    tokens = Tokens(file)
    with file.open("a") as more:
        more.write("half a line")
    assert tokens.person(token).name == "Anna"
    assert tokens.person(token).name == "Anna"
    assert caplog.text.count("line 2") == 1
    with pytest.raises(ValueError, match="line 2"):
        Tokens(file)


def test_a_token_is_in_no_error(line):
    with (
        Client(f"{line.url}/s/meadow", "secret-token\n") as client,
        pytest.raises(ValueError, match="no study") as error,
    ):
        client.best()
    assert "secret" not in str(error.value)
    with pytest.raises(ValueError, match="copy it once more".capitalize()) as error:
        Client(f"{line.url}/s/meadow", "secret\u2603")
    assert "secret" not in str(error.value)


def test_it_listens_on_this_machine_alone_unless_told_otherwise():
    assert Options("studies.db").host == "127.0.0.1"
    assert Options("studies.db").open


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"host": "0.0.0.0"}, "needs tokens"),
        ({"host": "192.168.1.7"}, "needs tokens"),
        ({"proxy": "https://field.example.org"}, "needs tokens"),
        ({"host": "0.0.0.0", "tokens": Path("t")}, "clear text"),
        ({"proxy": "http://field.example.org", "tokens": Path("t")}, "clear text"),
        ({"proxy": "field.example.org", "tokens": Path("t")}, "address that people use"),
        ({"certificate": Path("c")}, "go together"),
    ],
)
def test_others_need_a_token_and_no_secret_travels_in_clear_text(given, word):
    with pytest.raises(ValueError, match=word):
        Options("studies.db", **given)


def test_the_command_refuses_what_is_not_safe(tmp_path):
    program = Path(sys.executable).with_name("corrbandits")
    command = [program, "serve", "--db", tmp_path / "studies.db", "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "needs tokens" in done.stderr


def test_without_a_token_nothing_is_read_or_written(guarded):
    for method, path in [
        ("GET", "/api/v1/studies"),
        ("GET", "/api/v1/studies/meadow"),
        ("GET", "/api/v1/openapi.json"),
        ("GET", "/metrics"),
        ("GET", "/api/v1/me"),
        ("POST", "/api/v1/studies"),
        ("POST", "/api/v1/studies/meadow/ask"),
        ("GET", "/api/v1/studies/meadow/live"),
    ]:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}):
            refused = guarded.request(method, path, headers=headers)
            assert refused.status in (401, 429)
            assert refused.headers["Content-Type"] == "application/problem+json"
    assert guarded.get("/health").status == 200


def test_a_role_may_do_what_it_says_and_no_more(guarded):
    read, tell, manage = (guarded.people[role] for role in ("read", "tell", "manage"))
    new = {"name": "meadow", "arms": ARMS}
    assert [who.post("/api/v1/studies", new).status for who in (read, tell, manage)] == [403, 403, 201]
    study = "/api/v1/studies/meadow"
    assert [who.get(study).status for who in (read, tell, manage)] == [200, 200, 200]
    assert [who.post(f"{study}/ask").status for who in (read, tell, manage)] == [403, 200, 200]
    assert [who.get(f"{study}/export").status for who in (read, tell, manage)] == [403, 403, 200]
    for verb, data in (("tell", {"reward": 1}), ("amend", {"reward": 2}), ("retract", None), ("cancel", None)):
        assert read.post(f"{study}/trials/1/{verb}", data).status == 403
    assert read.post(f"{study}/observe", {"arm": 0, "reward": 1}).status == 403
    assert read.post(f"{study}/rewards", {}).status == 403
    csv = {"Content-Type": "text/csv"}
    assert tell.request("POST", "/api/v1/arms/preview", headers=tell.headers | csv, body=b"name\na\n").status == 403
    assert manage.get(study).data["open"][0]["by"] == "who may tell"


def test_the_name_of_a_token_is_not_for_its_bearer_to_choose(guarded):
    manage = guarded.people["manage"]
    study = manage.create()
    manage.post(f"{study}/ask", None, {"Corrbandits-By": "somebody else"})
    assert manage.get(study).data["open"][0]["by"] == "who may manage"


def test_tokens_are_kept_as_hashes_and_only_their_owner_may_read_the_file(guarded):
    text = guarded.file.read_text()
    assert not any(secret in text for secret in guarded.secrets.values())
    assert guarded.file.stat().st_mode & 0o077 == 0


def test_tokens_are_compared_in_constant_time(tmp_path, monkeypatch):
    import hmac

    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    secrets = [new_token(tmp_path / "tokens", name, "read") for name in ("Anna", "Ben", "Cem")]
    known = Tokens(tmp_path / "tokens")
    assert known.person(secrets[0]).name == "Anna"
    assert len(compared) == 3, "the first that fits does not end the comparison"
    assert all(len(part) == 32 for pair in compared for part in pair), "what is compared is as long for every token"


def test_who_is_struck_out_of_the_file_is_out_at_once(guarded):
    tell = guarded.people["tell"]
    assert tell.get("/api/v1/studies").status == 200
    lines = [line for line in guarded.file.read_text().splitlines(keepends=True) if "who may tell" not in line]
    guarded.file.write_text("".join(lines))
    assert tell.get("/api/v1/studies").status == 401
    assert guarded.people["read"].get("/api/v1/studies").status == 200
    guarded.file.unlink()
    assert guarded.people["read"].get("/api/v1/studies").status == 401


def test_a_wrong_token_is_said_to_be_one_and_none_to_be_needed(guarded):
    wrong = Line(guarded.port, headers={"Authorization": "Bearer wrong"}).get("/api/v1/studies")
    assert (wrong.status, wrong.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "not a token that is known here" in wrong.data["detail"]
    assert "this needs a token" in guarded.get("/api/v1/studies").data["detail"]
    with pytest.raises(PermissionError, match="not a token that is known here"):
        Client(guarded.url, "wrong", study="meadow").ask()


def test_many_wrong_tokens_are_slowed_down(guarded):
    statuses = [guarded.get("/api/v1/studies", {"Authorization": f"Bearer {k}"}).status for k in range(20)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert guarded.people["read"].get("/api/v1/studies").status == 200
    tried = [guarded.post("/api/v1/session", {"token": f"{k}"}).status for k in range(3)]
    assert 429 in tried


def test_a_person_signs_in_by_a_link_that_becomes_a_cookie(guarded):
    said, cookie = cookie_of(guarded, guarded.secrets["tell"])
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert "Path=/" in said
    assert "Secure" not in said  # on loopback, in clear text
    assert guarded.get("/api/v1/me", {"Cookie": cookie}).data["name"] == "who may tell"
    assert guarded.post("/api/v1/session", {"token": "wrong"}).status == 401
    out = guarded.request("DELETE", "/api/v1/session", headers=PAGE | {"Cookie": cookie, "Origin": guarded.url})
    assert "Max-Age=0" in out.headers["Set-Cookie"]


def test_where_people_come_by_tls_the_cookie_is_secure(tmp_path):
    secret = new_token(tmp_path / "tokens", "Anna", "tell")
    proxy = "https://field.example.org/bandits"
    with served(tmp_path / "studies.db", tokens=tmp_path / "tokens", proxy=proxy) as line:
        headers = {"Host": "field.example.org", "Origin": "https://field.example.org"} | PAGE
        answer = line.post("/api/v1/session", {"token": secret}, headers)
        assert "Secure" in answer.headers["Set-Cookie"]
        assert "Path=/bandits" in answer.headers["Set-Cookie"]
        assert answer.headers["Strict-Transport-Security"]


def test_who_opens_a_page_without_signing_in_is_led_to_where_one_does(guarded):
    asked = guarded.get("/s/north%2Feast/map", {"Accept": "text/html"})
    assert asked.status == 303
    assert asked.headers["Location"] == "/signin?next=/s/north%252Feast/map"
    assert guarded.get("/signin", {"Accept": "text/html"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"} | PAGE,
        {"Origin": "null"} | PAGE,
        {"Origin": "http://127.0.0.1:1"} | PAGE,
        {"Sec-Fetch-Site": "cross-site"} | PAGE,
        {"Sec-Fetch-Site": "same-site"} | PAGE,
        {"Sec-Fetch-Site": "same-origin"},  # a form of our own origin cannot set the header
    ],
)
def test_a_page_elsewhere_cannot_make_a_browser_write(guarded, line, headers):
    _, cookie = cookie_of(guarded, guarded.secrets["manage"])
    assert guarded.post("/api/v1/studies", {"name": "m", "arms": ARMS}, headers | {"Cookie": cookie}).status == 403
    assert line.post("/api/v1/studies", {"name": "m", "arms": ARMS}, headers).status == 403
    ours = PAGE | {"Cookie": cookie, "Origin": guarded.url, "Sec-Fetch-Site": "same-origin"}
    assert guarded.post("/api/v1/studies", {"name": "m", "arms": ARMS}, ours).status == 201
    assert guarded.post("/api/v1/studies", {"name": "n", "arms": ARMS}, {"Cookie": cookie}).status == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_form_is_no_document(line, kind):
    study = line.create()
    body, headers = b'{"reward": 1, "arm": 0}', {"Content-Type": kind} if kind else {}
    assert line.request("POST", f"{study}/observe", headers=headers, body=body).status == 415
    assert line.get(study).data["told"] == 0


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[", "a@127.0.0.1.x"]
)
def test_another_name_that_points_here_is_refused(line, host):
    assert line.get("/api/v1/studies", {"Host": host}).status in (400, 421)
    assert line.get("/api/v1/studies", {"Host": f"localhost:{line.port}"}).status == 200


def test_every_answer_says_what_a_browser_may_do_with_it(line):
    study = line.create()
    for path in ("/", "/api/v1/studies", study, "/nothing", "/s/meadow/", "/health"):
        headers = line.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Frame-Options"] == "DENY"
        assert "Access-Control-Allow-Origin" not in headers
        assert "Server" not in headers
    page = line.get("/s/meadow/").body.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"\bon\w+=|<style|style=", page)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "{% include '/etc/passwd' %}"]
)
def test_no_name_gets_out_of_a_template(line, name):
    line.create(name)
    from urllib.parse import quote

    page = line.get(f"/s/{quote(name, safe='')}/").body.decode()
    assert name not in page or "<" not in name
    assert "49" not in re.sub(r"[0-9a-f]{8,}", "", page) or "7*7" in page
    assert "root:" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../../../etc/passwd",
        "/static/x/..%2f..%2f..%2fetc%2fpasswd",
        "/static/x/%2e%2e/%2e%2e/service/tokens.py",
        "/s/..%2f..%2fetc%2fpasswd/",
        "/api/v1/studies/..%2f..%2fetc%2fpasswd/export",
        "//etc/passwd",
    ],
)
def test_no_request_reaches_a_path(line, path):
    found = line.get(path)
    assert b"root:" not in found.body
    assert b"hashlib" not in found.body


@pytest.mark.parametrize("name", ["'; DROP TABLE studies; --", "x' OR '1'='1", 'a"b', "%' --"])
def test_no_request_reaches_sql(line, tmp_path, name):
    from urllib.parse import quote

    study = line.create("meadow")
    assert line.get(f"/api/v1/studies/{quote(name, safe='')}").status == 404
    line.create(name)
    line.post(f"{study}/observe", {"arm": 0, "reward": 1}, {"Idempotency-Key": name, "Corrbandits-By": quote(name)})
    assert set(Study.list(tmp_path / "studies.db")) == {"meadow", name}
    assert line.get(f"{study}/events").data["events"][-1]["by"] == name


def test_what_is_too_large_is_refused_before_it_is_read(line):
    study = line.create()
    big = {"Content-Type": "application/json", "Content-Length": str(SMALL + 1)}
    connection = http.client.HTTPConnection("127.0.0.1", line.port, timeout=10)
    connection.putrequest("POST", f"{study}/ask")
    for head, value in big.items():
        connection.putheader(head, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    pieces = iter([b" " * 10_000] * (SMALL // 10_000 + 2))
    json_ = {"Content-Type": "application/json"}
    assert line.request("POST", f"{study}/ask", headers=json_, body=pieces).status == 413
    assert LARGE > 10 * SMALL
    most = line.request("POST", f"{study}/ask", headers=json_, body=b"[" * SMALL)
    assert most.status in (400, 422)


def test_one_person_cannot_take_the_time_of_all(tmp_path):
    with served(tmp_path / "studies.db", rate=5.0, burst=10) as line:
        answers = [line.get("/api/v1/studies") for _ in range(15)]
        assert [one.status for one in answers[:10]] == [200] * 10
        assert answers[-1].status == 429
        assert int(answers[-1].headers["Retry-After"]) >= 1
        time.sleep(1.1)
        assert line.get("/api/v1/studies").status == 200


def test_a_rate_is_each_persons_own(tmp_path):
    secrets = [new_token(tmp_path / "tokens", name, "read") for name in ("Anna", "Ben")]
    with served(tmp_path / "studies.db", tokens=tmp_path / "tokens", rate=0.1, burst=5) as line:
        anna, ben = (Line(line.port, headers={"Authorization": f"Bearer {secret}"}) for secret in secrets)
        assert [anna.get("/api/v1/studies").status for _ in range(6)] == [200] * 5 + [429]
        assert ben.get("/api/v1/studies").status == 200


def test_a_request_has_a_bound_of_time(tmp_path):
    with served(tmp_path / "studies.db", seconds=0.5) as line:
        study = line.create()
        desk = line.service.shelf.desk("meadow")
        with desk.asker._replica.lock:
            began = time.monotonic()
            late = line.post(f"{study}/ask", None, {"Idempotency-Key": "once"})
            assert late.status == 504
            assert time.monotonic() - began < 5
            assert line.get(study).status == 200
        for _ in range(50):
            if (done := line.post(f"{study}/ask", None, {"Idempotency-Key": "once"})).status == 200:
                break
        assert done.data["trials"][0]["trial"] == 1


def test_a_request_that_does_not_come_to_its_end_is_let_go(tmp_path):
    with (
        served(tmp_path / "studies.db", seconds=0.5) as line,
        socket.create_connection(("127.0.0.1", line.port)) as slow,
    ):
        slow.sendall(
            b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        slow.settimeout(10)
        assert b" 408 " in slow.recv(100)


@pytest.mark.slow
def test_a_choice_among_many_arms_does_not_hold_up_the_others(line):
    big = {"name": [f"s{k}" for k in range(10_000)]}
    big |= {"x": [float(k % 100) for k in range(10_000)], "y": [float(k // 100) for k in range(10_000)]}
    large, small = line.create("large", arms=big), line.create("small")
    line.post(f"{small}/ask")
    for k in range(6):
        line.post(f"{large}/observe", {"arm": 1_500 * k, "reward": 20.0 + k % 4})
    ending, waits = threading.Event(), []

    def others():
        while not ending.is_set():
            began = time.monotonic()
            assert line.get(small).status == 200
            assert line.post(f"{large}/observe", {"arm": 3, "reward": 21.0}).status == 200
            waits.append(time.monotonic() - began)

    thread = threading.Thread(target=others)
    thread.start()
    began = time.monotonic()
    assert line.post(f"{large}/ask", {"n": 8}).status == 200
    took = time.monotonic() - began
    ending.set()
    thread.join()
    assert len(waits) >= 2
    assert sorted(waits)[len(waits) // 2] < max(0.5, took / 2)


def test_no_secret_is_logged_or_told(guarded, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        cookie_of(guarded, guarded.secrets["manage"])
        manage = guarded.people["manage"]
        study = manage.create()
        said = [manage.get(path).body for path in ("/metrics", study, "/api/v1/me", "/api/v1/openapi.json")]
        manage.get(f"{study}?token={guarded.secrets['manage']}")
        guarded.post("/api/v1/session", {"token": guarded.secrets["tell"] + "x"})
        said.append(manage.get("/metrics").body)
    out, err = capfd.readouterr()
    written = caplog.text + out + err + "".join(part.decode() for part in said)
    assert not any(secret in written for secret in guarded.secrets.values())


def test_where_studies_are_kept_is_not_told(line, tmp_path):
    study = line.create()
    taken = line.post("/api/v1/studies", {"name": "meadow", "arms": ["a", "b"] and {"name": ["a", "b"]}})
    assert taken.status == 409
    (tmp_path / "studies.db").rename(tmp_path / "away.db")
    gone = line.get(study)
    assert gone.status in (404, 503)
    for answer in (taken, gone, line.get("/health")):
        assert str(tmp_path) not in answer.body.decode()


def test_behind_a_proxy_with_a_prefix_it_works(tmp_path):
    secret = new_token(tmp_path / "tokens", "Anna", "manage")
    proxy = "https://field.example.org/bandits"
    with served(tmp_path / "studies.db", tokens=tmp_path / "tokens", proxy=proxy) as line:
        line.headers = {"Authorization": f"Bearer {secret}", "Host": "field.example.org"}
        study = line.create("north/east")
        assert line.get(study).data["study"] == "north/east"
        line.prefix = ""  # a proxy that strips the prefix
        assert line.get("/api/v1/studies").status == 200
        page = line.get("/bandits/", {"Accept": "text/html"})
        assert page.status == 200
        assert b'"/bandits/static/' in page.body
        led = Line(line.port, headers={"Host": "field.example.org"}).get("/bandits/s/x/", {"Accept": "text/html"})
        assert led.headers["Location"] == "/bandits/signin?next=/bandits/s/x/"
        elsewhere = line.post(
            "/bandits/api/v1/studies", {"name": "x", "arms": ARMS}, {"Origin": "http://field.example.org"}
        )
        assert elsewhere.status == 403


def test_an_unexpected_error_says_nothing_of_the_inside(line, monkeypatch):
    study = line.create()
    monkeypatch.setattr("corrbandits.web.service.documents.summary", lambda _: 1 / {}["secret path"])
    found = line.get(study)
    assert found.status == 500
    assert "secret path" not in found.body.decode()
    assert found.headers["Content-Type"] == "application/problem+json"
    assert found.headers["X-Content-Type-Options"] == "nosniff"
