"""What was learnt, in the units of the rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief.vague.parts import FEWEST_SITE

if TYPE_CHECKING:
    from corrbandits.belief.vague.belief import Vague

LEVELS = 41
"""A scale that is integrated out is described by so many of its quantiles."""


@final
@dataclass(frozen=True)
class Interval:
    """A quantity of which something was learnt: its median, and between what it lies with probability 0.9."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Array, weights: Array) -> Interval:
        """Return the quantiles of a discrete law.

        >>> Interval.of(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.2, 0.6]))
        Interval(median=2.0, low=1.0, high=3.0)
        """
        order = np.argsort(values)
        reached = np.cumsum(weights[order]) / weights.sum()
        low, median, high = (float(values[order][np.searchsorted(reached, q * (1 - 1e-12))]) for q in (0.05, 0.5, 0.95))
        return Interval(median, low, high)


@final
@dataclass(frozen=True)
class Learnt:
    """What a `Vague` belief says of what it was not told; None where arms lie nowhere."""

    rewards: int
    """How many rewards it is learnt from."""

    neighbours: Interval | None
    """The correlation of two arms that are as far from each other as nearest neighbours are."""

    sd: Interval
    """The deviation of the arms' mean rewards about their common mean."""

    noise_sd: Interval
    """The deviation of a reward about its arm's mean."""

    length: Interval | tuple[Interval, ...] | None
    """How far correlation reaches: one, or one per coordinate."""

    site: Interval | None
    kernels: dict[str, float]
    """The probability of each kernel."""

    seasons: Interval | None
    """The correlation of an arm's mean reward between two seasons, if there were earlier ones."""

    repeated: bool
    """Whether some arm gave more than one reward; until then noise and site effect look alike."""


def learnt(belief: Vague) -> Learnt:
    """Return what was learnt; refuse in the opening."""
    if belief.opening:
        raise ValueError(
            "nothing can be said yet: too few rewards have come, or all are equal. Observe some arms that lie far from "
            "each other first."
        )
    parts, mixture, of = belief.parts, belief._mixture, belief._mixture.components
    part, weights, square = mixture.factors.kept[of.part], mixture.weights, of.tau_squared
    if math.isfinite(of.freedom):
        from scipy.special import chdtri

        levels = (np.arange(LEVELS) + 0.5) / LEVELS
        times = of.freedom / chdtri(of.freedom, levels)
        part, weights = np.repeat(part, LEVELS), np.repeat(weights, LEVELS) / LEVELS
        square = (square[:, None] * times).ravel()
    deviation = np.sqrt(square) * belief._state.units.unit
    noise = deviation * np.sqrt(parts.ratios[part])
    near = length = site = None
    kernels: dict[str, float] = {}
    if parts.points is not None:
        near = Interval.of(parts.of_neighbours()[part], weights)
        each = tuple(Interval.of(lengths[part], weights) for lengths in np.atleast_2d(parts.lengths.T))
        length = each[0] if parts.lengths.ndim == 1 else each
        shares = np.where(parts.sites <= FEWEST_SITE, 0.0, parts.sites)
        site = Interval.of(shares[part], weights)
        for g, weight in zip(part.tolist(), weights.tolist(), strict=True):
            kernels[parts.kernels[g]] = kernels.get(parts.kernels[g], 0.0) + weight
    return Learnt(
        rewards=int(belief.counts.sum()) + (0 if parts.past is None else parts.past.rewards),
        neighbours=near,
        sd=Interval.of(deviation, weights),
        noise_sd=Interval.of(noise, weights),
        length=length,
        site=site,
        kernels=kernels,
        seasons=None if parts.past is None else Interval.of(parts.alike[part], weights),
        repeated=bool((belief.counts > 1).any()),
    )
