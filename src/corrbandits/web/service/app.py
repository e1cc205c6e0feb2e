"""The application: routes, guards, errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

import corrbandits
from corrbandits.web.page.pages import router as pages
from corrbandits.web.service import names, problems
from corrbandits.web.service.common import ERRORS, Service
from corrbandits.web.service.guard import API, Guard
from corrbandits.web.service.openapi import described
from corrbandits.web.service.options import Options
from corrbandits.web.service.routes import demo, reading, server, studies, trials


def application(options: Options) -> tuple[ASGIApp, Service]:
    """Return the application of a server, and what it serves."""
    service = Service(options)
    if options.demo:
        service.demo = demo.prepared(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="corrbandits",
        version=corrbandits.__version__,
        summary="Studies over HTTP: ask what to try next, tell what was measured.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # their scripts come from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        responses=ERRORS,
    )
    for part in (studies.routes, trials.routes, reading.routes, server.routes, demo.routes):
        app.include_router(part, prefix=API)
    app.include_router(server.outside)
    app.include_router(pages())
    for kind in (problems.Problem, ValueError, TypeError, OSError, MemoryError, ArithmeticError, Exception):
        app.add_exception_handler(kind, problems.on_problem)
    app.add_exception_handler(HTTPException, problems.on_http)
    app.add_exception_handler(RequestValidationError, problems.on_invalid)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]  # as FastAPI's documents say
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)  # what routes have not packed themselves
    guard = Guard(app, options, service.metrics)
    app.state.service, app.state.guard = service, guard
    return names.Segments(guard), service
