"""What each piece of the default is worth, on tuning seeds: the default, told nothing, with one piece changed.

    python -m benchmarks.ablation --results DIRECTORY [--problems 40] [--horizons 200] [--jobs 2] [--out docs]

Games are added to a folder as they are played, and none is played again: the same command goes on where it was
stopped. All variants meet the same problems and the same noise. Seeds are those of `problems.TUNING`, which no report
uses.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from benchmarks.threads import ONE_THREAD
from benchmarks.timing import tell
from corrbandits import Gittins, HorizonUCL, Vague
from corrbandits._core.checks import Array
from corrbandits._shell.appended import append, whole_lines
from corrbandits._shell.progress import bar
from corrbandits.arena import estimates
from corrbandits.arena.campaign import FEWER
from corrbandits.arena.estimates import Estimate
from corrbandits.arena.playing import play
from corrbandits.arena.problems import FAMILIES, TUNING, problem
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.policies.base import IndexPolicy
from corrbandits.policies.gittins import index_in_deviations

DOCS = Path(__file__).parents[1] / "docs"
FILE, DATA, PAGE = "ablation.csv", "ablation.json", "choosing-a-policy.md"
BEGIN, END = "<!-- ablation -->\n", "<!-- end of ablation -->\n"
DEFAULT, SEED = "the default", TUNING[-1]


@final
@dataclass(frozen=True)
class OnMoments(IndexPolicy):
    """The Gittins index of the mixture's mean and deviation, as if they were those of one normal part."""

    horizon: int

    def index(self, belief: Belief, t: int) -> Array:
        """Return mu_i + s_i g(m, sigma^2 / s_i^2)."""
        m = int(Gittins(self.horizon).left(t))
        if not isinstance(belief, Vague) or belief.opening:
            return Gittins(self.horizon).index(belief, t)
        return np.asarray(
            belief.mean + belief.deviation * index_in_deviations(m, belief.noise_variance / belief.variance)
        )


@final
@dataclass(frozen=True)
class WithoutDoubt(IndexPolicy):
    """The mean of the parts' Gittins indices."""

    horizon: int

    def index(self, belief: Belief, t: int) -> Array:
        """Return what the parts say on average."""
        m = int(Gittins(self.horizon).left(t))
        if not isinstance(belief, Vague) or belief.opening:
            return Gittins(self.horizon).index(belief, t)
        each = belief.part_locations + belief.part_deviations * index_in_deviations(m, belief.part_noise)
        return np.asarray(belief.weights @ each)


@final
@dataclass(frozen=True)
class OnQuantiles(IndexPolicy):
    """`HorizonUCL` by the mixture's true quantiles: mean + quantile - median."""

    horizon: int

    def index(self, belief: Belief, t: int) -> Array:
        """Return mu_i + q_i(1 / (m + 1)) - q_i(1 / 2); +inf in the opening."""
        m = int(HorizonUCL(self.horizon).left(t))
        if not isinstance(belief, Vague) or belief.opening:
            return HorizonUCL(self.horizon).index(belief, t)
        above = belief.credible_limit(-float(np.log1p(m)))
        return np.asarray(belief.mean + above - belief.credible_limit(float(np.log(0.5))))


class Variant(NamedTuple):
    """A rule, given the horizon, and what is said to `Vague` besides the coordinates."""

    rule: Callable[[int], Policy] = Gittins
    said: Mapping[str, Any] = {}


VARIANTS: dict[str, Variant] = {
    DEFAULT: Variant(),
    "index of the moments": Variant(OnMoments),
    "no doubt between parts": Variant(WithoutDoubt),
    "HorizonUCL": Variant(HorizonUCL),
    "HorizonUCL on quantiles": Variant(OnQuantiles),
    "24 parts": Variant(said={"parts": 24}),
    "96 parts": Variant(said={"parts": 96}),
    "192 parts": Variant(said={"parts": 192}),
    "one kernel": Variant(said={"kernel": "matern32"}),
    "no site effects": Variant(said={"site": 0.0}),
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
    parser.add_argument("--families", nargs="+", default=list(SOME), choices=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--horizons", nargs="+", type=int, default=[200], help="decisions in a game (200)")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--jobs", type=int, default=1, help="games at the same time (1)")
    parser.add_argument("--out", type=Path, help="write data and page, such as to docs")
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / FILE
    wanted = [
        (variant, family, number, horizon)
        for number in range(options.problems)
        for horizon in options.horizons
        for family in options.families
        for variant in dict.fromkeys((DEFAULT, *options.variants))
    ]
    try:
        add(file, [key for key in wanted if key not in {game[:4] for game in read(file)}], options.jobs)
    except KeyboardInterrupt:
        tell(f"Stopped. What was played is in {options.results}; the same command goes on from there.")
        return 130
    rows = compared(read(file))
    print(table(rows))
    if options.out:
        write(rows, options.out)
    return 0


def read(file: Path) -> list[Game]:
    """Return the games of a file."""
    rows = csv.reader(io.StringIO(whole_lines(file)))
    return [Game(row[0], row[1], int(row[2]), int(row[3]), float(row[4])) for row in rows if row[0] != Game._fields[0]]


def add(file: Path, wanted: Sequence[tuple[str, str, int, int]], jobs: int) -> None:
    """Play these games, and add each as soon as it was played."""
    os.environ.update(ONE_THREAD)
    with (
        multiprocessing.get_context("spawn").Pool(jobs, partial(signal.signal, signal.SIGINT, signal.SIG_IGN)) as pool,
        bar(len(wanted), label="playing") as show,
    ):
        for done, game in enumerate(pool.imap_unordered(played, wanted), start=1):
            append(file, _lines([game]), _lines([Game._fields]))
            show(done)


def played(key: tuple[str, str, int, int]) -> Game:
    """Return one game."""
    name, family, number, horizon = key
    variant, given = VARIANTS[name], problem(family, SEED, number)
    belief = Vague(coordinates=given.coordinates, **variant.said)
    return Game(*key, play(given, variant.rule(horizon), belief, horizon).regret)


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def compared(games: Iterable[Game]) -> list[dict[str, Any]]:
    """Return for each horizon and variant its regret over the default's, families weighted equally."""
    regret = {game[:4]: game.regret for game in games}
    rows = []
    for horizon in sorted({key[3] for key in regret}):
        for name in VARIANTS:
            if name != DEFAULT and (ratios := _ratios(regret, name, horizon)):
                value, low, high = estimates.geometric_mean([each for _, each in ratios])
                worst, family = max((each.value, family) for family, each in ratios)
                found = {"ratio": value, "low": low, "high": high, "worst": worst, "family": family}
                problems = sum(key[0] == name and key[3] == horizon for key in regret)
                rows.append({"horizon": horizon, "variant": name, "problems": problems, **found})
    return rows


def _ratios(regret: Mapping[Any, float], name: str, horizon: int) -> list[tuple[str, Estimate]]:
    found = []
    for family in FAMILIES:
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


def write(rows: Sequence[Mapping[str, Any]], directory: Path) -> None:
    """Write the data, and the table between its marks on the page."""
    (directory / DATA).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    before, rest = (DOCS / PAGE).read_text(encoding="utf-8").split(BEGIN)
    text = f"{before}{BEGIN}\n{table(rows)}\n\n{END}{rest.split(END)[1]}"
    (directory / PAGE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
