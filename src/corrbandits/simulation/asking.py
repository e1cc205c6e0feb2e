"""What simulations of every kind are asked for: who does the work, when the regret is recorded, where it is saved."""

from __future__ import annotations

import os
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Integers
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.policies import Policy, placed
from corrbandits.simulation import workers
from corrbandits.simulation.batches import Ensemble
from corrbandits.simulation.checkpoint import Checkpoint, described


def who_plays(threads: Any, way: Any) -> Any:
    """Return who plays: threads of this process, or whoever `map` hands the work to."""
    if way is None:
        threads = os.cpu_count() or 1 if threads is None else checks.integer("threads", threads, least=1)
        return partial(workers.in_threads, threads=threads)
    if threads is not None:
        raise ValueError(
            "threads are of this machine, but with map the work is done wherever that has it done. Leave one of them "
            "out; a pool or a cluster is told elsewhere how many workers it has."
        )
    workers.mapping(way)  # refuses what has no map, before any work
    return partial(workers.elsewhere, way=way)


def minding_places(policy: Policy, belief: Belief, environment: Environment) -> tuple[Policy, Belief]:
    """Return a player whose rule knows how far arms are apart, if its belief does not know where they lie."""
    where = environment.coordinates if belief.coordinates is None else None
    return (policy if where is None else placed(policy, where)), belief


def refuse_too_long(environment: Any, horizon: int) -> None:
    """Refuse more decisions than there are mean rewards for."""
    longest = environment.horizon if isinstance(environment, Environment) else None
    if longest is not None and horizon > longest:
        raise ValueError(
            f"horizon must be at most {longest:,}, the last time at which mean rewards are known, got {horizon:,}. "
            "Take a shorter horizon or a longer path."
        )


def recorded_times(record: Any, times: Any, horizon: int) -> Integers | None:
    """Return when the regret is recorded, or None if every decision is."""
    if record not in ("full", "summary"):
        raise ValueError(f"record must be full or summary, got {record!r:.60}.")
    if record == "full":
        if times is not None:
            raise ValueError("times go with record='summary': a full record has every time. Leave one of them out.")
        return None
    if times is None:
        return np.unique(np.append(np.geomspace(1, horizon, 200).astype(np.int64), horizon))
    chosen = np.unique(checks.finite("times", times))
    if not chosen.size or (chosen % 1).any() or chosen[0] < 1 or chosen[-1] > horizon:
        raise ValueError(f"times must be whole numbers from 1 to {horizon}, the horizon, got {times!r:.60}.")
    return chosen.astype(np.int64)


def saved_in(directory: Any, ensemble: Ensemble, names: list[str], runs: int) -> Checkpoint | None:
    """Return the checkpoint in a directory, made if it is not there; None if none is named."""
    if directory is None:
        return None
    if not isinstance(directory, (str, os.PathLike)) or not os.fspath(directory):
        raise TypeError(f"checkpoint must be the name of a directory, got {directory!r:.60}.")
    return Checkpoint(directory, described(ensemble, names, runs, version("corrbandits")))


def refuse_other_moves(moves: Any, environment: Environment) -> None:
    """Refuse what does not say what moves cost, or between other arms than there are."""
    if moves is None:
        return
    if not isinstance(moves, Moves):
        raise TypeError(f"moves must say what they cost, such as Moves(per_move=2.0), got {moves!r:.60}.")
    moves.row(0, environment.arms, environment.coordinates)
