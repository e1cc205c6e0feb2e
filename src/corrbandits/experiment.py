"""An experiment written down in a TOML file: what there is, what is believed of it, who plays, how long.

    [arms]           where the arms lie: grid = [rows, columns]; or csv = "sites.csv", relative to this file, with
                     columns x and y, x alone, or latitude and longitude; or nowhere: count = 5
    [truth]          landscape = "two_peaks" (then [arms] may be left out), means = [...], column = "yield" (of the csv)
                     or draw = { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1, mean = 0.0 };
                     noise_variance (one or one per arm), or rewards = "bernoulli" for rewards 0 and 1. With a family
                     of surfaces in [stress], `corrbandits stress` needs none of the four
    [priors.NAME]    mean (one or one per arm; 0 if left out) or column = "prior_mean"; then one of
                     kernel = { name = "exponential", length = 4.0, variance = 10.0, distance = "euclidean" },
                     which makes an `Implicit` belief of more than 10,000 arms,
                     covariance = [[...]], variance (one, inf or one per arm), variance_column = "prior_variance";
                     noise_variance (the truth's if left out). For rewards 0 and 1 also: successes, failures
    [policies.NAME]  rule = "UCL", prior = "NAME", and the rule's own parameters, as in Python (horizon is the run's
                     if left out)
    [run]            horizon, runs (100 if left out), seed (0 if left out)
    [stress]         what `corrbandits stress` varies; it may be left out (`stress.settings` says what may stand in it)

Whatever is wrong is refused before any work begins, with its line.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.csv import Column, numeric_column, places, read_columns
from corrbandits._shell.toml import Table, read_toml
from corrbandits.belief import Belief, Beta, Correlated, Implicit, Independent
from corrbandits.environments import BernoulliBandit, Environment, GaussianBandit, landscapes
from corrbandits.kernels import KERNELS, Kernel, Scaled
from corrbandits.policies import RULES, IndexPolicy, Policy

LANDSCAPES = {"two_peaks": landscapes.two_peaks}

A_PRIOR = "[priors.flat] with variance = inf"
A_POLICY = '[policies.mine] with rule = "UCL" and prior = "flat"'
A_KERNEL = 'kernel = { name = "exponential", length = 4.0, variance = 10.0 }'
FAMILY = ("truth_draws", "truth_columns")
STRESS = ("prior", "policy", "kinds", "accuracy", "confidence", "length", "horizons", "survivors", *FAMILY)
"""The keys of [stress]."""

SURFACE = ("landscape", "means", "column", "draw")
"""How [truth] may describe a surface."""

A_DRAW = 'draw = { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1 }'


class ExperimentError(ValueError):
    """What is wrong in an experiment file: the file, the line, what was expected, what was given, what to do."""


@final
@dataclass(frozen=True)
class Experiment:
    """What an experiment file describes: the arguments of `simulate`."""

    environment: Environment
    policies: dict[str, tuple[Policy, Belief]]
    horizon: int
    runs: int
    seed: int


def load(path: str | os.PathLike[str]) -> Experiment:
    """Return the experiment that a TOML file describes; the opening of this module says what may stand in one.

    What is wrong in it is an `ExperimentError` with the file, the line and the remedy.
    """
    return read(path)[0]


def read(path: str | os.PathLike[str], *, family: bool = False) -> tuple[Experiment, Table, Arms]:
    """Return what `load` does, and the tables and the arms that it was made of.

    If `family`, [truth] may leave the surface to a family in [stress]; the environment then has means of no meaning.
    """
    top = read_toml(path, ExperimentError)
    top.only(("arms", "truth", "priors", "policies", "run", "stress"))
    if "stress" in top.values:
        top.table("stress", '[stress] with policy = "mine"').only(STRESS, flags=("survivors",))
    truth = top.table("truth", f"[truth] with {_surface_example(top)}")
    truth.only((*SURFACE, "noise_variance", "rewards"))
    # numbers that overflow end in arrays that are not finite, and these are refused
    with np.errstate(all="ignore"):
        horizon, runs, seed = _run(top.table("run", "[run] with horizon = 1000"))
        arms = _arms(top, truth)
        environment = _environment(top, truth, arms, family=family)
        priors = {name: _prior(table, arms, environment) for name, table in top.tables("priors", A_PRIOR).items()}
        players = {name: _player(table, priors, horizon) for name, table in top.tables("policies", A_POLICY).items()}
    return Experiment(environment, players, horizon, runs, seed), top, arms


@final
@dataclass(frozen=True)
class Arms:
    """How many arms there are, where they lie, and the columns of their CSV file."""

    count: int
    places: Array | None = None
    shape: tuple[int, ...] | None = None
    csv: Path | None = None
    columns: Mapping[str, Column] = dataclasses.field(default_factory=dict)

    def column(self, table: Table, key: str) -> Array:
        """Return the column of the CSV file that a key names, as numbers."""
        with table.blame(key):
            name = checks.text(key, table.values[key])
            return self.named(key, name)

    def named(self, key: str, name: str) -> Array:
        """Return the column of a name; refuse it, on behalf of a key, where there is no CSV file."""
        if self.csv is None:
            raise ValueError(f'{key} must go with csv = "sites.csv" in [arms], got no file. Name one there.')
        return numeric_column(self.columns, name, self.csv)

    def coordinates(self) -> Array:
        """Return where the arms lie; refuse arms that lie nowhere."""
        if self.places is None:
            raise ValueError("a kernel needs arms with coordinates, but these have none. Use grid or csv in [arms].")
        return self.places


def _run(table: Table) -> tuple[int, int, int]:
    table.only(("horizon", "runs", "seed"))
    with table.blame("horizon"):
        horizon = checks.integer("horizon", table.need("horizon", "horizon = 1000"), least=1)
        runs = checks.integer("runs", table.values.get("runs", 100), least=1)
        return horizon, runs, checks.integer("seed", table.values.get("seed", 0), least=0)


def _arms(top: Table, truth: Table) -> Arms:
    if "arms" in top.values or "landscape" not in truth.values:
        return _listed_arms(top.table("arms", "[arms] with grid = [10, 10]"))
    surface = truth.choice("landscape", LANDSCAPES)()
    return Arms(surface.arms, surface.coordinates, surface.shape)


def _listed_arms(table: Table) -> Arms:
    table.only(("grid", "csv", "count"))
    way = table.one_of(("grid", "csv", "count"))
    value = table.values[way]
    with table.blame(way):
        if way == "csv":
            return _arms_of_csv(table.file.parent / checks.text("csv", value))
        if way == "grid" and not (isinstance(value, list) and len(value) == 2):
            raise ValueError(f"grid must be [rows, columns], such as [10, 10], got {value!r:.60}.")
        sides = [checks.integer(way, side, least=1) for side in (value if way == "grid" else [value])]
        if (count := math.prod(sides)) > landscapes.MOST_ARMS:
            raise ValueError(f"{way} must give at most {landscapes.MOST_ARMS:,} arms, got {count:,}.")
        return Arms(count) if way == "count" else Arms(count, landscapes.grid(*sides), tuple(sides))


def _arms_of_csv(path: Path) -> Arms:
    columns = read_columns(path)
    return Arms(len(next(iter(columns.values()))), places(columns, path), csv=path, columns=columns)


def _surface_example(top: Table) -> str:
    arms = top.values.get("arms")
    if isinstance(arms, dict) and "csv" in arms:
        return 'column = "yield" and noise_variance = 10.0'
    return 'landscape = "two_peaks"'


def _environment(top: Table, truth: Table, arms: Arms, *, family: bool) -> Environment:
    if not any(key in truth.values for key in SURFACE):
        stress = top.values.get("stress", {})
        families = [key for key in FAMILY if key in stress]
        if families and family:
            return _unseen(truth, arms)
        only = f" {families[0]} in [stress] is for `corrbandits stress` alone." if families else ""
        raise truth.error(
            f"one of {', '.join(SURFACE)} is needed, got none.{only} Add one, such as: {_surface_example(top)}"
        )
    way = truth.one_of(SURFACE)
    bernoulli = "rewards" in truth.values and truth.choice("rewards", {"gaussian": False, "bernoulli": True})
    with truth.blame(way):
        surface = _surface(truth, arms) if way == "landscape" else None
        means = _means(truth, arms, way) if surface is None else surface.means
        if surface is not None and not bernoulli and "noise_variance" not in truth.values:
            return surface
        return _bandit(truth, arms, means)


def _unseen(truth: Table, arms: Arms) -> Environment:
    """Return an environment whose means stand for those of a family."""
    with truth.blame("noise_variance"):
        return _bandit(truth, arms, np.full(arms.count, 0.5))


def _bandit(truth: Table, arms: Arms, means: Array) -> Environment:
    if "rewards" in truth.values and truth.choice("rewards", {"gaussian": False, "bernoulli": True}):
        if "noise_variance" in truth.values:
            raise ValueError("noise_variance must not stand with bernoulli rewards: their means say it. Remove it.")
        return BernoulliBandit(means, arms.places, arms.shape)
    return GaussianBandit(means, truth.need("noise_variance", "noise_variance = 10.0"), arms.places, arms.shape)


def _surface(truth: Table, arms: Arms) -> GaussianBandit:
    surface = truth.choice("landscape", LANDSCAPES)()
    if arms.shape != surface.shape:
        raise ValueError(
            f"landscape must go with [arms] grid = {list(surface.shape or ())}, got other arms. Leave [arms] out."
        )
    return surface


def _means(truth: Table, arms: Arms, way: str) -> Array:
    if way == "column":
        return arms.column(truth, way)
    if way == "draw":
        return _drawn(truth.table("draw", A_DRAW), arms)
    means = checks.finite("means", truth.values[way])
    if means.shape != (arms.count,):
        given = len(means) if means.ndim == 1 else f"an array of shape {means.shape}"
        raise ValueError(f"means must be {arms.count} numbers, one per arm of [arms], got {given}.")
    return means


def _drawn(table: Table, arms: Arms) -> Array:
    kernel = kernel_in(table, "kernel", others=("seed", "mean"))
    with table.blame("kernel"):
        seed, mean = table.need("seed", "seed = 1"), table.values.get("mean", 0.0)
        return landscapes.draw(kernel, arms.coordinates(), noise_variance=1.0, seed=seed, mean=mean).means


def kernel_in(table: Table, name: str, others: Collection[str] = ()) -> Kernel:
    """Return the kernel that a table describes: its name at one key, its fields and others at the rest."""
    kernel = table.choice(name, KERNELS)
    table.only((name, "variance", *(field.name for field in dataclasses.fields(kernel)), *others))
    with table.blame(name):
        return Scaled(_built(table, kernel), table.need("variance", "variance = 10.0"))


def _prior(table: Table, arms: Arms, environment: Environment) -> Belief:
    gaussian, beta = ("kernel", "covariance", "variance", "variance_column"), ("successes", "failures")
    table.only(("mean", "column", *gaussian, *beta, "noise_variance"))
    if any(key in table.values for key in beta):
        return _beta(table, beta, environment)
    way = table.one_of((*gaussian, *beta))
    with table.blame(way):
        return _gaussian(table, way, arms, environment)


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
                f"{key} must not stand beside {given}: a Beta prior has {' and '.join(allowed)} alone.", key
            )
    with table.blame(given):
        return Beta(**table.values, arms=environment.arms)


def _player(table: Table, priors: Mapping[str, Belief], horizon: int) -> tuple[Policy, Belief]:
    rule = table.choice("rule", RULES)
    fields = dataclasses.fields(rule)
    flags = [field.name for field in fields if field.type in ("bool", bool)]
    table.only(("rule", "prior", *(field.name for field in fields)), flags)
    belief = table.choice("prior", priors)
    with table.blame("rule"):
        policy: Policy = _built(table, rule, horizon=horizon)
        if isinstance(policy, IndexPolicy):
            for t in (1, horizon):  # a schedule or a belief that does not fit shows here, not in the middle of a run
                policy.index(belief, t)
    return policy, belief


def _built(table: Table, kind: Any, **defaults: Any) -> Any:
    """Return a dataclass with the fields the table gives, or else the defaults, or else its own."""
    given = {**defaults, **table.values}
    fields = dataclasses.fields(kind)
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in given:
            table.need(field.name)
    return kind(**{field.name: given[field.name] for field in fields if field.name in given})
