"""Files that grow by whole lines: several processes append to one, and a kill costs at most the line being written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

BLOCK = 4_096  # bytes, read from the end to find the last line that has ended


def whole_lines(path: Path) -> str:
    r"""Return the lines of a file that have ended, "" if there is no file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     path = Path(here) / "games.csv"
    ...     _ = path.write_text("name,regret\na,1.5\nb,2")  # whoever wrote the last line was killed
    ...     append(path, "c,3.5\n")
    ...     whole_lines(path)
    'name,regret\na,1.5\nc,3.5\n'
    """
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1].decode()


def append(path: Path, lines: str, header: str = "") -> None:
    """Append lines, after a header if they are the first; they are durable from the moment this returns.

    What a writer that was killed has left of a line is removed. Where not all lines can be written, none is kept.
    """
    with path.open("a+b", buffering=0) as file:
        _wait_for_turn(file)
        size = _size_of_whole_lines(file)
        file.truncate(size)
        left = (lines if size else header + lines).encode()
        try:
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(size)
            raise


def _wait_for_turn(file: IO[bytes]) -> None:
    """Wait until nobody else writes, where the system can tell."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _size_of_whole_lines(file: IO[bytes]) -> int:
    size = file.seek(0, os.SEEK_END)
    while size:
        start = max(0, size - BLOCK)
        file.seek(start)
        if (end := file.read(size - start).rfind(b"\n")) >= 0:
            return start + end + 1
        size = start
    return 0
