"""What choices like those of the 2018 study can tell: parameters and models found again, power, and a predictive check.

    python -m benchmarks.recovery --data wu2018_exp2_2d.csv --folder kept [--out docs] [--quick]

A population is fitted to the experiment on a grid, and people are drawn from it, or made up in other ways beside (see
`benchmarks.madeup`); for models found again, from laws as wide as the middle half of people are under each. They play
eight rounds of 40 choices, half of them on rough surfaces (length 1), half on smooth ones (length 2). For the
predictive check they play the surfaces that the people of the study met, as far as all of them together have seen
these. What is done is kept in the folder, and the command goes on where it was stopped; the parts may be done side by
side, with --only. With --out, the numbers go to recovery.json there, and docs/recovered.py writes page and pictures.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

import corrbandits as cb
from benchmarks.madeup import HORIZON, law, parameters, short, surfaces
from benchmarks.people import MODEL, MODELS, measured_people
from benchmarks.report import DOCS
from benchmarks.timing import tell
from corrbandits import choices
from corrbandits.choices import Person, Population
from corrbandits.choices.iteration import QUARTILES

FUNCTION, GREEDY, TRACKER = "function learning", "no exploration", "mean tracker"
CHECKED = {FUNCTION: MODEL, "with a preference for near arms": replace(MODEL, distance="free")}
PARTS = ("parameters", "models", "power", "checks")
LENGTHS = {0: 1.0, 1: 2.0}
"""Of the surfaces, rough and smooth."""


@final
@dataclass(frozen=True)
class Sizes:
    """How much is made up: people whose parameters, and whose models, are looked for, those of the power, copies."""

    people: int = 100
    of_models: int = 20
    pool: int = 60
    copies: int = 10


QUICK = Sizes(people=6, of_models=2, pool=3, copies=2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="CSV", required=True, help="the experiment's own table")
    parser.add_argument("--folder", type=Path, required=True, help="where what is done is kept")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write recovery.json, page and pictures there")
    parser.add_argument("--quick", action="store_true", help="few people, to see that everything works")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=(), help="do these parts, and write nothing")
    asked = parser.parse_args()
    sizes, of = (QUICK, 8) if asked.quick else (Sizes(), None)
    data = measured(asked.data, asked.folder, sizes, of=of, only=asked.only)
    if asked.out and not asked.only:
        place = asked.out / "recovery.json"
        place.write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
        subprocess.run([sys.executable, DOCS / "recovered.py", "--out", asked.out], check=True)


def measured(path: Path, folder: Path, sizes: Sizes, of: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """Return all parts or some as plain data, from the first `of` people of a table; what is there is shown."""
    people = measured_people(path)[:of]
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "parameters": lambda: parameters(people, sizes.people, folder),
        "models": lambda: models(people, sizes, folder),
        "power": lambda: power(law(people, MODEL, folder), sizes, folder),
        "checks": lambda: checks(people, path, sizes, folder),
    }
    data: dict[str, Any] = {}
    for name in only or parts:
        tell(name)
        data[name] = parts[name]()
    return data


def middle(people: Sequence[Person], model: choices.Model) -> Population:
    """Return a law as wide as the middle half of people are, each fitted alone: those at an end do not widen it."""
    fits = choices.fit_people(people, model)
    lines = [[choices.PARAMETERS[name].line(one.values[name]) for name in model.free] for one in fits]
    low, median, high = np.quantile(lines, [0.25, 0.5, 0.75], axis=0)
    return Population.of_law(model, median, np.diag(((high - low) / QUARTILES) ** 2))


def models(people: Sequence[Person], sizes: Sizes, folder: Path) -> dict[str, Any]:
    """Return the log evidence of people made up by each model under each."""
    laws = {name: middle(people, MODELS[name]) for name in (FUNCTION, GREEDY, TRACKER)}
    seen = choices.recover_models(laws, surfaces, people=sizes.of_models, horizon=HORIZON, seed=2, folder=folder)
    print(seen)
    return {"names": list(seen.names), "evidence": seen.evidence.round(4).tolist()}


def power(found: Population, sizes: Sizes, folder: Path) -> dict[str, Any]:
    """Return how often an experiment finds that people explore."""
    rival = MODELS[GREEDY]
    table = choices.power(found, rival, surfaces, pool=sizes.pool, horizon=HORIZON, seed=3, folder=folder)
    print(table)
    return {"people": table.people, "rounds": table.rounds, "share": table.share.tolist(), "sure": table.sure}


def checks(people: Sequence[Person], path: Path, sizes: Sizes, folder: Path) -> dict[str, Any]:
    """Return what people do at each trial, and people made up with their parameters on the same surfaces, by model."""
    played = met(path)
    how: Any = {"copies": sizes.copies, "seed": 4, "folder": folder}
    fits = {name: choices.fit_people(people, model) for name, model in CHECKED.items()}
    seen = {name: choices.predictive_check(each, people, lambda k: played[k], **how) for name, each in fits.items()}
    curves = {name: {str(what): short(one.values) for what, one in each.items()} for name, each in seen.items()}
    first, other = ([one.bic for one in each] for each in fits.values())
    return {"trial": seen[FUNCTION]["trial"].values.tolist(), "curves": curves,
            "better": int(np.greater(first, other).sum()), "people": len(people)}  # fmt: skip


def met(path: Path) -> list[list[cb.GaussianBandit]]:
    """Return the surfaces that each person met, round by round: what is believed of them after all people's trials."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    where = cb.landscapes.grid(11, 11).astype(float)
    seen: dict[tuple[int, int], list[tuple[int, int]]] = {}
    rounds: dict[int, dict[int, tuple[int, int]]] = {}
    for row in rows:
        which = row["kernel"], row["env"]
        seen.setdefault(which, []).append((arm_at(where, row["x"], row["y"]), row["z"]))
        rounds.setdefault(row["id"], {})[row["round"]] = which
    known = {which: believed(where, which, trials) for which, trials in seen.items()}
    return [[known[which] for _, which in sorted(each.items())] for _, each in sorted(rounds.items())]


def arm_at(where: Any, x: int, y: int) -> int:
    """Return the arm at a place."""
    return int(np.flatnonzero((where == [x, y]).all(axis=1))[0])


def believed(where: Any, which: tuple[int, int], trials: Sequence[tuple[int, int]]) -> cb.GaussianBandit:
    """Return a surface from trials on it."""
    kernel = 625 * cb.SquaredExponential(LENGTHS[which[0]])
    prior = cb.Correlated(mean=50.0, kernel=kernel, coordinates=where, noise_variance=1.0)
    arms, rewards = zip(*trials, strict=True)
    return cb.GaussianBandit(prior.observe(list(arms), list(rewards)).mean, 1.0, coordinates=where)


if __name__ == "__main__":
    main()
