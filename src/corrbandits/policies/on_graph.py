"""Block UCL for arms on a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Integers
from corrbandits._core.graphs import edges_of, refuse_parts, renumbered, shortest_ways
from corrbandits.belief import Belief
from corrbandits.policies.base import Arms, allowed_arms
from corrbandits.policies.blocks import InBlocks


@final
@dataclass(frozen=True)
class OnGraph(InBlocks):
    """Graphical block UCL around any rule: go to the block's arm the shortest way, sampling on it, then stay.

    The rule within names an arm; the arms on the shortest way to it, from the arm taken last, are taken one after the
    other, then that arm for the length of the block, whose blocks are those of `Blocked`: the way comes on top. The
    graph is a matrix of lengths, dense or of scipy.sparse, or a list of edges, (i, j) or (i, j, length); it is the same
    both ways.

    >>> from corrbandits import UCL, Independent
    >>> prior = Independent(mean=[0.0, 1.0, 9.0], variance=1.0, noise_variance=1.0)
    >>> walk = OnGraph(UCL(), graph=[(0, 1), (1, 2)], length=3)
    >>> walk.plan(prior, t=1, last=0), walk.choose(prior, t=1, last=0)
    ((1, 2, 2, 2), 1)

    Without `plan`, as in a study, the rule within is asked before every step: `choose` is one step nearer to its arm.
    """

    graph: Any
    length: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.set_field(self, "graph", edges_of(self.graph))
        refuse_parts(self.graph)

    def renumbered(self, order: Integers) -> Self:
        """Return the rule on the graph of arms in another order.

        >>> from corrbandits import UCL
        >>> OnGraph(UCL(), graph=[(0, 1), (1, 2)]).renumbered(np.array([1, 2, 0])).graph
        ((0, 1, 1.0), (0, 2, 1.0))
        """
        self.next_arms(order.size)  # refuses a graph of other arms
        return replace(self, rule=self.rule.renumbered(order), graph=renumbered(self.graph, order))

    def plan(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> tuple[int, ...]:
        """Return the arms on the way to that which the rule within chooses, and this for the length of the block.

        Arms on the way that are not allowed are passed, not taken.
        """
        t = checks.integer("t", t, least=1)
        goal = self.rule.choose(belief, t, rng=rng, allowed=allowed, last=last)
        way = self.way(goal if last is None else last, goal, belief.arms)
        if allowed is not None:
            within = set(allowed_arms(allowed, belief).tolist())
            way = [arm for arm in way if arm in within]
        return (*way[:-1], *(goal,) * self.lasting(t))

    def choose(
        self,
        belief: Belief,
        t: int,
        *,
        rng: np.random.Generator | None = None,
        allowed: Arms | None = None,
        last: int | None = None,
    ) -> int:
        """Return the first arm of the plan."""
        return self.plan(belief, t, rng=rng, allowed=allowed, last=last)[0]

    def way(self, start: int, end: int, arms: int) -> list[int]:
        """Return the arms on the shortest way between two of so many, without the first.

        >>> from corrbandits import UCL
        >>> OnGraph(UCL(), graph=[(0, 1), (1, 2), (2, 3), (3, 0, 9.0)]).way(0, 3, arms=4)
        [1, 2, 3]
        """
        here, end, next_arm = checks.arm(start, arms), checks.arm(end, arms), self.next_arms(arms)
        way = []
        while here != end:
            here = int(next_arm[here, end])
            way.append(here)
        return way

    def next_arms(self, arms: int) -> Integers:
        """Return the next arm on the shortest way from each of so many arms to each; refuse a graph of other arms.

        >>> from corrbandits import UCL
        >>> OnGraph(UCL(), graph=[(0, 1), (1, 2)]).next_arms(3)
        array([[0, 1, 1],
               [0, 1, 2],
               [1, 1, 2]])
        """
        if len(self._ways) != arms:
            raise ValueError(
                f"OnGraph needs a graph of the {arms} arms there are, but this one has {len(self._ways)}. Give a graph "
                "of as many: an edge at least for each."
            )
        return self._ways

    @cached_property
    def _ways(self) -> Integers:
        return shortest_ways(self.graph, 1 + max(end for _, end, _ in self.graph))[1]
