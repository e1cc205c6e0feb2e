"""The rule that weighs what a decision costs against what it tells of the best arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.policies.base import Policy, best, gaussian, unit_of


@final
@dataclass(frozen=True)
class InformationDirected(Policy):
    """Information-directed sampling: the arm of least cost^2 / information, both estimated from draws of the belief.

    The cost of an arm is what it is expected to lose against the best; its information, how much its mean reward
    varies with which arm is the best. This is the variance-based form of Russo and Van Roy (2018), and of it the
    deterministic one: it takes one arm, where theirs may mix two. It works on every belief that can be drawn from.

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 0.5, 9.0], variance=[1.0, 1.0, 1e-6], noise_variance=1.0)
    >>> InformationDirected().choose(prior, t=1, rng=np.random.default_rng(0))
    2
    """

    draws: int = 300

    def __post_init__(self) -> None:
        checks.set_field(self, "draws", checks.integer("draws", self.draws, least=2))

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        generator, unknown = checks.generator(type(self).__name__, rng), np.isinf(belief.variance)
        if np.count_nonzero(unknown):  # these are not allowed, or they would have been taken: any finite variance does
            belief = gaussian(self, belief).assume(np.flatnonzero(unknown))
        drawn = belief.draws(generator, self.draws)
        drawn /= unit_of(drawn)
        place = best(-ratios(*cost_and_information(drawn if arms is None else drawn[arms])))
        return place if arms is None else int(arms[place])


def cost_and_information(drawn: Array) -> tuple[Array, Array]:
    """Return for each arm E max - E m_i, and the variance of E[m_i | which is best], from draws of all m, (N, draws).

    >>> cost_and_information(np.array([[1.0, 3.0], [2.0, 2.0]]))
    (array([0.5, 0.5]), array([1., 0.]))
    """
    mean, (which, back) = drawn.mean(axis=1), np.unique(drawn.argmax(axis=0), return_inverse=True)
    first = np.zeros((drawn.shape[1], which.size))
    first[np.arange(drawn.shape[1]), back] = 1.0
    number = first.sum(axis=0)
    apart = drawn @ (first / number) - mean[:, None]
    return drawn.max(axis=0).mean() - mean, np.square(apart) @ (number / drawn.shape[1])


def ratios(cost: Array, information: Array) -> Array:
    """Return cost^2 / information; where no arm tells anything, or one costs nothing, the cost alone decides.

    >>> ratios(np.array([1.0, 2.0, 0.0]), np.array([0.5, 0.0, 0.0]))
    array([ 2., inf,  0.])
    """
    if not (information > 0).any():
        return cost
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cost > 0, np.square(cost) / information, 0.0)
