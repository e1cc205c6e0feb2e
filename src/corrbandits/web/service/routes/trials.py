"""Asking for trials and telling their rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from corrbandits.study import BadRowError, Study
from corrbandits.study.gathering import Reward, Wanted
from corrbandits.study.measured import measured_at
from corrbandits.study.replica import key_of
from corrbandits.study.replica import now as clock
from corrbandits.web.service import documents, lots
from corrbandits.web.service.common import Key, Service, Serving, answer, needs, person_of
from corrbandits.web.service.given import Asked, Done
from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shapes import Amending, Asking, Changing, Many, Observing, Telling
from corrbandits.web.service.shelf import Desk
from corrbandits.web.service.walking import in_order, refuse_start
from corrbandits.web.service.work import naming_key

routes = APIRouter(prefix="/studies/{study:study}", tags=["trials"], dependencies=[needs("tell")])

Number = Annotated[int, Path(ge=1, le=2**53)]
MOST_CHECKED = 2_000
"""With more arms, whether a reward surprises is not computed at once."""


@routes.post("/ask", response_model=Asked)
async def ask(
    request: Request, service: Serving, study: str, asking: Asking | None = None, key: Key = None
) -> Response:
    """Say what to try next, and note that it is being tried."""
    wanted, own, by = asking or Asking(), key_of(key), person_of(request).name

    def work(desk: Desk) -> dict[str, Any]:
        mine = desk.asker.signed(by)
        refuse_start(mine.arms, wanted.near)
        allowed = None if wanted.allowed is None else [mine.arms.index(arm) for arm in wanted.allowed]
        try:
            trials = mine.ask(wanted.n or 1, allowed=allowed, repeats=wanted.repeats, start=wanted.start, key=own)
        except ValueError as error:
            raise _key_taken(mine, own, error) from None
        now = mine.snapshot(fresh=False)
        listed = [documents.trial_data(now, trial) for trial in in_order(now.arms, trials, wanted.near)]
        if wanted.why:
            listed = [one | {"why": documents.sentence(mine.explain(one["trial"]), now)} for one in listed]
        return {"study": study, "trials": listed, "key": own, "sequence": now.ledger.sequence}

    desk = await service.desk(study)
    if wanted == Asking():
        data = await _asked_one(service, desk, own, by)
    else:
        with naming_key(own):
            data = await lots.bounded(service, _asked_many(service, desk, work))
    await service.written(study, "asked", data["sequence"])
    return answer(data)


async def _asked_many(service: Service, desk: Desk, work: Callable[[Desk], dict[str, Any]]) -> dict[str, Any]:
    async with desk.asking:
        return await service.use(desk.name, work, pool="choice")


async def _asked_one(service: Service, desk: Desk, key: str, by: str | None) -> dict[str, Any]:
    try:
        trial, now = await lots.asked(service, desk, Wanted(key, by))
    except ValueError as error:
        refused = error
        raise await service.use(desk.name, lambda now: _key_taken(now.asker, key, refused)) from None
    one = documents.trial_data(now, trial)
    return {"study": desk.name, "trials": [one], "key": key, "sequence": now.ledger.sequence}


@routes.post("/trials/{number}/tell", response_model=Done)
async def tell(request: Request, service: Serving, study: str, number: Number, telling: Telling) -> Response:
    """Tell the reward of a trial; the same again changes nothing."""
    desk, by = await service.desk(study), person_of(request).name
    reward = await service.use(study, lambda one: one.teller.checked_reward(telling.reward))
    measured = measured_at(telling.at, clock())
    try:
        now = await lots.told(service, desk, Reward(number, reward, by, measured))
    except ValueError as error:
        refused = error
        raise await service.use(study, lambda one: _refused(one.teller, number, refused)) from None
    check = telling.check and now.arms.count <= MOST_CHECKED
    if check:
        data = await service.work.run(lambda: documents.done(now, "told", number, check=True), pool="slow")
    else:
        data = documents.done(now, "told", number, check=False)
    await service.written(study, "told", data["sequence"])
    return answer(data)


@routes.post("/trials/{number}/amend", response_model=Done)
async def amend(request: Request, service: Serving, study: str, number: Number, amending: Amending) -> Response:
    """Put another reward in place of a wrong one; when it was measured stays."""
    reward, was = amending.reward, amending.was
    return await _changed(
        request, service, study, number, "amended", lambda s: s.amend(number, reward, was=was), amending
    )


@routes.post("/trials/{number}/cancel", response_model=Done)
async def cancel(request: Request, service: Serving, study: str, number: Number) -> Response:
    """Give a trial up whose reward will not come."""
    return await _changed(request, service, study, number, "cancelled", lambda s: s.cancel(number))


@routes.post("/trials/{number}/retract", response_model=Done)
async def retract(
    request: Request, service: Serving, study: str, number: Number, changing: Changing | None = None
) -> Response:
    """Take a reward back, as if it had never come."""
    was = None if changing is None else changing.was
    return await _changed(request, service, study, number, "retracted", lambda s: s.retract(number, was=was))


@routes.post("/observe", response_model=Done)
async def observe(request: Request, service: Serving, study: str, observing: Observing, key: Key = None) -> Response:
    """Add a reward that nobody had asked for."""
    own, by = key_of(key), person_of(request).name
    measured = measured_at(observing.at, clock())

    def work(desk: Desk) -> dict[str, Any]:
        mine = desk.teller.signed(by)
        try:
            trial = mine.observe(observing.arm, observing.reward, key=own, at=measured)
        except ValueError as error:
            raise _key_taken(mine, own, error) from None
        now = mine.snapshot(fresh=False)
        check = observing.check and now.arms.count <= MOST_CHECKED
        return documents.done(now, "observed", trial.number, check=check) | {"key": own}

    data = await service.use(study, work)
    await service.written(study, "observed", data["sequence"])
    return answer(data)


@routes.post("/rewards")
async def rewards(request: Request, service: Serving, study: str, many: Many) -> Response:
    """Tell and observe many rewards: all of one kind or none; those that are there already change nothing."""
    by = person_of(request).name

    def work(desk: Desk) -> dict[str, Any]:
        mine = desk.teller.signed(by)
        try:
            told, observed = mine.tell_all(many.tell), mine.observe_all(many.observe)
        except BadRowError as error:
            raise Problem(409, str(error), row=error.row) from None
        return {"study": study, "told": told, "observed": observed, "sequence": mine.sequence}

    data = await service.use(study, work)
    await service.written(study, "told", data["sequence"])
    return answer(data)


async def _changed(
    request: Request,
    service: Service,
    study: str,
    number: int,
    did: str,
    act: Callable[[Study], None],
    telling: Amending | None = None,
) -> Response:
    """Do something to a trial, and say how it stands then."""
    by = person_of(request).name

    def work(desk: Desk) -> dict[str, Any]:
        mine = desk.teller.signed(by)
        if telling is not None:
            mine.checked_reward(telling.reward)  # 400 for what can be nobody's reward
        try:
            act(mine)
        except ValueError as error:
            raise _refused(mine, number, error) from None
        now = mine.snapshot(fresh=False)
        check = telling is not None and telling.check and now.arms.count <= MOST_CHECKED
        return documents.done(now, did, number, check=check)

    data = await service.use(study, work)
    await service.written(study, did, data["sequence"])
    return answer(data)


def _refused(study: Study, number: int, error: ValueError) -> Exception:
    """Return the error of a call about a trial: there is none of this number, or its state refuses the call."""
    now = study.snapshot()
    known = len(now.ledger.trials)
    if number > known:
        return Problem(404, f"there is no trial {number}; the study has {known:,}. Ask first.")
    return Problem(409, str(error))


def _key_taken(study: Study, key: str, error: ValueError) -> Exception:
    """Return the error of a call whose key may be another call's."""
    return Problem(422, str(error), key=key) if key in study.snapshot().ledger.keys else error
