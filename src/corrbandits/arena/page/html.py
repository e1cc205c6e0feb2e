"""The page of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version

import numpy as np

from corrbandits._shell.numbers import number
from corrbandits._shell.page.html import about, asset, chart, choice, document, every_number, said, section, table
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING
from corrbandits.arena.figures import LOOKS, name_of, with_ratios
from corrbandits.arena.page.charts import TOLD, chart_data, compared, with_interval
from corrbandits.arena.problems import VERSION
from corrbandits.arena.sentences import middle, sentences
from corrbandits.arena.standings import TOGETHER, Standing, to_csv

TITLE = "Who loses least"
PRICE = "price of ignorance"
HEADS = (
    "contestant",
    "ratio",
    "at worst",
    "problems won",
    PRICE,
    "than the default",
    "regret",
    "simple regret",
    "ms per decision",
)


def render(rows: Sequence[Standing], seed: int) -> str:
    """Return the report as one HTML file; the same table gives the same page."""
    horizons = sorted({row.horizon for row in rows})
    parts = [
        "<p>Rules and beliefs against each other, on problems whose truth is known.</p>",
        section("In short", said(sentences(rows))),
        section("Over all families", _leaderboard(rows, horizons)),
        *([section("Family by family", _families(told))] if (told := _told(rows)) else []),
        section("How it was computed", _about(rows, seed)),
        section("Every number", every_number(to_csv(rows), "arena.csv")),
    ]
    return document(TITLE, parts, chart_data(rows), asset(__package__, "page.js"))


def _leaderboard(rows: Sequence[Standing], horizons: Sequence[int]) -> str:
    values = [(str(t), f"{t:,}") for t in horizons]
    tables = (f'<div data-horizon="{t}">{_tables(rows, t)}</div>' for t in horizons)
    return (
        "<p>The ratio is the regret over that of the best rule told the right prior, in geometric mean over families. "
        "It is at worst so large in the family named. Problems won are those on which nobody who was told the same "
        "lost less, of those that all of them played. The price of ignorance is the regret over that of the same rule "
        f"told everything. {escape(name_of(DEFAULT))}, is the default; others lost so much more or less than it on the "
        "same problems and the same noise, with 95 % intervals and p-values corrected for the number of contestants. "
        "Regrets are in deviations of a problem's mean rewards. Orange: told nothing; blue: told everything.</p>\n"
        + choice("horizon", "After how many decisions", values, str(middle(horizons)))
        + "\n<noscript><p>The figures need JavaScript; all numbers are in the tables.</p></noscript>\n"
        + (chart("leaderboard", "Ratio of each contestant with its interval") if with_ratios(rows, LOOKS) else "")
        + "\n".join(tables)
    )


def _tables(rows: Sequence[Standing], horizon: int) -> str:
    """Return the tables of one horizon: a group of families, and of contestants, at a time."""
    found = []
    for group in TOGETHER:
        for name, told in TOLD.items():
            here = [row for row in rows if (row.horizon, row.family) == (horizon, group) and row.told in told]
            if here:
                ordered = sorted(here, key=lambda row: (np.isnan(row.ratio), row.ratio))
                title = f"Told {name}, {group}, after {horizon:,} decisions"
                heads = [head for head in HEADS if head != PRICE or name == NOTHING]
                cells = [[_unbroken(_cells(row)[head]) for head in heads] for row in ordered]
                found.append(f"<h3>{escape(title)}</h3>\n{table(heads, cells, title, 'fit')}")
    return "\n".join(found)


def _cells(row: Standing) -> dict[str, str]:
    """Return what a table says of a contestant, by its heads; what it was told only where that differs."""
    texts = (
        row.rule if row.told in (NOTHING, EVERYTHING) else name_of(row.contestant),
        with_interval(row.ratio, row.ratio_low, row.ratio_high),
        f"{number(row.worst)} ({row.worst_family})" if row.worst_family else number(np.nan),
        number(np.nan) if np.isnan(row.won) else f"{row.won:.0%}",
        number(row.price),
        "it is the default" if row.contestant == DEFAULT else compared(row),
        with_interval(row.regret, row.regret_low, row.regret_high),
        with_interval(row.simple, row.simple_low, row.simple_high),
        number(1e3 * row.seconds),
    )
    return dict(zip(HEADS, texts, strict=True))


def _unbroken(text: str) -> str:
    """Return a text whose intervals and p-values stay on one line.

    >>> _unbroken("+15 % (-41 to +71), p = 0.210").replace(chr(160), "_")
    '+15_% (-41_to_+71), p_=_0.210'
    """
    for words in (" to ", " = ", " < ", " %"):
        text = text.replace(words, words.replace(" ", "\u00a0"))
    return text


def _told(rows: Sequence[Standing]) -> list[str]:
    """Return which groups of contestants have ratios, by what they were told."""
    return [name for name, told in TOLD.items() if with_ratios(rows, told)]


def _families(told: Sequence[str]) -> str:
    values = [(name, f"told {name}") for name in told]
    return (
        "<p>The same ratio in each family, at the horizon chosen above: blue cells lost less than the best rule told "
        "the right prior, brown ones more; empty ones were not played. Point at one for regrets and comparisons.</p>\n"
        + choice("told", "Contestants", values, told[0])
        + chart("families", "Heat map of the ratio, contestants against families", wide=True)
    )


def _about(rows: Sequence[Standing], seed: int) -> str:
    families = list(dict.fromkeys(row.family for row in rows if row.family not in TOGETHER))
    games: Mapping[str, int] = {
        name: max(row.games for row in rows if row.family == name) for name in families
    }  # who played least is seen in the table
    return about(
        {
            "problems": ", ".join(f"{name} ({n:,})" for name, n in games.items())
            + f"; version {VERSION} of the families",
            "seed": f"{seed}, not one that anything was tuned on",
            "noise": "of each decision the same number for all who play a problem",
            "told everything": "the prior that mean rewards were drawn from; on fields and the paper's surface, one "
            "fitted to all of them",
            "told nothing": "where the arms lie, and nothing else",
            "best rule": "of those told the right prior the one that lost least on tuning seeds, in each family",
            "bands": "95 % intervals over problems, which are drawn independently; families have equal weights",
            "p-values": "paired t-tests, corrected by Holm's method: over all families for the number of contestants, "
            "in single families for that of contestants told nothing times families",
            "time": "of the processor, setting up the belief included; the median of all games",
            "version": f"corrbandits {version('corrbandits')}",
        }
    )
