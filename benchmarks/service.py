"""The service under load: many clients that ask, tell and look without a pause, on SQLite and PostgreSQL.

    python -m benchmarks.service [--seconds 60] [--clients 50] [--quick] [--out docs]

The server is a process of its own, the clients are another. Every acknowledged tell must be in the journal, once, with
its reward, and no answer may be an error but 429. Then the server is killed in the middle of such a run and started
again: the same must hold, and the clients go on by themselves. Beside it stands Optuna's storage on the same database,
without a server between: as many threads, which ask its random sampler, that looks at no reward.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import DOCS, duration, marked
from benchmarks.timing import load, machine, tell
from corrbandits import CorrelatedUCL, Study
from corrbandits.belief import Correlated
from corrbandits.environments import landscapes
from corrbandits.kernels import Exponential

PAGE, DATA = "service.md", "service.json"
TOLD, UNTOLD, KILLED, OPTUNA = "a prior that was told", "nothing told", "a prior that was told; killed midway", "Optuna"
ALLOWED = {"200", "429"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each run takes")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="few seconds, to see that everything works")
    parser.add_argument("--on", type=Path, metavar="DIRECTORY", help="where the databases lie while it runs")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    options = parser.parse_args()
    seconds = 3.0 if options.quick else options.seconds
    with tempfile.TemporaryDirectory(dir=options.on) as directory, databases(Path(directory)) as places:
        data = measured(places, options.clients, seconds)
    print(table(data))
    if options.out:
        (options.out / DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        text = (DOCS / PAGE).read_text(encoding="utf-8")
        (options.out / PAGE).write_text(page(text, data), encoding="utf-8")


@contextmanager
def databases(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield a function for each kind of database, which returns the address of a new one."""
    from tests.support.postgres import Server

    server, made = Server(), iter(range(1_000))

    def postgresql() -> str:
        name = f"load_{next(made)}"
        server.execute(f"CREATE DATABASE {name}")
        return server.url(name)

    try:
        yield {"SQLite": lambda: f"sqlite:///{directory}/{next(made)}.db", "PostgreSQL": postgresql}
    finally:
        server.end()


def measured(places: dict[str, Any], clients: int, seconds: float) -> dict[str, Any]:
    """Return what was seen in each run."""
    before, rows = load(), []
    for kind, new in places.items():
        for what in (TOLD, UNTOLD, KILLED):
            tell(f"{kind}: {what}")
            rows.append({"on": kind, "what": what} | served(new(), what, clients, seconds))
        tell(f"{kind}: {OPTUNA}")
        rows.append({"on": kind, "what": OPTUNA} | beside(new(), clients, seconds))
    on = machine()
    on["versions"] = {name: on["versions"].get(name, "not installed") for name in ("corrbandits", "numpy", "optuna")}
    return {"machine": on, "load": [before, load()], "clients": clients, "seconds": seconds, "rows": rows}


def served(url: str, what: str, clients: int, seconds: float) -> dict[str, Any]:
    """Return what clients of a server saw; refuse what must not be."""
    created(url, what)
    port = free_port()
    with Running(url, port) as server:
        command = [sys.executable, "-m", "benchmarks.load.clients", f"http://127.0.0.1:{port}", "load"]
        generator = subprocess.Popen([*command, str(clients), str(seconds)], stdout=subprocess.PIPE)
        if what == KILLED:
            time.sleep(seconds / 2)
            server.kill()
            server.start()
        found = json.loads(generator.communicate(timeout=seconds + 300)[0])
        code = server.stop()
    lost = missing(url, {int(trial): reward for trial, reward in found["told"].items()})
    strange = {status: number for status, number in found["statuses"].items() if status not in ALLOWED}
    if lost or strange or code or (found["broken"] and what != KILLED):
        raise AssertionError(f"{url}, {what}: lost {lost}, answers {strange}, broken {found['broken']}, exit {code}")
    return summary(found["times"], seconds) | {"acknowledged": len(found["told"]), "broken": found["broken"]}


