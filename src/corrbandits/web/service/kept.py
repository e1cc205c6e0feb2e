"""Answers that were computed, kept for who asks next."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, final

from corrbandits.web.service.documents import finite


@final
class Kept:
    """Answers that were computed, by what they are made of; those not used for longest go first."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._found: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...], make: Callable[[], Any]) -> bytes:
        """Return a document as JSON, made if it is not there."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        body = as_json(make())
        with self._lock:
            if key not in self._found:
                self._found[key], self._size = body, self._size + len(body)
            while self._size > self._most and len(self._found) > 1:
                self._size -= len(self._found.popitem(last=False)[1])
        return body


def as_json(data: Any) -> bytes:
    """Return data as JSON; what is not finite is null."""
    return json.dumps(finite(data), allow_nan=False, separators=(",", ":")).encode()
