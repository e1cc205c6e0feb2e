"""The results of an experiment: the files that `simulate` and `bounds` write, and a saved trace to compare with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from corrbandits import plots, theory
from corrbandits._core.checks import Array
from corrbandits._shell.texts import cut
from corrbandits.belief import Belief, GaussianBelief
from corrbandits.company import Team
from corrbandits.environments import Environment
from corrbandits.experiment.file import Experiment
from corrbandits.policies import CorrelatedUCL, Policy
from corrbandits.simulation.trace import Trace

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from corrbandits._shell.outputs import Results

LONGEST_TITLE = 80  # characters: more have no room
Players = Mapping[str, tuple[Policy, Belief]]


def write_figure(files: Results, name: str, figure: Figure) -> None:
    """Write a figure as NAME.png and NAME.pdf."""
    for ending in (".png", ".pdf"):
        files.write(f"{name}{ending}", plots.drawn(figure, ending))


def write_regret(files: Results, name: str, trace: Trace, environment: Environment, title: str, until: int) -> None:
    """Write a trace as NAME.nc and its regret, with the Lai-Robbins bound if there is one, as NAME.png and NAME.pdf."""
    times = trace.data["time"].values
    bound = None if environment.changes else theory.lai_robbins(environment, trace.horizon, times=times)
    _write_beside(files, name, trace, bound, title, until)


def write_group_regret(
    files: Results, name: str, trace: Trace, environment: Environment, teams: Mapping[str, Team], title: str, until: int
) -> None:
    """Write the trace of teams as `write_regret` does, beside the bound on the regret of a group with a centre."""
    team, times = next(iter(teams.values())), trace.data["time"].values
    collide = team.collisions != "none"
    bound = theory.centralised(environment, trace.horizon, len(team), times=times, collisions=collide)
    _write_beside(files, name, trace, bound, title, until)


def _write_beside(files: Results, name: str, trace: Trace, bound: xr.DataArray | None, title: str, until: int) -> None:
    """Write a trace as NAME.nc, and its regret beside a bound as NAME.png and NAME.pdf."""
    with trace.to_netcdf() as content:
        files.write(f"{name}.nc", content)
    write_figure(files, name, plots.regret_with_start(trace, cut(title, LONGEST_TITLE), lower_bound=bound, until=until))


def write_bounds(
    files: Results,
    name: str,
    environment: Environment,
    players: Players,
    horizon: int,
    trace: Trace | None,
    title: str,
) -> None:
    """Write the theorems' bounds on the regret over time, above the regret of a trace, as NAME.png and NAME.pdf."""
    curves = {player: theory.regret_curves(environment, *of, horizon) for player, of in players.items()}
    lower = theory.lai_robbins(environment, horizon, times=theory.spread_times(horizon))
    write_figure(files, name, plots.bounds_figure(curves, lower, trace, cut(title, LONGEST_TITLE)))


def saved_trace(path: str | os.PathLike[str], experiment: Experiment) -> Trace:
    """Return the saved trace of an experiment; refuse a trace of another one."""
    trace = Trace.load(path)
    _refuse_other_arms_or_rules(trace, experiment)
    if trace.horizon != experiment.horizon:
        raise ValueError(
            f"the trace must have {experiment.horizon:,} decisions, but it has {trace.horizon:,}. "
            "Simulate this experiment again."
        )
    return trace


def _refuse_other_arms_or_rules(trace: Trace, experiment: Experiment) -> None:
    environment, policies = experiment.environment, trace.data["policy"].values.tolist()
    if missing := [name for name in experiment.policies if name not in policies]:
        raise ValueError(
            f"the trace must have the policies {', '.join(experiment.policies)}, but it lacks {', '.join(missing)}. "
            "Name the trace that simulate wrote for this file."
        )
    if trace.data["means"].values.tolist() != environment.means.tolist():
        raise ValueError(
            f"the trace must be of these {environment.arms} arms, but its {trace.data.sizes['arm']} arms "
            "have other mean rewards. Simulate this experiment again."
        )
    rules = [repr(policy) for policy, _ in experiment.policies.values()]
    known = dict(zip(policies, np.atleast_1d(trace.data.attrs["rules"]).tolist(), strict=True))
    noise = trace.data["noise_variance"].values.tolist() == environment.noise_variance.tolist()
    if not noise or [known[name] for name in experiment.policies] != rules:
        raise ValueError(
            "the trace must be of this noise variance and these parameters of the policies, but it is of others. "
            "Simulate this experiment again."
        )


def counts_after_initialisation(trace: Trace, name: str, policy: Policy, belief: Belief) -> Array:
    """Return how often each arm was taken in the mean, without initialisation: the theorems count from there on."""
    counts = np.asarray(trace.counts.sel(policy=name).mean("run").values)
    if isinstance(policy, CorrelatedUCL) and isinstance(belief, GaussianBelief):
        taken = theory.initialisation(belief, policy.nu)[: trace.horizon]
        counts = counts - np.bincount(taken, minlength=belief.arms)
    return counts
