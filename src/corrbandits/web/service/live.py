"""Who watches a study, and is told that it changed: at once if the change was made here, soon if it was made elsewhere.

One task for each watched study looks at its journal; watchers wait for the number of its events to grow.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import final

from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shelf import Shelf
from corrbandits.web.service.work import Work

EVERY = 0.4
"""Seconds between two looks at a journal that others may write to."""

FEW = 8
"""So many streams one person may have in any case; otherwise a quarter of all."""

HEARTBEAT = 15.0
"""Seconds after which a line is sent although nothing changed: proxies drop what is silent, and we notice who left."""


@final
class Watch:
    """One study that somebody watches."""

    def __init__(self) -> None:
        self.changed = asyncio.Condition()
        self.sequence = 0
        self.watchers: Counter[str] = Counter()
        self.task: asyncio.Task[None] | None = None


@final
class Live:
    """All that is watched."""

    def __init__(self, shelf: Shelf, work: Work, most: int) -> None:
        self._shelf, self._work, self._most = shelf, work, most
        self._most_each = max(FEW, most // 4)
        self._watches: dict[str, Watch] = {}
        self.ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def watchers(self) -> int:
        """How many watch."""
        return sum(watch.watchers.total() for watch in self._watches.values())

    def refuse_more(self, who: str) -> None:
        """Refuse one who would watch, if as many do as may; nobody takes more than a quarter of the places."""
        mine = sum(watch.watchers[who] for watch in self._watches.values())
        if self.watchers >= self._most or mine >= self._most_each:
            raise Problem(503, "as many watch already as may. Ask for the study now and then instead.")

    def end(self) -> None:
        """Let all streams end, because the server is about to; from any thread."""
        if self._loop is None or self._loop.is_closed():
            self.ending.set()
        else:
            self._loop.call_soon_threadsafe(self.ending.set)

    async def written(self, name: str, sequence: int) -> None:
        """Tell who watches a study that it has so many events now."""
        if (watch := self._watches.get(name)) is not None:
            await self._reach(watch, sequence)

    async def stream(self, name: str, who: str, last: int | None, still: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield, as server-sent events, how many events a study has: now, and whenever there are more."""
        self._loop = asyncio.get_running_loop()
        watch = self._watches.setdefault(name, Watch())
        watch.watchers[who] += 1
        try:
            if watch.task is None:
                watch.task = asyncio.create_task(self._follow(name, watch))
            if not watch.sequence:
                await self._reach(watch, await self._look(name))
            seen = -1
            yield "retry: 1000\n\n"
            while not self.ending.is_set() and still():
                if watch.sequence != seen:
                    seen = watch.sequence
                    said = json.dumps({"sequence": seen, "missed": last != seen})
                    yield f"id: {seen}\nevent: changed\ndata: {said}\n\n"
                    last = seen
                if not await self._grown(watch, seen):
                    yield ": still here\n\n"
        finally:
            watch.watchers[who] -= 1
            if not watch.watchers.total() and self._watches.get(name) is watch:
                del self._watches[name]
                if watch.task is not None:
                    watch.task.cancel()

    async def _grown(self, watch: Watch, seen: int) -> bool:
        """Wait until there are other events than were seen, or a while."""
        ended = asyncio.create_task(self.ending.wait())
        grown = asyncio.create_task(self._other(watch, seen))
        try:
            await asyncio.wait((ended, grown), timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            return ended.done() or grown.done()
        finally:
            ended.cancel()
            grown.cancel()

    async def _other(self, watch: Watch, seen: int) -> None:
        async with watch.changed:
            await watch.changed.wait_for(lambda: watch.sequence != seen)

    async def _follow(self, name: str, watch: Watch) -> None:
        before = 0
        while not self.ending.is_set():
            await asyncio.sleep(EVERY)
            try:
                found = await self._look(name)
                await self._reach(watch, found, fewer=found == before)  # once may be a look from before the last event
                before = found
            except Exception:  # the database may be away for a while: who watches waits
                continue

    async def _look(self, name: str) -> int:
        return await self._work.run(lambda: self._shelf.use(name, lambda desk: desk.sequence()))

    async def _reach(self, watch: Watch, sequence: int, *, fewer: bool = False) -> None:
        """Note how many events there are: more, or fewer where a look at the journal says so, of a study made anew."""
        if sequence > watch.sequence or (fewer and sequence != watch.sequence):
            async with watch.changed:
                watch.sequence = sequence
                watch.changed.notify_all()
