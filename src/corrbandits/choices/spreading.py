"""Many items side by side, in threads or wherever a map sends them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from corrbandits._core import checks

SideBySide = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


def spread(threads: int | None, way: Any) -> SideBySide:
    """Return a function that calls another for each of some items and returns the results in their order."""
    if way is not None:
        mapped = way if callable(way) else getattr(way, "map", None)
        if not callable(mapped):
            raise TypeError(f"map must be a function like the built-in map, or have one, got {way!r:.60}.")
        return lambda function, items: list(mapped(function, items))
    number = 1 if threads is None else checks.integer("threads", threads, least=1)

    def in_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(number) as pool:
            return list(pool.map(function, items))

    return in_threads
