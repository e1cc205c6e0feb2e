"""The description of the interface, for programs: errors as they are, and what is no JSON."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from corrbandits.web.service.given import ProblemShape
from corrbandits.web.service.shapes import Creating

Data = dict[str, Any]

METHODS = ("get", "post", "delete")
REF = "#/components/schemas/"
ERROR = {"application/problem+json": {"schema": {"$ref": f"{REF}Problem"}}}
TEXT: Data = {"schema": {"type": "string"}}


def described(app: FastAPI) -> Data:
    """Return the description, made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError", "ProblemShape"):
            schemas.pop(name, None)
        schemas["Problem"] = ProblemShape.model_json_schema()
        schemas |= models_json_schema([(Creating, "validation")], ref_template=f"{REF}{{model}}")[1]["$defs"]
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{}, {"token": []}]
        for path in made["paths"].values():
            for method in METHODS:
                if method in path:
                    _mend(path[method])
        app.openapi_schema = made
    return app.openapi_schema


def allowed(app: FastAPI, path: str) -> str:
    """Return the methods that an address takes, as the header Allow says them; none if they are not described."""
    found = [
        method.upper()
        for known, operations in described(app)["paths"].items()
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(known)), path)
        for method in METHODS
        if method in operations
    ]
    return ", ".join(dict.fromkeys(found))


def _mend(operation: Data) -> None:
    """Say what errors look like."""
    for status, response in operation["responses"].items():
        if int(status) >= 400:
            response["content"] = ERROR


def body(*kinds: str) -> Data:
    """Return the description of a request that is text, of one of these kinds."""
    return {"requestBody": {"required": True, "content": dict.fromkeys(kinds, TEXT)}}


def document(kind: type[BaseModel]) -> Data:
    """Return the description of a request that is a document of this kind, where the framework does not read it."""
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"{REF}{kind.__name__}"}}},
        }
    }


def answers(*kinds: str) -> dict[int | str, Data]:
    """Return the description of an answer of one of these kinds."""
    known: Data = {"application/json": {"schema": {"type": "object"}}}
    return {200: {"content": {kind: known.get(kind, TEXT) for kind in kinds}}}
