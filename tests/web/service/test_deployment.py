"""What the document says of a unit and a proxy, tried: with nginx and systemd's own check, where they are installed."""

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager

import pytest

import corrbandits as cb
from corrbandits.web.service.running import free_port
from corrbandits.web.service.tokens import new_token
from tests.support import ROOT
from tests.support.serving import ARMS, Line, served

TEXT = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[1]


def program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    command = program("systemd-analyze")
    binary = tmp_path / "corrbandits"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    unit = tmp_path / "corrbandits.service"
    unit.write_text(block("ini").replace("/opt/corrbandits/bin/corrbandits", str(binary)))
    done = subprocess.run([command, "verify", "--man=no", unit], capture_output=True, text=True)
    assert "corrbandits.service:" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_the_options_of_the_unit_are_taken(tmp_path):
    """The line that starts the server, but for its paths, is one that the command takes."""
    line = re.search(r"^ExecStart=\S+ serve (.*)$", block("ini"), re.MULTILINE)[1].split()
    from corrbandits.web.service.options import Options

    given = dict(zip(line[::2], line[1::2], strict=True))
    assert given.keys() == {"--port", "--token-file", "--behind-proxy"}
    assert Options("x.db", tokens=tmp_path, proxy=given["--behind-proxy"]).prefix == "/bandits"


@contextmanager
def proxied(tmp_path, upstream):
    """Yield the port of nginx with the configuration of the document, before a server."""
    nginx, openssl = program("nginx"), program("openssl")
    port, key, certificate = free_port("127.0.0.1"), tmp_path / "key.pem", tmp_path / "cert.pem"
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, *about]
    subprocess.run(made, check=True, capture_output=True)
    location = block("nginx").replace("127.0.0.1:8000", f"127.0.0.1:{upstream}")
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = " ".join(f"{name}_temp_path {tmp_path}/{name};" for name in names)
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {tmp_path}/pid; error_log {tmp_path}/errors;\n"
        f"events {{ worker_connections 64; }}\nhttp {{ access_log {tmp_path}/requests; {folders}\n"
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {key};\n"
        f"{location} }} }}\n"
    )
    running = subprocess.Popen([nginx, "-e", tmp_path / "errors", "-c", tmp_path / "nginx.conf"])
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, certificate
    finally:
        running.terminate()
        running.wait(10)


class Secure(Line):
    """A line by TLS."""

    context = None

    def connection(self):
        return http.client.HTTPSConnection("localhost", self.port, context=self.context, timeout=30)

    def request(self, method, path, data=None, headers=None, body=None, timeout=30):
        from tests.support.serving import Answer

        connection, given = self.connection(), self.headers | (headers or {})
        if data is not None:
            body, given = json.dumps(data).encode(), {"Content-Type": "application/json"} | given
        connection.request(method, self.prefix + path, body, given)
        answer = connection.getresponse()
        found = Answer(answer.status, answer.headers, answer.read())
        connection.close()
        return found


@pytest.mark.slow
def test_behind_nginx_with_tls_and_a_prefix(tmp_path, monkeypatch):
    secret, upstream = new_token(tmp_path / "tokens", "Anna", "manage"), free_port("127.0.0.1")
    with proxied(tmp_path, upstream) as (port, certificate):
        public = f"https://localhost:{port}/bandits"
        with served(tmp_path / "studies.db", port=upstream, tokens=tmp_path / "tokens", proxy=public):
            line = Secure(port, "/bandits")
            line.context = ssl.create_default_context(cafile=str(certificate))
            led = line.get("/s/a%2Fb/", {"Accept": "text/html"})
            assert (led.status, led.headers["Location"]) == (303, "/bandits/signin?next=/bandits/s/a%252Fb/")
            page = {"Corrbandits-Page": "1", "Origin": f"https://localhost:{port}"}
            signed = line.post("/api/v1/session", {"token": secret}, page)
            assert signed.status == 204
            assert "Secure" in signed.headers["Set-Cookie"]
            line.headers = page | {"Cookie": signed.headers["Set-Cookie"].partition(";")[0]}
            study = line.create("north/east 50 %")
            assert line.get(study).data["study"] == "north/east 50 %"
            shell = line.get("/s/north%2Feast%2050%20%25/", {"Accept": "text/html"}).body.decode()
            files = re.findall(r'(?:src|href)="/bandits(/static/[^"]+)"', shell)
            assert files
            assert all(line.get(file).status == 200 for file in files)
            watching = line.connection()
            watching.request("GET", f"/bandits{study}/live", headers=line.headers)
            stream = watching.getresponse()
            assert _event(stream) == 1
            began = time.monotonic()
            line.post(f"{study}/ask")
            assert _event(stream) == 2
            assert time.monotonic() - began < 1
            watching.close()
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            with cb.Client(f"{public}/s/north%2Feast%2050%20%25/map", secret) as client:
                client.tell(client.open_trials[0], 31.2)
                assert client.reward(1) == 31.2
            assert (
                line.post("/api/v1/studies", {"name": "x", "arms": ARMS}, {"Origin": "https://evil.example"}).status
                == 403
            )
        assert line.get("/health").status == 502
    assert secret not in (tmp_path / "requests").read_text()


def _event(stream):
    while True:
        text = stream.readline().decode()
        assert text
        if text.startswith("id: "):
            return int(text[4:])
