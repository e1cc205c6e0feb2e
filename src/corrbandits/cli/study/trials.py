"""The commands of `corrbandits study` for trials and their rewards: what is typed every day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.study.options import At, Db, Json, Key, Name, Number, Replace, Reward, Source
from corrbandits.cli.study.parsing import number, opened, quoted, refuse_place, trial_number
from corrbandits.cli.study.printing import document, say, say_done, trials_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corrbandits.study import Snapshot, Study, Trial
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
    start: Annotated[
        str | None,
        typer.Option("--from", help="Where you are, if moves cost; else the last arm asked for.", metavar="ARM"),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write them to a file, for tell --from.", metavar="FILE")] = None,
    replace: Replace = False,
    repeats: Annotated[bool, typer.Option("--repeats", help="Of those at once, some may be of the same arm.")] = False,
    key: Key = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say what to try next, and note that it is being tried.

    Those asked for at once are of different arms. @FILE takes the arms from the column `name` of a CSV file.
    """
    if csv is not None:
        refuse_place(csv, replace=replace)
    with opened(db, name) as study:
        within = _within_reach(study, allowed, excepted)
        trials = study.ask(1 if count is None else count, allowed=within, repeats=repeats, start=start, key=key)
        now = study.snapshot()
    if as_json:
        from corrbandits.study.report import data

        document(data.asked(now, trials))
    else:
        trials_table(now, trials)
    if csv is not None:
        from corrbandits.cli.study.files import write_trials

        write_trials(csv, now, trials)  # last: if it fails, the trials have been said
    if not as_json:
        from corrbandits.policies import Wrapper

        if start is not None and not isinstance(now.settings.policy, Wrapper):
            say("Moves cost nothing in this study, so that --from changed nothing: see copy --move-cost.")
        if walk := _walk(now, trials, start):
            say(walk)
        then = f"its reward: corrbandits study tell {quoted(name)} {trials[0].number} REWARD"
        then = (
            then
            if csv is None
            else f"rewards in {csv}: corrbandits study tell {quoted(name)} --from {quoted(str(csv))}"
        )
        say(f"Next, with {then}")


def _walk(now: Snapshot, trials: Sequence[Trial], start: str | None) -> str:
    """Return in which order trials are best walked to, from where those are who measure."""
    from corrbandits.study.report.walking import walk_in_words

    before = trials[0].number - 1
    here = now.arms.index(start) if start is not None else now.trial(before).arm if before else None
    return walk_in_words(now.settings.policy, now.arms, [trial.arm for trial in trials], here)


def tell(
    name: Name,
    trial: Annotated[str | None, typer.Argument(help="The trial's number, as ask said it.", metavar="TRIAL")] = None,
    reward: Annotated[str | None, typer.Argument(help="The reward; decimals take a point.", metavar="REWARD")] = None,
    arm: Annotated[
        str | None, typer.Option(help="The arm, in place of the trial, if one of its trials is open.", metavar="ARM")
    ] = None,
    at: At = None,
    source: Source = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Tell the reward of a trial; the same again changes nothing.

    A file has columns trial and reward, as ask --csv writes it, and perhaps at, when it was measured; where a reward
    is empty there is none yet. Either all its rewards are recorded or, if one is wrong, none; given again, it changes
    nothing.
    """
    words = [word for word in (trial, reward) if word is not None]
    if source is not None:
        _refuse_words(words if arm is None else [*words, arm])
        from corrbandits.cli.study.files import tell_from

        with opened(db, name) as study:
            tell_from(study, source, at, as_json=as_json)
        return
    if len(words) != (2 if arm is None else 1):
        expected = "TRIAL REWARD" if arm is None else "--arm ARM REWARD"
        given = [*words, *([] if arm is None else ["--arm", arm])]
        missing = "; the reward is missing" if len(words) == (arm is None) else ""
        got = f"got {' '.join(given) or 'nothing'}{missing if given else ''}"
        raise ValueError(f"after the study must come {expected}, or --from FILE, {got}.")
    from corrbandits.study.batch import BadRowError

    value = number("a reward", words[-1])
    which = trial_number(words[0]) if arm is None else None
    with opened(db, name) as study:
        if which is None:
            which = study.snapshot().open_trial(arm or "").number
        try:
            new = study.tell_all([(which, value, at)])  # unlike `tell`, it says whether the reward was new
            refused = None
        except BadRowError as error:
            refused = error.__cause__ or error
        if refused is not None:  # not within `except`: an error must not be the context of its own cause
            _refuse_an_arm(study.snapshot(), which, words)
            raise refused
        say_done(study.snapshot(), "told", which, already=not new, as_json=as_json)


def observe(
    name: Name,
    arm: Annotated[str | None, typer.Argument(help="The arm's name.", metavar="ARM")] = None,
    reward: Annotated[str | None, typer.Argument(help="The reward; decimals take a point.", metavar="REWARD")] = None,
    key: Key = None,
    at: At = None,
    source: Source = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Add a reward that nobody had asked for.

    A file has columns name, reward and perhaps key and at, when it was measured; a row without a key is known by the
    file's name, or --key, and its line. Either all its rewards are recorded or, if one is wrong, none; given again,
    rows that are there count once.
    """
    if source is not None:
        _refuse_words([word for word in (arm, reward) if word is not None])
        from corrbandits.cli.study.files import observe_from

        with opened(db, name) as study:
            observe_from(study, source, key, at, as_json=as_json)
        return
    if arm is None or reward is None:
        raise ValueError(f"after the study must come ARM REWARD, or --from FILE, got {arm or 'nothing'}.")
    value = number("a reward", reward)
    with opened(db, name) as study:
        already = key is not None and key in study.snapshot().ledger.keys
        trial = study.observe(arm, value, key=key, at=at)
        say_done(study.snapshot(), "observed", trial.number, already=already, as_json=as_json)


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


def _refuse_an_arm(snapshot: Snapshot, trial: int, words: list[str]) -> None:
    """Refuse a number that is no trial's but an arm's name, and name the command for that."""
    known = len(snapshot.trials)
    if trial > known and words[0] in map(snapshot.arms.name, range(snapshot.arms.count)):
        command = f"corrbandits study tell {quoted(snapshot.name)} --arm {' '.join(map(quoted, words))}"
        raise ValueError(
            f"a trial must be one of the study's ({f'1 to {known:,}' if known else 'none yet'}), got {words[0]}. There "
            f"is an arm {words[0]!r}: {command}"
        )


def _refuse_words(words: list[str]) -> None:
    if words:
        raise ValueError(f"rewards must come from the file or from the command, got both: {' '.join(words)!r:.60}.")


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
    from corrbandits._shell.csv import missing_column, read_columns

    known, names = set(arms.names or ()), []
    for text in given:
        if text in known or not text.startswith("@"):
            names.append(text)
            continue
        columns = read_columns(text[1:])
        if (heading := columns.heading("name")) is None:
            raise missing_column(columns, "name", f"{text[1:]}, line 1")
        names += [name for _, name in columns[heading]]
    return names
