"""How a stress test is played: in parts that are saved as they are done.

name             shape                               meaning
regret           (candidate, setting, run, time)     the whole; NaN where a candidate does not play
initialisation   (candidate, setting, run)           steps of initialisation, likewise
part             (player, run, ...)                  of a part of `plan`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from corrbandits._shell.progress import bar
from corrbandits.simulation.checkpoint import FORMAT as CHECKPOINT_FORMAT
from corrbandits.simulation.checkpoint import Checkpoint
from corrbandits.simulation.engines import Recorded, Runs, on_device, play_on_device
from corrbandits.simulation.fingerprint import fingerprint
from corrbandits.simulation.simulator import simulate
from corrbandits.stress.names import REFERENCES
from corrbandits.stress.plan import PART_ENTRIES, Part, Plan, parts
from corrbandits.stress.truth import reordered

FORMAT = "corrbandits stress test 2"


def played(plan: Plan, checkpoint: Any, threads: int | None, progress: bool | None) -> Recorded:
    """Return `regret` and `initialisation`: of each part what is saved, or else what is played now."""
    whole = _room(plan, len(plan.candidates), len(plan.settings), plan.runs)
    left = dict(enumerate(parts(plan)))
    total, runs = sum(part.weight for part in left.values()), sum(part.batch(0).last for part in left.values())
    saved = None if checkpoint is None else Checkpoint(checkpoint, _described(plan))
    for number, part in list(left.items()):
        found = _room(plan, len(part.players), part.runs)
        if saved is not None and saved.load(part.batch(number), found):
            _put(plan, left.pop(number), found, whole)
    done = total - sum(part.weight for part in left.values())
    try:
        with bar(total, progress, "stress test", before=done) as show:
            for number, part in left.items():
                found = _simulated(plan, part, _alike(left.values(), part), threads)
                if saved is not None:
                    saved.save(part.batch(number), found)
                _put(plan, part, found, whole)
                done += part.weight
                show(done)
    except BaseException as error:
        if saved is not None:
            error.add_note(saved.state(runs))
        raise
    return whole


def _room(plan: Plan, *shape: int) -> Recorded:
    """Return arrays to keep runs in, NaN until they are played."""
    return {"regret": np.full((*shape, plan.times.size), np.nan), "initialisation": np.full(shape, np.nan)}


def _put(plan: Plan, part: Part, found: Recorded, whole: Recorded) -> None:
    """Put what a part found (player, run, ...) where it belongs; the references', in every setting."""
    runs = slice(part.surface, part.surface + part.runs * len(plan.surfaces), len(plan.surfaces))
    for k, (name, setting) in enumerate(part.players):
        where = slice(None) if name in REFERENCES else plan.settings.index(setting)
        for what, rows in found.items():
            whole[what][plan.candidates.index(name), where, runs] = rows[k]


def _simulated(plan: Plan, part: Part, alike: Sequence[float], threads: int | None) -> Recorded:
    """Return what a part finds: of each run as it comes or, where a device plays them sooner, of many runs at once.

    There are so many games like those of each player, in all parts.
    """
    found = _room(plan, len(part.players), part.runs)
    later, into, away = list[Runs](), list[Recorded](), list[bool]()
    for run in range(part.runs):
        games, of_run = _games(plan, part, run), {what: rows[:, run] for what, rows in found.items()}
        away = away or on_device(games, [part.runs] * len(games), alike)
        _play_here(plan, games, [k for k, there in enumerate(away) if not there], of_run, threads)
        for k in np.flatnonzero(away):
            later.append(games[k])
            into.append(games[k].room() | {what: rows[k : k + 1] for what, rows in of_run.items()})
        if later and (len(later) * later[0].belief.arms ** 2 >= PART_ENTRIES or run + 1 == part.runs):
            play_on_device(later, into, lambda _: None)
            later, into = [], []
    return found


def _games(plan: Plan, part: Part, run: int) -> list[Runs]:
    """Return the games of all players of a part in one of its runs."""
    order, noise = plan.dealt(part.surface, run)
    surface, seed = reordered(plan.surfaces[part.surface], order), plan.seed_of(part.surface, run)
    players = plan.players(part, order, noise)
    return [Runs(*player, surface, plan.horizon, seed, 0, 1, plan.times) for player in players]


def _play_here(plan: Plan, games: list[Runs], some: list[int], into: Recorded, threads: int | None) -> None:
    """Play some games of a run on the cores, and write what is found where they stand."""
    if not some:
        return
    trace = simulate(
        {str(k): (games[k].policy, games[k].belief) for k in some},
        games[0].environment,
        plan.horizon,
        seed=games[0].seed,
        record="summary",
        times=plan.times,
        threads=threads,
        progress=False,
    )
    for what, rows in into.items():
        rows[some] = trace.data[what].values[:, 0]


def _alike(some: Iterable[Part], part: Part) -> list[float]:
    """Return how many games like those of each player of a part there are in some parts, per player of that name."""
    ahead, own = Counter[str](), Counter(name for name, _ in part.players)
    for one in some:
        ahead.update({name: one.runs * many for name, many in Counter(name for name, _ in one.players).items()})
    return [ahead[name] / own[name] for name, _ in part.players]


def _described(plan: Plan) -> dict[str, Any]:
    """Return what makes a test the one it is, as entries of a JSON file."""
    return {
        "format": CHECKPOINT_FORMAT,
        "version of corrbandits": version("corrbandits"),
        "work": FORMAT,
        "horizon": plan.horizon,
        "runs": plan.runs,
        "seed": plan.seed,
        "times": plan.times.tolist(),
        "candidates": plan.candidates,
        "policy": fingerprint(plan.policy),
        "truth": fingerprint(plan.surfaces),
        "prior": fingerprint(plan.prior),
        "list of settings": fingerprint([tuple(setting) for setting in plan.settings]),
    }
