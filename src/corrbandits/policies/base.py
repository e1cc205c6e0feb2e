"""What every rule offers, and the kinds that choose by an index."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.gaussian import upper_quantile
from corrbandits.belief import Belief, GaussianBelief

Arms = Sequence[int] | Integers

LARGEST = float(np.finfo(np.float64).max)
"""Every finite variance is at most this; only that of an unknown arm is above it."""

NEAR = 1e-9
"""Indices that differ by less than this share of their spread are taken for equal, and so are variances."""


class Policy(ABC):
    """A rule that chooses an arm."""

    @property
    def ordered(self) -> bool:
        """Whether of arms that are equal in everything the first of those allowed is taken; if not, the lowest."""
        return False

    def choose(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> int:
        """Return the arm to take at time t (from 1), among the allowed ones: indices, or true and false per arm.

        Randomised policies need `rng`. `last` is the arm taken before this one, for rules that mind moving.
        """
        t = checks.integer("t", t, least=1)
        if not isinstance(belief, Belief):
            raise TypeError(f"a policy chooses from a belief, got {belief!r}.")
        arms = None if allowed is None else allowed_arms(allowed, belief, ordered=self.ordered)
        pending = self.pending(belief)
        if np.count_nonzero(pending) and (arms is None or pending[arms].any()):
            return belief.least_known(np.flatnonzero(pending) if arms is None else arms[pending[arms]])
        return self._choose(belief, t, rng, arms)

    def plan(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> tuple[int, ...]:
        """Return the arms to take from time t on, one after the other, before the rule is asked again.

        By default that is one, the choice; rules that are on their way to an arm name more, and `choose` the first.

        >>> from corrbandits import UCL, Independent
        >>> UCL().plan(Independent(mean=[0.0, 1.0], variance=4.0, noise_variance=1.0), t=1)
        (1,)
        """
        return (self.choose(belief, t, rng=rng, allowed=allowed, last=last),)

    def renumbered(self, order: Integers) -> Self:
        """Return the rule for the same arms in another order, arm i being arm order[i] of before: itself, by default.

        A rule that knows arms by their numbers, such as one on a graph, is another.
        """
        return self

    def pending(self, belief: Belief) -> npt.NDArray[np.bool_]:
        """Return which arms must be tried before the rule proper begins, the one of largest variance first."""
        return belief.variance > self.threshold(belief)

    def threshold(self, belief: Belief) -> float | Array:
        """Return the variance above which an arm must be tried first: one number, or one per arm.

        By default the largest double: only arms of which nothing is known, whose variance is infinite, are above it.

        >>> from corrbandits import UCL, CorrelatedUCL, Independent
        >>> prior = Independent(variance=9.0, noise_variance=[1.0, 2.0])
        >>> CorrelatedUCL(nu=0.5).threshold(prior), UCL().threshold(prior)
        (array([2., 4.]), 1.7976931348623157e+308)
        """
        return LARGEST

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return what the rule depends on besides the belief, one number for each of the times; by default nothing, 0.

        >>> from corrbandits import KnowledgeGradient, Thompson
        >>> KnowledgeGradient(horizon=10).schedule(np.array([1, 2, 10]), arms=5)   # the decisions left
        array([9., 8., 0.])
        >>> Thompson().schedule(np.array([1, 2, 10]), arms=5)
        array([0., 0., 0.])
        """
        return np.zeros(len(times))

    @abstractmethod
    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int: ...


class IndexPolicy(Policy):
    """A rule that takes the arm of largest index."""

    @abstractmethod
    def index(self, belief: Belief, t: int) -> Array:
        """Return Q_i(t), from the rewards seen before time t; it is defined during initialisation too."""

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        return best(self.index(belief, t), arms)


