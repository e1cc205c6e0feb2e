"""What rules around another rule share: what they do not change is that rule's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief
from corrbandits.policies.base import IndexPolicy, Policy


@dataclass(frozen=True)
class Wrapper(Policy):
    """A rule around another rule."""

    rule: Policy

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Policy):
            raise TypeError(f"{type(self).__name__} goes around a rule such as UCL(), got {self.rule!r:.60}.")

    @property
    def ordered(self) -> bool:
        """Whether the rule within minds the order of the arms allowed."""
        return self.rule.ordered

    def renumbered(self, order: Integers) -> Self:
        """Return the rule around that within for arms in another order."""
        return replace(self, rule=self.rule.renumbered(order))

    def pending(self, belief: Belief) -> npt.NDArray[np.bool_]:
        """Return which arms the rule within tries first."""
        return self.rule.pending(belief)

    def threshold(self, belief: Belief) -> float | Array:
        """Return the variance above which the rule within tries an arm first."""
        return self.rule.threshold(belief)

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return what the rule within depends on besides the belief."""
        return self.rule.schedule(times, arms)

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        return self.rule._choose(belief, t, rng, arms)


@dataclass(frozen=True)
class IndexWrapper(Wrapper, IndexPolicy):
    """A rule around one that has an index, which it keeps."""

    rule: IndexPolicy

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rule, IndexPolicy):
            raise TypeError(
                f"{type(self).__name__} compares the indices of a rule, but {type(self.rule).__name__} has none. Put "
                "one with an index in it, such as UCL or Gittins."
            )
        if type(self.rule).choose is not Policy.choose:
            raise TypeError(
                f"{type(self).__name__} compares indices, but {type(self.rule).__name__} minds more than these. Put it "
                f"around: {type(self.rule).__name__}({type(self).__name__}(...))."
            )

    def index(self, belief: Belief, t: int) -> Array:
        """Return Q_i(t) of the rule within."""
        return self.rule.index(belief, t)
