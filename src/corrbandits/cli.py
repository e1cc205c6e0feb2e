"""The command line: parse, call, print.

Exit codes: 0 done, 1 a claim of the paper was not met, 2 bad input, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from corrbandits.paper import Claim, Figures
    from corrbandits.trace import Trace

app = typer.Typer(
    help="Sequential decisions among arms whose rewards are related.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

STOPPED = 130

Out = Annotated[Path, typer.Option(help="Directory the results go into.", file_okay=False)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all randomness.")]


def main() -> None:
    """Run the command line; errors a user can cause become one message and exit code 2."""
    try:
        app()
    except SystemExit as stop:
        if stop.code == STOPPED:
            print("corrbandits: stopped. Files that were there before are as they were.", file=sys.stderr)
        raise
    except (ValueError, OSError) as error:
        print(f"corrbandits: {error}", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Sequential decisions among arms whose rewards are related."""
    if show:
        import corrbandits

        print(corrbandits.__version__)
        raise typer.Exit


@app.command()
def reproduce(
    out: Out = Path("reproduction"),
    runs: Annotated[int, typer.Option(min=2, help="Runs per curve.")] = 100,
    horizon: Annotated[int, typer.Option(min=2, help="Decisions per run.")] = 10_000,
    seed: Seed = 0,
) -> None:
    """Reproduce the paper's Figures 1 and 2 and check what their captions claim.

    Writes figure1 and figure2 as .png, .pdf and .nc, and claims.json. Exit code 1 if a claim is not met.
    """
    from corrbandits import landscapes, paper

    begun = time.monotonic()
    _directory(out)
    figures = paper.Figures.simulated(landscapes.two_peaks(), horizon, runs, seed)
    for number, (trace, title, until) in enumerate(
        [(figures.well, "Well-informed priors", 300), (figures.ill, "Ill-informed priors", 1_000)], start=1
    ):
        _write(trace, out / f"figure{number}", title, until)
    claims, untuned = paper.claims(figures), paper.untuned_counts(seed, horizon)
    record = {
        "settings": {"runs": runs, "horizon": horizon, "seed": seed},
        "claims": [asdict(claim) for claim in claims],
        "untuned": {
            "surfaces": paper.UNTUNED_SURFACES,
            "runs": paper.UNTUNED_RUNS,
            "horizon": min(horizon, paper.UNTUNED_HORIZON),
            "holds": untuned,
        },
    }
    (out / "claims.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    _print_claims(claims, untuned, figures)
    print(f"\nfigure1 and figure2 (.png, .pdf, .nc) and claims.json are in {out}/ ({time.monotonic() - begun:.0f} s)")
    if any(claim.met is False for claim in claims):
        raise typer.Exit(1)


@app.command()
def simulate(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; docs/getting-started describes it.")],
    out: Out = Path("results"),
) -> None:
    """Simulate the experiment described in a TOML file.

    Writes NAME.png, NAME.pdf and NAME.nc, NAME being the file's name without .toml, and prints a table.
    """
    from corrbandits.experiment import load
    from corrbandits.simulation import simulate as run

    described = load(experiment)
    _directory(out)
    trace = run(described.policies, described.environment, described.horizon, described.runs, described.seed)
    _write(trace, out / experiment.stem, experiment.stem, max(2, described.horizon // 10))
    _print_summary(trace)
    print(f"\n{experiment.stem} (.png, .pdf, .nc) is in {out}/")


def _write(trace: Trace, stem: Path, title: str, until: int) -> None:
    """Write a trace as a file of labelled arrays and as a figure in two formats."""
    from corrbandits import plots
    from corrbandits.environments import GaussianBandit
    from corrbandits.theory import lai_robbins

    trace.save(stem.with_suffix(".nc"))
    surface = GaussianBandit(trace.data["means"].values, trace.data["noise_variance"].values)
    bound = lai_robbins(surface, int(trace.data.sizes["time"]))
    figure = plots.regret_with_start(trace, title, lower_bound=bound, until=until)
    for ending in (".png", ".pdf"):
        plots.save(figure, stem.with_suffix(ending))


def _print_claims(claims: list[Claim], untuned: dict[str, int | None], figures: Figures) -> None:
    from rich.table import Table

    from corrbandits import paper

    table = Table(title="What the captions of Figures 1 and 2 claim", title_justify="left", show_lines=False)
    for heading in ("claim", "paper", "ours", "met", "untuned"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("met", "untuned"))
    for claim in claims:
        holds = untuned.get(claim.claim)
        verdict = {True: "yes", False: "NO", None: "-"}[claim.met]
        table.add_row(
            claim.claim, claim.paper, claim.ours, verdict, "" if holds is None else f"{holds}/{paper.UNTUNED_SURFACES}"
        )
    _console().print(table)
    print(
        "The surface, its high region and the two lengths are not in print: they were tuned to these captions.\n"
        f"untuned: on how many of {paper.UNTUNED_SURFACES} smooth surfaces that were not (mean 30, maximum 60; "
        f"{paper.UNTUNED_RUNS} runs to t = {min(figures.horizon, paper.UNTUNED_HORIZON):,}) the claim holds."
    )


def _print_summary(trace: Trace) -> None:
    from rich.table import Table

    band = trace.band().isel(time=-1)
    best = trace.data["means"].values.argmax()
    share = trace.counts.sel(arm=best).mean("run") / trace.data.sizes["time"]
    horizon, runs = trace.data.sizes["time"], trace.data.sizes["run"]
    table = Table(title=f"After {horizon:,} decisions, {runs:,} runs", title_justify="left")
    for heading in ("policy", "mean regret", "95 % band", "on the best arm", "initial steps"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for policy in trace.data["policy"].values.tolist():
        mean, low, high = (float(band[name].sel(policy=policy)) for name in ("mean", "low", "high"))
        interval = f"{low:,.1f} to {high:,.1f}" if runs > 1 else "needs 2 runs"
        steps = float(trace.initialisation.sel(policy=policy).mean())
        table.add_row(policy, f"{mean:,.1f}", interval, f"{float(share.sel(policy=policy)):.1%}", f"{steps:g}")
    _console().print(table)


def _console() -> Any:
    """Return where tables go: as wide as the terminal, or 120 columns into a file or pipe."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, markup=False, highlight=False)


def _directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / ".writable").touch()
        (out / ".writable").unlink()
    except OSError as error:
        raise OSError(
            f"results cannot be written into {out}: {error.strerror}. Name another directory with --out."
        ) from error


if __name__ == "__main__":
    main()
