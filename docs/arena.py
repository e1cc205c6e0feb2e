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
from games import joined, plain, read, seeds, short  # noqa: E402 - likewise

PAGE, DATA = HERE / "arena.md", HERE / "arena.json"
CHOOSING = HERE / "choosing-a-policy.md"
MARK = "report"
BESIDE = ("Gittins", "HorizonUCL", "UCL a=1", "CorrelatedUCL", "Thompson")


def kept(rows, seed):
    """Return the table as plain data: all contestants over all families, those told nothing or all in each."""
    chosen = [row for row in rows if row.family in TOGETHER or row.told not in WRONG]
    values = [[short(value) for value in row] for row in chosen]
    seeds = {str(row.horizon): seed for row in chosen}
    return {"problems": VERSION, "seeds": seeds, "columns": list(Standing._fields), "rows": values}


def report(data):
    """Return the part of the page that shows the numbers."""
    rows = read(data)
    horizons = sorted({row.horizon for row in rows})
    parts = [
        *(f"- {sentence}" for sentence in sentences(rows)),
        "\n![Ratios over all families, told nothing and told everything](arena-leaderboard.png)",
        *(f"\n### After {t:,} decisions\n\n{leaderboard(rows, t)}" for t in horizons),
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
    name = f"{bold}{plain(figures.name_of(row.contestant))}{bold}"
    price = "" if math.isnan(row.price) else number(row.price)
    return (
        name,
        number(row.ratio) + interval,
        worst,
        "" if math.isnan(row.won) else f"{row.won:.0%}",
        price,
        compared,
        p,
        number(1e3 * row.seconds),
    )


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
