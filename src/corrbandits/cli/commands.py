"""The commands of the command line: parse, call, and hand over to `report` and `outputs`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from corrbandits.cli.study import commands as study_commands

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from corrbandits._shell.outputs import Results
    from corrbandits.belief import Belief
    from corrbandits.environments import Environment
    from corrbandits.experiment import Experiment
    from corrbandits.policies import Policy
    from corrbandits.simulation.trace import Trace

app = typer.Typer(
    help="Sequential decisions among arms whose rewards are related.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(study_commands.app, name="study")


class Record(StrEnum):
    """What `simulate` keeps of a run."""

    full = "full"
    summary = "summary"


Out = Annotated[Path, typer.Option(help="Directory the results go into.", file_okay=False)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all randomness.")]


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Sequential decisions among arms whose rewards are related."""
    if show:
        import corrbandits

        typer.echo(corrbandits.__version__)
        raise typer.Exit


@app.command()
def reproduce(
    out: Out = Path("reproduction"),
    runs: Annotated[int, typer.Option(min=2, help="Runs per curve.")] = 100,
    horizon: Annotated[int, typer.Option(min=2, help="Decisions per run.")] = 10_000,
    seed: Seed = 0,
) -> None:
    """Reproduce the paper's figures and check their captions.

    Writes figure1 and figure2 as .png, .pdf and .nc, the same curves under what the theorems promise as bounds1 and
    bounds2 (.png, .pdf), and claims.json. Exit code 1 if a claim is not met.
    """
    from corrbandits._shell import outputs
    from corrbandits.cli import printing
    from corrbandits.environments import landscapes
    from corrbandits.paper import reproduction

    begun = time.monotonic()
    outputs.make_directory(out)
    surface = landscapes.two_peaks()
    figures = reproduction.Figures.simulated(surface, horizon, runs, seed)
    claims, untuned = reproduction.claims(figures), reproduction.untuned_counts(seed, horizon)
    record = {
        "settings": {"runs": runs, "horizon": horizon, "seed": seed},
        "claims": [asdict(claim) for claim in claims],
        "untuned": {
            "surfaces": reproduction.UNTUNED_SURFACES,
            "runs": reproduction.UNTUNED_RUNS,
            "horizon": min(horizon, reproduction.UNTUNED_HORIZON),
            "holds": untuned,
        },
    }
    with outputs.results(out) as files:
        for number, trace, players, title, until in (
            (1, figures.well, reproduction.well_informed(surface), "Well-informed priors", 300),
            (2, figures.ill, reproduction.ill_informed(surface), "Ill-informed priors", 1_000),
        ):
            _write_regret(files, f"figure{number}", trace, surface, title, until)
            curves = _curves(surface, players, horizon)
            _write_bounds(files, f"bounds{number}", curves, surface, horizon, trace, title)
        files.write("claims.json", (json.dumps(record, indent=2) + "\n").encode())
    printing.print_claims(claims, untuned, horizon)
    typer.echo(
        f"\nfigure1 and figure2 (.png, .pdf, .nc), bounds1 and bounds2 (.png, .pdf) and claims.json are in {out}/ "
        f"({time.monotonic() - begun:.0f} s)"
    )
    if any(claim.met is False for claim in claims):
        raise typer.Exit(1)


