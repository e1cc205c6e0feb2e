"""The files that `corrbandits reproduce` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from corrbandits._shell.outputs import Results
from corrbandits.experiment.results import write_bounds, write_regret
from corrbandits.paper import reproduction
from corrbandits.paper.reproduction import Claim, Figures


def write(
    files: Results,
    figures: Figures,
    claims: Sequence[Claim],
    untuned: Mapping[str, int | None],
    settings: Mapping[str, int],
) -> None:
    """Write both figures as figure1 and figure2, the theorems' bounds as bounds1 and bounds2, and claims.json."""
    surface = figures.surface
    for number, trace, players, title, until in (
        (1, figures.well, reproduction.well_informed(surface), "Well-informed priors", 300),
        (2, figures.ill, reproduction.ill_informed(surface), "Ill-informed priors", 1_000),
    ):
        write_regret(files, f"figure{number}", trace, surface, title, until)
        write_bounds(files, f"bounds{number}", surface, players, figures.horizon, trace, title)
    record = _record(claims, untuned, settings)
    files.write("claims.json", (json.dumps(record, indent=2) + "\n").encode())


def _record(claims: Sequence[Claim], untuned: Mapping[str, int | None], settings: Mapping[str, int]) -> dict[str, Any]:
    return {
        "settings": dict(settings),
        "claims": [asdict(claim) for claim in claims],
        "untuned": {
            "surfaces": reproduction.UNTUNED_SURFACES,
            "runs": reproduction.UNTUNED_RUNS,
            "horizon": min(settings["horizon"], reproduction.UNTUNED_HORIZON),
            "holds": dict(untuned),
        },
    }
