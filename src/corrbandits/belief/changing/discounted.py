"""What was seen counts less the longer ago it was."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits._core.tally import HARDLY
from corrbandits._shell.numbers import number
from corrbandits.belief.changing.base import ChangingBelief
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.independent import Independent


@final
class Discounted(ChangingBelief):
    """A prior and rewards that count less the older they are: for means that change in ways that nobody knows.

    A reward of time s counts as factor^(t - s) rewards at time t: the counts n_i and the sums of rewards in the paper's
    inference are discounted ones, as in the rule of Garivier and Moulines (2011) for independent arms. The prior is not
    discounted. With factor = 1 nothing is forgotten. `prior` is `Independent`, of any variance, or `Correlated`.

    >>> prior = Independent(variance=1.0, noise_variance=1.0, arms=2)
    >>> belief = Discounted(prior=prior, factor=0.5).observe(0, 3.0)
    >>> belief.mean, belief.after(2).mean        # a count of 1, then of 1/2
    (array([1.5, 0. ]), array([1., 0.]))
    """

    def __init__(self, *, prior: Correlated | Independent, factor: float) -> None:
        self._begin(prior, (Correlated, Independent))
        self._factor = checks.number("factor", factor, above=0, up_to=1)
        self._counted, self._summed = frozen(np.zeros(prior.arms)), frozen(np.zeros(prior.arms))

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior and the factor."""
        return {"prior": self._prior, "factor": self._factor}

    @property
    def discounted_counts(self) -> Array:
        """How many rewards of each arm count at the present: sum of factor^(t - s) over its rewards."""
        return np.asarray(self._counted + self._now.counts)

    def _change_in_words(self, unit: str) -> str:
        return f"rewards discounted by {number(self._factor, 4)} per step"

    def _moved(self, time: float) -> Discounted:
        moved, share = self._changed(_time=time), self._factor ** (time - self._time)
        if share == 1 or not len(self._log):
            return moved
        counts, sums = share * self.discounted_counts, share * (self._summed + self._now.sums)
        moved._counted, moved._summed = (frozen(np.where(counts > HARDLY, each, 0.0)) for each in (counts, sums))
        prior: Any = self._prior
        return moved._follow(prior.prior_after(moved._counted, moved._summed))
