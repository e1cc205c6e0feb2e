"""The command `corrbandits fit`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.options import Out, Threads, saying_what_is_saved

if TYPE_CHECKING:
    from corrbandits.fits.standings import Standings

Column = Annotated[str | None, typer.Option(help="The column, if it has none of the usual names.")]


def fit(
    choices: Annotated[Path, typer.Argument(help="A CSV file with a row per trial; docs/people describes it.")],
    models: Annotated[
        str | None,
        typer.Option(
            help="Models, apart by commas: correlated, independent, greedy, UCL, CorrelatedUCL, "
            "CorrelatedUCL-plain, HorizonUCL; the first three if left out, or those that need no places."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter, as in noise=0.01, length=free or UCL.prior_sd=10; may be repeated."),
    ] = None,
    kernel: Annotated[str, typer.Option(help="How correlation falls with distance.")] = "squared_exponential",
    given: Annotated[int, typer.Option(min=0, help="Trials at the start of a round that were shown, not chosen.")] = 0,
    person: Column = None,
    round_: Annotated[
        str | None, typer.Option("--round", help="The column; without one, all trials are one round.")
    ] = None,
    trial: Column = None,
    arm: Annotated[
        str | None, typer.Option(help="The column of the arm, an index from 0, or of where it lies, as in x,y.")
    ] = None,
    reward: Column = None,
    horizon: Annotated[
        str | None, typer.Option(help="The column of how many choices the person knew there to be.")
    ] = None,
    arms: Annotated[
        Path | None, typer.Option(help="A CSV file of where all arms lie; by default, the grid of all that occur.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option(help="Foresee each round from the others; without, models are compared by BIC.")
    ] = True,
    out: Out = Path("results"),
    threads: Threads = None,
) -> None:
    """Say which prior and rule explain each person's choices.

    Writes NAME-fit-people.csv, NAME-fit-models.csv, NAME-fit.html, NAME-fit-models and NAME-fit-parameters (.png,
    .pdf), and prints what was found. Every person who is fitted is kept in NAME-fit.jsonl: after a kill or Ctrl-C the
    same command goes on where it was, and only people whose trials have changed are fitted anew.
    """
    from corrbandits._shell import outputs
    from corrbandits.fits.campaign import run
    from corrbandits.fits.files import write
    from corrbandits.fits.models import described, named, usual
    from corrbandits.fits.outcomes import Outcomes
    from corrbandits.fits.standings import standings
    from corrbandits.fits.tables import Headings, read_people

    headings = Headings(person, round_, trial, _parts(arm), reward, horizon)
    people = read_people(choices, headings, given=given, arms=arms)
    names = _parts(models) or usual(coordinates=people[0].coordinates is not None)
    fitted = named(names, kernel, settings or [])
    name = f"{choices.name.removesuffix('.csv') or choices.name}-fit"
    outputs.make_directory(out, names=[f"{name}-parameters.png"])
    with saying_what_is_saved(out):
        kept, number = Outcomes(out / f"{name}.jsonl"), threads or os.cpu_count() or 1
        outcomes = run(people, fitted, kept, threads=number, leave_out=leave_out)
        found = standings(outcomes)
        with outputs.results(out, inputs=[choices]) as files:
            write(files, name, found, {each: described(each, model) for each, model in fitted.items()})
    _print(found)
    typer.echo(f"{name}-people.csv, {name}-models.csv, {name}.html and figures (.png, .pdf) are in {out}/")


def _parts(text: str | None) -> tuple[str, ...]:
    """Return what is apart by commas.

    >>> _parts("x, y"), _parts(None)
    (('x', 'y'), ())
    """
    return () if text is None else tuple(part.strip() for part in text.split(","))


def _print(found: Standings) -> None:
    """Print what was found, and a row per model."""
    from corrbandits._shell import terminal
    from corrbandits._shell.numbers import number
    from corrbandits.fits.sentences import percent, sentences

    heads = "model", "parameters", "AIC", "BIC", "left out", "explained", "best for", "follow it", "protected"
    cells = [
        (
            row.model,
            str(row.parameters),
            *(number(value, 5) for value in (row.aic, row.bic, row.foreseen)),
            percent(row.share_explained),
            str(row.best_for),
            percent(row.share),
            f"{row.protected:.3f}",
        )
        for row in found.rows
    ]
    terminal.say(sentences(found))
    terminal.show(["", terminal.table(heads, cells), ""], terminal.console())
