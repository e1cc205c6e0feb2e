"""What every belief offers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits._core.tally import Tally
from corrbandits._shell import numbers
from corrbandits.belief.history import History


class Belief(ABC):
    """What every belief offers. Its kinds are in `KINDS`, by name; a study stores that and `prior_arguments`."""

    mirror: ClassVar[float] = 0.0
    """A reward r is turned round, for those who minimise, into this less r."""

    mean: Array
    """The mean of what is believed of each arm's mean reward."""

    variance: Array
    """Its variance; inf for an arm of which nothing is known."""

    _tally: Tally
    _open: tuple[int, ...] = ()  # arms whose rewards are awaited
    _told: Self | None = None  # the same belief without them, if there are any

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

    @property
    def deviation(self) -> Array:
        """The standard deviations, the roots of `variance`; a belief may have them where the squares are no doubles.

        >>> from corrbandits import Independent
        >>> Independent(variance=[4.0, 9.0], noise_variance=1.0).deviation
        array([2., 3.])
        """
        return np.asarray(np.sqrt(self.variance))

    @property
    def awaited(self) -> tuple[int, ...]:
        """The arms whose rewards are awaited (see `assume`)."""
        return self._open

    @property
    def coordinates(self) -> Array | None:
        """Where the arms lie, one row each; None if the belief does not know."""
        return self.prior_arguments().get("coordinates")

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a map or a line of the means where places are known, and the best arms."""
        from corrbandits.belief.notebook import shown

        return shown(self)

    @property
    def in_real_time(self) -> bool:
        """Whether means that change do so with real time, which a study counts in days, and not with its decisions."""
        return False

    def observe(self, arm: int | Sequence[int] | Integers, reward: float | Sequence[float] | Array) -> Self:
        """Return the belief after one reward, or after many: then `arm` and `reward` are sequences, in any order.

        A reward that was awaited (see `assume`) is so no longer.
        """
        if isinstance(arm, (int, np.integer)):
            k = checks.arm(arm, self.arms)
            if not self._open:
                return self._updated(k, self.checked_reward(reward))
            return self._seen()._updated(k, self.checked_reward(reward))._awaiting(self._open, (k,))
        arms = checks.arm_array(arm, self.arms)
        rewards = np.atleast_1d(checks.finite("rewards", reward))
        if rewards.shape != arms.shape:
            raise ValueError(
                f"as many rewards as arms are needed, got {arms.size} arms and rewards of shape {rewards.shape}."
            )
        entries = zip(arms.tolist(), rewards.tolist(), strict=True)
        return self._after((k, 1, self.checked_reward(r)) for k, r in entries)

    def observe_all(self, counts: Any, sums: Any) -> Self:
        """Return the belief after further `counts` rewards of each arm that sum to `sums`."""
        number = checks.counts(counts, self.arms)
        total = checks.per_arm("sums", sums, self.arms)
        if total[number == 0].any():
            arm = int(np.flatnonzero((number == 0) & (total != 0))[0])
            raise ValueError(f"an arm without rewards sums to 0, got {total[arm]:g} for arm {arm}.")
        seen = np.flatnonzero(number)
        return self._after(zip(seen.tolist(), number[seen].tolist(), total[seen].tolist(), strict=True))

    def replay(self, history: History) -> Self:
        """Return the belief after a history of rewards; if means do not change, `observe_all` of its counts and sums.

        A belief on means that change with time goes through `history.steps()` instead: `after` each time, `observe`.
        """
        return self.observe_all(history.counts, history.sums)

    @property
    def changes(self) -> bool:
        """Whether means are believed to change with time: then the order and the times of rewards matter."""
        return False

    def after(self, time: float) -> Self:
        """Return what is believed at a time, from 1 on, if nothing else is seen until then.

        It is the same belief unless means change with time. Whoever decides calls it before each decision, with its
        number or, where there is a clock, with the time.
        """
        return self

    def merge(self, other: Self) -> Self:
        """Return the belief that has seen and awaits what both have; they must have started from the same prior.

        >>> from corrbandits import Independent
        >>> prior = Independent(mean=0.0, variance=np.inf, noise_variance=1.0, arms=2)
        >>> prior.observe(0, 3.0).merge(prior.observe([0, 1], [5.0, 7.0])).mean
        array([4., 7.])
        """
        if type(other) is not type(self) or not self._same_prior(other):
            raise ValueError("only beliefs that started from the same prior can be merged, but these did not.")
        return self._seen()._conditioned(self._tally.merged(other._tally))._awaiting((*self._open, *other._open), ())

    def assume(self, arms: Sequence[int] | Integers) -> Self:
        """Return the belief while rewards of these arms are awaited: the same mean, the variance as if they had come.

        >>> from corrbandits import Independent
        >>> prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=2)
        >>> waiting = prior.assume([1, 1])
        >>> waiting.variance.round(3), waiting.observe(1, 4.0).mean     # one has come, one is still awaited
        (array([1.   , 0.333]), array([0., 2.]))
        """
        awaited = sorted(checks.arm_array(arms, self.arms).tolist())
        return self._shrunk(awaited)._changed(_open=(*self._open, *awaited), _told=self._seen())

    def least_known(self, candidates: Integers) -> int:
        """Return which of these arms, of which too little is known for a rule to begin, to try first.

        It is the one of largest variance, the first of equals; a belief may know better.
        """
        return int(candidates[self.variance[candidates].argmax()])

    def limit(self, width: float | Array) -> Array:
        """Return mu_i + width s_i; +inf where nothing is known of an arm, mu_i where all is.

        >>> from corrbandits import Independent
        >>> Independent(mean=[0.0, 1.0], variance=4.0, noise_variance=1.0).limit(1.5)
        array([3., 4.])
        """
        deviation = self.deviation
        if isinstance(width, float) and 0 < width < np.inf:  # then the formula says so itself
            return np.asarray(self.mean + width * deviation)
        widths = checks.per_arm("width", width, self.arms, infinite=True)
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

    def draws(self, rng: np.random.Generator, number: int) -> Array:
        """Return so many draws of all mean rewards, one per column.

        >>> from corrbandits import Independent
        >>> Independent(variance=1.0, noise_variance=1.0, arms=3).draws(np.random.default_rng(0), 5).shape
        (3, 5)
        """
        return np.array([self.sample(rng) for _ in range(number)]).T

    @abstractmethod
    def prior_arguments(self) -> dict[str, Any]:
        """Return what the class is called with to make the prior that this belief came from."""

    def log_evidence(self) -> float:
        """Return the log marginal density of the averages seen so far, under the prior; see `evidence.log_evidence`."""
        raise without_evidence(self)

    def mirrored(self) -> Self:
        """Return the belief on rewards turned round: -r, or 1 - r where they are 0 or 1.

        A policy takes the largest; on the mirror image of a belief it takes the least.

        >>> from corrbandits import Independent
        >>> Independent(mean=[1.0, -2.0], variance=3.0, noise_variance=1.0).observe(0, 3.0).mirrored().mean
        array([-2.5,  2. ])
        """
        image = type(self)(**self._mirrored_arguments())
        if self.counts.any():
            image = image.observe_all(self.counts, self.mirrored_sums(self.counts, self.sums))
        return image.assume(self.awaited) if self.awaited else image

    def mirrored_sums(self, counts: Integers, sums: Array) -> Array:
        """Return what so many rewards per arm sum to when they are turned round."""
        return self.mirror * counts - sums

    def _mirrored_arguments(self) -> dict[str, Any]:
        """Return what makes the prior of rewards turned round."""
        given = self.prior_arguments()
        if "mean" not in given:
            raise TypeError(
                f"a {type(self).__name__} belief cannot be used to minimise, because it does not say what its mirror "
                "image is. Define mirrored(), or maximise rewards of the opposite sign."
            )
        return given | {"mean": -given["mean"]}

    def in_words(self, unit: str = "") -> str:
        """Return what is believed, in a few words; `unit` is that of times, if there are any.

        >>> from corrbandits import Correlated, Exponential
        >>> Correlated(mean=30.0, kernel=4 * Exponential(3.0), coordinates=[0, 1], noise_variance=9.0).in_words()
        'exponential kernel of length 3, mean 30 ± 2; noise ± 3'
        """
        deviations = np.sqrt(self.variance)
        known = np.isfinite(deviations).any()
        level = f"mean {span(self.mean)} ± {span(deviations)}" if known else "of which nothing is known"
        return f"{self._relation_in_words()}, {level}"

    def _relation_in_words(self) -> str:
        """Return what the arms say of each other."""
        return type(self).__name__

    @abstractmethod
    def _same_prior(self, other: Self) -> bool: ...

    @abstractmethod
    def _conditioned(self, tally: Tally) -> Self:
        """Return the prior after what is in the tally, nothing awaited."""

    @abstractmethod
    def _shrunk(self, awaited: list[int]) -> Self:
        """Return the belief with the variance it has while these rewards are awaited too."""

    def _updated(self, arm: int, reward: float) -> Self:
        return self._conditioned(self._tally.plus([(arm, 1, reward)]))

    def _after(self, entries: Iterable[tuple[int, int, float]]) -> Self:
        """Return the belief after (arm, count, sum) entries, computed from the prior."""
        tally = self._tally.plus(entries)
        come = np.repeat(np.arange(self.arms), np.minimum(tally.counts - self.counts, len(self._open)))
        return self._conditioned(tally)._awaiting(self._open, come.tolist())

    def _awaiting(self, awaited: Sequence[int], come: Iterable[int]) -> Self:
        """Return the belief, which awaits nothing, awaiting these rewards less those that have come."""
        left = list(awaited)
        for arm in come:
            if arm in left:
                left.remove(arm)
        return self.assume(left) if left else self

    def _seen(self) -> Self:
        return self if self._told is None else self._told

    @classmethod
    def checked_reward(cls, reward: Any) -> float:
        """Return a reward as a number; refuse one that cannot be."""
        if type(reward) is float and math.isfinite(reward):
            return reward
        return checks.number("a reward", reward)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copied or unpickled belief, its arrays read-only as they were."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                frozen(value)
        self.__dict__.update(state)

    def _changed(self, **changes: Any) -> Self:
        new = object.__new__(type(self))
        new.__dict__ = self.__dict__ | changes
        return new

    def __repr__(self) -> str:
        return f"<{type(self).__name__} belief on {self.arms} arms after {int(self.counts.sum())} rewards>"


def number_of_arms(arms: int | None, **values: Any) -> int:
    """Return the number of arms: the one given, or the length of whichever value has one per arm."""
    if arms is not None:
        return checks.integer("arms", arms, least=1)
    for name, value in values.items():
        array = checks.numbers(name, value)
        if array.ndim:
            return checks.integer(f"the length of {name}", array.size, least=1)
    raise TypeError(f"say how many arms there are: arms=..., or one value per arm in {' or '.join(values)}.")


def span(values: Array) -> str:
    """Return one number for all, or the least and the largest.

    >>> span(np.array([2.0, 2.0])), span(np.array([1.0, 0.5]))
    ('2', '0.5 to 1')
    """
    return numbers.span(float(values.min()), float(values.max()), 4)


def without_evidence(belief: Belief) -> TypeError:
    """Return the error of a belief whose evidence is not known."""
    return TypeError(
        "the evidence of the belief must be known, as it is of Independent, Correlated and Implicit, got "
        f"a {type(belief).__name__}."
    )
