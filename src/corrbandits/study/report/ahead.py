"""Rewards that were not what those measured before them said, where mean rewards change: perhaps one was mistyped.

An arm's average is of no one time there. So each reward is judged by itself, at the time at which it was measured, by
what all rewards measured before made of its arm. Only the last ones are: to look farther back takes long.
"""

from __future__ import annotations

import math

from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Belief, GaussianBelief, History, Vague
from corrbandits.study.ledger import Ledger
from corrbandits.study.report.left_out import tail_of
from corrbandits.study.report.surprises import SURPRISING, Surprise

MOST = 30
"""So many of the last rewards are judged."""


def surprises_ahead(ledger: Ledger, arm: int | None = None) -> list[Surprise]:
    """Return the last rewards that were more than `SURPRISING` deviations from what was expected, the worst first.

    With an arm, only rewards of it.
    """
    steps, trials = [*ledger.history().steps()], ledger.measured_trials()
    begin = max(len(steps) - MOST, 0)
    found = []
    with one_thread():
        belief = ledger.prior.replay(History.of(steps[:begin], ledger.arms.count)) if begin else ledger.prior
        for trial, (time, taken, reward) in zip(trials[begin:], steps[begin:], strict=True):
            belief = belief.after(time)
            if arm in (None, taken) and (one := _judged(ledger, belief, trial, taken, reward)) is not None:
                found.append(one)
            belief = belief.observe(taken, reward)
    return sorted(found, key=lambda one: -abs(one.z))


def _judged(ledger: Ledger, belief: Belief, trial: int, arm: int, reward: float) -> Surprise | None:
    """Return how a reward surprises, if it does."""
    if not isinstance(belief, (Vague, GaussianBelief)) or not math.isfinite(belief.variance[arm]):
        return None
    from scipy.special import ndtr

    expected = float(belief.mean[arm])
    deviation = math.sqrt(float(belief.variance[arm] + belief.noise_variance[arm]))
    z = (reward - expected) / deviation
    tail = tail_of(belief, arm, reward) if isinstance(belief, Vague) else float(ndtr(-abs(z)))
    if not tail < ndtr(-SURPRISING):
        return None
    return Surprise(arm, ledger.arms.name(arm), reward, expected, deviation, z, trial, reward)
