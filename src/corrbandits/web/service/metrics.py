"""What the server counts, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from starlette.types import Scope

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: how long answers take is counted between these."""


@final
class Metrics:
    """Requests by route and status, and how long they took; used from the event loop alone."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._sums: dict[str, float] = defaultdict(float)
        self.events: dict[str, int] = defaultdict(int)
        self._going = 0
        self.watchers = 0

    @contextmanager
    def going(self) -> Iterator[None]:
        """Count a request as going on."""
        self._going += 1
        try:
            yield
        finally:
            self._going -= 1

    def done(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route = getattr(scope.get("route"), "path", "other").replace(":study", "")
        self._requests[scope["method"][:10], route, status] += 1
        if not route.endswith("/live"):
            self._times[route][bisect_left(BOUNDS, seconds)] += 1
            self._sums[route] += seconds

    def text(self) -> str:
        """Return all counts.

        >>> print(Metrics().text().splitlines()[0])
        # TYPE corrbandits_requests_total counter
        """
        lines = ["# TYPE corrbandits_requests_total counter"]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{_escaped(method)}",route="{_escaped(route)}",status="{status}"'
            lines.append(f"corrbandits_requests_total{{{labels}}} {count}")
        lines.append("# TYPE corrbandits_request_seconds histogram")
        for route, counts in sorted(self._times.items()):
            lines += _histogram(_escaped(route), counts, self._sums[route])
        lines.append("# TYPE corrbandits_writes_total counter")
        lines += [f'corrbandits_writes_total{{did="{did}"}} {n}' for did, n in sorted(self.events.items())]
        lines += ["# TYPE corrbandits_requests_going gauge", f"corrbandits_requests_going {self._going}"]
        lines += ["# TYPE corrbandits_watchers gauge", f"corrbandits_watchers {self.watchers}"]
        return "\n".join(lines) + "\n"


def _histogram(route: str, counts: list[int], total: float) -> list[str]:
    lines, reached = [], 0
    for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
        reached += count
        lines.append(f'corrbandits_request_seconds_bucket{{route="{route}",le="{bound}"}} {reached}')
    lines.append(f'corrbandits_request_seconds_sum{{route="{route}"}} {total:.6f}')
    lines.append(f'corrbandits_request_seconds_count{{route="{route}"}} {reached}')
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
