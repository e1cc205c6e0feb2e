"""Names of studies in addresses: one segment, percent-encoded, whatever characters a name has.

Servers decode a path before it is routed, and then a `/` within a name looks like one between segments. So segments are
decoded here one by one, and a `/` within one travels as a character that no name can have.
"""

from __future__ import annotations

from typing import final
from urllib.parse import quote, unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

_SLASH = "\x1f"
"""Stands for a slash within a segment: names hold printable characters only."""


@final
class StudyConvertor(Convertor[str]):
    """One segment of a path, which is the name of a study."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """Return the name that a segment says."""
        return value.replace(_SLASH, "/")

    def to_string(self, value: str) -> str:
        """Return a name as a segment."""
        return segment(value)


@final
class Segments:
    """Decodes the segments of a path one by one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, its path decoded."""
        if scope["type"] == "http" and (raw := scope.get("raw_path")):
            parts = raw.partition(b"?")[0].decode("latin-1").split("/")
            scope["path"] = "/".join(unquote(part).replace("/", _SLASH) for part in parts)
        await self._app(scope, receive, send)


def segment(name: str) -> str:
    """Return a name as one segment of an address.

    >>> segment("north/east meadow")
    'north%2Feast%20meadow'
    """
    return quote(name, safe="")


register_url_convertor("study", StudyConvertor())
