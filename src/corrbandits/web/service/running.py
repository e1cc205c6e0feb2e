"""The server process: it listens, and at the end of its life finishes what it has begun."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from corrbandits.web.service.app import application
from corrbandits.web.service.common import Service
from corrbandits.web.service.options import LOOPBACK, Options

GRACE = 30
"""Seconds that requests have to end after the server was told to."""

PATIENCE = 20.0
"""Seconds that a request may take to be there, but for its body: whoever sends half of one must not keep others out."""


@final
class Impatient(H11Protocol):
    """A connection that is closed if its first or next request has begun, or not, and does not come."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn says so too
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while a request has begun, and wait no longer once it is there."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


@final
class Server(uvicorn.Server):
    """A server that lets its streams end when it is told to stop."""

    service: Service | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking requests; those that are going on end by themselves, streams now.

        Unlike uvicorn's own, the signal is not raised once more at the end: having stopped is no failure.
        """
        if self.service is not None:
            self.service.live.end()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def free_port(host: str) -> int:
    """Return a port that nobody listens on now."""
    with _socket(Options("", host=host if host in LOOPBACK else "127.0.0.1", port=0)) as found:
        return int(found.getsockname()[1])


def serve(options: Options, said: Callable[[str], None]) -> None:
    """Serve until a signal says to stop; then finish what was begun, and return. `said` is told what is served."""
    with _socket(options) as listening:
        app, service = application(options)
        said(service.place)
        prepared(app, service).run(sockets=[listening])


def prepared(app: ASGIApp, service: Service) -> Server:
    """Return the server of an application, ready to run."""
    options = service.options
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        http=Impatient,
        limit_concurrency=1_000,
        h11_max_incomplete_event_size=1 << 16,
        ssl_certfile=None if options.certificate is None else str(options.certificate),
        ssl_keyfile=None if options.key is None else str(options.key),
        ws="none",
    )
    server = Server(config)
    server.service = service
    return server


def _socket(options: Options) -> socket.socket:
    """Return a socket that listens; what stands in the way is said in words."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host, options.port))
        listening.listen(128)  # who comes while the application is being made waits, and is not refused
    except OSError as error:
        listening.close()
        raise ValueError(
            f"cannot listen on {options.host}, port {options.port}: {error.strerror}. Name another by --host and "
            "--port."
        ) from None
    return listening
