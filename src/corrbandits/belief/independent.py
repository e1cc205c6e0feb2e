"""Arms that say nothing of each other."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.tally import Tally
from corrbandits.belief.base import number_of_arms
from corrbandits.belief.gaussian import GaussianBelief


@final
class Independent(GaussianBelief):
    """Independent Gaussian arms (section 3.1): an arm's rewards say nothing of the others.

    `variance` may be inf, which is the paper's uninformative prior, or 0, an arm that is known. `mean`, `variance`
    and `noise_variance` are one number for all arms or one per arm; `arms` is needed when all three are single
    numbers.

    >>> prior = Independent(mean=0.0, variance=10.0, noise_variance=10.0, arms=3)
    >>> belief = prior.observe(1, 6.0)
    >>> belief.mean, belief.variance
    (array([0., 3., 0.]), array([10.,  5., 10.]))
    """

    def __init__(
        self, *, mean: Any = 0.0, variance: Any = np.inf, noise_variance: Any, arms: int | None = None
    ) -> None:
        arms = number_of_arms(arms, mean=mean, variance=variance, noise_variance=noise_variance)
        self._prior_mean = self.mean = frozen(checks.per_arm("mean", mean, arms))
        self._prior_variance = self.variance = frozen(checks.per_arm("variance", variance, arms, infinite=True))
        if not (self.variance >= 0).all():  # also refuses NaN
            raise ValueError(f"variance must be at least 0 (inf for an arm of which nothing is known), got {variance}.")
        self.noise_variance = frozen(checks.noise(noise_variance, arms))
        self._tally = Tally.empty(arms)

    independent = True
    fixed_prior = True

    def covariance_with(self, arm: int) -> Array:
        """Return the arm's variance at its own place, 0 elsewhere."""
        arm, row = checks.arm(arm, self.arms), np.zeros(self.arms)
        row[arm] = self.variance[arm]
        return row

    def spread(self) -> Array:
        """Return 1 for every arm: no arm is correlated with another."""
        return np.ones(self.arms)

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards; refused while nothing is known of some arm."""
        if np.isinf(self.variance).any():
            raise ValueError("a belief with an infinite variance has no draws; observe each such arm once first.")
        return np.asarray(
            self.mean + np.sqrt(self.variance) * checks.generator("a belief", rng).standard_normal(self.arms)
        )

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior's mean and variance, the noise variance, and the number of arms."""
        prior = {"mean": self._prior_mean, "variance": self._prior_variance}
        return {**prior, "noise_variance": self.noise_variance, "arms": self.arms}

    def _prior_of(self, arms: Integers) -> tuple[Array, Array]:
        if not np.isfinite(self._prior_variance).all():
            raise ValueError(
                "a prior with an infinite variance has no evidence, because it predicts nothing. Give every arm a "
                "finite one."
            )
        return self._prior_mean[arms], np.diag(self._prior_variance[arms])

    def _relation_in_words(self) -> str:
        return "independent arms"

    def _same_prior(self, other: Independent) -> bool:
        return (
            np.array_equal(self._prior_mean, other._prior_mean)
            and np.array_equal(self._prior_variance, other._prior_variance)
            and np.array_equal(self.noise_variance, other.noise_variance)
        )

    def _updated(self, arm: int, reward: float) -> Independent:
        """Return what `_conditioned` does, to the last bit, by numbers instead of arrays: only one arm changes."""
        tally = self._tally.plus([(arm, 1, reward)])
        count, prior = tally.counts.item(arm), self._prior_variance.item(arm)
        average = self.noise_variance.item(arm) / count
        ratio = average / prior if prior else math.inf
        inverse = 1 / ratio if ratio else math.inf
        mean, variance = self.mean.copy(), self.variance.copy()
        mean[arm] = self._prior_mean.item(arm) / (1 + inverse) + tally.sum_of(arm) / count / (1 + ratio)
        variance[arm] = average / (1 + ratio) if ratio < 1 else prior / (1 + inverse)
        return self._with(mean, variance, tally)

    def _conditioned(self, tally: Tally) -> Independent:
        """Return the belief computed from the tally (section 3.1)."""
        mean, variance = self.mean.copy(), self.variance.copy()
        arms = np.flatnonzero(tally.counts)
        counts = tally.counts[arms]
        averages = tally.sums[arms] / counts
        ratio, variance[arms] = self._posterior(arms, counts)
        with np.errstate(divide="ignore", over="ignore"):
            mean[arms] = self._prior_mean[arms] / (1 + 1 / ratio) + averages / (1 + ratio)
        return self._with(mean, variance, tally)

    def _with(self, mean: Array, variance: Array, tally: Tally) -> Independent:
        return self._changed(mean=frozen(mean), variance=frozen(variance), _tally=tally, _told=None, _open=())

    def relaxed(self, law: Independent, elapsed: float) -> Independent:
        """Return, as a prior, what is left after a time in units of the scale in which means drift about a law.

        >>> law = Independent(variance=1.0, noise_variance=1.0, arms=1)
        >>> later = law.observe(0, 2.0).relaxed(law, elapsed=np.log(2))  # half of the mean, a quarter of what is known
        >>> later.mean, later.variance
        (array([0.5]), array([0.875]))
        """
        phi, fresh = math.exp(-elapsed), -math.expm1(-2 * elapsed)
        variance = phi * phi * self.variance + fresh * law.variance
        return self.moved(law.mean + phi * (self.mean - law.mean), variance)

    def prior_after(self, counts: Array, sums: Array) -> Independent:
        """Return, as a prior, this one after so many rewards of each arm, whole numbers or not, that sum to `sums`."""
        known = self.weighed(counts, sums)
        return self.moved(known.mean, known.variance)

    def moved(self, mean: Array, variance: Array) -> Independent:
        """Return a prior of this mean and variance, and of the same noise."""
        prior = {"_prior_mean": frozen(mean), "_prior_variance": frozen(variance)}
        return self._changed(**prior)._with(mean, variance, Tally.empty(self.arms))

    def _shrunk(self, awaited: list[int]) -> Independent:
        counts = self.counts + np.bincount([*self._open, *awaited], minlength=self.arms)
        arms = np.unique(awaited).astype(np.int64)
        variance = self.variance.copy()
        _, variance[arms] = self._posterior(arms, counts[arms])
        return self._changed(variance=frozen(variance))

    def _posterior(self, arms: Integers, counts: Integers | Array) -> tuple[Array, Array]:
        """Return delta^2 / n and the variance of these arms after n rewards each (section 3.1)."""
        prior, average = self._prior_variance[arms], self.noise_variance[arms] / counts
        # the ratio is infinite for a known arm, 0 for one of which nothing was known: each has a form without inf / inf
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = average / prior
            return ratio, np.where(ratio < 1, average / (1 + ratio), prior / (1 + 1 / ratio))
