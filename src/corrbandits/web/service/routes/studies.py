"""Studies: those there are, new ones, and from files."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from corrbandits.study import Study
from corrbandits.study.events import written
from corrbandits.study.journal import JournalError
from corrbandits.study.places import meant
from corrbandits.study.replica import key_of
from corrbandits.study.untold import settled
from corrbandits.web.service import documents
from corrbandits.web.service.common import Key, Service, Serving, answer, needs, person_of
from corrbandits.web.service.given import Studies
from corrbandits.web.service.large import large
from corrbandits.web.service.making import made_of, previewed
from corrbandits.web.service.openapi import body, document
from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shapes import Creating, Extending
from corrbandits.web.service.shelf import Desk

routes = APIRouter(tags=["studies"])

UNREACHABLE = (".", "..")
"""Names that no address can have: browsers and proxies take them for folders."""


@routes.get("/studies", response_model=Studies, dependencies=[needs("read")])
async def studies(service: Serving) -> Response:
    """List the studies."""

    def work() -> list[dict[str, Any]]:
        found = []
        for name in service.shelf.names():
            try:
                found.append(service.shelf.use(name, lambda desk: documents.listed(desk.snapshot())))
            except (Problem, ValueError, JournalError):  # deleted meanwhile, or damaged
                continue
        return found

    return answer({"studies": await service.work.run(work)})


@routes.post("/studies", status_code=201, openapi_extra=document(Creating), dependencies=[needs("manage")])
async def create(
    request: Request, service: Serving, creating: Annotated[Creating, Depends(large(Creating))]
) -> Response:
    """Begin a study; the same again, under the same name, changes nothing."""
    by = person_of(request).name
    _refuse_name(creating.name)

    def work() -> tuple[int, dict[str, Any]]:
        plan = made_of(creating)
        try:
            study = Study.create(service.shelf.journal, creating.name, **plan.arguments, by=by)
        except ValueError as error:
            if meant(creating.name, service.shelf.names()) is None:
                raise
            return 200, _same(service, creating, plan.arguments, error)
        return 201, documents.summary(study.snapshot()) | {"remarks": list(plan.remarks)}

    status, data = await service.work.run(work, pool="slow")
    return answer(data, status)


@routes.post("/studies/{study:study}/arms", dependencies=[needs("manage")])
async def add_arms(request: Request, service: Serving, study: str, more: Extending, key: Key = None) -> Response:
    """Add arms to a study whose prior says how they relate to the old ones; with the same key they are added once."""
    own, by = key_of(key), person_of(request).name
    given = more.model_dump(exclude={"arms"}, exclude_none=True)

    def work(desk: Desk) -> dict[str, Any]:
        mine = desk.teller.signed(by)
        before = mine.arms.count
        mine.add_arms(more.arms, **given, key=own)
        now = mine.snapshot(fresh=False)
        added = {"arms": now.arms.count, "added": now.arms.count - before}
        return {"study": study, **added, "key": own, "sequence": now.ledger.sequence}

    data = await service.use(study, work, pool="slow")
    await service.written(study, "extended", data["sequence"])
    return answer(data)


@routes.post("/arms/preview", openapi_extra=body("text/csv", "text/plain"), dependencies=[needs("manage")])
async def preview(request: Request, service: Serving) -> Response:
    """Say how a table of arms is understood (text/csv, as people have them), and what is wrong with it where."""
    sent = await request.body()
    return answer(await service.work.run(lambda: previewed(sent), pool="slow"))


@routes.post(
    "/import", status_code=201, openapi_extra=body("application/x-ndjson", "text/plain"), dependencies=[needs("manage")]
)
async def import_(request: Request, service: Serving, name: str | None = None) -> Response:
    """Take a study in that `export` wrote."""
    sent = await request.body()
    _refuse_name(name if name is not None else _named(sent))

    def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="corrbandits-") as folder:
            file = Path(folder) / "study.jsonl"
            file.write_bytes(sent)
            try:
                study = Study.import_(service.shelf.journal, file, name)
            except ValueError as error:
                said = str(error).replace(str(file), "the file")
                raise Problem(409 if "needs a name of its own" in said else 400, said) from None
        return documents.summary(study.snapshot())

    return answer(await service.work.run(work, pool="slow"), 201)


def _named(sent: bytes) -> str | None:
    """Return the name in a file's head, if it has one; what else is wrong with it is said when it is read."""
    with suppress(ValueError, RecursionError):
        head = json.loads(sent.partition(b"\n")[0])
        return head.get("name") if isinstance(head, dict) else None
    return None


def _same(service: Service, creating: Creating, arguments: dict[str, Any], error: ValueError) -> dict[str, Any]:
    """Return the study of this name if it was made of the same; refuse otherwise."""
    now = service.shelf.use(creating.name, lambda desk: desk.snapshot())
    if written(settled(**arguments).event()) != written(now.settings.event()):
        raise Problem(409, str(error)) from None
    return documents.summary(now) | {"remarks": []}


def _refuse_name(name: str | None) -> None:
    if name in UNREACHABLE:
        raise Problem(400, f"a study that is to have an address cannot be called {name!r}. Choose another name.")
