"""How parts are spread over the prior: a quasi-random sequence, and the noise ratios and site shares at its points."""

from __future__ import annotations

from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.belief.vague.known import FARTHEST

RATIOS = (1e-6, 1 / 30, 30.0)
"""Noise variance over the variance of the arms' means, if nothing is said: log-uniform within each of the two ranges.

Usually it lies in the second: at 1/30 one reward tells an arm from its neighbours, and at 30, beyond which problems are
hopeless, a single arm takes 30 rewards to say as much as the prior does. But measurements may be precise. Where arms
are repeated the noise is soon known, and if ratios ended at 1/30, the deviation of arms that were never tried would
follow from it. At the least noise is a thousandth of the deviation: less makes no difference to a choice.
"""

LIKELY = (1 / 12, 11 / 12)
"""How likely each range is."""

SHARE = (1 / 4, 3 / 4)
"""The share of the parts in each range: more for precise measurements than they are likely, so as to know the scale."""

FEWEST_SITE = 1e-10
"""At least this share of the variance belongs to single arms: no correlation matrix is singular to rounding."""


def quasi_random(number: int, dimensions: int) -> Array:
    """Return `dimensions` rows of so many numbers in (0, 1), spread evenly: the additive sequence of Roberts.

    >>> quasi_random(4, 1).round(3)
    array([[0.118, 0.736, 0.354, 0.972]])
    """
    root = 2.0
    for _ in range(60):  # the only root above 1 of x^(d + 1) = x + 1
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + steps[:, None] * np.arange(1, number + 1)) % 1)


def noise_ratios(u: Array) -> tuple[Array, Array]:
    """Return noise ratios, and up to a constant the logarithms of how likely they are.

    >>> ratios, log_likely = noise_ratios(np.array([0.1, 0.25, 0.7, 1.0]))
    >>> np.log10(ratios).round(2), np.exp(log_likely).round(2)
    (array([-4.19, -1.48,  0.3 ,  1.48]), array([0.33, 1.22, 1.22, 1.22]))
    """
    ends = np.cumsum((0.0, *SHARE))
    ratios = np.exp(np.interp(u, ends, np.log(RATIOS)))
    each = np.log(np.divide(LIKELY, SHARE))
    return ratios, each[np.searchsorted(ends[1:-1], u, side="right")]


def told_noise_ratios(deviations: Array) -> Array:
    """Return the squares of noise over deviation, both told; refuse what is no double."""
    if not (deviations.min() > 1 / FARTHEST and deviations.max() < FARTHEST):
        raise ValueError(
            f"noise_sd over sd must lie between {1 / FARTHEST:g} and {FARTHEST:g}, got {deviations.min():g} to "
            f"{deviations.max():g}. Leave one of them out: it is learnt."
        )
    return np.square(deviations)


def site_shares(u: Array, said: Any) -> Array:
    """Return the site shares: none for half of the parts and any for the others, unless something is said."""
    if said is None:
        return np.where(u < 0.5, FEWEST_SITE, np.maximum(2 * u - 1, FEWEST_SITE))
    pair = checks.finite("site", said)
    if pair.shape not in ((), (2,)) or not ((pair >= 0) & (pair <= 1)).all() or (pair.ndim and not pair[0] < pair[1]):
        raise ValueError(
            "site must be the share of variance that belongs to single arms, from 0 to 1, an interval (least, most) "
            f"of such, or None if it is not known, got {said!r:.60}."
        )
    low, high = (pair.item(), pair.item()) if not pair.ndim else (pair[0].item(), pair[1].item())
    return np.maximum(low + (high - low) * u, FEWEST_SITE)
