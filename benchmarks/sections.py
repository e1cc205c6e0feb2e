"""What is measured, section by section: each returns rows of the table."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks import loops, peers, problems, scale
from benchmarks.problems import Problem
from benchmarks.report import CHANGING, CORRELATED, OURS, PLAIN, SCALE, Row
from benchmarks.timing import Contestant, Missing, contest, entered, tell
from corrbandits import UCL
from corrbandits._core.checks import Array, Integers

NAIVE, IN_PLACE, STEPS = "naive NumPy", "in-place NumPy", "corrbandits, step by step"
NAIVE_ALONE = "naive NumPy, in a process of its own"
C, JAX, SKLEARN, BOTORCH = "C", "JAX scan", "scikit-learn", "BoTorch"
AT_LEAST = {
    (NAIVE, 100): 13,
    (NAIVE, 1000): 20,
    (NAIVE_ALONE, 1000): 20,
    (IN_PLACE, 100): 9,
    (IN_PLACE, 1000): 7,
    (SKLEARN, 100): 400,
    (BOTORCH, 100): 1000,
}


@dataclass(frozen=True)
class Sizes:
    """How much is done: grids with their decisions, our runs and the rounds; and the other sections' numbers."""

    grids: tuple[tuple[int, int, int, int, int], ...] = ((10, 10, 2_000, 15, 40), (25, 40, 500, 3, 15))
    plain: tuple[int, int, int] = (150, 100, 12)  # decisions, our runs, rounds
    distinct: tuple[int, ...] = (10, 100, 1_000)
    distinct_rounds: int = 12
    threads: tuple[int, int, int] = (20_000, 20, 10)  # decisions, runs, rounds
    long: int = 20_000
    independent: tuple[int, int, int, int] = (2_000, 100, 10, 10)  # decisions, our runs, PyMAB's runs, rounds
    implicit: tuple[int, ...] = (100, 178, 316, 562, 1_000)  # sides of square grids
    implicit_decisions: int = 500
    dense: tuple[int, int] = (100, 1_000)  # side, decisions


QUICK = Sizes(
    grids=((4, 5, 100, 3, 2), (6, 6, 50, 2, 2)),
    plain=(10, 3, 2),
    distinct=(10, 36),
    distinct_rounds=2,
    threads=(1_000, 4, 2),
    long=400,
    independent=(100, 3, 2, 2),
    implicit=(20, 40, 80),
    implicit_decisions=10,
    dense=(20, 20),
)


def as_printed(sizes: Sizes, directory: Path) -> Iterable[Row]:
    """Time the printed index: ours, compiled and step by step, against NumPy, C and JAX.

    Last on a problem where no arm is taken twice running: our engine carries the rewards of an arm that is into the
    matrix together, which the others do one by one.
    """
    for rows, columns, horizon, runs, rounds in sizes.grids:
        problem = problems.correlated(rows, columns, horizon)
        yield from _as_printed(problem, f"{CORRELATED} {problem.arms}", runs, rounds, directory)
    rows, columns, horizon, runs, rounds = sizes.grids[0]
    problem = problems.correlated(rows, columns, horizon, a=problems.WIDE)
    yield from _as_printed(problem, f"{CHANGING} {problem.arms}", runs, rounds, directory)


def _as_printed(problem: Problem, section: str, runs: int, rounds: int, directory: Path) -> Iterable[Row]:
    noises = [problem.eps(run) for run in range(runs)]

    def entry(name: str, make: Callable[[], loops.Loop], several: bool = False) -> Contestant | Missing:
        return entered(name, lambda: _contestant(name, make(), *noises[: runs if several else 1]))

    entries = [
        _ours(problem, runs),
        entry(STEPS, lambda: loops.step_by_step(problem)),
        entry(C, lambda: loops.in_c(problem, loops.built_c(directory)), several=True),
        entry(JAX, lambda: loops.jax_scan(problem)),
        entry(IN_PLACE, lambda: loops.in_place(problem)),
        entry(NAIVE, lambda: loops.naive(problem)),
    ]
    best = _held(section, entries, problem, rounds)
    if problem.arms >= 1000:
        entries.append(Contestant(NAIVE_ALONE, lambda: None, problem.horizon))
        best[NAIVE_ALONE] = min(_alone(problem) for _ in range(5))
    for row in _rows(section, problem.arms, entries, best):
        if row.what == OURS:
            yield _with_changes(row, problem)
        elif row.what == C and row.seconds and problem.arms in (100, 1000):
            yield _aimed(row, "corrbandits ≤ 1.3 × C", operator.le, 1.3, best[OURS] / row.seconds)
        elif row.what == STEPS and problem.arms == 100:
            yield _aimed(row, "≤ 1.5 × in-place NumPy", operator.le, 1.5, best[STEPS] / best[IN_PLACE])
        else:
            yield row


def _alone(problem: Problem) -> float:
    """Return the seconds per decision of the naive loop as the first thing that a new interpreter does."""
    tell(f"  {NAIVE_ALONE}")
    code = f"from benchmarks import loops; loops.time_naive({problem.environment.shape}, {problem.horizon})"
    return float(subprocess.check_output([sys.executable, "-c", code], cwd=Path(__file__).parent.parent))


