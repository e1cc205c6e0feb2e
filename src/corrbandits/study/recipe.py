"""How the prior of a study is made. To take a reward, the belief itself need not be there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from corrbandits.belief import Belief
from corrbandits.study.codec import Data, prior_parts


@final
class Recipe:
    """The kind of a prior and its arguments; the belief is made when it is first needed.

    >>> recipe = Recipe.from_data({"belief": "Independent", "mean": 3.0, "noise_variance": 1.0, "arms": 2})
    >>> recipe.arms, recipe.belief.mean
    (2, array([3., 3.]))
    """

    def __init__(self, kind: type[Belief], arguments: Data, made: Belief | None = None) -> None:
        self.kind, self.arguments, self._made = kind, arguments, made

    @staticmethod
    def of(prior: Belief) -> Recipe:
        """Return how a prior that is there was made."""
        return Recipe(type(prior), prior.prior_arguments(), prior)

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Recipe:
        """Return the recipe that data describe."""
        return Recipe(*prior_parts(data))

    @property
    def belief(self) -> Belief:
        """The prior."""
        if self._made is None:
            made: Any = self.kind
            self._made = made(**self.arguments)
        return self._made

    @property
    def changes(self) -> bool:
        """Whether mean rewards are believed to change; the belief is made only if those of its kind may say so."""
        return self.kind.changes is not Belief.changes and self.belief.changes

    @property
    def in_real_time(self) -> bool:
        """Whether they change with real time, and not from decision to decision."""
        return self.changes and self.belief.in_real_time

    @property
    def arms(self) -> int:
        """The number of arms."""
        given = self.arguments
        if self._made is None and isinstance(given.get("arms"), int):
            return int(given["arms"])
        for name in ("coordinates", "covariance"):
            if self._made is None and given.get(name) is not None:
                return len(given[name])
        return self.belief.arms
