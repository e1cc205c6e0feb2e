"""The commands on an experiment file: `simulate` and `bounds`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corrbandits.cli.options import Out, Threads, result_name, saying_what_is_saved

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from corrbandits._core.checks import Array
    from corrbandits.environments import Environment
    from corrbandits.experiment import Experiment
    from corrbandits.simulation.trace import Trace
    from corrbandits.theory import Group


MOST_BAYESIAN = 2_000
"""With more arms the Bayesian bound, which takes dozens of factors of their covariance, is left out."""


class Record(StrEnum):
    """What `simulate` keeps of a run."""

    full = "full"
    summary = "summary"


def simulate(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; docs/getting-started describes it.")],
    out: Out = Path("results"),
    record: Annotated[Record, typer.Option(help="Every decision, or regret at some times.")] = Record.full,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Directory to save runs in, and to go on from.", file_okay=False)
    ] = None,
    threads: Threads = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler whose workers play.")] = None,
) -> None:
    """Simulate the experiment described in a TOML file.

    Writes NAME.png, NAME.pdf and NAME.nc, NAME being the file's name without .toml, and prints a table. After a
    kill or Ctrl-C the same command with the same --checkpoint goes on where it was.
    """
    from corrbandits._shell import outputs
    from corrbandits.experiment import load
    from corrbandits.experiment.results import write_group_regret, write_regret

    described, name = load(experiment), result_name(experiment)
    outputs.make_directory(out, names=[f"{name}.png"])
    with saying_what_is_saved(checkpoint):
        trace = _simulated(described, dask, record=record.value, checkpoint=checkpoint, threads=threads)
        with outputs.results(out, inputs=[experiment]) as files:
            environment, early = described.environment, max(2, described.horizon // 10)
            if described.teams:
                write_group_regret(files, name, trace, environment, described.teams, name, early)
            else:
                write_regret(files, name, trace, environment, name, early)
    if described.teams:
        _print_teams(trace)
    else:
        _print_summary(trace, described.environment)
    typer.echo(f"\n{name} (.png, .pdf, .nc) is in {out}/")


def bounds(
    experiment: Annotated[Path | None, typer.Argument(help="A TOML file; without one, the paper's experiment.")] = None,
    trace: Annotated[Path | None, typer.Option(help="NAME.nc of the same experiment, to compare with.")] = None,
    figure: Annotated[int | None, typer.Option(min=1, max=2, help="Of the paper's experiment, this figure's.")] = None,
    out: Out = Path("results"),
) -> None:
    """Say what the theorems promise of counts and regret.

    Writes NAME-bounds.png and .pdf, and prints a table by groups of arms of like gap: of each group the largest
    eta, extra, total and count. With --trace, counts are those after initialisation; the prior is not compared.
    Of rules such as Gittins and UCL on a proper Gaussian prior of up to 2,000 arms it says what they lose at most on
    average over that prior.
    """
    from corrbandits import theory
    from corrbandits._shell import outputs
    from corrbandits.experiment import load, results
    from corrbandits.paper import reproduction

    described = reproduction.problem(figure) if experiment is None else load(experiment)
    if described.teams:
        raise ValueError(f"{experiment}: the theorems speak of single players. Remove [team], or use `simulate`.")
    name = f"{'paper' if experiment is None else result_name(experiment)}-bounds"
    seen = None if trace is None else results.saved_trace(trace, described)
    outputs.make_directory(out, names=[f"{name}.png"])
    problem = described.environment, described.policies, described.horizon
    with outputs.results(out, inputs=[path for path in (experiment, trace) if path]) as files:
        results.write_bounds(files, name, *problem, seen, name)
    for player, of in described.policies.items():
        found = theory.bounds_for(described.environment, *of)
        counts = None if seen is None else results.counts_after_initialisation(seen, player, *of)
        _print_bounds(player, {theorem: at(described.horizon) for theorem, at in found.items()}, described, counts)
        _print_bayesian(player, described, seen)
    typer.echo(f"{name} (.png, .pdf) is in {out}/")


def _simulated(described: Experiment, dask: str | None, **options: Any) -> Trace:
    """Return the trace of an experiment, played here or on a cluster."""
    from corrbandits.company import simulate_team
    from corrbandits.simulation import dask as cluster
    from corrbandits.simulation.simulator import simulate as simulate_alone

    run: Callable[..., Trace] = simulate_team if described.teams else simulate_alone
    problem = described.environment, described.horizon, described.runs, described.seed
    what = described.teams or described.policies, *problem
    if described.moves is not None:
        options["moves"] = described.moves
    if dask is None:
        return run(*what, **options)
    if options["threads"] is not None:
        raise ValueError("--threads are of this machine, but with --dask a cluster plays. Leave one of them out.")
    with cluster.connected(dask) as client:
        return run(*what, map=client, **options)


def _print_teams(trace: Trace) -> None:
    """Print the regret of each team at the end, how many players met another, and how many numbers they sent."""
    from corrbandits._shell import terminal
    from corrbandits._shell.numbers import counted

    band, last = trace.band().isel(time=-1), trace.data.isel(time=-1).mean("run")
    runs, players = trace.data.sizes["run"], trace.data.sizes["player"]
    rows = []
    for team in trace.data["policy"].values.tolist():
        mean, low, high = (float(band[name].sel(policy=team)) for name in ("mean", "low", "high"))
        interval = f"{low:,.1f} to {high:,.1f}" if runs > 1 else "needs 2 runs"
        met, sent = (f"{float(last[name].sel(policy=team)):,.1f}" for name in ("collisions", "sent"))
        moved = _moved(trace, team)
        rows.append((team, f"{mean:,.1f}", interval, met, sent, *moved.values()))
    heads = "team", "mean regret", "95 % band", "collisions", "numbers sent", *moved
    title = f"After {counted(trace.horizon, 'decision')} of {counted(players, 'player')}, {counted(runs, 'run')}"
    terminal.show([terminal.table(heads, rows, title=title)], terminal.console())


def _print_summary(trace: Trace, environment: Environment) -> None:
    """Print the regret of each policy at the end, and how often it took a best arm, unless that changes."""
    from corrbandits._shell import terminal
    from corrbandits._shell.numbers import counted, number

    band = trace.band().isel(time=-1)
    horizon, runs = trace.horizon, trace.data.sizes["run"]
    share = trace.counts.values[..., environment.optimal].sum(axis=-1).mean(axis=-1) / horizon
    best = "on a best arm" if environment.optimal.sum() > 1 else "on the best arm"
    shown = () if environment.changes else (best,)  # where means change, so does the best arm
    rows = []
    for policy, on_best in zip(trace.data["policy"].values.tolist(), share.tolist(), strict=True):
        mean, low, high = (float(band[name].sel(policy=policy)) for name in ("mean", "low", "high"))
        interval = f"{low:,.1f} to {high:,.1f}" if runs > 1 else "needs 2 runs"
        steps = float(trace.initialisation.sel(policy=policy).mean())
        moved, on = _moved(trace, policy), [f"{on_best:.1%}" for _ in shown]
        rows.append((policy, f"{mean:,.1f}", interval, *on, number(steps), *moved.values()))
    heads = "policy", "mean regret", "95 % band", *shown, "initial steps", *moved
    title = f"After {counted(horizon, 'decision')}, {counted(runs, 'run')}"
    terminal.show([terminal.table(heads, rows, title=title)], terminal.console())


def _moved(trace: Trace, policy: str) -> dict[str, str]:
    """Return how often a policy moved, and what that cost, where moves cost something."""
    if "move_cost" not in trace.data:
        return {}
    number, cost = (float(values.sel(policy=policy).isel(time=-1).mean()) for values in (trace.moves, trace.move_cost))
    return {"moves": f"{number:,.1f}", "their cost": f"{cost:,.1f}"}


def _print_bounds(policy: str, bounds: dict[str, xr.Dataset], problem: Experiment, counts: Array | None) -> None:
    """Print the bounds of one policy, a table per theorem: of each group of arms, the largest of each bound."""
    from corrbandits import theory
    from corrbandits._shell import terminal

    if not bounds:
        terminal.say([f"{policy}: no theorem of the paper speaks of this policy, its prior and its parameters.", ""])
    lower = theory.lai_robbins_counts(problem.environment, problem.horizon)
    for theorem, bound in bounds.items():
        terminal.say([f"{policy}, {theorem}: {bound.attrs['statement']}"])
        simulated = ("simulated",) if counts is not None else ()
        case = ("case",) if bound.attrs["theorem"] == "1" else ()
        heads = "arms", "gap", *case, "eta", "extra", "total", "Lai-Robbins", *simulated
        groups = theory.grouped(bound, lower, counts)
        rows = [_cells(group, with_case=bool(case), with_simulated=counts is not None) for group in groups]
        terminal.show([terminal.table(heads, rows, left=0), ""], terminal.console())


def _print_bayesian(policy: str, problem: Experiment, seen: Trace | None) -> None:
    """Print what one policy loses at most on average over its prior, where that is known, and what it lost here."""
    from corrbandits import theory
    from corrbandits._shell import terminal
    from corrbandits._shell.numbers import number
    from corrbandits.environments import GaussianBandit

    rule, prior = problem.policies[policy]
    if not isinstance(problem.environment, GaussianBandit) or prior.arms > MOST_BAYESIAN:
        return
    try:
        bound = theory.bayes_bound(prior, rule, problem.horizon)
    except (TypeError, ValueError):  # another rule, or a prior that is no proper Gaussian law
        return
    here = ""
    if seen is not None:
        lost = float(seen.regret.sel(policy=policy).isel(time=-1).mean())
        here = f" On the mean rewards of this experiment it lost {number(lost)}."
    terminal.say(
        [
            f"{policy}, Bayesian bound: {bound.statement}. Over mean rewards drawn from its prior it loses "
            f"{number(bound.total)} on average, or less.{here}",
            "",
        ]
    )


def _cells(group: Group, *, with_case: bool, with_simulated: bool) -> list[str]:
    from corrbandits._shell.numbers import span

    case = [str(group.case)] if with_case else []
    cells = [
        str(group.arms),
        span(*group.gaps),
        *case,
        group.eta,
        group.extra,
        group.total,
        f"{group.lai_robbins:,.1f}",
    ]
    return [*cells, f"{group.simulated:,.1f}"] if with_simulated else cells
