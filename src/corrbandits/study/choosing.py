"""How a study chooses: by what its events say, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief import Belief, Vague
from corrbandits.policies import IndexPolicy, Policy, Travelling, placed
from corrbandits.study.arms import Arms
from corrbandits.study.ledger import Ledger
from corrbandits.study.trial import Entry

ROUNDING = 1e-9
"""Of a standard deviation: limits that differ by less are taken for tied."""

WIDEST = 40.0
"""Of a standard deviation: draws lie no further from the mean."""


@final
@dataclass(frozen=True)
class Moment:
    """All that one choice depends on."""

    told: Belief  # after the rewards told so far, turned round if the goal is the least
    open: tuple[int, ...]  # arms whose rewards are awaited
    t: int
    trial: int
    time: float | None  # at which the belief is asked for; None if it is at the right time already
    last: int | None
    candidates: Integers | None  # None for all arms
    policy: Policy
    seed: int
    arms: Arms

    @property
    def belief(self) -> Belief:
        """What is known, the open trials assumed; in one order, so that it has the same bits for everybody."""
        told = self.told if self.time is None else self.told.after(self.time)
        return told.assume(sorted(self.open)) if self.open else told

    def choose(self, without: int | None = None) -> int:
        """Return the arm that the policy takes, with or without one of them."""
        left = self if without is None else self.except_for([without])
        stream = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.trial,)))
        with one_thread():
            return self.policy.choose(self.belief, self.t, rng=stream, allowed=left._allowed(), last=self.last)

    def except_for(self, arms: Sequence[int]) -> Moment:
        """Return the moment at which these arms cannot be chosen either."""
        if not arms:
            return self
        return replace(self, candidates=np.setdiff1d(self._possible(), arms))

    def _allowed(self) -> Integers | None:
        """Return what can be chosen, the first of equals first if the rule minds it."""
        if not self.policy.ordered or self.candidates is None:
            return self.arms.order if self.policy.ordered else self.candidates
        return self.arms.order[np.isin(self.arms.order, self.candidates)]

    def _possible(self) -> Integers:
        return np.arange(self.told.arms) if self.candidates is None else self.candidates

    def next(self, arm: int, *, repeat: bool) -> Moment:
        """Return the moment after this arm has been asked for."""
        left = self if repeat else self.except_for([arm])
        t, trial, time = self.t + 1, self.trial + 1, None if self.time is None else self.time + 1
        return replace(left, open=(*self.open, arm), t=t, trial=trial, time=time, last=arm)

    def way(self, arm: int) -> float | None:
        """Return what it costs to go to an arm, where the rule weighs that and there is somewhere to come from."""
        if self.last is None or not isinstance(self.policy, Travelling):
            return None
        return self.policy.moves.cost(self.last, arm)

    def _as_far(self, belief: Belief, arm: int) -> npt.NDArray[np.bool_]:
        """Return which arms it costs as much to go to as to this one."""
        if self.last is None or not isinstance(self.policy, Travelling):
            return np.ones(belief.arms, dtype=np.bool_)
        costs = self.policy.moves.row(self.last, belief.arms, belief.coordinates)
        return np.asarray(costs == costs[arm])

    def ties(self, limits: Array | None, arm: int) -> int:
        """Return how many others were no worse than an arm, but for rounding, by what the rule compares; 0 if nothing.

        While arms are tried for the first time that is the variance, then the limit; what the way costs is minded.
        """
        belief, arms = self.belief, self._possible()
        pending = self.policy.pending(belief)
        if pending[arm]:
            limits, arms = belief.variance, arms[pending[arms] & self._as_far(belief, arm)[arms]]
        elif isinstance(self.policy, Travelling) and self.last is not None:
            limits = self.policy.worth(belief, self.t, self.last)
        if limits is None:
            return 0
        with np.errstate(invalid="ignore"):  # inf - inf
            near = np.abs(limits[arms] - limits[arm]) <= ROUNDING * np.sqrt(belief.variance[arm])
        return int(np.count_nonzero((near | (limits[arms] == limits[arm])) & (arms != arm)))


def moment(
    ledger: Ledger,
    told: Belief,
    gone: Sequence[int] = (),
    allowed: Sequence[int] | None = None,
    start: int | None = None,
) -> Moment:
    """Return the moment at which a ledger stands; `gone` are open trials that have just expired.

    What was told is at the time of the choice already, if it goes by real time. Those who measure are at arm `start`;
    if that is not said, at the one last asked for.
    """
    settings = ledger.settings
    waiting = tuple(arm for trial, arm in ledger.open.items() if trial not in gone)
    candidates = None if allowed is None else np.unique(np.asarray(allowed, dtype=np.int64))
    if not settings.repeat:
        every = np.arange(ledger.arms.count) if candidates is None else candidates
        candidates = every[untried(ledger, waiting)[every]]
    t = ledger.time - len(gone)
    time = None if ledger.recipe.in_real_time else ledger.number
    where, last = ledger.arms.coordinates, ledger.last if start is None else start
    policy = settings.policy if where is None else placed(settings.policy, where)
    return Moment(told, waiting, t, ledger.number, time, last, candidates, policy, settings.seed, ledger.arms)


def untried(ledger: Ledger, waiting: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return of which arms there is no reward, and none awaited."""
    without = np.asarray(ledger.tally.counts == 0)
    without[list(waiting)] = False
    return without


