"""The calls of many at one time, saved together: as if they had come one after the other, but the disk is synced once.

A call that is refused is refused alone. Each gives what it would have given by itself, or the error it would have
raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from corrbandits.study import following
from corrbandits.study.asking import Asking
from corrbandits.study.codec import Data
from corrbandits.study.ledger import Ledger
from corrbandits.study.study import Study
from corrbandits.study.trial import Trial
from corrbandits.study.turns import Turn


class Wanted(NamedTuple):
    """A call of `ask` for one trial: its key, and who makes it."""

    key: str
    by: str | None


class Reward(NamedTuple):
    """A call of `tell`: a trial, its reward, who tells it, and when it was measured, if that is said."""

    trial: int
    reward: float
    by: str | None
    measured: float | None = None


def ask_each(study: Study, calls: Sequence[Wanted]) -> list[Trial | Exception]:
    """Return a trial for each call, chosen one after the other.

    >>> import tempfile, corrbandits as cb
    >>> directory = tempfile.TemporaryDirectory()
    >>> with cb.Study.create(f"{directory.name}/survey.db", "meadow", arms=["brook", "hill"], rounds=9) as study:
    ...     [trial.number for trial in ask_each(study, [Wanted("a", "Anna"), Wanted("b", "Ben")])]
    [1, 2]
    >>> directory.cleanup()
    """
    known, keys = study.snapshot().ledger.keys, {call.key for call in calls}
    if 1 < len(calls) == len(keys) and keys.isdisjoint(known):
        try:
            return list(_asked(study, calls))
        except ValueError:  # of one of them, which is found below
            pass
    return [_alone(study, call) for call in calls]


def _asked(study: Study, calls: Sequence[Wanted]) -> list[Trial]:
    replica = study._replica
    each = [{"key": call.key} | _signed(call.by) for call in calls]
    with Turn(replica.journal, replica.study) as turn:
        asking, trials = Asking(replica, len(calls), None, repeats=True, each=each), None
        while trials is None:
            turn.wait()
            asking.insists = turn.queued
            trials = asking.tried(calls[0].key)
    return trials


def _alone(study: Study, call: Wanted) -> Trial | Exception:
    try:
        return study.signed(call.by).ask(key=call.key)
    except (ValueError, OSError) as error:
        return error


def tell_each(study: Study, calls: Sequence[Reward]) -> list[Exception | None]:
    """Tell the reward of each call; return the errors of those that were refused, None for the others."""
    refused: list[Exception | None] = [None] * len(calls)
    if len(calls) > 1 and len({call.trial for call in calls}) == len(calls):
        try:
            study._replica.record(lambda ledger: _told(ledger, calls, refused))
        except ValueError:  # of one of them, which is found below
            pass
        else:
            return refused
    return [_told_alone(study, call) for call in calls]


def _told(ledger: Ledger, calls: Sequence[Reward], refused: list[Exception | None]) -> list[Data]:
    events: list[Data] = []
    for k, call in enumerate(calls):
        try:
            refused[k] = None
            events += [
                event | _signed(call.by) for event in following.telling(ledger, call.trial, call.reward, call.measured)
            ]
        except ValueError as error:
            refused[k] = error
    return events


def _told_alone(study: Study, call: Reward) -> Exception | None:
    try:
        study.signed(call.by).tell(call.trial, call.reward, at=call.measured)
    except (ValueError, OSError) as error:
        return error
    return None


def _signed(by: str | None) -> Data:
    return {} if by is None else {"by": by}
