"""What a stated length makes of the arms of a study, in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import number
from corrbandits.belief import Belief, Vague
from corrbandits.belief.vague.lengths import reach
from corrbandits.belief.vague.spread import FEWEST_SITE
from corrbandits.kernels import Kernel, Stationary, WithDeviations

UNRELATED, ALIKE, ALL_ALIKE = 0.001, 0.999, 0.99
"""Correlations of nearest neighbours beyond which a length is absurd, and of the arms farthest from each other."""

IN_UNITS = "is the length in the units of the coordinates?"


def length_in_words(prior: Belief, places: Array | None) -> list[str]:
    """Return what the stated length means for neighbours, and a warning where it is absurd; nothing without places.

    >>> from corrbandits import Correlated, Exponential
    >>> prior = Correlated(mean=3.0, kernel=4 * Exponential(300.0), coordinates=[0.0, 100.0], noise_variance=1.0)
    >>> length_in_words(prior, np.array([[0.0], [100.0]]))
    ['With that length, arms 100 apart, as nearest neighbours are, have a correlation of 0.72.']
    """
    found = _found(prior, places)
    if found is None:
        return []
    near, wide = (f"{number(distance, 3)}{found.unit}" for distance in found.distances)
    which = (
        "With these lengths, nearest neighbours"
        if found.each
        else f"With that length, arms {near} apart, as nearest neighbours are,"
    )
    low, high = map(_rounded, found.between)
    less = ", less what arms have of their own" if found.own else ""
    said = f"{which} have a correlation of {low if low == high else f'{low} to {high}'}{less}."
    if found.close < UNRELATED:
        return [f"{said} WARNING: so no arm says anything of another; {IN_UNITS}"]
    if found.close > ALIKE:
        return [f"{said} WARNING: so neighbours are taken for one and the same; {IN_UNITS}"]
    if found.far > ALL_ALIKE:
        far = _rounded(found.far)
        return [f"{said} WARNING: even arms {wide} apart have one of {far}, as if all were one; {IN_UNITS}"]
    return [said]


def absurd_length(prior: Belief, places: Array | None, study: str) -> list[str]:
    """Return in a line what a stated length makes of the arms where it is absurd, and how to change it.

    >>> from corrbandits import Correlated, Exponential
    >>> prior = Correlated(mean=3.0, kernel=4 * Exponential(0.1), coordinates=[0.0, 100.0], noise_variance=1.0)
    >>> absurd_length(prior, np.array([[0.0], [100.0]]), "meadow")[0].partition(";")[0]
    'WARNING: with the stated length arms are nearly independent: nearest neighbours have a correlation of 0'
    """
    found = None if isinstance(prior, Vague) and prior.prior_arguments()["length"] is None else _found(prior, places)
    if found is None:
        return []
    if found.close < UNRELATED:
        what = f"arms are nearly independent: nearest neighbours have a correlation of {_rounded(found.close)}"
    elif found.close > ALIKE:
        what = f"neighbours are nearly equal: they have a correlation of {_rounded(found.close)}"
    elif found.far > ALL_ALIKE:
        what = f"all arms are nearly equal: even the farthest have a correlation of {_rounded(found.far)}"
    else:
        return []
    name = f"-- {shlex.quote(study)}" if study.startswith("-") else shlex.quote(study)
    copy = f"corrbandits study copy --length LENGTH {name} NEW"
    return [f"WARNING: with the stated length {what}; another: {copy}"]


class _Found(NamedTuple):
    """The correlation of nearest neighbours and of arms as far apart as any; their distances; if axes have lengths.

    `between` is that of nearest neighbours in nine of ten parts, `own` whether arms may have something of their own,
    `unit` that of distances, if it is known.
    """

    close: float
    far: float
    between: tuple[float, float]
    distances: tuple[float, float]
    each: bool
    own: bool
    unit: str


def _found(prior: Belief, places: Array | None) -> _Found | None:
    """Return what the lengths of a prior make of arms, in the median of its parts; None where it has none."""
    kernels = _kernels(prior)
    if places is None or not kernels or len(np.unique(places, axis=0)) < 2:
        return None
    distances = reach(places, kernels[0].distance)
    at = {kernel: _at(kernel, places, distances) for kernel in set(kernels)}
    close, far = np.array([at[kernel] for kernel in kernels]).T
    low, high = np.quantile(close, (0.05, 0.95)).tolist()
    each = isinstance(kernels[0].length, tuple)
    own = isinstance(prior, Vague) and bool((prior.parts.sites > FEWEST_SITE).any())
    unit = " km" if kernels[0].distance in ("great_circle", "chordal") else ""
    return _Found(float(np.median(close)), float(np.median(far)), (low, high), distances, each, own, unit)


def _kernels(prior: Belief) -> Sequence[Stationary]:
    """Return the kernels of the parts of a prior, or its only one."""
    if isinstance(prior, Vague):
        return [] if prior.coordinates is None else [prior.parts.kernel(part) for part in range(len(prior.parts))]
    kernel = prior.prior_arguments().get("kernel")
    kernel = kernel.kernel if isinstance(kernel, WithDeviations) else kernel
    factors = kernel.factored() if isinstance(kernel, Kernel) else None
    return [] if factors is None else [factors[1]]


def _at(kernel: Stationary, places: Array, distances: tuple[float, float]) -> tuple[float, float]:
    """Return the correlation of nearest neighbours, and of arms as far apart as any."""
    length = np.asarray(kernel.length)
    near, wide = reach(places / length, kernel.distance) if length.ndim else np.array(distances) / length
    return float(kernel.correlation(np.array(near))), float(kernel.correlation(np.array(wide)))


def _rounded(correlation: float) -> str:
    """Return a correlation with as many digits as tell it from 0 and 1.

    >>> _rounded(0.7165), _rounded(0.99987), _rounded(2e-9)
    ('0.72', '0.99987', '2e-09')
    """
    if correlation > 0.995:
        return f"{correlation:.5f}"
    return f"{correlation:.2f}" if correlation >= 0.1 else f"{correlation:.1g}"
