"""Covariance as a function of two points.

    name       shape      meaning                                       paper
    points     (n, d)     where the arms lie                            the embedding space of section 1
    others     (m, d)     the points compared with                      -
    length     () or (d,) how far correlation reaches                   "length scale", section 5
    r          (n, m)     distance over length                          -

The paper's own kernel is `Exponential`: exp(-distance / length), the distance not squared. Kernels add, multiply
and scale: `10 * Exponential(3.0) + 0.5 * SquaredExponential(8.0)`. Each is a correlation (1 at distance 0) until it
is scaled. `White` is what is each arm's own; `WithDeviations` scales each arm by its own standard deviation.

A kernel answers for itself what others need to know of it: its parts, its slope, its stretched form, its words. A new
one is a class in `stationary` and a line here, in `KINDS`.
"""

from __future__ import annotations

import re

from corrbandits.kernels.base import Covariance, Kernel, Product, Scaled, Sum, WithDeviations, as_kernel
from corrbandits.kernels.stationary import (
    Distance,
    Exponential,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
    White,
)

__all__ = [
    "KERNELS",
    "KINDS",
    "Covariance",
    "Distance",
    "Exponential",
    "Kernel",
    "Matern32",
    "Matern52",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "White",
    "WithDeviations",
    "as_kernel",
    "made_of_ours",
]

KINDS: dict[str, type[Kernel]] = {
    kind.__name__: kind
    for kind in (
        Exponential,
        SquaredExponential,
        Matern32,
        Matern52,
        RationalQuadratic,
        White,
        Sum,
        Product,
        Scaled,
        WithDeviations,
    )
}
"""The kernels of this package by name: a study stores that name and the kernel's fields."""

KERNELS: dict[str, type[Stationary]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): kind
    for name, kind in KINDS.items()
    if issubclass(kind, Stationary)
}
"""The kernels of a distance, by what they are called in files and on the command line."""


def made_of_ours(kernel: Kernel) -> bool:
    """Return whether a kernel and all its parts are of this package: then its fields say all there is to say of it.

    >>> made_of_ours(10 * Exponential(3.0)), made_of_ours(Exponential(3.0) + (lambda points, others: 1.0))
    (True, False)
    """
    return type(kernel) in KINDS.values() and all(made_of_ours(part) for part in kernel.parts.values())
