"""Arms that say something of each other, too many for a matrix."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.covariances import refuse_indefinite
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.belief.implicit.factor import Factor
from corrbandits.belief.implicit.grid import Grid, prior_covariance
from corrbandits.belief.implicit.scattered import MOST_ENTRIES, Scattered, covariance, in_strips
from corrbandits.kernels import Covariance, as_kernel

LEAST_SHARE = 1e-3  # of the variance of an arm's average: a posterior variance below it is not 1 less a share
CANCELLED = 1e-4  # of a prior variance: below it, an error in the cancelling difference that is left may show
ROUNDING = 1e-13  # of a prior variance: below it, what is left may be all rounding


@final
class Implicit(GaussianBelief):
    """Jointly Gaussian arms as in `Correlated`, exact too, for up to millions of arms: no N x N matrix is formed.

    Kept are the kernel, the arms' coordinates and a k x k factor, k the number of distinct arms seen.

    On a regular grid of 1 to 3 dimensions, in rows or in columns, with a kernel of this package and a distance that is
    euclidean or cityblock, nothing else is kept, and one reward takes O(N log N + k^3) time (about 0.1 s for a million
    arms). Otherwise the rows of the k arms are kept, 8 k N bytes, and one reward takes O(k N); the kernel may be any
    callable on two sets of points. Many rewards at once (`observe_all`) take O(k^2 N) time.

    Negative eigenvalues are searched for among 200 arms only: the kernel must be a covariance. One that is singular to
    rounding is accepted, and nothing is ever added to its diagonal. Rewards of arms that determine each other all
    count, as long as noise_variance / count is above 1e-20 of their variance; below, those of some do not.

    Told one by one, rounding adds up at arms not yet seen if little of their variance is left, as with a smooth kernel
    and little noise: to all of a standard deviation where that is 1e-4 of the prior's. With few arms (k^2 N up to 4
    million) it does not, because there all is computed afresh; with many, `observe_all` does so.

    >>> from corrbandits import Exponential
    >>> grid = [(x, y) for x in range(300) for y in range(300)]
    >>> prior = Implicit(mean=30.0, kernel=10 * Exponential(20.0), coordinates=grid, noise_variance=10.0)
    >>> belief = prior.observe(0, 36.0)
    >>> belief.mean[:3].round(3), belief.variance[:3].round(3)
    (array([33.   , 32.854, 32.715]), array([5.   , 5.476, 5.906]))
    """

    fixed_prior = True

    def __init__(self, *, mean: Any = 0.0, kernel: Covariance, coordinates: Any, noise_variance: Any) -> None:
        known = as_kernel(kernel)
        points = frozen(checks.points("coordinates", coordinates))
        arms = len(points)
        self._prior_mean = self.mean = frozen(checks.per_arm("mean", mean, arms))
        self.noise_variance = frozen(checks.noise(noise_variance, arms))
        self._prior: Grid | Scattered = prior_covariance(known, points)
        self.variance = frozen(_checked(self._prior))
        self._factor = Factor.empty()
        self._tally = Tally.empty(arms)

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's: O(N log N) on a grid, otherwise O(k N)."""
        return self._row(checks.arm(arm, self.arms))

    @property
    def layout(self) -> Grid | Scattered:
        """The prior covariance, as of a regular grid or of scattered points."""
        return self._prior

    @property
    def covariance(self) -> Array:
        """Not offered: it is what this belief never forms."""
        raise AttributeError(
            f"an Implicit belief of {self.arms:,} arms has no covariance matrix: covariance_with(arm) gives one row of "
            "it, Correlated(...) the whole."
        )

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known.

        On a regular grid this takes 3 k convolutions and O(k^2 N) products, some two minutes for a million arms of
        which 500 were seen; and one convolution more for each arm that has less than a hundredth of its prior variance
        left: after many rewards and with a long kernel these may be most of the arms. At scattered points it takes N^2
        / 2 kernel values, O(k N^2) products and 8 k N bytes: ten seconds or so for 10,000 arms. The index without this
        factor needs none of it.

        >>> from corrbandits import Exponential
        >>> Implicit(kernel=Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0).spread().round(4)
        array([1.1696, 1.1696])
        """
        deviation = np.sqrt(self.variance)
        own = deviation <= math.sqrt(self._prior.cancels) * np.sqrt(self._prior.variance)
        own[self._factor.arms] = True  # these take their own rows, which do not cancel
        u = np.divide(1.0, deviation, out=np.zeros(self.arms), where=~own & (deviation > 0))
        total = self._prior.squared_correlations(u, self._factor)
        for arm in np.flatnonzero(own & (deviation > 0)).tolist():
            row = self._row(arm) / deviation[arm]
            squares = np.square(np.divide(row, deviation, out=np.zeros(self.arms), where=deviation > 0))
            total += np.where(own, 0.0, squares)
            total[arm] = squares.sum()
        return np.asarray(np.sqrt(np.clip(total, 1.0, self.arms)))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards: a draw from the prior, corrected by what was seen of it.

        On a regular grid the prior is drawn on a torus so large that its covariance there has no negative eigenvalue.
        Where none of up to 2^25 points does, and at scattered points, a root of the prior covariance is formed, for up
        to 5,000 arms; more are refused.
        """
        draw = self._prior.draw(checks.generator("a belief", rng))
        A, D = self._factor.arms, self._factor.D
        if A.size:
            noise = np.sqrt(D) * rng.standard_normal(A.size)
            weights = self._factor.solve(draw[A] + noise)
            draw -= self._prior.combined(A, weights)
            precise = self._precise()
            draw[A[precise]] = (D * weights - noise)[precise]  # the same, without cancellation
        return np.asarray(self.mean + draw)

    def _row(self, arm: int) -> Array:
        """Return S0_a - S0_A' w, w = M^-1 S0_Aa, no entry beyond sqrt(S_ii S_jj).

        An arm seen more precisely than its prior, the j-th of A, has S_aj = D_j w_j; and if the arm asked for is such a
        one, w less its own unit gives the row without S0_a, all of it without cancellation (see `gaussian.condition`).
        """
        A, D, precise = self._factor.arms, self._factor.D, self._precise()
        place = self._factor.place(arm)
        if place is not None and precise[place]:
            w = self._factor.solve(np.where(np.arange(A.size) == place, -D, 0.0))
            row = -self._prior.combined(A, w)
        elif A.size:
            w = self._factor.solve(self._prior.block(A, np.array([arm]))[:, 0])
            row = self._prior.row(arm) - self._prior.combined(A, w)
        else:
            w, row = D, self._prior.row(arm).copy()
        row[A[precise]] = (D * w)[precise]
        most = np.sqrt(self.variance)
        most *= most[arm]
        np.minimum(row, most, out=row)
        np.maximum(row, np.negative(most, out=most), out=row)
        row[arm] = self.variance[arm]
        return row

    def _precise(self) -> Any:
        """Return which of the seen arms' averages are more precise than their priors."""
        return self._prior.variance[self._factor.arms] > self._factor.D

    def _updated(self, arm: int, reward: float) -> Implicit:
        tally = self._tally.plus([(arm, 1, reward)])
        tally.sum_of(arm)  # refuses a sum beyond a double
        mean, variance = self._shrinking(arm, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            mean *= reward - self.mean[arm]
            mean += self.mean
            new = self._seeing(arm, int(tally.counts[arm]))
            new._correct(mean, variance, tally, self.variance)
        return new._with(mean, variance, tally)

    def _correct(self, mean: Array, variance: Array, tally: Tally, before: Array) -> None:
        """Take means and variances from the factor: one by one the errors of rows that cancel add up.

        Means of arms seen precisely always; where so little is left of a variance that an error may show, theirs too,
        O(k^3), and if the arms are few, all. None grows, unless what was left of it before may be all rounding.
        """
        A, precise, prior = self._factor.arms, self._precise(), self._prior.variance
        averages = np.array([tally.sum_of(arm) for arm in A.tolist()]) / tally.counts[A]
        if A.size**2 * self.arms <= MOST_ENTRIES and (variance < CANCELLED * prior).any():
            mean[:], variance[:] = self._posterior(averages)
            np.minimum(variance, before, out=variance, where=before >= ROUNDING * prior)
            return
        D, weights = self._factor.D, self._factor.solve(averages - self._prior_mean[A])
        mean[A[precise]] = (averages - D * weights)[precise]
        if (variance[A] < CANCELLED * prior[A]).any():
            shares = self._factor.shares()
            better = precise & (shares >= LEAST_SHARE)
            most = np.where(before < ROUNDING * prior, np.inf, before)[A]
            variance[A[better]] = np.minimum(D * shares, most)[better]

    def _shrinking(self, arm: int, count: int) -> tuple[Array, Array]:
        """Return what a unit of surprise in the average of so many rewards adds to each mean, and the variance left."""
        noise, row = self.noise_variance[arm] / count, self._row(arm)
        total = noise + row[arm]
        gain = row / total
        variance = np.multiply(gain, row)
        np.subtract(self.variance, variance, out=variance)
        np.maximum(variance, 0.0, out=variance)
        variance[arm] = noise * (row[arm] / total)
        return gain, variance

    def _seeing(self, arm: int, count: int) -> Implicit:
        """Return the belief, its factor that of so many rewards of the arm, told or awaited."""
        factor, D = self._factor, self.noise_variance[arm] / count
        place = factor.place(arm)
        if place is None:
            column = self._prior.block(factor.arms, np.array([arm]))[:, 0]
            longer = factor.plus(arm, D, column, float(self._prior.variance[arm]))
            return self._changed(_factor=longer, _prior=self._prior.keeping(longer.arms))
        every = np.where(np.arange(factor.D.size) == place, D, factor.D)
        return self._changed(_factor=Factor.of(factor.arms, every, self._prior.block(factor.arms, factor.arms)))

    def _conditioned(self, tally: Tally) -> Implicit:
        seen = np.flatnonzero(tally.counts)
        sums = np.array([tally.sum_of(arm) for arm in seen.tolist()])
        where = self._prior.keeping(seen)
        factor = Factor.of(seen, self.noise_variance[seen] / tally.counts[seen], where.block(seen, seen))
        new = self._changed(_prior=where, _factor=factor)
        averages = (sums / tally.counts[seen])[np.searchsorted(seen, factor.arms)]
        with np.errstate(over="ignore", invalid="ignore"):
            return new._with(*new._posterior(averages), tally)

    def _posterior(self, averages: Array) -> tuple[Array, Array]:
        """Return mean and variance from the factor (eq. inference-corr-simplified), a strip of arms at a time."""
        A, D = self._factor.arms, self._factor.D
        mean, variance = self._prior_mean.copy(), self._prior.variance.copy()
        if not A.size:
            return mean, variance
        weights = self._factor.solve(averages - mean[A])
        for strip in in_strips(self.arms, max(MOST_ENTRIES // A.size, 1)):
            rows = self._prior.block(A, np.arange(strip.start, strip.stop))
            with one_thread():
                mean[strip] += weights @ rows
            half = self._factor.half(rows)
            variance[strip] -= np.einsum("li,li->i", half, half)
        np.maximum(variance, 0.0, out=variance)
        precise, shares = self._precise(), self._factor.shares()
        if (small := precise & (shares < LEAST_SHARE)).any():
            part = self._factor.solve(self._prior.block(A, A[small]))[small].diagonal()
            shares[small] = np.clip(part, 0.0, 1.0)
        mean[A[precise]] = (averages - D * weights)[precise]
        variance[A[precise]] = (D * shares)[precise]
        return mean, variance

    def _shrunk(self, awaited: list[int]) -> Implicit:
        belief, waiting = self, [*self._open, *awaited]
        for arm in sorted(set(awaited)):
            _, variance = belief._shrinking(arm, awaited.count(arm))
            belief = belief._with(self.mean, variance, self._tally)
            belief = belief._seeing(arm, int(self.counts[arm]) + waiting.count(arm))
        return belief

    def _with(self, mean: Array, variance: Array, tally: Tally) -> Implicit:
        if not np.isfinite(mean).all():
            raise OverflowError(
                "rewards and means lie further apart than a double can hold; measure them in a larger unit."
            )
        return self._changed(mean=frozen(mean), variance=frozen(variance), _tally=tally, _told=None, _open=())

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior's mean, kernel and coordinates, and the noise variance."""
        where = {"kernel": self._prior.kernel, "coordinates": self._prior.points}
        return {"mean": self._prior_mean, **where, "noise_variance": self.noise_variance}

    def _prior_of(self, arms: Integers) -> tuple[Array, Array]:
        return self._prior_mean[arms], self._prior.block(arms, arms)

    def _relation_in_words(self) -> str:
        return self._prior.kernel.in_words()

    def _same_prior(self, other: Implicit) -> bool:
        mine, yours = self._prior, other._prior
        return (
            np.array_equal(self._prior_mean, other._prior_mean)
            and np.array_equal(self.noise_variance, other.noise_variance)
            and np.array_equal(mine.points, yours.points)
            and bool(mine.kernel == yours.kernel)
        )


def _checked(prior: Grid | Scattered) -> Array:
    """Return a copy of the prior variances; refuse one below 0, and a kernel that is no covariance of some arms."""
    variances = prior.variance.copy()
    if (variances < 0).any():
        arm = int(variances.argmin())
        raise ValueError(f"variances must be at least 0, but the kernel has {variances[arm]:g} for arm {arm}.")
    N = variances.size
    near, far = np.arange(N // 2, min(N // 2 + 100, N)), np.linspace(0, N - 1, min(N, 100)).astype(np.int64)
    some = prior.points[np.union1d(near, far)]
    refuse_indefinite(covariance(prior.kernel, some, some))
    return variances
