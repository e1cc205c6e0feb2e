"""What a stress test found, in numbers; every one comes from the means in its CSV.

name             meaning
level            mean regret at the horizon with the uninformative prior
given            mean regret at the horizon with the prior as it was given
break-even       where a curve of mean regret crosses the level, between two settings on a straight line
                 (of the logarithm, for the factors on variance and length)
safe             settings from one break-even to the next, about the prior as given if that helps, or else about the
                 best setting of the curve: there the regret is no more than with the uninformative prior
worst            the largest mean regret over settings
safest           of the settings whose means were made wrong in every way of the default kind, the least worst
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corrbandits.stress.priors import AS_GIVEN

UNINFORMATIVE, FIXED, SURVIVORS = "uninformative", ("printed", "plain"), ("elimination", "refitting")

TIE = 0.02
"""Two regrets are alike if they differ by no more than this share of the larger."""


class Row(NamedTuple):
    """One row of the CSV: the regret of a candidate in a setting at a time, over runs; low and high are its band."""

    candidate: str
    kind: str
    accuracy: float
    confidence: float
    length: float
    time: int
    runs: int
    mean: float
    low: float
    high: float


Curve = Sequence[tuple[float, float]]
"""The values of a factor, in order, and the mean regret at each."""

Found = dict[str, Any]


def findings(rows: Iterable[Row], about: Mapping[str, Any]) -> Found:
    """Return the numbers of the sentences; None where there is no such number. `about` are the test's attributes."""
    table = list(rows)
    last = max(row.time for row in table)
    at_end = [row for row in table if row.time == last]
    kind, main = str(about["default_kind"]), str(about["candidate"])
    level = next(row.mean for row in at_end if row.candidate == UNINFORMATIVE)
    given = _mean(at_end, main, kind, AS_GIVEN[kind])
    found = {
        "horizon": last,
        "candidate": main,
        "uninformative": level,
        "given": given,
        "saving": level - given,
        "share": (level - given) / level if level else 0.0,
        "verdict": _verdict(given, level),
        **_over_time(table, main, kind),
    }
    for factor in dict.fromkeys(row.kind for row in at_end):
        curve = _accuracy_curve(at_end, main, kind, factor)
        low, high = stretch(curve, AS_GIVEN[factor], level)
        found |= {f"{factor}_low": low, f"{factor}_high": high, f"{factor}_tried": (curve[0][0], curve[-1][0])}
    for factor in ("confidence", "length"):
        found |= _safe(factor, _factor_curve(at_end, main, kind, factor), level)
    return found | _worst(at_end) | _safest(at_end, kind) | _corners(at_end, main)


def stretch(
    curve: Curve, start: float, level: float, *, logarithmic: bool = False
) -> tuple[float | None, float | None]:
    """Return the break-evens below and above a point of a curve; None where it does not cross the level on that side.

    >>> stretch([(-2.0, 30.0), (-1.0, 10.0), (0.0, 5.0), (1.0, 9.0)], 0.0, level=20.0)
    (-1.5, None)
    """
    at = [x for x, _ in curve].index(start)
    above = curve[at][1] > level
    ends = []
    for step in (-1, 1):
        k = at
        while 0 <= k + step < len(curve) and (curve[k + step][1] > level) == above:
            k += step
        there = 0 <= k + step < len(curve)
        ends.append(_crossing(curve[k], curve[k + step], level, logarithmic) if there else None)
    return ends[0], ends[1]


def _crossing(one: tuple[float, float], other: tuple[float, float], level: float, logarithmic: bool) -> float:
    share = (level - one[1]) / (other[1] - one[1])
    if logarithmic:
        return math.exp(math.log(one[0]) + share * (math.log(other[0]) - math.log(one[0])))
    return one[0] + share * (other[0] - one[0])


def _verdict(given: float, level: float) -> str:
    if alike(given, level):
        return "makes no difference"
    return "helps" if given < level else "hurts"


def alike(one: float, other: float) -> bool:
    """Return whether two regrets are told apart by less than `TIE` of the larger.

    >>> alike(100.0, 101.0), alike(100.0, 110.0), alike(0.0, 0.0)
    (True, False, True)
    """
    return abs(one - other) <= TIE * max(one, other)


def _mean(rows: Sequence[Row], candidate: str, *setting: Any) -> float:
    wanted = (candidate, *setting, 1.0, 1.0)[:5]
    return next(row.mean for row in rows if row[:5] == wanted)


