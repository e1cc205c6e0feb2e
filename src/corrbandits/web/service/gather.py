"""What many want of one study at one time, done together: while one lot is being saved, the next gathers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar, final

C = TypeVar("C")
R = TypeVar("R")

MOST = 100
"""So many calls are done together."""


@final
class Gather(Generic[C, R]):
    """Calls of one kind. `together` does a lot of them, and returns for each what it gives, or its error."""

    def __init__(self, together: Callable[[Sequence[C]], Awaitable[Sequence[R | Exception]]]) -> None:
        self._together = together
        self._waiting: list[tuple[C, asyncio.Future[R]]] = []
        self._task: asyncio.Task[None] | None = None

    async def call(self, call: C) -> R:
        """Return what a call gives."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting:
                lot, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                await self._do(lot)
        finally:
            self._task = None

    async def _do(self, lot: Sequence[tuple[C, asyncio.Future[R]]]) -> None:
        try:
            found: Sequence[R | Exception] = await self._together([call for call, _ in lot])
        except Exception as error:  # of the database, say: it is everybody's
            found = [error] * len(lot)
        for (_, future), one in zip(lot, found, strict=True):
            if future.done():  # who called has left
                continue
            if isinstance(one, Exception):
                future.set_exception(one)
            else:
                future.set_result(one)
