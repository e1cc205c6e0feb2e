"""The commands of `corrbandits study` that copy whole studies: beside the first, or through a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.study.options import RANGE, Db, Drift, Json, MoveCost, MoveCostPer, Name, Parameters, Replace
from corrbandits.cli.study.parsing import (
    database,
    days,
    harmless,
    moves_said,
    naming_options,
    number_or_range,
    opened,
    refuse_place,
)
from corrbandits.cli.study.parsing import parameters as parsed_parameters
from corrbandits.cli.study.printing import document, say, say_created

if TYPE_CHECKING:
    from corrbandits.moves import Moves
    from corrbandits.policies import Policy
    from corrbandits.study import Study


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


def copy(
    name: Name,
    new: Annotated[str, typer.Argument(help="What the copy is called.", metavar="NEW")],
    to: Annotated[str | None, typer.Option(help="Another database.", metavar="URL")] = None,
    noise_sd: Annotated[str | None, typer.Option(help="Another noise than was stated.", metavar=RANGE)] = None,
    length: Annotated[
        list[str] | None, typer.Option(help="Another length of the kernel; once, or per axis.", metavar=RANGE)
    ] = None,
    prior_mean: Annotated[str | None, typer.Option(help="Another prior mean, of all arms.", metavar=RANGE)] = None,
    prior_sd: Annotated[str | None, typer.Option(help="Another prior sd, of all arms.", metavar=RANGE)] = None,
    drift: Drift = None,
    learn: Annotated[
        list[str] | None, typer.Option(help="Learn it: mean, sd, length or noise; once for each.", metavar="WHAT")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="Another rule that chooses, such as Thompson.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Another number of rewards in all.")] = None,
    parameters: Parameters = None,
    move_cost: MoveCost = None,
    move_cost_per: MoveCostPer = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Copy a study; the two go separate ways.

    With another prior or rule, too, all trials keep their numbers and rewards, and the open ones stay open.
    """
    from corrbandits.study import setup
    from corrbandits.study.untold import way_in_words

    if parameters and policy is None:
        raise ValueError("--set is for a rule, got none. Name it by --policy.")
    given = {"noise_sd": noise_sd, "prior_mean": prior_mean, "prior_sd": prior_sd}
    numbers = {key: number_or_range("--" + key.replace("_", "-"), text) for key, text in given.items()}
    lengths = [number_or_range("--length", text) for text in length or ()]
    other = bool(lengths or learn or drift) or any(value is not None for value in numbers.values())
    with opened(db, name) as study, naming_options():
        prior = study.snapshot().prior if other else None
        if prior is not None:
            change = days("--drift", drift)
            prior = setup.changed(prior, lengths=lengths, learn=learn or (), drift=change, **numbers)
        moves = moves_said(move_cost, move_cost_per, study.settings.policy)
        named = None if policy is None else setup.policy_called(policy, parsed_parameters(parameters or ()), rounds)
        rule = _rule(study, named, rounds, moves)
        with study.copy(new, url=to, prior=prior, policy=rule, moves=moves) as copied:
            say_created(copied.snapshot(), way_in_words(copied.settings.policy), as_json=as_json)


def _rule(study: Study, named: Policy | None, rounds: int | None, moves: Moves | None) -> Policy | None:
    """Return the rule of a copy; None if it is the study's own. Another number of rounds is that of moves, too."""
    from corrbandits.policies import Travelling
    from corrbandits.study import setup
    from corrbandits.study.untold import minding_still

    before = study.settings.policy
    if named is None:
        return None if rounds is None else setup.with_rounds(before, rounds)
    if rounds is not None and isinstance(before, Travelling):
        before = setup.with_rounds(before, rounds)
    return minding_still(before, named, moves, study.arms)
