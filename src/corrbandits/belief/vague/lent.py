"""What other fields lend: how likely each part is, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.tally import Tally
from corrbandits.belief.vague.components import components
from corrbandits.belief.vague.evidence import conditioned
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.standard import Standard

Field = tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]
"""Where rewards were measured, and the rewards."""


def log_likelihoods(parts: Parts, fields: Sequence[Field]) -> Array:
    """Return the log density of the rewards of other fields under each part, up to a constant.

    Each field has a mean of its own, and a scale of its own unless that is known: both are integrated out.
    """
    total = np.zeros(len(parts))
    for where, rewards in fields:
        places, arms = np.unique(np.array(where), axis=0, return_inverse=True)
        own = replace(parts, points=places, arms=len(places), past=None, log_prior=np.zeros(len(parts)))
        tally = Tally.empty(len(places)).plus((k, 1, r) for k, r in zip(arms.ravel().tolist(), rewards, strict=True))
        seen = Standard.of(tally, np.ones(len(places))).beside(parts.scales, None)
        evidence, _, _ = conditioned(own, seen, np.ones(len(places)))
        total += components(evidence, parts.scales, None, seen.offset, seen.unit).log_weight
    return total


def fields_in(fields: Any, dimensions: int) -> tuple[Field, ...]:
    """Return fields in the form in which they are stored; refuse what is none.

    >>> fields_in([([1.0, 0.0, 4.0], [3.0, 2.0, 5.0])], 1)
    ((((0.0,), (1.0,), (4.0,)), (2.0, 3.0, 5.0)),)
    """
    found: list[Field] = []
    for number, field in enumerate(fields or (), start=1):
        if not isinstance(field, (tuple, list)) or len(field) != 2:
            raise ValueError(
                f"fields must be a list of pairs, coordinates and rewards, got {field!r:.60} for field {number}."
            )
        places = checks.points(f"coordinates of field {number}", field[0])
        rewards = np.atleast_1d(checks.finite(f"rewards of field {number}", field[1]))
        if rewards.shape != (len(places),) or places.shape[1] != dimensions:
            raise ValueError(
                f"a field must have a reward for each row of {dimensions} coordinates, got {len(places)} rows of "
                f"{places.shape[1]} and {rewards.size} rewards in field {number}."
            )
        if rewards.size < 3 or np.ptp(rewards) == 0:
            raise ValueError(
                f"a field must have three rewards at least that are not all equal, but field {number} has not. Leave "
                "it out: it says nothing of how arms relate."
            )
        order = np.lexsort([rewards, *places.T[::-1]])
        found.append((tuple(map(tuple, places[order].tolist())), tuple(rewards[order].tolist())))
    return tuple(found)
