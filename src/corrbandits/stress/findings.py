"""What a stress test found, in numbers; every one comes from the means in its CSV.

name             meaning
level            mean regret at the horizon with the uninformative prior
independent      the same with independent arms of the right mean and deviation
vague            the same of the recommended rule, told nothing but where arms lie
given            mean regret at the horizon with the prior as it was given
verdict          what a prior does at a setting and time: it helps, hurts or makes no difference; of the prior as
                 given there is none where the difference may be chance: less than its margin, but not alike
break-even       where a curve of mean regret crosses the level, between two settings on a straight line
                 (of the logarithm, for the factors on variance, length and scale of the drift)
safe             settings from one break-even to the next, around the prior as given if that is safe, otherwise around
                 the best setting of the curve: there the regret is no more than with the uninformative prior
worst            the largest mean regret over settings
initial          mean number of steps of initialisation with the prior as given, or at another setting
fixed            the regret if means that drift are taken for fixed: an infinite scale of the drift
one mean         the setting of the kind scale at 0: every arm has the average of the prior's means
safest           of the settings whose means were made wrong in every way of the default kind, the least worst
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corrbandits.stress.names import FIXED, HELD, INDEPENDENT, SURVIVORS, UNINFORMATIVE, VAGUE
from corrbandits.stress.settings import AS_GIVEN, DRIFT, FACTORS

TIE = 0.02
"""Two regrets are alike if they differ by no more than this share of the larger."""

HELPS, HURTS, NEITHER = "helps", "hurts", "makes no difference"
NO_VERDICT = "has no verdict"


class Row(NamedTuple):
    """One row of the CSV: the regret of a candidate in a setting at a time, over runs; low and high are its band.

    `initial` is the mean number of initial steps; `better` says on how many of the `surfaces` that were met the regret
    is less than with the uninformative prior. The margins are half the 95 % t-intervals of the mean difference from
    the references, run by run: NaN with one run, or where there is no such reference.
    """

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
    initial: float = 0.0
    surfaces: int = 1
    better: int = 0
    uninformative_margin: float = math.nan
    independent_margin: float = math.nan
    vague_margin: float = math.nan


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
    as_given = next(row for row in at_end if row[:5] == (main, kind, AS_GIVEN[kind], 1.0, 1.0))
    given = as_given.mean
    found = {
        "horizon": last,
        "candidate": main,
        "uninformative": level,
        "given": given,
        "saving": level - given,
        "share": (level - given) / level if level else 0.0,
        "surfaces": as_given.surfaces,
        "better": as_given.better,
        "initial": as_given.initial,
        **_one_mean(at_end, main, given, bool(about.get("means_alike"))),
        **_beside(table, UNINFORMATIVE, about),
    }
    for factor in _factors(at_end):
        found |= _initial(factor, at_end, main, kind, found[f"{factor}_best"])
    found["fixed"] = next((row.mean for row in at_end if row[:5] == (main, DRIFT, math.inf, 1.0, 1.0)), None)
    found["independent"] = next((row.mean for row in at_end if row.candidate == INDEPENDENT), None)
    if found["independent"] is not None:  # as in tests before 0.2.0
        found |= {f"independent_{name}": value for name, value in _beside(table, INDEPENDENT, about).items()}
    found["vague"] = next((row.mean for row in at_end if row.candidate == VAGUE), None)
    if (nothing := found["vague"]) is not None:  # with very many arms nobody plays it
        by_chance = _by_chance(as_given, nothing, VAGUE)
        found["vague_verdict"] = NO_VERDICT if by_chance else verdict(given, nothing)
    return found | _worst(at_end) | _safest(at_end, kind) | _corners(at_end)


def _beside(table: Sequence[Row], reference: str, about: Mapping[str, Any]) -> Found:
    """Return what the prior does beside a reference, when, and where it is safe by that."""
    kind, main = str(about["default_kind"]), str(about["candidate"])
    found = _over_time(table, reference, main, kind)
    last = max(row.time for row in table)
    at_end = [row for row in table if row.time == last]
    level = next(row.mean for row in at_end if row.candidate == reference)
    told = last not in found["chance_decides_at"]
    found["verdict"] = verdict(_mean(at_end, main, kind, AS_GIVEN[kind]), level) if told else NO_VERDICT
    for factor in dict.fromkeys(row.kind for row in at_end if row.kind != DRIFT):
        curve = _accuracy_curve(at_end, main, kind, factor)
        low, high = stretch(curve, AS_GIVEN[factor], level)
        found |= {f"{factor}_low": low, f"{factor}_high": high, f"{factor}_tried": (curve[0][0], curve[-1][0])}
    for factor in _factors(at_end):
        found |= _safe(factor, _factor_curve(at_end, main, kind, factor), level)
    return found


def _factors(rows: Sequence[Row]) -> list[str]:
    """Return what is multiplied in these rows; the scale of the drift only where the prior drifts."""
    return [factor for factor in FACTORS if factor != DRIFT or any(row.kind == DRIFT for row in rows)]


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


def verdict(given: float, level: float) -> str:
    """Return what a prior does, by its mean regret and that of the uninformative prior.

    >>> verdict(97.0, 100.0), verdict(98.5, 100.0), verdict(103.0, 100.0)
    ('helps', 'makes no difference', 'hurts')
    """
    if alike(given, level):
        return NEITHER
    return HELPS if given < level else HURTS


def alike(one: float, other: float) -> bool:
    """Return whether two regrets are told apart by less than `TIE` of the larger.

    >>> alike(100.0, 101.0), alike(100.0, 110.0), alike(0.0, 0.0)
    (True, False, True)
    """
    return abs(one - other) <= TIE * max(one, other)


def _mean(rows: Sequence[Row], candidate: str, *setting: Any) -> float:
    wanted = (candidate, *setting, 1.0, 1.0)[:5]
    return next(row.mean for row in rows if row[:5] == wanted)


def _over_time(table: Sequence[Row], reference: str, main: str, kind: str) -> Found:
    """Return when the prior helps and hurts, where that is more than chance."""
    flat = {row.time: row.mean for row in table if row.candidate == reference}
    own = sorted((row for row in table if row[:5] == (main, kind, AS_GIVEN[kind], 1.0, 1.0)), key=lambda row: row.time)
    by_chance = [row.time for row in own if _by_chance(row, flat[row.time], reference)]
    told = {row.time: verdict(row.mean, flat[row.time]) for row in own if row.time not in by_chance}
    return {
        "times": list(told),
        "chance_decides_at": by_chance,
        "helps_at": [t for t, what in told.items() if what == HELPS],
        "hurts_at": [t for t, what in told.items() if what == HURTS],
    }


def _by_chance(row: Row, level: float, reference: str) -> bool:
    """Return whether a regret differs from a reference's, but by no more than chance may have done."""
    margin: float = getattr(row, f"{reference}_margin")
    return not alike(row.mean, level) and abs(row.mean - level) <= margin


