"""Clients of the service: each asks, tells and looks, without a pause; a call that breaks is made again.

    python -m benchmarks.load.clients URL STUDY CLIENTS SECONDS

Prints one JSON document: seconds of each call, statuses, and the reward of every trial whose tell was acknowledged.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from urllib.parse import quote, urlsplit


class Client:
    """One connection, kept; HTTP as the service speaks it."""

    def __init__(self, url: str, study: str, number: int) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._study, self._number = f"/api/v1/studies/{quote(study, safe='')}", number
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.times: dict[str, list[float]] = {"ask": [], "tell": [], "look": []}
        self.statuses: dict[str, int] = {}
        self.broken = 0
        self.told: dict[int, float] = {}

    async def work(self, until: float) -> None:
        """Ask, tell and look until it is time; what was begun is ended."""
        made = 0
        while time.monotonic() < until:
            trials = await self._call("ask", "POST", "/ask", b"", secrets.token_hex(8))
            if trials is None:
                continue
            trial, made = trials["trials"][0], made + 1
            reward = round(30.0 + trial["arm"] % 10 + self._number / 100 + made / 1e6, 6)
            body = json.dumps({"reward": reward}).encode()
            if await self._call("tell", "POST", f"/trials/{trial['trial']}/tell", body, None) is not None:
                self.told[trial["trial"]] = reward
            await self._call("look", "GET", "", b"", None)

    async def _call(self, what: str, method: str, path: str, body: bytes, key: str | None) -> dict | None:
        """Make a call until it is answered; the time counts from its first attempt."""
        begun = time.perf_counter()
        while True:
            try:
                status, answer = await self._once(method, path, body, key)
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self._line, self.broken = None, self.broken + 1
                await asyncio.sleep(0.05)
                continue
            self.statuses[str(status)] = self.statuses.get(str(status), 0) + 1
            if status in (429, 503):
                await asyncio.sleep(0.2)
                continue
            self.times[what].append(time.perf_counter() - begun)
            return json.loads(answer) if status == 200 else None

    async def _once(self, method: str, path: str, body: bytes, key: str | None) -> tuple[int, bytes]:
        if self._line is None:
            self._line = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._line
        lines = [f"{method} {self._study}{path} HTTP/1.1", f"Host: {self._host}", f"Content-Length: {len(body)}"]
        lines += ["Content-Type: application/json"] * bool(body) + [f"Idempotency-Key: {key}"] * (key is not None)
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        answer = await reader.readexactly(length)
        if "connection: close" in head:
            writer.close()
            self._line = None
        return int(head.split(" ", 2)[1]), answer


async def run(url: str, study: str, count: int, seconds: float) -> dict:
    """Return what all clients saw."""
    clients = [Client(url, study, number) for number in range(count)]
    until = time.monotonic() + seconds
    await asyncio.gather(*(client.work(until) for client in clients))
    statuses: dict[str, int] = {}
    for client in clients:
        for status, number in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + number
    return {
        "times": {what: [x for client in clients for x in client.times[what]] for what in ("ask", "tell", "look")},
        "statuses": statuses,
        "broken": sum(client.broken for client in clients),
        "told": {trial: reward for client in clients for trial, reward in client.told.items()},
    }


if __name__ == "__main__":
    url, study, count, seconds = sys.argv[1:]
    print(json.dumps(asyncio.run(run(url, study, int(count), float(seconds)))))
