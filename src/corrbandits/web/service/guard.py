"""What every request must pass before a route sees it: its address, who makes it, its rate, its origin, its size."""

from __future__ import annotations

import asyncio
import time
from typing import final
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corrbandits.study.arms import checked_name
from corrbandits.study.events import RepeatedError, refuse_repeats
from corrbandits.web.service.metrics import Metrics
from corrbandits.web.service.options import Options
from corrbandits.web.service.problems import Problem, refuse_role
from corrbandits.web.service.rates import Rates
from corrbandits.web.service.tokens import Person, Tokens

API = "/api/v1"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
FREE = ("/signin", "/health", "/version", "/sw.js", "/manifest.webmanifest", f"{API}/session", f"{API}/health")
"""Addresses that need no token."""

SMALL, LARGE = 1 << 20, 1 << 25
"""How many bytes a request may have; the second where whole tables are sent."""

TABLES = {
    f"{API}/studies": ("application/json",),
    f"{API}/arms/preview": ("text/csv", "text/plain"),
    f"{API}/import": ("application/x-ndjson", "text/plain"),
}
"""Addresses that take whole tables, and as what."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), payment=()",
}


@final
class Guard:
    """Stands before the application."""

    def __init__(self, app: ASGIApp, options: Options, metrics: Metrics) -> None:
        self._app, self._options, self._metrics = app, options, metrics
        self._tokens = None if options.tokens is None else Tokens(options.tokens)
        self._rates = Rates(options.rate, options.burst)
        self._failures = Rates(1.0, 10)
        self.cookie = cookie_name(options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        scope["root_path"] = self._options.prefix

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._complete(MutableHeaders(scope=message))
            await send(message)

        try:
            with self._metrics.going():
                try:
                    held = await self._passed(scope, receive)
                except Problem as problem:
                    await self._refusal(scope, problem)(scope, receive, sent)
                else:
                    await self._app(scope, held, sent)
        finally:
            self._metrics.done(scope, status, time.perf_counter() - began)

    async def _passed(self, scope: Scope, receive: Receive) -> Receive:
        headers, path = Headers(scope=scope), _path(scope, self._options.prefix)
        self._check_host(headers)
        person = self._person(scope, headers, path)
        scope.setdefault("state", {})["person"] = person
        self._limit(scope, headers, person, path)
        if scope["method"] not in WRITES:
            return receive
        self._check_origin(headers)
        if path in TABLES and person is not None:
            refuse_role(person, "manage")  # before so much is read
        return await _held(path, headers, receive, self._options.seconds)

    def _check_host(self, headers: Headers) -> None:
        """Refuse a name that is not ours: a page elsewhere may have made it point here."""
        given = headers.get("host", "")
        try:
            name = urlsplit(f"//{given}").hostname
        except ValueError:
            name = None
        if name not in self._options.hosts:
            raise Problem(
                421, f"this server is not called {given!r:.80}. Use {self._options.address}, or start it with the name."
            )

    def _person(self, scope: Scope, headers: Headers, path: str) -> Person | None:
        if self._tokens is None:
            return Person(_said_name(headers), "manage")
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            secret = cookie_parser(headers.get("cookie", "")).get(self.cookie, "") if not kind else ""
        found = self._tokens.person(secret.strip()) if secret else None
        if found is None and not _free(path):
            if secret:
                raise self._unknown(scope, headers)
            raise Problem(
                401,
                "this needs a token: the header `Authorization: Bearer TOKEN`, or sign in by the link you were given.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return found

    def person_of(self, token: str, scope: Scope) -> Person:
        """Return whose token this is, for who signs in; refused if nobody's, and slowly if many are tried."""
        headers = Headers(scope=scope)
        found = None if self._tokens is None else self._tokens.person(token)
        if found is None:
            raise self._unknown(scope, headers)
        return found

    def _unknown(self, scope: Scope, headers: Headers) -> Problem:
        """Return what is said of a token that is nobody's; if many are tried, that it is enough."""
        if not self._failures.allowed(client_of(scope, self._options)):
            return Problem(429, "too many wrong tokens came from here. Wait a minute.", headers={"Retry-After": "60"})
        return Problem(
            401,
            "this is not a token that is known here. Use the link you were given, or ask for a new one.",
            headers={"WWW-Authenticate": "Bearer"},
        )

    def still(self, scope: Scope) -> bool:
        """Return whether who made a request that is still going on would be let in now."""
        try:
            return self._person(scope, Headers(scope=scope), f"{API}/studies") is not None
        except Problem:
            return False

    def _limit(self, scope: Scope, headers: Headers, person: Person | None, path: str) -> None:
        if path.startswith("/static/"):
            return
        who = person.name if person is not None and person.token else None
        wait = self._rates.wait(who or client_of(scope, self._options))
        if wait > 0:
            raise Problem(
                429,
                f"at most {self._options.rate:g} requests a second are taken from one person. Wait {wait:.2g} s.",
                headers={"Retry-After": str(max(1, round(wait)))},
            )

    def _check_origin(self, headers: Headers) -> None:
        """Refuse what a page elsewhere makes a browser send: only our own page can set the header, from our origin."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        browser = origin is not None or site is not None or self.cookie in headers.get("cookie", "")
        if not browser:
            return
        ours = origin is None or self._ours(origin, headers.get("host", ""))
        if not ours or site not in (None, "same-origin", "none") or "corrbandits-page" not in headers:
            raise Problem(
                403,
                "this came from another page than ours. Open the page here and do it there; programs send "
                "`Authorization: Bearer TOKEN` and no Origin.",
            )

    def _ours(self, origin: str, host: str) -> bool:
        if self._options.proxy is not None:
            parts = urlsplit(self._options.proxy)
            return origin == f"{parts.scheme}://{parts.netloc}"
        return origin == f"http{'s' if self._options.secure else ''}://{host}"

    def _refusal(self, scope: Scope, problem: Problem) -> ASGIApp:
        """Return the answer: a person who opens a page is led to where one signs in."""
        path = _path(scope, self._options.prefix)
        asks = "text/html" in Headers(scope=scope).get("accept", "")
        if problem.status == 401 and scope["method"] == "GET" and asks and not path.startswith("/api/"):
            prefix = self._options.prefix
            wanted = quote(prefix + scope.get("raw_path", b"/").decode("latin-1").removeprefix(prefix), safe="/%")
            return RedirectResponse(f"{prefix}/signin?next={quote(wanted, safe='/')}", 303)
        return problem.response()

    def _complete(self, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        headers.setdefault("cache-control", "private, no-cache")
        if self._options.secure:
            headers["strict-transport-security"] = "max-age=31536000"


def cookie_name(options: Options) -> str:
    """Return what the cookie is called: servers on one machine share cookies whatever their ports."""
    return f"corrbandits_{options.port}"


def _free(path: str) -> bool:
    return path in FREE or path.startswith("/static/")


def _path(scope: Scope, prefix: str) -> str:
    path: str = scope["path"]
    return path.removeprefix(prefix) if prefix and path.startswith(f"{prefix}/") else path


def _said_name(headers: Headers) -> str | None:
    """Return what a person calls themselves where there are no tokens."""
    if not (said := unquote(headers.get("corrbandits-by", "")).strip()):
        return None
    try:
        return checked_name("a name", said)
    except ValueError as error:
        raise Problem(400, f"Corrbandits-By: {error}") from None


def client_of(scope: Scope, options: Options) -> str:
    """Return where a request comes from; behind a proxy, where the proxy says."""
    headers = Headers(scope=scope)
    if options.proxy is not None and (said := headers.get("x-forwarded-for")):
        return said.rpartition(",")[2].strip()[:100]
    return str((scope.get("client") or ("?",))[0])


async def _held(path: str, headers: Headers, receive: Receive, seconds: float) -> Receive:
    """Read the whole of a request, if it is of a kind and size that the address takes; give it to who asks for it."""
    most = LARGE if path in TABLES else SMALL
    if headers.get("content-length", "0").isdecimal() and int(headers.get("content-length", "0")) > most:
        raise _too_large(most)
    try:
        body = await asyncio.wait_for(_read(receive, most), seconds)
    except TimeoutError:
        raise Problem(408, f"the request did not come to its end within {seconds:g} s.") from None
    if body:
        _check_document(body, _check_kind(path, headers))
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _read(receive: Receive, most: int) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "the request broke off.")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > most:
            raise _too_large(most)
    return b"".join(parts)


def _check_kind(path: str, headers: Headers) -> str:
    """Return as what a document is sent, if the address takes it."""
    kinds = TABLES.get(path, ("application/json",))
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in kinds:
        raise Problem(415, f"the header Content-Type must be {' or '.join(kinds)}, got {given!r:.60}.")
    return given


def _check_document(body: bytes, kind: str) -> None:
    """Refuse a document that says something twice; what is no JSON is said elsewhere, with its place."""
    if kind != "application/json" or len(body) > SMALL:
        return
    try:
        refuse_repeats(body.decode())
    except RepeatedError as error:
        raise Problem(400, f"in the document {error}") from None
    except (ValueError, RecursionError):
        return


def _too_large(most: int) -> Problem:
    return Problem(413, f"at most {most:,} bytes are taken here. Send less at once.", headers={"Connection": "close"})
