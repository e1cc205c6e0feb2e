"""What is said of a study: documents made of one snapshot."""

from __future__ import annotations

import heapq
import math
from typing import Any

from corrbandits.belief import Vague
from corrbandits.policies import Policy, Travelling
from corrbandits.study import Explanation, Snapshot, Trial
from corrbandits.study.codec import policy_data
from corrbandits.study.report.sentences import prior_in_words
from corrbandits.study.report.standing import learnt as learnt_words
from corrbandits.study.trial import Entry

Data = dict[str, Any]

MOST_LAST = 5
MOST_JUDGED = 2_000
"""With more arms, surprises and contradictions are looked for only where they are asked for."""

MOST_WAYS = 300
"""Between more arms than this the lengths of ways are not sent: what they cost is then not said."""


def listed(snapshot: Snapshot) -> Data:
    """Return a study in the list of all."""
    ledger = snapshot.ledger
    return {
        "name": snapshot.name,
        "arms": ledger.arms.count,
        "told": int(ledger.tally.counts.sum()),
        "open": len(ledger.open),
        "rounds": rounds(snapshot),
        "goal": snapshot.settings.goal,
        "unit": snapshot.settings.unit,
        "changed": ledger.changed,
        "sequence": ledger.sequence,
    }


def rounds(snapshot: Snapshot) -> int | None:
    """Return how many rewards there are to be in all, if the rule knows."""
    found = getattr(snapshot.settings.policy, "horizon", None)
    return int(found) if isinstance(found, int) else None


def summary(snapshot: Snapshot) -> Data:
    """Return where a study stands."""
    ledger, settings = snapshot.ledger, snapshot.settings
    return {
        "study": snapshot.name,
        "goal": settings.goal,
        "unit": settings.unit,
        "rounds": rounds(snapshot),
        "repeat": settings.repeat,
        "timeout": settings.timeout,
        "arms": ledger.arms.count,
        "axes": list(ledger.arms.axes),
        "t": ledger.time,
        "told": int(ledger.tally.counts.sum()),
        "open": [_awaited(snapshot, trial) for trial in snapshot.open_trials],
        "last": _last(snapshot),
        "policy": policy_data(settings.policy),
        "prior": prior_in_words(ledger.prior),
        "drifts": ledger.recipe.in_real_time,
        "moves": moves(settings.policy),
        "created": ledger.created,
        "created_by": ledger.created_by,
        "changed": ledger.changed,
        "sequence": ledger.sequence,
    }


def moves(policy: Policy) -> Data | None:
    """Return what moves cost, if the rule weighs that."""
    if not isinstance(policy, Travelling):
        return None
    paid = policy.moves
    own = paid.graph is not None or paid.coordinates is not None
    costs = {"per_move": paid.per_move, "per_distance": paid.per_distance}
    return costs | {"distance": paid.distance, "own_places": own}


def judged(snapshot: Snapshot) -> Data:
    """Return what takes computing: what was learnt, the best arm so far, warnings."""
    from corrbandits.web.service.columns import standing

    deciding = snapshot.deciding
    found = standing(deciding, snapshot.settings.seed)
    best = None
    if found is not None:
        mean = found.mean if snapshot.settings.goal == "max" else deciding.mirror - found.mean
        name, chance = snapshot.arms.name(found.leader), float(found.chance[found.leader])
        best = {"arm": found.leader, "name": name, "mean": mean, "deviation": found.deviation, "chance": chance}
    return {
        "opening": isinstance(deciding, Vague) and deciding.opening,
        "still_needed": deciding.still_needed if isinstance(deciding, Vague) else 0,
        "best": best,
        "learnt": learnt_words(deciding, deciding, snapshot.arms),
        "warnings": warnings(snapshot) if snapshot.arms.count <= MOST_JUDGED else [],
    }


def warnings(snapshot: Snapshot) -> list[Data]:
    """Return what a person should look at, and what to do."""
    from corrbandits.study.report.sentences import surprise_in_words
    from corrbandits.study.report.warnings import doubts, unexplained

    found = [
        {
            "what": _plain(surprise_in_words(one)),
            "do": f"Look at trial {one.trial}. If its reward was mistyped, correct it.",
            "trial": one.trial,
            "arm": one.arm,
        }
        for one in unexplained(snapshot.ledger, snapshot.surprises())
    ]
    for text in doubts(snapshot.ledger, snapshot.name):
        what, _, then = _plain(text).partition(". ")
        found.append({"what": f"{what}.", "do": then, "trial": None, "arm": None})
    return found


def trial_data(snapshot: Snapshot, trial: Trial) -> Data:
    """Return a trial and where its arm lies."""
    return {"trial": trial.number, "arm": trial.arm, "name": trial.name, "coordinates": place(snapshot, trial.arm)}


