"""Databases for the tests that ask for one; slow tests first; interrupts, which tests send to their children.

Kernels are played by numba's simulator unless the environment says otherwise (`make test-gpu`); numba reads it when it
is imported, so it is set before anything else.
"""

import os

os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

import gc
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.postgres import Server


def pytest_configure() -> None:
    """Let children be interrupted, also where the shell that started us ignores it (`nohup make test &`)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow tests, so that no worker is left with one when the others have ended."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among what stays to the end: compiling alone takes a sixth less time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session")
def server() -> "Iterator[Server]":
    """A PostgreSQL server of this session's own; a test may stop it."""
    from tests.support.postgres import Server  # for these tests alone: others may run where no database can

    started = Server()
    try:
        yield started
    finally:
        started.end()


@pytest.fixture
def postgres(server: "Server") -> Iterator[str]:
    """The URL of a new database on it."""
    with server.database() as url:
        yield url
