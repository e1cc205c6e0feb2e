"""Many runs on a device: decisions a second, beside all cores of the same machine, JAX and torch.

    python -m benchmarks.gpu [--quick] [--out docs]

A row is a rule and a number of arms; the fastest of some rounds counts. Below them, many arms (`gpu_many`) and the
paper's two figures with 100,000 runs of each policy, beside what all cores say of 1,000: how far apart the means are,
in standard errors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks import gpu_many, gpu_peers
from benchmarks.beside import options
from benchmarks.problems import Problem, correlated, independent, untold
from benchmarks.report import keep, measured_on, number
from benchmarks.timing import load, machine, tell
from corrbandits import (
    GPUCB,
    UCL,
    Gittins,
    HorizonUCL,
    Thompson,
    plots,
    simulate,
)
from corrbandits._core.checks import Array
from corrbandits.environments import landscapes
from corrbandits.paper import reproduction

DATA, PAGE, MARK, PLOT = "gpu.json", "gpu.md", "speed", "gpu.png"
ENGINES = ("GPU", "all cores", "JAX", "torch")
PAPER_RUNS, CPU_RUNS = 100_000, 1_000


@dataclass(frozen=True)
class Row:
    """A problem, how many runs of it the device and the cores play, and how many of so many decisions the peers do."""

    what: str
    problem: Problem
    runs: int
    cpu_runs: int
    peer_runs: int = 0
    peer_horizon: int = 0
    target: float | None = None


def rows(*, quick: bool) -> Iterator[Row]:
    """Yield the rows of the table."""
    part, many, few = (100, 164, 5) if quick else (1, 16_384, 2_048)
    long, short, peers = 10_000 // part, 1_000 // part, {"peer_runs": 2048 // part, "peer_horizon": 300}
    plain, changing = correlated(10, 10, long, factor=False), correlated(10, 10, short, a=300.0)
    yield Row("CorrelatedUCL, printed index", correlated(10, 10, long), many, few, **peers, target=1e8)
    yield Row("CorrelatedUCL, plain index", plain, many, few, **peers, target=2e8)
    yield Row("CorrelatedUCL, no arm twice running", changing, many, few)
    yield Row("Thompson, correlated", replace(changing, policy=Thompson()), many, few)
    for policy, target in ((HorizonUCL(short), 2e6), (Gittins(short), None)):
        what = f"{type(policy).__name__}, told nothing"
        yield Row(what, untold(10, 10, short, policy), many // 2, few // 4, target=target)
    every = untold(10, 10, 300 // part, GPUCB(delta=1e-250))
    yield Row("GPUCB, told nothing, no arm twice running", every, many // 8, max(1, few // 16))
    for side in (15, 20, 30):
        yield Row("CorrelatedUCL, printed index", correlated(side, side, 400 // part), 1056 // part, 128 // part + 1)
    peers["peer_runs"] *= 32
    yield Row("UCL, independent", independent(10, long, UCL()), 32 * many, 4 * few, **peers, target=5e9)
    yield Row("Thompson, independent", independent(10, long, Thompson()), 16 * many, 2 * few)
    yield Row("Gittins, independent", independent(10, long, Gittins(long)), 16 * many, 2 * few)


def per_second(play: Callable[[], Any], decisions: int, rounds: int) -> float:
    """Return the most decisions a second, after a first turn that is not counted."""
    play()
    best = np.inf
    for _ in range(rounds):
        begun = time.perf_counter()
        play()
        best = min(best, time.perf_counter() - begun)
    return decisions / best


def ours(problem: Problem, runs: int, engine: str, pool: Any = None) -> Callable[[], Any]:
    """Return a simulation that keeps the regret at the end, by threads or by a pool of processes."""
    players = {"ours": (problem.policy, problem.prior)}
    kept: dict[str, Any] = {"record": "summary", "times": [problem.horizon], "progress": False, "map": pool}
    return lambda: simulate(players, problem.environment, problem.horizon, runs, engine=engine, **kept)


def measured(row: Row, rounds: int, pool: Any) -> dict[str, Any]:
    """Return decisions a second of everybody who plays a row."""
    problem, found = row.problem, {"what": row.what, "arms": row.problem.arms, "target": row.target}
    for name, engine, runs, way in (("GPU", "gpu", row.runs, None), ("all cores", "compiled", row.cpu_runs, pool)):
        tell(f"{row.what}, {problem.arms} arms: {name}")
        found[name] = per_second(ours(problem, runs, engine, way), runs * problem.horizon, rounds)
    if row.peer_runs:
        short = replace(problem, horizon=min(row.peer_horizon, problem.horizon))
        for name, enter in (("JAX", gpu_peers.in_jax), ("torch", gpu_peers.in_torch)):
            tell(f"  {name}")
            found[name] = _of_peer(enter, short, row.peer_runs)
    return found


def _of_peer(enter: Callable[[Problem], gpu_peers.Play], problem: Problem, runs: int) -> float | None:
    try:
        play = enter(problem)
    except ImportError:
        return None
    return per_second(lambda: play(runs), runs * problem.horizon, 2)


def paper(*, quick: bool) -> dict[str, Any]:
    """Return how long the paper's figures take with many runs, and how far from the cores' their means are."""
    surface, horizon = landscapes.two_peaks(), 500 if quick else reproduction.HORIZON
    seconds, apart, runs = 0.0, [], 1000 if quick else PAPER_RUNS
    for players in (reproduction.well_informed(surface), reproduction.ill_informed(surface)):
        tell(f"the paper's experiment: {runs:,} runs")
        begun = time.perf_counter()
        device = simulate(players, surface, horizon, runs, engine="gpu", record="summary", progress=False)
        seconds += time.perf_counter() - begun
        cores = simulate(players, surface, horizon, CPU_RUNS, engine="compiled", record="summary", progress=False)
        apart.append(_standard_errors(device.regret.values, cores.regret.values)[:, -1])
    return {"runs": runs, "horizon": horizon, "seconds": seconds, "apart": np.concatenate(apart).tolist()}


def _standard_errors(many: Array, few: Array) -> Array:
    """Return how many standard errors the means over runs are apart."""
    error = np.sqrt(many.var(axis=1) / many.shape[1] + few.var(axis=1) / few.shape[1])
    return np.asarray((many.mean(axis=1) - few.mean(axis=1)) / np.where(error > 0, error, 1))


def device_name() -> tuple[str, float]:
    """Return the device, and how many bytes it reads and writes in a second when it copies."""
    from numba import cuda

    a, b = (cuda.device_array(1 << 28) for _ in range(2))

    def copy() -> None:
        for _ in range(10):
            b.copy_to_device(a)
        cuda.synchronize()

    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name), per_second(copy, 10 * 2 * a.nbytes, 3)


def table(data: dict[str, Any]) -> str:
    """Return the table for the page; nothing if nothing was measured."""
    if not data["rows"]:
        return ""
    head = ["rule", "arms", *(f"{name}, M/s" for name in ENGINES), "times all cores", "target, M/s", "met"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 2)}---|"]
    for row in data["rows"]:
        speeds = [number(row[name] / 1e6) if row.get(name) else "" for name in ENGINES]
        target = (
            [number(row["target"] / 1e6), "yes" if row["GPU"] >= row["target"] else "no"] if row["target"] else ["", ""]
        )
        cells = [row["what"], f"{row['arms']:,}", *speeds, number(row["GPU"] / row["all cores"]), *target]
        lines.append(f"| {' | '.join(cells)} |")
    words = [gpu_many.table(data["dense"], data["grid"], data["copied"]), _paper_words(data["paper"])]
    return "\n".join([*lines, "", *(f"{one}\n" for one in words), f"{data['device']}; {measured_on(data)}"])


def _paper_words(paper: dict[str, Any]) -> str:
    largest = max(map(abs, paper["apart"]))
    return (
        f"The paper's two figures with {paper['runs']:,} runs of each policy, {paper['horizon']:,} decisions each: "
        f"{paper['seconds']:.0f} s. The means at the end are at most {largest:.1f} standard errors from those of "
        f"{CPU_RUNS:,} runs by the compiled engine."
    )


def bars(data: dict[str, Any]) -> Figure:
    """Return decisions a second as bars, a group for each row."""
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    ax, shown = figure.subplots(), data["rows"][::-1]
    for place, name in enumerate(ENGINES):
        at = [(i + 0.3 - 0.2 * place, row[name]) for i, row in enumerate(shown) if row.get(name)]
        ax.barh([y for y, _ in at], [speed for _, speed in at], height=0.2, label=name)
    ax.set_xscale("log")
    ax.set_yticks(range(len(shown)), [f"{row['what']},\n{row['arms']:,} arms" for row in shown], fontsize=8)
    ax.set_xlabel("decisions and updates a second")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(ENGINES), frameon=False)
    ax.grid(axis="x", alpha=0.3)
    return figure


def save(data: dict[str, Any], directory: Path) -> None:
    """Write the data, the page and the plot into a directory, the documentation's or another."""
    keep(data, directory, DATA, PAGE, MARK, table(data))
    plots.save(bars(data), directory / PLOT)


def main() -> None:
    asked = options("python -m benchmarks.gpu", __doc__.splitlines()[0])
    before, rounds = load(), 1 if asked.quick else 2
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        found = [measured(row, rounds, pool) for row in rows(quick=asked.quick)]
    many = list(map(gpu_many.dense, gpu_many.QUICK if asked.quick else gpu_many.MANY))
    grid = gpu_many.on_grid(30, 20) if asked.quick else gpu_many.on_grid(gpu_many.SIDE, gpu_many.SAMPLED)
    name, copied = device_name()
    data = {
        "machine": machine(),
        "device": name,
        "copied": copied,
        "load": [before, load()],
        "rows": found,
        "dense": many,
        "grid": grid,
        "paper": paper(quick=asked.quick),
    }
    print(table(data))
    if asked.out:
        save(data, asked.out)


if __name__ == "__main__":
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves memory to the others
    main()
