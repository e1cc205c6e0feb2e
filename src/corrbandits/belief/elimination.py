"""Several priors side by side, each live while the rewards do not speak against it.

name      shape   meaning
beliefs   M       the same rewards, seen from M priors
evidence  (M,)    log evidence of each (see `evidence`), less the best's
weights   (M,)    share of each live belief in the mixture, in proportion to exp(evidence)
delta     ()      a belief is live while its evidence is at least -log(M / delta)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits._core.covariances import spreads
from corrbandits._core.tally import Tally
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.likelihood.marginal import one_log_density


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

    >>> from corrbandits import Correlated, Exponential
    >>> where = range(20)
    >>> priors = [Correlated(kernel=Exponential(l), coordinates=where, noise_variance=0.1) for l in (1.0, 99.0)]
    >>> belief = Elimination(priors).observe(range(20), [3.0, -3.0] * 10)
    >>> belief.live, belief.weights
    ((0,), array([1., 0.]))
    """

    jointly_gaussian = False

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
        predicted = [
            one_log_density(reward - belief.mean.item(arm), belief.variance.item(arm) + noise)
            for belief in self._beliefs
        ]
        after = tuple(belief._updated(arm, reward) for belief in self._beliefs)
        return self._changed(_told=None, _open=())._set(after, self._evidence + np.array(predicted))

    def _conditioned(self, tally: Tally) -> Elimination:
        after = tuple(belief._conditioned(tally) for belief in self._beliefs)
        evidence = np.array([belief.log_evidence() for belief in after])
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

    def _mirrored_arguments(self) -> dict[str, Any]:
        given = self.prior_arguments()
        return given | {"beliefs": [belief.mirrored() for belief in given["beliefs"]]}

    def in_words(self, unit: str = "") -> str:
        """Return how many beliefs there are, and what the first of them says."""
        return f"{type(self).__name__} of {len(self._beliefs)} beliefs, the first: {self._beliefs[0].in_words(unit)}"

    def _same_prior(self, other: Elimination) -> bool:
        if self._delta != other._delta or len(self._beliefs) != len(other._beliefs):
            return False
        pairs = zip(self._beliefs, other._beliefs, strict=True)
        return all(type(one) is type(its) and one._same_prior(its) for one, its in pairs)


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
        raise ValueError("Elimination needs at least one belief, got none.")
    for belief in given:
        if not isinstance(belief, GaussianBelief):
            raise TypeError(f"Elimination needs Gaussian beliefs, got a {type(belief).__name__}.")
        if belief.changes:
            raise TypeError(f"Elimination is for means that do not change with time, got a {type(belief).__name__}.")
        if belief.counts.any() or belief.awaited:
            raise ValueError("Elimination takes priors, which have seen nothing; tell it the rewards instead.")
        if belief.arms != given[0].arms:
            raise ValueError(
                f"all beliefs of an Elimination must have the same arms, but one has {given[0].arms} and another "
                f"{belief.arms}."
            )
        _refuse_other_noise(given[0].noise_variance, belief.noise_variance)
        belief.log_evidence()  # refuses one whose evidence is not known, and an infinite variance
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
