"""Standard output that says what it could not write: a full disk loses words, but not what they are about."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

MOST_SHOWN = 2_000
"""So many bytes of what was to be said are kept."""


@final
class UnsaidError(OSError):
    """Standard output could not be written; `unsaid` is what stood there, or its beginning."""

    def __init__(self, error: OSError, unsaid: str) -> None:
        super().__init__(error.errno, error.strerror)
        self.unsaid = unsaid


@final
class _Output(io.FileIO):
    """A file that raises `UnsaidError` once, and then takes anything: what is flushed at the end is no second error."""

    broken = False

    def write(self, content: Any, /) -> int:
        size = memoryview(content).nbytes
        if self.broken:
            return size
        try:
            return super().write(content) or 0
        except BrokenPipeError:
            self.broken = True
            raise
        except OSError as error:
            self.broken = True
            raise UnsaidError(error, bytes(content[:MOST_SHOWN]).decode(errors="replace")) from error


@contextmanager
def standard_output() -> Iterator[None]:
    """Let what is printed within raise `UnsaidError` where it cannot be written, at the end at the latest."""
    before = sys.stdout
    number = None
    if isinstance(before, io.TextIOWrapper):
        with suppress(OSError):  # it is no file
            number = before.fileno()
    if number is None:
        yield
        return
    before.flush()
    file = io.BufferedWriter(_Output(number, "wb", closefd=False))
    sys.stdout = io.TextIOWrapper(
        file, encoding=before.encoding, errors="replace", newline="\n", line_buffering=bool(before.line_buffering)
    )
    try:
        yield
        sys.stdout.flush()
    except SystemExit:
        sys.stdout.flush()
        raise
    finally:
        sys.stdout = before