def _over_time(table: Sequence[Row], main: str, kind: str) -> Found:
    flat = {row.time: row.mean for row in table if row.candidate == UNINFORMATIVE}
    given = {row.time: row.mean for row in table if row[:5] == (main, kind, AS_GIVEN[kind], 1.0, 1.0)}
    return {
        "times": sorted(given),
        "helps_at": [t for t in sorted(given) if _verdict(given[t], flat[t]) == "helps"],
        "hurts_at": [t for t in sorted(given) if _verdict(given[t], flat[t]) == "hurts"],
    }


def _accuracy_curve(rows: Sequence[Row], main: str, kind: str, factor: str) -> Curve:
    curve = {AS_GIVEN[factor]: _mean(rows, main, kind, AS_GIVEN[kind])}
    curve |= {row.accuracy: row.mean for row in rows if row[:2] == (main, factor) and row[3:5] == (1.0, 1.0)}
    return sorted(curve.items())


def _factor_curve(rows: Sequence[Row], main: str, kind: str, factor: str) -> Curve:
    other = "length" if factor == "confidence" else "confidence"
    chosen = [row for row in rows if row[:3] == (main, kind, AS_GIVEN[kind]) and getattr(row, other) == 1.0]
    return sorted((getattr(row, factor), row.mean) for row in chosen)


def _safe(factor: str, curve: Curve, level: float) -> Found:
    """Return where a factor is safe, the ends of what was tried where no break-even lies before them."""
    best = min(curve, key=lambda point: point[1])
    names = f"{factor}_best", f"{factor}_tried", f"{factor}_low", f"{factor}_high", f"{factor}_to_the_end"
    tried = curve[0][0], curve[-1][0]
    if best[1] > level:
        return dict(zip(names, (best[0], tried, None, None, (False, False)), strict=True))
    start = 1.0 if dict(curve)[1.0] <= level else best[0]
    low, high = stretch(curve, start, level, logarithmic=True)
    ends = tried[0] if low is None else low, tried[1] if high is None else high
    return dict(zip(names, (best[0], tried, *ends, (low is None, high is None)), strict=True))


def _worst(rows: Sequence[Row]) -> Found:
    """Return the largest regret of each index, and the most that each costs beyond the other in one setting.

    The index to prefer is the one that costs less at most: the largest regrets themselves come from settings in which
    both are as bad, and say little of either.
    """
    means = {name: {row[1:5]: row.mean for row in rows if row.candidate == name} for name in FIXED}
    found: Found = {f"{name}_worst": max(means[name].values(), default=None) for name in FIXED}
    printed, plain = (means[name] for name in FIXED)
    if not (printed and plain):
        return found | {"printed_excess": None, "plain_excess": None, "prefer": None}
    excess = [
        max(one[setting] - other[setting] for setting in one) for one, other in ((printed, plain), (plain, printed))
    ]
    prefer = FIXED[excess[0] > excess[1]] if not alike(*(max(x, 0.0) for x in excess)) else None
    return found | {"printed_excess": excess[0], "plain_excess": excess[1], "prefer": prefer}


def _safest(rows: Sequence[Row], kind: str) -> Found:
    """Return the candidate, confidence and length whose regret is least when the means are at their most wrong."""
    tried = {row.accuracy for row in rows if row.kind == kind}
    worst: dict[tuple[str, float, float], dict[float, float]] = {}
    for row in rows:
        if row.candidate in FIXED and row.kind == kind:
            worst.setdefault((row.candidate, row.confidence, row.length), {})[row.accuracy] = row.mean
    complete = {setting: max(means.values()) for setting, means in worst.items() if means.keys() == tried}
    best = min(complete, key=lambda setting: complete[setting])
    names = ("safest_candidate", "safest_confidence", "safest_length", "safest_worst")
    return dict(zip(names, (*best, complete[best]), strict=True))


def _corners(rows: Sequence[Row], main: str) -> Found:
    """Return the worst regret at the corners at which surviving beliefs were played, theirs and the fixed prior's."""
    corners = dict.fromkeys(row[1:5] for row in rows if row.candidate in SURVIVORS)
    found: Found = {"corners": list(corners)}
    for name in (main, *SURVIVORS):
        means = [row.mean for row in rows if row.candidate == name and row[1:5] in corners]
        found[f"corners_{'given' if name == main else name}"] = max(means, default=None)
    return found
