"""What a study has found: the best arm so far, what it would cost to stop now, and whether the noise is as stated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits._shell.numbers import counted
from corrbandits.belief import Belief, GaussianBelief, Vague
from corrbandits.belief.contradiction import CONTRADICTED, FACTORS
from corrbandits.belief.vague.opening import first_of
from corrbandits.policies.base import NEAR
from corrbandits.study.arms import Arms
from corrbandits.study.ledger import Ledger
from corrbandits.study.report.rivals import DRAWS, Judgement, judged
from corrbandits.study.settings import Goal

if TYPE_CHECKING:
    from corrbandits.study.snapshot import Snapshot

SUSPICIOUS = 1 / CONTRADICTED


@final
@dataclass(frozen=True)
class Best:
    """The arm of best posterior mean: how sure that is, and what it would cost, on average, to settle for it now.

    `probability` is that of no arm being better, `expected_loss` how far its mean reward lies behind the best arm's on
    average, both over draws from the posterior, with their standard errors. While nothing is known of some arm the
    loss is infinite and the probability unknown (NaN). `approximate` says that so many arms may be the best that only
    the likeliest were drawn: the others make the probability smaller, and the loss larger.
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
    approximate: bool = False

    def enough(self, loss: float) -> bool:
        """Return whether to stop: the expected loss, and two standard errors more, is at most this; never by a part."""
        most = checks.number("loss", loss, least=0)
        return not self.approximate and self.expected_loss + 2 * self.expected_loss_error <= most

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
    leader = leader_of(belief)
    found = Judgement(math.nan, math.nan, math.inf, math.inf)
    if known.all():
        with one_thread():
            found = judged(belief, leader, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))))
    mean = float(belief.mean[leader])
    value = mean if goal == "max" else belief.mirror - mean
    return Best(
        arm=leader,
        name=arms.name(leader),
        mean=value,
        deviation=math.sqrt(belief.variance[leader]),
        probability=found.probability,
        probability_error=found.probability_error,
        expected_loss=found.loss,
        expected_loss_error=found.loss_error,
        approximate=found.approximate,
    )


def leader_of(belief: Belief) -> int:
    """Return the arm of largest mean among those of which something is known, of equal ones that known best.

    The belief is turned round if the goal is the least.

    >>> from corrbandits import Vague
    >>> leader_of(Vague(coordinates=range(4)).observe([2, 2, 2, 2], [31.0, 33.0, 30.0, 32.5]))
    2
    """
    known = np.isfinite(belief.variance)
    mean = np.where(known, belief.mean, -np.inf)
    near = mean >= mean.max() - NEAR * math.sqrt(belief.variance[known].max(initial=0.0))
    return int(np.where(near, belief.variance, np.inf).argmin())


def earlier_in_words(belief: Belief, arms: Arms) -> str | None:
    """Return what is known of earlier seasons while this one says nothing of arms; None if nothing is.

    The belief is turned round if the goal is the least.
    """
    if not isinstance(belief, Vague) or not belief.opening or belief.parts.past is None:
        return None
    past = belief.parts.past
    known = f"earlier seasons are known ({counted(past.rewards, 'reward')})"
    if not past.ranks:
        return f"{known}, but do not say which arms are better"
    first = first_of(belief.parts.points, belief.weights @ past.expected, np.arange(belief.arms))
    return f"{known}: {arms.name(first)} did best there"


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


@final
@dataclass(frozen=True)
class NoiseCheck:
    """Whether rewards of the same arm vary as the stated noise says (chi-square, both sides).

    `ratio` is the variance seen over the variance stated. If the noise is as stated, `p` is at least the chance that
    this ratio is ever so far from 1, however often one looks; `suspicious` if that is below 1 in 100.
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
    averages = np.divide(ledger.tally.sums, counts, out=np.zeros(counts.size), where=counts > 0)
    with np.errstate(over="ignore"):
        chi_square = float((((rewards - averages[arms]) / np.sqrt(noise[arms])) ** 2).sum())
    p = math.exp(-max(log_times(chi_square, degrees), 0.0))
    return NoiseCheck(chi_square, degrees, chi_square / degrees, p)


def log_times(chi_square: float, degrees: int) -> float:
    """Return the log of how much more likely a chi-square is if the noise is not as stated, but `FACTORS` times it.

    These are equally likely. If the noise is as stated, this ratio is a martingale of expectation 1: each reward more
    of an arm adds the square of a standard normal, whichever arm is taken. So the chance that it is ever as large as
    some number is at most one over that number.

    >>> log_times(100.0, 100) < 0 < log_times(200.0, 100)
    True
    """
    f = np.array(FACTORS)
    with np.errstate(over="ignore"):
        each = -degrees * np.log(f) + chi_square / 2 * (1 - 1 / f**2)
    most = float(each.max())
    return most if math.isinf(most) else most + math.log(float(np.exp(each - most).mean()))
