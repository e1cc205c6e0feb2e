"""Keep what the arena found on problems whose mean rewards change, for the page on studies of such.

python docs/changing.py FOLDER

FOLDER is what `corrbandits arena --families changing --out FOLDER` has written. `docs/refresh.py` makes the table of
the page from changing.json.
"""

import argparse
import json
import math
from pathlib import Path

from corrbandits._shell.numbers import number
from corrbandits.arena.contestants import EVERYTHING, NOTHING, OF_CHANGE
from corrbandits.arena.figures import ranked
from corrbandits.arena.results import Results
from corrbandits.arena.sentences import middle, sentences
from corrbandits.arena.standings import CHANGES, Standing, group_of, standings

DATA = Path(__file__).with_name("changing.json")


def kept(rows: list[Standing], seed: int) -> dict[str, object]:
    """Return the table as plain data."""
    chosen = [row for row in rows if row.family == CHANGES or group_of(row.family) == CHANGES]
    values = [[_short(value) for value in row] for row in chosen]
    return {"seed": seed, "columns": list(Standing._fields), "rows": values}


def shown() -> str:
    """Return what the page shows of it: sentences, and ratios over all families by horizon."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    rows = [Standing(*(math.nan if value is None else value for value in row)) for row in data["rows"]]
    horizons = sorted({row.horizon for row in rows})
    found = {(row.horizon, row.contestant): row for row in rows if row.family == CHANGES}
    lines = [f"- {sentence}" for sentence in sentences(rows)]
    lines += ["", "Regret over that of `Gittins` told everything, after so many decisions:", ""]
    lines += [f"| rule | told | {' | '.join(f'{t:,}' for t in horizons)} |", f"|---|---|{'--:|' * len(horizons)}"]
    for one in ranked(rows, (NOTHING, EVERYTHING, *OF_CHANGE), middle(horizons), CHANGES):
        lines.append(f"| {one.rule} | {one.told} | {' | '.join(_cell(found.get((t, one))) for t in horizons)} |")
    problems = min(row.games for row in rows if row.family != CHANGES)
    return "\n".join([*lines, "", f"Seed {data['seed']}, {problems} problems of each family.", ""])


def _cell(row: Standing | None) -> str:
    return "" if row is None else f"{number(row.ratio, 3)} ({number(row.ratio_low, 3)} to {number(row.ratio_high, 3)})"


def _short(value: object) -> object:
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if math.isfinite(value) else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    results = Results(parser.parse_args().folder)
    DATA.write_text(json.dumps(kept(standings(results.games()), results.seed)) + "\n", encoding="utf-8")
