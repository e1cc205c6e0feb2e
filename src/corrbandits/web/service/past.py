"""What was believed before: progress over the rewards so far, the predictions of one arm, and the best arm now."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any

import numpy as np

from corrbandits.belief import Belief, GaussianBelief, Vague
from corrbandits.study import Snapshot
from corrbandits.study.choosing import deciding_belief
from corrbandits.study.ledger import Ledger
from corrbandits.web.service import documents
from corrbandits.web.service.columns import MOST_EXACT, standing, worth
from corrbandits.web.service.kept import Kept
from corrbandits.web.service.shelf import Desk

Data = dict[str, Any]

MOMENTS, MOST_MOMENTS = 60, 12
"""At so many moments of the past the belief is computed; at the second number where arms are many."""

MOST_NEIGHBOURS = 8
MOST_PREDICTED = 20
"""Of an arm's rewards, so many of the last are shown with what was predicted."""

REWARDING = ("told", "observed", "amended", "retracted")
NEW = ("told", "observed")


def best(snapshot: Snapshot, stop_loss: float | None) -> Data:
    """Return the best arm, how sure that is, and whether to stop; or why there is none."""
    from corrbandits.study.report.data import stopping

    try:
        return stopping(snapshot, snapshot.stopping(stop_loss))
    except ValueError as error:
        enough = None if stop_loss is None else False
        rest: Data = {"reason": str(error), "stop_loss": stop_loss, "enough": enough, "warnings": []}
        return {"study": snapshot.name, "best": None, **rest}


def progress(desk: Desk, snapshot: Snapshot, kept: Kept) -> Data:
    """Return every reward that counts, and at some moments the best arm then, its chance, and the cost of stopping."""
    events = desk.events(snapshot.ledger.sequence)
    first = ((k, e, snapshot.ledger.trials[e["trial"] - 1]) for k, e in enumerate(events, 1) if e["event"] in NEW)
    rewards = [
        {"sequence": k, "trial": e["trial"], "arm": entry.arm, "reward": entry.reward, "at": e["at"]}
        for k, e, entry in first if entry.status == "told"
    ]  # fmt: skip
    changes = [k for k, e in enumerate(events, 1) if e["event"] in REWARDING]
    most = MOMENTS if snapshot.arms.count <= MOST_EXACT else MOST_MOMENTS
    moments = []
    for ledger in desk.ledgers(chosen(changes, most)):
        made = partial(_moment, ledger)
        moments.append(json.loads(kept.get((desk.serial, "moment", ledger.sequence), made)))
    return {
        "study": snapshot.name,
        "rewards": rewards,
        "moments": moments,
        "worth": worth(snapshot.deciding),
        "rounds": documents.rounds(snapshot),
        "told": int(snapshot.ledger.tally.counts.sum()),
    }


def chosen(changes: list[int], most: int) -> list[int]:
    """Return at most about so many of them, evenly, the last among them; as there are more, the same stay.

    >>> chosen(list(range(1, 9)), 4)
    [1, 3, 5, 7, 8]
    """
    step = 1
    while len(changes) > step * most:
        step *= 2
    some = changes[::step]
    return some if not changes or some[-1] == changes[-1] else [*some, changes[-1]]


def _moment(ledger: Ledger) -> Data:
    deciding = deciding_belief(ledger).after(ledger.clock())
    found = standing(deciding, ledger.settings.seed)
    data: Data = {"sequence": ledger.sequence, "t": ledger.time, "told": int(ledger.tally.counts.sum())}
    if found is None:
        return data | {"arm": None, "name": None, "mean": None, "deviation": None, "chance": None, "loss": None}
    mean = found.mean if ledger.settings.goal == "max" else deciding.mirror - found.mean
    return data | {
        "arm": found.leader,
        "name": ledger.arms.name(found.leader),
        "mean": mean,
        "deviation": found.deviation,
        "chance": float(found.chance[found.leader]),
        "loss": found.loss,
    }


