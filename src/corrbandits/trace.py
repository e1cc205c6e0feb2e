"""What an ensemble of simulated runs left behind, as labelled arrays."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits import checks

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "corrbandits trace 1"


@final
@dataclass(frozen=True)
class Trace:
    """The runs of several policies, as `simulate` returns them.

    `data` is an xarray Dataset with `arms` and `rewards` (policy, run, time), `counts` (policy, run, arm),
    `initialisation` (policy, run) and the environment's `means`, `noise_variance` and `coordinates`. Time starts at
    1.

    >>> from corrbandits import UCL, GaussianBandit, Independent, simulate
    >>> bandit = GaussianBandit(means=[0.0, 1.0], noise_variance=1.0)
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> trace = simulate({"flat": (UCL(), flat)}, bandit, horizon=50, runs=20, seed=0)
    >>> trace.regret.dims, trace.initialisation.values.tolist()[0][:3]
    (('policy', 'run', 'time'), [2, 2, 2])
    """

    data: xr.Dataset

    @property
    def arms(self) -> xr.DataArray:
        """The arm taken (policy, run, time)."""
        return self.data["arms"]

    @property
    def rewards(self) -> xr.DataArray:
        """The reward drawn (policy, run, time)."""
        return self.data["rewards"]

    @property
    def counts(self) -> xr.DataArray:
        """How often each arm was taken (policy, run, arm)."""
        return self.data["counts"]

    @property
    def initialisation(self) -> xr.DataArray:
        """How many steps initialisation took (policy, run): `CorrelatedUCL`'s phase, or first takes of unknown arms."""
        return self.data["initialisation"]

    @property
    def regret(self) -> xr.DataArray:
        """The cumulative expected regret (policy, run, time): the sum of the gaps of the arms taken so far."""
        gaps = self.data["means"].max() - self.data["means"]
        per_step = self.arms.copy(data=gaps.values[self.arms.values])
        regret = per_step.cumsum("time").assign_coords(self.arms.coords)
        regret.name = "regret"
        regret.attrs = {"long_name": "cumulative expected regret", "units": "reward"}
        return regret

    def band(self, quantity: str = "regret", level: float = 0.95) -> xr.Dataset:
        """Return a quantity's mean over runs and the t-interval of that mean, as `mean`, `low` and `high`.

        With one run there is no interval: `low` and `high` are NaN.
        """
        import xarray as xr
        from scipy.special import stdtrit

        values: xr.DataArray = getattr(self, quantity)
        level = checks.number("level", level, above=0, up_to=1)
        runs = values.sizes["run"]
        mean = values.mean("run")
        half = mean * np.nan
        if runs > 1:
            half = values.std("run", ddof=1) / np.sqrt(runs) * stdtrit(runs - 1, (1 + level) / 2)
        return xr.Dataset({"mean": mean, "low": mean - half, "high": mean + half}, attrs={"level": level, "runs": runs})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace, with its regret, as NetCDF; a file already there is replaced once the new one is whole."""
        write_netcdf(self.data.assign(regret=self.regret).assign_attrs(format=FORMAT), path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Trace:
        """Read a trace that was saved."""
        import xarray as xr

        try:
            data = xr.load_dataset(path, engine="h5netcdf")
        except FileNotFoundError:
            raise
        except Exception as error:
            raise ValueError(f"{os.fspath(path)} is not a NetCDF file that can be read: {error}") from error
        if data.attrs.get("format") != FORMAT:
            raise ValueError(f"{os.fspath(path)} is not a saved trace: its format attribute must be {FORMAT!r}.")
        return Trace(data.drop_vars("regret"))


def write_netcdf(data: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a data set, compressed, first beside its place and then into it."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    packed: dict[Hashable, Any] = {
        name: {"zlib": True, "complevel": 1, "shuffle": True}
        for name, values in data.data_vars.items()
        if values.ndim and values.dtype.kind in "iuf"
    }
    try:
        data.to_netcdf(partial, engine="h5netcdf", encoding=packed)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
