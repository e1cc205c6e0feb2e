"""What a study has found: the best arm so far, what it would cost to stop now, and whether the noise is as stated.

draws    (m, n)   mean rewards drawn from the posterior, of the m arms that may be best
loss     (n,)     how much the best of a draw is above the arm we would settle for
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.draws import covariance_root
from corrbandits._core.gaussian import expected_excess
from corrbandits._core.single_thread import one_thread
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief, GaussianBelief, Vague
from corrbandits.study.arms import Arms
from corrbandits.study.ledger import Ledger
from corrbandits.study.settings import Goal

if TYPE_CHECKING:
    from corrbandits.study.snapshot import Snapshot

DRAWS = 4_096
NEGLECTED = 1e-6
"""Arms that together are the best with less than this probability, and add less than this share of a deviation to the
loss, are not drawn."""

MOST_DRAWN = 5_000
TIED = 1e-6
"""Of the largest deviation: mean rewards that differ by less are the same."""

SUSPICIOUS = 1e-3


@final
@dataclass(frozen=True)
class Best:
    """The arm of best posterior mean: how sure that is, and what it would cost, on average, to settle for it now.

    `probability` is that of no arm being better, `expected_loss` how far its mean reward lies behind the best arm's on
    average, both over draws from the posterior, with their standard errors. While nothing is known of some arm the
    loss is infinite and the probability unknown (NaN).
    """

    arm: int
    name: str
    mean: float
    deviation: float
    probability: float
    probability_error: float
    expected_loss: float
    expected_loss_error: float
    draws: int = DRAWS

    def enough(self, loss: float) -> bool:
        """Return whether to stop: the expected loss, and two standard errors more, is at most this."""
        most = checks.number("loss", loss, least=0)
        return self.expected_loss + 2 * self.expected_loss_error <= most

    def _repr_html_(self) -> str:
        """Return what a notebook shows: how sure it is, and what stopping would cost."""
        from corrbandits.study.report.notebook import best

        return best(self)


def best(belief: Belief, arms: Arms, goal: Goal, seed: int) -> Best:
    """Return the best arm of a belief, which is turned round if the goal is the least."""
    known = np.isfinite(belief.variance)
    if isinstance(belief, Vague) and belief.opening and belief.counts.any():
        more = belief.still_needed
        raise ValueError(
            f"arms cannot be compared yet: it takes {counted(more, 'more reward')} or more, and some that differ."
        )
    if (before := earlier_in_words(belief, arms)) is not None:
        raise ValueError(f"there is no reward yet; {before}. Tell or observe a reward first.")
    if not known.any():
        raise ValueError("nothing is known of any arm yet, so none is the best. Tell or observe a reward first.")
    leader = int(np.where(known, belief.mean, -np.inf).argmax())
    found = (math.nan, math.nan, math.inf, math.inf)
    if known.all():
        with one_thread():
            found = _judged(belief, leader, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))))
    mean = float(belief.mean[leader])
    value = mean if goal == "max" else belief.mirror - mean
    return Best(leader, arms.name(leader), value, math.sqrt(belief.variance[leader]), *found)


def earlier_in_words(belief: Belief, arms: Arms) -> str | None:
    """Return what is known of earlier seasons while there is no reward of this one; None if nothing is.

    The belief is turned round if the goal is the least.
    """
    if not isinstance(belief, Vague) or not belief.opening or belief.parts.past is None or belief.counts.any():
        return None
    first, rewards = belief.least_known(np.arange(belief.arms)), belief.parts.past.rewards
    return f"earlier seasons are known ({counted(rewards, 'reward')}): {arms.name(first)} did best there"


@final
@dataclass(frozen=True)
class Stopping:
    """Whether to stop. `best` is None while no arm can be named: `reason` says why. `enough` is None without a loss.

    `doubts` says in words what the rewards contradict of what was stated: while there is some, nothing is enough.
    `remarks` says what was stated and makes little sense.
    """

    best: Best | None
    reason: str | None
    loss: float | None
    enough: bool | None
    doubts: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def stopping(snapshot: Snapshot, loss: float | None) -> Stopping:
    """Return the best arm and, with a loss, whether stopping now costs at most so much."""
    from corrbandits.study.report.warnings import doubts, remarks

    most = None if loss is None else checks.number("loss", loss, least=0)
    try:
        found, why = snapshot.best(), None
    except ValueError as error:
        if most is None:
            raise
        found, why = None, str(error)
    said = doubts(snapshot.ledger, snapshot.name)
    enough = None if most is None else found is not None and found.enough(most) and not said
    return Stopping(found, why, most, enough, said, remarks(snapshot.ledger, snapshot.name))


def _judged(belief: Belief, leader: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Return the probability and the loss with their errors; where draws see too little, what is known exactly."""
    wins, losses = 0, []
    scale = math.sqrt(belief.variance.max())
    for draws, place in _drawn(belief, leader, rng):
        loss = draws.max(axis=0) - draws[place]
        wins += int(np.count_nonzero(loss <= TIED * scale))  # arms that are one and the same differ by rounding
        losses.append(loss)
    loss, share = np.concatenate(losses), wins / DRAWS
    mean, error = float(loss.mean()), float(loss.std(ddof=1) / math.sqrt(DRAWS))
    if _jointly_gaussian(belief):
        tail, excess = _rivals(belief, leader)
        share = min(max(share, 1 - float(tail.sum())), 1 - float(tail.max()))
        least, most = float(excess.max()), float(excess.sum())
        mean, error = min(max(mean, least), most), error if error > 0 else most - least
    return share, math.sqrt(share * (1 - share) / DRAWS), mean, error


