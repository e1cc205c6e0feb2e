"""What a belief that is told nothing costs: compiled, step by step, on many arms, and in a long study.

    python -m benchmarks.untold [--quick] [--out docs]

A decision is the choice by `Gittins` (compiled also `HorizonUCL`) and the update of the belief. The studies take turns,
trial by trial, and each one's median is kept, as in `benchmarks.studies`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import DOCS, marked
from benchmarks.studies import EARLY, LATE, contest, ours, row, table
from benchmarks.timing import load, machine, tell
from corrbandits import Gittins, HorizonUCL, Vague, simulate
from corrbandits.environments import GaussianBandit, landscapes
from corrbandits.policies import Policy

PAGE, DATA = "performance.md", "told-nothing.json"
HORIZON, SEEN, OPEN = 1_000, 200, 4
PER_PART = 2e-6
"""A compiled decision may take so many seconds for each part of the mixture."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.untold", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few decisions, to see that everything works")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        data = measured(Path(directory), share=0.01 if options.quick else 1.0)
    print(table(data, "told nothing"))
    if options.out:
        (options.out / DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        text = (DOCS / PAGE).read_text(encoding="utf-8")
        (options.out / PAGE).write_text(page(text, data), encoding="utf-8")


def measured(directory: Path, *, share: float) -> dict[str, Any]:
    """Return medians, targets and whether they are met; `share` makes all of it shorter."""
    before, rows, trials = load(), [], max(round(400 * share), 2)
    tell("compiled")
    for policy in (HorizonUCL(HORIZON), Gittins(HORIZON)):
        seconds, parts = compiled(policy, turns=max(round(7 * share), 1))
        target = f"≤ {parts} parts × 2 µs"
        rows.append(
            row(f"compiled, 100 arms, {type(policy).__name__}", seconds, None, target, seconds <= parts * PER_PART)
        )
    many = round(100 * max(share, 0.3))
    for side, waiting, most in ((10, 0, 5e-3), (many, 0, 1.0), (many, OPEN, 1.0)):
        name = f"{side * side:,} arms" + (f", {waiting} trials open" if waiting else "")
        tell(name)
        seconds = step_by_step(side, decisions=max(round(50 * share), 2), waiting=waiting)
        rows.append(row(f"step by step, {name}", seconds, None, f"≤ {most:g} s", seconds <= most))
    tell("studies")
    events = {EARLY: 500, LATE: round(50_000 * share)}
    where = landscapes.two_peaks().coordinates
    begun = {"arms": {"x": where[:, 0].tolist(), "y": where[:, 1].tolist()}, "rounds": 100_000}
    grown = contest({name: ours(directory, name, number, **begun) for name, number in events.items()}, trials)
    late = grown[LATE] / grown[EARLY]
    rows.append(row(f"ask and tell, 100 arms, {EARLY}", grown[EARLY]))
    rows.append(row(f"ask and tell, 100 arms, {LATE}", grown[LATE], late, "≤ 1.05 × after 500", late <= 1.05))
    on = machine()
    on["versions"] = {name: on["versions"].get(name, "not installed") for name in ("corrbandits", "numpy", "numba")}
    return {"machine": on, "load": [before, load()], "trials": trials, "rows": rows}


def problem(side: int) -> tuple[GaussianBandit, Vague]:
    """Return a smooth surface on a square grid, and a belief that is told nothing of it."""
    where, waves = landscapes.grid(side, side), np.random.default_rng(0).normal(0.0, 4.0 / side, (2, 12))
    means = 30.0 + np.cos(where @ waves + np.arange(12)).sum(axis=1)
    return GaussianBandit(means, 4.0, where, (side, side)), Vague(coordinates=where)


def compiled(policy: Policy, *, turns: int) -> tuple[float, int]:
    """Return the median seconds of a decision of a compiled run on 100 arms, and how many parts the belief has."""
    surface, belief = problem(10)
    times = []
    for turn in range(turns + 1):
        begun = time.perf_counter()
        simulate({"it": (policy, belief)}, surface, HORIZON, seed=turn, engine="compiled", threads=1, progress=False)
        times.append((time.perf_counter() - begun) / HORIZON)
    return float(np.median(times[1:])), len(belief.parts)  # the first compiles


def step_by_step(side: int, *, decisions: int, waiting: int = 0) -> float:
    """Return the median seconds of a decision step by step after some rewards of arms taken at random.

    So many rewards of others are awaited meanwhile.
    """
    surface, belief = problem(side)
    rng, policy, times = np.random.default_rng(1), Gittins(HORIZON), []
    arms = rng.integers(surface.arms, size=SEEN)
    belief = belief.observe(arms, [surface.reward(arm, rng.standard_normal()) for arm in arms.tolist()])
    belief = belief.assume(rng.integers(surface.arms, size=waiting)) if waiting else belief
    for t in range(SEEN + 1, SEEN + decisions + 1):
        begun = time.perf_counter()
        arm = policy.choose(belief, t)
        belief = belief.observe(arm, surface.reward(arm, rng.standard_normal()))
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its table made anew."""
    return marked(text, "told nothing", table(data, "told nothing"))


if __name__ == "__main__":
    main()
