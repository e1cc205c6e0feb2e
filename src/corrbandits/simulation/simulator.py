"""Ensembles of runs: the request, checked; the result, labelled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corrbandits._core import checks
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.policies import Policy
from corrbandits.simulation import batches, workers
from corrbandits.simulation.asking import (
    minding_places,
    recorded_times,
    refuse_other_moves,
    refuse_too_long,
    saved_in,
    who_plays,
)
from corrbandits.simulation.batches import Batch, Player, Simulation
from corrbandits.simulation.engines import Recorded, Runs, engines_for
from corrbandits.simulation.trace import MOVE_COST, MOVES, REGRET, Trace

if TYPE_CHECKING:
    import xarray as xr

Policies = Mapping[str, tuple[Policy, Belief]]


def simulate(
    policies: Policies,
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
    """Return the trace of `runs` runs of each policy, each starting from its own belief.

    `engine` is "compiled", "reference", "gpu" (on an NVIDIA device), "gpu-same-noise", or "auto": for each policy the
    device where there is one and the work is large, else the first of the others that can play it. The device draws
    random numbers of its own; "gpu-same-noise" takes those of the others, to compare, as does "auto" for a single run
    and where not all policies are played on the device.
    `record="summary"` keeps the regret at chosen `times` (by default some two hundred, evenly spread in log t) and the
    counts, not every decision, in memory that does not grow with the horizon. `progress` shows a bar with the time
    left; by default when the work is long and a person watches. `moves` says what it costs to go from arm to arm: then
    the trace has the number of moves and their cost, too.

    The work is done in `threads` of this process, by default as many as there are cores; or by `map`: a function
    like the built-in one, or an object that has one, such as a pool, an executor or a Dask client. The result is the
    same, bit for bit. `checkpoint` names a directory in which batches of runs are saved as they are done; the same
    call, after a kill, goes on from there.

    >>> from corrbandits import UCL, GaussianBandit, Independent
    >>> bandit = GaussianBandit(means=[0.0, 1.0, 2.0], noise_variance=1.0)
    >>> prior = Independent(noise_variance=1.0, arms=3)
    >>> trace = simulate({"UCL": (UCL(a=1.5), prior)}, bandit, horizon=200, runs=50, seed=0)
    >>> trace.counts.mean("run").values.round(1)
    array([[  3.3,   9.5, 187.2]])
    """
    horizon, runs = checks.integer("horizon", horizon, least=1), checks.integer("runs", runs, least=1)
    seed = checks.integer("seed", seed, least=0)
    refuse_too_long(environment, horizon)
    by = who_plays(threads, map)
    pairs, at = _checked(policies, environment).values(), recorded_times(record, times, horizon)
    refuse_other_moves(moves, environment)
    asked = [
        Runs(*minding_places(*pair, environment), environment, horizon, seed, 0, runs, at, moves) for pair in pairs
    ]
    playing = zip(asked, engines_for(asked, engine), strict=True)
    players = tuple(Player(each.policy, each.belief, one.name) for each, one in playing)
    simulation = Simulation(players, environment, horizon, seed, at, moves)
    saved = saved_in(checkpoint, simulation, list(policies), runs)
    recorded = _room(simulation, runs)
    workers.complete(simulation, batches.batches(simulation, runs), recorded, by, saved, progress)
    return Trace(_dataset(policies, simulation, recorded))


def _room(simulation: Simulation, runs: int) -> Recorded:
    """Return the arrays that runs are recorded in."""
    players = len(simulation.players)
    try:
        return simulation.runs(Batch(0, 0, runs)).room(players)
    except (MemoryError, ValueError):
        per_run = 12 * simulation.horizon if simulation.times is None else 8 * simulation.times.size
        size = (per_run + 8 * simulation.environment.arms) * players * runs / 1e9
        less = "a shorter horizon, or record='summary'" if simulation.times is None else "or fewer times"
        raise MemoryError(
            f"{counted(players, 'policy', 'policies')} x {runs:,} runs x {simulation.horizon:,} decisions take "
            f"{size:,.0f} GB to record, more than there is here. Take fewer runs, {less}."
        ) from None


def _checked(policies: Any, environment: Any) -> Policies:
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment such as GaussianBandit(...), got {environment!r}.")
    if not isinstance(policies, Mapping) or not policies:
        raise TypeError(f"policies must be a dictionary of name: (policy, belief), got {policies!r}.")
    for name, pair in policies.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise TypeError(f"a policy's name must be text, got {name!r}.")
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(f"policy {name!r} must be a pair (policy, belief), got {pair!r}.")
        for part, kind in zip(pair, (Policy, Belief), strict=True):
            if not isinstance(part, kind):
                raise TypeError(
                    f"policy {name!r} must be a pair (policy, belief), got {part!r:.80}, no {kind.__name__}."
                )
        if pair[1].arms != environment.arms:
            raise ValueError(
                f"the belief of policy {name!r} has {pair[1].arms} arms, but the environment has {environment.arms}."
            )
    return policies


def _dataset(policies: Policies, simulation: Simulation, recorded: Recorded) -> xr.Dataset:
    import xarray as xr

    each = ("policy", "run")
    described: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "arms": ((*each, "time"), {"long_name": "arm taken"}),
        "rewards": ((*each, "time"), {"long_name": "reward"}),
        "regret": ((*each, "time"), REGRET),
        "counts": ((*each, "arm"), {"long_name": "times taken"}),
        "moves": ((*each, "time"), MOVES),
        "move_cost": ((*each, "time"), MOVE_COST),
        "initialisation": (each, {"long_name": "length of initialisation", "units": "steps"}),
    }
    times = np.arange(1, simulation.horizon + 1) if simulation.times is None else simulation.times
    return xr.Dataset(
        {name: (described[name][0], array, described[name][1]) for name, array in recorded.items()}
        | describe(simulation.environment),
        {"policy": list(policies), "run": np.arange(recorded["initialisation"].shape[1]), "time": times},
        {
            "seed": simulation.seed,
            "horizon": simulation.horizon,
            "rules": [repr(policy) for policy, _ in policies.values()],
            "version": version("corrbandits"),
            **({"changes": 1} if simulation.environment.changes else {}),
        },
    )


def describe(environment: Environment) -> dict[str, Any]:
    """Return the environment as variables of a data set: true means, noise and coordinates."""
    variables: dict[str, Any] = {
        "means": ("arm", environment.means, {"long_name": "true mean reward" + " at time 1" * environment.changes}),
        "noise_variance": ("arm", environment.noise_variance, {"long_name": "variance of a reward"}),
    }
    if environment.coordinates is not None:
        variables["coordinates"] = (("arm", "dimension"), environment.coordinates, {"long_name": "where the arms lie"})
    return variables
