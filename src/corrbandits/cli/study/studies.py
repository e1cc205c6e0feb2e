"""The commands of `corrbandits study` that make, extend, copy and delete whole studies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from corrbandits._shell.numbers import counted
from corrbandits.cli.study.options import (
    Db,
    Drift,
    Goal,
    Json,
    Key,
    Mean,
    Name,
    Parameters,
    Replace,
    Rewards,
    Sd,
    Sheet,
)
from corrbandits.cli.study.parsing import (
    database,
    days,
    harmless,
    naming_options,
    number,
    number_or_none,
    number_or_range,
    opened,
    option_names,
    refuse_place,
    seconds,
)
from corrbandits.cli.study.parsing import parameters as parsed_parameters
from corrbandits.cli.study.printing import document, say, say_created
from corrbandits.kernels import KERNELS
from corrbandits.moves import Moves

RANGE = "NUMBER|RANGE"

BETA = "So many {} are taken for seen, of rewards 0 and 1; 1 by default."


def create(
    name: Name,
    arms: Sheet,
    rounds: Annotated[int | None, typer.Option(min=1, help="How many rewards there will be in all.")] = None,
    noise_sd: Annotated[
        str | None, typer.Option(help="Standard deviation of one reward's noise, if known.", metavar=RANGE)
    ] = None,
    rewards: Annotated[Rewards, typer.Option(help="Numbers with Gaussian noise, or 0 and 1.")] = Rewards.gaussian,
    successes: Annotated[str | None, typer.Option(help=BETA.format("successes"), metavar="NUMBER")] = None,
    failures: Annotated[str | None, typer.Option(help=BETA.format("failures"), metavar="NUMBER")] = None,
    kernel: Annotated[
        str | None, typer.Option(help=f"How arms resemble each other: {', '.join(KERNELS)}, or none.")
    ] = None,
    length: Annotated[list[str] | None, typer.Option(help="How far, if known; or per axis.", metavar=RANGE)] = None,
    per_axis: Annotated[
        bool, typer.Option("--per-axis", help="A length of its own along each axis: their units differ.")
    ] = False,
    distance: Annotated[str | None, typer.Option(help="euclidean, cityblock, great_circle or chordal.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Of the kernel rational_quadratic.", metavar="NUMBER")] = None,
    prior_mean: Mean = None,
    prior_sd: Sd = None,
    history: Annotated[
        Path | None,
        typer.Option(help="A CSV of earlier rewards: columns name, reward and, if several, season.", metavar="FILE"),
    ] = None,
    drift: Drift = None,
    policy: Annotated[str | None, typer.Option(help="The rule that chooses, such as Thompson.")] = None,
    parameters: Parameters = None,
    move_cost: Annotated[
        str | None, typer.Option(help="What a move to another arm costs, in rewards.", metavar="NUMBER")
    ] = None,
    move_cost_per: Annotated[
        str | None, typer.Option(help="What it costs per unit of distance, or km.", metavar="NUMBER")
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

    Columns: name; where an arm lies (x and y, x, or latitude and longitude); prior_mean and prior_sd, or, for rewards
    0 and 1, prior_successes and prior_failures, if known; others are kept as attributes. What you know of noise,
    length, mean and sd may be a number or a range, such as 100..400; what you leave out is learnt from the rewards.
    Arms that lie near each other are taken to be alike as far as the rewards show it; --kernel none if they cannot be.
    With --drift rewards say less the longer ago they were measured (tell --at); without it they say as much for ever.
    The rule is the one that lost least in our measurements, unless --policy names another.
    """
    from corrbandits.study import Study, setup
    from corrbandits.study.untold import way_in_words

    gaussian = {"--noise-sd": noise_sd, "--kernel": kernel, "--prior-mean": prior_mean, "--prior-sd": prior_sd}
    beta = {"--successes": successes, "--failures": failures}
    lengths = [number_or_range("--length", text) for text in length or ()]
    told = {name: number_or_range(name, text) for name, text in gaussian.items() if name != "--kernel"}
    shape, limit = number_or_none("--alpha", alpha), None if timeout is None else seconds(timeout)
    with naming_options():
        sheet = setup.read_sheet(arms)
        if policy is None and parameters:
            raise ValueError("--set is for a rule, got none. Name it by --policy.")
        rule = None if policy is None else setup.policy_called(policy, parsed_parameters(parameters or ()), rounds)
        if rewards is Rewards.bernoulli:
            _refuse_given(gaussian, "rewards with Gaussian noise", "--rewards bernoulli")
            counts = {
                name: number_or_none(f"--{name}", text)
                for name, text in (("successes", successes), ("failures", failures))
            }
            _refuse_given(
                {"--history": None if history is None else str(history), "--drift": drift},
                "rewards with Gaussian noise",
                "--rewards bernoulli",
            )
            plan = setup.plan_of_zeros_and_ones(sheet, rule, rounds=rounds, **counts)
        else:
            _refuse_given(beta, "rewards 0 and 1", "--rewards gaussian")
            plan = setup.plan(
                sheet,
                rule,
                rounds=rounds,
                noise_sd=told["--noise-sd"],
                kernel=kernel,
                lengths=lengths,
                per_axis=per_axis,
                distance=distance,
                alpha=shape,
                prior_mean=told["--prior-mean"],
                prior_sd=told["--prior-sd"],
                history=None if history is None else setup.read_history(history, sheet.arms["name"]),
                drift=days("--drift", drift),
            )
    with Study.create(
        database(db, create=True),
        name,
        prior=plan.prior,
        policy=plan.policy,
        arms=sheet.arms,
        seed=seed,
        goal=goal.value,
        repeat=not once,
        timeout=limit,
        moves=_moves(move_cost, move_cost_per),
    ) as study:
        remarks = [*(option_names(remark) for remark in plan.remarks), *way_in_words(study.settings.policy)]
        say_created(study.snapshot(), remarks, as_json=as_json)


