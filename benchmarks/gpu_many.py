"""Many correlated arms on a device: how near a decision comes to the speed of a copy, and a million arms on a grid.

Limits are so wide that every decision changes the arm. The printed index then needs every covariance, and the update
changes every one: half the covariance is read and written, 8 N (N - 1) bytes, unless some updates wait and are made at
once. `moved` is what our layout moves: half the covariance in strips, read at every decision and written once for all
updates that may wait.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.problems import KERNEL, MEAN, NOISE_VARIANCE, WIDE
from benchmarks.report import duration, number
from benchmarks.timing import tell
from corrbandits import Correlated, CorrelatedUCL, GaussianBandit, Implicit
from corrbandits.environments import landscapes
from corrbandits.simulation.engines import Runs
from corrbandits.simulation.engines.gpu import strips, team
from corrbandits.simulation.engines.gpu.game import game_of
from corrbandits.simulation.engines.gpu.refusing import PRINTED


@dataclass(frozen=True)
class Many:
    """Arms in rows and columns, runs that are played at once, decisions that are timed, and what is asked."""

    rows: int
    columns: int
    runs: int
    steps: int
    seconds: float | None = None
    share: float | None = None


MANY = (
    Many(20, 20, 2112, 200),
    Many(30, 30, 1056, 120),
    Many(25, 40, 1056, 120, share=0.9),
    Many(64, 64, 1, 1000),
    Many(128, 128, 1, 300, seconds=650e-6, share=0.9),
)
QUICK = (Many(18, 18, 4, 5, share=0.9),)
SIDE, SAMPLED, GRID_SECONDS = 1000, 500, 5e-3
"""The sides of the grid of a million arms, how many of them were sampled, and the time that a decision should take."""


def dense(many: Many) -> dict[str, Any]:
    """Return seconds of a decision by the printed index among correlated arms, and the bytes that it moves."""
    arms, begun = many.rows * many.columns, 13
    tell(f"{arms:,} correlated arms, {many.runs} runs at once")
    where, rng = landscapes.grid(many.rows, many.columns), np.random.default_rng(0)
    mean, means = rng.normal(MEAN, 1.0, arms), rng.normal(MEAN, 3.0, arms)
    prior = Correlated(mean=mean, kernel=KERNEL, coordinates=where, noise_variance=NOISE_VARIANCE)
    bandit, last = GaussianBandit(means, NOISE_VARIANCE), begun + many.steps
    playing = Runs(CorrelatedUCL(a=WIDE), prior, bandit, last, 0, 0, many.runs)
    into = playing.room()
    seconds = timed(playing, (0, 3, begun, last), into)
    strip = strips.WIDE * strips.first_row(strips.strips_of(arms), strips.whole_rows(arms))
    return {
        "arms": arms,
        "runs": many.runs,
        "seconds": seconds / many.steps / many.runs,
        "bytes": 8 * arms * (arms - 1),
        "moved": 8 * strip * (1 + 1 / team.waiting_for(PRINTED)),
        "changes": float((np.diff(into["arms"]) != 0).mean()),
        "asked": {"seconds": many.seconds, "share": many.share},
    }


def timed(playing: Runs, times: tuple[int, ...], into: Any) -> float:
    """Return how long the last of some launches takes, from one time to the next each."""
    game = game_of(playing, same_noise=False)
    for first, last in pairwise(times):
        begun = time.perf_counter()
        game.advance(first, last, into)
    return time.perf_counter() - begun


def on_grid(side: int, sampled: int) -> dict[str, Any]:
    """Return seconds of a decision by the plain index on a grid of arms without a matrix, after so many."""
    arms, around = side * side, min(10, sampled // 2)
    tell(f"{arms:,} arms on a grid")
    where, rng = landscapes.grid(side, side), np.random.default_rng(0)
    mean, means = rng.normal(MEAN, 1.0, arms), rng.normal(MEAN, 3.0, arms)
    prior = Implicit(mean=mean, kernel=KERNEL, coordinates=where, noise_variance=NOISE_VARIANCE)
    rule = CorrelatedUCL(a=WIDE, factor=False)
    playing = Runs(rule, prior, GaussianBandit(means, NOISE_VARIANCE), sampled + around, 0, 0, 1)
    into = playing.room()
    seconds = timed(playing, (0, sampled - around, sampled + around), into) / (2 * around)
    seen = np.unique(into["arms"][0, :sampled]).size
    return {"arms": arms, "sampled": int(seen), "seconds": seconds, "asked": {"seconds": GRID_SECONDS}}


def table(rows: list[dict[str, Any]], grid: dict[str, Any], copied: float) -> str:
    """Return a table of the dense rows, and a sentence on the grid."""
    head = ["correlated arms", "runs at once", "a decision", "M/s", "half, read and written, TB/s", "of a copy",
            "moved, TB/s", "of a copy", "target", "met"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"|{'--:|' * (len(head) - 2)}---|---|", *(_line(row, copied) for row in rows)]
    return "\n".join([*lines, "", _grid_words(grid)])


def _line(row: dict[str, Any], copied: float) -> str:
    speeds = [row[name] * row["changes"] / row["seconds"] for name in ("bytes", "moved")]
    shares = [f"{speed / copied:.0%}" for speed in speeds]
    asked = row["asked"]
    words = [f"half at {asked['share']:.0%} of a copy"] if asked["share"] else []
    words += [duration(asked["seconds"])] if asked["seconds"] else []
    met = (not asked["share"] or speeds[0] >= asked["share"] * copied) and (
        not asked["seconds"] or row["seconds"] <= asked["seconds"]
    )
    cells = [f"{row['arms']:,}", f"{row['runs']:,}", duration(row["seconds"]), number(1e-6 / row["seconds"])]
    cells += [f"{speeds[0] / 1e12:.2f}", shares[0], f"{speeds[1] / 1e12:.2f}", shares[1]]
    cells += [", ".join(words), ("yes" if met else "no") if words else ""]
    return f"| {' | '.join(cells)} |"


def _grid_words(grid: dict[str, Any]) -> str:
    asked = grid["asked"]["seconds"]
    return (
        f"{grid['arms']:,} arms on a grid, implicit belief, plain index, {grid['sampled']:,} sampled: "
        f"{duration(grid['seconds'])} a decision. The target is {duration(asked)}: "
        f"{'met' if grid['seconds'] <= asked else 'not met'}."
    )