def created(url: str, what: str) -> None:
    """Make a study of 100 arms: one that was told its prior, or one that learns it."""
    surface = landscapes.two_peaks()
    kernel, where = 10 * Exponential(3.0), surface.coordinates
    prior = Correlated(mean=30.0, kernel=kernel, coordinates=where, noise_variance=10.0)
    told = {"prior": prior, "policy": CorrelatedUCL(a=3.3)}
    columns = {"x": where[:, 0].tolist(), "y": where[:, 1].tolist()}
    Study.create(url, "load", **({"arms": columns, "rounds": 1_000} if what == UNTOLD else told)).close()


def missing(url: str, acknowledged: dict[int, float]) -> int:
    """Return how many acknowledged rewards are not in the journal, once and as they were told."""
    with Study.open(url, "load") as study:
        rows = study.history()
        events = [json.loads(body) for body in study._replica.events()]
    found = dict(zip(rows["trial"].tolist(), rows["reward"].tolist(), strict=True))
    told = [event["trial"] for event in events if event["event"] == "told"]
    twice = len(told) - len(set(told))
    return twice + sum(found.get(trial) != reward for trial, reward in acknowledged.items())


def beside(url: str, clients: int, seconds: float) -> dict[str, Any]:
    """Return what threads that use Optuna's storage saw."""
    address = url.replace("postgresql://", "postgresql+psycopg://")
    command = [sys.executable, "-m", "benchmarks.load.optunas", address, str(clients), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 600)
    if done.returncode:
        return {"missing": done.stderr.strip().splitlines()[-1][:200]}
    found = json.loads(done.stdout)
    return summary(found["times"], seconds) | {"errors": found["errors"]}


def summary(times: dict[str, list[float]], seconds: float) -> dict[str, Any]:
    """Return the median and the 99th percentile of each call, and how many trials were told a second."""
    calls = {
        what: {"p50": float(np.quantile(taken, 0.5)), "p99": float(np.quantile(taken, 0.99)), "count": len(taken)}
        for what, taken in times.items()
        if taken
    }
    return {"calls": calls, "a_second": len(times["tell"]) / seconds}


class Running:
    """A server in a process of its own."""

    def __init__(self, url: str, port: int) -> None:
        program = [sys.executable, "-m", "corrbandits.cli.entry", "serve", "--db", url, "--port", str(port)]
        self._command, self._port = [*program, "--rate", "1e9", "--burst", "1000000"], port
        self.start()

    def start(self) -> None:
        """Start it, and return when it listens."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        for _ in range(1_200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("the server does not start")

    def kill(self) -> None:
        """End it as a power failure would."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        self._process.terminate()
        return self._process.wait(60)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def table(data: dict[str, Any]) -> str:
    """Return what was measured as a table in Markdown."""
    lines = [
        "| on | study | trials a second | ask: p50, p99 | tell: p50, p99 | look: p50, p99 |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for one in data["rows"]:
        if "missing" in one:
            lines.append(f"| {one['on']} | {one['what']} | could not: {one['missing']} | | | |")
            continue
        calls = [_pair(one["calls"].get(what)) for what in ("ask", "tell", "look")]
        failed = sum(one.get("errors", {}).values())
        what = one["what"] + (f" ({failed:,} calls failed)" if failed else "")
        lines.append(f"| {one['on']} | {what} | {one['a_second']:.0f} | {' | '.join(calls)} |")
    on = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    told = sum(one.get("acknowledged", 0) for one in data["rows"])
    return "\n".join(
        [
            *lines,
            "",
            f"{data['clients']} clients, {data['seconds']:g} s each, 100 arms. Of {told:,} rewards that were "
            f"acknowledged all are in the journal, once. On {on['processor']}, {on['cores']} cores, server and clients "
            f"together; load {data['load'][0]} before, {data['load'][1]} after; with {versions}.",
        ]
    )


def _pair(call: dict[str, float] | None) -> str:
    return "" if call is None else f"{duration(call['p50'])}, {duration(call['p99'])}"


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its table made anew."""
    return marked(text, "load", table(data))


if __name__ == "__main__":
    main()
