"""How sure it is that an arm is the best, and what it would cost to settle for it, by draws of the arms that may be.

draws    (m, n)   mean rewards drawn from the posterior, of the m arms that may be best
loss     (n,)     how much the best of a draw is above the arm we would settle for
tail     (N,)     the probability that each arm is better than the leader; excess by how much it is on average
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.draws import covariance_root
from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent, Vague

DRAWS = 4_096
NEGLECTED = 1e-6
"""Arms that together are the best with less than this probability, and add less than this share of a deviation to the
loss, are not drawn."""

MOST_DRAWN, MOST_MADE = 5_000, 500
"""So many arms are drawn at most, those likeliest to be better than the leader; where covariances must first be made,
as those of a mixture and of an implicit belief, the second number."""

TIED = 1e-6
"""Of the largest deviation: mean rewards that differ by less are the same."""


class Judgement(NamedTuple):
    """The probability that an arm is the best, the expected loss of settling for it, and their standard errors."""

    probability: float
    probability_error: float
    loss: float
    loss_error: float
    approximate: bool = False
    """Whether arms that may be better were not drawn."""


def judged(belief: Belief, leader: int, rng: np.random.Generator) -> Judgement:
    """Return how sure it is that an arm is the best; where draws see too little, what is known exactly.

    >>> from corrbandits import Independent
    >>> two = Independent(mean=[1.0, 0.0], variance=[1.0, 1e-20], noise_variance=1.0)
    >>> round(judged(two, 0, np.random.default_rng(0)).probability, 1)     # a normal of mean 1 is above 0
    0.8
    """
    tail, excess = belief.rivals(leader) if _can_be_compared(belief) else (np.zeros(0), np.zeros(0))
    every = contenders(belief, leader, tail, excess) if tail.size else np.arange(belief.arms)
    arms = _likeliest(every, leader, tail, MOST_DRAWN if isinstance(belief, (Correlated, Independent)) else MOST_MADE)
    loss, wins, scale = [], 0, math.sqrt(belief.variance.max())
    for draws, place in _drawn(belief, leader, arms, rng):
        loss.append(draws.max(axis=0) - draws[place])
        wins += int(np.count_nonzero(loss[-1] <= TIED * scale))  # arms that are one and the same differ by rounding
    all_of_it, share = np.concatenate(loss), wins / DRAWS
    mean, error = float(all_of_it.mean()), float(all_of_it.std(ddof=1) / math.sqrt(DRAWS))
    if tail.size:
        share = min(max(share, 1 - float(tail.sum())), 1 - float(tail.max()))
        least, most = float(excess.max()), float(excess.sum())
        mean, error = min(max(mean, least), most), error if error > 0 else most - least
    return Judgement(share, math.sqrt(share * (1 - share) / DRAWS), mean, error, arms.size < every.size)


def contenders(belief: Belief, leader: int, tail: Array, excess: Array) -> Integers:
    """Return the arms, in order, that may be better than the leader; what the others could add is neglected."""
    order = np.argsort(tail, kind="stable")
    few = np.cumsum(tail[order]) <= NEGLECTED
    little = np.cumsum(excess[order]) <= NEGLECTED * math.sqrt(belief.variance.max())
    return np.union1d(order[~(few & little)], [leader])


def _likeliest(arms: Integers, leader: int, tail: Array, most: int) -> Integers:
    """Return the arms, in order, or if they are more than so many those likeliest to be better than the leader."""
    if arms.size <= most or not tail.size:
        return arms
    return np.union1d(arms[np.argsort(-tail[arms], kind="stable")[: most - 1]], [leader])


def _drawn(belief: Belief, leader: int, arms: Integers, rng: np.random.Generator) -> Iterator[tuple[Array, int]]:
    """Yield draws of some arms, some columns at a time, and the row of the leader."""
    place = int(np.searchsorted(arms, leader))
    if not _can_be_compared(belief):
        yield belief.draws(rng, DRAWS), leader
    elif isinstance(belief, Vague):
        yield belief.draws(rng, DRAWS, arms), place
    else:
        mean, deviation = belief.mean[arms], np.sqrt(belief.variance[arms])[:, None]
        root = None if belief.independent else covariance_root(belief.covariance_of(arms))
        for _ in range(0, DRAWS, 512):
            normals = rng.standard_normal((arms.size, 512))
            yield mean[:, None] + (deviation * normals if root is None else root @ normals), place


def _can_be_compared(belief: Belief) -> TypeGuard[GaussianBelief | Vague]:
    """Return whether the probability that one arm is better than another is known exactly."""
    return isinstance(belief, Vague) or (isinstance(belief, GaussianBelief) and belief.jointly_gaussian)
