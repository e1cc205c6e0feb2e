"""What a rule minds besides the limits of arms, in words: a probability, a level that is enough, a floor."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from corrbandits._core.single_thread import one_thread
from corrbandits._shell.numbers import counted, number
from corrbandits.belief import Belief
from corrbandits.policies import Policy, Safe, Satisficing, Softmax, Wrapper
from corrbandits.study.choosing import Moment


def remarks(at: Moment, belief: Belief, arm: int) -> Iterator[str]:
    """Yield what rules around others minded when they chose an arm, from the outermost in."""
    policy: Policy | None = at.policy
    while isinstance(policy, Wrapper):
        with one_thread():
            said = _remark(policy, at, belief, arm)
        if said:
            yield said
        policy = policy.rule


def _remark(policy: Policy, at: Moment, belief: Belief, arm: int) -> str:
    if isinstance(policy, Safe):
        return _floor(policy, belief, arm)
    if policy.pending(belief).any():  # these go before all else
        return ""
    if isinstance(policy, Softmax):
        return _probability(policy, at, belief, arm)
    return _enough(policy, at, belief, arm) if isinstance(policy, Satisficing) else ""


def _floor(policy: Safe, belief: Belief, arm: int) -> str:
    """Return whether an arm was certified."""
    if policy.floor == -math.inf:
        return ""
    safe = policy.certified(belief)
    floor, least = number(policy.floor, 6), number(100 * (1 - policy.delta), 4)
    if safe[arm]:
        return f"certified, one of {counted(int(safe.sum()), 'arm')} above the floor {floor} for {least} % certain"
    why = f"not certified: no arm in reach is above the floor {floor} for {least} % certain"
    lower = float(policy.lower_limit(belief)[arm])
    return f"{why}, and its lower limit, {number(lower, 6)}, is the highest" if math.isfinite(lower) else why


def _probability(policy: Softmax, at: Moment, belief: Belief, arm: int) -> str:
    """Return with what probability an arm was drawn."""
    law = np.exp(policy.log_probabilities(belief, at.t))
    among = law if at.candidates is None else law[at.candidates]
    return f"drawn with probability {number(float(law[arm] / among.sum()), 3)}" if among.sum() else ""


def _enough(policy: Satisficing, at: Moment, belief: Belief, arm: int) -> str:
    """Return which arms may be good enough."""
    if math.inf == policy.M:
        return ""
    index = policy.index(belief, at.t)
    enough = index >= policy.M if at.candidates is None else index[at.candidates] >= policy.M
    level = number(policy.M, 6)
    if not enough.any():
        return f"no limit reaches M = {level}, so that the largest was taken"
    return f"drawn from {counted(int(enough.sum()), 'arm')} whose limits reach M = {level}"
