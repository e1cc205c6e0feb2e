"""How often somebody may come: so many times at once, and so many a second on average."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import final

MOST_KNOWN = 10_000
"""So many are remembered; of more, who has not come for longest is taken for new."""


@final
class Rates:
    """Counts what each has left; it fills up with time.

    >>> rates = Rates(rate=1.0, burst=2)
    >>> [rates.allowed("Anna") for _ in range(3)], rates.allowed("Ben")
    ([True, True, False], True)
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # how much, and when that was

    def allowed(self, who: str) -> bool:
        """Return whether somebody may come now, and count it."""
        return self.wait(who) == 0

    def wait(self, who: str) -> float:
        """Return after how many seconds somebody may come; 0, and it is counted, if now."""
        now = time.monotonic()
        left, then = self._left.pop(who, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        come = left >= 1
        self._left[who] = (left - 1 if come else left), now
        while len(self._left) > MOST_KNOWN:
            self._left.popitem(last=False)
        return 0.0 if come else (1 - left) / self._rate
