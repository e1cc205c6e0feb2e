"""What the parts of a belief told nothing are worth to what it says: how many are enough, and which kinds are needed.

    python -m benchmarks.parts --results DIRECTORY [--problems 8] [--jobs 2] [--out docs]

The default plays each problem, told nothing. After some rewards its belief, and beliefs of fewer, more and other parts
that have seen the same, are compared with that of very many parts, and with the true mean rewards. Problems are added
to a folder as they are done: the same command goes on where it was stopped. Seeds are those of `problems.TUNING`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import kept
from benchmarks.ablation import SEED, SOME
from benchmarks.timing import tell
from corrbandits import Gittins, Vague, plots
from corrbandits._core.checks import Array
from corrbandits.arena import estimates
from corrbandits.arena.calibration import TIMES, log_densities, played
from corrbandits.arena.problems import FAMILIES, Problem, problem

DOCS = Path(__file__).parents[1] / "docs"
FILE, DATA, PICTURE, PAGE = "parts.csv", "parts.json", "parts.png", "honest-statements.md"
BEGIN, END = "<!-- parts -->\n", "<!-- end of parts -->\n"

MANY = 1_536
USUAL = 48
NUMBERS = (6, 12, 24, USUAL, 96, 192, 384)
KINDS: dict[str, Mapping[str, Any]] = {
    "48, one kernel": {"kernel": "matern32"},
    "48, no site effects": {"site": 0.0},
}
"""Beliefs of other parts by their names: what is said to `Vague` besides the coordinates."""

BELIEFS: dict[str, Mapping[str, Any]] = {**{f"{number:,}": {"parts": number} for number in NUMBERS}, **KINDS}


class Row(NamedTuple):
    """What a belief makes of the first rewards of a problem."""

    belief: str
    family: str
    number: int
    t: int
    """How many rewards had come."""

    gain: float
    """By how much its log score, per arm, is above that of very many parts."""

    apart: float
    """How far its means lie from those of very many parts: root mean square over the arms, in posterior deviations."""

    covered: float
    """The share of arms whose mean reward lay in its 90 % interval."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parts", description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, metavar="DIRECTORY", required=True, help="where rows are kept")
    parser.add_argument("--problems", type=int, default=8, help="of each family (8)")
    parser.add_argument("--families", nargs="+", default=list(SOME), choices=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--jobs", type=int, default=1, help="problems at the same time (1)")
    parser.add_argument("--out", type=Path, help="write data, picture and page, such as to docs")
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / FILE
    wanted = [(family, number) for number in range(options.problems) for family in options.families]
    try:
        known = whole(read(file))
    except ValueError as error:
        parser.error(str(error))
    try:
        kept.added(file, Row._fields, [one for one in wanted if one not in known], rows_of, options.jobs, "believing")
    except KeyboardInterrupt:
        tell(f"Stopped. What was found is in {options.results}; the same command goes on from there.")
        return 130
    rows = read(file)
    done = whole(rows)
    if not done:
        parser.error(f"--results must have problems to show, got none in {options.results}. Say --problems 8.")
    data = summary(row for row in rows if (row.family, row.number) in done)
    print(table(data))
    if options.out:
        write(data, options.out)
    return 0


def read(file: Path) -> list[Row]:
    """Return the rows of a file, the first of those that were made twice."""
    found: dict[tuple[str, str, int, int], Row] = {}
    for belief, family, number, t, gain, apart, covered in kept.read(file, Row._fields):
        row = Row(belief, family, int(number), int(t), float(gain), float(apart), float(covered))
        found.setdefault(row[:4], row)
    return [*found.values()]


def whole(rows: Iterable[Row]) -> set[tuple[str, int]]:
    """Return the problems of which every belief is there at every time."""
    number = Counter((row.family, row.number) for row in rows)
    return {key for key, there in number.items() if there == (len(BELIEFS) + 1) * len(TIMES)}


def rows_of(work: tuple[str, int], many: int = MANY, times: Sequence[int] = TIMES) -> list[Row]:
    """Return what every belief makes of one problem, after each number of rewards."""
    family, number = work
    given = problem(family, SEED, number)
    arms, rewards = played(given, Gittins(max(times)), max(times))
    rows = []
    for t in times:
        most = Vague(coordinates=given.coordinates, parts=many).observe(arms[:t], rewards[:t])
        best = _score(most, given, t)
        for name, said in {**BELIEFS, f"{many:,}": {"parts": many}}.items():
            one = Vague(coordinates=given.coordinates, **said).observe(arms[:t], rewards[:t])
            apart = float(np.sqrt(np.square((one.mean - most.mean) / most.deviation).mean()))
            rows.append(Row(name, family, number, t, _score(one, given, t) - best, apart, _covered(one, given)))
    return rows


def _score(belief: Vague, given: Problem, t: int) -> float:
    return float(log_densities(belief, given.means, t - 1).mean())


def _covered(belief: Vague, given: Problem) -> float:
    low, high = belief.credible_limit(math.log(0.95)), belief.credible_limit(math.log(0.05))
    return float(((given.means >= low) & (given.means <= high)).mean())


def summary(rows: Iterable[Row]) -> dict[str, Any]:
    """Return the means over problems, families weighted equally, and their standard errors: by belief and time."""
    by: dict[str, dict[int, dict[str, list[Row]]]] = {}
    for row in rows:
        by.setdefault(row.belief, {}).setdefault(row.t, {}).setdefault(row.family, []).append(row)
    found = {
        belief: {str(t): _means(families) for t, families in sorted(times.items())} for belief, times in by.items()
    }
    numbers = {belief: sum(map(len, next(iter(times.values())).values())) for belief, times in by.items()}
    return {"seed": SEED, "problems": max(numbers.values(), default=0), "beliefs": found}


def _means(families: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("gain", "apart", "covered"):
        each = [estimates.mean(np.array([getattr(row, name) for row in rows])) for rows in families.values()]
        value, error, _ = estimates.over_families(each)
        found |= {name: value, f"{name}_error": error}
        if name == "gain":
            least, family = min(zip((one.value for one in each), families, strict=True))
            found |= {"least": least, "family": family}
    return found


def table(data: Mapping[str, Any]) -> str:
    """Return the comparison as a table: beliefs of few to many parts, then those of other kinds of parts."""
    beliefs = data["beliefs"]
    times = [*next(iter(beliefs.values()), {})]
    heads = ["parts", *(f"score, {t} rewards" for t in times), "at worst", "apart", "covered"]
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)]]
    for name in sorted(beliefs, key=lambda name: name in KINDS):
        at = [beliefs[name][t] for t in times]
        scores = [f"{one['gain']:+.3f} ± {one['gain_error']:.3f}" for one in at]
        worst = min(at, key=lambda one: float(one["least"]))
        aparts = ", ".join(f"{one['apart']:.2f}" for one in at)
        covered = ", ".join(f"{one['covered']:.2f}" for one in at)
        if not any(one["apart"] for one in at):  # those which others are compared with
            scores, said, aparts = ["0"] * len(times), "0", "0"
        else:
            said = f"{worst['least']:+.2f} ({worst['family']})"
        lines.append([f"{name}, the default" if name == str(USUAL) else name, *scores, said, aparts, covered])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(data: Mapping[str, Any]) -> Any:
    """Return how score and means approach those of very many parts."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(7.6, 3.1), layout="constrained")
    left, right = drawn.subplots(1, 2)
    known = [number for number in NUMBERS if f"{number:,}" in data["beliefs"]]
    for k, t in enumerate(next(iter(data["beliefs"].values()))):
        at = [data["beliefs"][f"{number:,}"][t] for number in known]
        left.errorbar(
            _aside(known, k),
            [one["gain"] for one in at],
            yerr=[2 * one["gain_error"] for one in at],
            fmt="o-",
            ms=4,
            capsize=2,
            label=f"after {t} rewards",
        )
        right.plot(known, [one["apart"] for one in at], "o-", ms=4)
    left.axhline(0.0, color="0.6", lw=1)
    left.set(xscale="log", xlabel="parts", ylabel=f"log score above that of {MANY:,} parts")
    right.set(xscale="log", yscale="log", xlabel="parts", ylabel="means apart, in deviations")
    for axes in (left, right):
        axes.axvline(USUAL, color="0.8", lw=1, zorder=0)
        axes.set_xticks(known, [str(number) for number in known])
        axes.minorticks_off()
    left.legend(frameon=False)
    return drawn


def _aside(numbers: Sequence[int], k: int) -> Array:
    """Return places beside each other, so that bars do not cover each other."""
    return np.array(numbers) * 1.04 ** (k - 1)


def write(data: Mapping[str, Any], directory: Path) -> None:
    """Write the data, the picture, and the table between its marks on the page."""
    (directory / DATA).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    plots.save(figure(data), directory / PICTURE)
    (directory / PAGE).write_text(page(data), encoding="utf-8")


def page(data: Mapping[str, Any]) -> str:
    """Return the page with the table between its marks."""
    before, rest = (DOCS / PAGE).read_text(encoding="utf-8").split(BEGIN)
    said = f"{data['problems']} problems, on which the default has played, seed {data['seed']}."
    return f"{before}{BEGIN}\n{table(data)}\n\n{said}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    raise SystemExit(main())
