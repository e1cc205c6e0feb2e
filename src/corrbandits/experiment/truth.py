"""The table [truth]: the mean rewards of the arms and their noise."""

from __future__ import annotations

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import counted
from corrbandits._shell.toml import Table
from corrbandits.environments import BernoulliBandit, Environment, GaussianBandit, landscapes
from corrbandits.experiment.arms import LANDSCAPES, Arms
from corrbandits.experiment.building import kernel_in
from corrbandits.experiment.changes import CHANGING, changing_in

SURFACE = ("landscape", "means", "column", "draw", *CHANGING)
"""How [truth] can describe a surface."""

FAMILY = ("truth_draws", "truth_columns")
"""How [stress] can describe a family of surfaces."""

A_DRAW = 'draw = { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1 }'


def surface_example(top: Table) -> str:
    """Return how [truth] could describe a surface of these arms."""
    arms = top.values.get("arms")
    if isinstance(arms, dict) and "csv" in arms:
        return 'column = "yield" and noise_variance = 10.0'
    return 'landscape = "two_peaks"'


def environment_in(top: Table, truth: Table, arms: Arms, horizon: int, *, family: bool) -> Environment:
    """Return the environment that [truth] describes, for a run of so many decisions.

    If `family`, it can leave the surface to [stress].
    """
    if not any(key in truth.values for key in SURFACE):
        stress = top.values.get("stress", {})
        families = [key for key in FAMILY if key in stress]
        if families and family:
            return _unseen(truth, arms)
        only = f" {families[0]} in [stress] is used by `corrbandits stress` only." if families else ""
        raise truth.error(
            f"one of {', '.join(SURFACE)} is needed, got none.{only} Add one, such as: {surface_example(top)}"
        )
    way = truth.one_of(SURFACE)
    if way in CHANGING:
        return changing_in(truth, arms, way, horizon)
    bernoulli = "rewards" in truth.values and truth.choice("rewards", {"gaussian": False, "bernoulli": True})
    with truth.blame(way):
        surface = _surface(truth, arms) if way == "landscape" else None
        means = _means(truth, arms, way) if surface is None else surface.means
        if surface is not None and not bernoulli and "noise_variance" not in truth.values:
            return surface
        return _bandit(truth, arms, means)


def _unseen(truth: Table, arms: Arms) -> Environment:
    """Return an environment whose means are placeholders for those of a family."""
    with truth.blame("noise_variance"):
        return _bandit(truth, arms, np.full(arms.count, 0.5))


def _bandit(truth: Table, arms: Arms, means: Array) -> Environment:
    if "rewards" in truth.values and truth.choice("rewards", {"gaussian": False, "bernoulli": True}):
        if "noise_variance" in truth.values:
            raise ValueError(
                "noise_variance must not be given with bernoulli rewards: it follows from their means. Remove it."
            )
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
        raise ValueError(f"means must be {counted(arms.count, 'number')}, one per arm of [arms], got {given}.")
    return means


def _drawn(table: Table, arms: Arms) -> Array:
    kernel = kernel_in(table, "kernel", others=("seed", "mean"))
    with table.blame("kernel"):
        seed, mean = table.need("seed", "seed = 1"), table.values.get("mean", 0.0)
        return landscapes.draw(kernel, arms.coordinates(), noise_variance=1.0, seed=seed, mean=mean).means
