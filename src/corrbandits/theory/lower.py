"""The Lai-Robbins lower bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.environments import BernoulliBandit, Environment, StudentBandit

if TYPE_CHECKING:
    import xarray as xr


MOST_TIMES = 10**8


def lai_robbins(environment: Environment, horizon: int, times: Any = None) -> xr.DataArray:
    """Return the Lai-Robbins lower bound on the regret at t = 1 to the horizon, or at the given times.

    It is sum_i Delta_i E[n_i(t)] with E[n_i(t)] = (2 sigma_s^2 / Delta_i^2) log t over the suboptimal arms (for 0/1
    rewards, log t over the divergence of the two success probabilities): an asymptotic bound for policies that know
    nothing beforehand, which an informative prior may beat for a while.

    >>> from corrbandits import GaussianBandit
    >>> bound = lai_robbins(GaussianBandit(means=[0.0, 1.0], noise_variance=1.0), horizon=100)
    >>> float(bound.sel(time=100).round(4))   # 2 log 100
    9.2103
    """
    import xarray as xr

    horizon = checks.integer("horizon", horizon, least=1)
    if times is None and horizon > MOST_TIMES:
        raise ValueError(f"horizon must be at most {MOST_TIMES:,}, got {horizon:,}. Name the times wanted: times=...")
    time = np.arange(1, horizon + 1) if times is None else checks.finite("times", times)
    with np.errstate(over="ignore"):
        slope = float(np.nansum(_per_log(environment, regret=True)))
        values = slope * np.log(np.maximum(time, 2))
    return xr.DataArray(
        np.where(time == 1, 0.0, values),
        {"time": time},
        name="regret",
        attrs={"long_name": "Lai-Robbins lower bound", "units": "reward", "slope": slope},
    )


def lai_robbins_counts(environment: Environment, horizon: int) -> Array:
    """Return the same bound on how often each arm is taken, (2 sigma_s^2 / Delta_i^2) log T; NaN for optimal arms.

    >>> from corrbandits import GaussianBandit
    >>> lai_robbins_counts(GaussianBandit(means=[0.0, 1.0], noise_variance=1.0), horizon=100).round(2)
    array([9.21,  nan])
    """
    log_horizon = math.log(checks.integer("horizon", horizon, least=1))
    rate = _per_log(environment)
    with np.errstate(over="ignore"):
        return rate * log_horizon if log_horizon else np.where(np.isnan(rate), np.nan, 0.0)


def _per_log(environment: Environment, *, regret: bool = False) -> Array:
    """Return how often each arm must be taken per log T, 1 / divergence, or the regret of it; NaN for optimal ones."""
    if not isinstance(environment, Environment):
        raise TypeError(f"the lower bound is of an environment such as GaussianBandit(...), got {environment!r}.")
    if environment.changes:
        raise ValueError(f"the lower bound is for mean rewards that do not change with time, got {environment!r}.")
    if isinstance(environment, StudentBandit):
        raise TypeError(f"the lower bound is for Gaussian rewards or rewards 0 and 1, got {environment!r}.")
    gaps = np.where(environment.gaps > 0, environment.gaps, np.nan)
    with np.errstate(over="ignore", divide="ignore"):
        if isinstance(environment, BernoulliBandit):
            from scipy.special import rel_entr

            m, best = environment.means, environment.means.max()
            divergence = rel_entr(m, best) + rel_entr(1 - m, 1 - best) + 0 * gaps
            return np.asarray((gaps if regret else 1.0) / divergence)
        cost = 2 * environment.noise_variance / gaps  # finite where its quotient by the gap may not be
        return np.asarray(cost if regret else cost / gaps)
