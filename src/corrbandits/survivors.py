"""Beliefs that survive a bad prior: several priors side by side, or one whose length and variance follow the data.

    name      shape   meaning
    beliefs   M       the same rewards, seen from M priors
    evidence  (M,)    log evidence of each (see `evidence`), less the best's
    weights   (M,)    share of each live belief in the mixture, in proportion to exp(evidence)
    delta     ()      a belief is live while its evidence is at least -log(M / delta)

Both are beliefs: policies, `simulate`, `assume`, `merge` and pickling take them as they take any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from corrbandits import checks
from corrbandits.belief import Correlated, GaussianBelief, Implicit, Independent
from corrbandits.checks import Array, frozen
from corrbandits.evidence import log_evidence
from corrbandits.fitting import passes_a_power, suited
from corrbandits.gaussian import spreads
from corrbandits.kernels import Kernel
from corrbandits.likelihood import Averages, one_log_density, seen, split
from corrbandits.tally import Tally


@final
class Elimination(GaussianBelief):
    """Prior elimination: several priors side by side, each live while the rewards do not speak against it.

    All see every reward. One is live while its log evidence is at least the best's minus log(M / delta): if one of
    them is right, it is live at all times with probability 1 - delta or more (Ville's inequality). The best is always
    live, and one that was given up may come back: counts and sums decide, not their order.

    Limits are those of the most hopeful live belief, arm by arm (`limit`, `credible_limit`, `spread_limit`): the mean
    reward is above a credible limit with at most the probability asked for, and a policy that takes the largest
    limit tries what any live prior hopes for. Where one number is wanted for what is believed (`mean`, `variance`,
    `covariance_with`, `spread`, `sample`), it is that of the mixture of live beliefs, weighted by their evidence.
    `Greedy` takes the largest limit of width 0, the most hopeful live mean; `EpsilonGreedy` the mixture's.

    >>> from corrbandits import Exponential
    >>> where = range(20)
    >>> priors = [Correlated(kernel=Exponential(l), coordinates=where, noise_variance=0.1) for l in (1.0, 99.0)]
    >>> belief = Elimination(priors).observe(range(20), [3.0, -3.0] * 10)
    >>> belief.live, belief.weights
    ((0,), array([1., 0.]))
    """

    def __init__(self, beliefs: Sequence[GaussianBelief], delta: float = 0.05) -> None:
        self._delta = checks.number("delta", delta, above=0, up_to=1)
        given = _side_by_side(beliefs)
        self.noise_variance = given[0].noise_variance
        self._set(given, np.zeros(len(given)))

    @property
    def beliefs(self) -> tuple[GaussianBelief, ...]:
        """The beliefs, live or not, each after all that was seen."""
        return self._beliefs

    @property
    def live(self) -> tuple[int, ...]:
        """Which of the beliefs are live."""
        return self._live

    weights: Array
    """The share of each belief in the mixture; 0 for one that is not live."""

    def limit(self, width: float | Array) -> Array:
        """Return the largest of the live beliefs' limits of this width, arm by arm."""
        return _largest([belief.limit(width) for belief in self._alive()])

    def spread_limit(self, width: float) -> Array:
        """Return the largest of the live beliefs' printed indices, arm by arm."""
        return _largest([belief.spread_limit(width) for belief in self._alive()])

    def covariance_with(self, arm: int) -> Array:
        """Return one row of the mixture's covariance: the average one, and what the means differ by."""
        k = checks.arm(arm, self.arms)
        row = np.zeros(self.arms)
        for weight, belief in zip(self.weights[list(self._live)].tolist(), self._alive(), strict=True):
            apart = belief.mean - self.mean
            row += weight * (belief.covariance_with(k) + apart * apart[k])
        row[k] = self.variance[k]
        return row

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2) of the mixture's covariance; 1 for an arm that is independent or known."""
        if len(self._live) == 1:
            return self._alive()[0].spread()
        return spreads(np.array([self.covariance_with(arm) for arm in range(self.arms)]))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards, from a live belief that is drawn by weight (by one uniform number)."""
        if len(self._live) == 1:
            return self._alive()[0].sample(rng)
        bounds, u = np.cumsum(self.weights[list(self._live)]), checks.generator("a belief", rng).random()
        return self._alive()[int((bounds[:-1] <= u).sum())].sample(rng)

    def _alive(self) -> list[GaussianBelief]:
        return [self._beliefs[m] for m in self._live]

    def _updated(self, arm: int, reward: float) -> Elimination:
        """Return the belief after one reward: each one's evidence grows by the log density it gave the reward."""
        noise = self.noise_variance.item(arm)
        foretold = [
            one_log_density(reward - belief.mean.item(arm), belief.variance.item(arm) + noise)
            for belief in self._beliefs
        ]
        after = tuple(belief._updated(arm, reward) for belief in self._beliefs)
        return self._changed(_told=None, _open=())._set(after, self._evidence + np.array(foretold))

    def _conditioned(self, tally: Tally) -> Elimination:
        after = tuple(belief._conditioned(tally) for belief in self._beliefs)
        evidence = np.array([log_evidence(belief) for belief in after])
        return self._changed(_told=None, _open=())._set(after, evidence)

    def _shrunk(self, awaited: list[int]) -> Elimination:
        """Return the belief with each one's variance as if the rewards had come; evidence and mean are as they were."""
        waiting = tuple(belief.assume(np.array(awaited, dtype=np.int64)) for belief in self._beliefs)
        return self._changed()._set(waiting, self._evidence)

    def _set(self, beliefs: tuple[GaussianBelief, ...], evidence: Array) -> Elimination:
        """Complete a belief that is being made."""
        self._beliefs, self._tally = beliefs, beliefs[0]._tally
        behind = _behind(evidence)
        alive = behind >= -math.log(len(beliefs) / self._delta)
        self._live = tuple(np.flatnonzero(alive).tolist())
        self._evidence = frozen(behind)
        weights = np.where(alive, np.exp(behind), 0.0)
        self.weights = frozen(weights / weights.sum())
        if len(self._live) == 1:
            self.mean, self.variance = beliefs[self._live[0]].mean, beliefs[self._live[0]].variance
            return self
        self.mean, self.variance = map(frozen, _moments(self.weights[alive], self._alive()))
        return self

    def prior_arguments(self) -> dict[str, Any]:
        """Return the priors side by side, and delta."""
        return {"beliefs": [type(b)(**b.prior_arguments()) for b in self._beliefs], "delta": self._delta}

    def _same_prior(self, other: Elimination) -> bool:
        if self._delta != other._delta or len(self._beliefs) != len(other._beliefs):
            return False
        pairs = zip(self._beliefs, other._beliefs, strict=True)
        return all(type(one) is type(its) and one._same_prior(its) for one, its in pairs)


