"""What the data say of priors: how likely a prior makes them, and the prior that makes them most likely.

    name            meaning                                                              symbol
    mean            the mean of all arms, before anything is known of one                m
    variance        variance of arms about it                                            v
    length          how far correlation reaches: that of distance d is c(d / length)     l
    noise_variance  variance of a reward about its arm's mean                            sigma_s^2
    site_variance   variance of what is each arm's own, in all its rewards the same      -
    sd, noise_sd, site_sd   their square roots, in the unit of rewards                   -

The formulas are in `likelihood`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.belief.base import Belief
from corrbandits.belief.correlated import Correlated
from corrbandits.kernels import Exponential, Kernel, Stationary, White
from corrbandits.likelihood.ascent import Problem
from corrbandits.likelihood.marginal import split

__all__ = ["Fit", "Interval", "fit", "log_evidence"]

NORMAL_95 = 1.959963984540054
FEWEST_ARMS = 3
MOST_SPREAD = 1e151  # a variance of a million times its square is a double
ONCE = (
    "each arm gave one reward, so noise sd is that of noise and of what is each arm's own; give noise_variance=..., or "
    "rewards of some arms again"
)


def log_evidence(belief: Belief) -> float:
    """Return the log marginal density of the averages seen so far, under the prior of the belief.

    Of two priors with the same noise, the one with the larger evidence has predicted the rewards better: the difference
    is that of the sums of log predictive densities of the rewards, one by one. Defined for Gaussian beliefs whose
    prior variances are finite. Rewards that are awaited do not count.

    >>> from corrbandits import Independent
    >>> low, high = (Independent(mean=m, variance=1.0, noise_variance=1.0, arms=2).observe(0, 2.0) for m in (0.0, 2.0))
    >>> round(log_evidence(high) - log_evidence(low), 6)      # a reward of 2, of variance 2: 2^2 / 2 / 2
    1.0
    """
    return belief.log_evidence()


@final
@dataclass(frozen=True)
class Interval:
    """A value and the ends of its 95 % interval; they are equal for a value that was given.

    >>> Interval(3.0, 2.0, 4.5)
    3 (2 to 4.5)
    """

    value: float
    low: float
    high: float

    def root(self) -> Interval:
        """Return the square root, such as a standard deviation of a variance.

        >>> Interval(4.0, 1.0, 9.0).root()
        2 (1 to 3)
        """
        return Interval(math.sqrt(self.value), math.sqrt(self.low), math.sqrt(self.high))

    def __repr__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@final
@dataclass(frozen=True, repr=False)
class Fit:
    """The prior that makes past rewards most likely; see `fit`.

    Its text shows standard deviations, as the options `--sd` and `--noise-sd` of the command line take them: `sd`,
    `noise_sd` and `site_sd` are the square roots of `variance`, `noise_variance` and `site_variance`. `log_evidence` is
    the log density of all rewards under it. `at_bound` names the parameters on which the data put no bound on one side,
    in words; their intervals are open there. `advice` says what to do about what the rewards cannot tell.
    """

    mean: Interval
    variance: Interval
    length: Interval
    noise_variance: Interval
    site_variance: Interval
    log_evidence: float
    at_bound: tuple[str, ...]
    advice: tuple[str, ...]
    family: Stationary
    rewards: int
    arms: int

    @property
    def sd(self) -> Interval:
        """The standard deviation of arms about their mean, sqrt(variance)."""
        return self.variance.root()

    @property
    def noise_sd(self) -> Interval:
        """The standard deviation of a reward about its arm's mean."""
        return self.noise_variance.root()

    @property
    def site_sd(self) -> Interval:
        """The standard deviation of what is each arm's own; 0 unless it was fitted."""
        return self.site_variance.root()

    @property
    def kernel(self) -> Kernel:
        """The fitted kernel, variance and all, with what is each arm's own."""
        surface = self.variance.value * self.family
        return surface + self.site_variance.value * White() if self.site_variance.value else surface

    def prior(self, coordinates: Any, noise_variance: Any = None) -> Correlated:
        """Return the fitted prior of arms at these coordinates, with the fitted noise if no other is given.

        A fitted noise of 0 is refused, for it would make a certainty of every reward.
        """
        if noise_variance is None and not self.noise_variance.value:
            raise ValueError(
                "noise_variance must be given, because the rewards put the noise at 0 "
                f"(noise sd {self.noise_sd!r}). Do prior(coordinates, noise_variance=...)."
            )
        return Correlated(
            mean=self.mean.value,
            kernel=self.kernel,
            coordinates=coordinates,
            noise_variance=self.noise_variance.value if noise_variance is None else noise_variance,
        )

    def __repr__(self) -> str:
        heading = f"{type(self.family).__name__} kernel fitted to {self.rewards} rewards of {self.arms} arms"
        names = ("mean", "sd", "length", "noise_sd", *(["site_sd"] if self.site_variance.high else []))
        values = [f"  {name.replace('_', ' '):15} {getattr(self, name)}" for name in names]
        notes = [f"  note: {words}" for words in (*self.at_bound, *self.advice)]
        return "\n".join([f"{heading} (95 % intervals)", *values, f"  log evidence    {self.log_evidence:.4f}", *notes])


