"""Arms that say something of each other."""

from __future__ import annotations

import math
import threading
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.covariances import refuse_indefinite, spreads, weighted_squares
from corrbandits._core.draws import correlated_normals, covariance_root, least_share, posterior_draw
from corrbandits._core.gaussian import (
    FINE,
    condition,
    condition_finely,
    consistent_row,
    left_by_others,
    shrink,
    shrink_along,
)
from corrbandits._core.tally import Tally
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.kernels import Covariance, Kernel, as_kernel, made_of_ours


@final
class _Prior:
    """What all beliefs that came from one prior share: its mean and covariance, and a root once one is drawn from.

    While all variances are above `least`, covariances can be squared and divided by variances without leaving the
    doubles, and correlations exceed 1 by rounding alone, too little to grow.
    """

    def __init__(self, mean: Array, covariance: Array, made_of: tuple[Kernel, Array] | None = None) -> None:
        self.mean, self.covariance = frozen(mean), frozen(covariance)
        self.made_of = made_of  # kernel and coordinates, if the kernel is one of ours
        largest = float(covariance.diagonal().max())
        self.floor = frozen(FINE * covariance.diagonal())  # variances below it may have lost digits to cancellation
        self.highest_floor = float(self.floor.max())
        self.least = 1e-12 * largest if 1e-120 < largest < 1e140 else math.inf
        self._drawing: tuple[Array, Array] | None = None
        self._lock = threading.Lock()

    def drawing(self) -> tuple[Array, Array]:
        """Return R0 with R0 R0' = S0, and the variances below which its draws serve no longer; computed once."""
        with self._lock:
            if self._drawing is None:
                root = covariance_root(self.covariance)
                finest = least_share(root, self.covariance) * self.covariance.diagonal()
                self._drawing = frozen(root), frozen(finest)
            return self._drawing

    def __reduce__(self) -> tuple[type[_Prior], tuple[Array, Array, tuple[Kernel, Array] | None]]:
        """Copy and pickle without the root: it is as large as the covariance, and follows from it."""
        return _Prior, (self.mean, self.covariance, self.made_of)


