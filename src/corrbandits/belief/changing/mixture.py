"""Gaussian beliefs of which one is right: their mixture, with posterior weights.

name      shape   meaning
beliefs   G       the same rewards, seen from G priors
weights   (G,)    the posterior probability of each
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
from corrbandits.belief.vague.quantile import quantile
from corrbandits.likelihood.marginal import one_log_density


@final
class Mixture(GaussianBelief):
    """Several priors, of which one is right: every reward changes how likely each of them is.

    `log_weights` are the logarithms of their probabilities, before any reward. All must have the same noise.

    >>> from corrbandits import Independent
    >>> low, high = (Independent(mean=mean, variance=1.0, noise_variance=1.0, arms=1) for mean in (0.0, 3.0))
    >>> both = Mixture([low, high], np.log([0.5, 0.5]))
    >>> both.mean, both.observe(0, 3.0).weights.round(2)
    (array([1.5]), array([0.1, 0.9]))
    """

    jointly_gaussian = False

    def __init__(self, beliefs: Sequence[GaussianBelief], log_weights: Array) -> None:
        self.noise_variance = beliefs[0].noise_variance
        self._first = tuple(beliefs), log_weights
        self._set(self._first[0], log_weights)

    weights: Array
    """The posterior probability of each belief."""

    log_weights: Array
    """Its logarithm, also where the probability is below the smallest double: a belief may become likely again."""

    @property
    def beliefs(self) -> list[GaussianBelief]:
        """The beliefs, each after all that was seen."""
        return list(self._beliefs)

    def credible_limit(self, log_tail: float) -> Array:
        """Return what each arm's mean is above with probability exp(log_tail), by the mixture."""
        log_tail = checks.number("log_tail", log_tail, up_to=0)
        means, deviations = self._each()
        return quantile(self.weights, means, deviations, math.inf, log_tail)

    def covariance_with(self, arm: int) -> Array:
        """Return one row of the mixture's covariance: the average one, and what the means differ by."""
        k = checks.arm(arm, self.arms)
        apart = self._each()[0] - self.mean
        rows = np.array([belief.covariance_with(k) for belief in self._beliefs])
        row: Array = self.weights @ (rows + apart[:, k, None] * apart)
        row[k] = self.variance[k]
        return row

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2) of the mixture's covariance; 1 for an arm that is independent or known."""
        return spreads(self.covariance_of())

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards, from a belief that is drawn by weight (by one uniform number)."""
        bounds, u = np.cumsum(self.weights), checks.generator("a belief", rng).random()
        return self._beliefs[int((bounds[:-1] <= u * bounds[-1]).sum())].sample(rng)

    def log_evidence(self) -> float:
        """Return the log density of the averages seen so far, under all priors by their weights."""
        _, before = self._first
        evidence = before + np.array([belief.log_evidence() for belief in self._beliefs])
        most = float(evidence.max())
        return most if math.isinf(most) else most + math.log(float(np.exp(evidence - most).sum()))

    def prior_arguments(self) -> dict[str, Any]:
        """Return the priors and their weights."""
        beliefs, log_weights = self._first
        return {"beliefs": list(beliefs), "log_weights": log_weights}

    def _each(self) -> tuple[Array, Array]:
        """Return the means and the deviations of the arms under each belief."""
        means = np.array([belief.mean for belief in self._beliefs])
        return means, np.array([belief.deviation for belief in self._beliefs])

    def _updated(self, arm: int, reward: float) -> Mixture:
        noise = self.noise_variance.item(arm)
        predicted = [
            one_log_density(reward - belief.mean.item(arm), belief.variance.item(arm) + noise)
            for belief in self._beliefs
        ]
        after = tuple(belief._updated(arm, reward) for belief in self._beliefs)
        return self._changed(_told=None, _open=())._set(after, self.log_weights + np.array(predicted))

    def _conditioned(self, tally: Tally) -> Mixture:
        beliefs, before = self._first
        after = tuple(belief._conditioned(tally) for belief in beliefs)
        evidence = np.array([belief.log_evidence() for belief in after])
        return self._changed(_told=None, _open=())._set(after, before + evidence)

    def _shrunk(self, awaited: list[int]) -> Mixture:
        waiting = tuple(belief.assume(awaited) for belief in self._beliefs)
        return self._changed()._set(waiting, self.log_weights)

    def _set(self, beliefs: tuple[GaussianBelief, ...], log_weights: Array) -> Mixture:
        """Complete a belief that is being made; where no belief gave the rewards a density, all are as likely."""
        most = log_weights.max()
        behind = np.zeros(log_weights.size) if most == -math.inf else log_weights - most
        self._beliefs, self._tally = beliefs, beliefs[0]._tally
        self.log_weights = frozen(behind - math.log(float(np.exp(behind).sum())))
        self.weights = frozen(np.exp(self.log_weights))
        means, deviations = self._each()
        self.mean = frozen(self.weights @ means)
        with np.errstate(over="ignore"):
            self.variance = frozen(self.weights @ (np.square(deviations) + np.square(means - self.mean)))
        return self

    def _same_prior(self, other: Mixture) -> bool:
        (mine, my_weights), (yours, your_weights) = self._first, other._first
        pairs = zip(mine, yours, strict=True)
        alike = len(mine) == len(yours) and np.array_equal(my_weights, your_weights)
        return alike and all(type(one) is type(its) and one._same_prior(its) for one, its in pairs)
