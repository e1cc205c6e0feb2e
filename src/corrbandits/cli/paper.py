"""The commands on the paper: `reproduce`, `errata` and `audit`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.options import Out, Seed

if TYPE_CHECKING:
    from corrbandits.paper.errata import Erratum
    from corrbandits.paper.reproduction import Claim


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
    from corrbandits.environments import landscapes
    from corrbandits.paper import files, reproduction

    begun = time.monotonic()
    outputs.make_directory(out)
    figures = reproduction.Figures.simulated(landscapes.two_peaks(), horizon, runs, seed)
    claims, untuned = reproduction.claims(figures), reproduction.untuned_counts(seed, horizon)
    with outputs.results(out) as results:
        files.write(results, figures, claims, untuned, {"runs": runs, "horizon": horizon, "seed": seed})
    _print_claims(claims, untuned, horizon)
    typer.echo(
        f"\nfigure1 and figure2 (.png, .pdf, .nc), bounds1 and bounds2 (.png, .pdf) and claims.json are in {out}/ "
        f"({time.monotonic() - begun:.0f} s)"
    )
    if any(claim.met is False for claim in claims):
        raise typer.Exit(1)


def errata(
    check: Annotated[bool, typer.Option("--check", help="Compute the evidence of each, and say if it held.")] = False,
) -> None:
    """List the mistakes in the print; --check tests each.

    Exit code 1 if a check fails.
    """
    from corrbandits.paper.errata import ERRATA, failed_checks

    failed = failed_checks(ERRATA) if check else None
    _print_errata(ERRATA, failed)
    if failed:
        raise typer.Exit(1)


def audit(
    problems: Annotated[int, typer.Option(min=0, help="Random problems.")] = 200,
    runs: Annotated[int, typer.Option(min=2, help="Runs per random problem.")] = 100,
    seed: Seed = 0,
    out: Out = Path("results"),
) -> None:
    """Compare the theorems' bounds with simulated counts.

    Takes random problems, twenty like the counterexample to Theorem 2 as printed, and ten whose mean rewards are
    drawn from the prior, on which regrets are compared with the Bayesian bound; writes audit.csv.
    """
    from corrbandits._shell import outputs
    from corrbandits.paper.audit import run

    outputs.make_directory(out)
    found = run(problems, runs, seed)
    with outputs.results(out) as files:
        files.write("audit.csv", found.to_csv().encode())
    typer.echo(f"{found}\n\naudit.csv is in {out}/")


def _print_claims(claims: Sequence[Claim], untuned: Mapping[str, int | None], horizon: int) -> None:
    """Print what the captions claim, what was found, and on how many untuned surfaces it holds."""
    from corrbandits._shell import terminal
    from corrbandits.paper.reproduction import UNTUNED_HORIZON, UNTUNED_RUNS, UNTUNED_SURFACES

    rows = []
    for claim in claims:
        holds, met = untuned.get(claim.claim), {True: "yes", False: "NO", None: "-"}[claim.met]
        rows.append((claim.claim, claim.paper, claim.ours, met, "" if holds is None else f"{holds}/{UNTUNED_SURFACES}"))
    heads, title = ("claim", "paper", "ours", "met", "untuned"), "What the captions of Figures 1 and 2 claim"
    terminal.show([terminal.table(heads, rows, left=3, title=title), ""], terminal.console())
    terminal.say(
        [
            "The surface, its high region and the two lengths are not in print: they were tuned to these captions.",
            f"untuned: on how many of {UNTUNED_SURFACES} smooth surfaces that were not (mean 30, maximum 60; "
            f"{UNTUNED_RUNS} runs to t = {min(horizon, UNTUNED_HORIZON):,}) the claim holds.",
        ]
    )


def _print_errata(errata: Sequence[Erratum], failed: Mapping[int, str] | None) -> None:
    """Print a row per finding; `failed` says which checks failed, or is None if none was run."""
    from corrbandits._shell import terminal

    rows = []
    for erratum in errata:
        check = () if failed is None else ("failed" if erratum.number in failed else "held",)
        rows.append((str(erratum.number), erratum.where, erratum.printed, erratum.corrected, *check))
    heads = "no.", "where", "printed", "corrected", *(() if failed is None else ("check",))
    terminal.show([terminal.table(heads, rows, left=4, show_lines=True), ""], terminal.console())
    if failed is not None:
        terminal.say([f"{number}: {found}" for number, found in failed.items()])
        terminal.say([f"{len(errata) - len(failed)} of {len(errata)} findings held."])
