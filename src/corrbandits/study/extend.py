"""More arms for a prior that is made of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief, Vague
from corrbandits.study.arms import Arms


def extended(prior: Belief, more: Mapping[str, Any], arms: int) -> Belief:
    """Return the prior of all its arms and more: `coordinates`, and `mean` and `noise_variance`, of the new ones.

    Mean and noise may be left out where all the old arms have the same.

    >>> from corrbandits import Correlated, Exponential
    >>> prior = Correlated(mean=3.0, kernel=Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0)
    >>> extended(prior, {"coordinates": [5.0]}, 3).mean
    array([3., 3., 3.])
    """
    arguments = prior.prior_arguments()
    if "beliefs" in arguments:
        each = [extended(belief, more, arms) for belief in arguments["beliefs"]]
        return type(prior)(**(arguments | {"beliefs": each}))
    if isinstance(prior, Vague) and prior.coordinates is None:
        return type(prior)(**(arguments | {"arms": arms, "relative_noise": 1.0}))
    if "kernel" not in arguments:
        raise ValueError(
            f"more arms need a kernel, which says how they relate to the old ones, but the prior is "
            f"{type(prior).__name__} without one. Create a study that has one, and coordinates."
        )
    old, new = arguments["coordinates"], checks.points("coordinates", more.get("coordinates"))
    if new.shape != (arms - len(old), old.shape[1]):
        raise ValueError(
            f"the new arms must have {counted(arms - len(old), 'row')} of {counted(old.shape[1], 'coordinate')}, as "
            f"the prior's have, got {counted(new.shape[0], 'row')} of {new.shape[1]}."
        )
    if isinstance(prior, Vague):
        own = _longer("relative_noise", arguments["relative_noise"], None, arms)
        return type(prior)(**(arguments | {"coordinates": np.concatenate([old, new]), "relative_noise": own}))
    longer = {name: _longer(name, arguments[name], more.get(name), arms) for name in ("mean", "noise_variance")}
    return type(prior)(**(arguments | longer | {"coordinates": np.concatenate([old, new])}))


def placed(arms: Arms, prior: Belief) -> Arms:
    """Return the arms where the prior's kernel has them, if they do not say themselves where they lie.

    Of the prior's arms these are the last.
    """
    arguments = prior.prior_arguments()
    while "beliefs" in arguments:
        arguments = arguments["beliefs"][0].prior_arguments()
    if arms.coordinates is not None or "coordinates" not in arguments:
        return arms
    where = arguments["coordinates"][-arms.count :]
    if not isinstance(prior, Vague) and arguments["kernel"].has_deviations:
        where = where[:, :-1]
    return arms if where.shape[1] > 2 else replace(arms, axes=("x", "y")[: where.shape[1]], coordinates=where)


def _longer(name: str, old: Array, new: Any, arms: int) -> Array:
    if new is None:
        if not (old == old[0]).all():
            raise ValueError(f"the old arms differ in {name}, so the new ones need theirs: give {name}=.")
        new = old[0]
    return np.concatenate([old, checks.per_arm(name, new, arms - old.size)])