class LimitPolicy(IndexPolicy):
    """A rule whose index is the mean and so many standard deviations."""

    @abstractmethod
    def width(self, t: Any, arms: int) -> Any:
        """Return how many standard deviations above its mean an arm's limit lies at time t, or at each of many."""

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return the widths at these times."""
        return np.asarray(self.width(times, arms), dtype=np.float64)

    def index(self, belief: Belief, t: int) -> Array:
        """Return mu_i + width s_i."""
        t = checks.integer("t", t, least=1)
        return belief.limit(self.width(t, belief.arms))


class CrediblePolicy(LimitPolicy):
    """A rule whose index is an upper credible limit."""

    @abstractmethod
    def log_tail(self, t: Any) -> Any:
        """Return log alpha_t, at one time or at each of many."""

    def width(self, t: Any, arms: int) -> Any:
        """Return Phi^-1(1 - alpha_t), computed from the upper tail."""
        return upper_quantile(self.log_tail(t))

    def index(self, belief: Belief, t: int) -> Array:
        """Return the upper credible limits of tail probability alpha_t."""
        t = checks.integer("t", t, least=1)
        return belief.credible_limit(self.log_tail(t))


def best(index: Array, arms: Integers | None = None) -> int:
    """Return the arm of largest index among the given ones; ties go to the lowest arm.

    >>> best(np.array([1.0, 3.0, 3.0])), best(np.array([1.0, 3.0, 3.0]), np.array([0, 2]))
    (1, 2)
    """
    arm = int(index.argmax()) if arms is None else int(arms[index[arms].argmax()])
    if math.isnan(index[arm]):  # argmax takes it for the largest
        raise ValueError(
            f"an index must be a number for every arm, got nan for arm {arm}. See what the rule computes there: "
            "NaN comes of 0 / 0 and of infinity less infinity."
        )
    return arm


def unit_of(values: Array) -> float:
    """Return the power of two below the largest value: over it squares are doubles, and no digit is lost.

    >>> unit_of(np.array([3.0, -5.0])), unit_of(np.array([1e300])) > 1e299
    (4.0, True)
    """
    return math.ldexp(1.0, math.frexp(float(np.abs(values).max()))[1] - 1)


def first_of_equals(index: Array, belief: Belief, arms: Integers | None = None) -> int:
    """Return the arm of largest index, whatever the order of rows: of nearly equal ones that of which least is known.

    If their variances are nearly equal too, the first by coordinates is taken, then the first of those given.

    >>> from corrbandits import Correlated, Exponential
    >>> belief = Correlated(kernel=Exponential(1.0), coordinates=[3.0, 1.0, 2.0], noise_variance=1.0)
    >>> first_of_equals(np.array([5.0, 5.0 - 1e-12, 4.0]), belief)
    1
    """
    largest, every = best(index, arms), np.arange(index.size) if arms is None else arms
    values = index[every]
    if math.isfinite(top := float(index[largest])):
        known = values[np.isfinite(values)]
        apart = max(float(np.ptp(known)), float(belief.deviation[largest]))
        top -= NEAR * apart + 1e-15 * abs(top)
    near = every[values >= top]
    if near.size > 1:
        deviation = belief.deviation[near]
        near = near[deviation >= (1 - NEAR / 2) * deviation.max()]
    return int(near[0]) if near.size == 1 else int(by_place(belief.coordinates, near)[0])


def by_place(coordinates: Array | None, arms: Integers) -> Integers:
    """Return the arms in the order of their coordinates, the first coordinate first; as they came if they are equal.

    >>> by_place(np.array([[1.0, 2.0], [0.0, 9.0], [1.0, 0.0]]), np.arange(3))
    array([1, 2, 0])
    """
    return arms if coordinates is None else arms[np.lexsort(coordinates[arms].T[::-1])]


def gaussian(policy: Policy, belief: Belief) -> GaussianBelief:
    """Return the belief if it is Gaussian; refuse it in the policy's name otherwise."""
    if not isinstance(belief, GaussianBelief):
        other = "Gittins" if hasattr(belief, "noise_variance") else "BayesUCB"
        raise TypeError(
            f"{type(policy).__name__} needs a Gaussian belief, got a {type(belief).__name__}. Take {other}, or say all "
            "of a Gaussian prior: means, variances and noise."
        )
    return belief


def allowed_arms(allowed: Any, belief: Belief, *, ordered: bool = False) -> Integers:
    """Return the arms that are allowed, each once, in order of their indices or, if `ordered`, as they came.

    >>> from corrbandits import Independent
    >>> allowed_arms([2, 0, 2], Independent(noise_variance=1.0, arms=3))
    array([0, 2])
    """
    given = np.asarray(allowed)
    if given.dtype == np.bool_ and given.shape == (belief.arms,):
        given = np.flatnonzero(given)
    arms, first = np.unique(checks.arm_array(given, belief.arms), return_index=True)
    if not arms.size:
        raise ValueError("allowed must name at least one arm, but it is empty.")
    return arms[np.argsort(first)] if ordered else arms
