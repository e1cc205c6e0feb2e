"""Reward surfaces: the paper's (reconstructed), draws from a kernel, clusters of arms, a file of one's own."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._core.covariances import refuse_indefinite
from corrbandits._core.draws import covariance_root
from corrbandits._shell.csv import numeric_column, places, read_columns
from corrbandits.belief import Implicit
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Covariance

# The surface behind the paper's figures is not in print: these were tuned until the captions of both figures held.
PEAK, PEAK_REWARD = (6, 9), 60.0
SECOND_PEAK, SECOND_PEAK_REWARD = (2, 2), 52.5
PEAK_WIDTH = 1.0
LOW_PATCHES, LOW_PATCH_WIDTH, LOW_PATCH_DEPTH = ((2, 7), (7, 3)), 1.5, 20.0
MEAN_REWARD = 30.0

MOST_ARMS = 10_000_000
"""More arms than this are taken for a mistake, and refused before any memory is allocated."""

MOST_DENSE = 10_000
"""With more arms their covariance is not formed: that of 10,000 takes 0.8 GB."""


def grid(rows: int, columns: int) -> Array:
    """Return the coordinates (row, column) of a grid's cells, row by row.

    >>> grid(2, 2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    shape = checks.integer("rows", rows, least=1), checks.integer("columns", columns, least=1)
    if (count := math.prod(shape)) > MOST_ARMS:
        raise ValueError(f"a grid must have at most {MOST_ARMS:,} cells, got {count:,}. Take fewer rows or columns.")
    return np.stack(np.unravel_index(np.arange(shape[0] * shape[1]), shape), axis=1).astype(np.float64)


def two_peaks(noise_variance: float = 10.0) -> GaussianBandit:
    """Return the surface of section 5, reconstructed: 10 x 10 arms, mean reward 30, a peak of 60 and a second of 52.5.

    The paper describes the surface only as smooth, with high and low regions and mean 30. This one is two Gaussian
    bumps and two low patches, whose constants, named above, were tuned to the captions of Figures 1 and 2: the
    maximum of 60 and the second peak come from the regret and the end of the ill-informed uncorrelated prior's long
    phase.

    >>> surface = two_peaks()
    >>> surface.shape, float(surface.means.mean().round(9)), float(surface.means.max().round(9))
    ((10, 10), 30.0, 60.0)
    """
    where = grid(10, 10)

    def bump(centre: tuple[int, int], width: float) -> Array:
        return np.asarray(np.exp(-((where - centre) ** 2).sum(axis=1) / (2 * width**2)))

    low = -LOW_PATCH_DEPTH * np.sum([bump(centre, LOW_PATCH_WIDTH) for centre in LOW_PATCHES], axis=0)
    shapes = np.stack([np.ones(100), bump(PEAK, PEAK_WIDTH), bump(SECOND_PEAK, PEAK_WIDTH)], axis=1)
    first, second = (row * 10 + column for row, column in (PEAK, SECOND_PEAK))
    # the level and the two heights that give the two peaks' rewards and the mean
    heights = np.linalg.solve(
        [shapes[first], shapes[second], shapes.mean(axis=0)],
        [PEAK_REWARD - low[first], SECOND_PEAK_REWARD - low[second], MEAN_REWARD - low.mean()],
    )
    return GaussianBandit(shapes @ heights + low, noise_variance, where, shape=(10, 10))


def draw(
    kernel: Covariance,
    coordinates: Any,
    *,
    noise_variance: Any,
    seed: int,
    mean: Any = 0.0,
    shape: tuple[int, ...] | None = None,
) -> GaussianBandit:
    """Return arms whose mean rewards are one draw of a Gaussian process; beyond 10,000 arms, of one on a regular grid.

    >>> from corrbandits import Exponential
    >>> surface = draw(4 * Exponential(2.0), grid(5, 5), noise_variance=1.0, seed=1, shape=(5, 5))
    >>> surface.arms, surface.coordinates[7].tolist()
    (25, [1.0, 2.0])
    """
    if not callable(kernel):
        raise TypeError(f"kernel must be a kernel such as Exponential(2.0), got {kernel!r:.60}.")
    where = checks.points("coordinates", coordinates)
    if len(where) > MOST_DENSE:
        prior = Implicit(mean=mean, kernel=kernel, coordinates=where, noise_variance=1.0)
        means = prior.sample(np.random.default_rng(checks.integer("seed", seed, least=0)))
        return GaussianBandit(means, noise_variance, where, shape)
    covariance = checks.finite("the kernel's covariance", kernel(where, where))
    return GaussianBandit(_draw(mean, covariance, seed), noise_variance, where, shape)


def cluster_covariance(sizes: Sequence[int], *, variance: float = 1.0, epsilon: float = 0.01) -> Array:
    """Return the covariance of decoupled clusters of strongly correlated arms (remark on initialisation).

    Each cluster has variance ((1 - epsilon) 1 1' + epsilon I). The print has 1 1' + epsilon E with a zero diagonal
    in E, which is indefinite for nearly every E; this is the nearest that is a covariance.

    >>> cluster_covariance([2, 1], epsilon=0.1)
    array([[1. , 0.9, 0. ],
           [0.9, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    variance = checks.number("variance", variance, above=0)
    epsilon = checks.number("epsilon", epsilon, least=0, up_to=1)
    labels = _cluster_labels(sizes)
    covariance: Array = variance * (1 - epsilon) * (labels[:, None] == labels)
    np.fill_diagonal(covariance, variance)
    return covariance


def clusters(
    sizes: Sequence[int],
    *,
    noise_variance: Any,
    seed: int,
    mean: Any = 0.0,
    variance: float = 1.0,
    epsilon: float = 0.01,
) -> GaussianBandit:
    """Return arms whose mean rewards are one draw from `cluster_covariance`; an arm's coordinate is its cluster.

    >>> clusters([3, 2], noise_variance=1.0, seed=0).coordinates.ravel().tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0]
    """
    covariance = cluster_covariance(sizes, variance=variance, epsilon=epsilon)
    return GaussianBandit(_draw(mean, covariance, seed), noise_variance, _cluster_labels(sizes).astype(np.float64))


def read_csv(path: str | os.PathLike[str], *, reward: str, noise_variance: Any) -> GaussianBandit:
    """Return the arms of a CSV file with a header: a row per arm, true mean rewards in column `reward`.

    The arms lie where the columns x and y say, or x alone, or latitude and longitude; or nowhere, without these.
    """
    columns = read_columns(path)
    return GaussianBandit(numeric_column(columns, reward, path), noise_variance, places(columns, path))


def _draw(mean: Any, covariance: Array, seed: int) -> Array:
    rng = np.random.default_rng(checks.integer("seed", seed, least=0))
    root = covariance_root(refuse_indefinite(covariance))
    return np.asarray(checks.per_arm("mean", mean, len(root)) + root @ rng.standard_normal(len(root)))


def _cluster_labels(sizes: Sequence[int]) -> Any:
    try:
        counted = [checks.integer("a cluster's size", n, least=1) for n in list(sizes)]
    except TypeError as error:
        raise TypeError(f"sizes must be whole numbers, one per cluster, such as [3, 2], got {sizes!r:.60}.") from error
    if not counted:
        raise ValueError("sizes must name at least one cluster, but it is empty.")
    return np.repeat(np.arange(len(counted)), counted)
