"""The families of problems that benchmarks play, by their names: those of the arena, and real fields of a folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from corrbandits.arena import fields
from corrbandits.arena.problems import FAMILIES, Make, Problem, problem


@cache
def known_families(folder: Path | None = None) -> dict[str, Make]:
    """Return every family, and every field of a folder, if one is given.

    >>> "chain" in known_families()
    True
    """
    return FAMILIES | ({} if folder is None else fields.families(folder))


def problem_of(family: str, seed: int, number: int, folder: Path | None) -> Problem:
    """Return one problem of a family, or of a field in a folder."""
    return problem(family, seed, number, known_families(folder))


def asked(names: list[str] | None, families: Iterable[str]) -> list[str]:
    """Return the families that were asked for, all of them if none was; refuse others.

    >>> asked(None, ["chain", "trend"]), asked(["trend"], ["chain", "trend"])
    (['chain', 'trend'], ['trend'])
    """
    known = list(families)
    for name in names or []:
        if name not in known:
            raise ValueError(f"--families must be of {', '.join(known)}, got {name!r:.60}.")
    return names or known


def positive(text: str) -> int:
    """Return the whole number from 1 that an option says."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r:.20}")
    return int(text)
