"""The rule that others are compared with: of those told the right prior, the one that lost least on tuning seeds.

It is fixed in `reference.json`, family by family and for each horizon, before any report is made: the least of several
means that are measured in the same report would be too low by chance. `corrbandits.arena.tuning` makes that file.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from corrbandits.arena.contestants import DEFAULT, EVERYTHING, Contestant

FILE = "reference.json"


def reference(family: str, horizon: int) -> Contestant:
    """Return who is compared with at a horizon, or at the one nearest to it; on fields, the default's rule.

    >>> reference("rough grid", 200).told
    'everything'
    """
    best = _known()["best"].get(family, {})
    nearest = min(best, key=lambda t: abs(np.log(int(t) / horizon)), default="")
    return Contestant(best.get(nearest, DEFAULT.rule), EVERYTHING)


@cache
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return found
