"""One prior whose length and variance follow the data."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits._core.tally import Tally
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.kernels import Kernel
from corrbandits.likelihood.ascent import passes_a_power, suited
from corrbandits.likelihood.marginal import Averages, seen, split


@final
class Refitting(GaussianBelief):
    """Arms as in `Correlated`, whose length and variance follow the data: empirical Bayes.

    It begins as `Correlated` with the kernel given, `variance * Exponential(length)` or any other of one length, or one
    per dimension. When the number of rewards passes the next power of 1.3, length and variance are fitted to all
    rewards so far, and the belief is computed afresh from the new prior; mean and noise stay. In between the kernel in
    force is conditioned on what comes, at the cost of `Correlated`. So variances may grow, at a refit.

    A refit climbs the marginal likelihood from the prior's length and variance, each within a factor of 100 of them,
    with no pull back to them. It is a function of counts and sums alone, and so is what follows many rewards at once
    (`observe_all`, `merge`), a refit unless there is only one: neither their order nor how they are split matters. One
    by one, the belief is that to the last bit whenever the number of rewards has just passed a power of 1.3 (at 2, 3,
    4, 5, 7, 9, 11, 14, 18, 24, ...), and keeps the kernel of that time until the next. Where rewards are so large or
    the noise so small that no double holds the likelihood at the prior, the kernel stays the prior's.

    >>> from corrbandits import Exponential
    >>> prior = Refitting(kernel=Exponential(1.0), coordinates=range(20), noise_variance=0.01)
    >>> belief = prior.observe(range(20), np.sin(np.arange(20) / 5))
    >>> belief.length > 3, belief.refits
    (True, 1)
    """

    def __init__(self, *, mean: Any = 0.0, kernel: Kernel, coordinates: Any, noise_variance: Any) -> None:
        split(kernel)  # refuses a kernel that cannot be fitted
        self._given = self.kernel_in_force = kernel
        self._points = frozen(checks.points("coordinates", coordinates))
        self._first = Correlated(mean=mean, kernel=kernel, coordinates=self._points, noise_variance=noise_variance)
        self.noise_variance, self.refits, self._number = self._first.noise_variance, 0, 0
        self._follow(self._first)

    kernel_in_force: Kernel
    """The kernel of the prior that is conditioned on: that of the last refit, or the one given."""

    refits: int
    """How many refits there were."""

    @property
    def length(self) -> float | tuple[float, ...]:
        """The length in force; one per dimension, if the kernel given has them."""
        return split(self.kernel_in_force)[1].length

    @property
    def kernel_variance(self) -> float:
        """The variance in force, of every arm before anything is seen of it."""
        return split(self.kernel_in_force)[0]

    @property
    def covariance(self) -> Array:
        """The posterior covariance, under the kernel in force."""
        return self._now.covariance

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's."""
        return self._now.covariance_with(arm)

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known."""
        return self._now.spread()

    def spread_limit(self, width: float) -> Array:
        """Return mu_i + width s_i sqrt(sum_j rho_ij^2), the printed index."""
        return self._now.spread_limit(width)

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards, under the kernel in force."""
        return self._now.sample(rng)

    def _updated(self, arm: int, reward: float) -> Refitting:
        number = self._number + 1
        if passes_a_power(number):
            return self._conditioned(self._tally.plus([(arm, 1, reward)]))
        return self._changed(_number=number, _told=None, _open=())._follow(self._now._updated(arm, reward))

    def _conditioned(self, tally: Tally) -> Refitting:
        """Return the prior refitted to the tally, and conditioned on it."""
        new = self._changed(_number=int(tally.counts.sum()), _told=None, _open=())
        kernel = self._refitted(tally)
        if kernel is None:
            new.kernel_in_force = self._given
            return new._follow(self._first._conditioned(tally))
        new.kernel_in_force, new.refits = kernel, self.refits + 1
        mean, noise = self._first.mean, self.noise_variance
        prior = Correlated(mean=mean, kernel=kernel, coordinates=self._points, noise_variance=noise)
        return new._follow(prior._conditioned(tally))

    def _refitted(self, tally: Tally) -> Kernel | None:
        """Return the kernel that suits the tally best; nothing if that is one reward, or has no likelihood."""
        if tally.counts.sum() < 2:
            return None
        variance, family = split(self._given)
        arms, counts, averages = seen(tally.counts, tally.sums)
        data = Averages.of(family, self._points[arms], counts, averages)
        return suited(data, variance, self.noise_variance[arms], self._first.mean[arms])

    def _shrunk(self, awaited: list[int]) -> Refitting:
        return self._changed()._follow(self._now.assume(np.array(awaited, dtype=np.int64)))

    def _follow(self, now: Correlated) -> Refitting:
        """Complete a belief that is being made."""
        self._now, self.mean, self.variance, self._tally = now, now.mean, now.variance, now._tally
        return self

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior's mean, kernel and coordinates, and the noise variance."""
        where = {"kernel": self._given, "coordinates": self._points}
        return {"mean": self._first.prior_arguments()["mean"], **where, "noise_variance": self.noise_variance}

    def _same_prior(self, other: Refitting) -> bool:
        return (
            self._given == other._given
            and np.array_equal(self._points, other._points)
            and self._first._same_prior(other._first)
        )