def _with_changes(row: Row, problem: Problem) -> Row:
    """Return the row with the share of decisions at which another arm is taken than before."""
    share = (np.diff(problem.play(1)[0]) != 0).mean()
    return replace(row, note=f"the arm changes at {share:.0%} of decisions")


def growth(sizes: Sizes) -> Iterable[Row]:
    """Time the step-by-step interface early and late in a long run: it must not grow with t."""
    rows, columns, *_ = sizes.grids[0]
    problem = problems.correlated(rows, columns, sizes.long)
    tell(f"step by step, {sizes.long:,} decisions")
    times, belief, begun = [], problem.prior, time.perf_counter()
    for t, noise in enumerate(problem.eps().tolist(), start=1):
        arm = problem.policy.choose(belief, t)
        belief = belief.observe(arm, problem.environment.reward(arm, noise))
        if t % 100 == 0:
            now = time.perf_counter()
            times.append((now - begun) / 100)
            begun = now
    quarter = len(times) // 4
    first, last = np.median(times[:quarter]), np.median(times[-quarter:])
    row = Row("growth", f"{STEPS}, last quarter of {sizes.long:,}", problem.arms, float(last))
    yield Row("growth", f"{STEPS}, first quarter of {sizes.long:,}", problem.arms, float(first))
    yield _aimed(row, "≤ 1.1 × the first quarter", operator.le, 1.1, float(last / first))


def plain(sizes: Sizes) -> Iterable[Row]:
    """Time the plain index against Gaussian process packages, which choose the same arms, and a linear bandit."""
    horizon, runs, rounds = sizes.plain
    rows, columns, *_ = sizes.grids[0]
    problem = problems.correlated(rows, columns, horizon, factor=False)
    section, eps = f"{PLAIN} {problem.arms}", problem.eps()

    def gaussian_process(name: str, make: Callable[[Problem], peers.Posterior]) -> Contestant | Missing:
        return entered(name, lambda: _contestant(name, peers.aggregating(problem, make(problem)), eps))

    def linear(rule: str) -> Contestant | Missing:
        name = f"bayesianbandits, {rule}"
        return entered(name, lambda: _contestant(name, peers.bayesianbandits(problem, rule), eps, same=False))

    entries = [
        _ours(problem, runs),
        gaussian_process(SKLEARN, peers.scikit_learn),
        gaussian_process(BOTORCH, peers.botorch),
        linear("Thompson sampling"),
        linear("UpperConfidenceBound"),
    ]
    for row in _rows(section, problem.arms, entries, _held(section, entries, problem, rounds)):
        yield _with_changes(row, problem) if row.what == OURS else row


def distinct(sizes: Sizes) -> Iterable[Row]:
    """Time one decision among many arms once so many distinct ones have been seen, each once."""
    rows, columns, horizon, runs, _ = sizes.grids[-1]
    whole = problems.correlated(rows, columns, horizon, factor=False)
    for number in sizes.distinct:
        rng = np.random.default_rng(3)
        counts, sums = np.zeros(whole.arms), np.zeros(whole.arms)
        seen = np.sort(rng.permutation(whole.arms)[:number])
        counts[seen] = 1
        sums[seen] = whole.environment.means[seen] + np.sqrt(problems.NOISE_VARIANCE) * rng.standard_normal(number)
        problem = replace(whole, prior=whole.prior.observe(seen, sums[seen]))

        def peer(
            name: str, make: Callable[[Problem], peers.Posterior], counts: Array = counts, sums: Array = sums
        ) -> Contestant | Missing:
            def enter() -> Contestant:
                posterior, width = make(whole), float(whole.widths[0])
                return Contestant(
                    name, lambda: np.array([peers.decide(posterior, whole.prior.mean, counts, sums, width)]), 1, True
                )

            return entered(name, enter)

        section = f"{PLAIN} {whole.arms} distinct"
        entries = [_ours(problem, runs), peer(SKLEARN, peers.scikit_learn), peer(BOTORCH, peers.botorch)]
        best = _held(f"{section} {number}", entries, problem, sizes.distinct_rounds)
        for row in _rows(section, whole.arms, entries, best):
            noted = _with_changes(row, problem) if row.what == OURS else row
            yield replace(noted, what=f"{row.what}, {number:,} distinct arms seen")


def threads(sizes: Sizes) -> Iterable[Row]:
    """Time many runs on one thread and on two."""
    horizon, runs, rounds = sizes.threads
    rows, columns, *_ = sizes.grids[0]
    problem = problems.correlated(rows, columns, horizon)
    one = Contestant(OURS, lambda: problem.play(runs), horizon * runs)
    two = Contestant(f"{OURS}, two threads", lambda: problem.play(runs, threads=2), horizon * runs, threads=2)
    if (os.cpu_count() or 1) < 2:
        yield Row("threads", two.name, problem.arms, note="not measured: one core")
        return
    tell("threads")
    best = contest([one, two], problem.play(1)[0], rounds)
    for row in _rows("threads", problem.arms, [one, two], best):
        if row.what == two.name and problem.arms == 100:
            yield _aimed(row, "≥ 1.8 × one thread", operator.ge, 1.8, best[OURS] / best[two.name])
        else:
            yield row


