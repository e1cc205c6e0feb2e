"""Large documents: parsed and checked in a thread, and so that meanwhile other threads go on.

A framework parses and checks a document on the event loop, where 32 MB hold up everybody for most of a second. A thread
alone would not help: Python's parser of JSON is one call, during which no other thread runs. It calls back for every
number here, and between two such calls others have their turn.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from corrbandits.study.events import RepeatedError, each_once
from corrbandits.web.service.common import service_of
from corrbandits.web.service.problems import Problem

T = TypeVar("T", bound=BaseModel)


def large(kind: type[T]) -> Callable[[Request], Awaitable[T]]:
    """Return the dependency of a route that takes a document of this kind, which may be large."""

    async def taken(request: Request) -> T:
        sent = await request.body()
        return await service_of(request).work.run(lambda: checked(kind, sent), pool="slow")

    return taken


def checked(kind: type[T], sent: bytes) -> T:
    """Return a document; errors as the framework raises them."""
    try:
        return kind.model_validate(_parsed(sent))
    except ValidationError as error:
        found = [one | {"loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(found) from None


def _parsed(sent: bytes) -> Any:
    if not sent:
        raise RequestValidationError([{"type": "missing", "loc": ("body",), "msg": "", "input": None}])
    try:
        return json.loads(sent, object_pairs_hook=each_once, parse_float=_number)
    except json.JSONDecodeError as error:
        found = {"type": "json_invalid", "loc": ("body", error.pos), "msg": error.msg, "ctx": {"error": error.msg}}
        raise RequestValidationError([found]) from None
    except RepeatedError as error:
        raise Problem(400, f"in the document {error}") from None
    except (UnicodeDecodeError, RecursionError):
        raise Problem(400, "the document must be JSON in UTF-8, not nested too deeply to be read.") from None


def _number(text: str) -> float:
    """Return a number; in Python, so that other threads may run before the next one is parsed."""
    return float(text)
