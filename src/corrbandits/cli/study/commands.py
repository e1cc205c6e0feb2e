"""The commands of `corrbandits study`: parse, call, print a sentence, a table or one JSON document.

Nothing heavy loads before it is needed: `ask` and `tell` need neither pandas nor matplotlib.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corrbandits.cli.study import files as study_files
from corrbandits.cli.study.common import (
    NEGATIVE,
    Db,
    Goal,
    Json,
    Mean,
    Name,
    Number,
    Reward,
    Sd,
    Sheet,
    as_table,
    database,
    document,
    if_unsure,
    number_or_none,
    opened,
    quoted,
    reward_of,
    say,
    say_created,
    say_done,
    trial_data,
    trial_number,
)

if TYPE_CHECKING:
    from corrbandits.study import Study

app = typer.Typer(
    help="""Keep a study: ask what to try, tell its reward.

    Studies are kept in a database: --db, or the variable CORRBANDITS_DB, or else a file of your own. Exit codes: 0
    done; 1 `best --stop-loss`: not yet enough; 2 bad input; 3 the database could not be reached or written, nothing
    is lost, do the same again; 130 stopped by Ctrl-C.
    """,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command()
def create(
    name: Name,
    arms: Sheet,
    noise_sd: Annotated[str, typer.Option(help="Standard deviation of one reward's noise.", metavar="NUMBER")],
    kernel: Annotated[str | None, typer.Option(help="How arms resemble each other, such as exponential.")] = None,
    length: Annotated[list[str] | None, typer.Option(help="How far; once, or per axis.", metavar="NUMBER")] = None,
    distance: Annotated[str | None, typer.Option(help="euclidean, cityblock, great_circle or chordal.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Of the kernel rational_quadratic.", metavar="NUMBER")] = None,
    prior_mean: Mean = None,
    prior_sd: Sd = None,
    policy: Annotated[str | None, typer.Option(help="The rule that chooses, such as Thompson.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the rule, such as a=3.3.", metavar="NAME=VALUE")
    ] = None,
    goal: Annotated[Goal, typer.Option(help="Whether rewards should be large or small.")] = Goal.max,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all randomness.")] = 0,
    once: Annotated[bool, typer.Option("--once", help="No arm may be tried twice.")] = False,
    timeout: Annotated[
        str | None, typer.Option(help="After this an open trial expires: 90s, 30min, 36h, 14d, 6w.", metavar="TIME")
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Begin a study of the arms in a CSV file.

    Columns: name; where an arm lies (x and y, x, or latitude and longitude); prior_mean and prior_sd, if known; others
    are kept as attributes. Kernels: exponential, squared_exponential, matern32, matern52, rational_quadratic; without
    one, arms say nothing of each other. Without a prior sd, 10 times the noise sd stands for it, or without a kernel,
    that nothing is known. The rule is UCL unless --policy names another: the paper's CorrelatedUCL tries every arm
    first whose prior sd is above the noise sd.
    """
    from corrbandits.study import Study
    from corrbandits.study.setup import planning

    sheet = planning.read_sheet(arms)
    lengths = [planning.number("--length", text) for text in length or ()]
    if kernel is None and (lengths or distance or alpha):
        raise ValueError("--length, --distance and --alpha are of a kernel, got none. Add --kernel exponential.")
    shape = number_or_none("--alpha", alpha)
    planned = planning.plan(
        sheet,
        noise_sd=planning.number("--noise-sd", noise_sd),
        kernel=None if kernel is None else planning.kernel_called(kernel, lengths, distance, shape, sheet.axes),
        prior_mean=number_or_none("--prior-mean", prior_mean),
        prior_sd=number_or_none("--prior-sd", prior_sd),
        policy=policy,
        parameters=planning.settings(parameters or ()),
    )
    rest: dict[str, Any] = {"seed": seed, "goal": goal.value, "repeat": not once}
    rest["timeout"] = None if timeout is None else planning.seconds(timeout)
    where = database(db, create=True)
    with Study.create(where, name, prior=planned.prior, policy=planned.policy, arms=sheet.arms, **rest) as study:
        say_created(study, planned.remarks, as_json=as_json)


@app.command("list")
def list_(db: Db = None, as_json: Json = False) -> None:
    """List the studies of a database."""
    from corrbandits.study import Study

    where = database(db)
    names = Study.list(where) if db is not None or Path(where).exists() else ()
    if as_json:
        document({"studies": list(names)})
    else:
        say(*(names or ("no studies yet: corrbandits study create",)))


