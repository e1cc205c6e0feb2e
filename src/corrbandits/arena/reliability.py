"""Statements beside the truth, summed up: what was said with probability p should come true in a share p of cases.

name     meaning
p        a stated probability
n        how many statements
weight   of each statement: 1 over the number of problems of its family, so that every family counts the same

Who is told that it is enough does not know of which family the problem is. Families in which that is said more often
count more there: what is asked is how often such a statement holds, when all families are equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.arena.calibration import Statement
from corrbandits.arena.standings import ALL, group_of

LEAST = 1_000
"""A bin of stated probabilities has at least so many statements, if there are as many."""

APART = ("heavy tails", "paper's surface")
"""Families that are reported apart, as real fields are: their noise is not Gaussian, or their surface never changes."""


def apart(family: str) -> bool:
    """Return whether a family is reported apart from the others.

    >>> apart("heavy tails"), apart("chain")
    (True, False)
    """
    return family in APART or group_of(family) != ALL


def summary(said: Sequence[Statement], problems: Mapping[str, int], least: int = LEAST) -> dict[str, Any]:
    """Return what statements of one time amount to, all families being equally likely; standard errors beside.

    `problems` is how many problems of each family were played, whether or not something was said of them. The ratio of
    stated to true cost is None where no statement had a true cost.

    >>> one = Statement("chain", 0, "10", 10, 0.25, False, 0.5, 0.4, 0.9, True, -1.0, -0.5)
    >>> found = summary([one, one._replace(probability=0.75, best=True)], {"chain": 2})
    >>> found["statements"], found["cost"], found["bins"][0]["frequency"]
    (2, 0.5, 0.5)
    """
    weight = np.array([1 / problems[one.family] for one in said])
    column = {name: np.array([getattr(one, name) for one in said], dtype=np.float64) for name in Statement._fields[3:]}
    cost, (true_cost, true_error) = _mean(column["cost"], weight)[0], _mean(column["true_cost"], weight)
    residual = column["cost"] - column["true_cost"] * (cost / true_cost if true_cost else 1.0)
    return {
        "statements": len(said),
        "families": len({one.family for one in said}),
        "rewards": _mean(column["t"], weight)[0],
        "cost": cost,
        "true_cost": true_cost,
        "true_cost_error": true_error,
        "cost_ratio": cost / true_cost if true_cost else None,
        "cost_ratio_error": _mean(residual, weight)[1] / true_cost if true_cost else None,
        "covered": _mean(column["covered"], weight)[0],
        "best_covered": _mean(column["best_covered"], weight)[0],
        "score": _mean(column["score"], weight)[0],
        "informed_score": _mean(column["informed_score"], weight)[0],
        "bins": bins(column["probability"], column["best"], weight, least),
    }


def bins(probability: Array, came: Array, weight: Array, least: int) -> list[dict[str, float]]:
    """Return stated probabilities in bins of at least so many, with how often they came true.

    >>> found = bins(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4), least=2)
    >>> [(round(one["probability"], 2), one["frequency"]) for one in found]
    [(0.15, 0.0), (0.85, 1.0)]
    """
    order = np.argsort(probability, kind="stable")
    found = []
    for some in np.array_split(order, max(1, min(10, probability.size // least))):
        stated = _mean(probability[some], weight[some])[0]
        frequency = _mean(came[some], weight[some])[0]
        spread = math.sqrt(max(frequency * (1 - frequency), stated * (1 - stated)))
        error = spread * float(np.sqrt(np.square(weight[some]).sum()) / weight[some].sum())
        found.append({"n": int(some.size), "probability": stated, "frequency": frequency, "error": error})
    return found


def demands(found: dict[str, Any]) -> dict[str, bool]:
    """Return what is demanded of honest statements, and whether it holds.

    >>> good = {"cost_ratio": 1.1, "covered": 0.9, "best_covered": 0.88}
    >>> bin = {"probability": 0.3, "frequency": 0.37, "error": 0.015}
    >>> list(demands(good | {"bins": [bin]}).values())
    [True, True, True, True]
    """

    def near(ratio: float | None) -> bool:
        return ratio is not None and abs(ratio - 1) <= 0.15

    off = [abs(one["probability"] - one["frequency"]) <= 0.05 + 2 * one["error"] for one in found["bins"]]
    return {
        "stated probability and frequency differ by at most 0.05 + 2 standard errors": all(off),
        "the stated cost of stopping is the mean true cost within 15 %": near(found["cost_ratio"]),
        "90 % intervals cover 85 to 95 %, over all arms": 0.85 <= found["covered"] <= 0.95,
        "90 % intervals cover 85 to 95 %, of the arm named best": 0.85 <= found["best_covered"] <= 0.95,
    }


def _mean(values: Array, weight: Array) -> tuple[float, float]:
    """Return a weighted mean and its standard error."""
    share = weight / weight.sum()
    mean = float(share @ values)
    return mean, float(np.sqrt(np.square(share) @ np.square(values - mean)))
