"""What every belief on changing mean rewards offers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import Tally
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.belief.history import History
from corrbandits.belief.log import Log, Told


class ChangingBelief(GaussianBelief):
    """A belief on mean rewards that change with time: the order of rewards matters, and when they came.

    It has a present, `time`: what is observed is observed then, and `after(time)` returns the belief at a later one.
    Time is a number from 1 on: that of the decision in `simulate`, days or any other unit elsewhere. Rewards that are
    awaited count as if they came at the present, whatever that is.

    What is believed at the present is itself a belief, `now`, of the kind of the prior; a subclass says how it changes
    as time passes.
    """

    jointly_gaussian = False

    _prior: GaussianBelief
    _now: GaussianBelief
    _log: Log
    _time: float

    def _begin(self, prior: Any, kinds: tuple[type[GaussianBelief], ...]) -> None:
        """Take a prior that has seen nothing, of one of these kinds."""
        name, known = type(self).__name__, " or ".join(kind.__name__ for kind in kinds)
        if not isinstance(prior, kinds):
            raise TypeError(f"prior must be a belief of the kind {known}, on which {name} is built, got {prior!r:.60}.")
        if prior.counts.any() or prior.awaited:
            raise ValueError(f"prior must have seen nothing; tell the {name} belief the rewards instead.")
        self._prior, self._log, self._time = prior, Log(), 1.0
        self.noise_variance, self._tally = prior.noise_variance, Tally.empty(prior.arms)
        self._follow(prior)

    @property
    def changes(self) -> bool:
        """True: the order and the times of rewards matter."""
        return True

    @property
    def time(self) -> float:
        """The present."""
        return self._time

    @property
    def prior(self) -> GaussianBelief:
        """What was believed before anything was seen."""
        return self._prior

    @property
    def now(self) -> GaussianBelief:
        """What is believed of the mean rewards at the present."""
        return self._now

    @property
    def coordinates(self) -> Array | None:
        """Where the arms lie, if the prior knows."""
        return self._prior.coordinates

    def after(self, time: float) -> Self:
        """Return what is believed at a time, from 1 on, if nothing else is seen; a time that is past is refused."""
        at = checks.number("time", time, least=1)
        if at == self._time:
            return self
        if at < self._time:
            raise ValueError(
                f"time must not run backwards: the belief is at {self._time:g}, got {at:g}. Tell it rewards in the "
                "order of their times, or merge beliefs that were told them apart."
            )
        return self._seen()._moved(at)._awaiting(self._open, ())

    def replay(self, history: History) -> Self:
        """Return the belief after a history of rewards, each at its time."""
        belief = self
        for time, arm, reward in history.steps():
            belief = belief.after(time).observe(arm, reward)
        return belief

    def merge(self, other: Self) -> Self:
        """Return the belief that has seen what both have, in the order of time; the present is the later one's."""
        if type(other) is not type(self) or not self._same_prior(other):
            raise ValueError("only beliefs that started from the same prior can be merged, but these did not.")
        both = self._begun().told(self._log.merged(other._log), max(self._time, other._time))
        return both._awaiting((*self._open, *other._open), ())

    def mirrored(self) -> Self:
        """Return the belief on rewards turned round, -r."""
        image = type(self)(**(self.prior_arguments() | {"prior": self._prior.mirrored()}))
        image = image.told(self._log.mirrored(self.mirror), self._time)
        return image.assume(self.awaited) if self.awaited else image

    def told(self, log: Log, until: float) -> Self:
        """Return the belief after a log, at a later time; what was told at one time is taken at once."""
        belief = self
        for time, entries in log.by_time():
            belief = belief._moved(time)._after(entries)
        return belief._moved(until)

    def credible_limit(self, log_tail: float) -> Array:
        """Return the upper credible limit of each arm at the present."""
        return self._now.credible_limit(log_tail)

    def covariance_with(self, arm: int) -> Array:
        """Return the covariance of one arm's mean reward with every arm's, at the present."""
        return self._now.covariance_with(arm)

    def covariance_of(self, arms: Integers | None = None) -> Array:
        """Return the covariance of each of the arms with each, at the present; by default, of all arms."""
        return self._now.covariance_of(arms)

    def spread(self) -> Array:
        """Return sqrt(sum_j rho_ij^2), the factor of the printed index, at the present."""
        return self._now.spread()

    def spread_limit(self, width: float) -> Array:
        """Return mu_i + width s_i sqrt(sum_j rho_ij^2), the printed index, at the present."""
        return self._now.spread_limit(width)

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all mean rewards at the present."""
        return self._now.sample(rng)

    def in_words(self, unit: str = "") -> str:
        """Return what is believed at first, and how that changes, in a few words."""
        return f"{self._prior.in_words()}; {self._change_in_words(unit)}"

    @abstractmethod
    def _change_in_words(self, unit: str) -> str: ...

    @abstractmethod
    def _moved(self, time: float) -> Self:
        """Return the belief, which awaits nothing, at a time that is not past."""

    def _begun(self) -> Self:
        return type(self)(**self.prior_arguments())

    def _same_prior(self, other: Self) -> bool:
        mine, yours = ({**belief.prior_arguments(), "prior": None} for belief in (self, other))
        return type(self._prior) is type(other._prior) and self._prior._same_prior(other._prior) and mine == yours

    def _conditioned(self, tally: Tally) -> Self:
        raise TypeError(f"a {type(self).__name__} belief needs the times of rewards: replay them, or merge.")

    def _updated(self, arm: int, reward: float) -> Self:
        log, tally = self._log.plus(self._time, [(arm, 1, reward)]), self._tally.seen(arm, reward)
        return self._changed(_log=log, _tally=tally)._follow(self._now._updated(arm, reward))

    def _after(self, entries: Iterable[Told]) -> Self:
        before, each = self._seen(), list(entries)
        log, tally = before._log.plus(self._time, each), before._tally.plus(each)
        come = [arm for arm, count, _ in each for _ in range(min(count, len(self._open)))]
        return before._changed(_log=log, _tally=tally)._follow(before._now._after(each))._awaiting(self._open, come)

    def _shrunk(self, awaited: list[int]) -> Self:
        return self._changed()._follow(self._now.assume(awaited))

    def _follow(self, now: GaussianBelief) -> Self:
        """Complete a belief that is being made."""
        self._now, self.mean, self.variance = now, now.mean, now.variance
        return self