@app.command()
def show(
    name: Name,
    top: Annotated[int, typer.Option(min=1, help="How many of the best arms.")] = 10,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands, with a map of grids.

    Warns if rewards of the same arm vary otherwise than the stated noise.
    """
    from corrbandits._shell import terminal

    with opened(db, name) as study:
        found, placed = study.overview(top), study.arms.coordinates is not None
    if as_json:
        document(found.data())
    else:
        found.print(terminal.console())
        if placed and found.map is None:
            say("", f"The arms lie on no regular grid; for a map: corrbandits study plot {quoted(name)}")


@app.command()
def ask(
    name: Name,
    count: Annotated[int | None, typer.Option("-n", min=1, help="So many at once, which spread out.")] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option(help="An arm within reach, again for each; or @FILE.", metavar="ARM"),
    ] = None,
    excepted: Annotated[
        list[str] | None,
        typer.Option("--except", help="An arm out of reach, again for each; or @FILE.", metavar="ARM"),
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say what to try next, and note that it is being tried.

    @FILE takes the arms from the column `name` of a CSV file.
    """
    with opened(db, name) as study, if_unsure("See by show whether trials were opened before you ask again."):
        trials = study.ask(1 if count is None else count, allowed=_within_reach(study, allowed, excepted))
        if as_json:
            document({"study": name, "trials": [trial_data(study, trial) for trial in trials]})
            return
        as_table(study, trials)
        say(f"Next, with its reward: corrbandits study tell {quoted(name)} {trials[0].number} REWARD")


@app.command(context_settings=NEGATIVE)
def tell(name: Name, trial: Number, reward: Reward, db: Db = None, as_json: Json = False) -> None:
    """Tell the reward of a trial; the same again changes nothing."""
    number, value = trial_number(trial), reward_of(reward)
    with opened(db, name) as study:
        study.tell(number, value)
        say_done(study, "told", number, as_json=as_json)


@app.command(context_settings=NEGATIVE)
def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(help="The arm's name.", metavar="ARM")],
    reward: Reward,
    key: Annotated[str | None, typer.Option(help="Such as a receipt's number: counted once.")] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Add a reward that nobody had asked for."""
    value, own = reward_of(reward), secrets.token_hex(8) if key is None else key
    again = f"To do it again and not count it twice, add --key {own}."
    with opened(db, name) as study, if_unsure(again):
        trial = study.observe(arm, value, key=own)
        say_done(study, "observed", trial.number, as_json=as_json)


@app.command(context_settings=NEGATIVE)
def amend(name: Name, trial: Number, reward: Reward, db: Db = None, as_json: Json = False) -> None:
    """Put another reward in place of a wrong one."""
    number, value = trial_number(trial), reward_of(reward)
    with opened(db, name) as study:
        study.amend(number, value)
        say_done(study, "amended", number, as_json=as_json)


@app.command()
def cancel(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Give a trial up whose reward will not come."""
    number = trial_number(trial)
    with opened(db, name) as study:
        study.cancel(number)
        say_done(study, "cancelled", number, as_json=as_json)


@app.command()
def retract(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Take a reward back, as if it had never come."""
    number = trial_number(trial)
    with opened(db, name) as study:
        study.retract(number)
        say_done(study, "retracted", number, as_json=as_json)


@app.command()
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
    believed; two standard errors are added before it is compared with --stop-loss.
    """
    from dataclasses import asdict

    from corrbandits._core import checks
    from corrbandits.study.report.overview import best_in_words

    loss = number_or_none("--stop-loss", stop_loss)
    if loss is not None:
        checks.number("--stop-loss", loss, least=0)
    with opened(db, name) as study:
        try:
            found, why = study.best(), None
        except ValueError as error:
            if loss is None:
                raise
            found, why = None, str(error)
    enough = None if loss is None else found is not None and found.enough(loss)
    if as_json:
        data = {} if found is None else asdict(found)
        document({"study": name, "best": data or None, "reason": why, "stop_loss": loss, "enough": enough})
    else:
        verdict = {None: "", True: ". That is enough", False: ". That is not yet enough"}[enough]
        say(f"{why.rstrip('.') if why else best_in_words(found)}{verdict}.")
    if enough is False:
        raise typer.Exit(1)


@app.command()
def explain(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Say why an arm was chosen, from what was known then."""
    from dataclasses import asdict

    number = trial_number(trial)
    with opened(db, name) as study:
        found = study.explain(number)
        other = study.arms.name(found.replayed) if found.replayed != found.chosen.arm else None
    if as_json:
        document({"study": name, **asdict(found)})
        return
    say(str(found))
    if other is not None:
        say(f"From the same events this machine would choose {other}: another version or processor chose then.")


for _name, _command in (
    ("history", study_files.history),
    ("export", study_files.export),
    ("import", study_files.import_),
    ("plot", study_files.plot),
    ("add-arms", study_files.add_arms),
    ("copy", study_files.copy),
    ("delete", study_files.delete),
):
    app.command(_name)(_command)


def _within_reach(study: Study, allowed: list[str] | None, excepted: list[str] | None) -> list[int] | None:
    """Return the arms that may be asked for; None for all."""
    if not allowed and not excepted:
        return None
    arms = study.arms
    within = {arms.index(name) for name in _arms(study, allowed)} if allowed else set(range(arms.count))
    left = sorted(within - {arms.index(name) for name in _arms(study, excepted or [])})
    if not left:
        raise ValueError("no arm is left that is allowed and not excepted. Allow one.")
    return left


def _arms(study: Study, given: list[str]) -> list[str]:
    """Return the names of arms; @FILE stands for those of a file, unless an arm is called so."""
    from corrbandits._shell.csv import read_columns

    known, names = set(study.arms.names or ()), []
    for text in given:
        if text in known or not text.startswith("@"):
            names.append(text)
            continue
        columns = read_columns(text[1:])
        if "name" not in columns:
            raise ValueError(f"{text[1:]}, line 1: expected a column 'name', got {', '.join(columns)}. Add it.")
        names += [name for _, name in columns["name"]]
    return names
