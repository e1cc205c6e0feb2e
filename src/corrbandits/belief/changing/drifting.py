"""Mean rewards that drift about what is usual, with a scale that is known or learnt.

    name         shape     meaning                                                                paper
    mu0, S0      (N,)      mean and covariance of the mean rewards at any one time: the prior's   mu_0, Sigma_0
    mu, S        (N,)      the same at the present, after what was seen                           mu(t), Sigma(t)
    phi          ()        exp(-elapsed / scale), the share of a deviation that is left           -

Deviations from mu0 are a stationary Ornstein-Uhlenbeck process: what is believed after a time in which nothing is seen
is mu0 + phi (mu - mu0), and phi^2 S + (1 - phi^2) S0. A reward then changes it as it changes any Gaussian belief. This
is the Kalman filter of the process, exact whatever the times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits.belief.changing.base import ChangingBelief
from corrbandits.belief.changing.mixture import Mixture
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.belief.independent import Independent
from corrbandits.belief.mixed import MixedBelief

Law = Correlated | Independent


@final
@dataclass(frozen=True)
class LearntScale:
    """What was learnt of the scale of a drift: its median, and an interval that it lies in with probability 0.9.

    >>> str(LearntScale(50.0, 20.0, math.inf))
    'scale about 50, between 20 and ∞'
    """

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"scale about {number(self.median, 2)}, between {number(self.low, 2)} and {number(self.high, 2)}"


@final
class Drifting(ChangingBelief, MixedBelief):
    """Mean rewards that drift about a prior: what was seen long ago says little of today.

    `prior`, `Correlated` or `Independent` with finite variances, is what is believed of the mean rewards at any one
    time before anything is seen; their deviations from its mean are a stationary Ornstein-Uhlenbeck process. `scale`
    is the time after which 37 % of a deviation is left, exp(-1); the correlation of a mean reward with itself after a
    time dt is exp(-dt / scale). With scale = inf the means do not change, and the belief is the prior's own.

    A pair `scale=(low, high)` says that it lies between these, or that nothing changes at all: an exact mixture of
    `parts` beliefs, the last with scale inf, the others spread evenly in log scale, each as likely at first as any
    other. `learnt()` says what the rewards made of it.

    >>> prior = Correlated(covariance=[[1.0, 0.8], [0.8, 1.0]], noise_variance=1.0)
    >>> belief = Drifting(prior=prior, scale=50.0).observe(0, 2.0)
    >>> belief.mean, belief.variance
    (array([1. , 0.8]), array([0.5 , 0.68]))
    >>> later = belief.after(26)    # half a scale later: exp(-1/2) of the mean is left, exp(-1) of what is known
    >>> later.mean.round(3), later.variance.round(3)
    (array([0.607, 0.485]), array([0.816, 0.882]))
    """

    def __init__(self, *, prior: Law, scale: Any, parts: int = 9) -> None:
        self._begin(prior, (Correlated, Independent))
        if not np.isfinite(prior.variance).all():
            raise ValueError(
                "prior must have finite variances: means that drift about what is usual need to know what that is, but "
                f"{np.count_nonzero(np.isinf(prior.variance))} of its arms have an infinite one. Give a large one."
            )
        self._parts = checks.integer("parts", parts, least=2, most=1_000)
        self._scale = _checked_scale(scale)
        self.scales = checks.frozen(np.array(_scales(self._scale, self._parts)))
        if self.scales.size > 1:
            each = np.full(self.scales.size, -math.log(self.scales.size))
            self._follow(Mixture([prior] * self.scales.size, each))

    scales: Array
    """The scale, or those of the parts."""

    @property
    def in_real_time(self) -> bool:
        """True: the scale is a time, in a study one in days."""
        return True

    @property
    def weights(self) -> Array:
        """The posterior probability of each scale."""
        return self._now.weights if isinstance(self._now, Mixture) else np.ones(1)

    @property
    def mixed(self) -> bool:
        """True: each scale is a component, if only one."""
        return True

    @property
    def part_locations(self) -> Array:
        """The mean of each arm under each scale, (scales, arms)."""
        return np.array([part.mean for part in self._under_scales()])

    @property
    def part_deviations(self) -> Array:
        """The standard deviation of each arm's mean under each scale."""
        return np.array([part.deviation for part in self._under_scales()])

    @property
    def part_noise(self) -> Array:
        """The noise variance over that of each arm's mean, under each scale."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.noise_variance / np.square(self.part_deviations))

    @property
    def part_lasting(self) -> Array:
        """For how many decisions what is seen tells of an arm, under each scale, at the pace so far; inf if for ever.

        >>> prior = Independent(variance=1.0, noise_variance=1.0, arms=2)
        >>> belief = Drifting(prior=prior, scale=30.0).observe(0, 4.0).after(4).observe(0, 3.0)
        >>> belief.part_lasting          # rewards come every three steps of time
        array([10.])
        """
        return np.asarray(self._log.pace() * self.scales)

    def learnt(self) -> LearntScale:
        """Return what was learnt of the scale.

        >>> prior = Independent(variance=1.0, noise_variance=0.01, arms=1)
        >>> belief = Drifting(prior=prior, scale=(2.0, 2000.0))
        >>> for t, reward in enumerate([0.0, 1.0, 0.2, -1.3, -0.4, 0.9, 1.5, 0.1], start=1):
        ...     belief = belief.after(t).observe(0, reward)
        >>> belief.learnt().median < 20
        True
        """
        if self.scales.size == 1:
            return LearntScale(*3 * self.scales.tolist())
        return LearntScale(*(_quantile(self.scales[:-1], self.weights, share) for share in (0.5, 0.05, 0.95)))

    def log_evidence(self) -> float:
        """Return the log density of what was seen so far, the rewards of each arm at one time as their average."""
        belief, total = self._begun(), 0.0
        for time, entries in self._log.by_time():
            belief = belief._moved(time)._after(entries)
            total += belief._now.log_evidence()
        return total

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior, the scale and the number of parts."""
        return {"prior": self._prior, "scale": self._scale, "parts": self._parts}

    def _change_in_words(self, unit: str) -> str:
        if isinstance(self._scale, tuple):
            low, high = (number(scale, 3) for scale in self._scale)
            return f"drifting, scale between {low} and {f'{high} {unit}'.rstrip()}, or not at all"
        return f"drifting, scale {number(self._scale, 3)} {unit}".rstrip()

    def _under_scales(self) -> list[GaussianBelief]:
        return self._now.beliefs if isinstance(self._now, Mixture) else [self._now]

    def _moved(self, time: float) -> Drifting:
        elapsed, moved = time - self._time, self._changed(_time=time)
        if not elapsed or not len(self._log):
            return moved
        parts: Any = self._under_scales()
        later = [part.relaxed(self._prior, elapsed / scale) for part, scale in zip(parts, self.scales, strict=True)]
        return moved._follow(Mixture(later, self._now.log_weights) if isinstance(self._now, Mixture) else later[0])