def fit(
    points: Any,
    arms: Any,
    rewards: Any,
    *,
    kernel: Callable[[float], Stationary] | Stationary = Exponential,
    mean: float | None = None,
    noise_variance: float | None = None,
    site_effect: bool = False,
) -> Fit:
    """Return mean, variance, length and noise that make past rewards most likely, with 95 % intervals.

    `points` are the coordinates of all arms, `arms` says for each of the `rewards` which arm gave it. Arms at the same
    place are one. `kernel` is a class, or a kernel whose distance (and alpha) are kept. A `mean` or `noise_variance`
    that is known may be given; otherwise the mean is found by generalised least squares, the rest by climbing the
    marginal likelihood in logarithms from the three best of fifteen starting points, the same in every call. The time
    grows as the cube of the number of arms seen: tenths of a second for 100, some ten seconds for 1,000.

    Intervals come from the curvature of the log likelihood at its top (the observed information) in logarithms of
    variance, length and noise. They are approximate, and too narrow for few arms: lengths above all are known poorly
    from less than some ten lengths' extent. A parameter on which the data put no bound says so in `at_bound`.

    One reward of each arm, a single season, cannot tell noise from what is each arm's own: `noise_variance` is then
    that of both, and may run to 0 where neighbours differ as much as a rough surface does. It is then 0, its interval
    ends where the log likelihood has fallen by 1.92, and `advice` says what to do. With `site_effect`, what is each
    arm's own and no neighbour's is a parameter too, `site_variance`. It needs several rewards of some arms, or the
    noise, which repeated measurements tell.

    >>> from corrbandits.environments import landscapes
    >>> where, rng = landscapes.grid(10, 10), np.random.default_rng(0)
    >>> surface = landscapes.draw(100 * Exponential(3.0), where, mean=30.0, noise_variance=10.0, seed=3)
    >>> arms = np.repeat(np.arange(100), 3)
    >>> fit(where, arms, surface.means[arms] + rng.normal(0, np.sqrt(10), 300))
    Exponential kernel fitted to 300 rewards of 100 arms (95 % intervals)
      mean            24.66 (13.33 to 35.99)
      sd              11.72 (6.657 to 20.63)
      length          3.635 (1.024 to 12.9)
      noise sd        3.168 (2.872 to 3.493)
      log evidence    -904.2865
    """
    family = _family(kernel)
    where, which, scaled, centre, scale = _checked(points, arms, rewards)
    known = None if mean is None else (checks.number("mean", mean) - centre) / scale
    if noise_variance is not None:
        noise_variance = checks.number("noise_variance", noise_variance, above=0) / scale / scale
    problem = Problem.of(family, where, which, scaled, known, noise_variance, site_effect)
    top = problem.climb()
    return _described(problem, top, centre, scale)


def _family(kernel: Any) -> Stationary:
    """Return a kernel of length 1 of the family asked for."""
    made = kernel if isinstance(kernel, Stationary) else kernel(1.0) if callable(kernel) else kernel
    _, family = split(made)
    if isinstance(family.length, tuple):
        raise ValueError(  # noqa: TRY004  it is the number of lengths that is wrong
            f"one length is fitted, but the kernel has {len(family.length)}. Divide the points by what is known of "
            "their scales, and give a kernel of one length."
        )
    return replace(family, length=1.0)


def _checked(points: Any, arms: Any, rewards: Any) -> tuple[Array, Any, Array, float, float]:
    """Return the places that gave rewards, which of them gave each, and the rewards as (r - centre) / scale."""
    every = checks.points("points", points)
    given = checks.arm_array(arms, len(every))
    values = np.atleast_1d(checks.finite("rewards", rewards))
    if values.shape != given.shape:
        raise ValueError(f"one arm per reward is needed, got {given.size} arms and {values.shape} rewards.")
    where, which = np.unique(every[given], axis=0, return_inverse=True)
    if len(where) < FEWEST_ARMS:
        raise ValueError(
            f"rewards of at least {FEWEST_ARMS} arms at different points are needed to tell a length, "
            f"got those of {len(where)}."
        )
    unit = float(np.abs(values).max()) or 1.0
    centre = float((values / unit).mean())
    spread = float((values / unit - centre).std())
    if not spread > 1e-14:
        raise ValueError(
            f"all rewards are {values[0]:g}: nothing can be learnt of a variance from rewards that are equal."
        )
    if spread * unit > MOST_SPREAD:
        raise OverflowError(
            "variances of these rewards are more than a double can hold; measure them in a larger unit."
        )
    scaled = (values / unit - centre) / spread
    return where, which.reshape(-1), scaled, centre * unit, spread * unit


def _described(problem: Problem, top: Array, centre: float, scale: float) -> Fit:
    """Return the fit in the units of the rewards, with intervals."""
    value, _, (mean, mean_variance) = problem.value(top)
    free, words = problem.free(top)
    error, by_top = problem.errors(top, free)
    if np.isinf(error[free]).any():
        words = (*words, "variance, length and noise cannot be told apart by these rewards")
    with np.errstate(over="ignore"):
        ends = np.exp(np.stack([top, top - NORMAL_95 * error, top + NORMAL_95 * error]))
    for i in range(top.size):
        if problem.vanishes(i, top):
            ends[:, i] = 0.0, 0.0, problem.most(i, top)
    units = np.array([1.0, scale * scale, scale * scale, scale * scale])[: top.size]
    length, variance, noise, *site = (Interval(*values) for values in (ends * units).T.tolist())
    half = 0.0 if problem.mean is not None else NORMAL_95 * math.sqrt(mean_variance + by_top)
    at = centre + scale * float(mean)
    number = float(problem.averages.counts.sum())
    return Fit(
        mean=Interval(at, at - scale * half, at + scale * half),
        variance=variance,
        length=length,
        noise_variance=noise,
        site_variance=site[0] if site else Interval(0.0, 0.0, 0.0),
        log_evidence=value - number * math.log(scale),
        at_bound=words,
        advice=(ONCE,) if problem.once else (),
        family=replace(problem.averages.family, length=length.value),
        rewards=int(number),
        arms=problem.averages.counts.size,
    )
