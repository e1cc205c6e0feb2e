"""The engines that play teams, and which of them plays what."""

from __future__ import annotations

from corrbandits.company.engines.compiled import TeamCompiled
from corrbandits.company.engines.protocol import TeamEngine, TeamRuns
from corrbandits.company.engines.reference import TeamReference
from corrbandits.simulation.engines import chosen

ENGINES: dict[str, TeamEngine] = {engine.name: engine for engine in (TeamCompiled(), TeamReference())}
"""Every engine of teams by name, in the order in which engine="auto" tries them; the last plays anything."""


def engine_for(runs: TeamRuns, name: str = "auto") -> TeamEngine:
    """Return the engine of that name, or the first that can play these runs; refuse one that cannot."""
    paying = {one: engine for one, engine in ENGINES.items() if name != "auto" or engine.pays(runs)}
    return chosen(paying, runs, name)


__all__ = ["ENGINES", "TeamEngine", "TeamRuns", "engine_for"]
