"""Threads for what takes long, so that whoever waits for a large choice does not hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeVar, final

import numpy as np

from corrbandits.web.service.problems import Problem

T = TypeVar("T")
Pool = Literal["quick", "slow", "choice"]

MOST_WAITING = 500
"""So many pieces of work may wait for a thread; more are turned away."""


@final
class Work:
    """Pools of threads: for what is quick, for what may take seconds, and for choices; all has a bound of time.

    So who looks at much holds up nobody who asks, and who asks for much nobody who tells.
    """

    def __init__(self, threads: int, seconds: float) -> None:
        self.seconds = seconds
        sizes: dict[Pool, int] = {"quick": threads, "slow": max(2, threads // 2), "choice": max(2, threads // 2)}
        self._pools = {name: ThreadPoolExecutor(size, thread_name_prefix=name) for name, size in sizes.items()}
        self._waiting = 0

    async def run(self, work: Callable[[], T], *, pool: Pool = "quick", seconds: float | None = None) -> T:
        """Return what some work gives; refused if too much waits already, or if it takes too long.

        What takes too long is not stopped: it ends by itself, and what it saved is saved.
        """
        if self._waiting >= MOST_WAITING:
            raise Problem(503, "the server has more to do than it can. Try again in a moment.", headers=_LATER)
        loop, self._waiting = asyncio.get_running_loop(), self._waiting + 1
        try:
            future = loop.run_in_executor(self._pools[pool], partial(_quietly, work))
            return await asyncio.wait_for(future, self.seconds if seconds is None else seconds)
        except TimeoutError:
            raise too_long(self.seconds) from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let what was begun end; what waits is dropped."""
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)


def too_long(seconds: float) -> Problem:
    """Return the answer to who has waited for so long."""
    return Problem(
        504,
        f"this took longer than {seconds:g} s. If it was to save something, the same call with the same "
        "Idempotency-Key is counted once.",
        headers=_LATER,
    )


@contextmanager
def naming_key(key: str) -> Iterator[None]:
    """Say the key of a call that took too long: with it, it can be made again and is counted once."""
    try:
        yield
    except Problem as problem:
        if problem.status == 504:
            raise Problem(504, f"{problem.detail} Its key is {key}.", headers=_LATER, key=key) from None
        raise


def _quietly(work: Callable[[], T]) -> T:
    """Return what some work gives; numbers that grow too large become infinite, and are null in answers."""
    with np.errstate(all="ignore"):
        return work()


_LATER = {"Retry-After": "1"}
