"""What is believed of every arm's mean reward. A prior is a belief that has seen nothing; observing returns a belief.

    name             shape   meaning                                              paper
    mean             (N,)    posterior mean                                       mu_i(t)
    variance         (N,)    posterior variance                                   sigma_i^2(t)
    covariance       (N, N)  posterior covariance (`Correlated`)                  Sigma(t)
    noise_variance   (N,)    variance of a reward about its arm's mean            sigma_s^2, here one per arm
    counts           (N,)    rewards seen per arm                                 n_i(t)
    sums             (N,)    their sums, correctly rounded                        n_i(t) mbar_i(t)

Beliefs never change: `observe` leaves the belief it is called on as it was. Inference depends on counts and sums
alone (eq. inference-corr-simplified). `observe` with one reward is the update of eq. correlated-inference, done as
a rank-one change of the covariance; with many rewards, and in `observe_all` and `merge`, the belief is computed
afresh from its prior, so that the order of rewards cannot matter.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np

from corrbandits import checks
from corrbandits.checks import Array, Integers, frozen
from corrbandits.gaussian import (
    condition,
    consistent_row,
    correlations,
    covariance_root,
    refuse_indefinite,
    shrink,
    upper_quantile,
)
from corrbandits.kernels import Covariance
from corrbandits.tally import Tally


class Belief(ABC):
    """What every belief offers; `Independent`, `Correlated` and `Beta` are its kinds."""

    mean: Array
    variance: Array
    _tally: Tally

    @property
    def arms(self) -> int:
        """The number of arms, N."""
        return self.mean.size

    @property
    def counts(self) -> Integers:
        """How many rewards each arm has given."""
        return self._tally.counts

    @property
    def sums(self) -> Array:
        """The sum of each arm's rewards, correctly rounded whatever their order."""
        return self._tally.sums

    def observe(self, arm: int | Sequence[int] | Integers, reward: float | Sequence[float] | Array) -> Self:
        """Return the belief after one reward, or after many: then `arm` and `reward` are sequences, in any order."""
        if isinstance(arm, (int, np.integer)):
            return self._observe_one(checks.arm(arm, self.arms), self._reward(reward))
        arms = checks.arm_array(arm, self.arms)
        rewards = np.atleast_1d(checks.finite("rewards", reward))
        if rewards.shape != arms.shape:
            raise ValueError(
                f"as many rewards as arms are needed, but {arms.size} arms and rewards of shape {rewards.shape} came."
            )
        entries = zip(arms.tolist(), rewards.tolist(), strict=True)
        return self._after(self._tally.plus((k, 1, self._reward(r)) for k, r in entries))

    def observe_all(self, counts: Any, sums: Any) -> Self:
        """Return the belief after further `counts` rewards of each arm that sum to `sums`."""
        number = checks.counts(counts, self.arms)
        total = checks.per_arm("sums", sums, self.arms)
        if total[number == 0].any():
            arm = int(np.flatnonzero((number == 0) & (total != 0))[0])
            raise ValueError(f"an arm without rewards sums to 0, but {total[arm]:g} came for arm {arm}.")
        seen = np.flatnonzero(number)
        return self._after(
            self._tally.plus(zip(seen.tolist(), number[seen].tolist(), total[seen].tolist(), strict=True))
        )

    def merge(self, other: Self) -> Self:
        """Return the belief that has seen what both have; they must have started from the same prior."""
        if type(other) is not type(self) or not self._same_prior(other):
            raise ValueError("only beliefs that started from the same prior can be merged, but these did not.")
        return self._after(self._tally.merged(other._tally))

    def limit(self, width: float | Array) -> Array:
        """Return mu_i + width s_i; +inf where nothing is known of an arm, mu_i where all is.

        >>> Independent(mean=[0.0, 1.0], variance=4.0, noise_variance=1.0).limit(1.5)
        array([3., 4.])
        """
        widths = checks.per_arm("width", width, self.arms, infinite=True)
        deviation = np.sqrt(self.variance)
        uncertain = (deviation > 0) & (deviation < np.inf)
        limits = np.where(deviation > 0, np.inf, self.mean)
        limits[uncertain] = self.mean[uncertain] + widths[uncertain] * deviation[uncertain]
        return limits

    @abstractmethod
    def credible_limit(self, log_tail: float) -> Array:
        """Return the upper credible limit of each arm: its mean reward is above it with probability exp(log_tail)."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards."""

    @abstractmethod
    def _after(self, tally: Tally) -> Self: ...

    @abstractmethod
    def _same_prior(self, other: Self) -> bool: ...

    def _observe_one(self, arm: int, reward: float) -> Self:
        return self._after(self._tally.plus([(arm, 1, reward)]))

    def _reward(self, reward: Any) -> float:
        if type(reward) is float and math.isfinite(reward):
            return reward
        return checks.number("a reward", reward)

    def _changed(self, **changes: Any) -> Self:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__, **changes)
        return new

    def __repr__(self) -> str:
        return f"<{type(self).__name__} belief on {self.arms} arms after {int(self.counts.sum())} rewards>"


