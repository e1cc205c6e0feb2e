"""What fitting people costs: likelihood, gradient, every person by every model, and a fit as it is usually done.

    python -m benchmarks.people [--data wu2018_exp2_2d.csv] [--people 3] [--out docs] [--quick]

The people are 80 made up on an 11 x 11 grid, with 8 rounds of 40 choices, or with --data those of the experiment of
2018. All are fitted by four models with each round left out once, by two processes. The usual way is that of the study:
differential evolution over logarithms of the parameters, with a Gaussian process computed anew at every trial, here by
NumPy in place of R. Both minimise the same function; its least value under each is printed. With --out, the table goes
into the page on people.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

import corrbandits as cb
from benchmarks.report import DOCS, duration, marked, measured_on, number
from benchmarks.timing import load, machine, tell
from corrbandits import choices
from corrbandits.choices.likelihood import Problem

MODEL = choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=100.0, noise=0.01)
STUDY = replace(MODEL, exploration=1.0, prior_sd="free")
"""The same with an exploration above 0, as the study has it: prior_sd is 100 times that."""

MODELS = {
    "function learning": MODEL,
    "no exploration": replace(MODEL, exploration=0.0),
    "mean tracker": choices.Model(prior_mean=50.0, prior_sd=100 * 5**0.5, noise="free"),
    "plain index": choices.Model(kernel=cb.SquaredExponential(1.0), rule=cb.CorrelatedUCL(factor=False)),
}
KNOWN = {"length": 0.8, "exploration": 0.5, "temperature": 9.0}
PROCESSES = 2
LONGEST = 600.0
"""Seconds that all fits of all people may take."""

PAGE, DATA, MARK = "people.md", "people-speed.json", "speed"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.people", description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=3, help="how many are fitted the usual way too")
    parser.add_argument("--data", type=Path, metavar="CSV", help="the experiment's own table")
    parser.add_argument("--quick", action="store_true", help="few people and generations, to see that it works")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    asked = parser.parse_args()
    people = measured_people(asked.data) if asked.data else [made_up(seed) for seed in range(2 if asked.quick else 80)]
    data = measured(people[:2], 1, generations=2) if asked.quick else measured(people, asked.people, generations=100)
    print(table(data))
    if asked.out:
        save(data, asked.out)


def measured(people: Sequence[choices.Person], usually: int, generations: int) -> dict[str, Any]:
    """Return a row for everything that was timed; the first so many people are also fitted the usual way."""
    before, rows = load(), [*costs(made_up(0)), all_fits(people)]
    for person in people[:usually]:
        tell(f"{person.name}, the usual way")
        rows.append(beside(person, generations))
    return {"machine": machine(), "load": [before, load()], "rows": rows}


def table(data: dict[str, Any]) -> str:
    """Return the table, and what it was measured on; nothing if nothing was."""
    if not data["rows"]:
        return ""
    lines = ["| what | time | target | met |", "|---|--:|---|---|"]
    for row in data["rows"]:
        met = "" if row["met"] is None else "yes" if row["met"] else "no"
        lines.append(f"| {row['what']} | {duration(row['seconds'])} | {row['target']} | {met} |")
    return "\n".join([*lines, "", measured_on(data)])


def save(data: dict[str, Any], directory: Path) -> None:
    """Write the data and the page into a directory, the documentation's or another."""
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    (directory / DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (directory / PAGE).write_text(marked(text, MARK, table(data)), encoding="utf-8")


def row(what: str, seconds: float, target: str = "", met: bool | None = None) -> dict[str, Any]:
    """Return a row of the table."""
    return {"what": what, "seconds": seconds, "target": target, "met": met}


def made_up(seed: int) -> choices.Person:
    """Return a person who explores eight smooth surfaces."""
    where = cb.landscapes.grid(11, 11).astype(float)
    surfaces = [
        cb.landscapes.draw(400 * cb.SquaredExponential(2.0), where, mean=50.0, noise_variance=1.0, seed=100 * seed + k)
        for k in range(8)
    ]
    return choices.simulate(MODEL, KNOWN, surfaces, horizon=40, seed=seed, name=f"made up {seed}")


def measured_people(path: Path) -> list[choices.Person]:
    """Return the people of experiment 2."""
    return choices.read_csv(path, person="id", arm=["x", "y"], reward="z", horizon="horizon", given=1)


def costs(person: choices.Person) -> list[dict[str, Any]]:
    """Return the fastest of many evaluations, and what they may take."""
    problem, values = Problem(person, MODEL), MODEL.complete(KNOWN)
    likelihood = fastest(lambda: problem.each(values), 200)
    gradient = fastest(lambda: problem.gradient(values), 200)
    times = gradient / likelihood
    return [
        row(f"likelihood, {person.choices} choices, {person.arms} arms", likelihood, "1 ms", likelihood <= 1e-3),
        row(f"with all derivatives: {number(times)} times that", gradient, "3 times", times <= 3),
        row("fit of one person", fastest(lambda: choices.fit(person, MODEL), 5)),
    ]


def all_fits(people: Sequence[choices.Person]) -> dict[str, Any]:
    """Return how long it takes to fit all people by all models, each round left out once."""
    begun = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name, model in MODELS.items():
            tell(f"{len(people)} people, {name}")
            choices.predict_people(people, model, map=pool)
    took = time.perf_counter() - begun
    fits = len(MODELS) * sum(len(person.rounds) for person in people)
    what = f"{len(people)} people by {len(MODELS)} models, each round left out: {fits:,} fits, {PROCESSES} processes"
    return row(what, took, "10 min", took <= LONGEST)


def fastest(call: Callable[[], Any], turns: int) -> float:
    call()
    times = []
    for _ in range(turns):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def beside(person: choices.Person, generations: int) -> dict[str, Any]:
    """Return how long a fit takes the usual way, beside one here, and how low both get."""
    begun = time.perf_counter()
    here = choices.fit(person, STUDY)
    ours = time.perf_counter() - begun
    begun = time.perf_counter()
    least = usual(person, generations)
    theirs = time.perf_counter() - begun
    here_words = f"{duration(ours)} to {-here.log_likelihood:.3f} here"
    return row(f"{person.name} the usual way, to {least:.3f}; {here_words}: {number(theirs / ours)} times", theirs)


def usual(person: choices.Person, generations: int) -> float:
    """Return the least minus log likelihood by differential evolution from exp(-5) to exp(5), population 10 each."""
    squares = np.square(person.coordinates[:, None] - person.coordinates).sum(axis=2)

    def down(logs: Any) -> float:
        return plain(person, squares, *np.exp(logs))

    found = differential_evolution(
        down, [(-5, 5)] * 3, maxiter=generations, popsize=10, polish=False, tol=0.0, seed=0, init="random"
    )
    return float(found.fun)


def plain(person: choices.Person, squares: Any, length: float, exploration: float, temperature: float) -> float:
    """Return minus the log likelihood, a Gaussian process anew at every trial; rewards are (points - 50) / 100."""
    K, total = np.exp(-0.5 * squares / length**2), 0.0
    for played in person.rounds:
        y = (played.rewards - 50.0) / 100.0
        for t in range(played.given, played.arms.size):
            seen = played.arms[:t]
            inverse = np.linalg.inv(K[np.ix_(seen, seen)] + 1e-4 * np.eye(t))
            mean = K[:, seen] @ (inverse @ y[:t])
            variance = 1.0 - np.einsum("ij,jk,ik->i", K[:, seen], inverse, K[:, seen])
            u = (mean + exploration * np.sqrt(np.abs(variance))) / (temperature / 100.0)
            total -= u[played.arms[t]] - u.max() - np.log(np.exp(u - u.max()).sum())
    return total


if __name__ == "__main__":
    main()
