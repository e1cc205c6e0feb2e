"""BLAS on one thread, where results are promised bit for bit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_depth = 0
_before: list[int] = []


def _after_fork() -> None:
    """Begin anew in a forked child: the thread that held the lock, or BLAS, does not exist there."""
    global _lock, _depth
    _lock, _depth = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold every BLAS of the process to one thread; safe to nest and to enter from several threads at once."""
    global _depth, _before
    with _lock:
        if _depth == 0:
            _before = [library.num_threads for library in _libraries()]
            _free_control()
            _set([1] * len(_before))
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _free_control()
                _set(_before)
                _free_control()


def _set(threads: list[int]) -> None:
    for library, n in zip(_libraries(), threads, strict=True):
        library.set_num_threads(n)


def _free_control() -> None:
    """Let any Python thread set OpenBLAS: threadpoolctl obeys only one, but the last to leave may not be the first."""
    for library in _libraries():
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@cache
def _libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401  its BLAS must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
