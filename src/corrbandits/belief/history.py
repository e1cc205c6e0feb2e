"""Rewards in the order of time: what beliefs are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import Tally

if TYPE_CHECKING:
    from corrbandits.belief.base import Belief

Step = tuple[float, int, float]
"""A reward: its time, its arm, and what it was."""


@final
@dataclass(frozen=True)
class History:
    """Rewards that were seen: how many of each arm, what they sum to, and, for those who ask, each with its time.

    >>> history = History.of([(1, 0, 2.0), (2, 1, 5.0), (4, 0, 3.0)], arms=2)
    >>> history.counts, history.sums
    (array([2, 1]), array([5., 5.]))
    """

    tally: Tally
    steps: Callable[[], Iterable[Step]]
    """Returns the rewards in the order of time."""

    @staticmethod
    def of(steps: Sequence[Step], arms: int) -> History:
        """Return the history of these rewards, which are in the order of time."""
        tally = Tally.empty(arms).plus((arm, 1, reward) for _, arm, reward in steps)
        return History(tally, lambda: steps)

    @property
    def counts(self) -> Integers:
        """How many rewards each arm gave."""
        return self.tally.counts

    @property
    def sums(self) -> Array:
        """What they sum to."""
        return self.tally.sums

    def mirrored(self, belief: Belief) -> History:
        """Return the history of the rewards turned round, as the belief turns them."""

        def turned() -> Iterator[Step]:
            return ((time, arm, belief.mirror - reward) for time, arm, reward in self.steps())

        return History(self.tally.mirrored(belief.mirror), turned)
