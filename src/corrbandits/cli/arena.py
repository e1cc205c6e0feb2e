"""The command `corrbandits arena`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corrbandits.cli.options import Out, Threads, saying_what_is_saved

if TYPE_CHECKING:
    from corrbandits.arena.campaign import Campaign
    from corrbandits.arena.problems import Make
    from corrbandits.arena.standings import Standing

HORIZONS, PROBLEMS = "50,200,1000,10000", 200
QUICK_HORIZONS, QUICK_PROBLEMS = "50,200", 12
SHORTEST = 10


def arena(
    quick: Annotated[
        bool,
        typer.Option("--quick", help=f"{QUICK_PROBLEMS} problems of each family, horizons {QUICK_HORIZONS}: minutes."),
    ] = False,
    families: Annotated[
        str | None,
        typer.Option(help="Only these, apart by commas, such as chain,clusters; or changing, series or fields."),
    ] = None,
    told: Annotated[
        str | None, typer.Option(help="Only rules told so, apart by commas: everything, nothing, wrongly.")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(help="Only these rules, apart by commas, such as Gittins,UCL a=1, and those ratios are to."),
    ] = None,
    horizons: Annotated[
        str | None, typer.Option(help=f"Decisions in a game, apart by commas; {HORIZONS} if left out.")
    ] = None,
    problems: Annotated[
        int | None,
        typer.Option(min=0, help=f"Problems of each family, {PROBLEMS} if left out; 0 for a report of what is there."),
    ] = None,
    fields: Annotated[
        Path | None,
        typer.Option(help="Folder of real fields to play too: CSV files with x, y (or row, col) and yield."),
    ] = None,
    series: Annotated[
        Path | None,
        typer.Option(help="Folder of recorded series to play too: CSV files, a row per arm, a column per time."),
    ] = None,
    out: Out = Path("results/arena"),
    threads: Threads = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the problems; if left out, drawn and written down.")
    ] = None,
) -> None:
    """Play rules and beliefs against each other on many problems.

    Writes arena.csv and .html, arena-leaderboard, arena-families and arena-wrongly (.png, .pdf), and prints who lost
    least. Every game is kept in games.csv: after a kill or Ctrl-C the same command goes on where it was, and games
    that another program adds there are reported too. Without --quick it takes a night.
    """
    from corrbandits._shell import outputs
    from corrbandits.arena.campaign import Campaign, run
    from corrbandits.arena.changing import Changing, Recorded
    from corrbandits.arena.fields import Field
    from corrbandits.arena.files import write
    from corrbandits.arena.results import Results
    from corrbandits.arena.standings import standings

    apart = Field, Changing, Recorded
    number = (QUICK_PROBLEMS if quick else PROBLEMS) if problems is None else problems
    campaign = Campaign(
        _families(families, fields, series),
        _horizons(horizons or (QUICK_HORIZONS if quick else HORIZONS)),
        number,
        _told(told),
        _rules(rules),
    )
    short = _too_short(campaign)
    results = Results(out, seed)
    results.see_fields({name: make.digest for name, make in campaign.families.items() if isinstance(make, apart)})
    with saying_what_is_saved(out):
        run(campaign, results, threads=threads or os.cpu_count() or 1)
        rows = standings(results.games())
        absent = _absent(rules, campaign, rows)
        if not rows:
            why = " ".join(absent) or "Give --problems 1 or more."
            raise ValueError(f"a report needs games, but there are none in {out}. {why}")
        with outputs.results(out) as files:
            write(files, rows, results.seed)
    _print(rows, results.seed)
    for sentence in (*short, *absent):
        typer.echo(sentence)
    typer.echo(f"arena (.csv, .html) and figures (.png, .pdf) are in {out}/")


def _families(names: str | None, fields: Path | None, series: Path | None = None) -> Mapping[str, Make]:
    """Return the families that are asked for: all that do not change, all fields and all series, or those named."""
    from corrbandits.arena import changing
    from corrbandits.arena import fields as real
    from corrbandits.arena.problems import FAMILIES

    usual: dict[str, Make] = {**FAMILIES, **(real.families(fields) if fields is not None else {})}
    usual |= changing.recorded(series) if series is not None else {}
    known = usual | changing.FAMILIES
    asked = list(usual) if names is None else [name.strip() for name in names.split(",")]
    groups = {"changing": changing.CHANGING, "series": changing.SERIES, "fields": real.FIELD}
    for name in asked:
        if name in groups and not any(one.startswith(groups[name]) for one in known):
            raise ValueError(
                f"--families {name} needs to know where they are, got no folder. Name it: --{name} FOLDER."
            )
    asked = [
        one
        for name in asked
        for one in ([family for family in known if family.startswith(groups[name])] if name in groups else [name])
    ]
    _refuse_unknown("--families", asked, known)
    return {name: known[name] for name in asked}


def _told(text: str | None) -> Sequence[str]:
    """Return how rules are told that are asked for.

    >>> _told("nothing, everything")
    ['nothing', 'everything']
    """
    from corrbandits.arena.contestants import KINDS

    return _some("--told", text, KINDS)


def _rules(text: str | None) -> Sequence[str]:
    """Return the rules that are asked for.

    >>> _rules("Gittins, UCL a=1")
    ['Gittins', 'UCL a=1']
    """
    from corrbandits.arena.contestants import RULES

    return _some("--rules", text, RULES)


def _some(option: str, text: str | None, known: Iterable[str]) -> list[str]:
    """Return what an option names, apart by commas, or all that is known; refuse what is not known."""
    names = list(known)
    asked = names if text is None else [part.strip() for part in text.split(",")]
    _refuse_unknown(option, asked, names)
    return asked


def _absent(named: str | None, campaign: Campaign, rows: Sequence[Standing]) -> list[str]:
    """Return which rules that were named play no games of some length, by what they are told."""
    from corrbandits.arena.contestants import EVERYTHING, NOTHING

    if named is None or not campaign.problems:
        return []
    played = {(row.rule, row.told, row.horizon) for row in rows}
    said = []
    for told in (told for told in (NOTHING, EVERYTHING) if told in campaign.told):
        for rule in campaign.rules:
            lengths = [f"{t:,}" for t in campaign.horizons if (rule, told, t) not in played]
            if lengths:
                said.append(
                    f"{rule}, told {told}, plays no games of {' or '.join(lengths)} decisions: it cannot, or takes too "
                    "long."
                )
    return said


def _refuse_unknown(option: str, asked: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that an option cannot have, with the one that may be meant."""
    from corrbandits._shell.texts import near

    for name in asked:
        if name not in known:
            meant = "".join(f" Did you mean {one!r}?" for one in near(name, known))
            raise ValueError(f"{option} must be of {', '.join(known)}, got {name!r:.60}.{meant}")


