"""What a report says in words, from its table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from corrbandits._shell.numbers import counted, number
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, LITTLE_TOLD, NOTHING, Contestant
from corrbandits.arena.standings import ALL, CHANGES, FIELDS, RECORDS, TOGETHER, Standing, group_of

SURE, NEAR = 0.05, 1.05
TELLING = 2.0
"""A ratio whose interval spans more than this factor is no verdict."""

NAMES = {
    ALL: ("family", "families"),
    FIELDS: ("real field", "real fields"),
    CHANGES: ("changing family", "changing families"),
    RECORDS: ("recorded series", "recorded series"),
}
"""What one of a group is called, and several."""

PAPERS = ("UCL a=1", "CorrelatedUCL")

SWAYING, FEWEST_SWAYED = 1.15, 5
"""A family without which the mean of so many or more would be this much larger or smaller is named."""


def sentences(rows: Sequence[Standing]) -> list[str]:
    """Return what was found, the sentence to remember first.

    That is of 200 decisions, or of the horizon nearest to it, which is spoken of in full; the others follow in brief.
    """
    horizons = sorted({row.horizon for row in rows})
    first = middle(horizons)
    found = [*_on(first, rows, brief=False), *(t for other in horizons if other != first for t in _on(other, rows))]
    return found or [f"{DEFAULT.rule} told nothing, which others are compared with, did not play."]


def middle(horizons: Sequence[int]) -> int:
    """Return the horizon that a report begins with: 200, or the nearest.

    >>> middle([50, 1_000])
    50
    """
    return min(horizons, key=lambda t: abs(math.log(t / 200)))


Found = dict[tuple[str, Contestant], Standing]


def _on(horizon: int, rows: Sequence[Standing], *, brief: bool = True) -> list[str]:
    here = {(row.family, row.contestant): row for row in rows if row.horizon == horizon}
    groups = [group for group in TOGETHER if (group, DEFAULT) in here]
    return [text for group in groups for text in _of_group(horizon, group, here, brief=brief)]


def _of_group(horizon: int, group: str, here: Found, *, brief: bool) -> list[str]:
    default, words = here[group, DEFAULT], NAMES[group]
    families = [name for name, one in here if one == DEFAULT and name not in TOGETHER and group_of(name) == group]
    number_of = counted(len(families), *words)
    prior = "a prior fitted to all rewards" if group in (FIELDS, RECORDS) else "the right prior"
    problems = min(here[name, DEFAULT].games for name in families)
    few = problems < 2 or default.ratio_high > TELLING * default.ratio_low
    if math.isnan(default.ratio):
        missing = (
            f"After {horizon:,} decisions there is no ratio: the best rule told {prior} has not played. Play "
            "rules told everything, too."
        )
        return [missing, *([] if brief else _rivals(group, families, here, few=few))]
    verdict = "; there are too few problems for a verdict" if few and brief else ""
    said = [
        f"After {horizon:,} decisions, {DEFAULT.rule} told nothing has lost {_ratio(default)} times what the best rule "
        f"told {prior} has lost, in geometric mean over {number_of}; at worst {number(default.worst, 3)} times, in "
        f"{default.worst_family}{verdict}.{_swayed(families, here)}"
    ]
    if brief:
        return said
    if few:
        said.insert(0, _too_few(problems, default, words[0].removeprefix("real ")))
    papers = [one for rule in PAPERS if (group, one := Contestant(rule, EVERYTHING)) in here]
    told = [
        f"{one.rule} told everything in {sum(_loses_less(here, family, one) for family in families)}" for one in papers
    ]
    if told:
        less = " and than ".join(told)
        said.append(f"It lost less than {less} of {number_of}.")
    return [
        *said,
        *_rivals(group, families, here, few=few),
        *_same_rule_told_everything(group, families, here),
        *_not_told_of_change(group, here),
    ]


def _swayed(families: Sequence[str], here: Found) -> str:
    """Return in words what the mean would be without the family that moves it most, if it moves it much."""
    logs = {name: math.log(here[name, DEFAULT].ratio) for name in families if here[name, DEFAULT].ratio > 0}
    if len(logs) < FEWEST_SWAYED:
        return ""
    total = sum(logs.values())
    without = {name: (total - value) / (len(logs) - 1) for name, value in logs.items()}
    name = max(without, key=lambda one: abs(without[one] - total / len(logs)))
    if abs(without[name] - total / len(logs)) < math.log(SWAYING):
        return ""
    rest, own = (number(math.exp(value), 3) for value in (without[name], logs[name]))
    return f" One of them moves this mean much: in {name} it is {own} times, and over the others {rest} times."


def _too_few(problems: int, row: Standing, where: str) -> str:
    """Return in words that there is no verdict, and what to do."""
    why = (
        "one says nothing of others"
        if math.isnan(row.ratio_low)
        else f"the ratio may be {number(row.ratio_low, 2)} as well as {number(row.ratio_high, 2)}"
    )
    return (
        f"There is no verdict yet, with {counted(problems, 'problem')} of each {where}: {why}. Play more: --problems."
    )


def _loses_less(here: Found, family: str, other: Contestant) -> bool:
    row = here.get((family, other))
    return row is not None and row.difference > 0


def _rivals(group: str, families: Sequence[str], here: Found, *, few: bool) -> list[str]:
    """Return how those did who were told nothing either; where problems are few, that nobody can tell them apart."""
    rows = [row for (family, one), row in here.items() if family == group and one.told == NOTHING and one != DEFAULT]
    if not rows:
        return []
    more = [row for row in rows if row.p < SURE and row.difference > 0]
    less = [row.rule for row in rows if row.p < SURE and row.difference < 0]
    apart = sum(
        row.p < SURE and row.difference < 0
        for (family, one), row in here.items()
        if family in families and one.told == NOTHING and one != DEFAULT
    )
    if few and not more and not less:
        return [f"So few problems cannot tell it from {counted(len(rows), 'rival')} told nothing."]
    sure = f"; significantly less: {', '.join(less)}" if less else ", and none significantly less"
    return [
        f"Of {counted(len(rows), 'rival')} told nothing {len(more)} lost significantly "
        f"more over {group}{sure}. {_in_single(apart, NAMES[group][0])}"
    ]


def _same_rule_told_everything(group: str, families: Sequence[str], here: Found) -> list[str]:
    same = Contestant(DEFAULT.rule, EVERYTHING)
    played = [family for family in families if (family, same) in here]
    if not played:
        return []
    least = dict.fromkeys(played, math.inf)
    for (family, one), row in here.items():
        if one.told == EVERYTHING and family in least and row.games == here[family, same].games:
            least[family] = min(row.regret, least[family])
    lucky = sum(here[family, same].regret <= NEAR * least[family] for family in played)
    near = f"{lucky} of {len(played)}"
    if group == ALL:  # elsewhere no rule was found to be the best before
        fixed = sum(here[family, same].ratio <= NEAR for family in played)
        near = f"{fixed} of {len(played)} (in {lucky} if the best is whoever lost least in these very games)"
    return [
        f"{DEFAULT.rule} told everything is the best or within 5 % of the best rule told everything "
        f"in {near}; told nothing it loses {number(here[group, DEFAULT].price, 3)} times as much."
    ]


def _not_told_of_change(group: str, here: Found) -> list[str]:
    """Return what it costs to take mean rewards that change for constant."""
    row = here.get((group, Contestant(DEFAULT.rule, LITTLE_TOLD)))
    if row is None or math.isnan(row.difference):
        return []
    low, high = (f"{100 * share:+.0f} %" for share in (row.difference_low, row.difference_high))
    between = "" if math.isnan(row.difference_low) else f" ({low} to {high})"
    said = f"{abs(100 * row.difference):.0f} % {'more' if row.difference > 0 else 'less'}{between}"
    if said.startswith("0 %"):
        said = f"as much{between}"
    return [f"Told nothing, and taking mean rewards for constant, it loses {said}."]


def _ratio(row: Standing) -> str:
    if math.isnan(row.ratio_low):
        return number(row.ratio, 3)
    return f"{number(row.ratio, 3)} ({number(row.ratio_low, 3)} to {number(row.ratio_high, 3)})"


def _in_single(n: int, what: str) -> str:
    """Return in words how often a rival lost significantly less in one family."""
    if not n:
        return f"In no single {what} did one lose significantly less."
    return f"In a single {what} one lost significantly less {'once' if n == 1 else f'{n} times'}."
