"""Contests: the contestants take turns, each time counts, the fastest of each is kept."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from corrbandits._core.checks import Integers

PACKAGES = (
    "corrbandits",
    "numpy",
    "numba",
    "scipy",
    "jax",
    "scikit-learn",
    "torch",
    "botorch",
    "gpytorch",
    "bayesianbandits",
    "pymab",
    "river",
    "optuna",
)


@dataclass(frozen=True)
class Contestant:
    """Something that takes so many decisions when it is called, and returns the arms if they must equal ours."""

    name: str
    play: Callable[[], Any]
    decisions: int
    same: bool = False
    threads: int = 1


@dataclass(frozen=True)
class Missing:
    """A contestant that could not take part, and why."""

    name: str
    reason: str


def entered(name: str, enter: Callable[[], Contestant]) -> Contestant | Missing:
    """Return the contestant, or why it is not there: its package or compiler is not installed."""
    try:
        return enter()
    except (ImportError, FileNotFoundError) as error:
        return Missing(name, f"not installed: {error}")


def contest(contestants: Sequence[Contestant], arms: Integers, repetitions: int) -> dict[str, float]:
    """Return each one's least seconds per decision, after a first turn that must choose these arms where it should."""
    for one in contestants:
        tell(f"  {one.name}")
        chosen = one.play()
        if one.same and not np.array_equal(chosen, arms[: len(chosen)]):
            first = int(np.flatnonzero(chosen != arms[: len(chosen)])[0])
            raise AssertionError(f"{one.name} chooses otherwise than corrbandits, first at decision {first + 1}.")
    best = {one.name: np.inf for one in contestants}
    for repetition in range(repetitions):
        tell(f"  round {repetition + 1} of {repetitions}", end="\r")
        for one in contestants:
            taken, cores = turn(one.play)
            best[one.name] = min(best[one.name], taken / one.decisions)
            if cores > one.threads + 0.2:
                tell(f"  {one.name} keeps {cores:.1f} cores busy, more than its {one.threads}")
    tell("")
    return best


def turn(work: Callable[[], Any]) -> tuple[float, float]:
    """Return how long it takes, and how many cores it keeps busy meanwhile."""
    begun, worked = time.perf_counter(), time.process_time()
    work()
    taken = time.perf_counter() - begun
    return taken, (time.process_time() - worked) / taken


def tell(text: str, end: str = "\n") -> None:
    """Say where we are."""
    print(text, end=end, file=sys.stderr, flush=True)


def load() -> float:
    """Return the machine's load over the last minute."""
    return round(os.getloadavg()[0], 2)


def machine() -> dict[str, Any]:
    """Return what is measured on, and with which versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