def _too_short(campaign: Campaign) -> list[str]:
    """Return which series are too short for some of the horizons; refuse those that are too short for all of them."""
    said, horizons = [], campaign.horizons
    for name, make in campaign.families.items():
        times = getattr(make, "longest", horizons[-1])
        if times < horizons[0]:
            raise ValueError(
                f"--horizons must have one that fits each series, but {name} has {times:,} times and the shortest is "
                f"{horizons[0]:,}. Take shorter ones, such as --horizons {max(times // 2, SHORTEST)}."
            )
        if times < horizons[-1]:
            longest = max(horizon for horizon in horizons if horizon <= times)
            said.append(f"{name} has {times:,} times: it was played for up to {longest:,} decisions.")
    return said


def _horizons(text: str) -> list[int]:
    """Return the horizons that are asked for.

    >>> _horizons("50, 200")
    [50, 200]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) >= SHORTEST for part in parts):
        raise ValueError(
            f"--horizons must be whole numbers from {SHORTEST}, got {text!r:.60}. Put commas between several, as in "
            f"{QUICK_HORIZONS}."
        )
    return sorted({int(part) for part in parts})


def _print(rows: Sequence[Standing], seed: int) -> None:
    """Print what was found, and who was told nothing or everything at the middle horizon, or else who was wrongly."""
    from corrbandits._shell import terminal
    from corrbandits._shell.numbers import number
    from corrbandits.arena.contestants import EVERYTHING, NOTHING, OF_CHANGE, WRONG
    from corrbandits.arena.figures import group_of, ranked
    from corrbandits.arena.sentences import middle, sentences

    horizon, group = middle(sorted({row.horizon for row in rows})), group_of(rows)
    found = {row.contestant: row for row in rows if (row.horizon, row.family) == (horizon, group)}
    most = NOTHING, EVERYTHING, *OF_CHANGE
    told = most if any(one.told in most for one in found) else tuple(WRONG)
    cells = [
        (
            *one,
            number(found[one].ratio),
            number(found[one].worst),
            number(found[one].regret),
            number(found[one].simple),
            number(1e3 * found[one].seconds),
        )
        for one in ranked(rows, told, horizon, group)
        if one in found
    ]
    heads = "rule", "told", "ratio", "worst", "regret", "simple", "ms"  # as wide as a terminal of 80 columns
    title = f"After {horizon:,} decisions, {group}, seed {seed}: regret, simple regret, ms per decision"
    terminal.say(sentences(rows))
    terminal.show(["", terminal.table(heads, cells, left=2, title=title), ""], terminal.console())
    uniform = " Random is cb.Uniform." if any(rule == "Random" for rule, *_ in cells) else ""
    typer.echo(f"Regret is in standard deviations of a problem's mean rewards.{uniform}")
