"""Files of results: each is written whole beside its place, and all are put in place together at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

PARTIAL = ".partial"
"""How the names of files end that wait beside their places."""


@final
class Results:
    """Files that wait beside their places; `results` makes one and puts them there."""

    def __init__(self, directory: Path, inputs: Iterable[Path]) -> None:
        self.directory = directory
        self._inputs = [path.resolve() for path in inputs]
        self._waiting: dict[Path, Path] = {}  # place: the file that waits for it

    def write(self, name: str, content: bytes | memoryview, *, follow_links: bool = True) -> None:
        """Write a file beside its place; a link is followed, so that the file it names is the place, or replaced."""
        place = (self.directory / name).resolve() if follow_links else self.directory.resolve() / name
        if place in self._inputs:
            raise ValueError(
                f"{self.directory / name} is what the results come from and must stay, but they would replace it. "
                "Name another directory."
            )
        if place.exists() and not place.is_file() and (follow_links or not place.is_symlink()):
            raise ValueError(f"{place} must be a file or not be there, but it is something else. Move it away.")
        waiting = place.with_name(f".{place.name}.{uuid.uuid4().hex}{PARTIAL}")  # other machines may write here too
        self._waiting[place] = waiting
        try:
            with waiting.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(
                f"{place} cannot be written: {error.strerror}. Make room there, or name another directory."
            ) from error

    def put_in_place(self) -> None:
        """Rename every file into its place; Ctrl-C waits until all are there."""
        with _undisturbed():
            for place, waiting in self._waiting.items():
                waiting.replace(place)

    def discard(self) -> None:
        """Remove what still waits."""
        for waiting in self._waiting.values():
            waiting.unlink(missing_ok=True)


@contextmanager
def results(directory: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> Iterator[Results]:
    """Yield files to write into a directory, and put them in place if all goes well: all of them or none.

    `inputs` are files that none of them may replace.

    >>> with tempfile.TemporaryDirectory() as here:
    ...     with results(here) as files:
    ...         files.write("a.txt", b"whole")
    ...         before = (Path(here) / "a.txt").exists()
    ...     before, (Path(here) / "a.txt").read_text()
    (False, 'whole')
    """
    files = Results(Path(directory), inputs)
    try:
        yield files
        files.put_in_place()
    finally:
        files.discard()


def write_file(path: str | os.PathLike[str], content: bytes | memoryview, *, follow_links: bool = True) -> None:
    """Write one file; what was there before is replaced once the new one is whole.

    With `follow_links`, that is the file a link names; without, the link itself.
    """
    place = Path(path)
    with results(place.parent) as files:
        files.write(place.name, content, follow_links=follow_links)


def make_directory(out: Path, what: str = "results") -> None:
    """Make a directory for results or `what`, before the work, and see that files can be written there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise OSError(f"{what} cannot be written into {out}: {error.strerror}. Name another directory.") from error


def remove_abandoned(directory: Path, seconds: float) -> None:
    """Remove files that were never put in place and are older than this: their writer was killed."""
    for path in directory.glob(f".*{PARTIAL}"):
        with contextlib.suppress(OSError):  # it was put in place meanwhile, or is not ours to remove
            if time.time() - path.stat().st_mtime > seconds:
                path.unlink()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; only the main thread receives it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    held: list[int] = []

    def hold(number: int, frame: Any) -> None:
        held.append(number)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)
