"""What each piece of the default is worth, on tuning seeds: the default, told nothing, with one piece changed.

    python -m benchmarks.ablation --results DIRECTORY [--problems 40] [--horizons 200] [--fields DIRECTORY] [--out docs]

Games are added to a folder as they are played, and none is played again: the same command goes on where it was
stopped. All variants meet the same problems and the same noise. Seeds are those of `problems.TUNING`, which no report
uses. Real fields are compared apart.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import kept
from benchmarks.families import asked, known_families, positive, problem_of
from benchmarks.timing import tell
from benchmarks.variants import (
    AnywhereFirst,
    LookAhead,
    OnMoments,
    OnQuantiles,
    SpreadOut,
    TellingFirst,
    Wider,
    WithoutDoubt,
)
from corrbandits import Gittins, HorizonUCL, Vague
from corrbandits.arena import estimates
from corrbandits.arena.campaign import FEWER
from corrbandits.arena.estimates import Estimate
from corrbandits.arena.playing import game_of
from corrbandits.arena.problems import FAMILIES, TUNING
from corrbandits.policies import Policy
from corrbandits.simulation.engines import engine_for

DOCS = Path(__file__).parents[1] / "docs"
FILE, DATA, PAGE = "ablation.csv", "ablation.json", "choosing-a-policy.md"
BEGIN, END = "<!-- ablation -->\n", "<!-- end of ablation -->\n"
DEFAULT, SEED = "the default", TUNING[-1]


class Changed(NamedTuple):
    """A rule, given the horizon, and what is said to `Vague` besides the coordinates."""

    rule: Callable[[int], Policy] = Gittins
    said: Mapping[str, Any] = {}


VARIANTS: dict[str, Changed] = {
    DEFAULT: Changed(),
    "index of the moments": Changed(OnMoments),
    "no doubt between parts": Changed(WithoutDoubt),
    "HorizonUCL": Changed(HorizonUCL),
    "HorizonUCL on quantiles": Changed(OnQuantiles),
    "index 1.2 times as wide": Changed(Wider),
    "7 spread-out arms first": Changed(SpreadOut),
    "first arms anywhere": Changed(AnywhereFirst),
    "first arms that tell most": Changed(TellingFirst),
    "lookahead": Changed(LookAhead),
    "24 parts": Changed(said={"parts": 24}),
    "96 parts": Changed(said={"parts": 96}),
    "192 parts": Changed(said={"parts": 192}),
    "one kernel": Changed(said={"kernel": "matern32"}),
    "no site effects": Changed(said={"site": 0.0}),
}
"""Every variant by its name."""

SOME = tuple(family for family in FAMILIES if family not in FEWER)
"""Families of many arms are left out: what is not compiled takes too long there."""


class Game(NamedTuple):
    """How a variant did on a problem."""

    variant: str
    family: str
    number: int
    horizon: int
    regret: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, metavar="DIRECTORY", required=True, help="where games are kept")
    parser.add_argument("--problems", type=int, default=40, help="of each family (40)")
    parser.add_argument("--families", nargs="+", metavar="FAMILY", help="all but those of many arms if left out")
    parser.add_argument("--fields", type=Path, metavar="DIRECTORY", help="real fields too: CSV files of x, y, yields")
    parser.add_argument("--horizons", nargs="+", type=positive, default=[200], help="decisions in a game (200)")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--jobs", type=positive, default=1, help="games at the same time (1)")
    parser.add_argument("--out", type=Path, help="write data and page, such as to docs")
    parser.add_argument("--keep", action="store_true", help="keep what the page says by more problems than these")
    options = parser.parse_args(arguments)
    file = options.results / FILE
    if options.out and not options.out.is_dir():
        parser.error(f"--out must be a folder that is there, such as docs, got {str(options.out)!r:.80}.")
    try:
        options.results.mkdir(parents=True, exist_ok=True)
        known = {game[:4] for game in read(file)}
        every = known_families(options.fields)
        families = asked(options.families or [name for name in every if name not in FEWER], every)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    wanted = [
        (variant, family, number, horizon)
        for number in range(options.problems)
        for horizon in options.horizons
        for family in families
        for variant in dict.fromkeys((DEFAULT, *options.variants))
    ]
    work = [(*key, options.fields) for key in wanted if key not in known]
    try:
        kept.added(file, Game._fields, work, played, options.jobs)
    except KeyboardInterrupt:
        tell(f"Stopped. What was played is in {options.results}; the same command goes on from there.")
        return 130
    rows = compared(read(file))
    if options.out and not rows:
        parser.error(f"--results must have games of the default and of others, got none in {options.results}.")
    print(table(rows))
    if options.fields:
        print(f"\nOn real fields:\n{table(compared(read(file), [name for name in every if name not in FAMILIES]))}")
    if options.out:
        write(joined(known_rows(), rows) if options.keep else rows, options.out)
    return 0


def read(file: Path) -> list[Game]:
    """Return the games of a file."""
    return [
        Game(variant, family, int(number), int(horizon), float(regret))
        for variant, family, number, horizon, regret in kept.read(file, Game._fields)
    ]


def played(work: tuple[str, str, int, int, Path | None]) -> list[Game]:
    """Return one game, of a family or of a field in a folder."""
    name, family, number, horizon, fields = work
    variant, given = VARIANTS[name], problem_of(family, SEED, number, fields)
    run = game_of(given, variant.rule(horizon), Vague(coordinates=given.coordinates, **variant.said), horizon)
    recorded = run.room()
    engine_for(run).play(run, recorded, lambda _: None)
    return [Game(name, family, number, horizon, float(run.environment.losses(recorded["arms"][0]).sum() / given.scale))]


def compared(games: Iterable[Game], families: Collection[str] = FAMILIES) -> list[dict[str, Any]]:
    """Return for each horizon and variant its regret over the default's, these families weighted equally."""
    regret = {game[:4]: game.regret for game in games if game.family in families}
    rows = []
    for horizon in sorted({key[3] for key in regret}):
        for name in VARIANTS:
            if name != DEFAULT and (ratios := _ratios(regret, name, horizon)):
                value, low, high = estimates.geometric_mean([each for _, each in ratios])
                worst, family = max((each.value, family) for family, each in ratios)
                found = {"ratio": value, "low": low, "high": high, "worst": worst, "family": family}
                keys = [key for key in regret if key[0] == name and key[3] == horizon]
                problems = sum((DEFAULT, *key[1:]) in regret for key in keys)
                rows.append({"horizon": horizon, "variant": name, "problems": problems, **found})
    return rows


