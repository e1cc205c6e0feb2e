"""Rules for whom good is enough, or bad too dangerous."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.policies.base import Arms, allowed_arms, best
from corrbandits.policies.wrapping import IndexWrapper, Wrapper


@final
@dataclass(frozen=True)
class Satisficing(IndexWrapper):
    """Any arm that may be good enough: uniformly among those whose index is at least M; if there is none, the rule's.

    So an arm is left as soon as even its upper limit is below M (Reverdy, Srivastava and Leonard 2017). What is lost
    is then what arms lack of M, and nothing where they do not: `Trace.shortfall(M)`. With M = inf the choice is the
    rule's own. A choice among several takes one uniform number.

    >>> from corrbandits import UCL, Independent
    >>> prior = Independent(mean=[0.0, 5.0, 6.0], variance=1.0, noise_variance=1.0)
    >>> rule, rng = Satisficing(UCL(), M=5.0), np.random.default_rng(0)
    >>> sorted({rule.choose(prior, t=1, rng=rng) for _ in range(20)})
    [1, 2]
    """

    M: float

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "M", _level("M", self.M))

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        if math.inf == self.M:
            return self.rule._choose(belief, t, rng, arms)
        every, index = np.arange(belief.arms) if arms is None else arms, self.index(belief, t)
        best(index, arms)  # refuses an index that is no number
        enough = every[index[every] >= self.M]
        if not enough.size:
            return self.rule._choose(belief, t, rng, arms)
        u = checks.generator(type(self).__name__, rng).random()
        return int(enough[int(u * enough.size)])


@final
@dataclass(frozen=True)
class Safe(Wrapper):
    """Only arms that are above a floor for almost certain: any rule, among those certified.

    An arm is certified if its mean reward is below the `floor` with probability `delta` at most, as far as is believed
    now: if its lower credible limit of that level is not below the floor. This is the safe set of SafeOpt (Sui et al.
    2015) without a Lipschitz constant: an arm is certified by rewards of arms it is correlated with. If the prior is
    right, an arm below the floor is taken in at most a share delta of the trials in which some arm is certified. Where
    none is, the arm of largest lower limit is taken, the least dangerous; where nothing is known of any, the one that
    the belief would try first. A floor of -inf leaves the rule as it is.

    >>> from corrbandits import UCL, Independent
    >>> prior = Independent(mean=[1.0, 2.0], variance=[0.01, 9.0], noise_variance=1.0)
    >>> rule = Safe(UCL(), floor=0.0, delta=0.05)
    >>> UCL().choose(prior, t=1), rule.choose(prior, t=1), rule.certified(prior)
    (1, 0, array([ True, False]))
    """

    floor: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "floor", _level("floor", self.floor))
        checks.set_field(self, "delta", checks.number("delta", self.delta, above=0))
        if self.delta >= 1:
            raise ValueError(f"delta must be above 0 and below 1, such as 0.05, got {self.delta:g}.")

    def lower_limit(self, belief: Belief) -> Array:
        """Return what each arm's mean reward is below with probability delta; -inf where nothing is known of it.

        >>> from corrbandits import UCL, Independent
        >>> Safe(UCL(), floor=0.0, delta=0.025).lower_limit(Independent(mean=[0.0, 5.0], noise_variance=1.0,
        ...     variance=[4.0, float("inf")])).round(2)
        array([-3.92,  -inf])
        """
        limit = belief.credible_limit(math.log1p(-self.delta))
        return np.where(np.isinf(belief.deviation), -np.inf, limit)

    def certified(self, belief: Belief) -> npt.NDArray[np.bool_]:
        """Return which arms are believed to be below the floor with probability delta at most."""
        return np.asarray(self.lower_limit(belief) >= self.floor)

    def pending(self, belief: Belief) -> npt.NDArray[np.bool_]:
        """Return which arms the rule within tries first, of those certified."""
        return np.asarray(self.rule.pending(belief) & self.certified(belief))

    def choose(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> int:
        """Return the choice of the rule within among the certified arms, or else the least dangerous arm."""
        if self.floor == -math.inf:
            return self.rule.choose(belief, t, rng=rng, allowed=allowed, last=last)
        arms = np.arange(belief.arms) if allowed is None else allowed_arms(allowed, belief, ordered=self.ordered)
        safe = arms[self.certified(belief)[arms]]
        if safe.size:
            return self.rule.choose(belief, t, rng=rng, allowed=safe, last=last)
        lower = self.lower_limit(belief)
        return best(lower, arms) if np.isfinite(lower[arms]).any() else belief.least_known(arms)


def _level(name: str, value: float) -> float:
    """Return a number that may be infinite."""
    return float(value) if isinstance(value, float) and math.isinf(value) else checks.number(name, value)
