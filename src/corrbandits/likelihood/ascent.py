"""Climbing the marginal likelihood: past rewards' own prior, and the kernel near a prior's that suits them best.

The parameters are logarithms: of the length (or lengths), of the kernel's variance and, where fitted, of the noise and
of the variance that is each arm's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._core.single_thread import one_thread
from corrbandits.kernels import Kernel, Scaled, Stationary
from corrbandits.likelihood.marginal import Averages, within

FURTHEST = math.log(100.0)  # how far from their start `suited` looks for log length and log variance
LARGEST_LOG = 690.0  # of what a double holds
GROWTH = 1.3  # refits are done when the number of rewards passes a power of it
SHARES = (0.9, 0.5, 0.1)  # of the rewards' variance that the starting points ascribe to the surface
NEXT_TO_NOTHING = math.log(1e-6)  # of the rewards' variance: what cannot be told from none
DROP_95 = 1.920729410347062  # of a log likelihood, at the ends of a 95 % interval
NAMES = ("length", "sd", "noise sd", "site sd")


def suited(data: Averages, variance: float, noise: Array, mean: Array) -> Kernel | None:
    """Return the kernel of largest likelihood near variance * family; None if that has none a double can hold.

    Length and variance are sought within a factor of 100 of those given: first the variance alone, then both. From a
    variance that is far too small both at once would climb to a length of nothing, and stay.
    """
    start = np.log([*np.atleast_1d(data.family.length), variance])
    reach = np.clip([start - FURTHEST, start + FURTHEST], -LARGEST_LOG, LARGEST_LOG)
    alone = np.where(np.arange(start.size) < start.size - 1, start, reach)

    def down(logs: Array) -> tuple[float, Array]:
        at = data.at(np.exp(logs[:-1]), math.exp(logs[-1]), noise, mean)
        return -at.value, -np.array([*at.by_length, at.by_variance]) if at.by_length.size else np.zeros(logs.size)

    if not math.isfinite(down(start)[0]):
        return None
    best = _lowest(down, _lowest(down, start, alone), reach)
    *length, scale = np.exp(best).tolist()
    family = replace(data.family, length=length if isinstance(data.family.length, tuple) else length[0])
    return Scaled(family, scale)


def _lowest(down: Callable[[Array], tuple[float, Array]], start: Array, bounds: Array) -> Array:
    """Return where a function is lowest, by L-BFGS-B to some 1e-6 of its value; never higher than at the start."""
    from scipy.optimize import minimize

    settings: dict[str, Any] = {"method": "L-BFGS-B", "options": {"maxiter": 30, "ftol": 1e-6}}
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        found = minimize(down, start, jac=True, bounds=bounds.T, **settings)
    better = np.isfinite(found.x).all() and found.fun <= down(start)[0]
    return np.asarray(found.x) if better else start


def passes_a_power(number: int) -> bool:
    """Return whether a power of 1.3, other than 1, lies above number - 1 and not above number.

    >>> [n for n in range(1, 40) if passes_a_power(n)]
    [2, 3, 4, 5, 7, 9, 11, 14, 18, 24, 31]
    """
    return number > 1 and GROWTH ** math.floor(math.log(number) / math.log(GROWTH)) > number - 1


@final
@dataclass(frozen=True)
class Problem:
    """The likelihood of rewards in units of their deviation, as a function of logarithms.

    They are those of length, variance and noise, and of the variance of each arm's own if that is fitted.
    """

    averages: Averages
    scatter: Array
    mean: float | None
    bounds: tuple[tuple[float, float], ...]
    closest: float
    """The smallest distance above 0."""
    extent: float
    """The largest distance."""
    reach: float
    """How much further variance and length may lie: a given mean far from the rewards asks for much of both."""

    @staticmethod
    def of(
        family: Stationary,
        where: Array,
        which: Any,
        rewards: Array,
        mean: float | None,
        noise: float | None,
        sites: bool = False,
    ) -> Problem:
        """Return the problem of rewards of these places; what is known of mean and noise is not fitted."""
        counts = np.bincount(which).astype(np.float64)
        values = np.bincount(which, weights=rewards) / counts
        scatter: Array = np.bincount(which, weights=np.square(rewards - values[which])).astype(np.float64)
        if noise is None and counts.max() > 1 and not scatter.sum() > 1e-24:
            raise ValueError(
                "arms gave the same reward every time, so the noise would be 0. If they were measured once, give each "
                "reward once; if the noise is known, give noise_variance=..."
            )
        averages = Averages.of(family, where, counts, values)
        apart = averages.parts[0][averages.parts[0] > 0]
        reach = 1.0 if mean is None else 1.0 + mean * mean
        bounds: tuple[tuple[float, float], ...] = (
            (math.log(apart.min() / 100), math.log(apart.max() * 100) + math.log(reach)),
            (math.log(1e-8), math.log(1e6) + math.log(reach)),
            (math.log(1e-10), math.log(1e2)) if noise is None else (math.log(noise), math.log(noise)),
        )
        if sites:
            if noise is None and counts.max() == 1:
                raise ValueError(
                    "site_effect must have several rewards of some arms, or the noise, got one reward of each arm; "
                    "give noise_variance=..., or rewards of some arms again."
                )
            bounds = (*bounds, (math.log(1e-10), math.log(1e2)))
        return Problem(averages, scatter, mean, bounds, float(apart.min()), float(apart.max()), reach)

    def value(self, logs: Array) -> tuple[float, Array, Any]:
        """Return the log density of all rewards, its gradient, and the mean it is taken at with its variance."""
        length, variance, noise, *site = np.exp(logs).tolist()
        at = self.averages.at(length, variance, noise, self.mean, site=sum(site))
        value, slope = within(self.averages.counts, noise, self.scatter)
        if not at.by_length.size:
            return at.value + value, np.zeros(logs.size), (at.mean, at.mean_variance)
        gradient = np.array([*at.by_length, at.by_variance, at.by_noise + slope, at.by_site])[: logs.size]
        return at.value + value, gradient, (at.mean, at.mean_variance)

    def climb(self) -> Array:
        """Return where the likelihood is largest: from the three best of fifteen starting points."""
        starts = sorted(self._starts(), key=lambda logs: self._down(logs)[0])[:3]
        found = [self._lowest_from(logs, self.bounds) for logs in starts]
        return min(found, key=lambda result: result[0])[1]

    def _down(self, logs: Array) -> tuple[float, Array]:
        value, gradient, _ = self.value(logs)
        return (-value, -gradient) if math.isfinite(value) else (1e300, np.zeros(logs.size))

    def _lowest_from(self, start: Array, bounds: Any, ftol: float = 1e-15) -> tuple[float, Array]:
        """Return the least of minus the log likelihood near a start, and where that is."""
        from scipy.optimize import minimize

        options = {"maxiter": 500, "ftol": ftol, "gtol": 1e-7, "maxls": 50}
        with one_thread():
            found = minimize(self._down, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return float(found.fun), np.asarray(found.x)

    @property
    def once(self) -> bool:
        """Whether no arm gave two rewards, nor was the noise given: nothing tells it from what is each arm's own."""
        return bool(self.averages.counts.max() == 1) and self.bounds[2][0] < self.bounds[2][1]

    def most(self, i: int, top: Array) -> float:
        """Return the largest variance that costs less than 1.92 of the log likelihood, all else fitted anew.

        This is the upper end of the 95 % interval of a variance that runs to 0, where there is no curvature to go by.
        """
        best, at = self._down(top)[0], top
        low, high = float(top[i]), self.bounds[i][1]
        for _ in range(24):
            middle = (low + high) / 2
            bounds = [*self.bounds[:i], (middle, middle), *self.bounds[i + 1 :]]
            start = np.where(np.arange(top.size) == i, middle, at)
            worth, there = self._lowest_from(start, bounds, ftol=1e-9)
            if worth - best < DROP_95:
                low, at = middle, there
            else:
                high = middle
            if high - low < 1e-2:
                break
        return math.exp((low + high) / 2)

    def vanishes(self, i: int, top: Array) -> bool:
        """Return whether a parameter is next to nothing: the noise where it might be each arm's own, or that itself."""
        return bool(i >= 2 and (self.once or i == 3) and top[i] < NEXT_TO_NOTHING)

    def _starts(self) -> list[Array]:
        fixed, sites = self.bounds[2][0] == self.bounds[2][1], len(self.bounds) == 4
        further = [0.0] if self.reach < 2 else [0.0, math.log(self.reach)]

        def start(length: float, share: float, far: float) -> Array:
            rest = math.log((1 - share) / (1 + sites))
            noise = self.bounds[2][0] if fixed else rest
            return np.array([length + far, math.log(share) + far, noise, *[rest] * sites])

        return [
            start(length, share, far)
            for length in np.linspace(math.log(self.closest / 2), math.log(self.extent), 5).tolist()
            for share in SHARES
            for far in further
        ]

    def free(self, top: Array) -> tuple[Any, tuple[str, ...]]:
        """Return which parameters have an interval of their own, and words on those that ran away."""
        words, free = [], np.array([low < high for low, high in self.bounds])
        for i in np.flatnonzero(free).tolist():
            nothing = top[i] - self.bounds[i][0] < 1e-3 or self.vanishes(i, top)
            if nothing or self.bounds[i][1] - top[i] < 1e-3:
                end, free[i] = "0" if nothing else "infinity", False
                words.append(f"{NAMES[i]} runs to {end}: these rewards put no bound on that side")
        if not free[1]:
            free[0] = False  # a surface without height has no length
        elif math.exp(top[0]) > self.extent:
            words.append(f"length is beyond the extent of the points, {self.extent:.4g}: it is poorly known")
        elif math.exp(top[0]) < self.closest / 5:  # where a correlation of neighbours is below 0.7 %
            words.append(f"length is below a fifth of the smallest distance, {self.closest:.4g}: no correlation shows")
            free[0] = False
        return free, tuple(words)

    def errors(self, top: Array, free: Any) -> tuple[Array, float]:
        """Return standard errors of the logarithms, and what their uncertainty adds to the variance of the mean.

        The curvature is taken by central differences of the gradient, which is exact also where the mean is fitted: its
        inverse is the block of the inverse information of all parameters. 0 for what was given, inf for what ran away.
        """
        error = np.where([low < high for low, high in self.bounds], math.inf, 0.0)
        which, step = np.flatnonzero(free), 1e-4
        if not which.size:
            return error, 0.0
        sides = [[self.value(top + sign * step * np.eye(top.size)[i]) for sign in (1, -1)] for i in which]
        information = -np.array([(up[1] - down[1])[which] / (2 * step) for up, down in sides])
        information = (information + information.T) / 2
        if not np.isfinite(information).all() or np.linalg.eigvalsh(information)[0] <= 0:
            return error, 0.0
        covariance = np.linalg.inv(information)
        error[which] = np.sqrt(covariance.diagonal())
        if self.mean is not None:
            return error, 0.0
        by_logs = np.array([(up[2][0] - down[2][0]) / (2 * step) for up, down in sides])
        return error, float(by_logs @ covariance @ by_logs)
