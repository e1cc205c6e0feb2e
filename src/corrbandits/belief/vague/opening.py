"""The opening: how long there are no means and variances yet, and where to look then, far from what was tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.vague.components import components, freedom
from corrbandits.belief.vague.evidence import Evidence
from corrbandits.belief.vague.known import Known
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard

DIGITS = 9
"""So many decimals have squared distances, in parts of the widest extent: what is equal is equal in any unit."""


def lasts(parts: Parts, level: Known | None, seen: Standard, evidence: Evidence) -> bool:
    """Return whether so few rewards have come, or all so equal, that there are no means and variances yet.

    `level` is what is known of the mean of all arms.
    """
    degrees = freedom(evidence.number, level, free=parts.free)
    return degrees <= 2 or (level is None and not seen.number) or (parts.free and _without_scale(parts, level, seen))


def rewards_needed(parts: Parts, level: Known | None, rewards: int) -> int:
    """Return how many rewards the opening needs at least, after so many, while it lasts."""
    wanting = 1 if not parts.free else 4 if level is None or level.deviation else 3
    known = 0 if parts.past is None else parts.past.degrees
    return max(wanting - known - rewards, 1)


def weights_of_past(parts: Parts, seen: Standard, evidence: Evidence) -> Array:
    """Return the weights of the parts in the opening: what earlier seasons and other fields say of them."""
    if parts.past is None or not parts.past.squares.any() or seen.number:
        likely = np.exp(parts.log_prior - parts.log_prior.max())
        return np.asarray(likely / likely.sum())
    alone = replace(evidence, number=evidence.number + 1)  # no mean of this season takes one away
    return components(alone, parts.scales, None, seen.offset, seen.unit).weights()


def _without_scale(parts: Parts, level: Known | None, seen: Standard) -> bool:
    """Return whether the rewards say nothing of a scale: no two differ, nor from a mean that is known."""
    if level is not None and not level.deviation and seen.offset != level.centre:
        return False
    return seen.all_equal and (parts.past is None or not parts.past.squares.any())


def first_look(parts: Parts, weights: Array, tried: Integers, candidates: Integers) -> int:
    """Return which candidate to try in the opening, `tried` counting that per arm.

    It is the farthest from what was tried. If earlier seasons say which arms are better, it is the one that did best
    there, each once.
    """
    if parts.past is not None and parts.ranked:
        least = candidates[tried[candidates] == tried[candidates].min()]
        return first_of(parts.points, weights @ parts.past.expected, least)
    return farthest(None if parts.points is None else parts.places(), tried, candidates)


def farthest(points: Array | None, tried: Integers, candidates: Integers) -> int:
    """Return which candidate lies farthest from what was tried, `tried` counting that per arm.

    Among equally far ones the least tried is taken, then the one nearest to the middle of all arms, then the first by
    coordinates, then the first candidate. Before anything was tried it is the one in the middle.

    >>> points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> every = np.arange(5)
    >>> farthest(points, np.zeros(5, dtype=int), every), farthest(points, np.array([0, 0, 1, 0, 0]), every)
    (2, 0)
    """
    if points is None:
        return int(candidates[tried[candidates].argmin()])
    points = in_widest(points)
    here, away = points[candidates], _away(points, tried, candidates)
    return int(candidates[np.lexsort([*_from_middle(points, here), tried[candidates], -away])[0]])


def far_enough(points: Array | None, tried: Integers, candidates: Integers) -> Integers:
    """Return the candidates at least half as far from what was tried as the farthest; if none is, the least tried.

    >>> points, every = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.arange(5)
    >>> far_enough(points, np.array([1, 0, 0, 0, 0]), every), far_enough(None, np.array([1, 0, 0, 1, 0]), every)
    (array([2, 3, 4]), array([1, 2, 4]))
    """
    away = np.zeros(candidates.size) if points is None else _away(in_widest(points), tried, candidates)
    if not away.max():
        return np.asarray(candidates[tried[candidates] == tried[candidates].min()])
    return np.asarray(candidates[away >= away.max() / 4])  # they are squares


def in_widest(points: Array) -> Array:
    """Return where arms lie, in parts of the widest extent.

    >>> in_widest(np.array([[10.0, 3.0], [14.0, 5.0]]))
    array([[0. , 0. ],
           [1. , 0.5]])
    """
    there = points - points.min(axis=0)
    return np.asarray(there / (there.max(initial=0.0) or 1.0))


def squared_distances(points: Array, place: Array) -> Array:
    """Return how far arms lie from a place, both in parts of the widest extent: squares, rounded."""
    return np.asarray(np.square(points - place).sum(axis=1).round(DIGITS))


def _away(points: Array, tried: Integers, candidates: Integers) -> Array:
    """Return the square of how far each candidate lies from what was tried; 0 before anything was."""
    here, seen = points[candidates], np.flatnonzero(tried)
    away = np.full(candidates.size, np.inf if seen.size else 0.0)
    for arm in seen:
        np.minimum(away, squared_distances(here, points[arm]), out=away)
    return away


def first_of(points: Array | None, expected: Array, candidates: Integers) -> int:
    """Return the candidate of which most is expected; of nearly equal ones the first by coordinates.

    >>> first_of(np.array([[3.0], [1.0], [2.0]]), np.array([7.0, 7.0, 1.0]), np.arange(3))
    1
    """
    values = expected[candidates]
    near = candidates[values >= values.max() - 1e-9 * np.ptp(values)]
    return int(near[0] if points is None else near[np.lexsort(points[near].T[::-1])[0]])


def in_order(points: Array | None, arms: int) -> tuple[Integers, Integers]:
    """Return the order in which `farthest` takes the arms, each once, and that in which it takes them ever after.

    >>> in_order(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 5)
    (array([2, 0, 4, 1, 3]), array([2, 1, 3, 0, 4]))
    """
    if points is None:
        return np.arange(arms), np.arange(arms)
    points = in_widest(points)
    again = np.lexsort(_from_middle(points, points))
    there = points[again]
    away, first = np.full(arms, np.inf), np.zeros(arms, dtype=np.int64)
    for place in range(1, arms):
        np.minimum(away, squared_distances(there, there[first[place - 1]]), out=away)
        away[first[:place]] = -1.0  # an arm at the place of one that was tried comes before it is tried again
        first[place] = away.argmax()
    return again[first], again


def _from_middle(points: Array, here: Array) -> list[Array]:
    """Return keys to sort some places by: how far they lie from the middle of all, then their coordinates."""
    middle = squared_distances(here, (points.min(axis=0) + points.max(axis=0)) / 2)
    return [*here.T[::-1], middle]
