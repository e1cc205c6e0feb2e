"""An experiment file, read: its tables one by one, and whatever is wrong refused with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.toml import Table, read_toml
from corrbandits.belief import Belief
from corrbandits.company import Team
from corrbandits.environments import Environment
from corrbandits.experiment.arms import Arms, arms_in
from corrbandits.experiment.building import rule_in
from corrbandits.experiment.priors import A_PRIOR, prior_in
from corrbandits.experiment.teams import teams_in
from corrbandits.experiment.truth import FAMILY, SURFACE, environment_in, surface_example
from corrbandits.moves import Moves
from corrbandits.policies import IndexPolicy, Policy, Wrapper, placed, recommend

A_POLICY = '[policies.mine] with rule = "UCL" and prior = "flat"'
STRESS = ("prior", "policy", "kinds", "accuracy", "confidence", "length", "horizons", "survivors", *FAMILY)
"""The keys of [stress]."""


class ExperimentError(ValueError):
    """What is wrong in an experiment file: the file, the line, what was expected, what was given, what to do."""


@final
@dataclass(frozen=True)
class Experiment:
    """What an experiment file describes: the arguments of `simulate` or, if it has teams, of `simulate_team`."""

    environment: Environment
    policies: dict[str, tuple[Policy, Belief]]
    horizon: int
    runs: int
    seed: int
    teams: dict[str, Team] = field(default_factory=dict)
    """A team for each policy, if the file has a table [team]."""

    moves: Moves | None = None
    """What moves cost, if the file has a table [moves]."""


def load(path: str | os.PathLike[str]) -> Experiment:
    """Return the experiment that a TOML file describes; `corrbandits.experiment` describes its tables.

    What is wrong in it is an `ExperimentError` with the file, the line and the remedy.
    """
    return read(path)[0]


def read(path: str | os.PathLike[str], *, family: bool = False) -> tuple[Experiment, Table, Arms]:
    """Return what `load` does, and the tables and the arms that it was made of.

    If `family`, [truth] can leave the surface to a family in [stress]; the environment then has placeholder means.
    """
    top = read_toml(path, ExperimentError)
    top.refuse_other_keys(("arms", "truth", "priors", "policies", "run", "stress", "team", "moves"))
    if family and "team" in top.values:
        raise top.error("a stress test is of single players. Remove [team], or use `corrbandits simulate`.", "team")
    if "stress" in top.values:
        top.table("stress", '[stress] with policy = "mine"').refuse_other_keys(STRESS, flags=("survivors",))
    truth = top.table("truth", f"[truth] with {surface_example(top)}")
    truth.refuse_other_keys((*SURFACE, "noise_variance", "rewards"))
    # numbers that overflow end in arrays that are not finite, and these are refused
    with np.errstate(all="ignore"):
        horizon, runs, seed = _run(top.table("run", "[run] with horizon = 1000"))
        arms = arms_in(top, truth)
        environment = environment_in(top, truth, arms, horizon, family=family)
        priors = {name: prior_in(table, arms, environment) for name, table in top.tables("priors", A_PRIOR).items()}
        moves = _moves(top, arms) if "moves" in top.values else None
        known = {"horizon": horizon, "moves": moves}
        players = {
            name: _player(table, priors, known, arms.places) for name, table in top.tables("policies", A_POLICY).items()
        }
        teams = teams_in(top, players)
    return Experiment(environment, players, horizon, runs, seed, teams, moves), top, arms


def _moves(top: Table, arms: Arms) -> Moves:
    """Return what [moves] says that they cost; on latitude and longitude, distances are in km."""
    table = top.table("moves", "[moves] with per_move = 2.0")
    table.refuse_other_keys(("per_move", "per_distance", "distance", "graph"))
    on_globe = {"distance": "great_circle"} if "latitude" in arms.columns.axes() else {}
    with table.blame("per_move"):
        moves = Moves(**{**on_globe, **table.values})
        moves.row(0, arms.count, arms.places)  # refuses what does not fit
    return moves


def _run(table: Table) -> tuple[int, int, int]:
    table.refuse_other_keys(("horizon", "runs", "seed"))
    with table.blame("horizon"):
        horizon = checks.integer("horizon", table.need("horizon", "horizon = 1000"), least=1)
        runs = checks.integer("runs", table.values.get("runs", 100), least=1)
        return horizon, runs, checks.integer("seed", table.values.get("seed", 0), least=0)


def _player(
    table: Table, priors: Mapping[str, Belief], known: Mapping[str, Any], where: Array | None
) -> tuple[Policy, Belief]:
    """Return a rule and its belief; where arms lie is said to a rule that minds ways if the belief does not know."""
    if table.values.keys() <= {"prior"}:
        belief = table.choice("prior", priors)
        return recommend(belief, known["horizon"]).policy, belief
    policy, belief = rule_in(table, ("prior",), **known), table.choice("prior", priors)
    with table.blame("rule"):
        policy = placed(policy, where) if belief.coordinates is None and where is not None else policy
        _try(policy, belief, known["horizon"])
    return policy, belief


def _try(policy: Policy, belief: Belief, horizon: int) -> None:
    """Refuse a schedule, a belief or a graph that does not fit here, not in the middle of a run."""
    if isinstance(policy, Wrapper):
        policy.plan(belief, 1, rng=np.random.default_rng(0), last=0)
        _try(policy.rule, belief, horizon)
    elif isinstance(policy, IndexPolicy):
        for t in (1, horizon):
            policy.index(belief, t)
