"""The addresses of the page: shells in HTML, and the files they load.

A shell holds no data: scripts fetch them from the interface, and keep them for when the connection is lost. Files lie
under a version that changes with their content, so that browsers keep them for good.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from functools import cache, partial
from importlib import resources
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

import corrbandits.web.service.names  # noqa: F401 - what `{study:study}` means in an address

VIEWS = {"": "Today", "map": "Map", "progress": "Progress", "history": "History"}
"""The views of a study, by the last part of their addresses."""

TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "png": "image/png"}
WORKER = "worker.js"
IMPORT = re.compile(r'from "\./(\w+\.js)"')
COMMENT = re.compile(rb"^[ ]*(?://.*|/\*\*(?:.|\n)*?\*/)$|[ ]+// .*$", re.MULTILINE)
"""Comments, on lines of their own or behind a statement: for who reads the source. No text there has // in it."""

FOR_GOOD = {"cache-control": "public, max-age=31536000, immutable"}
ASK_EACH_TIME = {"cache-control": "no-cache"}


def router() -> APIRouter:
    """Return the routes of the page, to be included at the root of an application."""
    routes = APIRouter()
    routes.add_route("/", _shell("studies", "Studies"))
    routes.add_route("/new", _shell("new", "New study"))
    routes.add_route("/signin", _shell("signin", "Sign in"))
    routes.add_route("/s/{study:study}", _today)
    for view, title in VIEWS.items():
        routes.add_route(f"/s/{{study:study}}/{view}", _shell(title.lower(), title, view))
    routes.add_route("/static/{version}/{name}", _file)
    routes.add_route("/sw.js", _worker)
    routes.add_route("/manifest.webmanifest", _manifest)
    return routes


def rendered(template: str, root: str, **values: Any) -> str:
    """Return a template as HTML; whatever is put into it is escaped."""
    known: dict[str, Any] = {"root": root, "version": version(), "views": VIEWS, "view": None, "study": None}
    known["scripts"] = scripts(f"{template}.js")
    return _templates().get_template(f"{template}.html").render(known | values, page=template)


@cache
def files() -> dict[str, bytes]:
    """Return the files that shells load, by name; scripts without their comments, each line where it was."""
    folder = resources.files(__package__).joinpath("static")
    found = {file.name: file.read_bytes() for file in sorted(folder.iterdir(), key=lambda file: file.name)}
    blank = partial(COMMENT.sub, lambda comment: b"\n" * comment[0].count(b"\n"))
    return {name: blank(content) if name.endswith(".js") else content for name, content in found.items()}


@cache
def scripts(first: str) -> tuple[str, ...]:
    """Return the scripts that a script loads, itself first: a browser told of them fetches all at once.

    >>> scripts("colour.js"), scripts("chart.js")
    (('colour.js',), ('chart.js', 'dom.js', 'numbers.js', 'places.js'))
    """
    found = [first]
    for name in found:
        found += [other for other in IMPORT.findall(files()[name].decode()) if other not in found]
    return tuple(dict.fromkeys(found))


@cache
def version() -> str:
    """Return what the files are called by together: another for other files."""
    digest = hashlib.sha256()
    for name, content in files().items():
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:12]


def _shell(template: str, title: str, view: str | None = None) -> Callable[[Request], Awaitable[Response]]:
    async def shell(request: Request) -> Response:
        study = request.path_params.get("study")
        page = rendered(template, _root(request), title=title, view=view, study=study)
        return HTMLResponse(page, headers=ASK_EACH_TIME)

    return shell


async def _today(request: Request) -> Response:
    """Return where a study's view of today is, for who left out the slash at its end."""
    return RedirectResponse(f"{_root(request)}/s/{quote(request.path_params['study'], safe='')}/", 308)


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    content = files().get(name)
    if content is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    current = request.path_params["version"] == version()  # an old shell gets what there is, and keeps it not
    return Response(content, media_type=TYPES[name.rpartition(".")[2]], headers=FOR_GOOD if current else ASK_EACH_TIME)


async def _worker(request: Request) -> Response:
    """Return the service worker, told where it is and what to keep."""
    root = _root(request)
    kept = [f"{root}/static/{version()}/{name}" for name in files() if name != WORKER]
    told = json.dumps({"root": root, "version": version(), "files": kept})
    return Response(f"const TOLD = {told};\n{files()[WORKER].decode()}", media_type=TYPES["js"], headers=ASK_EACH_TIME)


async def _manifest(request: Request) -> Response:
    """Return what a telephone needs to put the page among its applications."""
    root = _root(request)
    icons = [{"src": f"{root}/static/{version()}/icon.svg", "sizes": "any", "type": TYPES["svg"], "purpose": "any"}]
    about = {"name": "corrbandits", "short_name": "corrbandits", "display": "standalone", "icons": icons}
    colours = {"background_color": "#faf8f3", "theme_color": "#1d5c47"}
    return JSONResponse(
        about | colours | {"start_url": f"{root}/", "scope": f"{root}/"}, media_type="application/manifest+json"
    )


def _root(request: Request) -> str:
    """Return the prefix behind a proxy, without a slash at its end; "" where there is none."""
    return quote(str(request.scope.get("root_path", "")).rstrip("/"))


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("corrbandits.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["part"] = lambda text: quote(str(text), safe="")
    return found
