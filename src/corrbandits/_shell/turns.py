"""Processes that take turns at what several would do alike, or at files that only one may write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import final

STEP = 0.02
"""How many seconds a process waits before it looks again."""

PLACES = 1 << 40
"""A name is a byte of a file that holds none: the system locks bytes, whether they are there or not."""


@final
class Turns:
    """Turns by name, for all processes that name the same file; one that ends, or is killed, leaves its turns.

    Where the file cannot be opened, or the system has no such locks, nobody waits.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     turns = Turns(Path(here) / "turns.lock")
    ...     with turns.turn("one", longest=1.0):
    ...         print("nobody else is here")
    nobody else is here
    """

    def __init__(self, file: Path) -> None:
        try:
            self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            self._file = -1

    def take(self, name: str, longest: float) -> None:
        """Wait until it is this process's turn, but for so many seconds at most."""
        until = time.monotonic() + longest
        while not self._free(name) and time.monotonic() < until:
            time.sleep(STEP)

    def leave(self, name: str) -> None:
        """Let others have their turn."""
        if self._file >= 0:
            import fcntl  # not on every system

            with suppress(OSError):  # it ends with the process
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(name))

    @contextmanager
    def turn(self, name: str, longest: float) -> Iterator[None]:
        """Have a turn while the body runs."""
        self.take(name, longest)
        try:
            yield
        finally:
            self.leave(name)

    def _free(self, name: str) -> bool:
        """Return whether no other process has this turn, or nobody can tell; if so, it is ours."""
        if self._file < 0:
            return True
        try:
            import fcntl  # not on every system

            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
        except (BlockingIOError, PermissionError):
            return False
        except (ImportError, OSError):
            self._file = -1
        return True


@cache
def turns_in(folder: str) -> Turns:
    """Return the turns of a folder, the same ones for a process: to close a file is to leave all turns at it."""
    return Turns(Path(folder) / "turns.lock")


def _place(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big") % PLACES
