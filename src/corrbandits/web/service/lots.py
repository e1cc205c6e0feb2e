"""Single trials and rewards, which are most of what is written: those that come at one time are saved together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from corrbandits.study import Snapshot, Trial
from corrbandits.study.gathering import Reward, Wanted, ask_each, tell_each
from corrbandits.web.service.common import Service
from corrbandits.web.service.gather import Gather
from corrbandits.web.service.shelf import Desk
from corrbandits.web.service.work import too_long

T = TypeVar("T")


async def asked(service: Service, desk: Desk, call: Wanted) -> tuple[Trial, Snapshot]:
    """Return a trial, and the study just after it was asked for."""
    if desk.asks is None:

        async def together(calls: Sequence[Wanted]) -> Sequence[tuple[Trial, Snapshot] | Exception]:
            async with desk.asking:
                return await service.use(desk.name, lambda now: _ask(now, calls), pool="choice")

        desk.asks = Gather(together)
    return await bounded(service, desk.asks.call(call))


async def told(service: Service, desk: Desk, call: Reward) -> Snapshot:
    """Return the study just after a reward was told."""
    if desk.tells is None:

        async def together(calls: Sequence[Reward]) -> Sequence[Snapshot | Exception]:
            return await service.use(desk.name, lambda now: _tell(now, calls))

        desk.tells = Gather(together)
    return await bounded(service, desk.tells.call(call))


def _ask(desk: Desk, calls: Sequence[Wanted]) -> Sequence[tuple[Trial, Snapshot] | Exception]:
    found = _seen(desk, ask_each(desk.asker, calls))
    now = desk.asker.snapshot(fresh=False)
    return [one if isinstance(one, Exception) else (one, now) for one in found]


def _tell(desk: Desk, calls: Sequence[Reward]) -> Sequence[Snapshot | Exception]:
    found = _seen(desk, tell_each(desk.teller, calls))
    now = desk.teller.snapshot(fresh=False)
    return [now if one is None else one for one in found]


def _seen(desk: Desk, found: list[T]) -> list[T]:
    """Return what calls gave; where all were refused, see to it first that the study is still there."""
    if all(isinstance(one, ValueError) for one in found):
        desk.sequence()
    return found


async def bounded(service: Service, waiting: Awaitable[T]) -> T:
    """Return what is waited for; refused if that takes too long."""
    try:
        return await asyncio.wait_for(waiting, service.work.seconds)
    except TimeoutError:
        raise too_long(service.work.seconds) from None
