"""Stochastic UCL: arms at random, the better by their index the more likely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.policies.base import best
from corrbandits.policies.wrapping import IndexWrapper


@final
@dataclass(frozen=True)
class Softmax(IndexWrapper):
    """Stochastic UCL around a rule with an index: arm i with probability proportional to exp(Q_i / v).

    The `temperature` v is a number, for people and other players whose choices vary; at 0 the choice is the rule's
    own. Without one it falls: v_t = (smallest gap between two of the Q) / (2 log t) (Reverdy, Srivastava and Leonard
    2014), which for `UCL` keeps regret logarithmic; at t = 1 every arm is as likely as any other. A temperature that
    falls by the time alone, whatever the Q, is suboptimal in theory. Arms that the rule tries first are tried first. A
    choice takes one uniform number.

    >>> from corrbandits import UCL, Independent
    >>> prior = Independent(mean=[0.0, 1.0, 1.5], variance=1.0, noise_variance=1.0)
    >>> np.exp(Softmax(UCL(), temperature=1.0).log_probabilities(prior, t=1)).round(3)
    array([0.122, 0.331, 0.547])
    >>> Softmax(UCL()).choose(prior, t=100, rng=np.random.default_rng(0))
    2
    """

    temperature: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature is not None:
            checks.set_field(self, "temperature", checks.number("temperature", self.temperature, least=0))

    def log_probabilities(self, belief: Belief, t: int) -> Array:
        """Return the logarithm of the probability with which `choose` takes each arm at time t; -inf of never."""
        t, pending = checks.integer("t", t, least=1), self.pending(belief)
        if pending.any():
            return _certain(belief.least_known(np.flatnonzero(pending)), belief.arms)
        if self.temperature == 0:
            return _certain(self.rule._choose(belief, t, None, None), belief.arms)
        return self._law(self.index(belief, t), t)

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        if self.temperature == 0:
            return self.rule._choose(belief, t, rng, arms)
        index = self.index(belief, t)
        law = np.exp(self._law(index if arms is None else index[arms], t)).cumsum()
        u = checks.generator(type(self).__name__, rng).random() * law[-1]
        place = int(np.searchsorted(law, u, side="right"))
        return place if arms is None else int(arms[place])

    def _law(self, index: Array, t: int) -> Array:
        """Return log probabilities; of infinite indices, the equal largest share all, and -inf has nothing."""
        top = index[best(index)]
        with np.errstate(over="ignore", invalid="ignore"):
            below = index - top
        below[index == top] = 0.0
        if math.isinf(top):
            return _normalised(np.where(index == top, 0.0, -np.inf))
        return _normalised(self._exponents(below, index, t))

    def _exponents(self, below: Array, index: Array, t: int) -> Array:
        """Return (Q_i - largest Q) / v."""
        with np.errstate(over="ignore"):
            if self.temperature is not None:
                return below / self.temperature
            if t == 1:
                return np.where(np.isfinite(index), 0.0, -np.inf)
            gap = smallest_gap(index)
            return below if gap == 0 else below / gap * (2 * math.log(t))


def smallest_gap(index: Array) -> float:
    """Return the smallest gap between two finite indices that differ; 0 if no two do.

    >>> smallest_gap(np.array([3.0, 1.0, 3.0, 2.5, np.inf]))
    0.5
    """
    gaps = np.diff(np.unique(index[np.isfinite(index)]))
    return float(gaps.min()) if gaps.size else 0.0


def _certain(arm: int, arms: int) -> Array:
    law = np.full(arms, -np.inf)
    law[arm] = 0.0
    return law


def _normalised(exponents: Array) -> Array:
    """Return exponents, of which the largest are 0, less the logarithm of the sum of their exponentials."""
    tops = np.count_nonzero(exponents == 0)
    rest = float(np.exp(exponents[exponents < 0]).sum())
    return np.asarray(exponents - (math.log(tops) + math.log1p(rest / tops)))
