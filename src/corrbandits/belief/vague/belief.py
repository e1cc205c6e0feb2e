"""The belief: what is told, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import frozen
from corrbandits._core.tally import Tally
from corrbandits.belief.history import History
from corrbandits.belief.log import Log
from corrbandits.belief.vague.answers import Answers
from corrbandits.belief.vague.learnt import Learnt, learnt
from corrbandits.belief.vague.prior import Prior
from corrbandits.belief.vague.standard import refuse_sums
from corrbandits.belief.vague.state import State
from corrbandits.kernels import Distance


@final
class Vague(Answers):
    """Arms whose common mean, variation, noise and relation need not be known: what is told is used, the rest learnt.

    `mean` is the mean of all arms, `sd` the deviation of their mean rewards about it, `noise_sd` that of a reward
    about its arm's mean, `length` how far correlation reaches, and `site` the share of variance that belongs to single
    arms, of which neighbours tell nothing. Each is a number if it is known, a pair if it lies between them with
    probability 0.9 (normally distributed for the mean, log-normally otherwise; `site` evenly), or left out.

    What is left out has a prior without a unit. The length lies between half the distance of neighbours and the extent
    of all arms, and the noise variance is 1/30 to 30 times the variance of the arms' means, both log-uniformly: beyond
    that, arms are alone or all alike, and one reward tells everything or hundreds tell nothing. Measurements may be
    more precise, with probability 1/12, down to a noise variance of a millionth. The site share is 0 with probability
    1/2, otherwise anything up to 1. The kernel is exponential or Matern 5/2. Ranges that end are what makes weights of
    parts proper; the evidence soon outweighs where they end.

    It is an exact mixture of `parts` beliefs with posterior weights. Under each the mean and the scale that are left
    out are integrated out in closed form, under the reference prior 1 / scale: a part is a Student t. So rewards may
    be in any unit: shifting and scaling them shifts and scales all that is said of them. Before so many rewards have
    come that means and variances exist (four that are not all equal, if nothing is told) all variances are infinite,
    and rules try arms that lie far from each other.

    Distances are those of a map, unless `per_coordinate` says that each coordinate has a length of its own, because
    units differ or correlation reaches farther along one than along another. Then `length` may have an entry, a
    number, a pair or None, for each coordinate; lengths that are left out follow from the extents.

    `history` are rewards of earlier seasons at the same arms, [(arms, rewards), ...]. Each season has a mean of its
    own, and how much they are alike otherwise is learnt. The first arms tried are then those that did best.

    `fields` are measurements elsewhere, [(coordinates, rewards), ...], with a row per reward. Each field has a mean and
    a scale of its own: it lends what it says of kernel, length, site share and noise, and nothing of these arms.

    `drift` is for mean rewards that change with time: about their common mean they are correlated by exp(-time between
    / drift). It is a time if it is known, a pair as above, or True if it is not known, or nothing may change at all:
    infinite with probability 1/4, otherwise between 5 and 5,000, log-uniformly. Time is the number of the decision in
    `simulate`, and days in a study; otherwise `after` says what time it is. Then, and only then, the order of rewards
    matters, and `history` cannot be given, whose seasons have no times.

    Without `coordinates`, `arms` says how many there are, and none says anything of another but for the common mean
    and scale. `relative_noise` is for noises that are known to differ: deviations up to a common factor, one per arm.
    Without `drift` the belief depends on how many rewards each arm gave, their exact sums and sums of squares alone.
    Where so many arms and rewards are there that all parts would take more than a second, the lightest are left out;
    at least eight are kept.

    >>> prior = Vague(coordinates=range(10))
    >>> belief = prior.observe([5, 0, 9, 2, 7], [31.0, 25.0, 27.0, 29.0, 30.0])
    >>> belief.mean.round(1)
    array([26.6, 27.8, 28.6, 28.8, 29.1, 29.8, 29.2, 29.2, 28.5, 27.7])
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
        drift: Any = None,
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
            drift=drift,
            parts=parts,
            arms=arms,
        )
        nothing = Tally.empty(prior.parts.arms)
        self._log, self._now = None if prior.parts.rates is None else Log(), 0.0
        self._set(nothing, State.of(prior, nothing, self._log))

    def learnt(self) -> Learnt:
        """Return what was learnt of mean, variation, noise, lengths and site effects, in the units of the rewards.

        >>> arms = np.tile(np.arange(30), 3)
        >>> rewards = np.sin(arms / 5) + 0.3 * np.random.default_rng(2).standard_normal(90)
        >>> told = Vague(coordinates=range(30)).observe(arms, rewards).learnt()
        >>> told.noise_sd.low < 0.3 < told.noise_sd.high, told.neighbours.low > 0.8
        (True, True)
        """
        return learnt(self)

    def prior_arguments(self) -> dict[str, Any]:
        """Return what was told."""
        return self._state.prior.arguments()

    @property
    def changes(self) -> bool:
        """Whether there is a drift."""
        return self._log is not None

    @property
    def in_real_time(self) -> bool:
        """Whether there is a drift: a study counts its time in days."""
        return self.changes

    @property
    def time(self) -> float | None:
        """What time it is, where mean rewards change; None where they do not."""
        return None if self._log is None else self._now

    def after(self, time: float) -> Vague:
        """Return what is believed at a later time when nothing else is seen: with `drift` less than before.

        A reward that is observed then is of that time. Rewards that are awaited are taken to come at that time.

        >>> belief = Vague(arms=2, mean=0.0, sd=1.0, noise_sd=1.0, drift=10.0).after(1).observe(0, 4.0)
        >>> belief.mean[0].round(2), belief.after(11).mean[0].round(2), belief.after(11).variance.round(2)
        (np.float64(2.0), np.float64(0.74), array([0.93, 1.  ]))
        """
        if self._log is None:
            return self
        if self.awaited:
            return self._seen().after(time).assume(self.awaited)
        then = checks.number("time", time)
        if not self._log.number:
            return self._changed(_now=then)
        if then < self._now:
            raise ValueError(
                f"time must not go back where mean rewards change: it is {self._now:.12g}, got {then:.12g}. Give "
                "rewards in the order of time, or all of them with their times to replay."
            )
        return self._changed(_now=then)._set(self._tally, self._state.later(then))

    def replay(self, history: History) -> Vague:
        """Return the belief after a history of rewards: their counts, sums and sums of squares, or each at its time."""
        tally = self._tally.merged(history.tally)
        if self._log is None:
            return self._seen()._from(tally, None)
        log = self._log.merged(Log.of(history.steps()))
        return self._seen()._from(tally, log, max(log.latest(self._now), self._now if self._log.number else -math.inf))

    def merge(self, other: Vague) -> Vague:
        """Return the belief that has seen and awaits what both have; with `drift`, each reward at its time."""
        if self._log is None or not isinstance(other, Vague) or other._log is None or not self._same_prior(other):
            return super().merge(other)
        now = max((one._now for one in (self, other) if one._log), default=self._now)
        both = self._from(self._tally.merged(other._tally), self._log.merged(other._log), now)
        return both._awaiting((*self._open, *other._open), ())

    def mirrored(self) -> Vague:
        """Return the belief on rewards turned round, -r."""
        turned, log = self._tally.mirrored(0.0), None if self._log is None else self._log.mirrored(0.0)
        state = State.of(self._state.prior.mirrored(), turned, log, self._now)
        image = self._changed(_open=(), _told=None, _log=log)._set(turned, state)
        return image.assume(self.awaited) if self.awaited else image

    def in_words(self, unit: str = "") -> str:
        """Return what was told, and that the rest is learnt."""
        return self._state.prior.in_words(unit)

    def _same_prior(self, other: Vague) -> bool:
        return self._state.prior.same_as(other._state.prior)

    def _conditioned(self, tally: Tally) -> Vague:
        return self._from(tally, self._log, self._now)

    def _from(self, tally: Tally, log: Log | None, now: float = 0.0) -> Vague:
        """Return the prior after these rewards, nothing awaited."""
        state = State.of(self._state.prior, tally, log, now)
        return self._changed(_open=(), _told=None, _log=log, _now=now)._set(tally, state)

    def _after(self, entries: Iterable[tuple[int, int, float]]) -> Vague:
        if self._log is None:
            return super()._after(entries)
        new = [*entries]
        refuse_sums(all(count == 1 for _, count, _ in new))
        log = self._log.plus(self._now, new)
        return self._from(self._tally.plus(new), log, self._now)._awaiting(self._open, [arm for arm, _, _ in new])

    def _updated(self, arm: int, reward: float) -> Vague:
        seen = int(np.count_nonzero(self.counts)) if self._log is None else self._log.number
        state, tally = self._state.after(arm, reward, seen), self._tally.seen(arm, reward)
        log = None if self._log is None else self._log.plus(self._now, [(arm, 1, reward)])
        if state is None:
            return self._from(tally, log, self._now)
        return self._changed(_open=(), _told=None, _log=log)._set(tally, state)

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
