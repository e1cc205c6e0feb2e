"""Who lost how much: the table of a report, one row per horizon, family and contestant, computed from the games.

Regrets are in deviations of a problem's mean rewards. A ratio is to the rule told the right prior that `reference`
names for the family; over all families ratios, and differences from the default, are geometric means and other numbers
means, families weighted equally.
Real fields are apart: nobody knows the right prior there, and rules told "everything" have one fitted to all rewards.
So are problems whose mean rewards change, and recorded series.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.arena import estimates
from corrbandits.arena.changing import CHANGING, SERIES
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, Contestant
from corrbandits.arena.estimates import Estimate
from corrbandits.arena.fields import FIELD
from corrbandits.arena.reference import reference
from corrbandits.arena.results import Game

ALL, FIELDS, CHANGES, RECORDS = "all families", "all fields", "all that change", "all series"
TOGETHER = (ALL, FIELDS, CHANGES, RECORDS)
PREFIXES = {FIELDS: FIELD, CHANGES: CHANGING, RECORDS: SERIES}
"""How the names of the families of a group begin; those of all families otherwise."""

Played = dict[int, Game]
"""The games of one contestant in one family, by the number of the problem."""

Family = dict[Contestant, Played]


class Standing(NamedTuple):
    """How one contestant did, in one family or over all of them; NaN where there is no such number."""

    horizon: int
    family: str
    rule: str
    told: str
    games: int
    families: int
    """In how many families it played."""

    regret: float
    regret_low: float
    regret_high: float
    simple: float
    simple_low: float
    simple_high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    worst: float
    """The largest ratio of all families."""

    worst_family: str
    won: float
    """On which share of problems nobody who was told the same lost less; of those that all of them played."""

    price: float
    """Of ignorance: its regret told nothing over that of the same rule told everything."""

    seconds: float
    """Processor time per decision, the median."""

    difference: float
    """By which share it loses more than the default does, on the same problems; over families in geometric mean."""

    difference_low: float
    difference_high: float
    p: float
    """Of that difference, corrected for the number of contestants, and of families where these are apart."""

    @property
    def contestant(self) -> Contestant:
        """Who it is."""
        return Contestant(self.rule, self.told)


def standings(games: Iterable[Game]) -> list[Standing]:
    """Return the table: of each horizon the rows over all families, then those of each.

    >>> game = Game("field mine", 0, 50, "Gittins", "everything", 6.0, 0.1, 1e-5)
    >>> worse = game._replace(rule="Random", regret=30.0)
    >>> [(row.family, row.rule, round(row.ratio, 9)) for row in standings([game, worse]) if row.rule == "Random"]
    [('all fields', 'Random', 5.0), ('field mine', 'Random', 5.0)]
    """
    found: dict[int, dict[str, Family]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for game in games:
        found[game.horizon][game.family][Contestant(game.rule, game.told)][game.number] = game
    return [row for horizon in sorted(found) for row in _of_horizon(horizon, found[horizon])]


def to_csv(rows: Iterable[Standing]) -> str:
    """Return the table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Standing._fields, *rows])
    return text.getvalue()


class _Measured(NamedTuple):
    """What a family says of one contestant."""

    games: list[Game]
    regret: Estimate
    simple: Estimate
    ratio: Estimate
    won: float
    price: Estimate
    difference: Estimate
    times: Estimate
    """How many times the default's regret its own is, on the same problems."""


def _of_horizon(horizon: int, families: Mapping[str, Family]) -> list[Standing]:
    measured = {name: _measured(family, reference(name, horizon)) for name, family in families.items()}
    who = list(dict.fromkeys(contestant for family in families.values() for contestant in family))
    together = [
        [_together(horizon, group, one, each) for one in who if (each := _of_group(group, one, measured))]
        for group in TOGETHER
    ]
    apart = [_of_family(horizon, one, name, each) for name, of in measured.items() for one, each in of.items()]
    rivals = [row for row in apart if row.told == NOTHING]
    others = [row for row in apart if row.told != NOTHING]
    return [row for rows in (*together, rivals, others) for row in _corrected(rows)]


def _of_group(
    group: str, one: Contestant, measured: Mapping[str, Mapping[Contestant, _Measured]]
) -> dict[str, _Measured]:
    """Return what the families of a group say of a contestant, by their names."""
    return {name: of[one] for name, of in measured.items() if one in of and group_of(name) == group}


