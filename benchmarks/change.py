"""What a drifting step costs beside a stationary one: 100 arms, both in turns, the fastest of each.

    python -m benchmarks.change
    python -m benchmarks.change --quick

A row is a rule on 100 correlated or independent arms. Both beliefs play the same drifting means; the target is a
drifting step within 3 times the stationary one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from benchmarks.timing import Contestant, contest
from corrbandits import (
    UCL,
    ChangingBandit,
    Correlated,
    CorrelatedUCL,
    Drifting,
    Exponential,
    Gittins,
    Independent,
    landscapes,
    series,
    simulate,
)

SCALE = 200.0
"""Of the drift, in steps."""

TARGET = 3.0
"""A drifting step takes at most so many times a stationary one."""


def players(horizon: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each row, its rule and its prior."""
    given = {"kernel": 10 * Exponential(3.0), "coordinates": landscapes.grid(10, 10), "noise_variance": 10.0}
    correlated, independent = Correlated(**given), Independent(variance=10.0, noise_variance=10.0, arms=100)
    yield "UCL, correlated", UCL(), correlated
    yield "CorrelatedUCL, correlated", CorrelatedUCL(), correlated
    yield "Gittins, correlated", Gittins(horizon), correlated
    yield "UCL, independent", UCL(), independent


def contestant(name: str, policy: Any, belief: Any, bandit: ChangingBandit) -> Contestant:
    """Return one run of a rule on a belief."""

    def play() -> None:
        simulate({name: (policy, belief)}, bandit, bandit.horizon, engine="compiled", threads=1, record="summary")

    return Contestant(name, play, bandit.horizon)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.change", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    horizon, rounds = (200, 1) if parser.parse_args().quick else (20_000, 15)
    kernel, where = 10 * Exponential(3.0), landscapes.grid(10, 10)
    bandit = series.drift(kernel, where, steps=horizon, scale=SCALE, noise_variance=10.0, seed=0)
    print(f"{'':28}{'stationary':>12}{'drifting':>12}{'ratio':>8}  (at most {TARGET:g})")
    for name, policy, prior in players(horizon):
        pair = [
            contestant("stationary", policy, prior, bandit),
            contestant("drifting", policy, Drifting(prior=prior, scale=SCALE), bandit),
        ]
        best = contest(pair, bandit.path[:0, 0].astype(int), rounds)
        still, moving = best["stationary"], best["drifting"]
        print(f"{name:28}{1e9 * still:9,.0f} ns{1e9 * moving:9,.0f} ns{moving / still:8.2f}", flush=True)


if __name__ == "__main__":
    main()
