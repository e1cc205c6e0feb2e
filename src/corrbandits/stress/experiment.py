"""The table [stress] of an experiment file: what `corrbandits stress` varies, and against what. It may be left out.

::

    policy         which of [policies] is tested; may be left out if only one has a prior with a kernel or covariance
    prior          which of [priors] is made wrong, one of kind = "drifting" too; the policy's own if left out
    kinds          some of "shift", "scale", "noise", "swap" and, if the prior drifts, "drift"; the first is varied in
                   pairs with variance and length
    accuracy       the numbers tried of the first kind, or { shift = [...], drift = [0.1, 10.0, inf] }
    confidence     the factors tried on the prior's variance
    length         the factors tried on its length
    horizons       the times at which regret is kept, up to the horizon of [run]
    truth_draws    a family of surfaces: { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1, count = 20,
                   mean = 0.0 }; surface k is the draw of seed + k, one that drifts if scale = 200.0 says how fast
    truth_columns  a family of surfaces: columns of the csv, such as ["yield1990", "yield1991"]
    survivors      whether the beliefs that may survive a bad prior are played at the corners; true if left out

Without a family the truth is that of [truth]; its noise_variance holds for all surfaces. With one, [truth] may have
noise_variance (or rewards = "bernoulli") alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._shell.toml import Table
from corrbandits.environments import BernoulliBandit, Environment, GaussianBandit, landscapes, series
from corrbandits.experiment import Experiment, ExperimentError
from corrbandits.experiment.arms import Arms
from corrbandits.experiment.building import kernel_in
from corrbandits.experiment.file import A_POLICY, read
from corrbandits.experiment.priors import A_PRIOR, EXAMPLES, gaussian_parts
from corrbandits.experiment.truth import FAMILY
from corrbandits.stress.settings import kinds_of, numbers_to_try, varied

WAYS = ("kernel", "covariance")
"""How a prior must be described so that it can be made wrong."""

A_FAMILY = 'truth_draws = { kernel = "matern52", length = 2.0, variance = 100.0, seed = 1, count = 20 }'
DRAWS = 20


def load(path: str | os.PathLike[str], policy: str | None = None) -> dict[str, Any]:
    """Return the arguments of `stress.run` that an experiment file describes; `policy` overrides the file's.

    What is wrong in it is an `ExperimentError` with the file, the line and the remedy.
    """
    experiment, top, arms = read(path, family=True)
    table = top.table("stress") if "stress" in top.values else Table(top.file, top.lines, top.refusal, {}, ())
    name = _policy(top, table, experiment, policy)
    with np.errstate(all="ignore"):
        prior = _prior(top, table, name, arms, experiment.environment)
        found = {
            "policy": experiment.policies[name][0],
            "truth": _truth(table, arms, experiment.environment, experiment.horizon),
            "horizon": experiment.horizon,
            "runs": experiment.runs,
            "seed": experiment.seed,
            **prior,
            **_varied(table, experiment.horizon, drifts="drift" in prior),
        }
    _refuse_without_a_grid(table, found)
    return found


def _policy(top: Table, table: Table, experiment: Experiment, wanted: str | None) -> str:
    """Return the name of the policy to test."""
    if wanted is not None:
        if wanted not in experiment.policies:
            known = ", ".join(experiment.policies)
            raise ExperimentError(f"--policy must be one of {known}, those of {top.file}, got {wanted!r:.60}.")
        return wanted
    if "policy" in table.values:
        table.choice("policy", experiment.policies)
        return str(table.values["policy"])
    priors = top.tables("priors", A_PRIOR)
    informed = [
        name for name, player in top.tables("policies", A_POLICY).items() if _way(priors[player.values["prior"]])
    ]
    if not informed:
        raise table.error(
            "policies must be of a prior with a kernel or a covariance, which a stress test makes wrong, but none is: "
            "what is told nothing has nothing to be wrong. Add such a prior to [priors], and a policy that has it."
        )
    if len(informed) != 1:
        known = ", ".join(informed)
        raise table.error(
            f"policy must say which one is tested, since {len(informed)} of them have a prior with a kernel or a "
            f'covariance. Add policy = "..." to [stress], or --policy to the command: {known}.'
        )
    return informed[0]


def _prior(top: Table, table: Table, policy: str, arms: Arms, environment: Environment) -> dict[str, Any]:
    """Return the parts of the prior to be made wrong."""
    priors = top.tables("priors", A_PRIOR)
    asked = "prior" in table.values
    player = top.tables("policies", A_POLICY)[policy]
    prior = (table if asked else player).choice("prior", priors)
    way = _way(prior)
    if way is None:
        raise (table if asked else player).error(
            "prior must be one with a kernel or a covariance, which may drift, so that it can be made wrong, but this "
            "has neither or is of another kind. Name another in [stress], such as: prior = ...",
            "prior",
        )
    with prior.blame(way):
        return gaussian_parts(prior, way, arms, environment) | _drift(prior)


def _drift(prior: Table) -> dict[str, float]:
    """Return the scale of a prior that drifts, nothing of another."""
    if "kind" not in prior.values:
        return {}
    with prior.blame("scale"):
        scale = prior.need("scale", EXAMPLES["scale"])
        if isinstance(scale, list) or scale == np.inf:
            raise ValueError(
                f"scale must be one finite number, so that it can be made wrong, got {scale!r:.60}. Say the one that "
                "is most likely; for means that stay, leave the kind out."
            )
        return {"drift": checks.number("scale", scale, above=0)}


def _way(prior: Table) -> str | None:
    """Return how a prior is described, if it can be made wrong; one that is told little has nothing to be wrong."""
    other = prior.values.get("kind", "drifting") != "drifting"
    return None if other else next((way for way in WAYS if way in prior.values), None)


def _varied(table: Table, horizon: int, *, drifts: bool) -> dict[str, Any]:
    """Return what is varied, as far as the table says; refuse here, with its line, what `stress.run` would."""
    values, found = table.values, {}
    with table.blame("kinds"):
        kinds = values.get("kinds", kinds_of(drifts))
        if not isinstance(kinds, (list, tuple)):
            raise TypeError(f'kinds must be a list such as ["shift", "noise"], got {kinds!r:.60}.')
        varied(kinds, None, 1.0, drifts=drifts)
    with table.blame("accuracy"):
        if "accuracy" in values and not isinstance(values["accuracy"], (list, Mapping)):
            raise TypeError(f"accuracy must be a list such as [-5.0, 0.0, 5.0], got {values['accuracy']!r:.60}.")
        varied(kinds, values.get("accuracy"), 1.0, drifts=drifts)
    for key in ("confidence", "length"):
        with table.blame(key):
            numbers_to_try(key, values.get(key, [1.0]), 1.0)
    with table.blame("horizons"):
        if "horizons" in values:
            found["times"] = _horizons(values["horizons"], horizon)
    return found | {
        key: values[key] for key in ("kinds", "accuracy", "confidence", "length", "survivors") if key in values
    }


def _refuse_without_a_grid(table: Table, found: Mapping[str, Any]) -> None:
    """Refuse to vary fewer than two factors: there would be no grid to show."""
    drifts = "drift" in found
    kinds = found.get("kinds", kinds_of(drifts))
    tried = {key: numbers_to_try(key, found.get(key, [0.1, 1.0]), 1.0) for key in ("confidence", "length")}
    tried["accuracy"] = varied(kinds, found.get("accuracy"), 1.0, drifts=drifts)[kinds[0]]
    several = [key for key, values in tried.items() if len(values) > 1 and (key != "length" or "kernel" in found)]
    if len(several) < 2:
        raise table.error(
            f"at least two of accuracy, confidence and length must be varied, but {several[0] if several else 'none'} "
            "alone is. Give the others several numbers; a covariance has no length."
        )


def _horizons(values: Any, horizon: int) -> list[int]:
    if not isinstance(values, list) or not values:
        raise TypeError(f"horizons must be a list of times such as [100, 1000], got {values!r:.60}.")
    times = [checks.integer("horizons", time, least=1) for time in values]
    if max(times) > horizon:
        raise ValueError(f"horizons must be at most the horizon of [run], {horizon:,}, got {max(times):,}.")
    return times


def _truth(table: Table, arms: Arms, environment: Environment, horizon: int) -> Environment | list[Environment]:
    """Return the surface of [truth], or the family that the table describes."""
    if not any(key in table.values for key in FAMILY):
        return environment
    way = table.one_of(FAMILY)
    with table.blame(way):
        if way == "truth_draws":
            return _draws(table.table(way, A_FAMILY), arms, environment, horizon)
        names = table.values[way]
        if not isinstance(names, list) or not names:
            raise TypeError(f'{way} must be a list such as ["yield1990", "yield1991"], got {names!r:.60}.')
        return [_like(environment, arms.named(way, checks.text(way, name))) for name in names]


def _draws(table: Table, arms: Arms, environment: Environment, horizon: int) -> list[Environment]:
    """Return draws of a kernel; drifting ones, if the table says with which scale."""
    kernel = kernel_in(table, "kernel", others=("seed", "count", "mean", "scale"))
    with table.blame("kernel"):
        seed = checks.integer("seed", table.need("seed", "seed = 1"), least=0)
        count = checks.integer("count", table.values.get("count", DRAWS), least=1)
        given: dict[str, Any] = {"coordinates": arms.coordinates(), "mean": table.values.get("mean", 0.0)}
        seeds = range(seed, seed + count)
        if "scale" not in table.values:
            draws = (landscapes.draw(kernel, noise_variance=1.0, seed=each, **given) for each in seeds)
            return [_like(environment, draw.means) for draw in draws]
        if isinstance(environment, BernoulliBandit):
            raise TypeError('scale must not be given with rewards = "bernoulli": means that drift leave 0 to 1.')
        given |= {"noise_variance": environment.noise_variance, "shape": environment.shape, "steps": horizon}
        return [series.drift(kernel, scale=table.values["scale"], seed=each, **given) for each in seeds]


def _like(environment: Environment, means: Any) -> Environment:
    """Return an environment with other means, which stay; refuse to take the place of means that change."""
    if environment.changes:
        raise ValueError(
            "the means of a family stay, but those of [truth] change. Say how fast draws drift, as in truth_draws = "
            "{ ..., scale = 200.0 }, or leave all but the noise_variance out of [truth]."
        )
    if isinstance(environment, BernoulliBandit):
        return BernoulliBandit(means, environment.coordinates, environment.shape)
    return GaussianBandit(means, environment.noise_variance, environment.coordinates, environment.shape)