def of_arm(desk: Desk, snapshot: Snapshot, arm: int) -> Data:
    """Return an arm: its rewards, what was predicted before each, and the arms that say most of it."""
    ledger, deciding = snapshot.ledger, snapshot.deciding
    return {
        "study": snapshot.name,
        "arm": arm,
        "name": ledger.arms.name(arm),
        "coordinates": documents.place(snapshot, arm),
        "attributes": {name: values[arm] for name, values in ledger.arms.attributes.items()},
        "now": _prediction(ledger, deciding, arm),
        "trials": _with_predictions(desk, snapshot, arm),
        "neighbours": _neighbours(snapshot, deciding, arm),
    }


def _with_predictions(desk: Desk, snapshot: Snapshot, arm: int) -> list[Data]:
    """Return the trials of an arm, the last of them with what was thought of it just before the reward was told."""
    rows = [row for row in documents.history(snapshot, 0, len(snapshot.ledger.trials)) if row["arm"] == arm]
    ours = {row["trial"] for row in rows if row["told"] is not None}
    events = enumerate(desk.events(snapshot.ledger.sequence))
    told = {k: e["trial"] for k, e in events if e["event"] in ("told", "observed") and e["trial"] in ours}
    found: dict[int, Data | None] = {}
    for then in desk.ledgers(sorted(told)[-MOST_PREDICTED:]):
        trial = told[then.sequence]
        before = deciding_belief(then).after(then.clock(snapshot.ledger.entry(trial).when))
        found[trial] = _prediction(then, before, arm) if arm < then.arms.count else None
    return [row | {"predicted": found.get(row["trial"])} for row in rows]


def _prediction(ledger: Ledger, deciding: Belief, arm: int) -> Data | None:
    if not np.isfinite(deciding.variance[arm]):
        return None
    mean = float(deciding.mean[arm])
    noise = getattr(deciding, "noise_variance", None)
    return {
        "mean": mean if ledger.settings.goal == "max" else float(deciding.mirror - mean),
        "deviation": float(deciding.deviation[arm]),
        "noise": None if noise is None else math.sqrt(float(np.broadcast_to(noise, deciding.arms)[arm])),
    }


def _neighbours(snapshot: Snapshot, deciding: Belief, arm: int) -> list[Data]:
    """Return the arms whose mean rewards are thought to go most with this one's, beforehand."""
    prior = snapshot.ledger.prior
    belief = prior if isinstance(prior, GaussianBelief) else deciding
    if not isinstance(belief, (GaussianBelief, Vague)) or not np.isfinite(belief.variance).all():
        return _nearest(snapshot, deciding, arm)
    covariance = belief.covariance_with(arm)
    scale = np.sqrt(belief.variance * belief.variance[arm])
    rho = np.divide(covariance, scale, out=np.zeros(belief.arms), where=scale > 0)
    rho[arm] = -np.inf
    order = np.argsort(-rho, kind="stable")[: min(MOST_NEIGHBOURS, belief.arms - 1)]
    return [_neighbour(snapshot, deciding, int(k), float(rho[k])) for k in order]


def _nearest(snapshot: Snapshot, deciding: Belief, arm: int) -> list[Data]:
    places = snapshot.arms.coordinates
    if places is None:
        return []
    far = ((places - places[arm]) ** 2).sum(axis=1)
    far[arm] = np.inf
    order = np.argsort(far, kind="stable")[: min(MOST_NEIGHBOURS, snapshot.arms.count - 1)]
    return [_neighbour(snapshot, deciding, int(k), None) for k in order]


def _neighbour(snapshot: Snapshot, deciding: Belief, arm: int, rho: float | None) -> Data:
    now = _prediction(snapshot.ledger, deciding, arm)
    count = int(snapshot.ledger.tally.counts[arm])
    return {"arm": arm, "name": snapshot.arms.name(arm), "correlation": rho, "now": now, "counts": count}