def moment_of(entry: Entry, then: Ledger) -> Moment:
    """Return the moment at which a trial was chosen, from the ledger as it stood then."""
    told = deciding_belief(then).after(then.clock(entry.asked))
    at = moment(then, told, allowed=entry.allowed, start=entry.start)
    return at.except_for([before.arm for before in then.trials[len(then.trials) - entry.apart :]])


def told_belief(ledger: Ledger, at: float | None = None) -> Belief:
    """Return what is believed now, in the units of the rewards; by one fixed algorithm on what was told.

    `at` is what time it is, in seconds since 1970, by default that of the last event.
    """
    with one_thread():
        return ledger.prior.replay(ledger.history()).after(ledger.clock(at))


def deciding_belief(ledger: Ledger, tally: Tally | None = None) -> Belief:
    """Return what has been learnt, turned round if the goal is the least: policies take the largest.

    With a tally, what would have been learnt if that were the ledger's.
    """
    prior, history = ledger.prior, ledger.history(tally)
    if ledger.settings.goal == "min":
        prior, history = prior.mirrored(), history.mirrored(prior)
    with one_thread():
        return prior.replay(history)


def comparable(ledger: Ledger, told: Belief) -> bool:
    """Return whether arms can be compared after these rewards: their limits, and how far draws of them lie apart."""
    known = np.isfinite(told.variance)
    if not known.any() or (isinstance(told, Vague) and told.opening):
        return True
    policy, mean = ledger.settings.policy, told.mean[known]
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        limits = mean
        if isinstance(policy, IndexPolicy):
            limits = policy.index(told.after(ledger.clock()), ledger.time)[known]
        apart = mean.max() - mean.min() + WIDEST * np.sqrt(told.variance[known].max())
    return bool(np.isfinite(limits).all() and np.isfinite(apart))


def checked(bodies: Sequence[str]) -> Ledger:
    """Return the ledger of a study that is to be kept.

    ValueError if an event does not follow from those before it, the policy cannot choose from the prior, or rewards are
    too large together.
    """
    ledger = Ledger(bodies[0])
    draft = ledger.draft(bodies[1:])
    try:
        moment(ledger, deciding_belief(ledger)).choose()  # the first choice: later there may be no arm left
    except TypeError as error:
        raise ValueError(f"a study's policy must be able to choose from its prior, but {error}") from error
    ledger.enter(draft)
    told = deciding_belief(ledger)
    if draft.large and not comparable(ledger, told):
        raise ValueError("its rewards are so large or so far apart that arms could not be compared any more.")
    return ledger


def allowed_arms(allowed: Any, arms: Arms) -> tuple[int, ...]:
    """Return the arms that are allowed, given by index, by name, or as true and false per arm."""
    given = np.asarray(allowed)
    if given.dtype == np.bool_ and given.shape == (arms.count,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or not given.size:
        raise ValueError(f"allowed must name at least one arm, in a list, got {allowed!r:.60}.")
    if given.dtype.kind in "ui":
        return tuple(np.unique(checks.arm_array(given, arms.count)).tolist())
    return tuple(sorted({arms.index(arm) for arm in allowed}))
