"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@final
@dataclass(frozen=True)
class Options:
    """Where studies are, who may reach them and how; refused if secrets would travel in clear text.

    `proxy` is the address that people use, such as `https://field.example.org/bandits`, where a proxy before us speaks
    TLS. `rate` is how many requests a second one person may make, `burst` how many at once, `seconds` how long one may
    take.

    >>> Options("survey.db").open
    True
    >>> Options("survey.db", proxy="https://field.example.org/bandits", tokens=Path("tokens")).prefix
    '/bandits'
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8000
    tokens: Path | None = None
    proxy: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    demo: bool = False
    rate: float = 50.0
    burst: int = 200
    seconds: float = 30.0
    threads: int = 8
    watchers: int = 200

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("--tls-cert and --tls-key go together: give both, or neither.")
        if self.proxy is not None:
            _refuse_proxy(self.proxy)
        if self.host in LOOPBACK and self.proxy is None:
            return
        if self.tokens is None:
            raise ValueError(
                f"a server that others can reach ({self.proxy or self.host}) needs tokens: give --token-file, and make "
                "a token by `corrbandits token NAME --token-file FILE`."
            )
        if self.host not in LOOPBACK and self.certificate is None and self.proxy is None:
            raise ValueError(
                f"on {self.host} tokens would travel in clear text. Give --tls-cert and --tls-key; or, if a proxy "
                "before this server speaks TLS, --behind-proxy with the address that people use."
            )

    @property
    def open(self) -> bool:
        """Whether there are no tokens: whoever reaches this machine's loopback may do everything."""
        return self.tokens is None

    @property
    def secure(self) -> bool:
        """Whether people reach it by TLS."""
        return self.certificate is not None or (self.proxy is not None and self.proxy.startswith("https:"))

    @property
    def prefix(self) -> str:
        """The path below which people find it, without a slash at its end."""
        return "" if self.proxy is None else urlsplit(self.proxy).path.rstrip("/")

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which it may be called, in lower case and without a port."""
        ours = {*LOOPBACK, *([] if self.host in ("0.0.0.0", "::", "") else [self.host.lower()])}
        public = None if self.proxy is None else urlsplit(self.proxy).hostname
        return frozenset(ours if public is None else {*ours, public})

    @property
    def address(self) -> str:
        """Where people find it."""
        if self.proxy is not None:
            return self.proxy.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.secure else ''}://{host}:{self.port}"


def _refuse_proxy(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(
            f"--behind-proxy must be the address that people use, such as https://field.example.org, got "
            f"{address!r:.80}."
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError(
            f"{address!r:.80} would carry tokens in clear text. Let the proxy speak TLS: its address begins with "
            "https://."
        )
