"""What is said of a study as data, made of one snapshot: the documents of `--json`, and of a page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corrbandits.study.explaining import Explanation
    from corrbandits.study.report.inference import Stopping
    from corrbandits.study.snapshot import Snapshot
    from corrbandits.study.trial import Trial

Data = dict[str, Any]


def text(data: Any) -> str:
    """Return data as one JSON document on one line; what is not finite is null.

    So is the mean of an arm of which nothing is known.

    >>> text({"mean": 0.0, "deviation": math.inf})
    '{"mean": null, "deviation": null}'
    """
    return json.dumps(_finite(data), allow_nan=False)


def created(snapshot: Snapshot, remarks: Sequence[str] = ()) -> Data:
    """Return what a new study is, and where it is kept."""
    from corrbandits.study.codec import policy_data
    from corrbandits.study.report.sentences import prior_in_words

    return {
        "study": snapshot.name,
        "database": snapshot.database,
        "arms": snapshot.arms.count,
        "prior": prior_in_words(snapshot.prior),
        "policy": policy_data(snapshot.settings.policy),
        "trials": len(snapshot.trials),
        "remarks": list(remarks),
    }


def asked(snapshot: Snapshot, trials: Sequence[Trial]) -> Data:
    """Return trials to try, and where their arms lie."""
    return {"study": snapshot.name, "trials": [_trial(snapshot, trial) for trial in trials]}


def done(snapshot: Snapshot, did: str, number: int) -> Data:
    """Return what was done to a trial, the reward that counts, how many trials are open, and whether it surprises."""
    surprise = snapshot.surprise(number)
    return {
        "study": snapshot.name,
        "did": did,
        **_trial(snapshot, snapshot.trial(number)),
        "reward": snapshot.reward(number),
        "measured": iso(snapshot.ledger.entry(number).when),
        "open": len(snapshot.open_trials),
        "surprise": None if surprise is None else surprise.z,
    }


def stopping(snapshot: Snapshot, found: Stopping) -> Data:
    """Return the best arm, or the reason why there is none, and whether to stop."""
    best = None if found.best is None else asdict(found.best)
    rest = {"reason": found.reason, "stop_loss": found.loss, "enough": found.enough}
    return {"study": snapshot.name, "best": best, **rest, "warnings": [*found.doubts, *found.remarks]}


def explanation(name: str, found: Explanation) -> Data:
    """Return why an arm was chosen."""
    data: Data = {"study": name, **asdict(found)}
    if found.way is None:
        for one in filter(None, (data, data["chosen"], data["runner_up"])):
            del one["way"]
    return data


def history(snapshot: Snapshot) -> list[Data]:
    """Return every trial, times as text in ISO 8601."""
    import pandas as pd

    from corrbandits.study.exchange import TIMES

    rows = []
    for row in snapshot.history().to_dict("records"):
        times = {key: None if pd.isna(row[key]) else row[key].isoformat() for key in TIMES}
        rows.append({str(key): value for key, value in row.items()} | times)
    return rows


def iso(seconds: float | None) -> str | None:
    """Return a time, in seconds since 1970, as text in ISO 8601."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _trial(snapshot: Snapshot, trial: Trial) -> Data:
    """Return a trial and where its arm lies."""
    arms = snapshot.arms
    data: Data = {"trial": trial.number, "arm": trial.arm, "name": trial.name}
    if arms.coordinates is not None:
        data["coordinates"] = dict(zip(arms.axes, arms.coordinates[trial.arm].tolist(), strict=True))
    return data


def _finite(data: Any) -> Any:
    """Return data with null for every number that is not finite, which JSON cannot express."""
    if isinstance(data, dict):
        known = data.get("deviation") != math.inf
        return {key: _finite(value) if known or key != "mean" else None for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