def _quantile(scales: Array, weights: Array, share: float) -> float:
    """Return the scale below which this share of the weights lies; a part stands for the scales around its own.

    >>> round(_quantile(np.array([1.0, 100.0]), np.array([0.4, 0.4, 0.2]), 0.4), 9)
    10.0
    """
    logs, reached = np.log(scales), np.concatenate([[0.0], np.cumsum(weights[:-1])])
    edges = np.concatenate([logs[:1], (logs[1:] + logs[:-1]) / 2, logs[-1:]])
    return math.exp(np.interp(share, reached, edges)) if share <= reached[-1] else math.inf


def _checked_scale(scale: Any) -> float | tuple[float, float]:
    if not isinstance(scale, (tuple, list)):
        return checks.positive("scale", scale)
    if len(scale) != 2:
        raise ValueError(f"scale must be one number, or two between which it lies, got {scale!r:.60}.")
    low, high = (checks.number("scale", bound, above=0) for bound in scale)
    if not low < high:
        raise ValueError(f"scale must lie between a lower and a higher number, got {low:g} and {high:g}.")
    return low, high


def _scales(scale: float | tuple[float, float], parts: int) -> list[float]:
    return [*np.geomspace(*scale, parts - 1).tolist(), math.inf] if isinstance(scale, tuple) else [scale]
