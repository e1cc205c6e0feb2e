"""What the commands of `corrbandits study` have in common: their options, where studies are kept, what is printed."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corrbandits._shell import terminal

if TYPE_CHECKING:
    import pandas as pd

    from corrbandits.study import Study, Trial

LONGEST_STEM = 60
ROOM_FOR_TIMES = 76
NEGATIVE: dict[str, Any] = {"ignore_unknown_options": True}  # or -1.5 were taken for an option


class Goal(StrEnum):
    """What a study seeks."""

    max = "max"
    min = "min"


Name = Annotated[str, typer.Argument(help="The study.", metavar="STUDY")]
Number = Annotated[str, typer.Argument(help="The trial's number, as ask said it.", metavar="TRIAL")]
Reward = Annotated[str, typer.Argument(help="The reward; decimals take a point.", metavar="REWARD")]
Db = Annotated[
    str | None,
    typer.Option("--db", envvar="CORRBANDITS_DB", show_envvar=False, metavar="URL", help="A file, or postgresql://..."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Sheet = Annotated[Path, typer.Option("--arms", help="A CSV with columns name, x, y, ...", metavar="FILE")]
Mean = Annotated[str | None, typer.Option(help="Mean reward expected; or a column prior_mean.", metavar="NUMBER")]
Sd = Annotated[str | None, typer.Option(help="How far off that may be; or a column prior_sd.", metavar="NUMBER")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the file if there is one.")]


def database(db: str | None, *, create: bool = False) -> str:
    """Return where studies are kept; make the directory of the default file if one is to be created there."""
    if db is not None:
        return db
    from platformdirs import user_data_path

    directory = user_data_path("corrbandits", appauthor=False)
    if create:
        from corrbandits.study.journal import JournalError

        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(
                f"{directory}, where studies are kept, cannot be made: {error.strerror}. Name a database by --db."
            ) from error
    return str(directory / "studies.db")


def opened(db: str | None, name: str) -> Study:
    """Return a study of a database."""
    from corrbandits.study import Study

    return Study.open(database(db), name)


@contextmanager
def if_unsure(advice: str) -> Iterator[None]:
    """Say what to do if a connection broke while something was being saved."""
    from corrbandits.study.journal import JournalError

    try:
        yield
    except JournalError as error:
        if error.unsure:
            error.add_note(f"Nobody knows whether it was saved. {advice}")
        raise


def say_created(study: Study, remarks: tuple[str, ...], *, as_json: bool) -> None:
    """Say what there is now, and where."""
    from corrbandits.study.codec import policy_data
    from corrbandits.study.report.sentences import policy_in_words

    prior, policy, arms = study.settings.prior, study.settings.policy, study.arms.count
    if as_json:
        document(
            {
                "study": study.name,
                "database": study.database,
                "arms": arms,
                "prior": prior.in_words(),
                "policy": policy_data(policy),
                "trials": study.trials,
                "remarks": list(remarks),
            }
        )
        return
    say(f"{study.name}: {arms:,} arms, {study.trials:,} trials, in {study.database}")
    say(f"prior   {prior.in_words()}", f"policy  {policy_in_words(policy)}", *remarks)
    say(f"Next: corrbandits study ask {quoted(study.name)}")


def say_done(study: Study, did: str, trial: int, *, as_json: bool) -> None:
    """Say what was done to a trial, the reward that counts, and whether it surprises."""
    one, waiting, reward = study.trial(trial), len(study.open_trials), study.reward(trial)
    surprise = next((found for found in study.surprises() if found.arm == one.arm and reward is not None), None)
    if as_json:
        told = {"reward": reward, "open": waiting, "surprise": None if surprise is None else surprise.z}
        document({"study": study.name, "did": did, **trial_data(study, one), **told})
        return
    value = "" if reward is None else f": {reward:.15g}"
    say(f"trial {one.number} ({one.name}) {did}{value}; {waiting:,} open")
    if surprise is not None:
        from corrbandits.study.report.sentences import surprise_in_words

        say(surprise_in_words(surprise), f"If it is wrong: corrbandits study amend {quoted(study.name)} {trial} REWARD")


def refuse_existing(path: Path, *, replace: bool) -> None:
    """Refuse to write over a file, unless that was said."""
    if path.exists() and not replace:
        raise ValueError(f"{path} is there already and stays as it is. Name another file, or say --replace.")


def number_or_none(what: str, text: str | None) -> float | None:
    """Return the number that an option says, if it was given."""
    from corrbandits.study.setup.planning import number

    return None if text is None else number(what, text)


def reward_of(text: str) -> float:
    """Return the reward that a text says."""
    from corrbandits.study.setup.planning import number

    return number("a reward", text)


def trial_number(text: str) -> int:
    """Return the number of a trial that a text says."""
    if re.fullmatch(r"\d{1,18}", text, re.ASCII):
        return int(text)
    raise ValueError(
        f"a trial is a number that ask said, such as 17, got {text!r:.60}. For a reward nobody asked for, observe "
        "takes the name of an arm."
    )


def quoted(name: str) -> str:
    """Return a name as one would type it."""
    return f"-- {shlex.quote(name)}" if name.startswith("-") else shlex.quote(name)


def say(*sentences: str) -> None:
    """Print sentences, each on lines of its own."""
    terminal.say(sentences)


def document(data: Any) -> None:
    """Print one JSON document; what is not finite is null."""
    typer.echo(json.dumps(_finite(data), allow_nan=False))


def trial_data(study: Study, trial: Trial) -> dict[str, Any]:
    """Return a trial and where its arm lies."""
    arms = study.arms
    data: dict[str, Any] = {"trial": trial.number, "arm": trial.arm, "name": trial.name}
    if arms.coordinates is not None:
        data["coordinates"] = dict(zip(arms.axes, arms.coordinates[trial.arm].tolist(), strict=True))
    return data


def as_table(study: Study, trials: Sequence[Trial]) -> None:
    """Print trials and where their arms lie."""
    arms = study.arms
    rows = []
    for trial in trials:
        where = () if arms.coordinates is None else arms.coordinates[trial.arm].tolist()
        rows.append((str(trial.number), trial.name, *(f"{x:.10g}" for x in where)))
    terminal.show([terminal.table(("trial", "arm", *arms.axes), rows, left=2)], terminal.console())


def history_table(trials: pd.DataFrame, last: int) -> None:
    """Print the last trials, and how many there are; narrow terminals show no times."""
    shown, out = history_rows(trials.tail(last)), terminal.console()
    amended = any(row["first_reward"] != row["reward"] for row in shown if row["status"] in ("told", "observed"))
    times = ("asked", "told") if out.width >= ROOM_FOR_TIMES else ()
    rows = []
    for row in shown:
        rewards = (_cell(row[key]) for key in (("reward", "first_reward") if amended else ("reward",)))
        moments = ((row[key] or "")[2:16].replace("T", " ") for key in times)
        rows.append((str(row["trial"]), row["name"], row["status"], *rewards, *moments))
    rewards_said = ("reward", "first told") if amended else ("reward",)
    heads = ("trial", "arm", "status", *rewards_said, *(f"{key} (UTC)" for key in times))
    made = terminal.table(heads, rows, left=3)
    made.columns[0].no_wrap = made.columns[2].no_wrap = True
    terminal.show([made], out)
    if len(shown) < len(trials):
        say(f"the last {len(shown):,} of {len(trials):,} trials; --csv FILE or --json gives all")


def history_rows(trials: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the trials as data, times as text in ISO 8601."""
    import pandas as pd

    rows = []
    for row in trials.to_dict("records"):
        times = {key: None if pd.isna(row[key]) else row[key].isoformat() for key in ("asked", "told")}
        rows.append({str(key): value for key, value in row.items()} | times)
    return rows


def harmless(name: str) -> str:
    """Return a name that a file may have anywhere: letters, digits, - _ and points, none of these at the beginning.

    >>> harmless("../../etc/my meadow"), harmless("..")
    ('etc-my-meadow', 'study')
    """
    signs = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
    return signs.strip("-_.")[:LONGEST_STEM] or "study"


def _cell(value: Any) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.10g}"


def _finite(data: Any) -> Any:
    """Return data with null for every number that is not finite, which JSON cannot say."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
