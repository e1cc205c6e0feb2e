"""The server itself: whether it is well, which version it is, what it counted, who one is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

import corrbandits
from corrbandits.web.service.common import Serving, answer, needs, person_of
from corrbandits.web.service.given import Me
from corrbandits.web.service.guard import cookie_name
from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shapes import SigningIn

outside = APIRouter(tags=["server"])
routes = APIRouter(tags=["server"])

SEASON = 180 * 24 * 3600
"""So many seconds a person stays signed in."""


async def health(service: Serving) -> Response:
    """Say whether studies can be reached: 200, or 503 if not."""
    await service.work.run(service.shelf.journal.studies, seconds=5.0)
    return answer({"status": "ok"})


async def version() -> Response:
    """Say which version this is."""
    return answer({"corrbandits": corrbandits.__version__, "interface": "v1"})


async def metrics(service: Serving) -> Response:
    """Return what was counted, for Prometheus."""
    service.metrics.watchers = service.live.watchers
    return PlainTextResponse(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


for _router, _inside in ((routes, True), (outside, False)):
    _router.add_api_route("/health", health, include_in_schema=_inside)
    _router.add_api_route("/version", version, include_in_schema=_inside)
    _router.add_api_route(
        "/metrics",
        metrics,
        include_in_schema=_inside,
        dependencies=[needs("read")],
        response_class=PlainTextResponse,
    )


@routes.get("/me", response_model=Me, dependencies=[needs("read")])
async def me(request: Request, service: Serving) -> Response:
    """Say who makes the request, and what they may do."""
    person = person_of(request)
    demo = None if service.demo is None else service.demo.study
    return answer({"name": person.name, "role": person.role, "signed_in": person.token, "demo": demo})


@routes.post("/session", status_code=204)
async def sign_in(request: Request, service: Serving, signing: SigningIn) -> Response:
    """Sign a person in: their token becomes a cookie that scripts cannot read."""
    if service.options.open:
        raise Problem(409, "there are no tokens here: nobody needs to sign in.")
    request.app.state.guard.person_of(signing.token, request.scope)
    answered = Response(status_code=204)
    path = service.options.prefix or "/"
    answered.set_cookie(
        cookie_name(service.options),
        signing.token,
        max_age=SEASON,
        path=path,
        secure=service.options.secure,
        httponly=True,
        samesite="strict",
    )
    return answered


@routes.delete("/session", status_code=204)
async def sign_out(service: Serving) -> Response:
    """Sign a person out of this browser."""
    answered = Response(status_code=204)
    answered.delete_cookie(
        cookie_name(service.options),
        path=service.options.prefix or "/",
        secure=service.options.secure,
        httponly=True,
        samesite="strict",
    )
    return answered
