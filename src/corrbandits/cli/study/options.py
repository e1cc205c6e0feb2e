"""The arguments and options that commands of `corrbandits study` share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Goal(StrEnum):
    """What a study seeks."""

    max = "max"
    min = "min"


class Rewards(StrEnum):
    """What rewards are."""

    gaussian = "gaussian"
    bernoulli = "bernoulli"


RANGE = "NUMBER|RANGE"

Name = Annotated[str, typer.Argument(help="The study.", metavar="STUDY")]
Number = Annotated[str, typer.Argument(help="The trial's number, as ask said it.", metavar="TRIAL")]
Reward = Annotated[str, typer.Argument(help="The reward; decimals take a point.", metavar="REWARD")]
Db = Annotated[
    str | None,
    typer.Option("--db", envvar="CORRBANDITS_DB", show_envvar=False, metavar="URL", help="A file, or postgresql://..."),
]
Key = Annotated[str | None, typer.Option(help="Such as a receipt's number: given again, the same is done once.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Sheet = Annotated[Path, typer.Option("--arms", help="A CSV with columns name, x, y, ...", metavar="FILE")]
Mean = Annotated[str | None, typer.Option(help="Mean reward expected; or a column prior_mean.", metavar=RANGE)]
Sd = Annotated[str | None, typer.Option(help="How far off that may be; or a column prior_sd.", metavar=RANGE)]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the rule, such as a=3.3.", metavar="NAME=VALUE")
]
At = Annotated[
    str | None,
    typer.Option(help="When it was measured: 2026-03-14, 2026-03-14T09:30; now if left out.", metavar="TIME"),
]
Drift = Annotated[
    str | None,
    typer.Option(help="Rewards change within about this time: 30d, 10d..60d, unknown, or none.", metavar="TIME|RANGE"),
]
MoveCost = Annotated[str | None, typer.Option(help="What a move to another arm costs, in rewards.", metavar="NUMBER")]
MoveCostPer = Annotated[str | None, typer.Option(help="What it costs per unit of distance, or km.", metavar="NUMBER")]
Roads = Annotated[
    Path | None,
    typer.Option(
        help="Distances are along these: a CSV of columns from, to and length (without it, 1).", metavar="FILE"
    ),
]
Source = Annotated[Path | None, typer.Option("--from", help="Many rewards, from a CSV file.", metavar="FILE")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the file if there is one.")]
