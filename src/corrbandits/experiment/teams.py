"""The table [team]: every policy of the file is played by several players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corrbandits._shell.toml import Table
from corrbandits.belief import Belief
from corrbandits.company import Team
from corrbandits.policies import Policy

A_TEAM = '[team] with players = 10, graph = "ring" and sharing = "consensus"'
KEYS = ("players", "sharing", "graph", "collisions", "sensed", "assignment", "kappa", "doubt")


def teams_in(top: Table, players: Mapping[str, tuple[Policy, Belief]]) -> dict[str, Team]:
    """Return a team of equals for each policy, or none if the file has no table [team]."""
    if "team" not in top.values:
        return {}
    table = top.table("team", A_TEAM)
    table.refuse_other_keys(KEYS, flags=("sensed",))
    options: dict[str, Any] = {key: value for key, value in table.values.items() if key != "players"}
    with table.blame("players"):
        number = table.need("players", "players = 10")
        return {name: Team.of(policy, belief, number, **options) for name, (policy, belief) in players.items()}
