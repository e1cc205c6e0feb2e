"""The commands of `corrbandits study` for trials and their rewards: what is typed every day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.study.options import Db, Json, Key, Name, Number, Reward
from corrbandits.cli.study.parsing import number, opened, quoted, trial_number
from corrbandits.cli.study.printing import document, say, say_done, trials_table

if TYPE_CHECKING:
    from corrbandits.study import Study
    from corrbandits.study.arms import Arms


def ask(
    name: Name,
    count: Annotated[int | None, typer.Option("-n", min=1, help="So many at once, of different arms.")] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option(help="An arm within reach, again for each; or @FILE.", metavar="ARM"),
    ] = None,
    excepted: Annotated[
        list[str] | None,
        typer.Option("--except", help="An arm out of reach, again for each; or @FILE.", metavar="ARM"),
    ] = None,
    repeats: Annotated[bool, typer.Option("--repeats", help="Of those at once, some may be of the same arm.")] = False,
    key: Key = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say what to try next, and note that it is being tried.

    Those asked for at once are of different arms. @FILE takes the arms from the column `name` of a CSV file.
    """
    with opened(db, name) as study:
        within = _within_reach(study, allowed, excepted)
        trials = study.ask(1 if count is None else count, allowed=within, repeats=repeats, key=key)
        now = study.snapshot()
    if as_json:
        from corrbandits.study.report import data

        document(data.asked(now, trials))
        return
    trials_table(now, trials)
    say(f"Next, with its reward: corrbandits study tell {quoted(name)} {trials[0].number} REWARD")


def tell(name: Name, trial: Number, reward: Reward, db: Db = None, as_json: Json = False) -> None:
    """Tell the reward of a trial; the same again changes nothing."""
    which, value = trial_number(trial), number("a reward", reward)
    with opened(db, name) as study:
        study.tell(which, value)
        say_done(study.snapshot(), "told", which, as_json=as_json)


def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(help="The arm's name.", metavar="ARM")],
    reward: Reward,
    key: Key = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Add a reward that nobody had asked for."""
    value = number("a reward", reward)
    with opened(db, name) as study:
        trial = study.observe(arm, value, key=key)
        say_done(study.snapshot(), "observed", trial.number, as_json=as_json)


def amend(name: Name, trial: Number, reward: Reward, db: Db = None, as_json: Json = False) -> None:
    """Put another reward in place of a wrong one."""
    which, value = trial_number(trial), number("a reward", reward)
    with opened(db, name) as study:
        study.amend(which, value)
        say_done(study.snapshot(), "amended", which, as_json=as_json)


def cancel(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Give a trial up whose reward will not come."""
    which = trial_number(trial)
    with opened(db, name) as study:
        study.cancel(which)
        say_done(study.snapshot(), "cancelled", which, as_json=as_json)


def retract(name: Name, trial: Number, db: Db = None, as_json: Json = False) -> None:
    """Take a reward back, as if it had never come."""
    which = trial_number(trial)
    with opened(db, name) as study:
        study.retract(which)
        say_done(study.snapshot(), "retracted", which, as_json=as_json)


def _within_reach(study: Study, allowed: list[str] | None, excepted: list[str] | None) -> list[int] | None:
    """Return the arms that may be asked for; None for all."""
    if not allowed and not excepted:
        return None
    arms = study.arms
    within = {arms.index(name) for name in _names(arms, allowed)} if allowed else set(range(arms.count))
    left = sorted(within - {arms.index(name) for name in _names(arms, excepted or [])})
    if not left:
        raise ValueError("no arm is left that is allowed and not excepted. Allow one.")
    return left


def _names(arms: Arms, given: list[str]) -> list[str]:
    """Return the names of arms; @FILE stands for those of a file, unless an arm is called so."""
    from corrbandits._shell.csv import read_columns

    known, names = set(arms.names or ()), []
    for text in given:
        if text in known or not text.startswith("@"):
            names.append(text)
            continue
        columns = read_columns(text[1:])
        if "name" not in columns:
            raise ValueError(f"{text[1:]}, line 1: expected a column 'name', got {', '.join(columns)}. Add it.")
        names += [name for _, name in columns["name"]]
    return names
