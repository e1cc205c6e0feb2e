"""Write the page on the arena, and the table of the page on policies, from the games of a report.

python docs/arena.py FOLDER [--keep]

FOLDER is what `corrbandits arena --out FOLDER` has written. Its table goes into arena.json beside the page, without
what the page does not show; the page and its pictures are made of that file alone. With --keep, what is there of
games of other lengths stays: long games are played apart.
"""

import argparse
import json
import math
import sys
from pathlib import Path

from corrbandits import plots
from corrbandits._shell.numbers import number
from corrbandits.arena import figures
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, WRONG, Contestant
from corrbandits.arena.problems import VERSION
from corrbandits.arena.results import Results
from corrbandits.arena.sentences import middle, sentences
from corrbandits.arena.standings import TOGETHER, Standing, standings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from explorers.pages import table, written  # noqa: E402 - found through the path above
from games import joined, seeds, short  # noqa: E402 - likewise

PAGE, DATA = HERE / "arena.md", HERE / "arena.json"
CHOOSING = HERE / "choosing-a-policy.md"
MARK = "report"
BESIDE = ("Gittins", "HorizonUCL", "UCL a=1", "CorrelatedUCL", "Thompson")
PAPERS = (Contestant("UCL a=1", EVERYTHING), Contestant("CorrelatedUCL", EVERYTHING))


def kept(rows, seed):
    """Return the table as plain data: all contestants over all families, those told nothing or all in each."""
    chosen = [row for row in rows if row.family in TOGETHER or row.told not in WRONG]
    values = [[short(value) for value in row] for row in chosen]
    seeds = {str(row.horizon): seed for row in chosen}
    return {"problems": VERSION, "seeds": seeds, "columns": list(Standing._fields), "rows": values}


def read(data):
    """Return the table from plain data."""
    return [Standing(*(math.nan if value is None else value for value in row)) for row in data["rows"]]


def report(data):
    """Return the part of the page that shows the numbers."""
    rows = read(data)
    horizons = sorted({row.horizon for row in rows})
    parts = [
        *(f"- {sentence}" for sentence in sentences(rows)),
        "\n![Ratios over all families, told nothing and told everything](arena-leaderboard.png)",
        *(f"\n### After {t:,} decisions\n\n{leaderboard(rows, t)}" for t in horizons),
        f"\n## Family by family\n\nAfter {middle(horizons):,} decisions:\n\n{by_family(rows, middle(horizons))}",
        f"\n{seeds(data)}, version {data['problems']} of the problems.",
    ]
    return "\n".join(parts)


def leaderboard(rows, horizon):
    """Return the table of all who were told nothing or everything, over all families."""
    group = figures.group_of(rows)
    found = {row.contestant: row for row in rows if (row.horizon, row.family) == (horizon, group)}
    heads = ("contestant", "ratio", "at worst", "won", "price of ignorance", "than the default", "p", "ms per decision")
    who = [one for one in figures.ranked(rows, (NOTHING, EVERYTHING), horizon, group) if one in found]
    return table(heads, [_cells(found[one]) for one in who])


def by_knowledge(data):
    """Return the table of what rules lose over all families, by what they are told."""
    rows = read(data)
    horizon, group = middle(sorted({row.horizon for row in rows})), figures.group_of(rows)
    found = {row.contestant: row for row in rows if (row.horizon, row.family) == (horizon, group)}
    lines = []
    for told in (EVERYTHING, NOTHING, *WRONG):
        cells = [found.get(Contestant(rule, told)) for rule in BESIDE]
        words = f"told {told}" if told in (EVERYTHING, NOTHING) else told
        lines.append((words, *("" if row is None else number(row.ratio) for row in cells)))
    problems = found[DEFAULT].games
    caption = (
        f"Regret after {horizon:,} decisions over that of the best rule told the right prior, {problems:,} problems:"
    )
    return f"{caption}\n\n{table(('prior', *BESIDE), lines)}"


def _cells(row):
    bold = "**" if row.contestant == DEFAULT else ""
    interval = "" if math.isnan(row.ratio_low) else f" ({number(row.ratio_low)} to {number(row.ratio_high)})"
    compared = "" if row.contestant == DEFAULT else f"{100 * row.difference:+,.0f} %"
    p = "" if math.isnan(row.p) else "< 0.001" if row.p < 1e-3 else f"{row.p:.3f}"
    worst = f"{number(row.worst)} ({row.worst_family})" if row.worst_family else ""
    name = f"{bold}{_plain(figures.name_of(row.contestant))}{bold}"
    price = "" if math.isnan(row.price) else number(row.price)
    return name, number(row.ratio) + interval, worst, f"{row.won:.0%}", price, compared, p, number(1e3 * row.seconds)


def by_family(rows, horizon):
    """Return a table of families: the default beside the paper's rules told everything, and how sure its rivals are."""
    found = {(row.family, row.contestant): row for row in rows if row.horizon == horizon}
    names = [row.family for row in rows if (row.horizon, row.contestant) == (horizon, DEFAULT)]
    lines = []
    for name in (name for name in names if name not in TOGETHER):
        default = found[name, DEFAULT]
        interval = (
            "" if math.isnan(default.ratio_low) else f" ({number(default.ratio_low)} to {number(default.ratio_high)})"
        )
        papers = [number(found[name, one].ratio) if (name, one) in found else "" for one in PAPERS]
        rivals = [
            row for (family, one), row in found.items() if family == name and one.told == NOTHING and one != DEFAULT
        ]
        best = min(rivals, key=lambda row: row.difference, default=None)
        nearest = "" if best is None else f"{_plain(best.rule)} ({100 * best.difference:+,.0f} %)"
        lines.append((name, f"{default.games:,}", number(default.ratio) + interval, *papers, nearest))
    heads = (
        "family",
        "problems",
        _plain(figures.name_of(DEFAULT)),
        *map(figures.name_of, PAPERS),
        "best rival told nothing",
    )
    return table(heads, lines)


def _plain(text):
    """Return a name that comes from a file as text that begins no markup."""
    return "".join(f"\\{letter}" if letter in "\\*_$<>|^`~[]#&" else letter for letter in text.replace("\n", " "))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `corrbandits arena` has written")
    parser.add_argument("--docs", type=Path, default=HERE, help="the folder of the page")
    parser.add_argument("--keep", action="store_true", help="keep what is there of games of other lengths")
    options = parser.parse_args(arguments)
    results, place = Results(options.folder), options.docs / DATA.name
    data = kept(standings(results.games()), results.seed)
    if options.keep:
        data = joined(json.loads(place.read_text(encoding="utf-8")), data)
    place.write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
    for page, text in ((PAGE, report(data)), (CHOOSING, by_knowledge(data))):
        place = options.docs / page.name
        place.write_text(written(place.read_text(encoding="utf-8"), MARK, text), encoding="utf-8")
    plots.save(figures.leaderboard(read(data)), options.docs / "arena-leaderboard.png")


if __name__ == "__main__":
    main()
