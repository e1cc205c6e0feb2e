"""Many items side by side, in threads or wherever a map sends them, and kept in a folder if there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

from corrbandits._core import checks
from corrbandits._shell import outputs
from corrbandits._shell.progress import bar
from corrbandits.simulation.fingerprint import fingerprint

SideBySide = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]
Folder = str | PathLike[str] | None


def spread(threads: int | None, way: Any, show: Callable[[int], None] = lambda done: None) -> SideBySide:
    """Return a function that calls another for each of some items and returns the results in their order.

    `show` is told how many are there.
    """
    if way is not None:
        mapped = way if callable(way) else getattr(way, "map", None)
        if not callable(mapped):
            raise TypeError(f"map must be a function like the built-in map, or have one, got {way!r:.60}.")
        return lambda function, items: _gathered(mapped(function, items), show)
    number = 1 if threads is None else checks.integer("threads", threads, least=1)

    def in_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(number) as pool:
            return _gathered(pool.map(function, items), show)

    return in_threads


def answers(
    function: Callable[[Any], Any],
    questions: Sequence[Any],
    *,
    threads: int | None,
    map: Any,  # noqa: A002  as in simulate
    folder: Folder,
    progress: bool | None,
    label: str,
) -> list[Any]:
    """Return what a function answers to each question, as JSON holds it, and draw how far it is.

    With a folder, every answer is kept there under the fingerprint of its question: after whatever stopped the work,
    the same call finds what is done.
    """
    if folder is not None:
        outputs.make_directory(Path(folder), "answers")
    with bar(len(questions), progress, label) as show:
        return spread(threads, map, show)(_Asked(function, folder), questions)


@final
@dataclass(frozen=True)
class _Asked:
    """The function, or what it has answered before."""

    function: Callable[[Any], Any]
    folder: Folder

    def __call__(self, question: Any) -> Any:
        if self.folder is None:
            return self.function(question)
        place = Path(self.folder) / f"{fingerprint((self.function, question)).removeprefix('sha256:')}.json"
        try:
            return json.loads(place.read_bytes())
        except (OSError, ValueError):  # not there, or damaged
            answer = self.function(question)
            outputs.write_file(place, json.dumps(answer).encode(), follow_links=False, tidy=False)
            return answer


def _gathered(results: Iterable[Any], show: Callable[[int], None]) -> list[Any]:
    found: list[Any] = []
    for result in results:
        found.append(result)
        show(len(found))
    return found
