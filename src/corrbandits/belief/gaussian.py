"""What every Gaussian belief offers."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.excess import better
from corrbandits._core.gaussian import upper_quantile
from corrbandits._core.tally import Estimates
from corrbandits.belief.base import Belief, span, without_evidence
from corrbandits.likelihood.marginal import log_density, seen

SAME = 1e-6
"""Of the largest deviation: where the difference of two arms has less, they are one and the same."""


class GaussianBelief(Belief):
    """A Gaussian belief on mean rewards that are seen through Gaussian noise of known variance."""

    jointly_gaussian: ClassVar[bool] = True
    """Whether the mean rewards are jointly normal: then more is known of them than draws can say."""

    independent: ClassVar[bool] = False
    """Whether no arm says anything of another."""

    fixed_prior: ClassVar[bool] = False
    """Whether rewards are conditioned on the prior that its arguments say: `mean`, `noise_variance`, and `variance`,
    `covariance`, or `kernel` and `coordinates`."""

    noise_variance: Array
    """The variance of a reward about its arm's mean."""

    def credible_limit(self, log_tail: float) -> Array:
        """Return mu_i + s_i z, z exceeded with probability exp(log_tail); +inf where nothing is known of an arm.

        >>> from corrbandits import Independent
        >>> Independent(mean=[0.0, 1.0], variance=1.0, noise_variance=1.0).credible_limit(np.log(0.025)).round(2)
        array([1.96, 2.96])
        """
        return self.limit(upper_quantile(checks.number("log_tail", log_tail, up_to=0)))

    @abstractmethod
    def covariance_with(self, arm: int) -> Array:
        """Return one row of the posterior covariance."""

    def covariance_of(self, arms: Integers | None = None) -> Array:
        """Return the posterior covariance of each of the arms with each; by default, of all arms."""
        arms = np.arange(self.arms) if arms is None else arms
        rows = np.array([self.covariance_with(int(arm))[arms] for arm in arms])
        return np.asarray((rows + rows.T) / 2)

    def rivals(self, leader: int) -> tuple[Array, Array]:
        """Return the probability that each arm is better than the leader, and by how much it is on average; exactly.

        An arm's mean reward less the leader's is normal. So the probability that the leader is best lies between 1 less
        the sum of the first and 1 less the largest, the expected loss of taking it between the largest of the second
        and their sum.

        >>> from corrbandits import Independent
        >>> tail, excess = Independent(mean=[1.0, 0.0], variance=0.5, noise_variance=1.0).rivals(0)
        >>> tail.round(4), excess.round(4)
        (array([0.    , 0.1587]), array([0.    , 0.0833]))
        """
        shared = self.covariance_with(leader)
        deviation = np.sqrt(np.maximum(self.variance + self.variance[leader] - 2 * shared, 0.0))
        gap, rounding = self.mean[leader] - self.mean, SAME * math.sqrt(self.variance.max())
        apart = (deviation > rounding) | (np.abs(gap) > rounding) | (shared == 0)  # then nothing cancels
        apart[leader] = False
        tail, excess = better(gap, deviation, math.inf)
        return np.where(apart, tail, 0.0), np.where(apart, excess, 0.0)

    def weighed(self, counts: Any, sums: Any) -> Self:
        """Return this prior after so many rewards of each arm, in numbers that need not be whole, with these sums.

        It is for those who know counts and sums as estimates, such as players who average theirs. Where the counts
        are whole it is `observe_all`; nothing can be told to it afterwards.

        >>> from corrbandits import Independent
        >>> Independent(mean=0.0, variance=2.0, noise_variance=1.0, arms=2).weighed([0.5, 0.0], [3.0, 0.0]).mean
        array([3., 0.])
        """
        if not self.fixed_prior or self.counts.any() or self.awaited:
            raise ValueError(
                "estimated counts are for a prior such as Independent or Correlated that has seen and awaits nothing, "
                f"got {self!r}. Start from that prior."
            )
        number, total = checks.per_arm("counts", counts, self.arms), checks.per_arm("sums", sums, self.arms)
        if (number < 0).any() or total[number == 0].any():
            raise ValueError("counts must be at least 0, and where they are 0 the sums are 0 too.")
        estimates: Any = Estimates(number, total)  # of a tally, inference reads counts and sums alone
        return self._conditioned(estimates)

    def log_evidence(self) -> float:
        """Return the log marginal density of the averages seen so far, under the prior; see `evidence.log_evidence`."""
        arms, counts, averages = seen(self.counts, self.sums)
        mean, covariance = self._prior_of(arms)
        return log_density(averages - mean, covariance, self.noise_variance[arms] / counts)

    def _prior_of(self, arms: Integers) -> tuple[Array, Array]:
        """Return the prior mean and covariance of some arms: with the rewards, the evidence follows from them."""
        raise without_evidence(self)

    def in_words(self, unit: str = "") -> str:
        """Return what is believed, and how much rewards vary, in a few words."""
        return f"{super().in_words(unit)}; noise ± {span(np.sqrt(self.noise_variance))}"

    @abstractmethod
    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known."""

    def spread_limit(self, width: float) -> Array:
        """Return mu_i + width s_i sqrt(sum_j rho_ij^2), the printed index; as `limit` where nothing or all is known.

        >>> from corrbandits import Correlated
        >>> Correlated(covariance=[[4.0, 1.2], [1.2, 1.0]], noise_variance=1.0).spread_limit(2.0).round(4)
        array([4.6648, 2.3324])
        """
        return self.limit(checks.number("width", width) * self.spread())