def _drawn(belief: Belief, leader: int, rng: np.random.Generator) -> Iterator[tuple[Array, int]]:
    """Yield draws of the arms that may be best, some columns at a time, and the row of the leader."""
    if not _jointly_gaussian(belief):
        yield belief.draws(rng, DRAWS), leader
        return
    arms = contenders(belief, leader)
    if arms.size > MOST_DRAWN:
        raise ValueError(
            f"so little is known that {arms.size:,} arms may be the best; the chance and the loss are computed for up "
            f"to {MOST_DRAWN:,}. Tell more rewards first."
        )
    mean, place = belief.mean[arms], int(np.searchsorted(arms, leader))
    deviation = np.sqrt(belief.variance[arms])[:, None]
    root = None if belief.independent else covariance_root(belief.covariance_of(arms))
    for _ in range(0, DRAWS, 512):
        normals = rng.standard_normal((arms.size, 512))
        yield mean[:, None] + (deviation * normals if root is None else root @ normals), place


def _jointly_gaussian(belief: Belief) -> TypeGuard[GaussianBelief]:
    return isinstance(belief, GaussianBelief) and belief.jointly_gaussian


def contenders(belief: GaussianBelief, leader: int) -> Integers:
    """Return the arms, in order, that may be better than the leader; what the others could add is neglected."""
    tail, excess = _rivals(belief, leader)
    order = np.argsort(tail, kind="stable")
    few = np.cumsum(tail[order]) <= NEGLECTED
    little = np.cumsum(excess[order]) <= NEGLECTED * math.sqrt(belief.variance.max())
    return np.union1d(order[~(few & little)], [leader])


def _rivals(belief: GaussianBelief, leader: int) -> tuple[Array, Array]:
    """Return the probability that each arm is better than the leader, and by how much it is on average; exactly.

    An arm's mean reward less the leader's is normal with mean -gap <= 0. So the probability that the leader is best
    lies between 1 less the sum of the first and 1 less the largest, the expected loss between the largest of the
    second and their sum.
    """
    from scipy.special import ndtr

    variance = belief.variance + belief.variance[leader] - 2 * belief.covariance_with(leader)
    deviation, gap = np.sqrt(np.maximum(variance, 0.0)), belief.mean[leader] - belief.mean
    apart = deviation > TIED * math.sqrt(belief.variance.max())
    apart[leader] = False
    tail, excess = np.zeros(belief.arms), np.zeros(belief.arms)
    z = gap[apart] / deviation[apart]
    tail[apart], excess[apart] = ndtr(-z), deviation[apart] * expected_excess(z)
    return tail, excess


@final
@dataclass(frozen=True)
class NoiseCheck:
    """Whether rewards of the same arm vary as the stated noise says (chi-square, both sides).

    `ratio` is the variance seen over the variance stated; `suspicious` if the chance of one so far from 1 is below
    one in a thousand.
    """

    chi_square: float
    degrees: int
    ratio: float
    p: float

    @property
    def suspicious(self) -> bool:
        """Whether the stated noise is contradicted."""
        return self.p < SUSPICIOUS


def stated_noise(prior: Belief) -> Array | None:
    """Return the noise variances that a prior states, if it does."""
    if isinstance(prior, Vague):
        said = prior.prior_arguments()["noise_sd"]
        return said**2 * prior.relative_variance if isinstance(said, float) else None
    return prior.noise_variance if isinstance(prior, GaussianBelief) else None


def noise_check(ledger: Ledger) -> NoiseCheck | None:
    """Return whether the spread within arms fits the stated noise; None where that cannot be said.

    With n_i rewards of arm i about their average, sum (r - rbar_i)^2 / sigma_i^2 is chi-square with sum (n_i - 1)
    degrees of freedom.
    """
    noise = stated_noise(ledger.prior)
    if noise is None or ledger.recipe.changes:  # what changes varies more than the noise
        return None
    told = [(entry.arm, entry.reward) for entry in ledger.trials if entry.status == "told"]
    arms, rewards = np.array([arm for arm, _ in told], dtype=np.int64), np.array([reward for _, reward in told])
    counts = ledger.tally.counts
    degrees = int((counts[counts > 0] - 1).sum())
    if not degrees:
        return None
    from scipy.special import chdtr, chdtrc

    averages = np.divide(ledger.tally.sums, counts, out=np.zeros(counts.size), where=counts > 0)
    with np.errstate(over="ignore"):
        chi_square = float((((rewards - averages[arms]) / np.sqrt(noise[arms])) ** 2).sum())
    p = 2 * min(float(chdtr(degrees, chi_square)), float(chdtrc(degrees, chi_square)), 0.5)
    return NoiseCheck(chi_square, degrees, chi_square / degrees, p)
