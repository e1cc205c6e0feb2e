"""The commands `corrbandits serve` and `corrbandits token`: studies over HTTP, with a page for who measures."""

from __future__ import annotations

import importlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from corrbandits.cli.study.options import Db
from corrbandits.cli.study.parsing import database


class Roles(StrEnum):
    """What the bearer of a token may do: each does what the ones before it do."""

    read = "read"
    tell = "tell"
    manage = "manage"


TokenFile = Annotated[
    Path | None, typer.Option(help="Named tokens, as `corrbandits token` writes them.", metavar="FILE")
]


def serve(
    db: Db = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8000,
    demo: Annotated[bool, typer.Option("--demo", help="With a ready study to play with.")] = False,
    token_file: TokenFile = None,
    tls_cert: Annotated[Path | None, typer.Option(help="The certificate, for TLS.", metavar="FILE")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key.", metavar="FILE")] = None,
    behind_proxy: Annotated[
        str | None, typer.Option(help="The address people use, of a proxy that speaks TLS.", metavar="URL")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Requests a second that one person may make.")] = 50.0,
    burst: Annotated[int, typer.Option(min=1, help="Requests that one person may make at once.")] = 200,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a request may take.")] = 30.0,
) -> None:
    """Serve studies over HTTP, with a page for who measures.

    On this machine alone unless --host says otherwise; others need a token then, and TLS. Stops at Ctrl-C or SIGTERM,
    when what was begun is done.
    """
    _need_service()
    from corrbandits.web.service.options import Options
    from corrbandits.web.service.running import free_port, serve
    from corrbandits.web.service.tokens import Tokens

    options = Options(
        database=database(db, create=True),
        host=host,
        port=port or free_port(host),
        tokens=token_file,
        proxy=behind_proxy,
        certificate=tls_cert,
        key=tls_key,
        demo=demo,
        rate=rate,
        burst=burst,
        seconds=seconds,
    )
    if token_file is not None and not Tokens(token_file).count:
        typer.echo(
            f"there is no token in {token_file}: nobody can sign in. Make one by `corrbandits token`; the server need "
            "not be started again.",
            err=True,
        )
    serve(options, lambda place: typer.echo(f"{place} is served at {options.address}/"))


def token(
    name: Annotated[str, typer.Argument(help="Whose it is: it stands by what they do.", metavar="NAME")],
    token_file: Annotated[Path, typer.Option(help="The file of tokens; made if it is not there.", metavar="FILE")],
    role: Annotated[Roles, typer.Option(help="What they may do.")] = Roles.tell,
    url: Annotated[str, typer.Option(help="The address of the server, for the link.")] = "http://127.0.0.1:8000",
) -> None:
    """Make a token, and a link and QR code to sign in by.

    It is a person's or a program's, and its name goes with what they do. The file keeps a hash only: the token is shown
    this once. To take it back, strike its line out of the file.
    """
    _need_service()
    import segno

    from corrbandits.web.service.tokens import new_token

    secret = new_token(token_file, name, role.value)
    link = f"{url.rstrip('/')}/signin#{secret}"
    typer.echo(f"token  {secret}\nlink   {link}")
    code = segno.make(link, error="m")
    typer.echo("\n".join(_blocks([[bool(cell) for cell in row] for row in code.matrix])))
    typer.echo(f"{name} may {role.value}. The token is not kept here: note it now.")


def _blocks(dark: list[list[bool]]) -> list[str]:
    """Return a QR code as text, two rows on a line, dark on light, with the margin that it needs.

    >>> _blocks([[True]])[2].strip("█")
    '▄'
    """
    margin, width = 4, len(dark[0]) + 8
    rows = [[False] * width] * margin + [[False] * margin + row + [False] * margin for row in dark]
    rows += [[False] * width] * (margin + len(rows) % 2)
    marks = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    return ["".join(marks[pair] for pair in zip(*rows[k : k + 2], strict=True)) for k in range(0, len(rows) - 1, 2)]


def _need_service() -> None:
    try:
        for name in ("fastapi", "jinja2", "segno", "uvicorn"):
            importlib.import_module(name)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"the service needs {error.name}, which is not installed. Install it, in a clone of the repository: pip "
            "install '.[service]'"
        ) from None
