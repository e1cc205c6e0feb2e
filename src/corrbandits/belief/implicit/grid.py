"""A prior covariance that is never formed, on a regular grid: every row is a window of one table.

    name       shape              meaning
    shape      (n1, ..., nd)      the grid; arms are its points in C order
    table      (2 n1 - 1, ...)    covariance by offset, from -(n - 1) to n - 1 in each direction
    spectrum   (m1, ..., md')     the transform of the same covariances, laid round a torus of m >= 2 n - 1 points

A weighted sum of rows is a convolution: by FFT its time is O(N log N), however many rows there are. scipy's
transforms give the same bits on any number of workers: these share whole lines among them.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits.belief.implicit.factor import Factor
from corrbandits.belief.implicit.scattered import MOST_ENTRIES, Scattered, covariance, in_strips
from corrbandits.kernels import Kernel

WORKERS = 2
MOST_TORUS = 2**25  # points of the torus that draws are made on; of a small grid at most 256 for each arm


@final
class Grid:
    """The covariance of a kernel of the offset alone, at the points of a regular grid of 1 to 3 dimensions."""

    cancels = 0.01
    """The part of its prior variance below which an arm is not to be counted in `squared_correlations`."""

    def __init__(self, kernel: Kernel, points: Array, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
        self.kernel, self.points = kernel, points
        self._shape, self._order = shape, order

    @property
    def shape(self) -> tuple[int, ...]:
        """How many points there are in each direction, the slowest first."""
        return self._shape

    @cached_property
    def variance(self) -> Array:
        """The prior variance of every arm: the same for all."""
        return np.full(len(self.points), self._quarter.flat[0])

    def keeping(self, arms: Integers) -> Grid:
        """Return itself: its rows need no keeping."""
        return self

    def row(self, arm: int) -> Array:
        """Return the covariance of one arm with all."""
        at = np.unravel_index(arm, self._shape)
        window = tuple(slice(n - 1 - int(i), 2 * n - 1 - int(i)) for n, i in zip(self._shape, at, strict=True))
        return self._table[window].ravel()

    def block(self, arms: Integers, others: Integers) -> Array:
        """Return the covariance of each of the arms with each of the others; of two arms, both ways the same bits."""
        table = self._table
        centre = table.size // 2
        entries = centre + self._position(others)[:, None] - self._position(arms)
        return np.asarray(table.ravel()[entries].T)

    def combined(self, arms: Integers, weights: Array) -> Array:
        """Return the sum of the rows of these arms, each times its weight."""
        field = np.zeros(len(self.points))
        field[arms] = weights
        return self._convolved(field, self._spectrum)

    def squared_correlations(self, u: Array, factor: Factor) -> Array:
        """Return sum_j (u_i S_ij u_j)^2 with 2 k + 1 convolutions, from S = S0 - V' V.

        In units of the prior variance, with d = u^2: (S0^2 d)_i - 2 sum_l V_li (S0 (V_l d))_i + V_i' G V_i, G = V d V'.
        """
        if not u.any():
            return np.zeros(u.size)
        scale = float(self._quarter.flat[0])
        d = np.square(u * math.sqrt(scale))
        table = self._table / scale
        total = self._convolved(d, self._transformed(table * table))
        inverse = factor.half(np.eye(factor.arms.size)) if factor.arms.size else np.zeros((0, 0))
        G = np.zeros_like(inverse)
        for i, weights in enumerate(inverse):
            V = self.combined(factor.arms, weights / math.sqrt(scale))
            image = self._convolved(V * d, self._spectrum) / scale
            total -= 2 * V * image
            G[i] = inverse @ image[factor.arms] * math.sqrt(scale)
        if factor.arms.size:
            total += self._quadratic_form(factor.arms, inverse / math.sqrt(scale), G)
        return total * d

    def _quadratic_form(self, arms: Integers, inverse: Array, G: Array) -> Array:
        """Return V_i' G V_i for every arm i, V the inverse factor times the rows of the arms."""
        result = np.zeros(len(self.points))
        for strip in in_strips(result.size, max(MOST_ENTRIES // arms.size, 1)):
            with one_thread():
                V = inverse @ self.block(arms, np.arange(strip.start, strip.stop))
                result[strip] = np.einsum("li,li->i", V, G @ V)
        return result

    def draw(self, rng: np.random.Generator) -> Array:
        """Return one draw from the prior with mean 0, by circulant embedding."""
        from scipy import fft

        root, size = self._torus_root
        if root is None:
            return self._scattered.draw(rng)
        noise = fft.rfftn(rng.standard_normal(size), workers=WORKERS, overwrite_x=True)
        draw = fft.irfftn(root * noise, size, workers=WORKERS, overwrite_x=True)
        return np.asarray(draw[tuple(slice(n) for n in self._shape)].ravel())

    @cached_property
    def _scattered(self) -> Scattered:
        """The same covariance as of scattered points, which keeps the root that draws need where no torus serves."""
        return Scattered(self.kernel, self.points)

    @cached_property
    def _torus_root(self) -> tuple[Array | None, tuple[int, ...]]:
        """The roots of the eigenvalues of the covariance on the least torus where none is negative, and its size."""
        from scipy import fft

        size = tuple(fft.next_fast_len(2 * n - 1, real=True) for n in self._shape)
        while math.prod(size) <= min(MOST_TORUS, 256 * len(self.points)):
            eigenvalues = fft.rfftn(self._on_torus(size), workers=WORKERS).real
            if eigenvalues.min() >= -1e-13 * eigenvalues.max():  # what is below 0 is rounding
                return np.sqrt(np.maximum(eigenvalues, 0.0)), size
            size = tuple(m if m == 1 else 2 * m for m in size)
        return None, size

    def _on_torus(self, size: tuple[int, ...]) -> Array:
        """Return the covariance of the first point with every point of a torus of the grid's spacing."""
        steps = self._steps()
        away = [np.minimum(np.arange(m), m - np.arange(m)) * step for m, step in zip(size, steps, strict=True)]
        offsets = np.stack(np.meshgrid(*away, indexing="ij"), axis=-1).reshape(-1, len(size))
        offsets = offsets[:, np.argsort(self._order)]
        return covariance(self.kernel, offsets, np.zeros((1, len(size)))).reshape(size)

    def _steps(self) -> list[float]:
        first, last = self.points[0, list(self._order)], self.points[-1, list(self._order)]
        return [float((b - a) / max(n - 1, 1)) for a, b, n in zip(first, last, self._shape, strict=True)]

    @cached_property
    def _quarter(self) -> Array:
        """Covariance by offset, of offsets that are nowhere negative: that of the first arm with every arm."""
        return covariance(self.kernel, self.points, self.points[:1]).reshape(self._shape)

    @cached_property
    def _table(self) -> Array:
        offsets = [np.abs(np.arange(1 - n, n)) for n in self._shape]
        return self._quarter[np.ix_(*offsets)]

    @cached_property
    def _spectrum(self) -> Array:
        return self._transformed(self._table)

    def _transformed(self, table: Array) -> Array:
        """Return the transform of a table laid round the torus; it is real, for the table is symmetric."""
        from scipy import fft

        torus = np.zeros([fft.next_fast_len(m, real=True) for m in table.shape])
        torus[tuple(slice(m) for m in table.shape)] = table
        torus = np.roll(torus, [1 - n for n in self._shape], axis=range(table.ndim))
        return np.ascontiguousarray(fft.rfftn(torus, workers=WORKERS).real)

    def _convolved(self, field: Array, spectrum: Array) -> Array:
        """Return the sum over arms of the field times the table's row; by axes, so that padding is transformed once."""
        from scipy import fft

        sizes = [fft.next_fast_len(2 * n - 1, real=True) for n in self._shape]
        last = len(sizes) - 1
        x: Any = fft.rfft(field.reshape(self._shape), sizes[last], axis=last, workers=WORKERS)
        for axis in range(last):
            x = fft.fft(x, sizes[axis], axis=axis, workers=WORKERS)
        x *= spectrum
        for axis in range(last):
            x = fft.ifft(x, axis=axis, workers=WORKERS, overwrite_x=True)
            x = x[(slice(None),) * axis + (slice(self._shape[axis]),)]
        x = fft.irfft(x, sizes[last], axis=last, workers=WORKERS)
        return np.asarray(x[..., : self._shape[last]]).ravel()

    def _position(self, arms: Integers) -> Integers:
        """Return where arms stand in a flat table; the difference of two tells their offset."""
        steps = np.cumprod([1, *(2 * n - 1 for n in self._shape[:0:-1])])[::-1]
        return np.asarray(sum(i * step for i, step in zip(np.unravel_index(arms, self._shape), steps, strict=True)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: the tables are large, and soon computed again."""
        return {name: getattr(self, name) for name in ("kernel", "points", "_shape", "_order")}


def prior_covariance(kernel: Kernel, points: Array) -> Grid | Scattered:
    """Return the covariance of the arms: as of a regular grid if it is one to rounding, else as of scattered points."""
    found = _layout(points) if points.shape[1] <= 3 and kernel.depends_on_offset else None
    if found is not None:
        grid = Grid(kernel, points, *found)
        if _agrees(grid):
            return grid
    return Scattered(kernel, points)


def _layout(points: Array) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shape of a regular grid and the column of each of its axes, slowest first; None if it is none."""
    sizes = [np.unique(column).size for column in points.T]
    if math.prod(sizes) != len(points):
        return None
    for order in itertools.permutations(range(len(sizes))):
        shape = tuple(sizes[k] for k in order)
        if all(_is_axis(points[:, k].reshape(shape), axis) for axis, k in enumerate(order)):
            return shape, order
    return None


def _is_axis(column: Array, axis: int) -> bool:
    """Return whether a coordinate changes along this axis alone, in steps that are equal to its rounding."""
    line = column[tuple(slice(None) if k == axis else slice(1) for k in range(column.ndim))]
    even = np.linspace(line.flat[0], line.flat[-1], line.size)
    rounding = 4 * np.finfo(float).eps * np.abs(line).max()
    return bool((column == line).all() and (np.abs(line.ravel() - even) <= rounding).all())


def _agrees(grid: Grid) -> bool:
    """Return whether the table's rows are the kernel's to 1e-12 of the variance, at three arms far apart.

    Where coordinates are large beside the length, their rounding shows; then the kernel at the points themselves is
    right, and the table is not.
    """
    last, most = len(grid.points) - 1, 1e-12 * grid.variance[0]
    for arm in (last // 3, last // 2, last):
        row = covariance(grid.kernel, grid.points[arm : arm + 1], grid.points)[0]
        if (np.abs(grid.row(arm) - row) > most).any():
            return False
    return True
