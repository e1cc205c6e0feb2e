"""The belief: what is told, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.draws import covariance_root
from corrbandits._core.tally import Tally
from corrbandits.belief.base import Belief
from corrbandits.belief.history import History
from corrbandits.belief.vague.budget import much, worth_keeping
from corrbandits.belief.vague.evidence import Evidence, conditioned
from corrbandits.belief.vague.factors import Factors, factors
from corrbandits.belief.vague.known import Known
from corrbandits.belief.vague.learnt import Learnt, learnt
from corrbandits.belief.vague.mixture import Components, components, freedom
from corrbandits.belief.vague.opening import farthest, first_of
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.prior import Prior
from corrbandits.belief.vague.quantile import quantile
from corrbandits.belief.vague.standard import Standard
from corrbandits.kernels import Distance

FEW = 8
"""The first rewards are conditioned on afresh, one after the other: their units are not settled yet."""


@final
class Vague(Belief):
    """Arms whose common mean, variation, noise and relation need not be known: what is told is used, the rest learnt.

    `mean` is the mean of all arms, `sd` the deviation of their mean rewards about it, `noise_sd` that of a reward
    about its arm's mean, `length` how far correlation reaches, and `site` the share of variance that belongs to single
    arms, of which neighbours tell nothing. Each is a number if it is known, a pair if it lies between them with
    probability 0.9 (normally distributed for the mean, log-normally otherwise; `site` evenly), or left out.

    It is an exact mixture of `parts` beliefs with posterior weights. Under each the mean and the scale that are left
    out are integrated out in closed form, under the reference prior 1 / scale: a part is a Student t. So rewards may
    be in any unit: shifting and scaling them shifts and scales all that is said of them. Before so many rewards have
    come that means and variances exist (four that are not all equal, if nothing is told) all variances are infinite,
    and rules try arms that lie far from each other.

    Distances are those of a map, unless `per_coordinate` says that each coordinate has a length of its own, because
    units differ or correlation reaches farther along one than along another. Then `length` may have an entry, a
    number, a pair or None, for each coordinate; lengths that are left out follow from the extents.

    `history` are rewards of earlier seasons at the same arms, [(arms, rewards), ...]. Each season has a mean of its
    own, and how much they are alike otherwise is learnt. The first arm tried is then the one that did best.

    `fields` are measurements elsewhere, [(coordinates, rewards), ...], with a row per reward. Each field has a mean and
    a scale of its own: it lends what it says of kernel, length, site share and noise, and nothing of these arms.

    Without `coordinates`, `arms` says how many there are, and none says anything of another but for the common mean
    and scale. `relative_noise` is for noises that are known to differ: deviations up to a common factor, one per arm.
    The belief depends on how many rewards each arm gave, their exact sums and sums of squares alone: order does not
    matter. Where so many arms and rewards are there that all parts would take more than a second, the lightest are
    left out; at least eight are kept.

    >>> prior = Vague(coordinates=range(10))
    >>> belief = prior.observe([5, 0, 9, 2, 7], [31.0, 25.0, 27.0, 29.0, 30.0])
    >>> belief.mean.round(1)
    array([26.8, 27.9, 28.6, 28.7, 29. , 29.6, 29.1, 29.2, 28.5, 27.8])
    >>> higher = prior.observe([5, 0, 9, 2, 7], [331.0, 325.0, 327.0, 329.0, 330.0])
    >>> bool(np.allclose(higher.mean, 300 + belief.mean))
    True
    """

    def __init__(
        self,
        *,
        coordinates: Any = None,
        mean: Any = None,
        sd: Any = None,
        length: Any = None,
        noise_sd: Any = None,
        kernel: Any = None,
        site: Any = None,
        relative_noise: Any = 1.0,
        distance: Distance = "euclidean",
        per_coordinate: bool = False,
        history: Any = None,
        fields: Any = None,
        parts: int = 48,
        arms: int | None = None,
    ) -> None:
        self._prior = Prior.of(
            coordinates=coordinates,
            mean=mean,
            sd=sd,
            length=length,
            noise_sd=noise_sd,
            kernel=kernel,
            site=site,
            relative_noise=relative_noise,
            distance=distance,
            per_coordinate=per_coordinate,
            history=history,
            fields=fields,
            parts=parts,
            arms=arms,
        )
        self.parts, self.level = self._prior.parts, self._prior.level
        self.relative_variance = self._prior.relative_variance
        self._condition(Tally.empty(self.arms))

    parts: Parts
    """The parts of the mixture: kernels, lengths, site shares, noise ratios."""

    level: Known | None
    """What is known of the mean of all arms."""

    relative_variance: Array
    """The noise variances of the arms, up to a common factor."""

    _mixture: Components | None
    _factors: Factors
    _ones: Array
    _weights: Array
    _location: Array
    _scale: Array
    _deviation: Array

    @property
    def arms(self) -> int:
        """The number of arms, N."""
        return self.parts.arms

    @property
    def coordinates(self) -> Array | None:
        """Where the arms lie."""
        return self.parts.points

    @property
    def opening(self) -> bool:
        """Whether so few rewards have come, or all so equal, that there are no means and variances yet."""
        return self._mixture is None

    @property
    def still_needed(self) -> int:
        """How many rewards the opening still needs at least; 0 after it."""
        if self._mixture is not None:
            return 0
        free = bool(np.isnan(self.parts.scales).any())
        wanting = 1 if not free else 4 if self.level is None or self.level.deviation else 3
        known = 0 if self.parts.past is None else self.parts.past.degrees
        return max(wanting - known - int(self.counts.sum()) - len(self._open), 1)

    @property
    def noise_variance(self) -> Array:
        """The expected variance of a reward about its arm's mean; inf while nothing is known of it."""
        if self._mixture is None:
            return np.full(self.arms, np.inf)
        spread = self._mixture.tau_squared * self.parts.ratios[self._factors.kept][self._mixture.part]
        return self._in_squares(float(self._weights @ spread) * self._inflation * self.relative_variance)

    @property
    def deviation(self) -> Array:
        """The standard deviations; their squares may be no doubles."""
        return np.sqrt(self.variance) if self._mixture is None else np.asarray(self._unit * self._deviation)

    @property
    def weights(self) -> Array:
        """The posterior probability of each component: the parts, in their order, if there are not many arms."""
        return self._weights

    @property
    def part_locations(self) -> Array:
        """The mean of each arm under each component, (components, arms)."""
        return np.asarray(self._offset + self._unit * self._location)

    @property
    def part_scales(self) -> Array:
        """The scale of each arm's Student t, or its deviation, under each component."""
        return np.asarray(self._unit * self._scale)

    @property
    def part_deviations(self) -> Array:
        """The standard deviation of each arm's mean under each component."""
        return np.asarray(self.part_scales * math.sqrt(self._inflation))

    @property
    def part_noise(self) -> Array:
        """The noise variance over that of each arm's mean, under each component: how many rewards it is worth."""
        assert self._mixture is not None, "there are no variances in the opening"
        noise = self._mixture.tau_squared * self.parts.ratios[self._factors.kept][self._mixture.part]
        with np.errstate(divide="ignore"):
            return np.asarray(noise[:, None] * self.relative_variance / np.square(self._scale))

    @property
    def part_freedom(self) -> float:
        """The degrees of freedom of the components: inf where they are normal."""
        assert self._mixture is not None, "there are no components in the opening"
        return self._mixture.freedom

    def credible_limit(self, log_tail: float) -> Array:
        """Return what each arm's mean is above with probability exp(log_tail), by the mixture; inf in the opening.

        >>> belief = Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0)
        >>> belief.credible_limit(np.log(0.025)).round(2)
        array([1.96, 1.96])
        """
        log_tail = checks.number("log_tail", log_tail, up_to=0)
        if self._mixture is None:
            return np.full(self.arms, np.inf)
        z = quantile(self._weights, self._location, self._scale, self._mixture.freedom, log_tail)
        return np.asarray(self._offset + z * self._unit)

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards: a part by its weight, its scale and mean, and the arms given these."""
        return self.draws(rng, 1)[:, 0]

    def draws(self, rng: np.random.Generator, number: int) -> Array:
        """Return so many draws of all mean rewards, one per column; each part that occurs costs O(N^3) once.

        >>> belief = Vague(arms=3, mean=0.0, sd=1.0, noise_sd=1.0)
        >>> round(float(belief.draws(np.random.default_rng(0), 1000).std()), 1)
        1.0
        """
        generator = checks.generator("a belief", rng)
        if self._mixture is None:
            raise ValueError(
                "a draw needs a proper belief, but too few rewards have come, or all are equal: there is no scale yet. "
                "Observe some arms first."
            )
        mixture, reached = self._mixture, np.cumsum(self._weights)
        chosen = np.searchsorted(reached, generator.random(number) * reached[-1], side="right")
        tau = np.sqrt(mixture.tau_squared[chosen])
        if math.isfinite(mixture.freedom):
            tau = tau * np.sqrt(mixture.freedom / generator.chisquare(mixture.freedom, number))
        normals, drawn = generator.standard_normal((self.arms, number)), np.empty((self.arms, number))
        for one in np.unique(chosen):
            here, part = np.flatnonzero(chosen == one), mixture.part.item(one)
            share = self._factors.share[part]
            covariance = self._factors.covariance(self.parts, part)
            covariance += mixture.beta_variance.item(one) * np.outer(share, share)
            spread = covariance_root(covariance) @ normals[:, here]
            drawn[:, here] = self._location[one][:, None] + tau[here] * spread
        return np.asarray(self._offset + self._unit * drawn)

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's; inf in the opening."""
        k = checks.arm(arm, self.arms)
        if self._mixture is None:
            return np.full(self.arms, np.inf)
        part, share = self._mixture.part, self._factors.share
        rows = self._factors.row(self.parts, k)[part]
        rows = rows + (self._mixture.beta_variance * share[part, k])[:, None] * share[part]
        rows *= (self._mixture.tau_squared * self._inflation)[:, None]
        centred = self._location - self._weights @ self._location
        return self._in_squares(self._weights @ (rows + centred[:, k][:, None] * centred))

    def chances(self, level: float) -> Array:
        """Return the probability that each arm's mean reward is above a level; nan in the opening.

        >>> Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0).chances(0.0)
        array([0.5, 0.5])
        """
        if self._mixture is None:
            return np.full(self.arms, np.nan)
        from scipy.special import ndtr, stdtr

        z = (self._location - (level - self._offset) / self._unit) / np.where(self._scale > 0, self._scale, 1e-300)
        free = self._mixture.freedom
        return np.asarray(self._weights @ (ndtr(z) if math.isinf(free) else stdtr(free, z)))

    def learnt(self) -> Learnt:
        """Return what was learnt of mean, variation, noise, lengths and site effects, in the units of the rewards.

        >>> arms = np.tile(np.arange(30), 3)
        >>> rewards = np.sin(arms / 5) + 0.3 * np.random.default_rng(2).standard_normal(90)
        >>> told = Vague(coordinates=range(30)).observe(arms, rewards).learnt()
        >>> told.noise_sd.low < 0.3 < told.noise_sd.high, told.neighbours.low > 0.8
        (True, True)
        """
        return learnt(self)

    def least_known(self, candidates: Integers) -> int:
        """Return which of these arms to try where nothing is known: in the opening the farthest from what was tried."""
        if not self.opening:
            return super().least_known(candidates)
        tried = self.counts + np.bincount(np.array(self.awaited, dtype=np.int64), minlength=self.arms)
        if self.parts.past is not None and not tried.any():
            return first_of(self.parts.points, self._weights @ self.parts.past.expected, candidates)
        return farthest(None if self.parts.points is None else self.parts.places(), tried, candidates)

    def prior_arguments(self) -> dict[str, Any]:
        """Return what was told."""
        return self._prior.arguments()

    def replay(self, history: History) -> Vague:
        """Return the belief after a history of rewards: their counts, sums and sums of squares."""
        return self._seen()._conditioned(self._tally.merged(history.tally))

    def mirrored(self) -> Vague:
        """Return the belief on rewards turned round, -r."""
        image = type(self)(**self._mirrored_arguments())._conditioned(self._tally.mirrored(0.0))
        return image.assume(self.awaited) if self.awaited else image

    def _mirrored_arguments(self) -> dict[str, Any]:
        return self._prior.mirrored_arguments()

    def in_words(self) -> str:
        """Return what was told, and that the rest is learnt."""
        return self._prior.in_words()

    def _same_prior(self, other: Vague) -> bool:
        return self._prior.same_as(other._prior)

    def _conditioned(self, tally: Tally) -> Vague:
        new = self._changed(_open=(), _told=None)
        new._condition(tally)
        return new

    def _updated(self, arm: int, reward: float) -> Vague:
        tally = self._tally.seen(arm, reward)
        now, k = self._evidence, int(np.count_nonzero(self.counts))
        z = self._seen_in_units.of_reward(reward)
        settled = now.number >= FEW and self._mixture is not None and abs(z) < 1e3
        if not settled or much(self.parts, k) or self._factors.zeta.shape[1] > 2 * k + 16:
            return self._conditioned(tally)
        row, noise = self._factors.row(self.parts, arm), self.parts.ratios * self.relative_variance[arm]
        more, variance = self._factors.after(row, arm, noise, np.full(len(self.parts), z))
        last, one = more.zeta[:, -1], more.o[:, -1]
        evidence = Evidence(
            number=now.number + 1,
            log_determinant=now.log_determinant + np.log(variance),
            ones=now.ones + one * one,
            crossed=now.crossed + one * last,
            squares=now.squares + last * last,
        )
        new = self._changed(_open=(), _told=None, _tally=tally, _evidence=evidence)
        new._mix(components(evidence, self.parts.scales, self.level, self._offset, self._unit), more)
        return new

    def _shrunk(self, awaited: list[int]) -> Vague:
        new = self._changed()
        if self._mixture is None:
            return new
        mixture, now, precision = self._mixture, self._factors, self._ones
        for arm in awaited:
            noise = self.parts.ratios[now.kept] * self.relative_variance[arm]
            now, _ = now.after(now.row(self.parts, arm), arm, noise, now.response[:, arm])
            precision = precision + np.square(now.o[:, -1])
        gained = (precision - self._ones)[mixture.part]
        variance = mixture.beta_variance / (1 + mixture.beta_variance * gained)
        new._mix(replace(mixture, beta_variance=variance), now, location=self._location, weights=self._weights)
        new._ones = precision
        return new

    def _condition(self, tally: Tally) -> None:
        """Set all that follows from a tally."""
        seen, past = Standard.of(tally, self.relative_variance), self.parts.past
        seen = seen if past is None else seen.in_units_of(past.exponent)
        self._tally, self._seen_in_units = tally, seen
        self._offset, self._unit = seen.offset, math.ldexp(1.0, seen.exponent)
        evidence, roots, solved = conditioned(self.parts, seen, self.relative_variance)
        self._evidence = evidence
        free = bool(np.isnan(self.parts.scales).any())
        degrees = freedom(evidence.number, self.level, free=free)
        if degrees <= 2 or (self.level is None and not seen.number) or (free and self._without_scale(seen)):
            self._mixture = None
            self._weights = self._weights_of_past(evidence)
            self.mean = frozen(np.full(self.arms, seen.offset))
            self.variance = frozen(np.full(self.arms, np.inf))
            return
        mixture = components(evidence, self.parts.scales, self.level, self._offset, self._unit)
        weights = np.zeros(len(self.parts))
        np.add.at(weights, mixture.part, mixture.weights())
        kept = worth_keeping(self.parts, weights, seen.arms.size)
        if kept.size < len(self.parts):
            mixture = mixture.kept(np.flatnonzero(np.isin(mixture.part, kept)), kept)
        self._mix(mixture, factors(self.parts, seen, kept, roots, solved))

    def _weights_of_past(self, evidence: Evidence) -> Array:
        """Return the weights of the parts in the opening: what earlier seasons and other fields say of them."""
        if self.parts.past is None or not self.parts.past.squares.any() or self.counts.any():
            likely = np.exp(self.parts.log_prior - self.parts.log_prior.max())
            return np.asarray(likely / likely.sum())
        alone = replace(evidence, number=evidence.number + 1)  # no mean of this season takes one away
        return components(alone, self.parts.scales, None, self._offset, self._unit).weights()

    def _without_scale(self, seen: Standard) -> bool:
        """Return whether the rewards say nothing of a scale: no two differ, nor from a mean that is known."""
        if self.level is not None and not self.level.deviation and seen.offset != self.level.centre:
            return False
        return seen.all_equal and (self.parts.past is None or not self.parts.past.squares.any())

    def _mix(
        self, mixture: Components, now: Factors, *, location: Array | None = None, weights: Array | None = None
    ) -> None:
        """Set moments and all that is asked of a mixture."""
        self._mixture, self._factors = mixture, now
        part, share = mixture.part, now.share
        self._ones = self._evidence.ones[now.kept] if weights is None else self._ones
        self._weights = mixture.weights() if weights is None else weights
        self._inflation = 1.0 if math.isinf(mixture.freedom) else mixture.freedom / (mixture.freedom - 2)
        self._location = now.response[part] + mixture.beta[:, None] * share[part] if location is None else location
        variances = now.left[part] + mixture.beta_variance[:, None] * np.square(share[part])
        self._scale = np.sqrt(mixture.tau_squared[:, None] * variances)
        mean = self._weights @ self._location
        apart = self._weights @ np.square(self._location - mean)
        variance = self._weights @ np.square(self._scale) * self._inflation + apart
        self._deviation = np.sqrt(variance)
        self.variance = frozen(self._in_squares(variance))
        with np.errstate(over="ignore"):
            self.mean = frozen(self._offset + self._unit * mean)

    def _in_squares(self, values: Array) -> Array:
        """Return variances or covariances in squares of the unit of rewards; beyond the doubles the largest double."""
        most = np.finfo(float).max
        with np.errstate(over="ignore"):
            return np.clip(values * self._unit * self._unit, -most, most)
