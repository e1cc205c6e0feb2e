"""The result of an ensemble of simulated runs, as labelled arrays."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._shell.netcdf import load_dataset
from corrbandits._shell.outputs import write_file
from corrbandits.environments import gaps_of

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "corrbandits trace 1"
REGRET = {"long_name": "cumulative expected regret", "units": "reward"}
MOVES = {"long_name": "moves so far", "units": "moves"}
MOVE_COST = {"long_name": "cumulative cost of moves", "units": "reward"}
ALONE = ("arms", "rewards", "counts", "initialisation", "regret", "moves", "move_cost", "total_cost")
QUANTITIES = (*ALONE, "own_regret", "collisions", "sent")


@final
@dataclass(frozen=True)
class Trace:
    """The runs of several policies, as `simulate` returns them.

    `data` is an xarray Dataset with `arms` and `rewards` (policy, run, time), `counts` (policy, run, arm),
    `initialisation` (policy, run) and the environment's `means`, `noise_variance` and `coordinates`. Time starts at
    1. A summary (`simulate(..., record="summary")`) has `regret` (policy, run, time) at its chosen times instead of
    `arms` and `rewards`. With `simulate(..., moves=...)` it has `moves` and `move_cost` (policy, run, time), too. Where
    mean rewards change with time, `regret` is there in any case, and `means` are those at time 1. A trace of teams
    (`simulate_team`) has a dimension `player` besides, and the regret is the group's.

    >>> from corrbandits import UCL, GaussianBandit, Independent, simulate
    >>> bandit = GaussianBandit(means=[0.0, 1.0], noise_variance=1.0)
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> trace = simulate({"flat": (UCL(), flat)}, bandit, horizon=50, runs=20, seed=0)
    >>> trace.regret.dims, trace.initialisation.values.tolist()[0][:3]
    (('policy', 'run', 'time'), [2, 2, 2])
    """

    data: xr.Dataset

    @property
    def horizon(self) -> int:
        """How many decisions a run has."""
        return int(self.data.attrs.get("horizon", self.data["time"].values[-1]))  # the earliest traces do not say it

    @property
    def arms(self) -> xr.DataArray:
        """The arm taken (policy, run, time); a summary has none."""
        return self._each("arms")

    @property
    def rewards(self) -> xr.DataArray:
        """The reward drawn (policy, run, time); a summary has none."""
        return self._each("rewards")

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
        """Cumulative expected regret (policy, run, time): the sum of the gaps of the arms taken, at their times."""
        if "regret" in self.data:
            return self.data["regret"]
        gaps = gaps_of(self.data["means"].values)
        per_step = self.arms.copy(data=gaps[self.arms.values])
        regret = per_step.cumsum("time").assign_coords(self.arms.coords)
        regret.name = "regret"
        regret.attrs = REGRET
        return regret

    @property
    def moves(self) -> xr.DataArray:
        """How many moves there were so far, from an arm to another (policy, run, time); of a team, all players'."""
        if "moves" in self.data or "arms" not in self.data:
            return self._of_moves("moves")
        moves = (self.arms != self.arms.shift(time=1)).where(self.arms["time"] > self.arms["time"][0], 0)
        moves = moves.sum([name for name in moves.dims if name == "player"]).cumsum("time").astype(np.int64)
        return moves.assign_coords(time=self.arms["time"]).rename("moves").assign_attrs(MOVES)

    @property
    def move_cost(self) -> xr.DataArray:
        """What moves have cost so far (policy, run, time), as `simulate` was told by `moves`."""
        return self._of_moves("move_cost")

    @property
    def total_cost(self) -> xr.DataArray:
        """The regret and what moves have cost (policy, run, time)."""
        total = (self.regret + self.move_cost).rename("total_cost")
        return total.assign_attrs(long_name="regret and cost of moves", units="reward")

    def shortfall(self, M: float) -> xr.DataArray:
        """Return what the mean rewards of the arms taken lacked of M, summed up (policy, run, time).

        It is the regret of those for whom M is enough, of which more than M wins nothing back (`Satisficing`).

        >>> from corrbandits import Greedy, GaussianBandit, Independent, simulate
        >>> bandit = GaussianBandit(means=[0.0, 3.0], noise_variance=1e-6)
        >>> trace = simulate({"a": (Greedy(), Independent(noise_variance=1.0, arms=2))}, bandit, horizon=4)
        >>> trace.arms.values[0, 0], trace.shortfall(2.0).values[0, 0]
        (array([0, 1, 1, 1], dtype=int32), array([2., 2., 2., 2.]))
        """
        if self.data.attrs.get("changes"):
            raise ValueError("the shortfall follows from mean rewards that stay, but these change with time.")
        lacking = np.maximum(checks.number("M", M) - self.data["means"].values, 0.0)
        short = self.arms.copy(data=lacking[self.arms.values]).cumsum("time").assign_coords(self.arms.coords)
        return short.rename("shortfall").assign_attrs(long_name=f"cumulative shortfall of {M:g}", units="reward")

    def _of_moves(self, name: str) -> xr.DataArray:
        if name not in self.data:
            raise AttributeError(
                f"the trace does not have the {name}. Simulate again with moves=Moves(...), which says what they cost."
            )
        return self.data[name]

    def _each(self, name: str) -> xr.DataArray:
        if name not in self.data:
            raise AttributeError(
                f"a summary keeps the regret at its times and the counts, but not the {name}. Simulate again with "
                "record='full' for every decision."
            )
        return self.data[name]

    def _has(self, quantity: str) -> bool:
        """Return whether a quantity is there, or follows from what is."""
        follows = {"regret": True, "moves": "arms" in self.data, "total_cost": "move_cost" in self.data}
        return quantity in self.data or follows.get(quantity, False)

    def band(self, quantity: str = "regret", level: float = 0.95) -> xr.Dataset:
        """Return a quantity's mean over runs and the t-interval of that mean, as `mean`, `low` and `high`.

        With one run there is no interval: `low` and `high` are NaN.
        """
        import xarray as xr
        from scipy.special import stdtrit

        there = [name for name in QUANTITIES if self._has(name)]
        if quantity not in there:
            raise ValueError(f"quantity must be one of {', '.join(there)}, got {quantity!r:.60}.")
        level = checks.number("level", level, above=0)
        if level >= 1:
            raise ValueError(f"level must be above 0 and below 1, such as 0.95, got {level:g}.")
        values: xr.DataArray = self.data[quantity] if quantity in self.data else getattr(self, quantity)
        runs = values.sizes["run"]
        mean = values.mean("run")
        half = mean * np.nan
        if runs > 1:
            half = values.std("run", ddof=1) / np.sqrt(runs) * stdtrit(runs - 1, (1 + level) / 2)
        return xr.Dataset({"mean": mean, "low": mean - half, "high": mean + half}, attrs={"level": level, "runs": runs})

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the mean regret of each policy over time, and what it was in the end."""
        from corrbandits._shell import notebook
        from corrbandits._shell.numbers import counted, number

        band = self.band()
        times = band["time"].values.astype(float)
        few = np.unique(np.linspace(0, times.size - 1, min(times.size, 200)).astype(int))
        parts = ("mean", "low", "high")
        series = {
            str(name): (times[few], *(band[part].sel(policy=name).values[few] for part in parts))
            for name in band["policy"].values
        }
        rows = [
            (name, number(mean[-1], 4), number(high[-1] - mean[-1], 2)) for name, (_, mean, _, high) in series.items()
        ]
        title = f"Trace: {counted(self.data.sizes['run'], 'run')} of {counted(self.horizon, 'decision')}"
        words = "cumulative expected regret over time, the mean over runs and its 95 % interval"
        table = notebook.table(("policy", "regret", "±"), rows)
        return notebook.block(title, notebook.curves(series, words), f"<p>{words}</p>", table)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace, with its regret, as NetCDF; a file already there is replaced once the new one is whole."""
        with self.to_netcdf() as content:
            write_file(path, content)

    def to_netcdf(self) -> memoryview:
        """Return what `save` writes, compressed; in memory, since HDF5 does not survive a full disk."""
        data = self.data.assign(regret=self.regret).assign_attrs(format=FORMAT)
        packed: dict[Hashable, Any] = {
            name: {"zlib": True, "complevel": 1, "shuffle": True}
            for name, values in data.data_vars.items()
            if values.ndim and values.dtype.kind in "iuf"
        }
        return data.to_netcdf(engine="h5netcdf", encoding=packed)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Trace:
        """Read a trace that was saved: the same data, with the same attributes."""
        data = load_dataset(path, "a trace")
        if data.attrs.get("format") != FORMAT:
            raise ValueError(f"{os.fspath(path)} is not a saved trace: its format attribute must be {FORMAT!r}.")
        if "arms" in data and not data.attrs.get("changes") and "player" not in data.dims:
            data = data.drop_vars("regret")  # it follows from the arms
        data = data.assign_coords(policy=data["policy"].values.astype(str))
        data.attrs = {name: _attribute(name, value) for name, value in data.attrs.items() if name != "format"}
        return Trace(data)


def _attribute(name: str, value: Any) -> Any:
    """Return an attribute as it was saved: NetCDF makes a list of one its entry, and a number an array's."""
    if name == "rules":
        return [str(rule) for rule in np.atleast_1d(value)]
    return value.item() if isinstance(value, np.generic) else value
