"""The tables [priors.NAME]: what is believed of the arms beforehand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from corrbandits._core import checks
from corrbandits._shell.toml import Table
from corrbandits.belief import (
    Belief,
    Beta,
    Correlated,
    Discounted,
    Drifting,
    Implicit,
    Independent,
    Vague,
    Windowed,
)
from corrbandits.environments import BernoulliBandit, Environment, landscapes
from corrbandits.experiment.arms import Arms
from corrbandits.experiment.building import kernel_in

A_PRIOR = "[priors.flat] with variance = inf"
A_KERNEL = 'kernel = { name = "exponential", length = 4.0, variance = 10.0 }'
TOLD = (
    *("mean", "sd", "length", "noise_sd", "kernel", "site", "relative_noise", "distance", "per_coordinate", "parts"),
    "drift",
)
"""What a prior of the kind vague may be told."""

BY_PLACE = ("length", "kernel", "site", "distance", "per_coordinate")
"""What of it says how arms relate by where they lie."""

GAUSSIAN, BETA = ("kernel", "covariance", "variance", "variance_column"), ("successes", "failures")
PLAIN = ("mean", "column", *GAUSSIAN, *BETA, "noise_variance", "kind")
"""The keys of a prior on means that do not change."""

CHANGING: dict[str, tuple[Any, tuple[str, ...]]] = {
    "drifting": (Drifting, ("scale", "parts")),
    "windowed": (Windowed, ("window",)),
    "discounted": (Discounted, ("factor",)),
}
"""The kinds of belief on means that change, and what is said of each besides the prior at one time."""

EXAMPLES = {"scale": "scale = 200.0", "window": "window = 300", "factor": "factor = 0.99"}


def prior_in(table: Table, arms: Arms, environment: Environment) -> Belief:
    """Return the belief that a table of [priors] describes."""
    if "kind" in table.values:
        kinds = {"vague": _vague, **dict.fromkeys(CHANGING, _changing)}
        return table.choice("kind", kinds)(table, arms, environment)
    table.refuse_other_keys(PLAIN)
    if any(key in table.values for key in BETA):
        return _beta(table, BETA, environment)
    if not any(key in table.values for key in GAUSSIAN):
        raise table.error(
            f'one of {", ".join((*GAUSSIAN, *BETA))} is needed, got none. Add one; or kind = "vague", and what is '
            "not said is learnt."
        )
    way = table.one_of(GAUSSIAN)
    with table.blame(way):
        return _gaussian(table, way, arms, environment)


def _changing(table: Table, arms: Arms, environment: Environment) -> Belief:
    """Return the belief on means that change, around the prior that the other keys of the table describe."""
    kind, own = CHANGING[table.values["kind"]]
    table.refuse_other_keys((*PLAIN, *own))
    table.need(own[0], EXAMPLES[own[0]])
    inner = {key: value for key, value in table.values.items() if key not in ("kind", *own)}
    prior = prior_in(replace(table, values=inner), arms, environment)
    with table.blame(own[0]):
        made: Belief = kind(prior=prior, **{key: table.values[key] for key in own if key in table.values})
        return made


def _vague(table: Table, arms: Arms, environment: Environment) -> Belief:
    """Return the belief that learns what it is not told; on the globe, distances are along the earth."""
    table.refuse_other_keys(("kind", *TOLD), flags=("per_coordinate",), either=("drift",))
    told: dict[str, Any] = {key: value for key, value in table.values.items() if key != "kind"}
    with table.blame("kind"):
        if arms.places is None and told.keys().isdisjoint(BY_PLACE):
            return Vague(arms=arms.count, **told)
        if "latitude" in arms.columns.axes():
            told.setdefault("distance", "great_circle")
        return Vague(coordinates=arms.coordinates(), **told)


def _gaussian(table: Table, way: str, arms: Arms, environment: Environment) -> Belief:
    parts = gaussian_parts(table, way, arms, environment)
    if way == "kernel":
        return (Correlated if arms.count <= landscapes.MOST_DENSE else Implicit)(**parts)
    return Correlated(**parts) if way == "covariance" else Independent(arms=arms.count, **parts)


def gaussian_parts(table: Table, way: str, arms: Arms, environment: Environment) -> dict[str, Any]:
    """Return the arguments of the belief that a table of [priors] describes by a kernel, a covariance or variances."""
    values = table.values
    mean = values.get("mean", 0.0)
    if isinstance(mean, str):
        raise TypeError(f'mean must be a number or a list, got text. For a column of the csv, column = "{mean}".')
    if "column" in values:
        mean = arms.column(table, table.one_of(("mean", "column")))
    common = {"mean": mean, "noise_variance": values.get("noise_variance", environment.noise_variance)}
    if way == "kernel":
        kernel = kernel_in(table.table("kernel", A_KERNEL), "name")
        return {"kernel": kernel, "coordinates": arms.coordinates(), **common}
    if way == "covariance":
        matrix, n = checks.finite(way, values[way]), arms.count
        if matrix.shape != (n, n):
            raise ValueError(f"{way} must be {n} rows of {n} numbers, one per arm, but its shape is {matrix.shape}.")
        return {"covariance": matrix, **common}
    return {"variance": arms.column(table, way) if way == "variance_column" else values[way], **common}


def _beta(table: Table, allowed: Collection[str], environment: Environment) -> Belief:
    given = next(key for key in table.values if key in allowed)
    if not isinstance(environment, BernoulliBandit):
        raise table.error(f'{given} must go with rewards = "bernoulli" in [truth]. Use variance or kernel here.', given)
    for key in table.values:
        if key not in allowed:
            raise table.error(
                f"{key} must not be given with {given}: a Beta prior has only {' and '.join(allowed)}. Remove it.", key
            )
    with table.blame(given):
        return Beta(**table.values, arms=environment.arms)