@app.command()
def simulate(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; docs/getting-started describes it.")],
    out: Out = Path("results"),
    record: Annotated[Record, typer.Option(help="Every decision, or regret at some times.")] = Record.full,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Directory to save runs in, and to go on from.", file_okay=False)
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; as many as cores if left out.")] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler whose workers play.")] = None,
) -> None:
    """Simulate the experiment described in a TOML file.

    Writes NAME.png, NAME.pdf and NAME.nc, NAME being the file's name without .toml, and prints a table. After a
    kill or Ctrl-C the same command with the same --checkpoint goes on where it was.
    """
    from corrbandits._shell import outputs
    from corrbandits.cli import printing
    from corrbandits.experiment import load

    described, name = load(experiment), _name(experiment)
    outputs.make_directory(out)
    with _said_on_ctrl_c(checkpoint):
        trace = _simulated(described, dask, record=record.value, checkpoint=checkpoint, threads=threads)
        with outputs.results(out, inputs=[experiment]) as files:
            _write_regret(files, name, trace, described.environment, name, max(2, described.horizon // 10))
    printing.print_summary(trace, described.environment)
    typer.echo(f"\n{name} (.png, .pdf, .nc) is in {out}/")


@app.command()
def bounds(
    experiment: Annotated[Path | None, typer.Argument(help="A TOML file; without one, the paper's experiment.")] = None,
    trace: Annotated[Path | None, typer.Option(help="NAME.nc of the same experiment, to compare with.")] = None,
    figure: Annotated[int | None, typer.Option(min=1, max=2, help="Of the paper's experiment, this figure's.")] = None,
    out: Out = Path("results"),
) -> None:
    """Say what the theorems promise of counts and regret.

    Writes NAME-bounds.png and .pdf, and prints a table by groups of arms of like gap: of each group the largest
    eta, extra, total and count. With --trace, counts are those after initialisation; the prior is not compared.
    """
    from corrbandits import theory
    from corrbandits._shell import outputs
    from corrbandits.cli import printing
    from corrbandits.experiment import load
    from corrbandits.paper import reproduction
    from corrbandits.simulation.trace import Trace

    problem = reproduction.problem(figure) if experiment is None else load(experiment)
    name = f"{'paper' if experiment is None else _name(experiment)}-bounds"
    seen = None if trace is None else _fitting(Trace.load(trace), problem)
    outputs.make_directory(out)
    curves = _curves(problem.environment, problem.policies, problem.horizon)
    with outputs.results(out, inputs=[path for path in (experiment, trace) if path]) as files:
        _write_bounds(files, name, curves, problem.environment, problem.horizon, seen, name)
    for player, (policy, belief) in problem.policies.items():
        found = theory.bounds_for(problem.environment, policy, belief)
        counts = None if seen is None else printing.counts_after_initialisation(seen, player, policy, belief)
        printing.print_bounds(player, {theorem: at(problem.horizon) for theorem, at in found.items()}, problem, counts)
    typer.echo(f"{name} (.png, .pdf) is in {out}/")


@app.command()
def stress(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; docs/stress-testing describes it.")],
    policy: Annotated[str | None, typer.Option(help="Which of its policies, if there are several.")] = None,
    out: Out = Path("results"),
    checkpoint: Annotated[
        Path | None, typer.Option(help="Directory to save what is done in, and to go on from.", file_okay=False)
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; as many as cores if left out.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all randomness; the file's if left out.")] = None,
) -> None:
    """Say what a wrong prior would cost.

    Plays the policy with its prior's means, variance and length made wrong, one at a time and in pairs. Writes
    NAME-stress.csv, .nc and .html, NAME-stress-grids and NAME-stress-curves (.png, .pdf), and prints what was found.
    After a kill or Ctrl-C the same command with the same --checkpoint goes on where it was.
    """
    from corrbandits._shell import outputs
    from corrbandits.stress import experiment as settings
    from corrbandits.stress import figures, stress_test
    from corrbandits.stress.page import html

    described, name = settings.load(experiment, policy), f"{_name(experiment)}-stress"
    outputs.make_directory(out)
    if seed is not None:
        described["seed"] = seed
    with _said_on_ctrl_c(checkpoint):
        test = stress_test(**described, checkpoint=checkpoint, threads=threads)
        with outputs.results(out, inputs=[experiment]) as files:
            files.write(f"{name}.csv", test.to_csv().encode())
            files.write(f"{name}.nc", test.to_netcdf())
            files.write(f"{name}.html", html.page(test).encode())
            _write_figure(files, f"{name}-grids", figures.grids(test))
            _write_figure(files, f"{name}-curves", figures.curves(test))
    typer.echo("\n".join(test.sentences()))
    typer.echo(f"\n{name} (.csv, .nc, .html), {name}-grids and {name}-curves (.png, .pdf) are in {out}/")


@app.command()
def errata(
    check: Annotated[bool, typer.Option("--check", help="Compute the evidence of each, and say if it held.")] = False,
) -> None:
    """List the mistakes in the print; --check tests each.

    Exit code 1 if a check fails.
    """
    from corrbandits.cli import printing
    from corrbandits.paper.errata import ERRATA

    failed = printing.failed_checks(ERRATA) if check else None
    printing.print_errata(ERRATA, failed)
    if failed:
        raise typer.Exit(1)


@app.command()
def audit(
    problems: Annotated[int, typer.Option(min=0, help="Random problems.")] = 200,
    runs: Annotated[int, typer.Option(min=2, help="Runs per random problem.")] = 100,
    seed: Seed = 0,
    out: Out = Path("results"),
) -> None:
    """Compare the theorems' bounds with simulated counts.

    Takes random problems and twenty like the counterexample to Theorem 2 as printed; writes audit.csv.
    """
    from corrbandits._shell import outputs
    from corrbandits.paper.audit import audit as run

    outputs.make_directory(out)
    found = run(problems, runs, seed)
    with outputs.results(out) as files:
        files.write("audit.csv", found.to_csv().encode())
    typer.echo(f"{found}\n\naudit.csv is in {out}/")


@contextmanager
def _said_on_ctrl_c(checkpoint: Path | None) -> Iterator[None]:
    """Say on Ctrl-C what is saved, if anything is."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if checkpoint is not None:
            done = f"what was done is saved in {checkpoint}. Run the same again, and it goes on from there."
            typer.echo(f"corrbandits: {' '.join(getattr(stop, '__notes__', [done]))}", err=True)
        raise


def _simulated(described: Experiment, dask: str | None, **options: Any) -> Trace:
    """Return the trace of an experiment, played here or on a cluster."""
    from corrbandits.simulation import dask as cluster
    from corrbandits.simulation.simulator import simulate as run

    what = described.policies, described.environment, described.horizon, described.runs, described.seed
    if dask is None:
        return run(*what, **options)
    if options["threads"] is not None:
        raise ValueError("--threads are of this machine, but with --dask a cluster plays. Leave one of them out.")
    with cluster.connected(dask) as client:
        return run(*what, map=client, **options)


def _name(experiment: Path) -> str:
    """Return what the results of an experiment file are called: my.v1.toml makes my.v1."""
    return experiment.name.removesuffix(".toml") or experiment.name


def _curves(
    environment: Environment, players: Mapping[str, tuple[Policy, Belief]], horizon: int
) -> dict[str, dict[str, xr.DataArray]]:
    """Return the bounds on the regret over time, by policy and theorem."""
    from corrbandits import theory

    return {
        name: {
            theorem: theory.regret_curve(environment, policy, belief, bound, horizon)
            for theorem, bound in theory.bounds_for(environment, policy, belief).items()
        }
        for name, (policy, belief) in players.items()
    }


def _write_regret(files: Results, name: str, trace: Trace, environment: Environment, title: str, until: int) -> None:
    from corrbandits import plots, theory

    files.write(f"{name}.nc", trace.to_netcdf())
    bound = theory.lai_robbins(environment, trace.horizon, times=trace.data["time"].values)
    _write_figure(files, name, plots.regret_with_start(trace, title, lower_bound=bound, until=until))


def _write_bounds(
    files: Results,
    name: str,
    curves: Mapping[str, Mapping[str, xr.DataArray]],
    environment: Environment,
    horizon: int,
    trace: Trace | None,
    title: str,
) -> None:
    from corrbandits import plots, theory

    lower = theory.lai_robbins(environment, horizon, times=theory.spread_times(horizon))
    _write_figure(files, name, plots.bounds_figure(curves, lower, trace, title))


def _write_figure(files: Results, name: str, figure: Figure) -> None:
    from corrbandits import plots

    for ending in (".png", ".pdf"):
        files.write(f"{name}{ending}", plots.drawn(figure, ending))


def _fitting(trace: Trace, problem: Experiment) -> Trace:
    """Return the trace; refuse one of another experiment."""
    policies, horizon = trace.data["policy"].values.tolist(), trace.horizon
    if missing := [name for name in problem.policies if name not in policies]:
        raise ValueError(
            f"the trace must have the policies {', '.join(problem.policies)}, but it lacks {', '.join(missing)}. "
            "Name the trace that simulate wrote for this file."
        )
    if trace.data["means"].values.tolist() != problem.environment.means.tolist():
        raise ValueError(
            f"the trace must be of these {problem.environment.arms} arms, but its {trace.data.sizes['arm']} arms "
            "have other mean rewards. Simulate this experiment again."
        )
    rules = [repr(policy) for policy, _ in problem.policies.values()]
    known = dict(zip(policies, np.atleast_1d(trace.data.attrs["rules"]).tolist(), strict=True))
    noise = trace.data["noise_variance"].values.tolist() == problem.environment.noise_variance.tolist()
    if not noise or [known[name] for name in problem.policies] != rules:
        raise ValueError(
            "the trace must be of this noise variance and these parameters of the policies, but it is of others. "
            "Simulate this experiment again."
        )
    if horizon != problem.horizon:
        raise ValueError(
            f"the trace must have {problem.horizon:,} decisions, but it has {horizon:,}. "
            "Simulate this experiment again."
        )
    return trace
