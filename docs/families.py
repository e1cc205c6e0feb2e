"""Write the tables of families into the page on the arena, from games of few rules on many problems.

python docs/families.py FOLDER

FOLDER is what `corrbandits arena --rules ... --out FOLDER` has written. What the tables show of it goes into
families.json beside the page; the tables are made of that file alone.
"""

import argparse
import json
import math
import sys
from pathlib import Path

from corrbandits._shell.numbers import number
from corrbandits.arena import figures
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, NOTHING, Contestant
from corrbandits.arena.problems import VERSION
from corrbandits.arena.results import Results
from corrbandits.arena.standings import TOGETHER, Standing, standings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from explorers.pages import table, written  # noqa: E402 - found through the path above
from games import plain, read, seeds, short  # noqa: E402 - likewise

PAGE, DATA = HERE / "arena.md", HERE / "families.json"
MARK = "families"
PAPERS = (Contestant("UCL a=1", EVERYTHING), Contestant("CorrelatedUCL", EVERYTHING))
SURE = 0.05


def kept(games, seed):
    """Return what the page shows as plain data: the default, its rivals and the paper's rules, family by family."""
    rows = standings(games)
    apart = [row for row in rows if row.family not in TOGETHER and (row.told == NOTHING or row.contestant in PAPERS)]
    shown = [*(row for row in rows if row.family in TOGETHER and row.contestant == DEFAULT), *apart]
    values = [[short(value) for value in row] for row in shown]
    return {
        "problems": VERSION,
        "seeds": {str(row.horizon): seed for row in shown},
        "columns": list(Standing._fields),
        "rows": values,
    }


def report(data):
    """Return the part of the page that shows the numbers."""
    rows = read(data)
    horizons = sorted({row.horizon for row in rows})
    parts = [at_horizon([row for row in rows if row.horizon == horizon], horizon) for horizon in horizons]
    return "\n\n".join([*parts, f"{seeds(data)}, version {data['problems']} of the problems."])


def at_horizon(rows, horizon):
    """Return the sentences and the table of one horizon."""
    found = {(row.family, row.contestant): row for row in rows}
    names = [row.family for row in rows if row.contestant == DEFAULT and row.family not in TOGETHER]
    every = next(row for row in rows if row.family in TOGETHER)
    worst = max((found[name, DEFAULT] for name in names), key=lambda row: -1 if math.isnan(row.ratio) else row.ratio)
    mean = f"{number(every.ratio)}{_between(every.ratio_low, every.ratio_high, number)}"
    said = [
        f"After {horizon:,} decisions the default has lost {mean} times what the best rule told the right prior has "
        f"lost, in geometric mean over {len(names)} families; at most {number(worst.ratio)} times, in {worst.family}."
    ]
    said += [_compared(one, [found[name, one] for name in names if (name, one) in found]) for one in PAPERS]
    heads = ("family", "problems", _name(DEFAULT), *map(_name, PAPERS), "best rival told nothing")
    return f"{' '.join(said)}\n\n{table(heads, [_cells(name, found) for name in names])}"


def _compared(one, rows):
    """Return in words in how many families somebody has lost more than the default, and less."""
    more, less = ([row for row in rows if sign * row.difference > 0] for sign in (1, -1))
    surely_more, surely_less = (sum(row.p < SURE for row in some) for some in (more, less))
    return (
        f"{_name(one)}, has lost more than the default in {len(more)} of {len(rows)}, significantly in {surely_more}, "
        f"and significantly less in {surely_less}."
    )


def _cells(name, found):
    default = found[name, DEFAULT]
    rivals = [
        row
        for (family, one), row in found.items()
        if family == name and one.told == NOTHING and one != DEFAULT and 2 * row.games > default.games
    ]
    nearest = min(rivals, key=lambda row: row.difference, default=None)
    return (
        name,
        f"{default.games:,}",
        f"{number(default.ratio)}{_between(default.ratio_low, default.ratio_high, number)}",
        *(_beside(found.get((name, one))) for one in PAPERS),
        "" if nearest is None else f"{plain(nearest.rule)}: {_percent(nearest.difference)}",
    )


def _beside(row):
    """Return by how much somebody loses more than the default."""
    if row is None:
        return ""
    return _percent(row.difference) + _between(row.difference_low, row.difference_high, _percent)


def _between(low, high, words):
    return "" if math.isnan(low) else f" ({words(low)} to {words(high)})"


def _percent(share):
    return f"{100 * share:+,.0f} %"


def _name(one):
    return plain(figures.name_of(one))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `corrbandits arena` has written")
    parser.add_argument("--docs", type=Path, default=HERE, help="the folder of the page")
    options = parser.parse_args(arguments)
    results, place = Results(options.folder), options.docs / PAGE.name
    data = kept(results.games(), results.seed)
    text = json.dumps(data).replace("], [", "],\n[") + "\n"
    (options.docs / DATA.name).write_text(text, encoding="utf-8")
    place.write_text(written(place.read_text(encoding="utf-8"), MARK, report(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