def place(snapshot: Snapshot, arm: int) -> dict[str, float] | None:
    """Return where an arm lies, by axis."""
    arms = snapshot.arms
    return None if arms.coordinates is None else dict(zip(arms.axes, arms.coordinates[arm].tolist(), strict=True))


def done(snapshot: Snapshot, did: str, number: int, *, check: bool) -> Data:
    """Return what was done to a trial, the reward that counts, and, if that is asked for, whether it surprises."""
    surprise = snapshot.surprise(number) if check else None
    found = None if surprise is None else {"z": surprise.z, "expected": surprise.expected, "trial": surprise.trial}
    return {
        "study": snapshot.name,
        "did": did,
        **trial_data(snapshot, snapshot.trial(number)),
        "reward": snapshot.reward(number),
        "open": len(snapshot.ledger.open),
        "sequence": snapshot.ledger.sequence,
        "surprise": found,
    }


def history(snapshot: Snapshot, offset: int, limit: int) -> list[Data]:
    """Return some trials, from the first on."""
    entries = snapshot.ledger.trials[offset : offset + limit]
    return [_row(snapshot, number, entry) for number, entry in enumerate(entries, offset + 1)]


def arms(snapshot: Snapshot, offset: int, limit: int) -> Data:
    """Return the names of some arms, where they lie, and what else is known of them, as columns."""
    known, some = snapshot.arms, slice(offset, offset + limit)
    where = None if known.coordinates is None else known.coordinates[some]
    return {
        "study": snapshot.name,
        "count": known.count,
        "offset": offset,
        "axes": list(known.axes),
        "names": [known.name(k) for k in range(known.count)[some]],
        "coordinates": None if where is None else [column.tolist() for column in where.T],
        "attributes": {name: list(values[some]) for name, values in known.attributes.items()},
        "ways": ways(snapshot.settings.policy, known.count) if offset == 0 else None,
    }


def ways(policy: Policy, arms: int) -> list[list[float]] | None:
    """Return how far it is between arms as a rule has it; None if it goes by where they lie, or if they are many.

    >>> from corrbandits import Gittins, Moves
    >>> ways(Travelling(Gittins(40), Moves(per_distance=2.0, graph=[(0, 1), (1, 2, 3.5)]), horizon=40), arms=3)
    [[0.0, 1.0, 4.5], [1.0, 0.0, 3.5], [4.5, 3.5, 0.0]]
    """
    if not isinstance(policy, Travelling) or arms > MOST_WAYS:
        return None
    if policy.moves.graph is None and policy.moves.coordinates is None:
        return None
    return [[float(f"{length:.5g}") for length in row] for row in policy.moves.distances(arms).tolist()]


def explanation(snapshot: Snapshot, found: Explanation) -> Data:
    """Return why an arm was chosen, as data and in words."""
    from dataclasses import asdict

    goal = snapshot.settings.goal
    return {
        "study": snapshot.name,
        "goal": goal,
        **asdict(found),
        "sentence": sentence(found, snapshot),
        "text": str(found),
    }


def sentence(found: Explanation, snapshot: Snapshot) -> str:
    """Return in one sentence why an arm was chosen."""
    from corrbandits.web.page.why import sentence as said

    return str(said(found, snapshot))


def finite(data: Any) -> Any:
    """Return data with null for every number that is not finite, which JSON cannot express."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _awaited(snapshot: Snapshot, trial: Trial) -> Data:
    entry = snapshot.ledger.entry(trial.number)
    return trial_data(snapshot, trial) | {"by": entry.asked_by, "at": entry.asked}


def _last(snapshot: Snapshot) -> list[Data]:
    """Return the last rewards that were told, the newest first."""
    told = ((n, e) for n, e in enumerate(snapshot.ledger.trials, 1) if e.status == "told")
    newest = heapq.nlargest(MOST_LAST, told, key=lambda one: (one[1].told or 0.0, one[0]))
    return [
        {"trial": n, "arm": e.arm, "name": snapshot.arms.name(e.arm), "reward": e.reward, "by": e.told_by,
         "at": e.told, "measured": e.when, "kind": e.kind, "coordinates": place(snapshot, e.arm)}
        for n, e in newest
    ]  # fmt: skip


def _row(snapshot: Snapshot, number: int, entry: Entry) -> Data:
    return {
        "trial": number,
        "arm": entry.arm,
        "name": snapshot.arms.name(entry.arm),
        "status": entry.kind,
        "reward": entry.reward if entry.status == "told" else None,
        "first_reward": None if math.isnan(entry.first) else entry.first,
        "asked": entry.asked,
        "told": entry.told,
        "measured": entry.when,
        "asked_by": entry.asked_by,
        "told_by": entry.told_by,
    }


def _plain(text: str) -> str:
    said = text.removeprefix("WARNING: ")
    return said[:1].upper() + said[1:]
