"""The commands of `corrbandits study` that deal with files, pictures and whole studies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from corrbandits.cli.study.common import (
    Db,
    Json,
    Mean,
    Name,
    Replace,
    Sd,
    Sheet,
    database,
    document,
    harmless,
    history_rows,
    history_table,
    number_or_none,
    opened,
    refuse_existing,
    say,
    say_created,
)


def history(
    name: Name,
    csv: Annotated[Path | None, typer.Option(help="Write all trials to this file.", metavar="FILE")] = None,
    replace: Replace = False,
    last: Annotated[int, typer.Option(min=1, help="Print so many, the latest.")] = 20,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the trials; times are UTC."""
    if csv is not None:
        refuse_existing(csv, replace=replace)
    with opened(db, name) as study:
        trials = study.history()
        if csv is not None:
            study.to_csv(csv)
    if as_json:
        document({"study": name, "trials": history_rows(trials), "csv": None if csv is None else str(csv)})
    elif csv is not None:
        say(f"{len(trials):,} trials of {name} are in {csv}.")
    else:
        history_table(trials, last)


def export(
    name: Name,
    file: Annotated[Path | None, typer.Argument(help="By default STUDY.jsonl, here.", metavar="FILE")] = None,
    replace: Replace = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write a whole study to one file, for `import`."""
    path = Path(f"{harmless(name)}.jsonl") if file is None else file
    refuse_existing(path, replace=replace)
    with opened(db, name) as study:
        study.export(path)
    document({"study": name, "file": str(path)}) if as_json else say(f"{name} is in {path}.")


def import_(
    file: Annotated[Path, typer.Argument(help="A file that export wrote.", metavar="FILE")],
    name: Annotated[str | None, typer.Option(help="Another name for the study.")] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Take in a study from a file that `export` wrote."""
    from corrbandits.study import Study

    with Study.import_(database(db, create=True), file, name) as study:
        say_created(study, (), as_json=as_json)


def plot(
    name: Name,
    out: Annotated[Path, typer.Option(help="Directory the pictures go into.", file_okay=False)] = Path("results"),
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Draw what is believed and how sure that is.

    Writes STUDY-map.png and .pdf.
    """
    from corrbandits import plots
    from corrbandits._shell import outputs
    from corrbandits.study.report import maps

    with opened(db, name) as study:
        figure = maps.study_map(study)
    outputs.make_directory(out)
    stem = f"{harmless(name)}-map"
    with outputs.results(out) as files:
        for ending in (".png", ".pdf"):
            files.write(f"{stem}{ending}", plots.drawn(figure, ending))
    written = [str(out / f"{stem}{ending}") for ending in (".png", ".pdf")]
    document({"study": name, "files": written}) if as_json else say(f"{stem} (.png, .pdf) is in {out}/")


def add_arms(
    name: Name, arms: Sheet, prior_mean: Mean = None, prior_sd: Sd = None, db: Db = None, as_json: Json = False
) -> None:
    """Add the arms of a CSV file to a study with a kernel.

    The file has a column name, and those that say where arms lie, as the first had.
    """
    from corrbandits.study.setup import planning

    sheet = planning.read_sheet(arms)
    mean, sd = number_or_none("--prior-mean", prior_mean), number_or_none("--prior-sd", prior_sd)
    with opened(db, name) as study:
        before = study.arms.count
        study.add_arms(sheet.arms, **planning.more_arms(sheet, study.settings.prior, mean, sd))
        count = study.arms.count
    if as_json:
        document({"study": name, "arms": count, "added": count - before})
    else:
        say(f"{name} has {count:,} arms now: {count - before:,} were added.")


def copy(
    name: Name,
    new: Annotated[str, typer.Argument(help="What the copy is called.", metavar="NEW")],
    to: Annotated[str | None, typer.Option(help="Another database.", metavar="URL")] = None,
    noise_sd: Annotated[str | None, typer.Option(help="Another noise than was stated.", metavar="NUMBER")] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Copy a study; the two go separate ways.

    With another noise, too, all trials keep their numbers and rewards, and the open ones stay open.
    """
    from corrbandits.study.setup import planning

    noise = number_or_none("--noise-sd", noise_sd)
    with opened(db, name) as study:
        prior = None if noise is None else planning.with_noise(study.belief, noise)
        with study.copy(new, url=to, prior=prior) as copied:
            say_created(copied, (), as_json=as_json)


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Delete a study with all its rewards, for everybody."""
    with opened(db, name) as study:
        question = f"Delete {name} with {study.trials:,} trials from {study.database}, for everybody?"
        if not yes and (as_json or sys.stdin is None or not sys.stdin.isatty()):
            raise ValueError(f"to delete {name!r} say --yes. It cannot be undone: export it first if it may be missed.")
        if not yes:
            typer.echo(f"{question} [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise ValueError(f"{name!r} was not deleted.")
        study.delete()
    document({"study": name, "did": "deleted"}) if as_json else say(f"{name} is deleted.")
