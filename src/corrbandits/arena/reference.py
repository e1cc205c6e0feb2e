"""The rule that others are compared with: of those told the right prior, the one that lost least on tuning seeds.

It is fixed in `reference.json`, family by family and for each horizon, before any report is made: the least of several
means that are measured in the same report would be too low by chance. This command makes that file anew:

    python -m corrbandits.arena.reference
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.progress import bar
from corrbandits.arena.campaign import Campaign, played
from corrbandits.arena.contestants import DEFAULT, EVERYTHING, Contestant, contestants
from corrbandits.arena.problems import FAMILIES, TUNING, VERSION

FILE = "reference.json"
HORIZONS, PROBLEMS = (50, 200, 1_000), 64


def reference(family: str, horizon: int) -> Contestant:
    """Return who is compared with at a horizon, or at the one nearest to it; on fields, the default's rule.

    >>> reference("rough grid", 200).told
    'everything'
    """
    best = _known()["best"].get(family, {})
    nearest = min(best, key=lambda t: abs(np.log(int(t) / horizon)), default="")
    return Contestant(best.get(nearest, DEFAULT.rule), EVERYTHING)


def measured(campaign: Campaign, seed: int, threads: int) -> dict[str, dict[str, str]]:
    """Return for every family and horizon which of the rules told the right prior loses least."""
    regret: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    parts = campaign.parts()
    with one_thread(), bar(len(parts), label="tuning") as show:
        told = played(campaign, seed, parts, set(), _told_everything, threads)
        for k, (part, games) in enumerate(told, start=1):
            for game in games:
                regret[part.family, part.horizon][game.rule].append(game.regret)
            show(k)
    best: dict[str, dict[str, str]] = {family: {} for family in campaign.families}
    for (family, horizon), of in sorted(regret.items()):
        best[family][str(horizon)] = min(of, key=lambda rule: float(np.mean(of[rule])))
    return best


def _told_everything(horizon: int, arms: int) -> list[Contestant]:
    return [one for one in contestants(horizon, arms) if one.told == EVERYTHING]


@cache
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Write the file anew."""
    seed = TUNING[0]
    best = measured(Campaign(FAMILIES, HORIZONS, PROBLEMS), seed, os.cpu_count() or 1)
    content = {"problems": VERSION, "seed": seed, "number": PROBLEMS, "best": best}
    Path(__file__).with_name(FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
