"""Keep what the arena found on problems whose mean rewards change, for the page on studies of such.

python docs/changing.py FOLDER

FOLDER is what `corrbandits arena --families changing --out FOLDER` has written. `docs/refresh.py` makes the table of
the page from changing.json.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from corrbandits._shell.numbers import number
from corrbandits.arena.contestants import EVERYTHING, NOTHING, OF_CHANGE
from corrbandits.arena.figures import ranked
from corrbandits.arena.results import Results
from corrbandits.arena.sentences import middle, sentences
from corrbandits.arena.standings import CHANGES, Standing, group_of, standings

DATA = Path(__file__).with_name("changing.json")
sys.path.insert(0, str(DATA.parent))

from games import short  # noqa: E402 - found through the path above

NEAR = 1.05
"""Within 5 % of the least."""


def kept(rows: list[Standing], seed: int) -> dict[str, object]:
    """Return the table as plain data."""
    chosen = [row for row in rows if row.family == CHANGES or group_of(row.family) == CHANGES]
    values = [[short(value) for value in row] for row in chosen]
    return {"seed": seed, "columns": list(Standing._fields), "rows": values}


def shown() -> str:
    """Return what the page shows of it: sentences, and ratios over all families by horizon."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    rows = [Standing(*(math.nan if value is None else value for value in row)) for row in data["rows"]]
    horizons = sorted({row.horizon for row in rows})
    found = {(row.horizon, row.contestant): row for row in rows if row.family == CHANGES}
    lines = [
        f"- {sentence}" for sentence in (*sentences(rows), *map(partial(among_equals, rows), (EVERYTHING, NOTHING)))
    ]
    lines += ["", "Regret over that of `Gittins` told everything, after so many decisions:", ""]
    lines += [f"| rule | told | {' | '.join(f'{t:,}' for t in horizons)} |", f"|---|---|{'--:|' * len(horizons)}"]
    for one in ranked(rows, (NOTHING, EVERYTHING, *OF_CHANGE), middle(horizons), CHANGES):
        lines.append(f"| {one.rule} | {one.told} | {' | '.join(_cell(found.get((t, one))) for t in horizons)} |")
    problems = min(row.games for row in rows if row.family != CHANGES)
    return "\n".join([*lines, "", f"Seed {data['seed']}, {problems} problems of each family.", ""])


def among_equals(rows: list[Standing], told: str) -> str:
    """Return what `Gittins` loses over the rule that loses least of those told the same, after each horizon."""
    horizons = sorted({row.horizon for row in rows})
    over = {
        key: [_over_least(rows, told, t, key) for t in horizons] for key in dict.fromkeys(row.family for row in rows)
    }
    near = [sum(found[k] <= NEAR for key, found in over.items() if key != CHANGES) for k in range(len(horizons))]
    return (
        f"Of rules told {told}, Gittins has lost {listed(f'{x:.2f}' for x in over[CHANGES])} times the least over all "
        f"that change, after {listed(f'{t:,}' for t in horizons)} decisions; it is the best or within 5 % of it in "
        f"{listed(map(str, near))} of {len(over) - 1} families."
    )


def _over_least(rows: list[Standing], told: str, horizon: int, family: str) -> float:
    """Return the mean regret of `Gittins` over the least of those told the same."""
    lost = {row.rule: row.regret for row in rows if (row.told, row.horizon, row.family) == (told, horizon, family)}
    return lost["Gittins"] / min(lost.values())


def listed(words: Iterable[str]) -> str:
    """Return words as a sentence has them.

    >>> listed(["1", "2", "3"])
    '1, 2 and 3'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _cell(row: Standing | None) -> str:
    return "" if row is None else f"{number(row.ratio, 3)} ({number(row.ratio_low, 3)} to {number(row.ratio_high, 3)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    results = Results(parser.parse_args().folder)
    DATA.write_text(json.dumps(kept(standings(results.games()), results.seed)) + "\n", encoding="utf-8")
