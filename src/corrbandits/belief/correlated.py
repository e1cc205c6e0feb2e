"""Arms that say something of each other."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corrbandits import checks
from corrbandits.belief.base import GaussianBelief
from corrbandits.checks import Array, frozen
from corrbandits.gaussian import (
    condition,
    consistent_row,
    correlated_normals,
    correlations,
    refuse_indefinite,
    shrink,
)
from corrbandits.kernels import Covariance
from corrbandits.tally import Tally


@final
class Correlated(GaussianBelief):
    """Jointly Gaussian arms (section 4.1): a reward of one arm says something of the others.

    The prior's covariance is a matrix, or a kernel and the arms' coordinates; any callable on two sets of points is
    a kernel. A covariance that is singular to rounding is accepted, and nothing is ever added to its diagonal:
    inference works from the covariance, never from its inverse.

    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0)
    >>> belief = prior.observe(0, 2.0)
    >>> belief.mean, belief.variance
    (array([1. , 0.8]), array([0.5 , 0.68]))
    """

    def __init__(
        self,
        *,
        mean: Any = 0.0,
        kernel: Covariance | None = None,
        coordinates: Any = None,
        covariance: Any = None,
        noise_variance: Any,
    ) -> None:
        if covariance is not None and kernel is None and coordinates is None:
            matrix = checks.finite("covariance", covariance)
        elif covariance is None and callable(kernel) and coordinates is not None:
            where = checks.points("coordinates", coordinates)
            matrix = checks.finite("the kernel's covariance", kernel(where, where))
            if matrix.shape != (len(where), len(where)):
                raise ValueError(
                    f"for {len(where)} points the kernel must give as many rows and columns, not {matrix.shape}."
                )
        else:
            raise TypeError(
                "give either covariance=matrix, or kernel=... and coordinates=..., not both or neither; a kernel is "
                f"called with two sets of points, such as Exponential(3.0), but {kernel!r} came."
            )
        matrix = refuse_indefinite(matrix)
        arms = len(matrix)
        self._prior_mean = self.mean = frozen(checks.per_arm("mean", mean, arms))
        self._prior_covariance = self.covariance = frozen(matrix)
        self.variance = frozen(matrix.diagonal().copy())
        self.noise_variance = frozen(checks.noise(noise_variance, arms))
        self._tally = Tally.empty(arms)

    covariance: Array
    """The posterior covariance, Sigma(t)."""

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's."""
        row: Array = self.covariance[checks.arm(arm, self.arms)]
        return row

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known.

        >>> Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=1.0).spread().round(4)
        array([1.1662, 1.1662])
        """
        rho = correlations(self.covariance)
        return np.asarray(np.sqrt(np.square(rho, out=rho).sum(axis=1)))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards."""
        return np.asarray(self.mean + correlated_normals(self.covariance, checks.generator("a belief", rng)))

    def _same_prior(self, other: Correlated) -> bool:
        return (
            np.array_equal(self._prior_mean, other._prior_mean)
            and np.array_equal(self._prior_covariance, other._prior_covariance)
            and np.array_equal(self.noise_variance, other.noise_variance)
        )

    def _updated(self, arm: int, reward: float) -> Correlated:
        row, noise = consistent_row(self.covariance, arm), self.noise_variance[arm]
        tally = self._tally.plus([(arm, 1, reward)])
        tally.sum_of(arm)  # refuses a sum beyond a double
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.mean + row / (noise + row[arm]) * (reward - self.mean[arm])
        return self._with(shrink(self.covariance, arm, noise), mean=mean, tally=tally)

    def _conditioned(self, tally: Tally) -> Correlated:
        with np.errstate(over="ignore", invalid="ignore"):
            mean, covariance = condition(
                self._prior_mean, self._prior_covariance, self.noise_variance, tally.counts, tally.sums
            )
        return self._with(covariance, mean=mean, tally=tally)

    def _shrunk(self, awaited: list[int]) -> Correlated:
        covariance = self.covariance
        for arm in sorted(set(awaited)):
            covariance = shrink(covariance, arm, self.noise_variance[arm] / awaited.count(arm))
        return self._with(covariance, mean=self.mean, tally=self._tally)

    def _with(self, covariance: Array, *, mean: Array, tally: Tally) -> Correlated:
        if not np.isfinite(mean).all():
            raise OverflowError(
                "rewards and means lie further apart than a double can hold; measure them in a larger unit."
            )
        return self._changed(
            mean=frozen(mean),
            covariance=frozen(covariance),
            variance=frozen(covariance.diagonal().copy()),
            _tally=tally,
            _told=None,
            _open=(),
        )
