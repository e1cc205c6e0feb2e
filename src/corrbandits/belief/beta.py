"""Arms whose rewards are 0 or 1."""

from __future__ import annotations

import math
from typing import Any, Self, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, frozen
from corrbandits._core.tally import Tally
from corrbandits.belief.base import Belief, number_of_arms, span


@final
class Beta(Belief):
    """Independent arms with rewards 0 or 1 (section 2.2), each success probability under a Beta prior.

    >>> belief = Beta(arms=2).observe([0, 0, 1], [1, 1, 0])
    >>> belief.mean.round(4)
    array([0.75  , 0.3333])
    """

    def __init__(self, *, successes: Any = 1.0, failures: Any = 1.0, arms: int | None = None) -> None:
        arms = number_of_arms(arms, successes=successes, failures=failures)
        self._prior_successes = frozen(checks.per_arm("successes", successes, arms))
        self._prior_failures = frozen(checks.per_arm("failures", failures, arms))
        if not ((self._prior_successes > 0).all() and (self._prior_failures > 0).all()):
            raise ValueError("successes and failures of a Beta prior must be above 0; 1 and 1 is the uniform prior.")
        self._set(Tally.empty(arms), self._prior_successes, self._prior_failures)

    mirror = 1.0

    def credible_limit(self, log_tail: float) -> Array:
        """Return the upper credible limit of each success probability; for tails down to exp(-200)."""
        from scipy.special import betainccinv  # NaN for some of the tails below 1e-99

        tail = math.exp(checks.number("log_tail", log_tail, least=-200, up_to=0))
        return np.asarray(betainccinv(self.successes, self.failures, tail))

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw of all success probabilities."""
        return np.asarray(checks.generator("a belief", rng).beta(self.successes, self.failures))

    def _updated(self, arm: int, reward: float) -> Beta:
        """Return what `_conditioned` does, to the last bit: only one arm changes."""
        tally = self._tally.plus([(arm, 1, reward)])
        successes, failures, total = self.successes.copy(), self.failures.copy(), tally.sum_of(arm)
        successes[arm] = self._prior_successes[arm] + total
        failures[arm] = self._prior_failures[arm] + (tally.counts[arm] - total)
        return self._changed(_told=None, _open=())._set(tally, successes, failures)

    def _conditioned(self, tally: Tally) -> Beta:
        sums = tally.sums
        successes, failures = self._prior_successes + sums, self._prior_failures + (tally.counts - sums)
        return self._changed(_told=None, _open=())._set(tally, successes, failures)

    def _shrunk(self, awaited: list[int]) -> Beta:
        """Return the belief with a Beta of the same mean that counts the awaited rewards as seen."""
        total = self.successes + self.failures
        share = 1 + np.bincount(awaited, minlength=self.arms) / total if awaited else np.ones(self.arms)
        variance = self.mean * (self.failures / total) / (total * share + 1)
        changed = {"successes": self.successes * share, "failures": self.failures * share, "variance": variance}
        return self._changed(**{name: frozen(array) for name, array in changed.items()})

    def _set(self, tally: Tally, successes: Array, failures: Array) -> Beta:
        """Complete a belief that is being made."""
        self._tally, self.successes, self.failures = tally, frozen(successes), frozen(failures)
        total = self.successes + self.failures
        self.mean = frozen(self.successes / total)
        self.variance = frozen(self.mean * (self.failures / total) / (total + 1))
        return self

    def prior_arguments(self) -> dict[str, Any]:
        """Return the prior's successes and failures, and the number of arms."""
        return {"successes": self._prior_successes, "failures": self._prior_failures, "arms": self.arms}

    def _mirrored_arguments(self) -> dict[str, Any]:
        return {"successes": self._prior_failures, "failures": self._prior_successes}

    def in_words(self, unit: str = "") -> str:
        """Return what is believed, in a few words."""
        counts = f"successes {span(self._prior_successes)}, failures {span(self._prior_failures)}"
        return f"independent arms, rewards 0 or 1; assumed of each: {counts}"

    def _same_prior(self, other: Beta) -> bool:
        return np.array_equal(self._prior_successes, other._prior_successes) and np.array_equal(
            self._prior_failures, other._prior_failures
        )

    @classmethod
    def checked_reward(cls, reward: Any) -> float:
        """Return a reward, 0 or 1; refuse another."""
        r = super().checked_reward(reward)
        if r not in (0.0, 1.0):
            raise ValueError(f"a reward must be 0 or 1, got {r:g}: the prior is of rewards 0 and 1.")
        return r

    def observe_all(self, counts: Any, sums: Any) -> Self:
        """Return the belief after further `counts` rewards of each arm, `sums` of them 1."""
        number, total = checks.counts(counts, self.arms), checks.per_arm("sums", sums, self.arms)
        if (total % 1).any() or (total < 0).any() or (total > number).any():
            raise ValueError(
                "sums must be whole numbers from 0 to counts for a Beta belief: they are numbers of successes."
            )
        return super().observe_all(number, total)