def _moves(per_move: str | None, per_distance: str | None) -> Moves | None:
    """Return what moves cost, if that was said."""
    given: dict[str, Any] = {
        "per_move": number_or_none("--move-cost", per_move),
        "per_distance": number_or_none("--move-cost-per", per_distance),
    }
    said = {name: value for name, value in given.items() if value is not None}
    return Moves(**said) if said else None


def _refuse_given(options: dict[str, str | None], what: str, got: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"{option} must go with {what}, got {got}. Leave it out.")


def export(
    name: Name,
    file: Annotated[Path | None, typer.Argument(help="By default STUDY.jsonl, here.", metavar="FILE")] = None,
    replace: Replace = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write a whole study to one file, for `import`."""
    path = Path(f"{harmless(name)}.jsonl") if file is None else file
    refuse_place(path, replace=replace)
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
        say_created(study.snapshot(), as_json=as_json)


def add_arms(
    name: Name,
    arms: Sheet,
    prior_mean: Mean = None,
    prior_sd: Sd = None,
    key: Key = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Add the arms of a CSV file to a study with a kernel.

    The file has a column name, and those that say where arms lie, as the first had.
    """
    from corrbandits.study import setup

    mean, sd = number_or_none("--prior-mean", prior_mean), number_or_none("--prior-sd", prior_sd)
    with opened(db, name) as study, naming_options():
        sheet = setup.read_sheet(arms)
        study.add_arms(sheet.arms, **setup.more_arms(sheet, study.settings.prior, mean, sd), key=key)
        count = study.snapshot().arms.count
    if as_json:
        document({"study": name, "arms": count, "added": sheet.count})
    else:
        say(f"{counted(sheet.count, 'arm')} added; {name} has {count:,} now.")


def copy(
    name: Name,
    new: Annotated[str, typer.Argument(help="What the copy is called.", metavar="NEW")],
    to: Annotated[str | None, typer.Option(help="Another database.", metavar="URL")] = None,
    noise_sd: Annotated[str | None, typer.Option(help="Another noise than was stated.", metavar="NUMBER")] = None,
    length: Annotated[
        list[str] | None, typer.Option(help="Another length of the kernel; once, or per axis.", metavar="NUMBER")
    ] = None,
    prior_mean: Annotated[str | None, typer.Option(help="Another prior mean, of all arms.", metavar="NUMBER")] = None,
    prior_sd: Annotated[str | None, typer.Option(help="Another prior sd, of all arms.", metavar="NUMBER")] = None,
    drift: Drift = None,
    learn: Annotated[
        list[str] | None, typer.Option(help="Learn it: mean, sd, length or noise; once for each.", metavar="WHAT")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="Another rule that chooses, such as Thompson.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Another number of rewards in all.")] = None,
    parameters: Parameters = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Copy a study; the two go separate ways.

    With another prior or rule, too, all trials keep their numbers and rewards, and the open ones stay open.
    """
    from corrbandits.study import setup

    if parameters and policy is None:
        raise ValueError("--set is for a rule, got none. Name it by --policy.")
    given = {"noise_sd": noise_sd, "prior_mean": prior_mean, "prior_sd": prior_sd}
    numbers = {key: number_or_none("--" + key.replace("_", "-"), text) for key, text in given.items()}
    lengths = [number("--length", text) for text in length or ()]
    other = bool(lengths or learn or drift) or any(value is not None for value in numbers.values())
    with opened(db, name) as study, naming_options():
        prior = study.snapshot().prior if other else None
        if prior is not None:
            change = days("--drift", drift)
            prior = setup.changed(prior, lengths=lengths, learn=learn or (), drift=change, **numbers)
        rule = None if rounds is None else setup.with_rounds(study.settings.policy, rounds)
        if policy is not None:
            rule = setup.policy_called(policy, parsed_parameters(parameters or ()), rounds)
        with study.copy(new, url=to, prior=prior, policy=rule) as copied:
            say_created(copied.snapshot(), as_json=as_json)


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Delete a study with all its rewards, for everybody."""
    with opened(db, name) as study:
        if not yes and (as_json or sys.stdin is None or not sys.stdin.isatty()):
            raise ValueError(
                f"to delete {name!r} say --yes. It cannot be undone: export it first if it may be needed again."
            )
        if not yes:
            now = study.snapshot()
            question = f"Delete {name} with {counted(len(now.trials), 'trial')} from {now.database}, for everybody?"
            typer.echo(f"{question} [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise ValueError(f"{name!r} was not deleted.")
        study.delete()
    document({"study": name, "did": "deleted"}) if as_json else say(f"{name} is deleted.")