def unrelated(sizes: Sizes) -> Iterable[Row]:
    """Time independent arms against packages for these; each chooses by its own rule."""
    horizon, runs, pymab_runs, rounds = sizes.independent
    for arms in (10, 100):
        problem = problems.independent(arms, horizon, UCL(a=1.0))
        section, eps = f"independent {arms}", problem.eps()

        def simulated(problem: Problem = problem) -> Contestant:
            play = peers.pymab(problem)
            return Contestant("PyMAB, its simulation", lambda: play(pymab_runs), horizon * pymab_runs)

        def stepped(
            name: str, make: Callable[[Problem], loops.Loop], problem: Problem = problem, eps: Array = eps
        ) -> Contestant | Missing:
            return entered(name, lambda: _contestant(name, make(problem), eps, same=False))

        entries = [
            _ours(problem, runs),
            stepped("PyMAB, step by step", peers.pymab_steps),
            entered("PyMAB, its simulation", simulated),
            stepped("river", peers.river),
        ]
        yield from _rows(section, arms, entries, _held(section, entries, problem, rounds))


def many_arms(sizes: Sizes) -> Iterable[Row]:
    """Time the implicit belief from 10^4 to 10^6 arms and the dense one at 10^4; each in its own process."""
    for side in sizes.implicit if scale.available() else ():
        yield _scale_row("implicit belief, plain index", "implicit", side, sizes.implicit_decisions, (1_000, 120, 6))
    if not scale.available():
        yield Row(SCALE, "implicit belief, plain index", 10**6, note="not in this version")
    side, decisions = sizes.dense
    yield _scale_row("dense belief, printed index", "dense", side, decisions, (100, 300, 3))


def _scale_row(what: str, kind: str, side: int, decisions: int, limit: tuple[int, int, int]) -> Row:
    tell(f"{what}, {side**2:,} arms")
    found = scale.measured(kind, side, side, decisions)
    used = f"{decisions:,} decisions: {found['seconds']:,.1f} s, {found['peak']:.2f} GiB"
    row = Row(SCALE, what, side**2, found["seconds"] / decisions, note=used)
    aimed_side, most_seconds, most_memory = limit
    if side != aimed_side:
        return row
    target = f"{decisions:,} decisions within {most_seconds // 60} min, {most_memory} GiB"
    return replace(row, target=target, met=found["seconds"] <= most_seconds and found["peak"] <= most_memory)


def _ours(problem: Problem, runs: int) -> Contestant:
    return Contestant(OURS, lambda: problem.play(runs), problem.horizon * runs)


def _contestant(name: str, loop: loops.Loop, *noises: Array, same: bool = True) -> Contestant:
    """Return a contestant that plays a run for each noise; fast ones play several, so that turns are of like length."""

    def play() -> Integers:
        first, *_ = [loop(eps) for eps in noises]
        return first

    return Contestant(name, play, sum(map(len, noises)), same)


def _held(title: str, entries: list[Contestant | Missing], problem: Problem, rounds: int) -> dict[str, float]:
    """Hold the contest of those who came; the arms to choose are those of our first run."""
    tell(title)
    present = [entry for entry in entries if isinstance(entry, Contestant)]
    return contest(present, problem.play(1)[0], rounds)


def _rows(section: str, arms: int, entries: Iterable[Contestant | Missing], best: dict[str, float]) -> Iterable[Row]:
    for entry in entries:
        if isinstance(entry, Missing):
            yield Row(section, entry.name, arms, note=entry.reason)
            continue
        row = Row(section, entry.name, arms, best[entry.name], best[entry.name] / best[OURS])
        least = AT_LEAST.get((entry.name, arms)) if "distinct" not in section else None
        yield row if least is None else replace(row, target=f"≥ {least:,}", met=best[entry.name] / best[OURS] >= least)


def _aimed(row: Row, target: str, holds: Callable[[float, float], bool], bound: float, value: float) -> Row:
    return replace(row, target=target, compared=value, met=holds(value, bound))


TITLES = {
    "growth": "Step by step, early and late in a long run",
    "threads": "Many runs, one thread and two",
    SCALE: "Many arms",
}


def title(section: str) -> str:
    """Return the heading of a section's rows."""
    if section in TITLES:
        return TITLES[section]
    kind, number = section.removesuffix(" distinct").rsplit(" ", 1)
    printed = "Correlated arms, printed index"
    what = {CORRELATED: printed, CHANGING: printed, PLAIN: "Correlated arms, plain index"}
    ending = ", one decision" if section.endswith("distinct") else ", no arm twice running" if kind == CHANGING else ""
    return f"{what.get(kind, 'Independent arms')}, {int(number):,} arms{ending}"
