"""Seconds and peak memory of the bounds for many arms with a dense prior.

    python benchmarks/bounds.py

Each size runs in a process of its own. "all": every arm must be initialised (variance 10, noise 1); "none": no arm
is (variance 1, noise 1). The prior is an exponential kernel of length 1 on a grid, the bound the corrected Theorem 2
for the printed index, which needs all there is: the factorisation, the conditional variances, the initialisation.
Seconds are those of the bound; the peak is that of the process, the belief and its making included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time

import numpy as np

from corrbandits import Correlated, CorrelatedUCL, Exponential, GaussianBandit, theory

SIZES = (1_000, 3_000, 10_000)


def main() -> None:
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    print(f"{'arms':>7} {'initialised':>12} {'belief (s)':>11} {'bound (s)':>10} {'peak (GiB)':>11}")
    for arms in SIZES:
        for variance in (10.0, 1.0):
            subprocess.run([sys.executable, __file__, str(arms), str(variance)], check=True)
    print(f"load {os.getloadavg()[0]:.2f}")


def measure(arms: int, variance: float) -> None:
    side = int(np.ceil(np.sqrt(arms)))
    grid = np.array([[x, y] for x in range(side) for y in range(side)], dtype=float)[:arms]
    means = np.random.default_rng(1).normal(size=arms)
    begun = time.perf_counter()
    prior = Correlated(mean=0.0, kernel=variance * Exponential(1.0), coordinates=grid, noise_variance=1.0)
    made = time.perf_counter()
    theory.correlated_bound(GaussianBandit(means, noise_variance=1.0), prior, CorrelatedUCL(a=2.0), horizon=10**6)
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    taken = len(theory.initialisation(prior, 1.0)) if arms <= min(SIZES) else "all" if variance > 1 else "none"
    print(f"{arms:7,} {taken:>12} {made - begun:11.1f} {ended - made:10.1f} {peak:11.2f}", flush=True)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else measure(int(sys.argv[1]), float(sys.argv[2]))
