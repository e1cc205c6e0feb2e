"""The commands of `corrbandits study` that make, extend and delete whole studies."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from corrbandits._shell.numbers import counted
from corrbandits.cli.study.options import (
    RANGE,
    Db,
    Drift,
    Goal,
    Json,
    Key,
    Mean,
    MoveCost,
    MoveCostPer,
    Name,
    Parameters,
    Rewards,
    Roads,
    Sd,
    Sheet,
)
from corrbandits.cli.study.parsing import (
    along,
    database,
    days,
    moves_said,
    naming_options,
    number_or_none,
    number_or_range,
    opened,
    option_names,
    seconds,
)
from corrbandits.cli.study.parsing import parameters as parsed_parameters
from corrbandits.cli.study.printing import document, say, say_created
from corrbandits.kernels import KERNELS

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
    move_cost: MoveCost = None,
    move_cost_per: MoveCostPer = None,
    roads: Roads = None,
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
            by_place: dict[str, object] = {"--length": length or None, "--per-axis": per_axis or None}
            by_place |= {"--distance": distance, "--alpha": alpha}
            _refuse_given({**gaussian, **by_place}, "rewards with Gaussian noise", "--rewards bernoulli")
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
    moves = moves_said(move_cost, move_cost_per)
    if roads is not None:
        moves = along(roads, moves, sheet.arms["name"])
    with Study.create(
        database(db, create=True),
        name,
        prior=plan.prior,
        policy=plan.policy,
        rounds=None if moves is None or hasattr(plan.policy, "horizon") else rounds,
        arms=sheet.arms,
        seed=seed,
        goal=goal.value,
        repeat=not once,
        timeout=limit,
        moves=moves,
    ) as study:
        remarks = [*(option_names(remark) for remark in plan.remarks), *way_in_words(study.settings.policy)]
        if rounds is not None and not setup.minds_rounds(study.settings.policy):
            remarks.append("The rule does not mind how many rewards there will be, so that --rounds changes nothing.")
        if once and rounds is not None and rounds > sheet.count:
            remarks.append(f"With --once no arm is left to try after {sheet.count:,} rewards, unless some are added.")
        say_created(study.snapshot(), remarks, as_json=as_json)


def _refuse_given(options: Mapping[str, object], what: str, got: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"{option} must go with {what}, got {got}. Leave it out.")


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
