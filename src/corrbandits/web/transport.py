"""One server over HTTP: requests that are made again where that is safe, and errors as a study raises them."""

from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import threading
import time
from contextlib import suppress
from typing import Any, Final, final
from urllib.parse import quote, unquote, urlencode, urlsplit

from corrbandits.study.journal import JournalError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
AGAIN = (429, 502, 503, 504)
"""Answers after which the same request is made again: the server was busy, away, or its database was."""

LONGEST = 5.0
"""Seconds between two attempts, at most, unless the server says more."""

MOST_BYTES = 1 << 29


@final
class Transport:
    """Requests to one server. A connection is kept, and used by one thread at a time."""

    def __init__(self, url: str, token: str | None, *, by: str | None, patience: float, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError(f"an address such as https://field.example.org was expected, got {_shown(url)!r:.100}.")
        token = _checked_token(token if token is not None else os.environ.get("CORRBANDITS_TOKEN"))
        if token and parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise ValueError(
                f"a token would travel in clear text to {parts.hostname}. Use https://, as the server's address says."
            )
        self.prefix, self._parts = parts.path.rstrip("/"), parts
        self._patience, self._timeout = patience, timeout
        self._headers: dict[str, str] = {"Accept": "application/json", "User-Agent": "corrbandits"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        elif by is not None:
            self._headers["Corrbandits-By"] = quote(by, safe="")
        self._lock, self._kept, self._process = threading.Lock(), None, os.getpid()

    _kept: http.client.HTTPConnection | None

    def get(self, path: str, **query: Any) -> Any:
        """Return a document."""
        given = {name: value for name, value in query.items() if value is not None}
        body = self._made("GET", f"{path}?{urlencode(given)}" if given else path, None, None)
        return json.loads(body)

    def text(self, path: str) -> bytes:
        """Return what is not a document."""
        return self._made("GET", path, None, None)

    def post(self, path: str, data: Any = None, key: str | None = None) -> Any:
        """Return what the server answers to a document; with a key it is counted once, however often it is sent."""
        body = None if data is None else json.dumps(data, allow_nan=False).encode()
        return json.loads(self._made("POST", path, body, key))

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        if "_kept" in self.__dict__:
            self._drop()

    def _made(self, method: str, path: str, body: bytes | None, key: str | None) -> bytes:
        """Return what is answered; asked again, for as long as patience lasts, where the server was not reached."""
        until, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                status, headers, answer = self._once(method, path, body, key)
            except (OSError, http.client.HTTPException) as error:
                wait, why = pause, f"{self._parts.netloc} cannot be reached: {error!r:.200}"
            else:
                if status < 300:
                    return answer
                if status not in AGAIN:
                    raise _error(status, answer)
                wait = max(pause, _seconds(headers.get("Retry-After")))
                why = _detail(answer) or f"{self._parts.netloc} answered {status}"
            if time.monotonic() + wait > until:
                raise _given_up(why, key, changes=method != "GET")
            time.sleep(wait * random.uniform(0.75, 1.25))
            pause = min(2 * pause, LONGEST)

    def _once(self, method: str, path: str, body: bytes | None, key: str | None) -> tuple[int, Any, bytes]:
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        with self._lock:
            try:
                connection = self._connection()
                connection.request(method, self.prefix + path, body, headers)
                answer = connection.getresponse()
                found = answer.status, answer.headers, answer.read(MOST_BYTES)
                if answer.length:  # a server that was killed has sent less than it said, and `read` does not mind
                    raise http.client.IncompleteRead(found[2], answer.length)
                if answer.will_close:
                    self._drop()
            except BaseException:
                self._drop()
                raise
            return found

    def _connection(self) -> http.client.HTTPConnection:
        if self._process != os.getpid():  # a forked process must not talk on its parent's line
            self._kept, self._process = None, os.getpid()
        if self._kept is None:
            host, port = self._parts.hostname or "", self._parts.port
            if self._parts.scheme == "https":
                context = ssl.create_default_context()
                self._kept = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
            else:
                self._kept = http.client.HTTPConnection(host, port, timeout=self._timeout)
        return self._kept

    def _drop(self) -> None:
        if self._kept is not None:
            with suppress(OSError):
                self._kept.close()
        self._kept = None


STUDY: Final = "/s/"


def parted(url: str) -> tuple[str, str | None]:
    """Return the address of a server and the name of a study, if the address is that of its page.

    >>> parted("https://field.example.org/bandits/s/north%20meadow/map")
    ('https://field.example.org/bandits', 'north meadow')
    """
    server, found, rest = url.partition(STUDY)
    return (
        (server, unquote(rest.partition("?")[0].partition("#")[0].partition("/")[0])) if found and rest else (url, None)
    )


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0


def _detail(answer: bytes) -> str | None:
    try:
        found = json.loads(answer)
        return str(found["detail"])
    except (ValueError, KeyError, TypeError):
        return None


def _error(status: int, answer: bytes) -> Exception:
    """Return the error that a study would have raised."""
    said = _detail(answer) or f"the server answered {status}: {answer[:200]!r}"
    if status in (401, 403):
        return PermissionError(said)
    return ValueError(said) if 400 <= status < 500 else JournalError(said)


def _given_up(why: str, key: str | None, *, changes: bool) -> JournalError:
    error = JournalError(f"{why}. It was tried again and again; make the same call when the server is back.")
    error.unsure, error.key = changes, key
    if changes and key is not None:
        error.add_note(f"It is not known whether it was saved. The same call with key={key!r} is counted once.")
    return error


def _checked_token(token: str | None) -> str | None:
    """Return a token without blanks around it, such as the end of a file's line; refuse what cannot be one, unshown."""
    token = None if token is None else token.strip()
    if token and not (token.isascii() and token.isprintable()):
        raise ValueError("a token has letters, digits, - and _ alone, but this one has others. Copy it once more.")
    return token


def _shown(url: str) -> str:
    """Return an address without what may be a password in it."""
    return url.rpartition("@")[2] if "@" in url else url
