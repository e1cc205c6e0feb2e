"""What a person should look at: arms that surprise, and what the rewards contradict of what was stated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corrbandits.belief.contradiction import Contradiction, contradictions
from corrbandits.study.ledger import Ledger
from corrbandits.study.measured import AHEAD
from corrbandits.study.relation import absurd_length
from corrbandits.study.replica import now
from corrbandits.study.report import inference
from corrbandits.study.report.sentences import (
    amend_in_words,
    contradictions_in_words,
    future_in_words,
    noise_in_words,
    surprise_in_words,
)
from corrbandits.study.report.surprises import Surprise, surprises, tally_of, told, without

MOST_SURPRISES = 3


def warnings(ledger: Ledger, name: str) -> tuple[str, ...]:
    """Return all that a person should look at, in words."""
    apart = unexplained(ledger, surprises(ledger))[:MOST_SURPRISES]
    found = [f"{surprise_in_words(one)} {amend_in_words(one, name)}" for one in apart]
    return (*found, *doubts(ledger, name), *remarks(ledger, name))


def unexplained(ledger: Ledger, found: Sequence[Surprise]) -> list[Surprise]:
    """Return what surprises, without averages of several rewards where what was stated is wrong: that explains them."""
    if any(one.rewards > 1 for one in found) and contradicted(ledger):
        return [one for one in found if one.rewards == 1]
    return [*found]


def remarks(ledger: Ledger, name: str) -> tuple[str, ...]:
    """Return in words what was stated and makes little sense, whatever the rewards."""
    return tuple(absurd_length(ledger.prior, ledger.arms.coordinates, name))


def contradicted(ledger: Ledger) -> list[Contradiction]:
    """Return what the rewards contradict of what was stated, the worst first.

    A few single rewards that surprise may be mistyped, and say nothing of what was stated then: they are left out; an
    arm's average of several is not. Where mean rewards change nothing is said: averages over time contradict what is
    true at each time.
    """
    if ledger.recipe.changes:
        return []
    apart, seen = [one for one in surprises(ledger) if one.rewards == 1], np.count_nonzero(ledger.tally.counts)
    few = 0 < len({one.arm for one in apart}) < seen / 2
    tally = tally_of(without(told(ledger), apart), ledger) if few else ledger.tally
    return contradictions(ledger.prior, tally)


def doubts(ledger: Ledger, name: str) -> tuple[str, ...]:
    """Return in words what the rewards contradict of what was stated: while there is some, no arm is good enough."""
    check, stated = inference.noise_check(ledger), inference.stated_noise(ledger.prior)
    found = contradicted(ledger)
    said = []
    if check is not None and check.suspicious and stated is not None:
        said.append(noise_in_words(check, stated, name))
        found = [one for one in found if one.name != "noise_sd"]
    if found:
        said.append(contradictions_in_words(found, name))
    return (*said, *of_the_future(ledger, name))


def of_the_future(ledger: Ledger, name: str) -> tuple[str, ...]:
    """Return in words which reward was measured in the future, if that makes all others old: a clock was wrong."""
    trials = ledger.measured_trials() if ledger.recipe.in_real_time else []
    last = ledger.trials[trials[-1] - 1].when if trials else None
    if last is None or last <= now() + AHEAD:
        return ()
    return (future_in_words(trials[-1], last, name),)
