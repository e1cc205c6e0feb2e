"""Only what was seen lately counts."""

from __future__ import annotations

import math
from typing import Any, final

from corrbandits._core import checks
from corrbandits._shell.numbers import number
from corrbandits.belief.changing.base import ChangingBelief
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.independent import Independent

Width = float | tuple[float, float]


@final
class Windowed(ChangingBelief):
    """A prior and the rewards of the last `window` decisions: for means that change in ways that nobody knows.

    At time t the rewards of times t - window and later count, all alike, and none that are older. A pair (lambda,
    alpha) lets the window grow: at time t it is lambda t^alpha, rounded up, and at most t. Its rule UCL is then that
    of Srivastava, Reverdy and Leonard (2014) for means that change abruptly, after the sliding window of Garivier and
    Moulines (2011). There rewards count that are less than lambda t^alpha + 1 old, at whole times and between them.
    `prior` is `Independent`, of any variance, or `Correlated`.

    >>> prior = Independent(noise_variance=1.0, arms=2)
    >>> belief = Windowed(prior=prior, window=2).observe(0, 5.0).after(2).observe(1, 7.0).after(3)
    >>> belief.mean, belief.after(4).variance     # at time 4 the first reward is forgotten
    (array([5., 7.]), array([inf,  1.]))
    """

    def __init__(self, *, prior: Correlated | Independent, window: Any) -> None:
        self._begin(prior, (Correlated, Independent))
        self._window, self._start = _checked_window(window), 0

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior and the window."""
        return {"prior": self._prior, "window": self._window}

    def width(self, time: float) -> float:
        """Return how far back from a whole time rewards count.

        >>> belief = Windowed(prior=Independent(noise_variance=1.0, arms=2), window=(2.0, 0.5))
        >>> belief.width(3), belief.width(100)
        (3, 20.0)
        """
        if not isinstance(self._window, tuple):
            return self._window
        factor, power = self._window
        return min(float(math.ceil(factor * time**power)), time)

    def _since(self, time: float) -> float:
        """Return the earliest time that counts; it never falls, so that how one came to a time does not matter."""
        if not isinstance(self._window, tuple):
            return time - self._window
        factor, power = self._window
        return math.nextafter(time - 1 - factor * time**power, math.inf)

    def _change_in_words(self, unit: str) -> str:
        if isinstance(self._window, tuple):
            return f"the last {number(self._window[0], 3)} t^{number(self._window[1], 3)} decisions count"
        return f"the last {number(self._window, 3)} decisions count"

    def _moved(self, time: float) -> Windowed:
        since, start = self._since(time), self._start
        while start < len(self._log) and self._log[start][0] < since:
            start += 1
        moved = self._changed(_time=time, _start=start)
        if start == self._start:
            return moved
        old = [self._log[place][1:] for place in range(self._start, start)]
        left = self._now._tally.plus((arm, -count, -total) for arm, count, total in old)
        return moved._follow(self._prior._conditioned(left))


def _checked_window(window: Any) -> Width:
    if not isinstance(window, (tuple, list)):
        return checks.number("window", window, least=1)
    if len(window) != 2:
        raise ValueError(f"window must be one number, or lambda and alpha of lambda t^alpha, got {window!r:.60}.")
    factor = checks.number("lambda of the window", window[0], above=0)
    return factor, checks.number("alpha of the window", window[1], above=0, up_to=1)
