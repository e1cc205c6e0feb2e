"""Write what other software loses into the page on the arena, from games that it played.

python docs/peers.py FOLDER

FOLDER is what `python -m benchmarks.arena --results FOLDER` has written. Its table goes into peers.json beside the
page, which is made of that file alone.
"""

import argparse
import json
import math
from pathlib import Path

from corrbandits._shell.numbers import number
from corrbandits.arena.contestants import DEFAULT
from corrbandits.arena.problems import VERSION
from corrbandits.arena.results import Results
from corrbandits.arena.standings import TOGETHER, standings

HERE = Path(__file__).parent
PAGE, DATA = HERE / "arena.md", HERE / "peers.json"
BEGIN, END = "<!-- peers -->\n", "<!-- end of peers -->\n"
DIGITS, SURE = 4, 0.05
COLUMNS = ("horizon", "family", "rule", "games", "difference", "p", "seconds")
HEADS = ("told nothing", "problems", "regret, ours 1", "at worst for us", "we lose less in", "less than ours", "time")


def kept(games, seed):
    """Return what the page shows as plain data: by how much each peer loses more than the default, family by family."""
    found = [row for row in standings(games) if row.family not in TOGETHER]
    rows = [[_short(getattr(row, name)) for name in COLUMNS] for row in found]
    return {"problems": VERSION, "seed": seed, "columns": list(COLUMNS), "rows": rows}


def _short(value):
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def report(data):
    """Return the part of the page that shows the numbers."""
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    horizons = sorted({row["horizon"] for row in rows})
    tables = [table([row for row in rows if row["horizon"] == horizon], horizon) for horizon in horizons]
    return "\n\n".join([*tables, f"Seed {data['seed']}, version {data['problems']} of the problems."])


def table(rows, horizon):
    """Return the sentence and the table of one horizon."""
    rivals = [row for row in rows if row["rule"] != DEFAULT.rule]
    peers = {row["rule"]: [one for one in rivals if one["rule"] == row["rule"]] for row in rivals}
    families = {row["family"] for row in rivals}
    lost = {row["family"] for row in rivals if row["difference"] <= 0}
    said = (
        f"After {horizon:,} decisions the default has lost less than every peer in {len(families - lost)} of "
        f"{len(families)} families and real fields; a peer has lost significantly less in {sum(map(_less, rivals))} of "
        f"{len(rivals)} comparisons."
    )
    ranked = sorted(peers, key=lambda name: _middle(peers[name]))
    lines = [HEADS, ["---", *["--:"] * (len(HEADS) - 1)], *(_cells(name, peers[name]) for name in ranked)]
    return said + "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(name, rows):
    worst = min(rows, key=lambda row: row["difference"])
    return (
        name,
        f"{sum(row['games'] for row in rows):,}",
        number(_middle(rows)),
        f"{number(1 + worst['difference'])} ({worst['family']})",
        f"{sum(row['difference'] > 0 for row in rows)} of {len(rows)}",
        f"{sum(map(_less, rows))}",
        f"{number(1e3 * sorted(row['seconds'] for row in rows)[len(rows) // 2])} ms",
    )


def _middle(rows):
    """Return by which factor a peer loses more, in geometric mean over families."""
    return math.exp(sum(math.log1p(row["difference"]) for row in rows) / len(rows))


def _less(row):
    """Return whether a peer loses significantly less than the default in a family."""
    return row["difference"] < 0 and row["p"] is not None and row["p"] < SURE


def written(page, text):
    """Return a page with the text between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{text}\n\n{END}{rest.split(END)[1]}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `python -m benchmarks.arena` has written")
    parser.add_argument("--docs", type=Path, default=HERE, help="the folder of the page")
    options = parser.parse_args(arguments)
    results = Results(options.folder)
    data = kept(results.games(), results.seed)
    (options.docs / DATA.name).write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
    place = options.docs / PAGE.name
    place.write_text(written(place.read_text(encoding="utf-8"), report(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
