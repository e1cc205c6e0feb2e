"""Arms whose rewards are not what everything else says of them: perhaps a reward was mistyped.

    name      shape     meaning
    A         (k,)      the arms that have rewards
    average   (k,)      their average rewards
    D         (k,)      the variance of each average, sigma_i^2 / n_i
    M         (k, k)    the covariance of the averages, S0_AA + diag(D)

What all other arms and the prior expect of average i, without that average, is normal with variance 1 / (M^-1)_ii, and
the average is (M^-1 (average - mu_0))_i / (M^-1)_ii above it: the formula of leaving one out. It needs the covariances
of the arms with rewards only, and NumPy only, so that telling a reward need not load more. A prior that follows the
data has no such covariances, and M may be singular to rounding; then the same numbers are computed from the posterior.

One mistyped reward makes its neighbours look wrong too. So the worst arm is taken out first, and the others are judged
without it, as long as some surprise.

A `Vague` belief learns the noise, which a mistyped reward makes large. So it is conditioned afresh on all but one arm,
and what it says of that arm's average is a mixture of Student t: an average surprises where its tail is as rare as
`SURPRISING` deviations of a normal are. Only the arms that stand out most are judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief import GaussianBelief, Vague
from corrbandits.study.choosing import told_belief
from corrbandits.study.ledger import Ledger

SURPRISING = 5.0
"""So many deviations from what is expected surprise."""

MOST_APART = 5
"""So many arms are taken out one by one, each time that the rest are judged again; then what surprises is listed."""

MOST_EXTREME = 3
"""Of a `Vague` belief so many arms are judged that lie farthest from the median, and as many from what is believed."""

LEAST_SHARE = 1e-9
"""Of an average's variance, what its own noise must have if anything but the arm itself is to say something of it."""


@final
@dataclass(frozen=True)
class Surprise:
    """An arm whose rewards are not what everything else says of it: perhaps one was mistyped.

    `expected` and `deviation` are what the prior and all other arms make of its average, without those that surprise
    more; `z` is how many deviations the average is from that. `trial` is the one whose `reward` is farthest from it.
    """

    arm: int
    name: str
    average: float
    expected: float
    deviation: float
    z: float
    trial: int
    reward: float


def surprises(ledger: Ledger, arms: Sequence[int] | None = None) -> list[Surprise]:
    """Return the arms whose average reward is more than `SURPRISING` deviations from what all else says, worst first.

    With `arms`, only these are looked at, which takes less time. Of arms that are not jointly normal nothing is said.
    Where mean rewards change, single rewards are judged instead: see `ahead`.
    """
    kind = ledger.recipe.kind
    A = np.flatnonzero(ledger.tally.counts)
    if ledger.recipe.changes:
        from corrbandits.study.report.ahead import surprises_ahead

        return surprises_ahead(ledger, arms)
    if issubclass(kind, Vague):
        return _of_vague(ledger, A, arms)
    if not (A.size and issubclass(kind, GaussianBelief) and kind.jointly_gaussian):
        return []
    if arms is not None:
        some = np.flatnonzero(np.isin(A, list(arms)))
        return [one for one in surprises(ledger) if one.arm in arms] if _judged(ledger, A, some)[0] else []
    found, by_prior = _judged(ledger, A, np.arange(A.size))
    apart: list[Surprise] = []
    while found and by_prior and A.size > 1 and len(apart) < MOST_APART:
        apart.append(found[0])
        A = A[found[0].arm != A]
        found, by_prior = _judged(ledger, A, np.arange(A.size))
    return apart + found


def _judged(ledger: Ledger, A: Integers, asked: Integers) -> tuple[list[Surprise], bool]:
    """Return those of some arms that surprise, worst first, by the rewards of A; and whether by these alone."""
    counts = ledger.tally.counts[A]
    average = ledger.tally.sums[A] / counts
    D = _per_arm(ledger.recipe.arguments["noise_variance"], A) / counts
    kind = ledger.recipe.kind
    fixed = issubclass(kind, GaussianBelief) and kind.fixed_prior
    judgement = _by_prior(ledger, A, D, average, asked) if fixed else None
    share, z = judgement or _by_belief(ledger, A, D, average, asked)
    told = share > LEAST_SHARE
    asked, share, z = asked[told], share[told], z[told]
    with np.errstate(over="ignore"):
        deviation = np.sqrt(D[asked] / share)
        expected = average[asked] - z * deviation
    worst = [k for k in np.argsort(-np.abs(z), kind="stable").tolist() if abs(z[k]) > SURPRISING]
    made = []
    for k in worst:
        arm, average_k, expected_k = int(A[asked[k]]), float(average[asked[k]]), float(expected[k])
        spread = float(deviation[k]), float(z[k])
        far = _farthest(ledger, arm, expected_k)
        made.append(Surprise(arm, ledger.arms.name(arm), average_k, expected_k, *spread, *far))
    return made, judgement is not None


def _of_vague(ledger: Ledger, A: Integers, arms: Sequence[int] | None) -> list[Surprise]:
    """Return the same of a belief that learns: each arm is judged by the belief without it."""
    if arms is not None:
        first = [one for arm in arms if (one := _left_out(ledger, A, arm)) is not None]
        return [one for one in _of_vague(ledger, A, None) if one.arm in arms] or first if first else []
    apart: list[Surprise] = []
    while A.size > 1 and len(apart) < MOST_APART:
        found = [one for arm in _extreme(ledger, A) if (one := _left_out(ledger, A, arm)) is not None]
        if not found:
            break
        apart.append(max(found, key=lambda one: abs(one.z)))
        A = A[apart[-1].arm != A]
    return apart


