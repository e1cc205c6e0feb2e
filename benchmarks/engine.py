"""Steps per second of the compiled engine against a naive NumPy loop, in one run on the same work.

    python benchmarks/engine.py

Prints ratios, each from the fastest of several interleaved repetitions, and the machine's load before and after.
BLAS runs on one thread. The naive loop is what one writes from the paper: S - c v v', then (S * S) @ (1 / diag S),
then the largest limit.
"""

from __future__ import annotations

import os
import time

import numpy as np

from corrbandits import Correlated, CorrelatedUCL, Exponential, landscapes, simulate
from corrbandits.blas import one_thread
from corrbandits.checks import Array

REPETITIONS = 10
NAIVE_STEPS, COMPILED_STEPS = 1_000, 20_000
ARMS_PER_SIDE = 10


def naive(mean: Array, S: Array, noise_variance: float, widths: Array, true_means: Array, eps: Array) -> list[int]:
    """Return the arms the loop written from the paper takes (no initialisation: variances start at its threshold)."""
    mu, arms, W = mean, [], (S * S) @ (1 / S.diagonal())
    for width, noise in zip(widths, eps, strict=True):
        arm = int(np.argmax(mu + np.sqrt(W) * width))
        reward = true_means[arm] + np.sqrt(noise_variance) * noise
        v = S[arm]
        c = 1 / (noise_variance + v[arm])
        mu = mu + c * v * (reward - mu[arm])
        S = S - c * np.outer(v, v)
        W = (S * S) @ (1 / S.diagonal())
        arms.append(arm)
    return arms


def main() -> None:
    surface = landscapes.two_peaks()
    policy = CorrelatedUCL(a=3.284)
    prior = Correlated(mean=30.0, kernel=10 * Exponential(4.0), coordinates=surface.coordinates, noise_variance=10.0)
    widths = policy.width(np.arange(1, NAIVE_STEPS + 1), surface.arms)
    players = {"correlated": (policy, prior)}

    def naive_step() -> float:
        stream = np.random.SeedSequence(0, spawn_key=(0,)).spawn(2)[0]
        eps = surface.noise(np.random.default_rng(stream), NAIVE_STEPS)
        return _seconds(lambda: naive(prior.mean, prior.covariance, 10.0, widths, surface.means, eps)) / NAIVE_STEPS

    def compiled_step(threads: int, runs: int) -> float:
        return (
            _seconds(lambda: simulate(players, surface, COMPILED_STEPS, runs, threads=threads)) / COMPILED_STEPS / runs
        )

    compiled_step(1, 1)
    load = os.getloadavg()[0]
    times: dict[str, list[float]] = {"naive NumPy": [], "compiled, 1 thread": [], "compiled, 2 threads": []}
    with one_thread():
        for _ in range(REPETITIONS):
            times["naive NumPy"].append(naive_step())
            times["compiled, 1 thread"].append(compiled_step(1, 20))
            times["compiled, 2 threads"].append(compiled_step(2, 20))
    best = {name: min(seconds) for name, seconds in times.items()}
    print(f"correlated UCL as printed, {surface.arms} arms; load {load:.2f} before, {os.getloadavg()[0]:.2f} after")
    for name, seconds in best.items():
        ratio = best["naive NumPy"] / seconds
        print(f"  {name:<20} {seconds * 1e6:8.2f} us per step   {ratio:6.1f} times the naive loop's steps per second")
    print(f"  two threads against one: {best['compiled, 1 thread'] / best['compiled, 2 threads']:.2f} times")


def _seconds(work) -> float:  # type: ignore[no-untyped-def]
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
