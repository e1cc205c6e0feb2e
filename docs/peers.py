"""Write what other software loses into the page on the arena, from games that it played.

python docs/peers.py FOLDER [--keep]

FOLDER is what `python -m benchmarks.arena --results FOLDER` has written. Its table goes into peers.json beside the
page, which is made of that file alone. With --keep, what is there of games of other lengths stays.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path

from corrbandits._shell.numbers import number
from corrbandits.arena.contestants import DEFAULT, EVERYTHING
from corrbandits.arena.problems import VERSION
from corrbandits.arena.results import Results
from corrbandits.arena.standings import TOGETHER, standings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from explorers.pages import table, written  # noqa: E402 - found through the path above
from games import joined, seeds, short  # noqa: E402 - likewise

PAGE, DATA = HERE / "arena.md", HERE / "peers.json"
MARK, SURE = "peers", 0.05
FEWEST = 5
"""In how many families the default is ahead is said of peers with so many problems of each: else it is chance."""

COLUMNS = ("horizon", "family", "rule", "told", "games", "difference", "p", "seconds")
HEADS = ("plays", "problems", "regret, ours 1", "at worst for us", "we lose less in", "less than ours", "time")


def kept(games, seed):
    """Return what the page shows as plain data: by how much each peer loses more than the default, family by family.

    `behind` are the families in which the same rule told everything has lost more than some peer, by horizon.
    """
    found = [row for row in standings(games) if row.family not in TOGETHER]
    rows = [[short(getattr(row, name)) for name in COLUMNS] for row in found]
    known = {str(row.horizon): seed for row in found}
    return {"problems": VERSION, "seeds": known, "columns": list(COLUMNS), "rows": rows, "behind": behind(games)}


def behind(games):
    """Return for each horizon the families in which the rule told everything has lost more than some peer."""
    regret = {game.key: game.regret for game in games}
    leads = defaultdict(list)
    for key, value in regret.items():
        ours = regret.get(key._replace(rule=DEFAULT.rule, told=EVERYTHING))
        if key.rule != DEFAULT.rule and ours is not None:
            leads[key.horizon, key.family, key.rule].append(value - ours)
    lost = sorted({key[:2] for key, lead in leads.items() if len(lead) >= FEWEST and sum(lead) <= 0})
    return {str(horizon): [family for t, family in lost if t == horizon] for horizon, _, _ in leads}


def report(data):
    """Return the part of the page that shows the numbers."""
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    horizons = sorted({row["horizon"] for row in rows})
    tables = [
        at_horizon([row for row in rows if row["horizon"] == horizon], horizon, data["behind"].get(str(horizon)))
        for horizon in horizons
    ]
    return "\n\n".join([*tables, f"{seeds(data)}, version {data['problems']} of the problems."])


def at_horizon(rows, horizon, behind):
    """Return the sentence and the table of one horizon."""
    rivals = [row for row in rows if row["rule"] != DEFAULT.rule]
    told = [row for row in rows if row["told"] == EVERYTHING]
    peers = {row["rule"]: [one for one in rivals if one["rule"] == row["rule"]] for row in rivals}
    enough = [row for row in rivals if row["games"] >= FEWEST]
    families = {row["family"] for row in enough}
    lost = {row["family"] for row in enough if row["difference"] <= 0}
    said = (
        f"After {horizon:,} decisions the default has lost less than every peer in {len(families - lost)} of "
        f"{len(families)} families and real fields; a peer has lost significantly less in {sum(map(_less, enough))} of "
        f"{len(enough)} comparisons."
    )
    if few := sorted({row["rule"] for row in rivals} - {row["rule"] for row in enough}):
        said += f" Those that have played fewer than {FEWEST} problems of a family do not count here: {', '.join(few)}."
    if told:
        ahead = {row["family"] for row in told} - set(behind or [])
        said += f" Told everything, the same rule has lost less than every peer in {len(ahead)}."
        peers[f"{DEFAULT.rule}, told everything"] = told
    ranked = sorted(peers, key=lambda name: _middle(peers[name]))
    return f"{said}\n\n{table(HEADS, [_cells(name, peers[name]) for name in ranked])}"


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


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `python -m benchmarks.arena` has written")
    parser.add_argument("--docs", type=Path, default=HERE, help="the folder of the page")
    parser.add_argument("--keep", action="store_true", help="keep what is there of games of other lengths")
    options = parser.parse_args(arguments)
    if not (options.folder / "games.csv").exists():
        parser.error(f"{options.folder} must have games that `python -m benchmarks.arena --results` wrote, got none.")
    results, file = Results(options.folder), options.docs / DATA.name
    data = kept(list(results.games()), results.seed)
    if options.keep:
        data = joined(json.loads(file.read_text(encoding="utf-8")), data)
    file.write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
    place = options.docs / PAGE.name
    place.write_text(written(place.read_text(encoding="utf-8"), MARK, report(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
