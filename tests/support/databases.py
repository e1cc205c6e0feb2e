"""What the tests of studies stand on: other processes, and connections that are noted."""

import gc
import multiprocessing
import os
import sqlite3

import pytest
import sqlalchemy as sa

from corrbandits.study.journal import Journal
from corrbandits.study.journal.contract import append_pairs

IMPORTED = [
    "corrbandits.cli.app",
    "corrbandits.simulation.engines.compiled",
    "corrbandits.study",
    "dask.array",
    "h5netcdf",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "pandas",
    "psycopg",
    "pytest",
    "scipy.optimize",
    "scipy.spatial.distance",
    "sqlite3",
    "xarray",
]
NEWLY = multiprocessing.get_context("forkserver")
"""Processes forked from one that has imported what they need and has no threads: quick to start, free to be killed."""
NEWLY.set_forkserver_preload(IMPORTED)

# what other processes do: here, so that they need to import little


def append_some(url: str, study: int, writer: int, count: int) -> None:
    """Append so many pairs of events through a journal of one's own."""
    journal = Journal(url)
    append_pairs(journal, study, writer, count)
    journal.close()


def create_and_enrol(url: str, name: str, gate: object) -> None:
    """Wait for the others, and then all at once make the tables and a study."""
    gate.wait(60)
    journal = Journal(url, create=True)
    journal.enrol(name, ["created"])
    journal.close()


def use_after_fork(url: str, study: int) -> None:
    """Fork with a connection open: the child and the parent go on, the child drops what it got, the parent goes on."""
    journal = Journal(url)
    journal.append(study, 2, ["parent"])
    new = []
    sa.event.listen(journal._database._engine, "connect", lambda *_: new.append(os.getpid()))
    for end in ("by itself", "with its parent's connections"):
        if not (child := os.fork()):
            code = 1
            try:
                if end == "by itself":
                    journal.append(study, 3, ["child"])
                del journal
                gc.collect()
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert journal.read(study, 0) == ["created", "parent", "child"]
    journal.append(study, 4, ["parent again"])
    assert not new, "the parent's connection was closed by its child"
    journal.close()


def together(target: object, *arguments: tuple) -> None:
    """Run a function in processes of their own, one for each tuple of arguments, and see that all of them succeed."""
    processes = [NEWLY.Process(target=target, args=each) for each in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        if process.is_alive():
            process.kill()
    assert [process.exitcode for process in processes] == [0] * len(processes)


class Noted(sqlite3.Connection):
    """A connection that notes in lists that it was made, and that it was closed by who made it."""

    made: list[sqlite3.Connection]
    closed: list[sqlite3.Connection]

    def close(self) -> None:
        self.closed.append(self)
        super().close()


def noted(monkeypatch: pytest.MonkeyPatch) -> type[Noted]:
    """Note every connection to a SQLite file from now on; return a class that has the lists."""
    plain, kind = sqlite3.connect, type("Noted", (Noted,), {"made": [], "closed": []})

    def connect(*arguments: object, **options: object) -> sqlite3.Connection:
        kind.made.append(plain(*arguments, factory=kind, **options))
        return kind.made[-1]

    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", connect)
    return kind
