"""Errors as documents (RFC 9457): what was expected, what was given, what to do."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette._utils import get_route_path
from starlette.exceptions import HTTPException
from starlette.responses import Response

from corrbandits.study.journal import JournalError
from corrbandits.study.refusal import RefusedError
from corrbandits.web.service.shapes import SAID
from corrbandits.web.service.tokens import Person, Role

log = logging.getLogger("corrbandits.service")


@final
class Problem(Exception):  # noqa: N818 - what RFC 9457 calls it
    """An answer that is an error: its status, and in words what was expected, what came and what to do."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, dict(headers or {}), more

    def response(self) -> Response:
        """Return it as a document."""
        title = HTTPStatus(self.status).phrase
        data = {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail, **self.more}
        body = json.dumps(data, allow_nan=False).encode()
        return Response(body, self.status, self.headers, media_type="application/problem+json")


def refuse_role(person: Person, role: Role) -> None:
    """Refuse a person who may not do what this role does."""
    if not person.may(role):
        raise Problem(403, f"this needs the role {role}, but this token has {person.role}. Ask who gave it to you.")


def problem_of(error: BaseException, place: str | None = None, key: str | None = None) -> Problem:
    """Return what an error is for who made the request; where studies are kept is not said."""
    said = str(error) if place is None else str(error).replace(place, "the database")
    if isinstance(error, Problem):
        return Problem(error.status, said, headers=error.headers, **error.more)
    if isinstance(error, RefusedError):
        return Problem(409, said)
    if isinstance(error, JournalError):
        own = error.key or key
        more = {"unsure": error.unsure} | ({} if own is None else {"key": own})
        again = " The same call with the same Idempotency-Key is counted once." if error.unsure and own else ""
        return Problem(503, said + again, headers={"Retry-After": "1"}, **more)
    if isinstance(error, (ValueError, TypeError)):
        return Problem(400, said)
    if isinstance(error, MemoryError):
        return Problem(413, said or "there is not enough memory for this. Take fewer arms.")
    if isinstance(error, ArithmeticError):
        return Problem(400, f"numbers grew beyond what can be computed with ({said}). Bring rewards nearer to 1.")
    log.error("an unexpected error", exc_info=error)
    return Problem(500, "something unexpected went wrong here; the server's log has it. Nothing more is known.")


async def on_problem(request: Request, error: Exception) -> Response:
    """Answer an error of a route."""
    service = getattr(request.app.state, "service", None)
    return problem_of(error, None if service is None else service.place).response()


async def on_http(request: Request, error: Exception) -> Response:
    """Answer an error of the framework."""
    from corrbandits.web.service.openapi import allowed

    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405 and (methods := allowed(request.app, get_route_path(request.scope))):
        headers["Allow"] = methods
    words = {
        404: "there is nothing at this address. /api/v1/openapi.json lists what there is.",
        405: "this address takes other methods: see the header Allow.",
    }
    return Problem(error.status_code, words.get(error.status_code, str(error.detail)), headers=headers).response()


async def on_invalid(_: Request, error: Exception) -> Response:
    """Answer a request whose parameters or document are not as the interface says."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    bad_json = any(one["type"] == "json_invalid" for one in found)
    said = "; ".join(_in_words(one) for one in found[:5])
    return Problem(400 if bad_json else 422, f"{said[:2000]}.").response()


_EXPECTED = {
    SAID: "{message}",
    "greater_than_equal": "at least {ge:,}",
    "greater_than": "above {gt:,g}",
    "less_than_equal": "at most {le:,}",
    "less_than": "below {lt:,g}",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_too_short": "text of at least {min_length} character(s)",
    "string_too_long": "text of at most {max_length:,} characters",
    "too_short": "at least {min_length:,} long",
    "too_long": "at most {max_length:,} long",
    "literal_error": "{expected}",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
"""What was expected, by the type that pydantic gives an error."""


def _in_words(one: Mapping[str, Any]) -> str:
    """Return an error of pydantic in plain words: the name, what was expected, what was given.

    >>> _in_words({"type": "greater_than_equal", "loc": ("body", "n"), "msg": "", "input": 0, "ctx": {"ge": 1}})
    'n must be at least 1, got 0'
    >>> _in_words({"type": "missing", "loc": ("body", "tell", 0, 1), "msg": "", "input": [3]})
    'tell[0][1] is missing'
    """
    kind, more = one["type"], one.get("ctx", {})
    if kind == "json_invalid":
        return f"the document must be JSON, but at character {one['loc'][-1]}: {more.get('error', one['msg'])}"
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"][1:]).lstrip(".")
    name = name[:100] or "the document"
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"{name} is not known here: leave it out, or see how it is spelt in /api/v1/openapi.json"
    expected = _EXPECTED[kind].format(message=one["msg"], **more) if kind in _EXPECTED else f"other: {one['msg']}"
    return f"{name} must be {expected}" + ("" if name == "token" else f", got {_given(one['input'])}")


def _given(value: Any) -> str:
    """Return what was given as one would write it in JSON, its beginning if it is long."""
    try:
        said = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        said = repr(value)
    return said if len(said) <= 60 else f"{said[:60]}..."
