"""What the pages on games have in common: tables of a folder of games as plain data, which may be joined."""

import math

from corrbandits.arena.standings import Standing

DIGITS = 4


def short(value):
    """Return a value as it is kept: a number by its first digits, None where there is none."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def joined(before, now):
    """Return plain data of both, whose rows begin with the length of a game: of one length those that are new."""
    if (before["problems"], before["columns"]) != (now["problems"], now["columns"]):
        raise SystemExit("--keep: what is there is of other problems or other columns. Leave --keep out.")
    stay = [row for row in before["rows"] if str(row[0]) not in now["seeds"]]
    rows = sorted([*stay, *now["rows"]], key=lambda row: row[0])
    by_length = {name: {**before[name], **now[name]} for name in now if isinstance(now[name], dict)}
    return {**now, **by_length, "rows": rows}


def seeds(data):
    """Return which seeds the problems were drawn from."""
    of = {seed: [f"{int(t):,}" for t, each in data["seeds"].items() if each == seed] for seed in data["seeds"].values()}
    if len(of) == 1:
        return f"Seed {next(iter(of))}"
    return "Seeds " + " and ".join(f"{seed} ({', '.join(lengths)} decisions)" for seed, lengths in of.items())


def read(data):
    """Return the table from plain data."""
    return [Standing(*(math.nan if value is None else value for value in row)) for row in data["rows"]]


def plain(text):
    """Return a name that comes from a file as text that begins no markup."""
    return "".join(f"\\{letter}" if letter in "\\*_$<>|^`~[]#&" else letter for letter in text.replace("\n", " "))
