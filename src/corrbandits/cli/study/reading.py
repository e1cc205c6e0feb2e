"""The commands of `corrbandits study` that say where a study stands, and change nothing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from corrbandits._shell.numbers import counted
from corrbandits.cli.study.options import Db, Json, Name, Number, Replace
from corrbandits.cli.study.parsing import (
    database,
    harmless,
    number_or_none,
    opened,
    quoted,
    refuse_place,
    trial_number,
)
from corrbandits.cli.study.printing import document, history_table, say, studies_table


def list_(db: Db = None, as_json: Json = False) -> None:
    """List the studies of a database, with how many trials each has and when it changed last; times are UTC."""
    from corrbandits.study.report import listing

    where = database(db)
    found = listing.listing(where) if db is not None or Path(where).exists() else []
    if as_json:
        document({"studies": [one["study"] for one in found], "details": found})
    elif found:
        studies_table(found)
    else:
        say("no studies yet: corrbandits study create")


def check(
    name: Annotated[str | None, typer.Argument(help="By default every study.", metavar="STUDY")] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say of every study, or of one, whether it is whole, event by event.

    Changes nothing. Exit code 3 if something is damaged.
    """
    from corrbandits.study import Study

    where = database(db)
    found = [finding for finding in Study.check(where) if name is None or finding.study in (None, name)]
    if name is not None and all(finding.study is None for finding in found):
        with opened(db, name):  # refuses a name that is not there
            pass
    hurt = [finding for finding in found if not finding.whole]
    if as_json:
        document({"whole": not hurt, "findings": [asdict(finding) for finding in found]})
    else:
        say(*(map(str, found) if found else ("no studies yet: corrbandits study create",)))
        if hurt:
            say(
                "Copy the database away before anything else. A study that is whole can still be exported. For one "
                "that is not, take in its last export, in another database: corrbandits study import FILE --db URL"
            )
    if hurt:
        raise typer.Exit(3)


def show(
    name: Name,
    top: Annotated[int, typer.Option(min=1, help="How many of the best arms.")] = 10,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands, with a map of the arms.

    Warns if the rewards contradict what was stated of mean, sd, length or noise.
    """
    from corrbandits._shell import terminal

    with opened(db, name) as study:
        now = study.snapshot()
    found = now.overview(top)
    if as_json:
        document(found.data())
    else:
        found.print(terminal.console())
        if now.arms.coordinates is not None and found.map is None:
            say("", f"For a picture of the arms: corrbandits study plot {quoted(name)}")


def best(
    name: Name,
    stop_loss: Annotated[
        str | None, typer.Option(help="Exit 0 if to stop now costs at most this, else 1.", metavar="LOSS")
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say which arm is the best so far, and how sure that is.

    The cost of stopping is how far its mean reward lies behind the best arm's, on average over draws from what is
    believed; two standard errors are added before it is compared with --stop-loss. While the rewards contradict what
    was stated of mean, sd, length or noise, that is said first, and nothing is enough.
    """
    from corrbandits._core import checks
    from corrbandits.study.report import data
    from corrbandits.study.report.overview import best_in_words

    loss = number_or_none("--stop-loss", stop_loss)
    if loss is not None:
        checks.number("--stop-loss", loss, least=0)
    with opened(db, name) as study:
        now = study.snapshot()
    found = now.stopping(loss)
    if as_json:
        document(data.stopping(now, found))
    else:
        enough = {None: "", True: ". That is enough", False: ". That is not yet enough"}[found.enough]
        rewards = bool(now.ledger.tally.counts.any())
        said = found.reason.rstrip(".") if found.reason else best_in_words(found.best, rewards=rewards)
        say(*found.doubts, *found.remarks, f"{said}{enough}.")
    if found.enough is False:
        raise typer.Exit(1)


def explain(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Say why an arm was chosen, from what was known then."""
    from corrbandits.study.report import data

    which = trial_number(trial)
    with opened(db, name) as study:
        found = study.explain(which)
        other = study.arms.name(found.replayed) if found.replayed != found.chosen.arm else None
    if as_json:
        document(data.explanation(name, found))
        return
    say(str(found))
    if other is not None:
        say(f"From the same events this machine would choose {other}: another version or processor chose then.")


def history(
    name: Name,
    csv: Annotated[Path | None, typer.Option(help="Write all trials to this file.", metavar="FILE")] = None,
    replace: Replace = False,
    last: Annotated[int, typer.Option(min=1, help="Print so many, the latest.")] = 20,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the trials; times are UTC."""
    from corrbandits.study.report import data

    if csv is not None:
        refuse_place(csv, replace=replace)
    with opened(db, name) as study:
        now = study.snapshot()
    if csv is not None:
        now.to_csv(csv)
    if as_json:
        document({"study": name, "trials": data.history(now), "csv": None if csv is None else str(csv)})
    elif csv is not None:
        say(f"{csv} has {counted(len(now.trials), 'trial')} of {name}.")
    else:
        history_table(data.history(now), last, timed=now.ledger.recipe.in_real_time)


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
