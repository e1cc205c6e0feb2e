"""What routes share: the service of an application, who may do what, answers with an ETag that are computed once."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, TypeVar, final

from fastapi import Depends, Header, Request
from starlette.responses import Response

from corrbandits.study import Snapshot
from corrbandits.study.arms import checked_name
from corrbandits.web.service.guard import client_of
from corrbandits.web.service.kept import Kept, as_json
from corrbandits.web.service.live import Live
from corrbandits.web.service.metrics import Metrics
from corrbandits.web.service.options import Options
from corrbandits.web.service.problems import Problem, refuse_role
from corrbandits.web.service.shelf import Desk, Shelf
from corrbandits.web.service.tokens import Person, Role
from corrbandits.web.service.work import Pool, Work

T = TypeVar("T")

MOST_KEPT = 64_000_000
"""So many bytes of answers are kept."""

FADING = 600
"""Where mean rewards change, answers of the present are computed anew after so many seconds."""

CODES = (400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503, 504)
ERRORS: dict[int | str, dict[str, Any]] = {code: {"description": HTTPStatus(code).phrase} for code in CODES}
"""What any route may answer besides."""


@final
class Service:
    """What an application serves."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.shelf = Shelf(options.database)
        self.work = Work(options.threads, options.seconds)
        self.live = Live(self.shelf, self.work, options.watchers)
        self.metrics = Metrics()
        self.kept = Kept(MOST_KEPT)
        self.demo: Any = None

    @property
    def place(self) -> str:
        """Where studies are kept."""
        return self.shelf.place

    async def desk(self, name: str) -> Desk:
        """Return a study; 404 if there is none of this name."""
        found = self.shelf.open_desk(name)
        return await self.work.run(lambda: self.shelf.desk(name)) if found is None else found

    async def use(self, name: str, work: Callable[[Desk], T], *, pool: Pool = "quick") -> T:
        """Return what some work with a study gives, done in a thread."""
        return await self.work.run(lambda: self.shelf.use(name, work), pool=pool)

    async def written(self, name: str, did: str, sequence: int) -> None:
        """Count what was written, and tell who watches."""
        self.metrics.events[did] += 1
        await self.live.written(name, sequence)

    def close(self) -> None:
        """End."""
        self.work.close()
        self.shelf.close()


def service_of(request: Request) -> Service:
    """Return the service of an application."""
    service: Service = request.app.state.service
    return service


def person_of(request: Request) -> Person:
    """Return who makes a request."""
    person: Person | None = getattr(request.state, "person", None)
    if person is None:
        raise Problem(401, "this needs a token.", headers={"WWW-Authenticate": "Bearer"})
    return person


def needs(role: Role) -> Any:
    """Return the dependency of a route that only some may use."""

    def check(request: Request) -> Person:
        person = person_of(request)
        refuse_role(person, role)
        return person

    return Depends(check)


def place_of(request: Request) -> str:
    """Return by what requests of one person are known to belong together: their name, or where they come from."""
    person = person_of(request)
    return person.name if person.token and person.name else client_of(request.scope, service_of(request).options)


def key_header(
    given: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            description="the same call with the same key is done once",
            min_length=1,
            max_length=200,
        ),
    ] = None,
) -> str | None:
    """Return the key of a call, if it has one."""
    if given is None:
        return None
    try:
        return checked_name("Idempotency-Key", given)
    except ValueError as error:
        raise Problem(400, str(error)) from None


Serving = Annotated[Service, Depends(service_of)]
Key = Annotated[str | None, Depends(key_header)]


def answer(data: Any, status: int = 200, **headers: str) -> Response:
    """Return data as an answer."""
    return Response(as_json(data), status, headers, media_type="application/json")


async def read(
    request: Request,
    service: Service,
    study: str,
    make: Callable[[Desk, Snapshot], Any],
    *,
    what: tuple[Any, ...] | None = None,
    slow: bool = False,
    fixed: bool = False,
) -> Response:
    """Answer with a document made of a study as it is now; with nothing if the reader has it already.

    `what` names the document if it is to be kept; it must say all that it depends on besides the events. A `fixed` one
    is of the past, and never changes.
    """
    given = request.headers.get("if-none-match", "")
    wanted = request.url.query

    def work(desk: Desk) -> tuple[str, Response | None]:
        now = desk.snapshot()
        tag = _tag(desk, now, wanted, fixed=fixed)
        if tag in given:
            return tag, None
        if what is None:
            return tag, packed(request, as_json(make(desk, now)), tag)
        of = (desk.serial, *what) if fixed else (desk.serial, now.digest, _moment(now), *what)
        return tag, packed(request, service.kept.get(of, lambda: make(desk, now)), tag)

    tag, found = await service.use(study, work, pool="slow" if slow else "quick")
    return Response(status_code=304, headers={"etag": tag}) if found is None else found


def packed(request: Request, body: bytes, tag: str, kind: str = "application/json", **headers: str) -> Response:
    """Return an answer, compressed if it is long and the reader can."""
    headers |= {"etag": tag, "vary": "accept-encoding, authorization, cookie"}
    if len(body) > 2_000 and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(gzip.compress(body, 5), 200, headers | {"content-encoding": "gzip"}, media_type=kind)
    return Response(body, 200, headers, media_type=kind)


def _moment(now: Snapshot) -> int:
    """Return the same number for as long as what is believed hardly changes while nothing happens."""
    return int(now.at // FADING) if now.ledger.recipe.in_real_time else 0


def _tag(desk: Desk, now: Snapshot, wanted: str, *, fixed: bool) -> str:
    state = f"{now.ledger.created} of the past" if fixed else f"{now.ledger.sequence} {now.digest} {_moment(now)}"
    return f'W/"{hashlib.sha256(f"{desk.number} {state} {wanted}".encode()).hexdigest()[:24]}"'