def _ratios(regret: Mapping[Any, float], name: str, horizon: int) -> list[tuple[str, Estimate]]:
    found = []
    for family in dict.fromkeys(key[1] for key in regret):
        both = [
            (regret[name, family, number, horizon], value)
            for (variant, other, number, t), value in regret.items()
            if (variant, other, t) == (DEFAULT, family, horizon) and (name, family, number, t) in regret
        ]
        if len(both) > 1:
            found.append((family, estimates.ratio(*np.array(both).T)))
    return found


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the comparison as a table."""
    lines = ["| decisions | instead | problems | regret over the default's | at worst |", "|--:|---|--:|--:|---|"]
    for row in rows:
        ratio = f"{row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        worst = f"{row['worst']:.2f} ({row['family']})"
        lines.append(f"| {row['horizon']:,} | {row['variant']} | {row['problems']:,} | {ratio} | {worst} |")
    return "\n".join(lines)


def known_rows() -> list[dict[str, Any]]:
    """Return what the page says."""
    found: list[dict[str, Any]] = json.loads((DOCS / DATA).read_text(encoding="utf-8"))
    return found


def joined(before: Iterable[dict[str, Any]], now: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each horizon and variant: that of more problems, and of equally many the new one.

    >>> few, many = ({"horizon": 40, "variant": "24 parts", "problems": number} for number in (3, 30))
    >>> joined([many], [few]) == joined([few], [many]) == [many]
    True
    """
    most: dict[tuple[int, str], dict[str, Any]] = {}
    for row in (*before, *now):
        key = row["horizon"], row["variant"]
        if key not in most or row["problems"] >= most[key]["problems"]:
            most[key] = row
    order = list(VARIANTS)
    return [most[key] for key in sorted(most, key=lambda key: (key[0], order.index(key[1])))]


def write(rows: Sequence[Mapping[str, Any]], directory: Path) -> None:
    """Write the data, and the table between its marks on the page."""
    (directory / DATA).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    before, rest = (DOCS / PAGE).read_text(encoding="utf-8").split(BEGIN)
    text = f"{before}{BEGIN}\n{table(rows)}\n\n{END}{rest.split(END)[1]}"
    (directory / PAGE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
