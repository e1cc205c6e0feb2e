"""What the analysis says of a problem: so far the lower bound every policy is measured by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corrbandits import checks
from corrbandits.environments import Environment

if TYPE_CHECKING:
    import xarray as xr


def lai_robbins(environment: Environment, horizon: int) -> xr.DataArray:
    """Return the Lai-Robbins lower bound on the regret of a Gaussian bandit at t = 1 to the horizon.

    It is sum_i Delta_i E[n_i(t)] with E[n_i(t)] = (2 sigma_s^2 / Delta_i^2) log t over the suboptimal arms: an
    asymptotic bound for policies that know nothing beforehand, which an informative prior may beat for a while.

    >>> from corrbandits import GaussianBandit
    >>> bound = lai_robbins(GaussianBandit(means=[0.0, 1.0], noise_variance=1.0), horizon=100)
    >>> float(bound.sel(time=100).round(4))   # 2 log 100
    9.2103
    """
    import xarray as xr

    time = np.arange(1, checks.integer("horizon", horizon, least=1) + 1)
    suboptimal = environment.gaps > 0
    slope = float(np.sum(2 * environment.noise_variance[suboptimal] / environment.gaps[suboptimal]))
    return xr.DataArray(
        slope * np.log(time),
        {"time": time},
        name="regret",
        attrs={"long_name": "Lai-Robbins lower bound", "units": "reward", "slope": slope},
    )
