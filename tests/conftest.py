"""Databases for the tests that ask for one."""

from collections.abc import Iterator

import pytest

from tests.support.databases import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of this session's own; a test may stop it."""
    started = Server()
    try:
        yield started
    finally:
        started.end()


@pytest.fixture
def postgres(server: Server) -> Iterator[str]:
    """The URL of a new database on it."""
    with server.database() as url:
        yield url