def _extreme(ledger: Ledger, A: Integers) -> list[int]:
    """Return the arms of A whose averages stand out most."""
    average = ledger.tally.sums[A] / ledger.tally.counts[A]
    apart = [np.abs(average - np.median(average)), np.abs(average - _of_arms(ledger, A).mean[A])]
    places = np.concatenate([np.argsort(-one, kind="stable")[:MOST_EXTREME] for one in apart])
    return [int(arm) for arm in np.unique(A[places])]


def _of_arms(ledger: Ledger, A: Integers) -> Vague:
    """Return what the rewards of some arms alone make of the prior."""
    some = set(A.tolist())
    told = [one for one in ledger.trials if one.status == "told" and one.arm in some]
    tally = Tally.empty(ledger.arms.count).plus((one.arm, 1, one.reward) for one in told)
    with one_thread():
        belief = ledger.prior.replay(ledger.history(tally))
    assert isinstance(belief, Vague)
    return belief


def tail_of(belief: Vague, arm: int, average: float, number: int = 1) -> float:
    """Return the probability of an average of so many rewards as far out: a mixture of Student t."""
    from scipy.special import ndtr, stdtr

    scale = belief.part_scales[:, arm] * np.sqrt(1 + belief.part_noise[:, arm] / number)
    t, free = -np.abs(average - belief.part_locations[:, arm]) / scale, belief.part_freedom
    return float(belief.weights @ (ndtr(t) if np.isinf(free) else stdtr(free, t)))


def _left_out(ledger: Ledger, A: Integers, arm: int) -> Surprise | None:
    """Return how an arm surprises the belief that the other arms of A make, if it does."""
    belief = _of_arms(ledger, A[arm != A])
    if belief.opening:
        return None
    from scipy.special import ndtr

    number = int(ledger.tally.counts[arm])
    average = float(ledger.tally.sums[arm]) / number
    if not tail_of(belief, arm, average, number) < ndtr(-SURPRISING):
        return None
    expected = float(belief.mean[arm])
    deviation = float(np.sqrt(belief.variance[arm] + belief.noise_variance[arm] / number))
    far = _farthest(ledger, arm, expected)
    z = (average - expected) / deviation
    return Surprise(arm, ledger.arms.name(arm), average, expected, deviation, z, *far)


def _farthest(ledger: Ledger, arm: int, expected: float) -> tuple[int, float]:
    """Return the trial of an arm, and its reward, that is farthest from what is expected."""
    told = [(n, one.reward) for n, one in enumerate(ledger.trials, 1) if one.arm == arm and one.status == "told"]
    return max(told, key=lambda trial: abs(trial[1] - expected))


def _by_prior(ledger: Ledger, A: Integers, D: Array, average: Array, asked: Integers) -> tuple[Array, Array] | None:
    """Return D_i (M^-1)_ii and how many deviations average i is from what is expected without it, for those asked.

    The share is 0 where nothing else says anything of an arm. None if M is singular to rounding.
    """
    covariance = _covariance(ledger.recipe.arguments, A)
    residual = average - _per_arm(ledger.recipe.arguments.get("mean", 0.0), A)
    known = np.flatnonzero(np.isfinite(covariance.diagonal()))
    place, some = np.searchsorted(known, asked), np.isin(asked, known)
    M, column = covariance[np.ix_(known, known)] + np.diag(D[known]), place[some]
    share, z = np.zeros(asked.size), np.zeros(asked.size)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            solved = np.linalg.solve(M, np.column_stack([residual[known], np.eye(known.size)[:, column]]))
    except np.linalg.LinAlgError:
        return None
    weight, precision = solved[column, 0], solved[column, 1 + np.arange(column.size)]
    if not (np.isfinite(weight) & np.isfinite(precision) & (precision > 0)).all():
        return None
    share[some], z[some] = D[asked[some]] * precision, weight / np.sqrt(precision)
    return share, z


def _by_belief(ledger: Ledger, A: Integers, D: Array, average: Array, asked: Integers) -> tuple[Array, Array]:
    """Return the same from the posterior: (M^-1)_ii is (D_i - s_i^2) / D_i^2, and (M^-1 r)_i the rest over D_i."""
    belief = told_belief(ledger)
    left = np.maximum(D - belief.variance[A], 0.0)[asked]
    rest = (average - belief.mean[A])[asked]
    return left / D[asked], np.divide(rest, np.sqrt(left), out=np.zeros(asked.size), where=left > 0)


def _covariance(given: Mapping[str, Any], A: Integers) -> Array:
    """Return the prior covariance of some arms, from the arguments of their prior."""
    if "kernel" in given:
        where = np.asarray(given["coordinates"], dtype=np.float64)[A]
        return np.asarray(given["kernel"](where, where))
    if "covariance" in given:
        return np.asarray(given["covariance"])[np.ix_(A, A)]
    return np.diag(_per_arm(given.get("variance", np.inf), A))


def _per_arm(value: Any, A: Integers) -> Array:
    """Return the entries of some arms of one number for all, or one per arm."""
    array = np.asarray(value, dtype=np.float64)
    return array[A] if array.ndim else np.full(A.size, float(array))