@final
class Refitting(GaussianBelief):
    """Arms as in `Correlated`, whose length and variance follow the data: empirical Bayes.

    It begins as `Correlated` with the kernel given, `variance * Exponential(length)` or any other of one length, or one
    per dimension. When the number of rewards passes the next power of 1.3, length and variance are fitted to all
    rewards so far, and the belief is computed afresh from the new prior; mean and noise stay. In between the kernel in
    force is conditioned on what comes, at the cost of `Correlated`. So variances may grow, at a refit.

    A refit climbs the marginal likelihood from the prior's length and variance, each within a factor of 100 of them,
    with no pull back to them. It is a function of counts and sums alone, and so is what follows many rewards at once
    (`observe_all`, `merge`), a refit unless there is but one: neither their order matters nor how they are split. One
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


def _behind(evidence: Array) -> Array:
    """Return how far each log evidence lies behind the best; 0 for all if none is known."""
    best = evidence.max()
    return np.zeros(evidence.size) if best == -math.inf else np.asarray(evidence - best)


def _moments(weights: Array, beliefs: list[GaussianBelief]) -> tuple[Array, Array]:
    """Return mean and variance of a mixture."""
    means, variances = np.array([[belief.mean, belief.variance] for belief in beliefs]).swapaxes(0, 1)
    mean = weights @ means
    with np.errstate(over="ignore", invalid="ignore"):
        variance = weights @ (variances + np.square(means - mean))
    if not np.isfinite(variance).all():
        raise OverflowError(
            "the live beliefs' means lie so far apart that no double holds their variance; measure "
            "rewards in a larger unit."
        )
    return mean, variance


def _largest(limits: list[Array]) -> Array:
    return limits[0] if len(limits) == 1 else np.asarray(np.maximum.reduce(limits))


def _side_by_side(beliefs: Any) -> tuple[GaussianBelief, ...]:
    """Return the beliefs; refuse those that cannot stand side by side."""
    given = tuple(beliefs)
    if not given:
        raise ValueError("Elimination needs at least one belief, but none came.")
    for belief in given:
        if not isinstance(belief, (Independent, Correlated, Implicit)):
            raise TypeError(
                "Elimination takes Independent, Correlated and Implicit beliefs, whose evidence is known, but a "
                f"{type(belief).__name__} came."
            )
        if belief.counts.any() or belief.awaited:
            raise ValueError("Elimination takes priors, which have seen nothing; tell it the rewards instead.")
        if belief.arms != given[0].arms:
            raise ValueError(
                f"all beliefs of an Elimination must have the same arms, but one has {given[0].arms} and another "
                f"{belief.arms}."
            )
        _refuse_other_noise(given[0].noise_variance, belief.noise_variance)
        log_evidence(belief)  # refuses an infinite variance
    return given


def _refuse_other_noise(first: Array, other: Array) -> None:
    """Refuse noise that differs: evidences under different noise do not compare priors alone."""
    differ = np.flatnonzero(first != other)
    if differ.size:
        k = int(differ[0])
        raise ValueError(
            "all beliefs of an Elimination must have the same noise_variance, but that of arm "
            f"{k} is {first[k]:g} in one and {other[k]:g} in another. Give all the same; a fitted prior takes it as "
            f"fit.prior(coordinates, noise_variance={first[k]:g})."
        )