def group_of(family: str) -> str:
    """Return over which families a family is averaged.

    >>> group_of("chain"), group_of("changing drift")
    ('all families', 'all that change')
    """
    return next((group for group, prefix in PREFIXES.items() if family.startswith(prefix)), ALL)


def _corrected(rows: list[Standing]) -> list[Standing]:
    """Return rows with their p-values corrected for the number of comparisons; the default is not one."""
    corrected = estimates.holm([math.nan if row.contestant == DEFAULT else row.p for row in rows])
    return [row._replace(p=p) for row, p in zip(rows, corrected, strict=True)]


def _measured(family: Family, best: Contestant) -> dict[Contestant, _Measured]:
    least = _least(family)
    return {
        one: _Measured(
            list(played.values()),
            estimates.mean(np.array([game.regret for game in played.values()])),
            estimates.mean(np.array([game.simple_regret for game in played.values()])),
            estimates.ratio(*_paired(played, family.get(best, {}))),
            _mean([played[number].regret <= value for number, value in least[one.told].items()]),
            estimates.ratio(*_paired(played, family.get(Contestant(one.rule, EVERYTHING), {})))
            if one.told == NOTHING
            else estimates.NONE,
            estimates.difference(*_paired(played, family.get(DEFAULT, {}))),
            estimates.ratio(*_paired(played, family.get(DEFAULT, {}))),
        )
        for one, played in family.items()
    }


def _least(family: Family) -> dict[str, dict[int, float]]:
    """Return, by what contestants were told, the least regret on each problem that all who were told so played."""
    found: dict[str, dict[int, float]] = {}
    for told in {one.told for one in family}:
        rivals = [played for one, played in family.items() if one.told == told]
        numbers = set.intersection(*(set(played) for played in rivals))
        found[told] = {number: min(played[number].regret for played in rivals) for number in sorted(numbers)}
    return found


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _paired(mine: Played, others: Played) -> tuple[Array, Array]:
    """Return the regrets of two on the problems that both played."""
    both = sorted(mine.keys() & others.keys())
    return np.array([mine[k].regret for k in both]), np.array([others[k].regret for k in both])


def _of_family(horizon: int, one: Contestant, name: str, of: _Measured) -> Standing:
    return Standing(
        horizon,
        name,
        *one,
        len(of.games),
        1,
        *_from_0(of.regret),
        *_from_0(of.simple),
        *_from_0(of.ratio),
        worst=of.ratio.value,
        worst_family=name,
        won=of.won,
        price=of.price.value,
        seconds=float(np.median([game.seconds for game in of.games])),
        **_differences(of.difference.value, *of.difference.interval, of.difference.p),
    )


def _together(horizon: int, group: str, one: Contestant, of: Mapping[str, _Measured]) -> Standing:
    ratios = {name: each.ratio for name, each in of.items() if not math.isnan(each.ratio.value)}
    worst = max(ratios, key=lambda name: ratios[name].value, default="")
    games = [game for each in of.values() for game in each.games]
    times = estimates.mean_log(_known([each.times for each in of.values()]))
    more, low, high = (math.expm1(log) for log in (times.value, *times.interval))
    return Standing(
        horizon,
        group,
        *one,
        len(games),
        len(of),
        *_from_0(_mean_of([each.regret for each in of.values()])),
        *_from_0(_mean_of([each.simple for each in of.values()])),
        *estimates.geometric_mean(list(ratios.values())),
        worst=ratios[worst].value if worst else math.nan,
        worst_family=worst,
        won=_mean([each.won for each in of.values() if not math.isnan(each.won)]),
        price=estimates.geometric_mean(_known([each.price for each in of.values()]))[0],
        seconds=float(np.median([game.seconds for game in games])),
        **_differences(more, low, high, times.p),
    )


def _mean_of(found: list[Estimate]) -> Estimate:
    return estimates.over_families(_known(found))


def _known(found: list[Estimate]) -> list[Estimate]:
    return [each for each in found if not math.isnan(each.value)]


def _with_interval(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, *estimate.interval


def _from_0(estimate: Estimate) -> tuple[float, float, float]:
    """Return a regret and its interval: none is below 0."""
    value, low, high = _with_interval(estimate)
    return value, max(low, 0.0) if not math.isnan(low) else low, high


def _differences(value: float, low: float, high: float, p: float) -> dict[str, Any]:
    return {"difference": value, "difference_low": low, "difference_high": high, "p": p}