def _accuracy_curve(rows: Sequence[Row], main: str, kind: str, factor: str, what: str = "mean") -> Curve:
    """Return the curve of a kind of inaccuracy; the prior as given is listed under the default kind alone."""
    given = (main, kind, AS_GIVEN[kind], 1.0, 1.0)
    chosen = [row for row in rows if row[:2] == (main, factor) and row[3:5] == (1.0, 1.0)]
    curve = {AS_GIVEN[factor]: next(getattr(row, what) for row in rows if row[:5] == given)}
    return sorted((curve | {row.accuracy: getattr(row, what) for row in chosen}).items())


def _factor_curve(rows: Sequence[Row], main: str, kind: str, factor: str, what: str = "mean") -> Curve:
    """Return the curve of a factor over its finite values: fixed means are no scale of a drift, but none."""
    if factor == DRIFT:
        return [point for point in _accuracy_curve(rows, main, kind, factor, what) if point[0] < math.inf]
    other = "length" if factor == "confidence" else "confidence"
    chosen = [row for row in rows if row[:3] == (main, kind, AS_GIVEN[kind]) and getattr(row, other) == 1.0]
    return sorted((getattr(row, factor), getattr(row, what)) for row in chosen)


def _initial(factor: str, rows: Sequence[Row], main: str, kind: str, best: float) -> Found:
    """Return how long initialisation is at the least, the best and the largest value of a factor."""
    steps = dict(_factor_curve(rows, main, kind, factor, "initial"))
    return {f"{factor}_initial": (steps[min(steps)], steps[max(steps)]), f"{factor}_best_initial": steps[best]}


def _one_mean(rows: Sequence[Row], main: str, given: float, means_alike: bool) -> Found:
    """Return the regret if all arms have one mean, None where that was not played, and whether it is no more."""
    found = [row.mean for row in rows if row[:5] == (main, "scale", 0.0, 1.0, 1.0)]
    if means_alike or not found:
        return {"one_mean": None, "means_save": None, "means_add_nothing": False}
    nothing = found[0] <= given or alike(found[0], given)
    return {"one_mean": found[0], "means_save": found[0] - given, "means_add_nothing": nothing}


def _safe(factor: str, curve: Curve, level: float) -> Found:
    """Return where a factor is safe, the ends of what was tried where no break-even lies before them."""
    best = min(curve, key=lambda point: point[1])
    if alike(best[1], dict(curve)[1.0]):
        best = 1.0, dict(curve)[1.0]  # of equals, what was given
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
    as_given = [setting for setting in complete if setting[1:] == (1.0, 1.0)]
    best = next((setting for setting in as_given if alike(complete[setting], complete[best])), best)
    names = ("safest_candidate", "safest_confidence", "safest_length", "safest_worst")
    return dict(zip(names, (*best, complete[best]), strict=True))


def _corners(rows: Sequence[Row]) -> Found:
    """Return the worst regret at the corners at which surviving beliefs were played, theirs and the fixed prior's.

    And the most that each of them costs beyond the fixed prior at the other corners, None if at none of them.
    """
    corners = dict.fromkeys(row[1:5] for row in rows if row.candidate in SURVIVORS)
    found: Found = {"corners": list(corners)}
    fixed = {row[1:5]: row.mean for row in rows if row.candidate == HELD}
    worst = max(fixed, key=lambda corner: fixed[corner], default=None)
    found["corners_given"] = max(fixed.values(), default=None)
    for name in SURVIVORS:
        means = {row[1:5]: row.mean for row in rows if row.candidate == name}
        more = [mean - fixed[at] for at, mean in means.items() if at != worst and not alike(mean, fixed[at])]
        found[f"corners_{name}"] = max(means.values(), default=None)
        found[f"corners_{name}_more"] = max((x for x in more if x > 0), default=None)
    return found
