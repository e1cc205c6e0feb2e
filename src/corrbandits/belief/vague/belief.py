"""The belief: what is told, and what follows from it."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.tally import Tally
from corrbandits.belief.history import History
from corrbandits.belief.mixed import MixedBelief
from corrbandits.belief.vague.known import Known
from corrbandits.belief.vague.learnt import Learnt, learnt
from corrbandits.belief.vague.mixture import Mixture
from corrbandits.belief.vague.opening import first_look, rewards_needed
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.prior import Prior
from corrbandits.belief.vague.state import State
from corrbandits.kernels import Distance


@final
class Vague(MixedBelief):
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
        prior = Prior.of(
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
        nothing = Tally.empty(prior.parts.arms)
        self._set(nothing, State.of(prior, nothing))

    _state: State
    _deviation: Array

    @property
    def parts(self) -> Parts:
        """The parts of the mixture: kernels, lengths, site shares, noise ratios."""
        return self._state.prior.parts

    @property
    def level(self) -> Known | None:
        """What is known of the mean of all arms."""
        return self._state.prior.level

    @property
    def relative_variance(self) -> Array:
        """The noise variances of the arms, up to a common factor."""
        return self._state.prior.relative_variance

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
        return self._state.mixture is None

    @property
    def still_needed(self) -> int:
        """How many rewards the opening still needs at least; 0 after it."""
        rewards = int(self.counts.sum()) + len(self._open)
        return rewards_needed(self.parts, self.level, rewards) if self.opening else 0

    @property
    def noise_variance(self) -> Array:
        """The expected variance of a reward about its arm's mean; inf while nothing is known of it."""
        if self.opening:
            return np.full(self.arms, np.inf)
        expected = float(self.weights @ self._mixture.noise) * self._mixture.components.inflation
        return self._state.units.squares(expected * self.relative_variance)

    @property
    def deviation(self) -> Array:
        """The standard deviations; their squares may be no doubles."""
        return self._deviation

    @property
    def mixed(self) -> bool:
        """Whether there are components: not in the opening."""
        return not self.opening

    @property
    def weights(self) -> Array:
        """The posterior probability of each component: the parts, in their order, if there are not many arms."""
        return self._state.weights

    @property
    def part_locations(self) -> Array:
        """The mean of each arm under each component, (components, arms)."""
        return self._state.units.rewards(self._mixture.location)

    @property
    def part_scales(self) -> Array:
        """The scale of each arm's Student t, or its deviation, under each component."""
        return np.asarray(self._state.units.unit * self._mixture.scale)

    @property
    def part_deviations(self) -> Array:
        """The standard deviation of each arm's mean under each component."""
        return np.asarray(self.part_scales * math.sqrt(self._mixture.components.inflation))

    @property
    def part_noise(self) -> Array:
        """The noise variance over that of each arm's mean, under each component: how many rewards it is worth."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._mixture.noise[:, None] * self.relative_variance / np.square(self._mixture.scale))

    @property
    def part_freedom(self) -> float:
        """The degrees of freedom of the components: inf where they are normal."""
        return self._mixture.components.freedom

    def credible_limit(self, log_tail: float) -> Array:
        """Return what each arm's mean is above with probability exp(log_tail), by the mixture; inf in the opening.

        >>> belief = Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0)
        >>> belief.credible_limit(np.log(0.025)).round(2)
        array([1.96, 1.96])
        """
        log_tail = checks.number("log_tail", log_tail, up_to=0)
        if self.opening:
            return np.full(self.arms, np.inf)
        return self._state.units.rewards(self._mixture.limit(log_tail))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards: a part by its weight, its scale and mean, and the arms given these."""
        return self.draws(rng, 1)[:, 0]

    def draws(self, rng: np.random.Generator, number: int, arms: Integers | None = None) -> Array:
        """Return so many draws of mean rewards, one per column: of all arms, or of some, each of them once.

        Each part that occurs costs O(N^3) once, where N is how many arms are drawn.

        >>> belief = Vague(arms=3, mean=0.0, sd=1.0, noise_sd=1.0)
        >>> round(float(belief.draws(np.random.default_rng(0), 1000).std()), 1)
        1.0
        """
        generator = checks.generator("a belief", rng)
        if self.opening:
            raise ValueError(
                "a draw needs a proper belief, but too few rewards have come, or all are equal: there is no scale yet. "
                "Observe some arms first."
            )
        return self._state.units.rewards(self._mixture.draws(generator, number, arms))

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's; inf in the opening."""
        k = checks.arm(arm, self.arms)
        if self.opening:
            return np.full(self.arms, np.inf)
        return self._state.units.squares(self._mixture.covariance_with(k))

    def rivals(self, leader: int) -> tuple[Array, Array]:
        """Return the probability that each arm is better than the leader, and by how much it is on average; exactly.

        In the opening neither is known: nan.

        >>> tail, excess = Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0).rivals(0)
        >>> tail, excess.round(4)
        (array([0. , 0.5]), array([0.    , 0.5642]))
        """
        k = checks.arm(leader, self.arms)
        if self.opening:
            return np.full(self.arms, np.nan), np.full(self.arms, np.nan)
        tail, excess = self._mixture.rivals(k)
        return tail, np.asarray(self._state.units.unit * excess)

    def chances(self, level: float) -> Array:
        """Return the probability that each arm's mean reward is above a level; nan in the opening.

        >>> Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0).chances(0.0)
        array([0.5, 0.5])
        """
        if self.opening:
            return np.full(self.arms, np.nan)
        return self._mixture.chances((level - self._state.units.offset) / self._state.units.unit)

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
        return first_look(self.parts, self.weights, tried, candidates)

    def prior_arguments(self) -> dict[str, Any]:
        """Return what was told."""
        return self._state.prior.arguments()

    def replay(self, history: History) -> Vague:
        """Return the belief after a history of rewards: their counts, sums and sums of squares."""
        return self._seen()._conditioned(self._tally.merged(history.tally))

    def mirrored(self) -> Vague:
        """Return the belief on rewards turned round, -r."""
        turned = self._tally.mirrored(0.0)
        image = self._changed(_open=(), _told=None)._set(turned, State.of(self._state.prior.mirrored(), turned))
        return image.assume(self.awaited) if self.awaited else image

    def in_words(self) -> str:
        """Return what was told, and that the rest is learnt."""
        return self._state.prior.in_words()

    def _same_prior(self, other: Vague) -> bool:
        return self._state.prior.same_as(other._state.prior)

    def _conditioned(self, tally: Tally) -> Vague:
        return self._changed(_open=(), _told=None)._set(tally, State.of(self._state.prior, tally))

    def _updated(self, arm: int, reward: float) -> Vague:
        state = self._state.after(arm, reward, int(np.count_nonzero(self.counts)))
        tally = self._tally.seen(arm, reward)
        return self._conditioned(tally) if state is None else self._changed(_open=(), _told=None)._set(tally, state)

    def _shrunk(self, awaited: list[int]) -> Vague:
        return self._changed()._set(self._tally, self._state.awaiting(awaited))

    def _set(self, tally: Tally, state: State) -> Vague:
        """Complete a belief that is being made, with its moments in the units of the rewards."""
        self._tally, self._state, units, mixture = tally, state, state.units, state.mixture
        if mixture is None:
            self.mean = frozen(np.full(self.arms, units.offset))
            self.variance = self._deviation = frozen(np.full(self.arms, np.inf))
            return self
        variance = mixture.variance
        self.mean, self.variance = frozen(units.rewards(mixture.mean)), frozen(units.squares(variance))
        self._deviation = frozen(units.unit * np.sqrt(variance))
        return self

    @property
    def _mixture(self) -> Mixture:
        assert self._state.mixture is not None, "there are no components in the opening"
        return self._state.mixture
