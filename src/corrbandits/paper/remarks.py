"""The paper's remarks on priors as executed studies: each a function that plays a small problem and says what it found.

    study         remark
    confidence    on Theorem 1: confidence helps a prior whose means are right, and hurts one whose means are wrong
    long_run      on Theorem 1: in the long run informative and uninformative priors do alike
    clusters      on initialisation: clusters of arms need as many initial samples as there are clusters
    true_scale    on Theorem 2: a large correlation scale shortens exploration, if it is true
    wrong_scale   on Theorem 2: a large scale that is wrongly assumed costs far more than Lai and Robbins' bound

All policies of a study meet the same noise. Errors are standard errors of means: over runs where there is one surface,
over surfaces where there are several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits import theory
from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell import terminal
from corrbandits._shell.numbers import number
from corrbandits.belief import Belief, Correlated, Independent
from corrbandits.environments import Environment, GaussianBandit, landscapes
from corrbandits.kernels import Exponential
from corrbandits.policies import UCL, CorrelatedUCL, Policy
from corrbandits.simulation.simulator import simulate
from corrbandits.simulation.trace import Trace

__all__ = ["Remark", "clusters", "confidence", "long_run", "true_scale", "wrong_scale"]

SIDE, VARIANCE, NOISE_VARIANCE, A = 10, 10.0, 1.0, 1.5
"""The studies of scale: a square of arms, whose surfaces are drawn from 10 Exponential(length)."""


@final
@dataclass(frozen=True)
class Remark:
    """A remark of the paper, the numbers of its study by column, and what they say.

    >>> print(Remark("more is less", {"more": np.array([1.0, 10.0]), "less": np.array([1234.5, 0.5])}, "It is."))
    more is less
    more    less
    ────────────
       1   1,230
      10     0.5
    It is.
    """

    claim: str
    columns: Mapping[str, Array]
    found: str

    def __str__(self) -> str:
        rows = ([number(x) for x in row] for row in zip(*self.columns.values(), strict=True))
        return "\n".join([self.claim, terminal.lines(terminal.table(self.columns, rows, left=0)), self.found])


def confidence(
    variances: Sequence[float] = (1.0, 10.0, 100.0, 1000.0), *, horizon: int = 1_000, runs: int = 20, seed: int = 0
) -> Remark:
    """Play `UCL` on the paper's surface with priors that are right, or swap high and low, of various variances.

    >>> study = confidence((1.0, 1000.0), runs=4)
    >>> study.columns["right"].round(-2).tolist()
    [0.0, 3300.0]
    """
    surface = landscapes.two_peaks()
    means = {"right": surface.means, "swapped": surface.means.max() + surface.means.min() - surface.means}
    policy = UCL(a=3.3)
    players: dict[str, tuple[Policy, Belief]] = {
        f"{name} {variance}": (policy, Independent(mean=mean, variance=variance, noise_variance=10.0))
        for name, mean in means.items()
        for variance in variances
    }
    trace = _played({**players, "flat": (policy, _flat(surface))}, surface, horizon, runs, seed)
    regret, error = (_last(trace, how).reshape(-1) for how in ("mean", "error"))
    right, swapped = np.split(regret[:-1], 2)
    columns = {"prior variance": np.array(variances, float), "right": right, "swapped": swapped}
    errors = dict(zip(("error of right", "error of swapped"), np.split(error[:-1], 2), strict=True))
    flat = np.full(len(variances), regret[-1])
    return Remark(
        "Confidence helps a prior whose means are right and hurts one whose means are wrong (remark on Theorem 1).",
        {**columns, **errors, "uninformative": flat},
        f"From variance {number(variances[-1])} to {number(variances[0])} the regret goes from {number(right[-1])} to "
        f"{number(right[0])} if the means are right, and from {number(swapped[-1])} to {number(swapped[0])} if high "
        f"and low are swapped; the uninformative prior's is {number(flat[0])}.",
    )


def long_run(*, variance: float = 0.3, horizon: int = 100_000, runs: int = 40, seed: int = 0) -> Remark:
    """Play `UCL` on ten arms with a right, a swapped and an uninformative prior, and follow their differences.

    A right prior of variance sigma_0^2 is worth delta^2 = sigma_s^2 / sigma_0^2 samples of every arm (eta_i in Theorem
    1): its lead should tend to the sum of gaps times delta^2, the column "theory's lead".

    >>> study = long_run(horizon=1_000, runs=4)
    >>> study.columns["t"].tolist(), float(study.columns["theory's lead"][0])
    ([10.0, 100.0, 1000.0], 50.0)
    """
    bandit = GaussianBandit(means=[2.0] + 3 * [1.0] + 6 * [0.0], noise_variance=1.0)
    means = {"right": bandit.means, "swapped": 2.0 - bandit.means}
    policy = UCL(a=A)
    players: dict[str, tuple[Policy, Belief]] = {
        name: (policy, Independent(mean=mean, variance=variance, noise_variance=1.0)) for name, mean in means.items()
    }
    times = 10 ** np.arange(1, int(math.log10(horizon)) + 1)
    trace = simulate(
        {**players, "flat": (policy, _flat(bandit))}, bandit, horizon, runs, seed, record="summary", times=times
    )
    regret = trace.regret.values  # policy, run, time
    lead = regret[2] - regret[:2]
    error = lead.std(axis=1, ddof=1) / math.sqrt(runs)
    growth, change = (float(x[-1] - x[-2]) for x in (regret[2].mean(axis=0), lead[0].mean(axis=0)))
    return Remark(
        "In the long run informative and uninformative priors do alike (remark on Theorem 1).",
        {
            "t": times.astype(float),
            "uninformative": regret[2].mean(axis=0),
            "lead of right": lead[0].mean(axis=0),
            "error": error[0],
            "lead of swapped": lead[1].mean(axis=0),
            "error of it": error[1],
            "theory's lead": np.full(len(times), float(bandit.gaps.sum()) / variance),
        },
        f"In the last decade the uninformative prior's regret grew by {number(growth)}, the lead of the right prior "
        f"changed by {number(change)}.",
    )


def clusters(
    numbers: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    arms: int = 48,
    variance: float = 5.0,
    epsilon: float = 0.01,
    runs: int = 10,
    seed: int = 0,
) -> Remark:
    """Count the initial samples that `CorrelatedUCL` takes on clusters of arms, by theory and in simulation.

    One sample leaves another arm of its cluster with the variance v (1 - (1 - epsilon)^2 v / (v + sigma_s^2)). At nu =
    1 it suffices where that is at most sigma_s^2: for v up to about sigma_s^2 / sqrt(2 epsilon), that is seven times
    the noise at epsilon = 0.01. Beyond that a cluster needs more.

    >>> clusters((2, 4), runs=2).columns["by theory"].tolist()
    [2.0, 4.0]
    """
    rows = [_cluster_row(count, arms // count, variance, epsilon, runs, seed) for count in numbers]
    by_theory, played, visited = np.array(rows, float).T
    left = variance * (1 - (1 - epsilon) ** 2 * variance / (variance + NOISE_VARIANCE))
    equal = (by_theory == numbers).all() and (played == numbers).all() and (visited == numbers).all()
    return Remark(
        "Clusters need as many initial samples as there are clusters (remark on initialisation).",
        {
            "clusters": np.array(numbers, float),
            "arms": np.array([arms // count * count for count in numbers], float),
            "by theory": by_theory,
            "played": played,
            "clusters met": visited,
        },
        f"One sample leaves its cluster a variance of {number(left)}, and {number(NOISE_VARIANCE)} is the threshold: "
        f"{'as many samples as clusters' if equal else f'up to {number(max(by_theory / numbers))} per cluster'}.",
    )


def true_scale(
    lengths: Sequence[float] = (1.0, 3.0, 10.0, 30.0),
    *,
    horizon: int = 500,
    surfaces: int = 12,
    runs: int = 4,
    seed: int = 0,
) -> Remark:
    """Play surfaces of growing correlation length with priors that know the length.

    The uninformative prior's regret falls too, for gaps shrink as surfaces grow smooth; the columns of `share` are
    relative to it.

    >>> study = true_scale((1.0, 30.0), surfaces=3, runs=2)
    >>> bool(study.columns["arms tried"][1] < 90 < study.columns["arms tried"][0])
    True
    """
    each = [_scales(length, length, horizon, surfaces, runs, seed) for length in lengths]
    regret, tried = (np.stack([found[i] for found in each]) for i in (0, 1))  # length, surface, policy
    initial = [len(theory.initialisation(_smooth(length), 1.0)) for length in lengths]
    share = regret[:, :, :2].mean(axis=1) / regret[:, :, 2:].mean(axis=1)
    return Remark(
        "Large correlation scales shorten exploration (remark on Theorem 2).",
        {
            "length": np.array(lengths, float),
            "initial samples": np.array(initial, float),
            "arms tried": tried[:, :, 1].mean(axis=1),
            **{name: regret[:, :, i].mean(axis=1) for i, name in enumerate(("printed", "plain", "uninformative"))},
            "error of plain": regret[:, :, 1].std(axis=1, ddof=1) / math.sqrt(surfaces),
            "share printed": share[:, 0],
            "share plain": share[:, 1],
        },
        f"From length {number(lengths[0])} to {number(lengths[-1])} the initial samples go from {initial[0]} to "
        f"{initial[-1]}, and the regret from {number(100 * share[0, 1])} to {number(100 * share[-1, 1])} % of the "
        f"uninformative prior's with the plain index, {number(100 * share[-1, 0])} % with the printed one.",
    )


def wrong_scale(
    factors: Sequence[float] = (1.0, 3.0, 10.0, 30.0),
    *,
    length: float = 1.0,
    noise_variance: float = NOISE_VARIANCE,
    horizon: int = 5_000,
    surfaces: int = 24,
    runs: int = 1,
    seed: int = 0,
) -> Remark:
    """Play surfaces of short length with priors that assume it to be longer; regret over Lai and Robbins' bound.

    The answer depends on the noise: the bound grows with it, and the cost of being led astray does not.

    >>> study = wrong_scale((1.0, 30.0), surfaces=3, runs=1)
    >>> bool(study.columns["plain / bound"][1] > 3 * study.columns["plain / bound"][0])
    True
    """
    each = [_scales(length, factor * length, horizon, surfaces, runs, seed, noise_variance) for factor in factors]
    regret, bound = np.stack([found[0] for found in each]), each[0][2].mean()
    ratio = regret.mean(axis=1) / bound
    error = regret.std(axis=1, ddof=1) / math.sqrt(surfaces) / bound
    return Remark(
        "Wrongly assumed large scales cost far more than the Lai-Robbins bound suggests (remark on Theorem 2).",
        {
            "assumed / true": np.array(factors, float),
            **{f"{name} / bound": ratio[:, i] for i, name in enumerate(("printed", "plain", "uninformative"))},
            "error of printed": error[:, 0],
            "error of plain": error[:, 1],
        },
        f"At {number(factors[-1])} times the true length the regret is {number(ratio[-1, 1])} times the bound with the "
        f"plain index and {number(ratio[-1, 0])} with the printed one; with the true length, {number(ratio[0, 1])} and "
        f"{number(ratio[0, 0])}.",
    )


def _cluster_row(count: int, size: int, variance: float, epsilon: float, runs: int, seed: int) -> tuple[float, ...]:
    """Return the initial samples by theory, the most in simulation, and the fewest clusters these lay in."""
    sizes = [checks.integer("arms per cluster", size, least=1)] * count
    shape = {"variance": variance, "epsilon": epsilon}
    prior = Correlated(covariance=landscapes.cluster_covariance(sizes, **shape), noise_variance=NOISE_VARIANCE)
    bandit = landscapes.clusters(sizes, noise_variance=NOISE_VARIANCE, seed=seed, **shape)
    expected = len(theory.initialisation(prior, 1.0))
    trace = simulate({"correlated": (CorrelatedUCL(a=A), prior)}, bandit, max(expected, count) + 5, runs, seed)
    initial = trace.data["initialisation"].values[0]
    labels = np.repeat(np.arange(count), size)
    met = [len(set(labels[arms[:n]])) for arms, n in zip(trace.data["arms"].values[0], initial, strict=True)]
    return float(expected), float(initial.max()), float(min(met))


def _scales(
    true: float, assumed: float, horizon: int, surfaces: int, runs: int, seed: int, noise: float = NOISE_VARIANCE
) -> tuple[Array, ...]:
    """Return regret and arms tried by surface and policy (printed, plain, flat), and the lower bound by surface."""
    where, prior, regret, tried, bound = landscapes.grid(SIDE, SIDE), _smooth(assumed, noise), [], [], []
    for k in range(surfaces):
        surface = landscapes.draw(VARIANCE * Exponential(true), where, noise_variance=noise, seed=seed + k)
        players: dict[str, tuple[Policy, Belief]] = {
            "printed": (CorrelatedUCL(a=A), prior),
            "plain": (CorrelatedUCL(a=A, factor=False), prior),
            "flat": (UCL(a=A), _flat(surface)),
        }
        trace = _played(players, surface, horizon, runs, seed + k)
        regret.append(_last(trace, "mean"))
        tried.append((trace.counts.values > 0).sum(axis=2).mean(axis=1))
        bound.append(float(theory.lai_robbins(surface, horizon, times=[horizon])[0]))
    return np.array(regret), np.array(tried), np.array(bound)


def _smooth(length: float, noise: float = NOISE_VARIANCE) -> Correlated:
    return Correlated(
        kernel=VARIANCE * Exponential(length), coordinates=landscapes.grid(SIDE, SIDE), noise_variance=noise
    )


def _flat(environment: Environment) -> Independent:
    return Independent(variance=math.inf, noise_variance=environment.noise_variance, arms=environment.arms)


def _played(players: Any, environment: Environment, horizon: int, runs: int, seed: int) -> Trace:
    return simulate(players, environment, horizon, runs, seed, record="summary", times=[horizon])


def _last(trace: Trace, how: str) -> Array:
    """Return each policy's mean regret at the horizon, or the standard error of that mean."""
    regret = trace.regret.values[:, :, -1]
    if how == "mean":
        return np.asarray(regret.mean(axis=1))
    return np.asarray(regret.std(axis=1, ddof=1) / math.sqrt(regret.shape[1]))
