"""An experiment file, read: its tables one by one, and whatever is wrong refused with its line."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from corrbandits._core import checks
from corrbandits._shell.toml import Table, read_toml
from corrbandits.belief import Belief
from corrbandits.company import Team
from corrbandits.environments import Environment
from corrbandits.experiment.arms import Arms, arms_in
from corrbandits.experiment.building import built
from corrbandits.experiment.priors import A_PRIOR, prior_in
from corrbandits.experiment.teams import teams_in
from corrbandits.experiment.truth import FAMILY, SURFACE, environment_in, surface_example
from corrbandits.policies import RULES, IndexPolicy, Policy, recommend

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
    top.refuse_other_keys(("arms", "truth", "priors", "policies", "run", "stress", "team"))
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
        players = {name: _player(table, priors, horizon) for name, table in top.tables("policies", A_POLICY).items()}
        teams = teams_in(top, players)
    return Experiment(environment, players, horizon, runs, seed, teams), top, arms


def _run(table: Table) -> tuple[int, int, int]:
    table.refuse_other_keys(("horizon", "runs", "seed"))
    with table.blame("horizon"):
        horizon = checks.integer("horizon", table.need("horizon", "horizon = 1000"), least=1)
        runs = checks.integer("runs", table.values.get("runs", 100), least=1)
        return horizon, runs, checks.integer("seed", table.values.get("seed", 0), least=0)


def _player(table: Table, priors: Mapping[str, Belief], horizon: int) -> tuple[Policy, Belief]:
    if table.values.keys() <= {"prior"}:
        belief = table.choice("prior", priors)
        return recommend(belief, horizon).policy, belief
    rule = table.choice("rule", RULES)
    fields = dataclasses.fields(rule)
    flags = [field.name for field in fields if field.type in ("bool", bool)]
    table.refuse_other_keys(("rule", "prior", *(field.name for field in fields)), flags)
    belief = table.choice("prior", priors)
    with table.blame("rule"):
        policy: Policy = built(table, rule, horizon=horizon)
        if isinstance(policy, IndexPolicy):
            for t in (1, horizon):  # a schedule or a belief that does not fit shows here, not in the middle of a run
                policy.index(belief, t)
    return policy, belief
