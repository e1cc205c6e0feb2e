"""Rewards that are not what everything else says of them: perhaps one was mistyped.

    name      shape     meaning
    A         (k,)      the arms that have rewards
    average   (k,)      their average rewards
    D         (k,)      the variance of each average, sigma_i^2 / n_i
    M         (k, k)    the covariance of the averages, S0_AA + diag(D)
    left      (k,)      D less the posterior variance: D_i^2 (M^-1)_ii
    y         ()        one of several rewards of an arm

What all other arms and the prior expect of average i, without that average, is normal with variance 1 / (M^-1)_ii, and
the average is (M^-1 (average - mu_0))_i / (M^-1)_ii above it: the formula of leaving one out. It is so many deviations
above as it lies above the posterior mean, over the root of left_i. A single reward of an arm is judged by the other
rewards of that arm too: y lies (y - posterior mean) / sqrt(sigma_i^2 - D_i + left_i) deviations above what is expected
without it. Of an arm the average or the lowest or highest reward is named, whichever stands out most; of two that do so
equally, since nothing but each other judges them, the one farther from the middle of all rewards.

This needs the covariances of the arms with rewards only, and NumPy only, so that telling a reward need not load more. A
prior that follows the data has no such covariances, and M may be singular to rounding; then the same numbers are
computed from the posterior.

One mistyped reward makes others look wrong too. So the worst is taken out first, and the others are judged without it,
as long as some surprise. Of a belief that learns the noise, `left_out` judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.tally import Tally
from corrbandits.belief import GaussianBelief, Vague
from corrbandits.study.choosing import told_belief
from corrbandits.study.ledger import Ledger

SURPRISING = 5.0
"""So many deviations from what is expected surprise."""

MOST_APART = 5
"""So many arms or rewards are taken out one by one, each time that the rest are judged again."""

AS_GOOD_AS_EQUAL = 1e-9
"""Numbers of deviations that differ by less than this share are equal but for rounding."""

LEAST_SHARE = 1e-9
"""Of an average's variance, what its own noise must have if anything but the arm itself is to say something of it."""


@final
@dataclass(frozen=True)
class Surprise:
    """Rewards of an arm, or one of them, that are not what everything else says: perhaps one was mistyped.

    `average` is that of `rewards` rewards: of all of the arm or, if this is 1, a single one. `expected` and `deviation`
    are what the prior and all other rewards make of it, without those that surprise more; `z` is how many deviations it
    is from that. `trial` is the one whose `reward` is farthest from what is expected.
    """

    arm: int
    name: str
    average: float
    expected: float
    deviation: float
    z: float
    trial: int
    reward: float
    rewards: int = 1


class Told(NamedTuple):
    """A reward that counts."""

    trial: int
    arm: int
    reward: float


class Apart(NamedTuple):
    """A reward, or the average of some, what is expected of it without it, and how many deviations it is from that."""

    value: float
    expected: float
    deviation: float
    z: float
    rewards: int


def surprises(ledger: Ledger, trial: int | None = None) -> list[Surprise]:
    """Return what is more than `SURPRISING` deviations from what all else says, the worst first.

    With a trial, only that and the average of its arm are looked at, which takes less time; if one of them surprises,
    what is worst of this arm is returned. Of arms that are not jointly normal nothing is said. Where mean rewards
    change, rewards are judged by those before them: see `ahead`.
    """
    kind = ledger.recipe.kind
    if ledger.recipe.changes:
        from corrbandits.study.report.ahead import surprises_ahead

        return surprises_ahead(ledger, None if trial is None else ledger.entry(trial).arm)
    if issubclass(kind, Vague):
        from corrbandits.study.report.left_out import surprises_left_out

        return surprises_left_out(ledger, trial)
    if not (issubclass(kind, GaussianBelief) and kind.jointly_gaussian) or not ledger.tally.counts.any():
        return []
    if trial is not None:
        one = Told(trial, ledger.entry(trial).arm, ledger.entry(trial).reward)
        some = _judged(ledger, ledger.tally, [one])[0]
        return [found for found in surprises(ledger) if found.arm == one.arm] if some else []
    rewards, tally = told(ledger), ledger.tally
    found, by_prior = _judged(ledger, tally, rewards)
    apart: list[Surprise] = []
    while found and by_prior and len(apart) < MOST_APART:
        rest = without(rewards, found[:1])
        if not rest:
            break
        apart.append(found[0])
        rewards, tally = rest, tally_of(rest, ledger)
        found, by_prior = _judged(ledger, tally, rewards)
    return apart + found