class GaussianBelief(Belief):
    """A Gaussian belief on mean rewards that are seen through Gaussian noise of known variance."""

    noise_variance: Array
    _open: tuple[int, ...] = ()
    _told: Self | None = None

    def credible_limit(self, log_tail: float) -> Array:
        """Return mu_i + s_i z, z exceeded with probability exp(log_tail); +inf where nothing is known of an arm.

        >>> Independent(mean=[0.0, 1.0], variance=1.0, noise_variance=1.0).credible_limit(np.log(0.025)).round(2)
        array([1.96, 2.96])
        """
        return self.limit(upper_quantile(checks.number("log_tail", log_tail, up_to=0)))

    @abstractmethod
    def covariance_with(self, arm: int) -> Array:
        """Return one row of the posterior covariance."""

    @abstractmethod
    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index; 1 for an arm that is independent or known."""

    def assume(self, arms: Sequence[int] | Integers) -> Self:
        """Return the belief while rewards of these arms are awaited: the same mean, the variance as if they had come.

        >>> prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=2)
        >>> prior.assume([1, 1]).variance.round(3)
        array([1.   , 0.333])
        """
        awaited = sorted(checks.arm_array(arms, self.arms).tolist())
        told = self if self._told is None else self._told
        return self._shrunk(awaited)._changed(_open=(*self._open, *awaited), _told=told)

    def _observe_one(self, arm: int, reward: float) -> Self:
        if self._told is not None:
            return self._told._observe_one(arm, reward).assume(self._open)
        return self._updated(arm, reward)

    def _after(self, tally: Tally) -> Self:
        if self._told is not None:
            return self._told._after(tally).assume(self._open)
        return self._conditioned(tally)

    def merge(self, other: Self) -> Self:
        """Return the belief that has seen and awaits what both have; they must have started from the same prior.

        >>> prior = Independent(mean=0.0, variance=np.inf, noise_variance=1.0, arms=2)
        >>> prior.observe(0, 3.0).merge(prior.observe([0, 1], [5.0, 7.0])).mean
        array([4., 7.])
        """
        merged = super().merge(other)
        return merged.assume(other._open) if other._open else merged

    @abstractmethod
    def _updated(self, arm: int, reward: float) -> Self: ...

    @abstractmethod
    def _conditioned(self, tally: Tally) -> Self: ...

    @abstractmethod
    def _shrunk(self, awaited: list[int]) -> Self: ...


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
        arms = _arms(arms, mean=mean, variance=variance, noise_variance=noise_variance)
        self._prior_mean = self.mean = frozen(checks.per_arm("mean", mean, arms))
        self._prior_variance = self.variance = frozen(checks.per_arm("variance", variance, arms, infinite=True))
        if not (self.variance >= 0).all():  # also refuses NaN
            raise ValueError(
                f"variance must be at least 0 (inf for an arm of which nothing is known), but {variance} came."
            )
        self.noise_variance = frozen(checks.noise(noise_variance, arms))
        self._tally = Tally.empty(arms)

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

    def _same_prior(self, other: Independent) -> bool:
        return (
            np.array_equal(self._prior_mean, other._prior_mean)
            and np.array_equal(self._prior_variance, other._prior_variance)
            and np.array_equal(self.noise_variance, other.noise_variance)
        )

    def _updated(self, arm: int, reward: float) -> Independent:
        return self._at([arm], self._tally.plus([(arm, 1, reward)]))

    def _conditioned(self, tally: Tally) -> Independent:
        return self._at(np.flatnonzero(tally.counts).tolist(), tally)

    def _at(self, arms: list[int], tally: Tally) -> Independent:
        """Return the belief with the posterior of these arms computed from the tally (section 3.1)."""
        mean, variance = self.mean.copy(), self.variance.copy()
        counts = tally.counts[arms]
        averages = np.array([tally.sum_of(arm) for arm in arms]) / counts
        ratio, variance[arms] = self._posterior(arms, counts)
        with np.errstate(divide="ignore", over="ignore"):
            mean[arms] = self._prior_mean[arms] / (1 + 1 / ratio) + averages / (1 + ratio)
        return self._changed(mean=frozen(mean), variance=frozen(variance), _tally=tally, _told=None, _open=())

    def _shrunk(self, awaited: list[int]) -> Independent:
        counts = self.counts + np.bincount([*self._open, *awaited], minlength=self.arms)
        arms = np.unique(awaited).astype(np.int64)
        variance = self.variance.copy()
        _, variance[arms] = self._posterior(arms, counts[arms])
        return self._changed(variance=frozen(variance))

    def _posterior(self, arms: list[int] | Integers, counts: Integers) -> tuple[Array, Array]:
        """Return delta^2 / n and the variance of these arms after n rewards each (section 3.1)."""
        prior, average = self._prior_variance[arms], self.noise_variance[arms] / counts
        # the ratio is infinite for a known arm, 0 for one of which nothing was known: each has a form without inf / inf
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = average / prior
            return ratio, np.where(ratio < 1, average / (1 + ratio), prior / (1 + 1 / ratio))


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
                "give either covariance=matrix, or kernel=... (a callable) and coordinates=..., not both or neither."
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
        z = checks.generator("a belief", rng).standard_normal(self.arms)
        return np.asarray(self.mean + covariance_root(self.covariance) @ z)

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


@final
class Beta(Belief):
    """Independent arms with rewards 0 or 1 (section 2.2), each success probability under a Beta prior.

    >>> belief = Beta(arms=2).observe([0, 0, 1], [1, 1, 0])
    >>> belief.mean.round(4)
    array([0.75  , 0.3333])
    """

    def __init__(self, *, successes: Any = 1.0, failures: Any = 1.0, arms: int | None = None) -> None:
        arms = _arms(arms, successes=successes, failures=failures)
        self._prior_successes = frozen(checks.per_arm("successes", successes, arms))
        self._prior_failures = frozen(checks.per_arm("failures", failures, arms))
        if not ((self._prior_successes > 0).all() and (self._prior_failures > 0).all()):
            raise ValueError("successes and failures of a Beta prior must be above 0; 1 and 1 is the uniform prior.")
        self._set(Tally.empty(arms))

    def credible_limit(self, log_tail: float) -> Array:
        """Return the upper credible limit of each success probability; for tails down to exp(-200)."""
        from scipy.special import betainccinv  # NaN for some of the tails below 1e-99

        tail = math.exp(checks.number("log_tail", log_tail, least=-200, up_to=0))
        return np.asarray(betainccinv(self.successes, self.failures, tail))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all success probabilities."""
        return np.asarray(checks.generator("a belief", rng).beta(self.successes, self.failures))

    def _after(self, tally: Tally) -> Beta:
        new = self._changed()
        new._set(tally)
        return new

    def _set(self, tally: Tally) -> None:
        self._tally = tally
        self.successes = frozen(self._prior_successes + tally.sums)
        self.failures = frozen(self._prior_failures + (tally.counts - tally.sums))
        total = self.successes + self.failures
        self.mean = frozen(self.successes / total)
        self.variance = frozen(self.mean * (self.failures / total) / (total + 1))

    def _same_prior(self, other: Beta) -> bool:
        return np.array_equal(self._prior_successes, other._prior_successes) and np.array_equal(
            self._prior_failures, other._prior_failures
        )

    def _reward(self, reward: Any) -> float:
        r = super()._reward(reward)
        if r not in (0.0, 1.0):
            raise ValueError(f"a Beta belief takes rewards 0 or 1, but {r:g} came.")
        return r

    def observe_all(self, counts: Any, sums: Any) -> Self:
        """Return the belief after further `counts` rewards of each arm, `sums` of them 1."""
        number, total = checks.counts(counts, self.arms), checks.per_arm("sums", sums, self.arms)
        if (total % 1).any() or (total < 0).any() or (total > number).any():
            raise ValueError(
                "sums must be whole numbers from 0 to counts for a Beta belief: they are numbers of successes."
            )
        return super().observe_all(number, total)


def _arms(arms: int | None, **values: Any) -> int:
    """Return the number of arms: the one given, or the length of whichever value has one per arm."""
    if arms is not None:
        return checks.integer("arms", arms, least=1)
    for name, value in values.items():
        array = checks.numbers(name, value)
        if array.ndim:
            return checks.integer(f"the length of {name}", array.size, least=1)
    raise TypeError(f"say how many arms there are: arms=..., or one value per arm in {' or '.join(values)}.")
