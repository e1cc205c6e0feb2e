"""Files of results: each is written whole beside its place, and all are put in place together at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, final

PARTIAL = ".partial"
"""How the names of files end that wait beside their places."""

GRACE_SECONDS = 60.0
"""A file that waits is left alone for so long; after that, if nobody holds it, its writer was killed."""

STALE_SECONDS = 86_400.0
"""And after this in any case: on some shared disks nobody can see who holds a file."""

REMEDIES = {
    errno.ENOSPC: "Make room there, or name another directory.",
    errno.EDQUOT: "Make room there, or name another directory.",
    errno.EFBIG: "Make room there, or name another directory.",
    errno.ENOENT: "Make the directory, or name another.",
}
"""What to do about a file that cannot be written, by the number of the error."""

_WAITING = re.compile(rf"\.(.*\.)?[0-9a-f]{{32}}{re.escape(PARTIAL)}")


@final
class Results:
    """Files that wait beside their places; `results` makes one and puts them there."""

    def __init__(self, directory: Path, inputs: Iterable[Path]) -> None:
        self.directory = directory
        self._inputs = [path.resolve() for path in inputs]
        self._waiting: dict[Path, Path] = {}  # place: the file that waits for it
        self._held: list[IO[bytes]] = []  # the same files: while they are open, nobody takes them for abandoned

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
        # other machines may write here too; and a name of its own may be as long as names can be
        waiting = place.with_name(f".{uuid.uuid4().hex}{PARTIAL}")
        self._waiting[place] = waiting
        try:
            file = waiting.open("wb")
            self._held.append(file)
            locked = _locked(file)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if not locked:
                file.close()
        except OSError as error:
            remedy = REMEDIES.get(error.errno or 0, "Name another directory.")
            raise OSError(f"{place} cannot be written: {error.strerror}. {remedy}") from error

    def put_in_place(self) -> None:
        """Rename every file into its place; Ctrl-C waits until all are there."""
        with _undisturbed():
            for place, waiting in self._waiting.items():
                waiting.replace(place)

    def discard(self) -> None:
        """Remove what still waits."""
        for waiting in self._waiting.values():
            waiting.unlink(missing_ok=True)
        for file in self._held:
            with contextlib.suppress(OSError):  # what was not written is not wanted any more
                file.close()


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


def write_file(
    path: str | os.PathLike[str], content: bytes | memoryview, *, follow_links: bool = True, tidy: bool = True
) -> None:
    """Write one file; what was there before is replaced once the new one is whole.

    With `follow_links`, that is the file a link names; without, the link itself. If `tidy`, what writers that were
    killed have left beside it is removed.
    """
    place = Path(path)
    with results(place.parent) as files:
        files.write(place.name, content, follow_links=follow_links)
    if tidy:
        remove_abandoned(place.parent)


def make_directory(out: Path, what: str = "results", names: Iterable[str] = ()) -> None:
    """Make a directory for results or `what`, before the work, and see that files of these names can be written there.

    What writers that were killed have left there is removed.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise OSError(f"{what} cannot be written into {out}: {error.strerror}. Name another directory.") from error
    longest = _longest_name(out)
    for name in names:
        if (size := len(os.fsencode(name))) > longest:
            raise ValueError(
                f"the name of a file in {out} must have at most {longest} bytes, got {size}: {name!r:.60}. Give the "
                "file that it comes from a shorter name."
            )
    remove_abandoned(out)


def remove_abandoned(directory: Path) -> None:
    """Remove files that were never put in place because their writer was killed."""
    for path in directory.iterdir():
        if _WAITING.fullmatch(path.name):
            with contextlib.suppress(OSError):  # it was put in place meanwhile, or is not ours to remove
                age = time.time() - path.stat().st_mtime
                if age > STALE_SECONDS or (age > GRACE_SECONDS and not _is_held(path)):
                    path.unlink()


def _longest_name(directory: Path) -> int:
    try:
        return os.pathconf(directory, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        return 255


def _locked(file: IO[bytes]) -> bool:
    """Hold a file until it is closed or its writer ends, however that comes; return whether that is possible here."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # then its age alone says whether it is abandoned
        return False
    return True


def _is_held(path: Path) -> bool:
    """Return whether somebody holds a file, as far as can be seen."""
    try:
        import fcntl

        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return True
    return False


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