def told(ledger: Ledger) -> list[Told]:
    """Return the rewards that count."""
    return [Told(n, one.arm, one.reward) for n, one in enumerate(ledger.trials, 1) if one.status == "told"]


def by_arm(rewards: Iterable[Told]) -> dict[int, list[Told]]:
    """Return the rewards of each arm that has some."""
    found: dict[int, list[Told]] = {}
    for one in rewards:
        found.setdefault(one.arm, []).append(one)
    return found


def without(rewards: Iterable[Told], found: Iterable[Surprise]) -> list[Told]:
    """Return the rewards without those that surprise."""
    alone = {one.trial for one in found if one.rewards == 1}
    arms = {one.arm for one in found if one.rewards > 1}
    return [one for one in rewards if one.trial not in alone and one.arm not in arms]


def tally_of(rewards: Iterable[Told], ledger: Ledger) -> Tally:
    """Return what some rewards add up to."""
    return Tally.empty(ledger.arms.count).plus((one.arm, 1, one.reward) for one in rewards)


def _judged(ledger: Ledger, tally: Tally, rewards: Iterable[Told]) -> tuple[list[Surprise], bool]:
    """Return how some rewards and their arms surprise, worst first, by a tally; and whether by this tally alone."""
    rewards_of = by_arm(rewards)
    A = np.flatnonzero(tally.counts)
    counts = tally.counts[A]
    average, noise = tally.sums[A] / counts, _per_arm(ledger.recipe.arguments["noise_variance"], A)
    D, asked = noise / counts, np.searchsorted(A, sorted(rewards_of))
    kind = ledger.recipe.kind
    fixed = issubclass(kind, GaussianBelief) and kind.fixed_prior
    judgement = _by_prior(ledger, A, D, average, asked) if fixed else None
    shares, zs = judgement or _by_belief(ledger, A, D, average, asked)
    found, middle = [], float(np.median([one.reward for one in told(ledger)]))
    for k, share, z in zip(asked.tolist(), shares.tolist(), zs.tolist(), strict=True):
        arm = int(A[k])
        apart = _worst(rewards_of[arm], int(counts[k]), float(average[k]), float(noise[k]), share, z, middle)
        if apart is not None and abs(apart.z) > SURPRISING:
            found.append(surprise(ledger, arm, apart, rewards_of[arm]))
    return sorted(found, key=lambda one: -abs(one.z)), judgement is not None


def _worst(
    rewards: Sequence[Told], n: int, average: float, noise: float, share: float, z: float, middle: float
) -> Apart | None:
    """Return what stands out most, the average of an arm's n rewards or one of them; of equals that far from middle."""
    D, each = noise / n, []
    with np.errstate(over="ignore"):
        if share > LEAST_SHARE:
            deviation = np.sqrt(D / share)
            each.append(Apart(average, average - z * deviation, deviation, z, n))
        if n > 1:
            root = np.sqrt(noise - D + D * share)
            for y in (max(one.reward for one in rewards), min(one.reward for one in rewards)):
                far = (y - average + z * np.sqrt(D * share)) / root
                each.append(Apart(y, y - far * noise / root, noise / root, far, 1))
    most = max((abs(one.z) for one in each), default=0.0)
    worst = (one for one in each if abs(one.z) >= most * (1 - AS_GOOD_AS_EQUAL))
    return max(worst, key=lambda one: abs(one.value - middle), default=None)


def surprise(ledger: Ledger, arm: int, apart: Apart, rewards: Sequence[Told]) -> Surprise:
    """Return how rewards of an arm surprise, with the one of these that is farthest from what is expected."""
    value, expected, deviation, z, n = apart
    far = max((one for one in rewards if n > 1 or one.reward == value), key=lambda one: abs(one.reward - expected))
    name = ledger.arms.name(arm)
    return Surprise(arm, name, float(value), float(expected), float(deviation), float(z), far.trial, far.reward, n)


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
