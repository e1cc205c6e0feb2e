"""What was seen of mean rewards that change: rewards of an arm at a time, and what they have in common with arms now.

name      shape     meaning
apart     (k, k)    how much time lies between rewards
faded     (k,)      exp(-apart / scale): what is left of a correlation after that time
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import Tally
from corrbandits.belief.log import Log
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard


def at_their_times(log: Log, now: float, relative: Array) -> Standard:
    """Return rewards as numbers about 1, those of one arm at one time together; in the order of times, then of arms.

    >>> log = Log.of([(2.0, 1, 4.0), (2.0, 0, 3.0), (2.0, 0, 5.0), (9.0, 0, 4.0)])
    >>> seen = at_their_times(log, 9.0, np.ones(2))
    >>> seen.arms, seen.times, seen.counts, seen.within * seen.unit**2
    (array([0, 1, 0]), array([2., 2., 9.]), array([2., 1., 1.]), 2.0)
    """
    place = {key: k for k, key in enumerate(sorted({(time, arm) for time, arm, _, _ in log}))}
    times, arms = np.array([time for time, _ in place]), np.array([arm for _, arm in place], dtype=np.int64)
    tally = Tally.empty(len(place)).plus((place[time, arm], count, total) for time, arm, count, total in log)
    return replace(Standard.of(tally, relative[arms]), arms=arms, times=times, now=now)


def first_and_rest(seen: Standard, most: int) -> tuple[Standard, Standard]:
    """Return so many of what was seen at first, and the rest; the spread within arms is all with the first."""
    if seen.times is None or seen.arms.size <= most:
        return seen, replace(seen, arms=seen.arms[:0], counts=seen.counts[:0], averages=seen.averages[:0], within=0.0)
    cut = {name: getattr(seen, name) for name in ("arms", "counts", "averages", "times")}
    first = replace(seen, **{name: values[:most] for name, values in cut.items()}, now=seen.times.item(most - 1))
    return first, replace(seen, **{name: values[most:] for name, values in cut.items()}, within=0.0)


def each_with_each(parts: Parts, kept: Integers, seen: Standard) -> Iterator[Array]:
    """Return the correlation of what was seen under some parts, one after the other."""
    if seen.times is None:
        return parts.correlations(kept, seen.arms, seen.arms)
    some, place = np.unique(seen.arms, return_inverse=True)
    apart = np.abs(seen.times[:, None] - seen.times)
    return (
        R[np.ix_(place, place)] * np.exp(-rate * apart)
        for R, rate in zip(parts.correlations(kept, some, some), _rates(parts, kept), strict=True)
    )


def of_seen(parts: Parts, kept: Integers, seen: Standard, arms: Integers) -> Iterator[Array]:
    """Return the correlation of what was seen with arms now, a row for each that was seen, under some parts."""
    if seen.times is None:
        return parts.correlations(kept, seen.arms, arms)
    some, place = np.unique(seen.arms, return_inverse=True)
    apart = (seen.now - seen.times)[:, None]
    return (
        R[place] * np.exp(-rate * apart)
        for R, rate in zip(parts.correlations(kept, some, arms), _rates(parts, kept), strict=True)
    )


def with_seen(parts: Parts, kept: Integers, arms: Integers, seen: Standard) -> Iterator[Array]:
    """Return the correlation of arms now with what was seen, a row for each arm, under some parts."""
    if seen.times is None:
        return parts.correlations(kept, arms, seen.arms)
    return (R.T for R in of_seen(parts, kept, seen, arms))


def _rates(parts: Parts, kept: Integers) -> list[float]:
    assert parts.rates is not None, "times are kept where mean rewards change"
    found: list[float] = parts.rates[kept].tolist()
    return found
