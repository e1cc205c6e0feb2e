"""Which events follow from a ledger: those of a call, none if it was made before, refused if it cannot be.

Nothing is changed here: the events are appended to a journal first, and then entered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corrbandits._core import checks
from corrbandits._shell.numbers import exact
from corrbandits.policies import OnGraph, Policy, Travelling, Wrapper
from corrbandits.study.arms import Arms
from corrbandits.study.codec import Data
from corrbandits.study.extend import extended, placed
from corrbandits.study.ledger import Ledger
from corrbandits.study.measured import refuse_another_time
from corrbandits.study.refusal import RefusedError
from corrbandits.study.trial import Entry


def telling(ledger: Ledger, trial: int, reward: float, measured: float | None = None) -> list[Data]:
    """Return the event of a reward; none if it has been told already, refused if another has."""
    entry = ledger.entry(trial)
    if entry.status in ("open", "expired"):
        return [{"event": "told", "trial": trial, "reward": reward} | _when(measured)]
    _refuse_closed(ledger, trial, entry)
    if reward in (entry.first, entry.reward):
        refuse_another_time(trial, entry.when, measured)
        return []
    raise RefusedError(
        f"trial {trial} was told the reward {exact(entry.reward)} already, got {exact(reward)} now. If this is "
        "another measurement, observe it.",
        "If the first is wrong, {call}.",
        "amend",
        trial,
        reward,
    )


def asked_with(
    ledger: Ledger, key: str, count: int, allowed: tuple[int, ...] | None, start: int | None = None
) -> list[int]:
    """Return the trials that were asked for with a key; none if it is new, refused if it was another call's."""
    if key not in ledger.keys:
        return []
    first, begun = ledger.keys[key], set(ledger.keys.values())
    asked = [first]
    while asked[-1] < len(ledger.trials) and asked[-1] + 1 not in begun and ledger.trials[asked[-1]].asked is not None:
        asked.append(asked[-1] + 1)
    entry = ledger.entry(first)
    if entry.asked is None or len(asked) != count or (entry.allowed, entry.start) != (allowed, start):
        what = "observed" if entry.asked is None else f"asked for, {len(asked)} at once"
        raise ValueError(
            f"a key must be one call's, but {key!r} is that of trial {first}, which was {what}. Make the same call "
            "again, or use another key."
        )
    return asked


def observing(ledger: Ledger, arm: int, reward: float, key: str, measured: float | None = None) -> list[Data]:
    """Return the event of a free observation; none if it has been made with this key already."""
    if key not in ledger.keys:
        trial = len(ledger.trials) + 1
        return [{"event": "observed", "trial": trial, "arm": arm, "reward": reward, "key": key} | _when(measured)]
    trial = ledger.keys[key]
    entry = ledger.entry(trial)
    if entry.asked is not None:
        raise ValueError(f"the key {key!r} is that of trial {trial}, which was asked for. Use another key.")
    if entry.status != "told":
        raise ValueError(
            f"the key {key!r} is that of trial {trial}, which was {entry.status}. Observe it with another key."
        )
    if entry.arm != arm or reward not in (entry.first, entry.reward):
        raise RefusedError(
            f"an observation with the key {key!r} is there as trial {trial}, reward {exact(entry.reward)} of arm "
            f"{ledger.arms.name(entry.arm)!r}, got {exact(reward)} of {ledger.arms.name(arm)!r} now. Use another key.",
            "If the first is wrong, {call}.",
            "amend",
            trial,
            ...,
        )
    refuse_another_time(trial, entry.when, measured)
    return []


def amending(ledger: Ledger, trial: int, reward: float, was: float | None = None) -> list[Data]:
    """Return the event of another reward in place of a wrong one, if that is still the one it `was`."""
    entry = _rewarded(ledger, trial, "amended", "tell its reward")
    if reward == entry.reward:
        return []
    _refuse_another(ledger, trial, was)
    return [{"event": "amended", "trial": trial, "reward": reward}]


