"""What a belief that is told little answers, in the units of the rewards; infinite or nan in the opening."""

from __future__ import annotations

import math

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief.log import Log
from corrbandits.belief.mixed import MixedBelief
from corrbandits.belief.vague.known import Known
from corrbandits.belief.vague.mixture import Mixture
from corrbandits.belief.vague.opening import far_enough, first_look, rewards_needed
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.state import State


class Answers(MixedBelief):
    """What follows from the state of a belief for who asks; `Vague` says how it changes."""

    _state: State
    _deviation: Array
    _log: Log | None
    """Rewards with their times, if mean rewards change."""

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
    def part_lasting(self) -> Array:
        """For how many decisions what is seen tells of an arm, under each component, at the pace so far; inf if ever.

        >>> from corrbandits import Vague
        >>> belief = Vague(arms=2, mean=0.0, sd=1.0, noise_sd=1.0, drift=30.0, parts=2)
        >>> belief.after(1).observe(0, 4.0).after(4).observe(0, 3.0).part_lasting
        array([10., 10.])
        """
        rates, of = self.parts.rates, self._mixture
        if self._log is None or rates is None:
            return np.full(of.weights.size, np.inf)
        with np.errstate(divide="ignore"):
            return np.asarray(self._log.pace() / rates[of.factors.kept[of.components.part]])

    @property
    def part_freedom(self) -> float:
        """The degrees of freedom of the components: inf where they are normal."""
        return self._mixture.components.freedom

    def credible_limit(self, log_tail: float) -> Array:
        """Return what each arm's mean is above with probability exp(log_tail), by the mixture; inf in the opening.

        >>> from corrbandits import Vague
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

        Each part that occurs costs O(N^3) once, where N is how many arms are drawn; O(N) where arms lie nowhere.

        >>> from corrbandits import Vague
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

        >>> from corrbandits import Vague
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

        >>> from corrbandits import Vague
        >>> Vague(arms=2, noise_sd=1.0, sd=1.0, mean=0.0).chances(0.0)
        array([0.5, 0.5])
        """
        if self.opening:
            return np.full(self.arms, np.nan)
        return self._mixture.chances((level - self._state.units.offset) / self._state.units.unit)

    def least_known(self, candidates: Integers) -> int:
        """Return which of these arms to try where nothing is known: in the opening the farthest from what was tried."""
        if not self.opening:
            return super().least_known(candidates)
        return first_look(self.parts, self.weights, self._tried(), candidates)

    def little_known(self, candidates: Integers) -> Integers:
        """Return those of these arms that are nearly as good to try as the least known one, in the opening.

        They are at least half as far from what was tried as the farthest. Where earlier seasons say which arms are
        better it is one arm.
        """
        if self.parts.ranked:
            return np.array([self.least_known(candidates)])
        return far_enough(None if self.parts.points is None else self.parts.places(), self._tried(), candidates)

    def _tried(self) -> Integers:
        return self.counts + np.bincount(np.array(self.awaited, dtype=np.int64), minlength=self.arms)

    @property
    def _mixture(self) -> Mixture:
        assert self._state.mixture is not None, "there are no components in the opening"
        return self._state.mixture
