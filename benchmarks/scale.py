"""Many arms: seconds per decision and peak memory, each size in a process of its own.

    python -m benchmarks.scale implicit 1000 1000 500
    python -m benchmarks.scale dense 100 100 1000

Seconds are those of making the prior and of all decisions. The surface is a few smooth hills: a draw from the
kernel would itself need the matrix that the implicit belief avoids.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import KERNEL, MEAN, NOISE_VARIANCE, A
from corrbandits import Correlated, CorrelatedUCL, GaussianBandit, simulate
from corrbandits.environments import landscapes


def surface(rows: int, columns: int) -> GaussianBandit:
    """Return smooth hills over a grid, some of them narrow."""
    where = landscapes.grid(rows, columns)
    centres = np.random.default_rng(1).uniform(0, (rows, columns), size=(8, 2))
    means = np.full(len(where), MEAN)
    for centre, width in zip(centres, np.linspace(2.0, 20.0, len(centres)), strict=True):
        means += 15 * np.exp(-((where - centre) ** 2).sum(axis=1) / (2 * width**2))
    return GaussianBandit(means, NOISE_VARIANCE, where)


def measured(kind: str, rows: int, columns: int, decisions: int) -> dict[str, Any]:
    """Return seconds and peak memory in GiB of a process that takes so many decisions."""
    command = [sys.executable, "-m", "benchmarks.scale", kind, str(rows), str(columns), str(decisions)]
    found: dict[str, Any] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    return found


def available() -> bool:
    """Return whether this version has the implicit belief."""
    import corrbandits

    return hasattr(corrbandits, "Implicit")


def _work(kind: str, environment: GaussianBandit, decisions: int) -> None:
    given: dict[str, Any] = {
        "mean": MEAN,
        "kernel": KERNEL,
        "coordinates": environment.coordinates,
        "noise_variance": NOISE_VARIANCE,
    }
    if kind == "implicit":
        from corrbandits import Implicit

        pair: Any = (CorrelatedUCL(a=A, factor=False), Implicit(**given))
    else:
        pair = (CorrelatedUCL(a=A), Correlated(**given))
    simulate({kind: pair}, environment, decisions, threads=1, progress=False)


def main() -> None:
    kind, rows, columns, decisions = sys.argv[1], *map(int, sys.argv[2:])
    environment = surface(rows, columns)
    _work(kind, surface(4, 4), 4)  # what is compiled is compiled now
    begun = time.perf_counter()
    _work(kind, environment, decisions)
    taken = time.perf_counter() - begun
    print(json.dumps({"seconds": taken, "peak": peak()}))


def peak() -> float:
    """Return the most memory this process has held, in GiB.

    Linux counts a parent's memory into `ru_maxrss` of the process it starts, but not into VmHWM.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 2**20


if __name__ == "__main__":
    main()
