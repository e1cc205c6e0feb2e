"""The Lai-Robbins lower bound, and that of several players whom a centre directs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.environments import BernoulliBandit, Environment, StudentBandit, gaps_of

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
    return _bound(environment, horizon, times, 1, "Lai-Robbins lower bound")


def centralised(
    environment: Environment, horizon: int, players: int, times: Any = None, *, collisions: bool = False
) -> xr.DataArray:
    """Return the lower bound on the regret of a group that a centre directs and that knows nothing beforehand.

    Where players on one arm are all paid, the group's regret is that of one who decides for all: to first order in
    log t the Lai-Robbins bound, whatever the number of players M (Landgren, Srivastava and Leonard, 2021). Where they
    collide, it is sum_i (m_(M) - m_i) / D(m_i, m_(M)) log t over the arms worse than the M-th best, m_(M), D being the
    divergence of the two laws of rewards (Anantharam, Varaiya and Walrand, 1987). As any bound of its
    kind it is asymptotic.

    >>> from corrbandits import GaussianBandit
    >>> bandit = GaussianBandit(means=[0.0, 1.0, 3.0], noise_variance=1.0)
    >>> bound = centralised(bandit, horizon=100, players=2, collisions=True)
    >>> float(bound.sel(time=100).round(4))   # 2 log 100: the second best is better than the third by 1
    9.2103
    """
    players = checks.integer("players", players, least=1)
    if collisions and isinstance(environment, Environment) and players > environment.arms:
        raise ValueError(f"{players} players cannot avoid each other on {environment.arms} arms. Take fewer players.")
    return _bound(environment, horizon, times, players if collisions else 1, "centralised lower bound")


def _bound(environment: Environment, horizon: int, times: Any, place: int, name: str) -> xr.DataArray:
    """Return the bound that comes of arms being worse than the one of this place."""
    import xarray as xr

    horizon = checks.integer("horizon", horizon, least=1)
    if times is None and horizon > MOST_TIMES:
        raise ValueError(f"horizon must be at most {MOST_TIMES:,}, got {horizon:,}. Name the times wanted: times=...")
    time = np.arange(1, horizon + 1) if times is None else checks.finite("times", times)
    with np.errstate(over="ignore"):
        slope = float(np.nansum(_per_log(environment, regret=True, place=place)))
        values = slope * np.log(np.maximum(time, 2))
    return xr.DataArray(
        np.where(time == 1, 0.0, values),
        {"time": time},
        name="regret",
        attrs={"long_name": name, "units": "reward", "slope": slope},
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


def _per_log(environment: Environment, *, regret: bool = False, place: int = 1) -> Array:
    """Return how often each arm must be taken per log T, 1 / divergence, or the regret of it; NaN for optimal ones.

    Arms are compared with the best, or with that of another place; those above it are optimal too.
    """
    if not isinstance(environment, Environment):
        raise TypeError(f"the lower bound is of an environment such as GaussianBandit(...), got {environment!r}.")
    if environment.changes:
        raise ValueError(f"the lower bound is for mean rewards that do not change with time, got {environment!r}.")
    if isinstance(environment, StudentBandit):
        raise TypeError(f"the lower bound is for Gaussian rewards or rewards 0 and 1, got {environment!r}.")
    best = np.sort(environment.means)[-place]
    gaps = gaps_of(np.minimum(environment.means, best))
    gaps = np.where(gaps > 0, gaps, np.nan)
    with np.errstate(over="ignore", divide="ignore"):
        if isinstance(environment, BernoulliBandit):
            from scipy.special import rel_entr

            m = environment.means
            divergence = rel_entr(m, best) + rel_entr(1 - m, 1 - best) + 0 * gaps
            return np.asarray((gaps if regret else 1.0) / divergence)
        cost = 2 * environment.noise_variance / gaps  # finite where its quotient by the gap may not be
        return np.asarray(cost if regret else cost / gaps)
