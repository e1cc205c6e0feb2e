"""Games that differ at once on a device, as a stress test and the arena have them played, beside all cores.

    python -m benchmarks.gpu_games [--quick] [--out docs]

Of each kind the same games are played by both, under the same noise. To make them, above all the beliefs, takes as long
whoever plays: it is timed apart, on one core. What the device is told of them, and the noise, is in its time. All cores
have a process each, which plays its share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.beside import options
from benchmarks.gpu import device_name
from benchmarks.problems import KERNEL, MEAN, NOISE_VARIANCE, A
from benchmarks.report import duration, keep, measured_on, number
from benchmarks.timing import load, machine, tell
from corrbandits import Correlated, CorrelatedUCL, GaussianBandit, Gittins, Vague
from corrbandits._core.single_thread import one_thread
from corrbandits.environments import landscapes
from corrbandits.simulation.engines import ENGINES, Recorded, Runs

DATA, PAGE, MARK = "gpu-games.json", "gpu.md", "games"
DEVICE, CORES = "gpu-same-noise", "compiled"


def stressed(seed: int, horizon: int) -> Runs:
    """Return a run of a stress test: the paper's arms in an order of its own, and a prior whose means are wrong."""
    rng, surface = np.random.default_rng(seed), landscapes.two_peaks(NOISE_VARIANCE)
    order = rng.permutation(surface.arms)
    mean = surface.means[order] + rng.standard_normal(surface.arms)
    where = np.asarray(surface.coordinates)[order]
    prior = Correlated(mean=mean, kernel=KERNEL, coordinates=where, noise_variance=NOISE_VARIANCE)
    bandit = GaussianBandit(surface.means[order], NOISE_VARIANCE)
    return Runs(CorrelatedUCL(a=A), prior, bandit, horizon, seed, 0, 1, np.array([horizon]))


def untold(seed: int, horizon: int) -> Runs:
    """Return a game of the arena: 60 to 160 arms somewhere, by a rule that is told no more than where."""
    rng = np.random.default_rng(seed)
    where = 10 * rng.random((int(rng.integers(60, 161)), 2))
    bandit = landscapes.draw(KERNEL, where, noise_variance=NOISE_VARIANCE, seed=seed, mean=MEAN)
    return Runs(Gittins(horizon), Vague(coordinates=where), bandit, horizon, seed, 0, 1)


@dataclass(frozen=True)
class Row:
    """How a game is made of a seed and a horizon, and how many of them are played."""

    what: str
    make: Callable[[int, int], Runs]
    games: int
    horizon: int

    def made(self, seeds: Sequence[int]) -> list[Runs]:
        """Return the games of these seeds."""
        with one_thread():
            return [self.make(seed, self.horizon) for seed in seeds]


def rows(*, quick: bool) -> Iterator[Row]:
    """Yield the rows of the table."""
    part = 64 if quick else 1
    for horizon in (1_000, 10_000):
        yield Row("CorrelatedUCL, printed index, a prior each", stressed, 2_048 // part, horizon // part)
    for horizon in (1_000, 10_000):
        yield Row("Gittins, told nothing", untold, 512 // part, horizon // part)


def played(games: Sequence[Runs], engine: str) -> tuple[list[Recorded], float]:
    """Return what an engine records of games, and how many seconds it takes."""
    into = [game.room() for game in games]
    begun = time.perf_counter()
    ENGINES[engine].play_each(games, into, lambda _: None)
    return into, time.perf_counter() - begun


def share(row: Row, seeds: Sequence[int]) -> tuple[list[Recorded], float]:
    """Return the same of what a core plays, once its loop is compiled: the work of another process."""
    games = row.made(seeds)
    played(games[:1], CORES)
    return played(games, CORES)


def measured(row: Row, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Return seconds to make the games and to play them, on the device and on all cores, and how many end alike."""
    tell(f"{row.what}, {row.games:,} games of {row.horizon:,} decisions")
    begun = time.perf_counter()
    games = row.made(range(row.games))
    made, cores = time.perf_counter() - begun, os.cpu_count() or 1
    played(games, DEVICE)  # the first time it is compiled
    there, device = played(games, DEVICE)
    shares = [range(first, row.games, cores) for first in range(min(cores, row.games))]
    here = [*pool.map(share, [row] * len(shares), shares)]
    alike = sum(
        np.array_equal(there[seed]["counts"], one["counts"])
        for seeds, (found, _) in zip(shares, here, strict=True)
        for seed, one in zip(seeds, found, strict=True)
    )
    arms = [most(game.belief.arms for game in games) for most in (min, max)]
    times = {"made": made, "GPU": device, "all cores": max(seconds for _, seconds in here)}
    return {"what": row.what, "games": row.games, "horizon": row.horizon, "arms": arms, "alike": int(alike), **times}


def table(data: dict[str, Any]) -> str:
    """Return the table for the page; nothing if nothing was measured."""
    if not data["rows"]:
        return ""
    head = ["games at once", "arms", "games", "decisions each", "to make them, one core", "GPU", "all cores",
            "times all cores", "that end alike"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    for row in data["rows"]:
        few, many = row["arms"]
        cells = [
            row["what"],
            f"{few}" if few == many else f"{few} to {many}",
            f"{row['games']:,}",
            f"{row['horizon']:,}",
        ]
        cells += [duration(row[name]) for name in ("made", "GPU", "all cores")]
        cells += [number(row["all cores"] / row["GPU"]), f"{row['alike']:,}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{data['device']}; {measured_on(data)}"])


def main() -> None:
    asked, before = options("python -m benchmarks.gpu_games", __doc__.splitlines()[0]), load()
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        found = [measured(row, pool) for row in rows(quick=asked.quick)]
    data = {"machine": machine(), "device": device_name()[0], "load": [before, load()], "rows": found}
    print(table(data))
    if asked.out:
        keep(data, asked.out, DATA, PAGE, MARK, table(data))


if __name__ == "__main__":
    main()
