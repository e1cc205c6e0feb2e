"""Bounds on the regret as curves over time, and the bounds that fit a policy and its prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Integers
from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent
from corrbandits.environments import Environment, GaussianBandit
from corrbandits.policies import UCL, CorrelatedUCL, Policy
from corrbandits.theory.bounds import correlated_bound, uncorrelated_bound
from corrbandits.theory.initial import initialisation

if TYPE_CHECKING:
    import xarray as xr

Bound = Callable[[int], "xr.Dataset"]
POINTS = 40


def bounds_for(environment: Environment, policy: Policy, belief: Belief) -> dict[str, Bound]:
    """Return the theorems that speak of a policy and its prior, by name, each as a function of the horizon.

    `UCL` on independent arms has Theorem 1, and it and the others the corrected Theorem 2 and its summed form, where
    a and K are admitted. Other policies, beliefs and rewards have none.

    >>> from corrbandits import GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    >>> sorted(bounds_for(bandit, UCL(a=3.3), Independent(variance=1.0, noise_variance=1.0, arms=2)))
    ['Theorem 1', 'Theorem 2', 'Theorem 2, summed']
    """
    if not isinstance(policy, (UCL, CorrelatedUCL)) or not isinstance(belief, (Independent, Correlated)):
        return {}
    if not isinstance(environment, GaussianBandit):
        return {}
    candidates: dict[str, Bound] = {}
    if isinstance(policy, UCL) and isinstance(belief, Independent):
        candidates["Theorem 1"] = lambda horizon: uncorrelated_bound(environment, belief, policy, horizon)
    candidates |= {
        "Theorem 2": lambda horizon: correlated_bound(environment, belief, policy, horizon, "corrected"),
        "Theorem 2, summed": lambda horizon: correlated_bound(environment, belief, policy, horizon, "summed"),
    }
    return {name: bound for name, bound in candidates.items() if _admitted(bound)}


def regret_curve(environment: Environment, policy: Policy, belief: Belief, bound: Bound, horizon: int) -> xr.DataArray:
    """Return the bound sum_i Delta_i (initial steps of arm i + E[n_i]) on the regret, at some forty times in log t.

    It is NaN where it is vacuous: no less than taking the worst arm all the time.
    """
    import xarray as xr

    horizon = checks.integer("horizon", horizon, least=1)
    times = spread_times(horizon)
    begun = 0.0
    if isinstance(policy, CorrelatedUCL) and isinstance(belief, GaussianBelief):
        begun = float(environment.gaps[initialisation(belief, policy.nu)].sum())
    regret = np.array([begun + float(np.nansum(environment.gaps * bound(int(t))["total"].values)) for t in times])
    # regret only grows, so what bounds it later bounds it now
    regret = np.minimum.accumulate(regret[::-1])[::-1]
    regret = np.where(regret < environment.gaps.max() * times, regret, np.nan)
    return xr.DataArray(regret, {"time": times}, name="regret", attrs={"units": "reward"})


def regret_curves(environment: Environment, policy: Policy, belief: Belief, horizon: int) -> dict[str, xr.DataArray]:
    """Return the bounds on the regret over time of every theorem that speaks of a policy and its prior, by name."""
    bounds = bounds_for(environment, policy, belief)
    return {name: regret_curve(environment, policy, belief, bound, horizon) for name, bound in bounds.items()}


def spread_times(horizon: int) -> Integers:
    """Return some forty times from 1 to the horizon, evenly spread in log t.

    >>> spread_times(10)
    array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10])
    """
    return np.unique(np.append(np.geomspace(1, horizon, POINTS).astype(np.int64), horizon))


def _admitted(bound: Bound) -> bool:
    try:
        bound(1)
    except ValueError:
        return False
    return True
