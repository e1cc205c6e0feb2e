"""What can be read of a study."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from corrbandits.belief import Vague
from corrbandits.study import Snapshot
from corrbandits.study.draft import KINDS
from corrbandits.web.service import columns, documents, past, tables
from corrbandits.web.service.common import Serving, needs, packed, place_of, read
from corrbandits.web.service.given import ArmsShape, BeliefShape, Standing, Summary
from corrbandits.web.service.openapi import answers
from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shelf import Desk

routes = APIRouter(prefix="/studies/{study:study}", tags=["reading"], dependencies=[needs("read")])

Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Limit = Annotated[int, Query(ge=1, le=100_000)]
Start = Annotated[
    int | None, Query(alias="from", ge=0, le=2**53, description="the arm from which to go to the next, if moves cost")
]
Format = Literal["json", "csv"]
What = Annotated[str | None, Query(max_length=200, description="kinds of events, apart by commas")]


@routes.get("", response_model=Summary)
async def summary(request: Request, service: Serving, study: str) -> Response:
    """Return where a study stands, without computing."""
    return await read(request, service, study, lambda _, now: documents.summary(now))


@routes.get("/standing", response_model=Standing)
async def standing(request: Request, service: Serving, study: str) -> Response:
    """Return the best arm so far, what was learnt and what to look at."""
    return await read(request, service, study, lambda _, now: documents.judged(now), what=("standing",), slow=True)


@routes.get("/arms", response_model=ArmsShape)
async def arms(request: Request, service: Serving, study: str, offset: Offset = 0, limit: Limit = 10_000) -> Response:
    """Return the arms: their names, where they lie, what else is known of them."""
    return await read(request, service, study, lambda _, now: documents.arms(now, offset, limit))


@routes.get("/belief", response_model=BeliefShape)
async def belief(
    request: Request,
    service: Serving,
    study: str,
    at: Annotated[int | None, Query(ge=1, le=2**53, description="as it was after so many events")] = None,
    offset: Offset = 0,
    limit: Limit = 10_000,
    digits: Annotated[int | None, Query(ge=1, le=17)] = None,
    start: Start = None,
) -> Response:
    """Return what is believed of every arm, as columns: now, or as it was after so many events."""

    def made(desk: Desk, now: Snapshot) -> dict[str, Any]:
        if start is not None and start >= now.arms.count:
            raise Problem(404, f"there is no arm {start} to start from; the study has {now.arms.count:,}, from 0.")
        return columns.page(columns.rounded(_columns(desk, now, at, start), digits), offset, limit)

    what = ("belief", at, offset, limit, digits, start)
    return await read(request, service, study, made, what=what, slow=True, fixed=at is not None)


@routes.get("/history", responses=answers("application/json", "text/csv"))
async def history(
    request: Request, service: Serving, study: str, offset: Offset = 0, limit: Limit = 10_000, format: Format = "json"
) -> Response:
    """Return every trial, as JSON or as a table for spreadsheets."""
    if format == "csv":
        return await _csv(request, service, study, lambda _, now: documents.history(now, offset, limit), tables.HISTORY)

    def made(_: Desk, now: Snapshot) -> dict[str, Any]:
        trials = documents.history(now, offset, limit)
        return {"study": study, "count": len(now.ledger.trials), "trials": trials}

    return await read(request, service, study, made)


@routes.get("/events", responses=answers("application/json", "text/csv"))
async def events(
    request: Request,
    service: Serving,
    study: str,
    offset: Offset = 0,
    limit: Limit = 10_000,
    what: What = None,
    format: Format = "json",
) -> Response:
    """Return every event, who made it and when."""
    kinds = None if what is None else frozenset(part.strip() for part in what.split(","))
    if kinds is not None and (unknown := sorted(kinds.difference(KINDS))):
        raise ValueError(f"what must be some of {', '.join(KINDS)}, apart by commas, got {unknown[0]!r:.60}.")

    def rows(desk: Desk, now: Snapshot) -> tuple[int, list[dict[str, Any]]]:
        last = now.ledger.sequence
        if kinds is None:
            upto = min(last, offset + limit)
            return last, tables.events(desk.events(upto, offset), now, None, first=offset) if offset < last else []
        found = tables.events(desk.events(last), now, kinds)
        return len(found), found[offset : offset + limit]

    if format == "csv":
        return await _csv(request, service, study, lambda desk, now: rows(desk, now)[1], tables.EVENTS)

    def made(desk: Desk, now: Snapshot) -> dict[str, Any]:
        count, found = rows(desk, now)
        return {"study": study, "count": count, "events": found}

    return await read(request, service, study, made)


@routes.get("/explain/{number}")
async def explain(
    request: Request, service: Serving, study: str, number: Annotated[int, Path(ge=1, le=2**53)]
) -> Response:
    """Return why the arm of a trial was chosen."""

    def made(desk: Desk, now: Snapshot) -> dict[str, Any]:
        if number > len(now.ledger.trials):
            raise Problem(404, f"there is no trial {number}; the study has {len(now.ledger.trials):,}.")
        try:
            return documents.explanation(now, desk.reader.explain(number))
        except ValueError as error:
            raise Problem(409, str(error)) from None

    return await read(request, service, study, made, what=("explain", number), slow=True)


@routes.get("/best")
async def best(
    request: Request,
    service: Serving,
    study: str,
    stop_loss: Annotated[float | None, Query(ge=0, allow_inf_nan=False)] = None,
) -> Response:
    """Return the best arm so far, how sure that is, and what it would cost to stop now."""
    return await read(
        request, service, study, lambda _, now: past.best(now, stop_loss), what=("best", stop_loss), slow=True
    )


@routes.get("/learnt")
async def learnt(request: Request, service: Serving, study: str) -> Response:
    """Return what was learnt of length, noise and variation, with 90 % intervals; null while nothing was."""

    def made(_: Desk, now: Snapshot) -> dict[str, Any]:
        found = now.belief
        known = isinstance(found, Vague) and not found.opening
        return {"study": study, "learnt": asdict(found.learnt()) if known and isinstance(found, Vague) else None}

    return await read(request, service, study, made, what=("learnt",), slow=True)


@routes.get("/progress")
async def progress(request: Request, service: Serving, study: str) -> Response:
    """Return the rewards so far, and at some moments the best arm, its chance, and what stopping would have cost."""

    def made(desk: Desk, now: Snapshot) -> dict[str, Any]:
        return past.progress(desk, now, service.kept)

    return await read(request, service, study, made, what=("progress",), slow=True)


@routes.get("/arm/{arm}")
async def arm(request: Request, service: Serving, study: str, arm: Annotated[int, Path(ge=0, le=2**53)]) -> Response:
    """Return the rewards of an arm, what was predicted before each, and its neighbours."""

    def made(desk: Desk, now: Snapshot) -> dict[str, Any]:
        if arm >= now.arms.count:
            raise Problem(404, f"there is no arm {arm}; the study has {now.arms.count:,}, from 0.")
        return past.of_arm(desk, now, arm)

    return await read(request, service, study, made, what=("arm", arm), slow=True)


@routes.get(
    "/export", dependencies=[needs("manage")], response_class=Response, responses=answers("application/x-ndjson")
)
async def export(request: Request, service: Serving, study: str) -> Response:
    """Return the whole study as a file that `POST /import`, or `corrbandits study import`, takes in."""

    def work(desk: Desk) -> tuple[str, bytes]:
        now = desk.snapshot()
        return now.digest, tables.exported(study, desk.bodies(now.ledger.sequence))

    digest, body = await service.use(study, work)
    name = tables.file_name(study)
    return packed(
        request,
        body,
        f'"{digest[:20]}"',
        "application/x-ndjson",
        **{"content-disposition": f'attachment; filename="{name}.jsonl"'},
    )


@routes.get("/live", response_class=StreamingResponse, responses=answers("text/event-stream"))
async def live(request: Request, service: Serving, study: str) -> Response:
    """Stream, as server-sent events, how many events the study has: now, and whenever there are more."""
    who = place_of(request)
    service.live.refuse_more(who)
    await service.use(study, lambda desk: desk.sequence())
    said = request.headers.get("last-event-id", "")
    last = int(said) if said.isdecimal() and len(said) < 16 else None
    guard = request.app.state.guard
    stream = service.live.stream(study, who, last, lambda: guard.still(request.scope))
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def _columns(desk: Desk, now: Snapshot, at: int | None, start: int | None) -> dict[str, Any]:
    if at is None or (at == now.ledger.sequence and not now.ledger.recipe.in_real_time):
        return columns.columns(now.ledger, now.deciding, start)
    if at > now.ledger.sequence:
        raise Problem(404, f"there is no event {at:,} yet; the study has {now.ledger.sequence:,}.")
    return columns.columns(desk.ledger(at), start=start)


async def _csv(request: Request, service: Serving, study: str, rows: Any, heads: tuple[str, ...]) -> Response:
    def work(desk: Desk) -> tuple[str, bytes]:
        now = desk.snapshot()
        return now.digest, tables.csv(rows(desk, now), heads).encode()

    digest, body = await service.use(study, work)
    name = tables.file_name(study)
    kept = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return packed(request, body, f'W/"csv-{digest[:20]}"', "text/csv; charset=utf-8", **kept)
