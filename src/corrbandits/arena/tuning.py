"""Finds the rule that others are compared with, family by family and for each horizon: `reference.json`, anew.

python -m corrbandits.arena.tuning
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.progress import bar
from corrbandits.arena.campaign import Campaign, played
from corrbandits.arena.contestants import EVERYTHING, Contestant, contestants
from corrbandits.arena.problems import FAMILIES, TUNING, VERSION
from corrbandits.arena.reference import FILE

HORIZONS, PROBLEMS = (50, 200, 1_000), 64


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


def main() -> None:
    """Write the file anew."""
    seed = TUNING[0]
    best = measured(Campaign(FAMILIES, HORIZONS, PROBLEMS), seed, os.cpu_count() or 1)
    content = {"problems": VERSION, "seed": seed, "number": PROBLEMS, "best": best}
    Path(__file__).with_name(FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
