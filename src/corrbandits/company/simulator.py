"""Ensembles of runs of teams: the request, checked; the result, labelled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Integers
from corrbandits._shell.numbers import counted
from corrbandits.company.engines import ENGINES, TeamRuns, engine_for
from corrbandits.company.team import Team
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.simulation import Trace, batches, workers
from corrbandits.simulation.asking import (
    minding_places,
    recorded_times,
    refuse_other_moves,
    refuse_too_long,
    saved_in,
    who_plays,
)
from corrbandits.simulation.batches import Batch
from corrbandits.simulation.engines import Advanced, Recorded
from corrbandits.simulation.fingerprint import fingerprint
from corrbandits.simulation.simulator import describe
from corrbandits.simulation.trace import MOVE_COST, MOVES, REGRET

if TYPE_CHECKING:
    import xarray as xr

MOST_BATCHES = 512
"""The runs of a team are divided into at most this many batches."""


def simulate_team(
    teams: Team | Mapping[str, Team],
    environment: Environment,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    *,
    engine: str = "auto",
    record: Literal["full", "summary"] = "full",
    times: Any = None,
    moves: Moves | None = None,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  it is what is passed
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Trace:
    """Return the trace of `runs` runs of a team, or of each of several teams with as many players.

    All arguments but the first are those of `simulate`. In the trace, `policy` names the team, and `regret` is the
    group's: what the best assignment of players to arms would have had more. `arms`, `rewards`, `counts`,
    `initialisation` and `own_regret`, a player's part of the regret, have a further dimension `player`; `collisions`
    and `sent` say how many players have met others so far, and how many numbers have been sent; with `moves`, `moves`
    and `move_cost` those of all players. All teams meet the same noise. A team of one is what `simulate` plays, bit for
    bit.

    >>> from corrbandits import UCL, GaussianBandit, Independent, Team
    >>> bandit = GaussianBandit(means=[0.0, 1.0, 2.0], noise_variance=1.0)
    >>> flat = Independent(noise_variance=1.0, arms=3)
    >>> teams = {way: Team.of(UCL(a=1.5), flat, players=4, sharing=way) for way in ("full", "none")}
    >>> trace = simulate_team(teams, bandit, horizon=200, runs=50, seed=0)
    >>> trace.regret.isel(time=-1).mean("run").values.round(1)
    array([23.3, 64.7])
    """
    horizon, runs = checks.integer("horizon", horizon, least=1), checks.integer("runs", runs, least=1)
    seed, by = checks.integer("seed", seed, least=0), who_plays(threads, map)
    refuse_too_long(environment, horizon)
    named, at = _checked(teams, environment), recorded_times(record, times, horizon)
    named = {name: _placed(team, environment) for name, team in named.items()}
    refuse_other_moves(moves, environment)
    asked = [TeamRuns(team, environment, horizon, seed, 0, runs, at, moves) for team in named.values()]
    players = tuple((of.team, engine_for(of, engine).name) for of in asked)
    ensemble = TeamEnsemble(players, environment, horizon, seed, at, moves)
    saved = saved_in(checkpoint, ensemble, list(named), runs)
    recorded = _room(asked[0], len(asked))
    workers.complete(ensemble, batches.batches(ensemble, runs), recorded, by, saved, progress)
    return Trace(_dataset(named, ensemble, recorded))


@final
@dataclass(frozen=True)
class TeamEnsemble:
    """What every worker must know of runs of teams."""

    teams: tuple[tuple[Team, str], ...]
    """Each team and the name of the engine that plays it."""

    environment: Environment
    horizon: int
    seed: int
    times: Integers | None
    moves: Moves | None = None

    def sizes(self, runs: int) -> list[int]:
        """Return how many runs of each team are played at a time."""
        return [-(-runs // MOST_BATCHES)] * len(self.teams)

    def room(self, batch: Batch) -> Recorded:
        """Return arrays to record a batch in."""
        return self._runs(batch).room()

    def play(self, batch: Batch, into: Recorded, advanced: Advanced) -> None:
        """Have the engine play a batch into arrays of its runs."""
        ENGINES[self.teams[batch.player][1]].play(self._runs(batch), into, advanced)

    def described(self, names: list[str]) -> dict[str, Any]:
        """Return the engine and the fingerprint of each team, and what moves cost."""
        entries: dict[str, Any] = {} if self.moves is None else {"moves": fingerprint(self.moves)}
        for name, (team, engine) in zip(names, self.teams, strict=True):
            entries |= {f"engine of {name!r}": engine, f"team {name!r}": fingerprint(team)}
        return entries

    def _runs(self, batch: Batch) -> TeamRuns:
        team, _ = self.teams[batch.player]
        asked = self.environment, self.horizon, self.seed, batch.first, batch.last, self.times, self.moves
        return TeamRuns(team, *asked)


def _placed(team: Team, environment: Environment) -> Team:
    """Return a team whose rules know how far arms are apart; those of players alike stay one object."""
    alike = [(id(policy), id(belief)) for policy, belief in team.players]
    pairs = {key: minding_places(*pair, environment) for key, pair in zip(alike, team.players, strict=True)}
    players = tuple(pairs[key] for key in alike)
    return team if players == team.players else replace(team, players=players)


def _checked(teams: Any, environment: Any) -> dict[str, Team]:
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment such as GaussianBandit(...), got {environment!r}.")
    named = {"team": teams} if isinstance(teams, Team) else teams
    if not isinstance(named, Mapping) or not named:
        raise TypeError(f"teams must be a Team or a dictionary of name: Team, got {teams!r:.80}.")
    for name, team in named.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise TypeError(f"a team's name must be text, got {name!r}.")
        if not isinstance(team, Team):
            raise TypeError(
                f"team {name!r} must be a Team such as Team.of(policy, belief, players=4), got {team!r:.80}."
            )
        if team.arms != environment.arms:
            raise ValueError(
                f"the players of {name!r} know {team.arms} arms, but the environment has {environment.arms}."
            )
    numbers = {name: len(team) for name, team in named.items()}
    if len(set(numbers.values())) > 1:
        raise ValueError(
            f"teams must have as many players each to be compared on the same noise, got {numbers}. Simulate those of "
            "each size on their own."
        )
    return dict(named)


def _in_words(team: Team) -> str:
    """Return what a team is, with the parameters of its rules."""
    return f"{team!r}: {', '.join(dict.fromkeys(repr(policy) for policy, _ in team.players))}"


def _room(of: TeamRuns, teams: int) -> Recorded:
    """Return the arrays that runs are recorded in."""
    try:
        return of.room(teams)
    except (MemoryError, ValueError):
        raise MemoryError(
            f"{counted(teams, 'team')} of {len(of.team)} x {len(of):,} runs x {of.horizon:,} decisions take more "
            f"memory to record than there is here. Take fewer runs, {'' if of.times is None else 'fewer times or '}"
            "a shorter horizon, or record='summary'."
        ) from None


def _dataset(teams: Mapping[str, Team], ensemble: TeamEnsemble, recorded: Recorded) -> xr.Dataset:
    import xarray as xr

    each = ("policy", "run")
    described: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "arms": ((*each, "player", "time"), {"long_name": "arm taken"}),
        "rewards": ((*each, "player", "time"), {"long_name": "reward paid"}),
        "regret": ((*each, "time"), {**REGRET, "long_name": "cumulative expected regret of the group"}),
        "own_regret": ((*each, "player", "time"), {**REGRET, "long_name": "a player's part of the regret"}),
        "collisions": ((*each, "time"), {"long_name": "players that met another on their arm, so far"}),
        "sent": ((*each, "time"), {"long_name": "numbers sent so far"}),
        "moves": ((*each, "time"), MOVES),
        "move_cost": ((*each, "time"), MOVE_COST),
        "counts": ((*each, "player", "arm"), {"long_name": "times taken"}),
        "initialisation": ((*each, "player"), {"long_name": "length of initialisation", "units": "steps"}),
    }
    times = np.arange(1, ensemble.horizon + 1) if ensemble.times is None else ensemble.times
    runs, players = recorded["initialisation"].shape[1:]
    return xr.Dataset(
        {name: (described[name][0], array, described[name][1]) for name, array in recorded.items()}
        | describe(ensemble.environment),
        {"policy": list(teams), "run": np.arange(runs), "player": np.arange(players), "time": times},
        {
            "seed": ensemble.seed,
            "horizon": ensemble.horizon,
            "rules": [_in_words(team) for team in teams.values()],
            "version": version("corrbandits"),
            **({"changes": 1} if ensemble.environment.changes else {}),
        },
    )
