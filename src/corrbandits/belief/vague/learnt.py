"""What was learnt, in the units of the rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.drift import scales_of
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.spread import FEWEST_SITE

if TYPE_CHECKING:
    from corrbandits.belief.vague.belief import Vague

LEVELS = 41
"""A scale that is integrated out is described by so many of its quantiles."""


@final
@dataclass(frozen=True)
class Interval:
    """A quantity of which something was learnt: its median, and between what it lies with probability 0.9.

    Where the parts of the belief cannot tell that well, it is as wide as what they do not tell apart; see `resolution`.
    """

    median: float
    low: float
    high: float
    stated: bool = False
    """Whether it was told as a number, which all three are then: nothing was learnt of it."""

    @staticmethod
    def of(values: Array, weights: Array) -> Interval:
        """Return the quantiles of a discrete law.

        >>> Interval.of(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.2, 0.6]))
        Interval(median=2.0, low=1.0, high=3.0, stated=False)
        """
        order = np.argsort(values)
        reached = np.cumsum(weights[order]) / weights.sum()
        low, median, high = (float(values[order][np.searchsorted(reached, q * (1 - 1e-12))]) for q in (0.05, 0.5, 0.95))
        return Interval(median, low, high)

    def at_least(self, tried: Array, places: int) -> Interval:
        """Return the interval, no narrower than so many places of the values that were tried, on either side.

        >>> Interval(2.0, 2.0, 2.0).at_least(np.array([3.0, 1.0, 2.0, 2.0, 4.0]), 1)
        Interval(median=2.0, low=1.0, high=3.0, stated=False)
        """
        order = np.sort(tried)
        first, last = (int(np.searchsorted(order, self.median, side)) for side in ("left", "right"))
        below, above = order[max(first - places, 0)], order[min(last - 1 + places, order.size - 1)]
        return Interval(self.median, min(self.low, float(below)), max(self.high, float(above)))


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

    drift: Interval | None = None
    """The time in which mean rewards change, inf if they do not; None if nothing was said of a change."""


def learnt(belief: Vague) -> Learnt:
    """Return what was learnt; refuse in the opening."""
    if belief.opening:
        raise ValueError(
            "nothing can be said yet: too few rewards have come, or all are equal. Observe some arms that lie far from "
            "each other first."
        )
    parts, told, law = belief.parts, belief._state.prior.given, _law(belief)
    ratio = np.sqrt(parts.ratios)
    return Learnt(
        rewards=int(belief.counts.sum()) + (0 if parts.past is None else parts.past.rewards),
        sd=law.spread(law.deviation, parts.scales, told["sd"]),
        noise_sd=law.spread(law.deviation * ratio[law.part], parts.scales * ratio, told["noise_sd"]),
        **(_by_place(parts, told, law) if parts.apart else _NOWHERE),
        seasons=None if parts.past is None else law.of(parts.alike),
        repeated=bool((belief.counts > 1).any()),
        drift=None if parts.rates is None else law.of(scales_of(parts.rates), told["drift"]),
    )


_NOWHERE: dict[str, Any] = {"neighbours": None, "length": None, "site": None, "kernels": {}}


def _by_place(parts: Parts, told: Mapping[str, Any], law: _Law) -> dict[str, Any]:
    """Return what was learnt of how arms relate by where they lie."""
    lengths = np.atleast_2d(parts.lengths.T)
    said = (told["length"] if "per_coordinate" in told else [told["length"]]) or [None] * len(lengths)
    each = tuple(law.of(one, known) for one, known in zip(lengths, said, strict=True))
    site = law.of(np.where(parts.sites <= FEWEST_SITE, 0.0, parts.sites), told["site"])
    near, names = parts.of_neighbours(), np.array(parts.kernels)
    known = site.stated and all(one.stated for one in each) and len(set(parts.kernels)) == 1
    return {
        "neighbours": law.of(near, float(near[0]) if known else None),
        "length": each if "per_coordinate" in told else each[0],
        "site": site,
        "kernels": {str(name): float(law.weights[names[law.part] == name].sum()) for name in dict.fromkeys(names)},
    }


@final
@dataclass(frozen=True)
class _Law:
    """The components of the mixture, and how coarse its parts are."""

    part: Integers
    weights: Array
    deviation: Array
    """That of the arms' means, in units of rewards."""

    places: int

    def of(self, values: Array, said: Any = None) -> Interval:
        """Return what was learnt of a quantity that has a value under each part, or said of it."""
        return self.spread(values[self.part], values, said)

    def spread(self, values: Array, tried: Array, said: Any) -> Interval:
        """Return the same of one that has a value for each component; nan was tried where it is integrated out."""
        if isinstance(said, float):
            return Interval(said, said, said, stated=True)
        return Interval.of(values, self.weights).at_least(values if np.isnan(tried).any() else tried, self.places)


def _law(belief: Vague) -> _Law:
    """Return the components, those whose scale is integrated out once for each of its quantiles."""
    mixture, of = belief._mixture, belief._mixture.components
    part, weights, square = mixture.factors.kept[of.part], mixture.weights, of.tau_squared
    if math.isfinite(of.freedom):
        from scipy.special import chdtri

        levels = (np.arange(LEVELS) + 0.5) / LEVELS
        times = of.freedom / chdtri(of.freedom, levels)
        part, weights = np.repeat(part, LEVELS), np.repeat(weights, LEVELS) / LEVELS
        square = (square[:, None] * times).ravel()
    return _Law(part, weights, np.sqrt(square) * belief._state.units.unit, resolution(belief.parts))


def resolution(parts: Parts) -> int:
    """Return how many values on either side of one, in order, the parts do not tell from it.

    G parts are spread over d quantities that were not stated: along each they tell G^(1/d) values apart, so that
    G^(1 - 1/d) parts, in the order of one quantity, are as good as one.

    >>> from corrbandits.belief.vague.parts import Parts
    >>> resolution(Parts.of(np.array([[0.0], [1.0], [2.0]]), number=48, arms=3))
    7
    """
    by_place = [] if parts.points is None else [*np.atleast_2d(parts.lengths.T), parts.sites]
    scaled = _varies(parts.scales) and _varies(parts.scales * np.sqrt(parts.ratios))
    change = [] if parts.rates is None else [parts.rates]
    number = sum(map(_varies, [*by_place, parts.ratios, parts.alike, *change])) + scaled
    alike: float = len(parts) ** (1 - 1 / max(number, 1))
    return max(1, round(alike / 2))


def _varies(values: Array) -> bool:
    return bool(np.ptp(values) > 1e-9 * np.abs(values).max())
