"""A rule that weighs what an arm may bring against the way to it.

    name     meaning
    Q_i      the index of arm i
    c_i      what it costs to go there, 0 where one is
    m        how many decisions are left
    p_i      the probability that arm i is better than the best mean
    E_i      for how many decisions one stays there: p_i m, but at most sqrt(m) and at least 1

To go to an arm is worth Q_i - c_i / E_i for each decision: the way is paid once, for as long as one stays. Asawa and
Teneketzis (1996) define the index of an arm that costs c to begin with as the most that its rewards less c bring on
average per decision until it is left; this is that ratio, with a simple estimate of the time until it is left. An arm
that turns out to be the best is kept, which has the probability p_i; any other is left at once. But also who has found
the best looks elsewhere now and then, so that no stay lasts to the end: without the bound sqrt(m), two arms that are
nearly alike are changed too often. `python -m benchmarks.moving` plays the pieces of this against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.excess import better
from corrbandits.belief import Belief, Vague
from corrbandits.moves import Moves
from corrbandits.policies.base import Arms, Policy, allowed_arms, best, first_of_equals
from corrbandits.policies.horizon import decisions_left
from corrbandits.policies.wrapping import IndexWrapper, Wrapper


@final
@dataclass(frozen=True)
class Travelling(IndexWrapper):
    """A rule with an index, each less what the way there costs per decision that one expects to stay.

    `moves` says what moves cost; where it does not say where arms lie, the belief does. `horizon` is how many decisions
    there are in all; without one, as many are taken to be left as were made, and at least 20. Of arms that the rule
    tries first, and of which equally little is known, it takes the one that is cheapest to reach; of a belief told
    nothing in its opening, the cheapest of those at least half as far from what was tried as the farthest. Where moves
    cost nothing, or nobody is anywhere yet, the choice is the rule's own.

    >>> from corrbandits import Gittins, Independent
    >>> prior = Independent(mean=[0.0, 1.0], variance=1.0, noise_variance=1.0)
    >>> rule = Travelling(Gittins(50), Moves(per_move=5.0), horizon=50)
    >>> [rule.choose(prior, t, last=0) for t in (1, 45)]
    [1, 0]
    """

    moves: Moves
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.moves, Moves):
            raise TypeError(f"Travelling needs what moves cost, such as Moves(per_move=2.0), got {self.moves!r:.60}.")
        if self.horizon is not None:
            checks.set_field(self, "horizon", checks.integer("horizon", self.horizon, least=1))

    def renumbered(self, order: Integers) -> Self:
        """Return the rule whose moves are between arms in another order."""
        return replace(self, rule=self.rule.renumbered(order), moves=self.moves.renumbered(order))

    def choose(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> int:
        """Return the arm that is worth most, the way from `last` paid."""
        if last is None or self.moves.free:
            return self.rule.choose(belief, t, rng=rng, allowed=allowed, last=last)
        t = checks.integer("t", t, least=1)
        arms = np.arange(belief.arms) if allowed is None else allowed_arms(allowed, belief, ordered=self.ordered)
        first = arms[self.pending(belief)[arms]]
        if first.size:
            return _nearest(belief, first, self.moves.row(last, belief.arms, belief.coordinates))
        worth = self.worth(belief, t, last)
        return first_of_equals(worth, belief, arms) if self.ordered else best(worth, arms)

    def worth(self, belief: Belief, t: int, last: int) -> Array:
        """Return what to go to each arm from `last` is worth for each decision: Q_i - c_i / E_i.

        >>> from corrbandits import Greedy, Independent
        >>> belief = Independent(mean=[0.0, 2.0], variance=0.0, noise_variance=1.0)
        >>> Travelling(Greedy(), Moves(per_move=1.0), horizon=100).worth(belief, t=1, last=0)
        array([0. , 1.9])
        """
        return np.asarray(
            self.index(belief, t) - self.moves.row(last, belief.arms, belief.coordinates) / self.stay(belief, t)
        )

    def stay(self, belief: Belief, t: int) -> Array:
        """Return for how many decisions one is taken to stay with each arm: E_i.

        >>> from corrbandits import UCL, Independent
        >>> belief = Independent(mean=[0.0, 0.0, 2.0], variance=[1.0, 4.0, 1.0], noise_variance=1.0)
        >>> Travelling(UCL(), Moves(per_move=1.0), horizon=100).stay(belief, t=1).round(1)
        array([ 2.3, 10. , 10. ])
        """
        left, gaps = float(decisions_left(t, self.horizon)), belief.mean.max() - belief.mean
        with np.errstate(over="ignore"):
            chance = np.where(gaps > 0, better(gaps, belief.deviation, math.inf)[0], 0.5)  # also of a known arm
        return np.clip(chance * left, 1.0, math.sqrt(left))


def placed(policy: Policy, coordinates: Array) -> Policy:
    """Return a policy whose moves, if it minds any, are between arms at these places.

    >>> from corrbandits import UCL
    >>> placed(Travelling(UCL(), Moves(per_distance=2.0)), np.array([0.0, 3.0])).moves
    Moves(per_distance=2, 2 places)
    """
    if isinstance(policy, Travelling):
        return replace(policy, moves=policy.moves.placed(coordinates))
    return replace(policy, rule=placed(policy.rule, coordinates)) if isinstance(policy, Wrapper) else policy


def _nearest(belief: Belief, first: Integers, costs: Array) -> int:
    """Return which of some arms to try first: of the least known ones the cheapest to reach."""
    if isinstance(belief, Vague) and belief.opening:
        near = belief.little_known(first)
        return belief.least_known(near[costs[near] == costs[near].min()])
    widest = first[belief.variance[first] == belief.variance[first].max()]
    return int(widest[costs[widest].argmin()])
