"""Rewards that a belief which learns did not expect: it is conditioned afresh on all but those which are judged.

A `Vague` belief learns the noise, which a mistyped reward makes large. What it says without an arm's rewards of their
average, or without one of several of an arm of that one, is a mixture of Student t: it surprises where its tail is as
rare as `SURPRISING` deviations of a normal are. Only arms and rewards that stand out most are judged.

Of two rewards of an arm that contradict each other each may surprise the belief that the other makes. Then the one is
named whose density is least under the belief that all others make: p(all) is the product of that and of how likely the
others are, so that without it the others are likeliest.
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
        apart.append(_worst(found))
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


def _worst(found: Sequence[tuple[Surprise, float]]) -> Surprise:
    """Return the single reward of least density, or averages of several that lie more deviations out."""
    alone = [pair for pair in found if pair[0].rewards == 1]
    least = [min(alone, key=lambda pair: pair[1])[0]] if alone else []
    return max(least + [one for one, _ in found if one.rewards > 1], key=lambda one: abs(one.z))


def _left_out(ledger: Ledger, rewards: Sequence[Told], group: Sequence[Told]) -> tuple[Surprise, float] | None:
    """Return how some rewards of an arm surprise the belief that the others make, if they do, and how likely they are.

    That is the log density of their average, up to a constant which is the same for all groups of one.
    """
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
    apart = Apart(average, expected, deviation, (average - expected) / deviation, n)
    return surprise(ledger, arm, apart, group), _log_density(belief, arm, average, n)


def tail_of(belief: Vague, arm: int, average: float, number: int = 1) -> float:
    """Return the probability of an average of so many rewards as far out: a mixture of Student t."""
    from scipy.special import ndtr, stdtr

    t, free = -np.abs(_deviations(belief, arm, average, number)[0]), belief.part_freedom
    return float(belief.weights @ (ndtr(t) if np.isinf(free) else stdtr(free, t)))


def _log_density(belief: Vague, arm: int, average: float, number: int) -> float:
    """Return the log density of such an average, up to a constant that follows from the degrees of freedom alone."""
    (t, scale), free = _deviations(belief, arm, average, number), belief.part_freedom
    with np.errstate(divide="ignore"):
        far = -t * t / 2 if np.isinf(free) else -(free + 1) / 2 * np.logaddexp(0, 2 * np.log(np.abs(t)) - np.log(free))
        return float(np.logaddexp.reduce(np.log(belief.weights) - np.log(scale) + far))


def _deviations(belief: Vague, arm: int, average: float, number: int) -> tuple[Array, Array]:
    """Return how many deviations above what is expected such an average is under each part, and these deviations."""
    scale = belief.part_scales[:, arm] * np.sqrt(1 + belief.part_noise[:, arm] / number)
    return (average - belief.part_locations[:, arm]) / scale, scale
