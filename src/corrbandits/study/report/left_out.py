"""Rewards that a belief which learns did not expect: it is conditioned afresh on all but those which are judged.

A `Vague` belief learns the noise, which a mistyped reward makes large. What it says without an arm's rewards of their
average, or without one of several of an arm of that one, is a mixture of Student t: it surprises where its tail is as
rare as `SURPRISING` deviations of a normal are. Only arms and rewards that stand out most are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Vague
from corrbandits.study.ledger import Ledger
from corrbandits.study.report.surprises import (
    MOST_APART,
    SURPRISING,
    Apart,
    Surprise,
    Told,
    by_arm,
    surprise,
    tally_of,
    told,
    without,
)

MOST_EXTREME = 3
"""So many arms and so many rewards are judged that lie farthest from the median, and as many from what is believed."""


def surprises_left_out(ledger: Ledger, trial: int | None = None) -> list[Surprise]:
    """Return what surprises the belief that all other rewards make, the worst first.

    With a trial, only that and the average of its arm are looked at; if one surprises, what is worst of this arm.
    """
    rewards = told(ledger)
    if trial is not None:
        arm = ledger.entry(trial).arm
        groups = [by_arm(rewards)[arm], *(group for group in _extreme(ledger, rewards) if _is(group, trial))]
        some = any(_left_out(ledger, rewards, group) is not None for group in groups)
        return [found for found in surprises_left_out(ledger) if found.arm == arm] if some else []
    apart: list[Surprise] = []
    while len(apart) < MOST_APART and len(rewards) > 1:
        each = (_left_out(ledger, rewards, group) for group in _extreme(ledger, rewards))
        found = [one for one in each if one is not None]
        if not found:
            break
        apart.append(max(found, key=lambda one: abs(one.z)))
        rewards = without(rewards, apart[-1:])
    return apart


def _is(group: Sequence[Told], trial: int) -> bool:
    return [one.trial for one in group] == [trial]


def _extreme(ledger: Ledger, rewards: Sequence[Told]) -> list[list[Told]]:
    """Return the rewards of each arm whose average stands out most, and each that does of arms with several."""
    mean, rewards_of = _given(ledger, rewards).mean, by_arm(rewards)
    arms = [*rewards_of]
    averages = np.array([np.mean([one.reward for one in rewards_of[arm]]) for arm in arms])
    several = [one for one in rewards if len(rewards_of[one.arm]) > 1]
    values = np.array([one.reward for one in several])
    return [
        *(rewards_of[arms[k]] for k in _outermost(averages, mean[arms])),
        *([several[k]] for k in _outermost(values, mean[[one.arm for one in several]])),
    ]


def _outermost(values: Array, believed: Array) -> list[int]:
    """Return the places of the values farthest from their median, and from what is believed."""
    if not values.size:
        return []
    apart = np.abs(values - np.median(values)), np.abs(values - believed)
    return sorted({k for one in apart for k in np.argsort(-one, kind="stable")[:MOST_EXTREME].tolist()})


def _given(ledger: Ledger, rewards: Iterable[Told]) -> Vague:
    """Return what some rewards alone make of the prior."""
    with one_thread():
        belief = ledger.prior.replay(ledger.history(tally_of(rewards, ledger)))
    assert isinstance(belief, Vague)
    return belief


def _left_out(ledger: Ledger, rewards: Sequence[Told], group: Sequence[Told]) -> Surprise | None:
    """Return how some rewards of an arm surprise the belief that the others make, if they do."""
    out = {one.trial for one in group}
    belief = _given(ledger, [one for one in rewards if one.trial not in out])
    if belief.opening:
        return None
    from scipy.special import ndtr

    arm, n = group[0].arm, len(group)
    average = float(np.mean([one.reward for one in group]))
    if not tail_of(belief, arm, average, n) < ndtr(-SURPRISING):
        return None
    expected = float(belief.mean[arm])
    deviation = float(np.sqrt(belief.variance[arm] + belief.noise_variance[arm] / n))
    return surprise(ledger, arm, Apart(average, expected, deviation, (average - expected) / deviation, n), group)


def tail_of(belief: Vague, arm: int, average: float, number: int = 1) -> float:
    """Return the probability of an average of so many rewards as far out: a mixture of Student t."""
    from scipy.special import ndtr, stdtr

    scale = belief.part_scales[:, arm] * np.sqrt(1 + belief.part_noise[:, arm] / number)
    t, free = -np.abs(average - belief.part_locations[:, arm]) / scale, belief.part_freedom
    return float(belief.weights @ (ndtr(t) if np.isinf(free) else stdtr(free, t)))
