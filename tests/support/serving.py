"""A server for tests, in a thread or in a process of its own; and requests of which every header is ours."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from corrbandits.web.service.app import application
from corrbandits.web.service.options import Options
from corrbandits.web.service.running import free_port, prepared

ARMS = {"name": [f"{letter}{n}" for letter in "ABCD" for n in range(6)]}
ARMS |= {"x": [float(n) for _ in "ABCD" for n in range(6)], "y": [float(k) for k in range(4) for _ in range(6)]}


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def data(self):
        return json.loads(self.body)


@dataclass
class Line:
    """Where a server listens, and what every request to it carries."""

    port: int
    prefix: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    service: object = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def request(self, method, path, data=None, headers=None, body=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        given = self.headers | (headers or {})
        if data is not None:
            body, given = json.dumps(data).encode(), {"Content-Type": "application/json"} | given
        try:
            connection.request(method, self.prefix + path, body, given)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.request("GET", path, headers=headers)

    def post(self, path, data=None, headers=None):
        return self.request("POST", path, data, headers)

    def create(self, name="meadow", **more):
        made = self.post("/api/v1/studies", {"name": name, "arms": ARMS, "rounds": 40} | more)
        assert made.status == 201, made.body
        return f"/api/v1/studies/{quote(name, safe='')}"


@contextmanager
def served(database, **given):
    """Yield a line to a server in a thread."""
    usual = {"port": free_port("127.0.0.1"), "rate": 1e6, "burst": 10**6}
    options = Options(str(database), **(usual | given))
    app, service = application(options)
    server = prepared(app, service)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield Line(options.port, options.prefix, service=service)
    finally:
        service.live.end()
        server.should_exit = True
        thread.join(30)


class Process:
    """A server of its own, as people start it; it can be killed and started again on the same port."""

    def __init__(self, database, *options, port=None):
        self.port = port or free_port("127.0.0.1")
        program = Path(sys.executable).with_name("corrbandits")
        limits = ["--rate", "1000000", "--burst", "1000000"]
        self._command = [program, "serve", "--db", str(database), "--port", str(self.port), *limits, *options]
        self.line = Line(self.port)
        self.start()

    def start(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(self._process.stderr.read().decode())
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError("the server does not listen")

    def kill(self):
        """End it as a power failure would."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._end()

    def terminate(self):
        """Ask it to end; return its exit code and what it said."""
        self._process.terminate()
        return self._end()

    def _end(self):
        said = self._process.communicate(timeout=60)
        return self._process.returncode, said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.kill()
