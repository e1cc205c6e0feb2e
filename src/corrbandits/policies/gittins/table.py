"""How many deviations above its mean the finite-horizon Gittins index of a Gaussian arm lies.

    name     meaning
    m        decisions left, this one included
    n        noise variance over the arm's variance: how many rewards the belief is worth
    g        the index is mean + g deviation

An arm of which N(mu, s^2) is believed may be taken up to m times, each time for its reward less a charge, and left for
good at any time. The index is the charge at which that is worth nothing. In units of s it depends on m and n alone:
g(1, n) = 0, and g grows with m and falls with n. The table is made by `make`, from the equation

    V(n, x, m) = max(0, x + E V(n + 1, x', m - 1)),    x' ~ N(x, 1 / (n (n + 1))),

x in units of the noise's deviation: g is the -x sqrt(n) at which what is in brackets is 0.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array

TABLE_ENDS = 1_000_000
"""For more decisions than this the index is that for so many, and somewhat too low."""


@final
class Table:
    """g on a lattice of log m and log n, in between linear."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as file:
            self.log_m, self.log_n, self.g = (
                np.asarray(file[key], dtype=np.float64) for key in ("log_m", "log_n", "g")
            )

    def at(self, m: int) -> Array:
        """Return g for m decisions left, on the lattice of log n."""
        x = np.log(min(max(m, 1), TABLE_ENDS))
        after = int(np.clip(np.searchsorted(self.log_m, x), 1, self.log_m.size - 1))
        share = (x - self.log_m[after - 1]) / (self.log_m[after] - self.log_m[after - 1])
        return np.asarray((1 - share) * self.g[after - 1] + share * self.g[after])


@cache
def table() -> Table:
    """Return the table that is shipped with the package."""
    return Table(Path(__file__).with_name("table.npz"))


def index_in_deviations(m: int, n: Any) -> Array:
    """Return g(m, n), for one n or for many.

    >>> index_in_deviations(1, 1.0).item(), index_in_deviations(100, np.array([0.1, 10.0])).round(1)
    (0.0, array([1.7, 1.1]))
    """
    known = table()
    with np.errstate(divide="ignore"):
        return np.interp(np.log(np.asarray(n, dtype=np.float64)), known.log_n, known.at(m))
