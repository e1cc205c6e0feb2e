"""Which parts the mixture is made of: kernels, lengths, site shares, noise ratios and scales.

They follow from the coordinates and from what was said, never from rewards, and are spread over the prior by a
quasi-random sequence. Each stands for the same prior probability, but for those of precise measurements, which are more
and each less likely.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers, frozen
from corrbandits.belief.vague.drift import Drift, rates_of, unknown
from corrbandits.belief.vague.known import known
from corrbandits.belief.vague.lengths import in_extents, lengths_of_each, one_length, reach
from corrbandits.belief.vague.seasons import Seasons
from corrbandits.belief.vague.spread import noise_ratios, quasi_random, site_shares, told_noise_ratios
from corrbandits.kernels import KERNELS, Distance, Stationary
from corrbandits.kernels.stationary import BEYOND, on_unit_sphere

MOST_NEIGHBOURS = 100
"""Where lengths differ, what is said of neighbours is said of so many."""

KEPT = 5_000_000
"""Up to so many correlations, parts x arms x arms, are computed once and kept: 40 MB."""

USUAL = ("exponential", "matern52")
"""The kernels of the parts if none is given: a rough one and a smooth one."""


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """The parts, one entry each.

    >>> parts = Parts.of(np.array([[0.0], [1.0], [2.0]]), number=4, arms=3)
    >>> parts.kernels, 0.5 <= min(parts.lengths.tolist()), max(parts.lengths.tolist()) <= 2.0
    (('exponential', 'matern52', 'exponential', 'matern52'), True, True)
    """

    kernels: tuple[str, ...]
    lengths: Array
    """One of each part, (G,), or one per coordinate, (G, C)."""

    sites: Array
    """The share of the variance that belongs to single arms."""

    ratios: Array
    """Noise variance over the variance of the arms' means."""

    scales: Array
    """The deviation of the arms' means, nan where it is integrated out."""

    points: Array | None
    """Where the arms lie, if they lie anywhere."""

    distance: Distance
    arms: int
    alike: Array
    """The correlation between seasons."""

    log_prior: Array
    """Up to a constant: how likely the parts are before any reward, by what other fields say too."""

    past: Seasons | None = None
    """What earlier seasons say; then correlations are what is left of them, and variances not 1."""

    rates: Array | None = None
    """1 / scale of the time in which mean rewards change; None if they do not."""

    def __len__(self) -> int:
        return self.ratios.size

    @property
    def free(self) -> bool:
        """Whether scales are integrated out."""
        return bool(np.isnan(self.scales).any())

    @property
    def apart(self) -> bool:
        """Whether arms lie at more places than one."""
        return self.points is not None and bool((self.points != self.points[0]).any())

    @property
    def separate(self) -> bool:
        """Whether arms say nothing of each other but for the common mean and scale."""
        return self.points is None and self.past is None

    @property
    def ranked(self) -> bool:
        """Whether earlier seasons say which arms are better."""
        return self.past is not None and self.past.ranks

    def correlation(self, part: int, arms: Integers, others: Integers) -> Array:
        """Return the correlation of each of the arms with each of the others under one part."""
        return next(self.correlations(np.array([part]), arms, others))

    def matrices(self) -> Iterator[Array]:
        """Return the correlations of all arms under each part, one after the other."""
        if (every := self._every()) is not None:
            return iter(every)
        arms = np.arange(self.arms)
        return self._correlations(np.arange(len(self)), arms, arms)

    def rows(self, kept: Integers, arms: Integers) -> Array:
        """Return the correlation of some arms with every arm under some parts, (parts, arms, N)."""
        if (every := self._every()) is not None:
            return np.asarray(every[np.ix_(kept, arms)])
        return np.array([*self._correlations(kept, arms, np.arange(self.arms))])

    def correlations(self, kept: Integers, arms: Integers, others: Integers) -> Iterator[Array]:
        """Return the correlation of each of the arms with each of the others under some parts, one after the other."""
        if (every := self._every()) is not None:
            return (every[part][np.ix_(arms, others)] for part in kept.tolist())
        return self._correlations(kept, arms, others)

    def _correlations(self, kept: Integers, arms: Integers, others: Integers) -> Iterator[Array]:
        _, rows, columns = np.intersect1d(arms, others, assume_unique=True, return_indices=True)
        for part, between in zip(kept.tolist(), self._by_place(kept, arms, others), strict=True):
            site = 1.0 if self.points is None else self.sites.item(part)
            between *= 1 - site
            between[rows, columns] += site
            if self.past is not None:
                between -= self.past.W[part][:, arms].T @ self.past.W[part][:, others]
            yield between

    def _by_place(self, kept: Integers, arms: Integers, others: Integers) -> Iterator[Array]:
        """Return what the kernels say; distances that several parts have in common are computed once."""
        apart: dict[Distance, Array] = {}
        for part in kept.tolist():
            if self.points is None or not arms.size or not others.size:
                yield np.zeros((arms.size, others.size))
                continue
            kernel = self._kernels[part]
            if isinstance(kernel.length, tuple):
                yield kernel(self.points[arms], self.points[others])
                continue
            if kernel.distance not in apart:
                unit = replace(kernel, length=1.0)
                apart[kernel.distance] = unit.distances(self.points[arms], self.points[others])
            r = apart[kernel.distance] / kernel.length
            yield kernel.correlation(np.minimum(r, BEYOND, out=r))

    def _every(self) -> Array | None:
        """Return the correlations of all arms under all parts, kept where they are few enough."""
        if len(self) * self.arms**2 > KEPT:
            return None
        every: Array | None = _matrices.get(self)
        if every is None:
            arms = np.arange(self.arms)
            every = frozen(np.array([*self._correlations(np.arange(len(self)), arms, arms)]))
            _matrices[self] = every
        return np.asarray(every)

    def of_neighbours(self) -> Array:
        """Return the correlation of nearest neighbours under each part.

        It is that at the median of their distances; where lengths differ, the median of their correlations.
        """
        assert self.points is not None
        if self.lengths.ndim == 1:
            step = reach(self.points, self.distance)[0]
            at = [
                float(self.kernel(part).correlation(np.array(step / self.lengths[part]))) for part in range(len(self))
            ]
            return np.asarray((1 - self.sites) * np.array(at))
        from scipy.spatial import cKDTree

        places = self.places()
        _, first = np.unique(places, axis=0, return_index=True)
        if first.size < 2:
            return np.asarray(1 - self.sites)
        some = first[:: -(-first.size // MOST_NEIGHBOURS)]
        nearest = first[cKDTree(places[first]).query(places[some], k=2)[1][:, 1]]
        pairs = [(self.points[[one]], self.points[[other]]) for one, other in zip(some, nearest, strict=True)]
        at = [float(np.median([self.kernel(part)(*pair) for pair in pairs])) for part in range(len(self))]
        return np.asarray((1 - self.sites) * np.array(at))

    def places(self) -> Array:
        """Return where the arms lie, so that distances compare: on a sphere, or in extents if lengths differ."""
        assert self.points is not None
        if self.distance in ("great_circle", "chordal"):
            return on_unit_sphere(self.points)
        return self.points if self.lengths.ndim == 1 else in_extents(self.points)

    def kernel(self, part: int) -> Stationary:
        """Return the kernel of a part; of a distance that it is a covariance of."""
        return self._kernels[part]

    @cached_property
    def _kernels(self) -> tuple[Stationary, ...]:
        other: dict[Distance, Distance] = {"great_circle": "chordal", "cityblock": "euclidean"}
        kinds = [KERNELS[name] for name in self.kernels]
        lengths = [tuple(one.tolist()) if one.ndim else float(one) for one in self.lengths]
        return tuple(
            kind(length, self.distance if kind.any_distance else other.get(self.distance, self.distance))
            for kind, length in zip(kinds, lengths, strict=True)
        )

    @staticmethod
    def of(
        points: Array | None,
        *,
        number: int,
        arms: int,
        kernels: tuple[str, ...] = USUAL,
        length: Any = None,
        sd: Any = None,
        noise_sd: Any = None,
        site: Any = None,
        distance: Distance = "euclidean",
        each: bool = False,
        seasons: bool = False,
        drift: Drift = None,
    ) -> Parts:
        """Return the parts for what was said.

        `each` if each coordinate has a length of its own, `seasons` if there are earlier ones; then nothing drifts.
        """
        scale, noise = known("sd", sd, positive=True), known("noise_sd", noise_sd, positive=True)
        own = points.shape[1] if each and points is not None else 0
        u = quasi_random(number, 4 + own + seasons + unknown(drift))
        lengths = (
            lengths_of_each(points, length, u)
            if each and points is not None
            else one_length(points, length, u[0], distance)
        )
        ratios, log_prior, scales = *noise_ratios(u[1]), np.full(number, np.nan)
        if scale is not None:
            scales = np.asarray(scale.quantile(u[3]))
            if noise is not None:
                ratios, log_prior = told_noise_ratios(np.asarray(noise.quantile(u[1])) / scales), np.zeros(number)
        elif noise is not None:
            scales = np.asarray(noise.quantile(u[3])) / np.sqrt(ratios)
        chosen = tuple(kernels[i % len(kernels)] for i in range(number))
        alike = u[-1] if seasons else np.zeros(number)
        made = Parts(chosen, lengths, site_shares(u[2], site), ratios, scales, points, distance, arms, alike, log_prior)
        return replace(made, rates=rates_of(drift, u[-1]))


_matrices: weakref.WeakKeyDictionary[Parts, Array] = weakref.WeakKeyDictionary()


def names_of(kernel: Any) -> tuple[str, ...]:
    """Return the names of kernels from what was given: None, a name, or several.

    >>> names_of(None), names_of("matern32")
    (('exponential', 'matern52'), ('matern32',))
    """
    given = USUAL if kernel is None else tuple(kernel) if isinstance(kernel, (list, tuple)) else (kernel,)
    for name in given:
        if not isinstance(name, str) or name not in KERNELS:
            raise ValueError(f"kernel must be one or several of {', '.join(KERNELS)}, got {name!r:.60}.")
    if not given:
        raise ValueError(f"kernel must name at least one of {', '.join(KERNELS)}, but it is empty.")
    return given