def retracting(ledger: Ledger, trial: int, was: float | None = None) -> list[Data]:
    """Return the event that takes an observation back, if that is still the one it `was`."""
    status = ledger.entry(trial).status
    if status == "retracted":
        return []
    if status == "cancelled":
        raise ValueError(f"only a reward can be retracted, but trial {trial} was cancelled and has none.")
    _rewarded(ledger, trial, "retracted", "cancel it")
    _refuse_another(ledger, trial, was)
    return [{"event": "retracted", "trial": trial}]


def _refuse_another(ledger: Ledger, trial: int, was: float | None) -> None:
    """Refuse to change a reward that is another by now than who changes it has seen."""
    now = ledger.entry(trial).reward
    if was is not None and was != now:
        raise ValueError(
            f"trial {trial} was to be changed from {was:g}, but its reward is {now:g} by now. See who entered it, "
            "then change it again."
        )


def cancelling(ledger: Ledger, trial: int) -> list[Data]:
    """Return the event that gives a trial up."""
    status = ledger.entry(trial).status
    if status in ("told", "retracted"):
        why = f"only a trial whose reward is awaited can be cancelled, but {trial} was {status}."
        if status == "told":
            raise RefusedError(why, "If its reward is wrong, {call}.", "retract", trial)
        raise ValueError(why)
    return [] if status == "cancelled" else [{"event": "cancelled", "trial": trial}]


def extending(ledger: Ledger, new: Arms, more: Mapping[str, Any], key: str) -> list[Data]:
    """Return the event of more arms, and of what the prior is to know of them; none if they came with this key."""
    if key in ledger.extensions:
        return []
    _refuse_own_ways(ledger.settings.policy)
    given = more if new.coordinates is None else {"coordinates": new.coordinates, **more}
    prior = {name: checks.numbers(name, value).tolist() for name, value in given.items()}
    arms = placed(new, extended(ledger.prior, prior, ledger.arms.count + new.count))
    ledger.arms.plus(arms)  # refuses what does not fit
    return [{"event": "extended", "arms": arms.data(), "prior": prior, "key": key}]


def _refuse_own_ways(policy: Policy) -> None:
    """Refuse more arms where the rule has a graph, or places, of those there are: it could never choose again."""
    while isinstance(policy, Wrapper):
        moves = policy.moves if isinstance(policy, Travelling) else None
        if isinstance(policy, OnGraph) or (moves and (moves.graph is not None or moves.coordinates is not None)):
            raise ValueError(
                "a study whose rule has roads or places of its own cannot take more arms, which would not lie on them. "
                "Begin another with all arms and roads, and observe the rewards there."
            )
        policy = policy.rule


def expiring(ledger: Ledger, now: float) -> list[Data]:
    """Return the events of trials that have been open for too long."""
    timeout = ledger.settings.timeout
    if timeout is None:
        return []
    late = [trial for trial in ledger.open if now - (ledger.trials[trial - 1].asked or 0.0) > timeout]
    return [{"event": "expired", "trial": trial} for trial in late]


def _rewarded(ledger: Ledger, trial: int, done: str, instead: str) -> Entry:
    entry = ledger.entry(trial)
    if entry.status in ("open", "expired"):
        raise ValueError(f"only a reward can be {done}, but trial {trial} has none yet: {instead}.")
    _refuse_closed(ledger, trial, entry)
    return entry


def _refuse_closed(ledger: Ledger, trial: int, entry: Entry) -> None:
    if entry.status in ("cancelled", "retracted"):
        why, name = f"trial {trial} was {entry.status} and takes no reward.", ledger.arms.name(entry.arm)
        raise RefusedError(why, "If there is one, {call}.", "observe", name, ...)


def _when(measured: float | None) -> Data:
    return {} if measured is None else {"measured": measured}
