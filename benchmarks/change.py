"""What a drifting step costs beside a stationary one: 100 arms, both in turns, the fastest of each.

    python -m benchmarks.change [--quick] [--out docs]

A row is a rule on 100 correlated or independent arms, or on such of which nothing is told. Both beliefs play the same
drifting means; the target is a drifting step within 3 times the stationary one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.beside import Beside, options
from benchmarks.timing import Contestant, contest, load, tell
from corrbandits import (
    UCL,
    ChangingBandit,
    Correlated,
    CorrelatedUCL,
    Drifting,
    Exponential,
    Gittins,
    Independent,
    Vague,
    landscapes,
    series,
    simulate,
)

SCALE = 200.0
"""Of the drift, in steps."""

BESIDE = Beside(
    "rule and arms", "stationary", "drifting", most=3.0, data="change-speed.json", page="change.md", mark="speed"
)
"""A drifting step takes at most 3 times a stationary one."""


def players(horizon: int) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the name of each row, its rule, its stationary belief and the drifting one."""
    given = {"kernel": 10 * Exponential(3.0), "coordinates": landscapes.grid(10, 10), "noise_variance": 10.0}
    correlated, independent = Correlated(**given), Independent(variance=10.0, noise_variance=10.0, arms=100)
    rows = {
        "UCL, correlated": (UCL(), correlated),
        "CorrelatedUCL, correlated": (CorrelatedUCL(), correlated),
        "Gittins, correlated": (Gittins(horizon), correlated),
        "UCL, independent": (UCL(), independent),
    }
    for name, (policy, prior) in rows.items():
        yield name, policy, prior, Drifting(prior=prior, scale=SCALE)
    where = landscapes.grid(10, 10)
    yield "Gittins, told nothing", Gittins(horizon), Vague(coordinates=where), Vague(coordinates=where, drift=True)


def contestant(name: str, policy: Any, belief: Any, bandit: ChangingBandit) -> Contestant:
    """Return one run of a rule on a belief."""

    def play() -> None:
        simulate({name: (policy, belief)}, bandit, bandit.horizon, engine="compiled", threads=1, record="summary")

    return Contestant(name, play, bandit.horizon)


def measured(horizon: int, rounds: int) -> dict[str, Any]:
    """Return seconds per decision on both beliefs, for each rule."""
    before, rows = load(), []
    kernel, where = 10 * Exponential(3.0), landscapes.grid(10, 10)
    bandit = series.drift(kernel, where, steps=horizon, scale=SCALE, noise_variance=10.0, seed=0)
    for name, policy, stationary, drifting in players(horizon):
        tell(name)
        pair = [
            contestant("stationary", policy, stationary, bandit),
            contestant("drifting", policy, drifting, bandit),
        ]
        best = contest(pair, bandit.path[:0, 0].astype(int), rounds)
        rows.append({"what": name, "one": best["stationary"], "other": best["drifting"]})
    return BESIDE.data_of(rows, before)


def main() -> None:
    asked = options("python -m benchmarks.change", __doc__.splitlines()[0])
    data = measured(200, 1) if asked.quick else measured(20_000, 15)
    print(BESIDE.table(data))
    if asked.out:
        BESIDE.save(data, asked.out)


if __name__ == "__main__":
    main()