@final
class Correlated(GaussianBelief):
    """Jointly Gaussian arms (section 4.1): a reward of one arm says something of the others.

    The prior's covariance is a matrix, or a kernel and the arms' coordinates; any callable on two sets of points is
    a kernel. A covariance that is singular to rounding is accepted, and nothing is ever added to its diagonal:
    inference works from the covariance, never from its inverse. Mean and covariance are those of exact arithmetic on
    the numbers given, to 1e-10 of a posterior deviation or a rounding of the mean: where arms all but determine each
    other and the noise is below 1e-4 of the variance, a reward then costs as much as all do at once. Below some 1e-15
    of the variance the noise is less than the rounding of the covariance, and no digit of what is left is certain.

    >>> prior = Correlated(mean=0.0, covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0)
    >>> belief = prior.observe(0, 2.0)
    >>> belief.mean, belief.variance
    (array([1. , 0.8]), array([0.5 , 0.68]))
    """

    fixed_prior = True

    def __init__(
        self,
        *,
        mean: Any = 0.0,
        kernel: Covariance | None = None,
        coordinates: Any = None,
        covariance: Any = None,
        noise_variance: Any,
    ) -> None:
        made_of = None
        if covariance is not None and kernel is None and coordinates is None:
            matrix = checks.finite("covariance", covariance)
        elif covariance is None and callable(kernel) and coordinates is not None:
            where = checks.points("coordinates", coordinates)
            matrix, known = _covariance(kernel, where), as_kernel(kernel)
            made_of = (known, frozen(where)) if made_of_ours(known) else None
            if matrix.shape != (len(where), len(where)):
                raise ValueError(
                    f"for {len(where)} points the kernel must give as many rows and columns, not {matrix.shape}."
                )
        else:
            raise TypeError(
                "give either covariance=matrix, or kernel=... and coordinates=..., not both or neither; a kernel is "
                f"called with two sets of points, such as Exponential(3.0), got {kernel!r}."
            )
        matrix = refuse_indefinite(matrix)
        arms = len(matrix)
        self._prior = _Prior(checks.per_arm("mean", mean, arms), matrix, made_of)
        self.mean, self.covariance = self._prior.mean, self._prior.covariance
        self.variance = frozen(matrix.diagonal().copy())
        self._sound = bool(self.variance.min() > self._prior.least)
        self.noise_variance = frozen(checks.noise(noise_variance, arms))
        self._tally = Tally.empty(arms)

    covariance: Array
    """The posterior covariance, Sigma(t)."""

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's."""
        row: Array = self.covariance[checks.arm(arm, self.arms)]
        return row

    def covariance_of(self, arms: Integers | None = None) -> Array:
        """Return the posterior covariance of each of the arms with each; by default, of all arms."""
        return self.covariance if arms is None else self.covariance[np.ix_(arms, arms)]

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known.

        >>> Correlated(covariance=[[1.0, 0.6], [0.6, 1.0]], noise_variance=1.0).spread().round(4)
        array([1.1662, 1.1662])
        """
        if not self._sound:
            return spreads(self.covariance)
        squares = weighted_squares(self.covariance, np.reciprocal(self.variance)) / self.variance
        return np.asarray(np.sqrt(squares.clip(1.0, self.arms)))  # outside lies rounding

    def spread_limit(self, width: float) -> Array:
        """Return mu_i + width s_i sqrt(sum_j rho_ij^2), the printed index."""
        if not (self._sound and isinstance(width, float) and math.isfinite(width)):
            return super().spread_limit(width)
        squares = weighted_squares(self.covariance, np.reciprocal(self.variance))
        limits: Array = self.mean + width * np.sqrt(squares, out=squares)
        return limits

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards, in O(N^2) after the first draw from a prior.

        It takes N standard normals from `rng`, then one for each arm seen or awaited, in their order. A belief so
        sure that a correction of a draw from its prior would lose too many digits takes N, and O(N^3), every time.
        """
        rng, (root, finest) = checks.generator("a belief", rng), self._prior.drawing()
        if np.count_nonzero(self.variance < finest):
            return np.asarray(self.mean + correlated_normals(self.covariance, rng))
        counts = self.counts
        if self._open:
            counts = counts + np.bincount(self._open, minlength=self.arms)
        A = np.flatnonzero(counts)
        D, z = self.noise_variance[A] / counts[A], rng.standard_normal(self.arms)
        e = np.sqrt(D) * rng.standard_normal(A.size)
        return np.asarray(self.mean + posterior_draw(root, self.covariance, A, D, z, e))

    def prior_root(self) -> Array:
        """Return R0 with R0 R0' = S0, the prior covariance; computed once for all beliefs that have one prior."""
        return self._prior.drawing()[0]

    def finest(self) -> Array:
        """Return the variances below which `sample` no longer corrects a draw from the prior."""
        return self._prior.drawing()[1]

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior's mean, its kernel and coordinates or its covariance, and the noise variance."""
        of = self._prior.made_of
        related = {"covariance": self._prior.covariance} if of is None else {"kernel": of[0], "coordinates": of[1]}
        return {"mean": self._prior.mean, **related, "noise_variance": self.noise_variance}

    def _prior_of(self, arms: Integers) -> tuple[Array, Array]:
        return self._prior.mean[arms], self._prior.covariance[np.ix_(arms, arms)]

    def _relation_in_words(self) -> str:
        return "a covariance of all arms" if self._prior.made_of is None else self._prior.made_of[0].in_words()

    def _same_prior(self, other: Correlated) -> bool:
        return self._prior is other._prior or (
            np.array_equal(self._prior.mean, other._prior.mean)
            and np.array_equal(self._prior.covariance, other._prior.covariance)
            and np.array_equal(self.noise_variance, other.noise_variance)
        )

    def _updated(self, arm: int, reward: float) -> Correlated:
        S, noise, tally = self.covariance, self.noise_variance.item(arm), self._tally.seen(arm, reward)
        row = S[arm] if self._sound else consistent_row(S, np.sqrt(self.variance), arm)
        step = (reward - self.mean.item(arm)) / (noise + row.item(arm))
        if self._sound and -1e150 < step < 1e150:  # then no mean leaves the doubles
            mean = self.mean + row * step
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                mean = _finite(self.mean + row / (noise + row[arm]) * (reward - self.mean[arm]))
        covariance, variance = shrink_along(S, row, arm, noise)
        if variance.item(variance.argmin()) < self._prior.highest_floor and self._cancelled(variance, tally):
            fine = self._finely(tally.counts, tally.sums)
            mean, covariance = fine or (mean, covariance)
            variance = covariance.diagonal().copy()
        return self._with(covariance, variance, mean, tally)

    def _cancelled(self, variance: Array, tally: Tally) -> bool:
        """Return whether differences have taken too many digits of a variance; counts are added up only if need be."""
        noise, floor = self.noise_variance, self._prior.floor
        return left_by_others(variance, tally.counts_so_far, noise, floor) and left_by_others(
            variance, tally.counts, noise, floor
        )

    def _finely(self, counts: Integers, sums: Array) -> tuple[Array, Array] | None:
        prior = self._prior
        with np.errstate(over="ignore", invalid="ignore"):
            fine = condition_finely(prior.mean, prior.covariance, self.noise_variance, counts, sums)
        return None if fine is None else (_finite(fine[0]), fine[1])

    def _conditioned(self, tally: Tally) -> Correlated:
        prior = self._prior
        with np.errstate(over="ignore", invalid="ignore"):
            mean, covariance = condition(prior.mean, prior.covariance, self.noise_variance, tally.counts, tally.sums)
        return self._with(covariance, covariance.diagonal().copy(), _finite(mean), tally)

    def relaxed(self, law: Correlated, elapsed: float) -> Correlated:
        """Return, as a prior, what is left after a time in units of the scale in which means drift about a law.

        >>> law = Correlated(covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0)
        >>> later = law.observe(0, 2.0).relaxed(law, elapsed=np.log(2))  # half of the mean, a quarter of what is known
        >>> later.mean, later.variance
        (array([0.5, 0.4]), array([0.875, 0.92 ]))
        """
        phi, fresh = math.exp(-elapsed), -math.expm1(-2 * elapsed)
        covariance = fresh * law.covariance
        covariance += (phi * phi) * self.covariance
        return self.moved(law.mean + phi * (self.mean - law.mean), covariance)

    def prior_after(self, counts: Array, sums: Array) -> Correlated:
        """Return, as a prior, this one after so many rewards of each arm, whole numbers or not, that sum to `sums`."""
        known = self.weighed(counts, sums)
        return self.moved(known.mean, known.covariance)

    def moved(self, mean: Array, covariance: Array) -> Correlated:
        """Return a prior of this mean and covariance, which is known to be one, and of the same noise."""
        new = self._changed(_prior=_Prior(mean, covariance))
        return new._with(covariance, covariance.diagonal().copy(), mean, Tally.empty(self.arms))

    def _shrunk(self, awaited: list[int]) -> Correlated:
        covariance = self.covariance
        for arm in sorted(set(awaited)):
            covariance = shrink(covariance, arm, self.noise_variance[arm] / awaited.count(arm))
        counts = self.counts + np.bincount([*self._open, *awaited], minlength=self.arms)
        if left_by_others(covariance.diagonal(), counts, self.noise_variance, self._prior.floor):
            fine = self._finely(counts, np.zeros(self.arms))
            covariance = covariance if fine is None else fine[1]
        return self._with(covariance, covariance.diagonal().copy(), self.mean, self._tally)

    def _with(self, covariance: Array, variance: Array, mean: Array, tally: Tally) -> Correlated:
        return self._changed(
            mean=frozen(mean),
            covariance=frozen(covariance),
            variance=frozen(variance),
            _sound=variance.item(variance.argmin()) > self._prior.least,
            _tally=tally,
            _told=None,
            _open=(),
        )


def _covariance(kernel: Covariance, where: Array) -> Array:
    try:
        return checks.finite("the kernel's covariance", kernel(where, where))
    except MemoryError:
        raise MemoryError(
            f"the covariance of {len(where):,} arms takes {8 * len(where) ** 2 / 1e9:,.0f} GB and more to make, "
            "more than there is here. Use Implicit(...), which takes the same arguments and never forms it."
        ) from None


def _finite(mean: Array) -> Array:
    if not np.isfinite(mean).all():
        raise OverflowError(
            "rewards and means lie further apart than a double can hold; measure them in a larger unit."
        )
    return mean
